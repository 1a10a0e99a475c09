//! What kernels have without an `#include`: what nvcc includes by itself, and what they name of the C++ library.
//!
//! The C++ library for kernels is libcu++, whose headers cost the compiler seconds. So a compilation has only those of
//! the names that its kernels use, in the namespace `std`. The same holds for `cub`, whose whole header NVRTC refuses.

use std::{collections::BTreeSet, path::Path};

use super::{discovery::Toolchain, promoted};
use crate::cuda::{
    brackets::Brackets,
    lexer::{self, Token, Tokens},
};

/// The file in which a compilation has these.
pub(super) const NAME: &str = "<nvcc>";

/// What nvcc includes by itself.
const ALWAYS: &str = include_str!("c/nvcc.h");

/// Where libcu++ has what.
const OF_STD: &[(&str, &str)] = &[
    ("array", "array"),
    (
        "atomic",
        "atomic atomic_ref atomic_thread_fence memory_order memory_order_relaxed memory_order_acquire \
        memory_order_release memory_order_acq_rel memory_order_seq_cst atomic_int atomic_uint",
    ),
    ("barrier", "barrier"),
    (
        "bit",
        "bit_cast popcount countl_zero countr_zero has_single_bit bit_ceil bit_floor bit_width rotl rotr",
    ),
    ("bitset", "bitset"),
    ("complex", "complex polar norm conj real imag arg proj"),
    (
        "functional",
        "less greater plus minus multiplies divides equal_to not_equal_to logical_and logical_or negate \
        invoke identity reference_wrapper ref",
    ),
    ("initializer_list", "initializer_list"),
    ("iterator", "begin end size data distance advance next prev iterator_traits reverse_iterator"),
    ("limits", "numeric_limits"),
    (
        "numeric",
        "accumulate reduce inner_product iota partial_sum gcd lcm midpoint transform_reduce",
    ),
    ("optional", "optional nullopt"),
    ("span", "span"),
    ("string_view", "string_view"),
    ("tuple", "tuple make_tuple tie get tuple_size tuple_element apply ignore forward_as_tuple"),
    (
        "utility",
        "pair make_pair exchange declval index_sequence make_index_sequence integer_sequence as_const in_place \
        move forward swap",
    ),
    ("variant", "variant visit monostate"),
    ("cstdint", "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t"),
];

/// Of the header `algorithm`, which has one of its own for each, below `cuda/std/__algorithm`.
const ALGORITHMS: &str = "clamp minmax fill fill_n copy copy_n copy_if transform for_each find find_if count count_if \
    any_of all_of none_of sort stable_sort reverse rotate unique remove remove_if lower_bound upper_bound binary_search \
    max_element min_element equal generate iter_swap merge partition swap_ranges nth_element partial_sort";

/// Headers of one name each, below `cuda/std`: they cost less than the whole.
const FINE: &[(&str, &str)] = &[
    ("move", "__utility/move.h"),
    ("forward", "__utility/forward.h"),
    ("swap", "__utility/swap.h"),
];

/// What our own text has in the namespace `std`, or the compiler by itself.
const KNOWN: &str = "min max size_t ptrdiff_t nullptr_t";

/// The header with complex numbers.
const OF_COMPLEX: &str = "cuda/std/complex";

/// What `std` has of it beside its names.
const COMPLEX: &str = include_str!("c/complex.h");

/// Headers that bring functions of numbers with them, as the global ones: where all of libcu++ were in `std`, a source
/// with `using namespace std` would call neither.
const CLASHING: &[&str] = &[OF_COMPLEX, "cuda/std/bitset"];

/// What is in `std` itself, where libcu++ has it for structured bindings.
const IN_STD: &[&str] = &["tuple_size", "tuple_element"];

/// How a text takes the names of `std` for its own.
const USING_STD: [&str; 3] = ["using", "namespace", "std"];

/// Headers of cub for kernels, each with the name of its class.
const OF_CUB: &[&str] = &[
    "block/block_adjacent_difference",
    "block/block_discontinuity",
    "block/block_exchange",
    "block/block_histogram",
    "block/block_load",
    "block/block_merge_sort",
    "block/block_radix_rank",
    "block/block_radix_sort",
    "block/block_reduce",
    "block/block_run_length_decode",
    "block/block_scan",
    "block/block_shuffle",
    "block/block_store",
    "warp/warp_exchange",
    "warp/warp_load",
    "warp/warp_merge_sort",
    "warp/warp_reduce",
    "warp/warp_scan",
    "warp/warp_store",
    "thread/thread_load",
    "thread/thread_store",
    "thread/thread_operators",
];

/// The text that is compiled before sources with this text for the device.
pub(super) fn text(texts: &[String], toolchain: &Toolchain) -> String {
    let named = Named::of(texts, toolchain);
    // The namespace `std` takes what is there before its headers.
    let mut all = promoted::text(texts) + ALWAYS;
    for header in &named.headers {
        all.push_str(&format!("#include <{header}>\n"));
    }
    if named.headers.iter().any(|header| CLASHING.contains(&header.as_str())) {
        all.push_str(&named.one_by_one(toolchain));
    } else if named.headers.iter().any(|header| header.starts_with("cuda/std/")) {
        all.push_str("namespace std { using namespace cuda::std; }\n");
    }
    if named.headers.contains(OF_COMPLEX) {
        all.push_str(COMPLEX);
    }
    all
}

/// What texts name of the C++ library.
struct Named<'t> {
    /// Their code, where it may name something.
    codes: Vec<Vec<Token<'t>>>,
    headers: BTreeSet<String>,
    /// The names that the headers are there for.
    names: BTreeSet<String>,
}

impl<'t> Named<'t> {
    fn of(texts: &'t [String], toolchain: &Toolchain) -> Self {
        let is_used = |text: &String| {
            let code = lexer::code(text).map(|token| token.text);
            text.contains("namespace std")
                && code.collect::<Vec<_>>().windows(3).any(|words| words == USING_STD)
        };
        let is_used = texts.iter().any(is_used);
        // Most texts name nothing of the kind.
        let may_name = |text: &&String| {
            is_used || ["std", "cub", "thrust"].iter().any(|space| text.contains(space))
        };
        let codes: Vec<Vec<Token<'t>>> =
            texts.iter().filter(may_name).map(|text| lexer::code(text).collect()).collect();
        let own = is_used.then(|| codes.iter().flat_map(|code| own_names(code)).collect());
        let mut named =
            Self { codes: Vec::new(), headers: BTreeSet::new(), names: BTreeSet::new() };
        for code in &codes {
            named.read(code, toolchain, own.as_ref());
        }
        Self { codes, ..named }
    }

    /// Adds what `code` names: in the namespaces and, where `own` are the names that texts with `using namespace std`
    /// have themselves, without them.
    fn read(&mut self, code: &[Token<'_>], toolchain: &Toolchain, own: Option<&BTreeSet<&str>>) {
        for (at, token) in code.iter().enumerate() {
            let is_call = |own: &BTreeSet<&str>| {
                code.text_at(at + 1) == "("
                    && !own.contains(token.text)
                    && listed(token.text).is_some()
            };
            match token.text {
                "std" if code.text_at(at + 1) == "::" => self.add(code.text_at(at + 2), toolchain),
                "thrust" if code.text_at(at + 1) == "::" => {
                    self.headers.extend(of_thrust(code.text_at(at + 2), toolchain))
                }
                "cub" if code.text_at(at + 1) == "::" => {
                    self.headers.extend(of_cub(code.text_at(at + 2), toolchain))
                }
                name if token.is_word()
                    && own.is_some_and(|own| code.text_at(at + 1) == "<" || is_call(own))
                    && !is_member(&code[..at]) =>
                {
                    self.add(name, toolchain);
                }
                _ => {}
            }
        }
    }

    /// Adds what libcu++ has under a name.
    fn add(&mut self, name: &str, toolchain: &Toolchain) {
        if let Some(header) = of_std(name, toolchain) {
            self.headers.insert(header);
            self.names.insert(name.to_owned());
        }
    }

    /// Declares in `std` what is named of libcu++, and nothing else of it.
    fn one_by_one(&self, toolchain: &Toolchain) -> String {
        let is_there = |name: &&str| {
            let header = of_std(name, toolchain);
            !IN_STD.contains(name) && header.is_some_and(|header| self.headers.contains(&header))
        };
        let words = self.codes.iter().flatten().filter(|token| token.is_word());
        let words: BTreeSet<&str> = words.map(|token| token.text).collect();
        let listed = words.into_iter().filter(|word| listed(word).is_some());
        let names: BTreeSet<&str> = self.names.iter().map(String::as_str).chain(listed).collect();
        let names = names.into_iter().filter(is_there);
        let names: String = names.map(|name| format!("using cuda::std::{name};\n")).collect();
        format!("namespace std {{\n{names}}}\n")
    }
}

/// Whether what stands behind these tokens is a member of something.
fn is_member(before: &[Token<'_>]) -> bool {
    match before {
        [.., token] if matches!(token.text, "." | "::") => true,
        [.., minus, angle] => minus.text == "-" && angle.text == ">",
        _ => false,
    }
}

/// The names in `code` that are its own: of functions that it declares, and of what is no function.
fn own_names<'t>(code: &[Token<'t>]) -> impl Iterator<Item = &'t str> {
    const OF_EXPRESSIONS: [&str; 8] = ["return", "else", "do", "case", "throw", "and", "or", "not"];
    let brackets = Brackets::new(code);
    let is_own = move |at: &usize| {
        let before = at.checked_sub(1).map(|before| &code[before]);
        let is_type = |token: &Token<'_>| token.is_word() && !OF_EXPRESSIONS.contains(&token.text);
        match code.text_at(at + 1) {
            "(" => {
                before.is_some_and(is_type)
                    || brackets.after(at + 1).is_some_and(|after| code.text_at(after) == "{")
            }
            "<" => false,
            _ => !is_member(&code[..*at]),
        }
    };
    let words = (0..code.len()).filter(|at| code[*at].is_word());
    words.filter(is_own).map(|at| code[at].text)
}

/// Where libcu++ has what, below `cuda/std`, as far as it is listed here: the name, and the header.
fn listed(name: &str) -> Option<(&'static str, String)> {
    let in_list = |names: &'static str| names.split_whitespace().find(|known| *known == name);
    if let Some((name, file)) = FINE.iter().find(|(known, _)| *known == name) {
        return Some((name, (*file).to_owned()));
    }
    if let Some(name) = in_list(ALGORITHMS) {
        return Some((name, format!("__algorithm/{name}.h")));
    }
    OF_STD.iter().find_map(|(header, names)| Some((in_list(names)?, (*header).to_owned())))
}

/// The header of libcu++ that has `name`.
fn of_std(name: &str, toolchain: &Toolchain) -> Option<String> {
    if KNOWN.split_whitespace().any(|known| known == name) {
        return None;
    }
    if let Some((_, header)) = listed(name) {
        // Older toolkits have the whole alone.
        let whole = header.strip_prefix("__").and_then(|header| Some(header.split_once('/')?.0));
        let headers = [Some(header.as_str()), whole].into_iter().flatten();
        return headers
            .map(|header| format!("cuda/std/{header}"))
            .find(|header| has(toolchain, header));
    }
    let stem = name.trim_end_matches("_t").trim_end_matches("_v");
    let stem = if matches!(name, "true_type" | "false_type" | "bool_constant") {
        "integral_constant"
    } else {
        stem
    };
    let header = format!("cuda/std/__type_traits/{stem}.h");
    has(toolchain, &header).then_some(header)
}

/// The header of cub that has the class `name`.
fn of_cub(name: &str, toolchain: &Toolchain) -> Option<String> {
    let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
    let wanted = plain(name);
    let stem = |path: &'static str| path.rsplit('/').next().unwrap_or(path);
    let path = OF_CUB.iter().find(|path| plain(stem(path)) == wanted)?;
    Some(format!("cub/{path}.cuh")).filter(|header| has(toolchain, header))
}

/// The header of thrust that has `name`.
fn of_thrust(name: &str, toolchain: &Toolchain) -> Option<String> {
    let stem = match name {
        "tuple" | "make_tuple" | "get" | "tie" => "tuple",
        "pair" | "make_pair" => "pair",
        "complex" => "complex",
        "plus" | "minus" | "multiplies" | "maximum" | "minimum" | "less" | "greater" => {
            "functional"
        }
        _ => return None,
    };
    Some(format!("thrust/{stem}.h")).filter(|header| has(toolchain, header))
}

/// Whether the toolkit has a header.
fn has(toolchain: &Toolchain, header: &str) -> bool {
    let is_name = header.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '.'));
    is_name && toolchain.include_dirs.iter().any(|folder| folder.join(Path::new(header)).is_file())
}

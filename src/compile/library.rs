//! What kernels have without an `#include`: what nvcc includes by itself, and what they name of the C++ library.
//!
//! The C++ library for kernels is libcu++, whose headers cost the compiler seconds. So a compilation has only those of
//! the names that its kernels use, in the namespace `std`. The same holds for `cub`, whose whole header NVRTC refuses.

use std::{collections::BTreeSet, path::Path};

use super::discovery::Toolchain;
use crate::cuda::lexer::{self, Kind, Token};

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
    ("complex", "complex polar norm conj real imag arg"),
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
    (
        "algorithm",
        "clamp minmax fill fill_n copy copy_n copy_if transform for_each find find_if count count_if any_of \
        all_of none_of sort stable_sort reverse rotate unique remove remove_if lower_bound upper_bound binary_search \
        max_element min_element equal generate iter_swap merge partition swap_ranges nth_element partial_sort",
    ),
];

/// Headers of one name each, below `cuda/std`: they cost less than the whole.
const FINE: &[(&str, &str)] = &[
    ("move", "__utility/move.h"),
    ("forward", "__utility/forward.h"),
    ("swap", "__utility/swap.h"),
];

/// What our own text has in the namespace `std`, or the compiler by itself.
const KNOWN: &str = "min max size_t ptrdiff_t nullptr_t";

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
    let mut headers = BTreeSet::new();
    for text in texts {
        read(text, toolchain, &mut headers);
    }
    let mut all = ALWAYS.to_owned();
    for header in &headers {
        all.push_str(&format!("#include <{header}>\n"));
    }
    if headers.iter().any(|header| header.starts_with("cuda/std/")) {
        all.push_str("namespace std { using namespace cuda::std; }\n");
    }
    all
}

/// Adds the headers of what `text` names.
fn read(text: &str, toolchain: &Toolchain, headers: &mut BTreeSet<String>) {
    // Most texts name nothing of the kind.
    if !["std", "cub", "thrust"].iter().any(|space| text.contains(space)) {
        return;
    }
    let code: Vec<Token<'_>> = lexer::code(text).collect();
    let is_used = code.windows(3).any(|three| {
        three[0].text == "using" && three[1].text == "namespace" && three[2].text == "std"
    });
    for (at, token) in code.iter().enumerate() {
        let after = |at: usize| code.get(at).map_or("", |token| token.text);
        match token.text {
            "std" if after(at + 1) == "::" => headers.extend(of_std(after(at + 2), toolchain)),
            "thrust" if after(at + 1) == "::" => {
                headers.extend(of_thrust(after(at + 2), toolchain))
            }
            "cub" if after(at + 1) == "::" => headers.extend(of_cub(after(at + 2), toolchain)),
            name if is_used && token.kind == Kind::Word && after(at + 1) == "<" => {
                let is_other = at > 0 && matches!(code[at - 1].text, "." | "::" | ">");
                headers.extend(of_std(name, toolchain).filter(|_| !is_other));
            }
            _ => {}
        }
    }
}

/// The header of libcu++ that has `name`.
fn of_std(name: &str, toolchain: &Toolchain) -> Option<String> {
    if KNOWN.split_whitespace().any(|known| known == name) {
        return None;
    }
    if let Some((_, file)) = FINE.iter().find(|(known, _)| *known == name) {
        return Some(format!("cuda/std/{file}")).filter(|header| has(toolchain, header));
    }
    let in_list = |names: &str| names.split_whitespace().any(|known| known == name);
    if let Some((header, _)) = OF_STD.iter().find(|(_, names)| in_list(names)) {
        return Some(format!("cuda/std/{header}")).filter(|header| has(toolchain, header));
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

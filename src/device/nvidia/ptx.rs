//! The little that loading needs to know of PTX text: its version, and the kernels with their parameters.

use std::borrow::Cow;

use crate::device::Parameter;

/// The newest PTX version that a driver for CUDA `cuda` reads; `None` for a CUDA that is not known.
///
/// Source: PTX ISA, release notes, "PTX ISA version history". From CUDA 13 on the minor versions are the same so
/// far (NVRTC 13.5 writes PTX 9.5).
fn newest_version(cuda: (u32, u32)) -> Option<(u32, u32)> {
    match cuda {
        (11, minor) => Some((7, minor.min(8))),
        (12, minor @ 0..=5) => Some((8, minor)),
        (12, 6) => Some((8, 5)),
        (12, minor) => Some((8, (minor - 1).min(8))),
        (13, minor) => Some((9, minor)),
        _ => None,
    }
}

/// `ptx` as a driver for CUDA `cuda` reads it: where its `.version` is newer, that is lowered to the driver's.
///
/// A driver refuses newer versions unread, although what a compiler writes seldom needs them; an instruction that
/// it really lacks is still an error when the module loads.
pub(super) fn lowered(ptx: &str, cuda: (u32, u32)) -> Cow<'_, str> {
    let Some(newest) = newest_version(cuda) else { return Cow::Borrowed(ptx) };
    match version(ptx) {
        Some((written, number)) if written > newest => {
            let start = number.as_ptr().addr() - ptx.as_ptr().addr();
            let (before, after) = (&ptx[..start], &ptx[start + number.len()..]);
            Cow::Owned(format!("{before}{}.{}{after}", newest.0, newest.1))
        }
        _ => Cow::Borrowed(ptx),
    }
}

/// Whether `ptx` says which lines of a source it comes from (PTX ISA section 11.5, `.loc`).
pub(super) fn has_lines(ptx: &str) -> bool {
    words(ptx).any(|word| word == ".loc")
}

/// Whether `ptx` was compiled for a debugger (PTX ISA section 11.1.2, `.target`).
pub(super) fn is_for_debuggers(ptx: &str) -> bool {
    let target = words(ptx).skip_while(|&word| word != ".target").skip(1);
    target.take_while(|word| !word.starts_with('.')).any(|word| word == "debug")
}

/// The version that `ptx` says it has, and the word that says so.
fn version(ptx: &str) -> Option<((u32, u32), &str)> {
    let mut words = words(ptx);
    // PTX ISA section 5.1 wants it in front of everything else.
    let number = (words.next()? == ".version").then(|| words.next())??;
    let (major, minor) = number.split_once('.')?;
    Some(((major.parse().ok()?, minor.parse().ok()?), number))
}

/// A kernel that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its (lowered) name.
    pub(super) name: String,
    /// Its parameters in order.
    pub(super) parameters: Vec<Parameter>,
}

/// The kernels of a module, in the text's order.
pub(super) fn entries(ptx: &str) -> Vec<Entry> {
    let mut words = words(ptx);
    let mut entries: Vec<Entry> = Vec::new();
    while words.by_ref().any(|word| word == ".entry") {
        let Some(name) = words.next() else { break };
        // Without parameters there may be no parentheses either: what follows belongs to the body then.
        let parameters = match words.next() {
            Some("(") => parameters(words.by_ref().take_while(|&word| word != ")")),
            _ => Vec::new(),
        };
        if entries.iter().all(|entry| entry.name != name) {
            entries.push(Entry { name: name.to_owned(), parameters });
        }
    }
    entries
}

/// Lays out a kernel's parameters, given as the words between its parentheses.
///
/// PTX ISA sections 5.1.6.1 and 5.1.6.2: `.param [.align N] .type [.ptr [.space] [.align N]] name[[length]]`. An
/// alignment behind `.ptr` is that of what the pointer points to.
fn parameters<'a>(words: impl Iterator<Item = &'a str>) -> Vec<Parameter> {
    let words: Vec<&str> = words.collect();
    let mut end = 0;
    let mut parameters = Vec::new();
    for declaration in words.split(|&word| word == ",").filter(|words| !words.is_empty()) {
        let own = declaration.split(|&word| word == ".ptr").next().unwrap_or_default();
        let width = own.iter().find_map(|word| type_bytes(word)).unwrap_or(8);
        let after = |what| declaration.iter().skip_while(move |&&word| word != what).nth(1);
        let length = after("[").and_then(|length| length.parse().ok()).unwrap_or(1);
        let align = own.iter().skip_while(|&&word| word != ".align").nth(1);
        let align = align.and_then(|align| align.parse().ok()).unwrap_or(width);
        let offset = usize::checked_next_multiple_of(end, usize::max(align, 1)).unwrap_or(end);
        end = usize::saturating_add(offset, usize::saturating_mul(width, length));
        parameters.push(Parameter { offset, bytes: end - offset });
    }
    parameters
}

/// Bytes of a fundamental type (PTX ISA section 5.2.1), or of an opaque reference.
fn type_bytes(word: &str) -> Option<usize> {
    Some(match word {
        ".b8" | ".u8" | ".s8" => 1,
        ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => 2,
        ".b32" | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => 4,
        ".b64" | ".u64" | ".s64" | ".f64" | ".texref" | ".samplerref" | ".surfref" => 8,
        ".b128" => 16,
        _ => return None,
    })
}

/// The words of PTX text: names, directives and numbers whole, other characters one by one; no comments, and
/// nothing of quoted strings.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = skip_blanks(rest);
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// `text` behind the white space, comments and quoted strings that it starts with.
fn skip_blanks(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let behind = |start: &str, end| {
            let inside = text.strip_prefix(start)?;
            Some(inside.split_once(end).map_or("", |(_, after)| after))
        };
        match behind("//", "\n").or_else(|| behind("/*", "*/")).or_else(|| behind("\"", "\"")) {
            Some(after) => text = after,
            None => return text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_for_debuggers_say_so() {
        assert!(is_for_debuggers(".version 8.0 .target sm_80, debug .address_size 64"));
        assert!(!is_for_debuggers(".version 8.0 .target sm_80 .address_size 64 .entry debug()"));
    }

    const HEADER: &str = "//\n// Generated by NVIDIA NVVM Compiler\n/* .version 1.0 */\n\n\
        .version 9.5\n.target sm_90\n.address_size 64\n";

    #[test]
    fn local_memory_is_no_line() {
        assert!(!has_lines(".local .b8 x[4]; // .loc 1 2 3"));
        assert!(has_lines("{\n\t.loc\t1 2 3\n}"));
    }

    #[test]
    fn a_newer_version_is_lowered_to_the_drivers() {
        let check = |cuda, expected: &str| {
            let lowered = lowered(HEADER, cuda);
            assert_eq!(lowered, HEADER.replace("9.5", expected), "CUDA {cuda:?}");
        };
        check((13, 0), "9.0");
        check((12, 9), "8.8");
        check((12, 8), "8.7");
        check((12, 6), "8.5");
        check((12, 0), "8.0");
        check((11, 8), "7.8");
        check((13, 5), "9.5");
        check((13, 9), "9.5");
        check((14, 0), "9.5");
    }

    #[test]
    fn an_older_version_and_other_text_stay_as_they_are() {
        for text in [".version 7.0\n.target sm_52", "", "// .version 9.5", ".target sm_90", "é"] {
            assert!(
                matches!(lowered(text, (13, 0)), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    fn layout(declarations: &str) -> Vec<(usize, usize)> {
        let ptx = format!(
            "{HEADER}.visible .entry kernel(\n{declarations}\n)\n.maxntid 128, 1, 1\n{{ ret; }}\n"
        );
        let entries = entries(&ptx);
        assert_eq!(entries.len(), 1, "{ptx}");
        assert_eq!(entries[0].name, "kernel");
        entries[0].parameters.iter().map(|p| (p.offset, p.bytes)).collect()
    }

    #[test]
    fn parameters_lie_as_the_abi_says() {
        let scalars = ".param .u64 p0,\n\t.param .f32 p1, // count\n\t.param .u64 p2";
        assert_eq!(layout(scalars), [(0, 8), (8, 4), (16, 8)]);
        assert_eq!(
            layout(".param .u8 p0, .param .u16 p1, .param .b32 p2"),
            [(0, 1), (2, 2), (4, 4)]
        );
        assert_eq!(layout(".param .u32 p0, .param .align 16 .b8 p1[16]"), [(0, 4), (16, 16)]);
        assert_eq!(layout(".param .align 4 .b8 p0[12], .param .f64 p1"), [(0, 12), (16, 8)]);
        assert_eq!(
            layout(".param .u32 p0, .param .u64 .ptr .global .align 1 p1"),
            [(0, 4), (8, 8)]
        );
        assert_eq!(layout(""), []);
    }

    #[test]
    fn entries_are_found_among_comments_strings_and_functions() {
        let ptx = ".func (.param .b32 r) helper(.param .b64 p) { ret; }\n\
            // .entry no(\n.file 1 \".entry neither(\"\n\
            .visible .entry _Z3onei(.param .u32 _Z3onei_param_0) { ret; }\n\
            .entry two { ret; }\n.entry two { ret; }";
        let names: Vec<_> = entries(ptx).into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["_Z3onei", "two"]);
    }

    #[test]
    fn damaged_text_ends_without_a_panic() {
        for text in [".entry", ".entry k", ".entry k(", ".entry k(.param", "\"", "/*", ".version 9"]
        {
            assert!(entries(text).len() <= 1, "{text}");
            assert!(matches!(lowered(text, (12, 0)), Cow::Borrowed(_)), "{text}");
        }
        for length in ["99999999999999999999999", "9999999999999999999"] {
            let huge = format!(".entry k(.param .b64 p[{length}], .param .align 4 .b8 q[8])");
            assert_eq!(entries(&huge).len(), 1);
        }
    }
}

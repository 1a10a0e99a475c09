//! What can be known of PTX that is not read whole: text that is newer than the parser has one, too.

use std::{collections::HashSet, ops::Range};

use super::{
    lexer::{Kind, Number, Token, number, tokens},
    quoted::unquoted,
    types::Type,
};

/// Most bytes of local memory of a thread (CUDA programming guide, "Technical specifications").
pub const LOCAL_BYTES: u64 = 512 << 10;

/// What stands in a text of PTX, as far as it is told by directives.
///
/// ```
/// use warpaint::ptx::outline::Outline;
///
/// let outline = Outline::new(".version 9.5 .target sm_90 .entry k(.param .u64 p) { news; }");
/// assert_eq!(outline.version.map(|(version, _)| version), Some((9, 5)));
/// assert_eq!(outline.entries[0].name, "k");
/// assert_eq!(outline.entries[0].parameters, [0..8]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The version that the text says it has, and the bytes that say so (PTX ISA section 11.1.1, `.version`).
    pub version: Option<((u32, u32), Range<usize>)>,
    /// Whether it was compiled for a debugger (section 11.1.2, `.target`).
    pub is_for_debuggers: bool,
    /// Whether it says which lines of a source it comes from (section 11.5, `.loc`).
    pub has_lines: bool,
    /// Whether its kernels may take memory of the device's heap by themselves (CUDA C++ Programming Guide, Dynamic
    /// Global Memory Allocation): C++ has no other function of this name.
    pub allocates: bool,
    /// Whether some kernel has shared memory whose size is that of the launch (`.extern .shared`).
    pub has_dynamic_shared: bool,
    /// Bytes of local memory of the function that declares the most (section 5.1.5, `.local`).
    pub local_bytes: usize,
    /// The kernels that it defines, in the text's order.
    pub entries: Vec<Entry>,
    /// Its variables in global and constant memory, in the text's order.
    pub variables: Vec<Variable>,
}

/// A variable of a module (PTX ISA section 5.1.3 and 5.1.4, `.const` and `.global`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its (lowered) name.
    pub name: String,
    /// Its size.
    pub bytes: usize,
    /// Whether no kernel may write it (`.const`).
    pub is_constant: bool,
    /// The bytes of the text that are its initial value, without the braces of an array's; empty where it has none.
    pub initial: Range<usize>,
}

/// A kernel that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its (lowered) name.
    pub name: String,
    /// The bytes of its arguments that each parameter has, in order.
    pub parameters: Vec<Range<usize>>,
}

impl Outline {
    /// Of a text of PTX. What is broken in it is left out.
    pub fn new(text: &str) -> Self {
        let tokens = tokens(text);
        let mut words = Words { text, tokens: &tokens };
        let mut outline = Self { version: words.version(), ..Self::default() };
        let (mut names, mut local_bytes) = (HashSet::new(), 0_usize);
        while let Some(token) = words.next() {
            match words.of(token) {
                ".target" => outline.is_for_debuggers |= words.targets_debuggers(),
                ".loc" => outline.has_lines = true,
                "malloc" => outline.allocates = true,
                ".extern" => outline.has_dynamic_shared |= words.is_next(".shared"),
                space @ (".global" | ".const") => {
                    outline.variables.extend(words.variable(space == ".const"));
                }
                ".local" => {
                    local_bytes = local_bytes.saturating_add(words.locals());
                    outline.local_bytes = outline.local_bytes.max(local_bytes);
                }
                ".func" => local_bytes = 0,
                ".entry" => {
                    local_bytes = 0;
                    let Some(entry) = words.entry() else { break };
                    if names.insert(entry.name.clone()) {
                        outline.entries.push(entry);
                    }
                }
                _ => {}
            }
        }
        outline
    }
}

/// The place of the source that a line of the text comes from: file, line and column of the last `.loc` up to there
/// (PTX ISA section 11.5).
pub fn place_of(text: &str, line: u32) -> Option<(String, u32, u32)> {
    let tokens = tokens(text);
    let words = Words { text, tokens: &tokens };
    let all: Vec<&str> = tokens.iter().map(|token| words.of(*token)).collect();
    let end = tokens.partition_point(|token| token.line <= line);
    let place = all[..end].iter().rposition(|word| *word == ".loc")?;
    let [number, line, column] = *all.get(place + 1..place + 4)? else { return None };
    let is_file = |three: &&[&str]| three[0] == ".file" && three[1] == number;
    let name = all.windows(3).find(is_file)?[2];
    let name = String::from_utf8_lossy(&unquoted(name)).into_owned();
    Some((name, line.parse().ok()?, column.parse().ok()?))
}

/// Tokens that have not been read yet.
struct Words<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

impl<'a> Words<'a> {
    fn of(&self, token: Token) -> &'a str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    fn next(&mut self) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        (first.kind != Kind::End).then_some(*first)
    }

    fn is_next(&self, text: &str) -> bool {
        self.tokens.first().is_some_and(|token| self.of(*token) == text)
    }

    /// PTX ISA section 5.1 wants it in front of everything else.
    fn version(&self) -> Option<((u32, u32), Range<usize>)> {
        let [directive, number, ..] = self.tokens else { return None };
        let (major, minor) = self.of(*number).split_once('.')?;
        let version = (major.parse().ok()?, minor.parse().ok()?);
        let bytes = number.start as usize..number.end as usize;
        (self.of(*directive) == ".version").then_some((version, bytes))
    }

    /// Whether `debug` is among the targets that come next.
    fn targets_debuggers(&self) -> bool {
        let targets = self.tokens.iter().take_while(|token| token.kind != Kind::Directive);
        targets.into_iter().any(|token| self.of(*token) == "debug")
    }

    /// Bytes of the variables behind `.local`.
    fn locals(&self) -> usize {
        let is_end = |token: &&Token| matches!(token.kind, Kind::End | Kind::Mark(b';' | b')'));
        let own = self.tokens.iter().take_while(|token| !is_end(token));
        let words: Vec<&str> = own.map(|token| self.of(*token)).collect();
        let ty = words.iter().filter_map(|word| word.strip_prefix('.')).find_map(Type::parse);
        let elements = words.split(|&word| word == ",").map(extent);
        let width = ty.map_or(0, |ty| ty.bytes() as usize);
        elements.fold(0, |sum, count| usize::saturating_add(sum, count.saturating_mul(width)))
    }

    /// A variable behind `.global` or `.const`, to where it ends or its initial value begins.
    fn variable(&mut self, is_constant: bool) -> Option<Variable> {
        self.skip_attribute();
        let is_end = |token: &&Token| {
            matches!(token.kind, Kind::End | Kind::Mark(b';' | b'=' | b',' | b'{' | b')'))
        };
        let own: Vec<Token> =
            self.tokens.iter().take_while(|token| !is_end(token)).copied().collect();
        self.tokens = &self.tokens[own.len()..];
        let name = own.split(|token| token.kind == Kind::Mark(b'[')).next()?.last()?;
        let words: Vec<&str> = own.iter().map(|token| self.of(*token)).collect();
        let bytes = placed(&words).first()?.len();
        let name = (name.kind == Kind::Word).then(|| self.of(*name).to_owned())?;
        Some(Variable { name, bytes, is_constant, initial: self.initial().unwrap_or_default() })
    }

    /// Reads over `.attribute(…)`, such as `.managed`, which may have parentheses of its own (PTX ISA section 5.4.8).
    fn skip_attribute(&mut self) {
        if self.tokens.first().is_none_or(|token| self.of(*token) != ".attribute") {
            return;
        }
        let mut depth = 0;
        let is_end = |token: &Token| {
            depth += i32::from(token.kind == Kind::Mark(b'('));
            depth -= i32::from(token.kind == Kind::Mark(b')'));
            depth == 0 || matches!(token.kind, Kind::End | Kind::Mark(b';'))
        };
        let end = self.tokens[1..].iter().position(is_end).map_or(self.tokens.len(), |end| end + 2);
        self.tokens = &self.tokens[end..];
    }

    /// The text of an initial value, which comes next.
    fn initial(&mut self) -> Option<Range<usize>> {
        let [equals, rest @ ..] = self.tokens else { return None };
        if equals.kind != Kind::Mark(b'=') {
            return None;
        }
        let (before, rest) = match rest {
            [open, inside @ ..] if open.kind == Kind::Mark(b'{') => (open, inside),
            rest => (equals, rest),
        };
        let is_end = |token: &Token| matches!(token.kind, Kind::End | Kind::Mark(b'}' | b';'));
        let end = rest.iter().position(is_end)?;
        self.tokens = &rest[end..];
        Some(before.end as usize..rest[end].start as usize)
    }

    /// A kernel behind `.entry`.
    fn entry(&mut self) -> Option<Entry> {
        let name = self.next()?;
        let name = self.of(name).to_owned();
        // Without parameters there may be no parentheses either: what follows belongs to the body then.
        let mut parameters = Vec::new();
        if self.tokens.first().is_some_and(|token| token.kind == Kind::Mark(b'(')) {
            let is_end = |token: &&Token| token.kind == Kind::Mark(b')');
            let inside = self.tokens[1..].iter().take_while(|token| !is_end(token));
            let words: Vec<&str> = inside.map(|token| self.of(*token)).collect();
            self.tokens = &self.tokens[(1 + words.len()).min(self.tokens.len())..];
            parameters = placed(&words);
        }
        Some(Entry { name, parameters })
    }
}

/// Lays out a kernel's parameters, given as the words between its parentheses.
///
/// PTX ISA sections 5.1.6.1 and 5.1.6.2: `.param [.align N] .type [.ptr [.space] [.align N]] name[[length]]`. An
/// alignment behind `.ptr` is that of what the pointer points to.
fn placed(words: &[&str]) -> Vec<Range<usize>> {
    let mut end = 0;
    let mut places = Vec::new();
    for declaration in words.split(|&word| word == ",").filter(|words| !words.is_empty()) {
        let own = declaration.split(|&word| word == ".ptr").next().unwrap_or_default();
        let ty = own.iter().filter_map(|word| word.strip_prefix('.')).find_map(Type::parse);
        let width = ty.map_or(8, |ty| ty.bytes() as usize);
        let length = extent(declaration);
        let align = own.iter().skip_while(|&&word| word != ".align").nth(1);
        let align = align.and_then(|align| align.parse().ok()).unwrap_or(width);
        let start = usize::checked_next_multiple_of(end, usize::max(align, 1)).unwrap_or(end);
        end = usize::saturating_add(start, usize::saturating_mul(width, length));
        places.push(start..end);
    }
    places
}

/// Elements of an array: the product of what stands in brackets; 1 where nothing does.
fn extent(declaration: &[&str]) -> usize {
    let behind = declaration.iter().zip(declaration.iter().skip(1));
    let lengths = behind.filter(|(bracket, _)| **bracket == "[").map(|(_, length)| length);
    let integer = |length: &&str| match number(length) {
        Some(Number::Int(length)) => usize::try_from(length).ok(),
        Some(Number::F32(_) | Number::F64(_)) | None => None,
    };
    lengths.filter_map(integer).fold(1, usize::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::{ast::FunctionKind, parse};

    #[test]
    fn builds_for_debuggers_say_so() {
        let is = |text| Outline::new(text).is_for_debuggers;
        assert!(is(".version 8.0 .target sm_80, debug .address_size 64"));
        assert!(!is(".version 8.0 .target sm_80 .address_size 64 .entry debug()"));
    }

    #[test]
    fn lines_have_their_places() {
        let text = ".entry k() {\n.loc 2 7 3\nmov.u32 %r1, 1;\n\n.loc 1 9 1, function_name $L, inlined_at 2 8 1\n\
            odd;\n}\n.file 1 \"a b.cu\"\n.file 2 \"c.cuh\", 5, 6";
        let place = |file: &str, line, column| Some((file.to_owned(), line, column));
        let found = [1, 2, 4, 5, 6, 99].map(|line| place_of(text, line));
        let [first, second] = [place("c.cuh", 7, 3), place("a b.cu", 9, 1)];
        assert_eq!(found, [None, first.clone(), first, second.clone(), second.clone(), second]);
        for broken in [".loc", ".loc 1 2", ".loc 1 2 3", ".file 1", ".loc 1 x 3 .file 1 \"a\""] {
            assert_eq!(place_of(broken, 1), None, "{broken}");
        }
    }

    #[test]
    fn variables_have_names_and_sizes() {
        let text = ".visible .const .align 4 .b8 filter[36];\n.global .align 4 .u32 count = 3;\n\
            .const .align 8 .b8 $str[4] = {37, 100, 10, 0};\n.visible .global .align 16 .f32 one;\n\
            .entry k(.param .u64 .ptr .global .align 1 p) { ld.global.u32 %r1, [count]; }";
        let found = Outline::new(text).variables;
        let found = found.iter().map(|v| (v.name.as_str(), v.bytes, v.is_constant));
        let expected =
            [("filter", 36, true), ("count", 4, false), ("$str", 4, true), ("one", 4, false)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let initial = Outline::new(text).variables.into_iter().map(|v| &text[v.initial]);
        assert_eq!(initial.collect::<Vec<_>>(), ["", " 3", "37, 100, 10, 0", ""]);
    }

    #[test]
    fn attributes_hide_no_variable() {
        let text = ".visible .global .attribute(.managed) .align 4 .u32 m = 5;\n\
            .global .attribute(.managed, .unified(19,95)) .align 8 .b8 both[16];\n.global .u32 plain;";
        let found = Outline::new(text).variables;
        let found: Vec<_> = found.iter().map(|v| (v.name.as_str(), v.bytes)).collect();
        assert_eq!(found, [("m", 4), ("both", 16), ("plain", 4)]);
        for broken in [".global .attribute", ".global .attribute(", ".global .attribute(.managed;"]
        {
            assert!(Outline::new(broken).variables.is_empty(), "{broken}");
        }
    }

    #[test]
    fn local_memory_is_no_line() {
        assert!(!Outline::new(".local .b8 x[4]; // .loc 1 2 3").has_lines);
        assert!(Outline::new("{\n\t.loc\t1 2 3\n}").has_lines);
    }

    #[test]
    fn the_function_with_the_most_local_memory_counts() {
        let bytes = |text: &str| Outline::new(text).local_bytes;
        let two = ".func f() { .local .align 4 .b8 a[40]; .local .b64 b[2]; }
            .entry k(.param .u64 .ptr .local .align 1 p) { .local .u32 c; ld.local.u32 %r1, [c]; }";
        assert_eq!(bytes(two), 56);
        assert_eq!(bytes(&two.replace(" c;", " c[5][0x10], d[3];")), 4 * 83);
        assert_eq!(bytes(".local .b8 a[0xffffffffffffffff]; .local .b8 b[8];"), usize::MAX);
        assert_eq!(bytes(".entry k() { ret; } // .local .b8 a[9];"), 0);
    }

    #[test]
    fn external_shared_memory_has_the_size_of_the_launch() {
        let text = ".extern .shared .align 16 .b8 tile[];\n.entry k() { ret; }";
        assert!(Outline::new(text).has_dynamic_shared);
        assert!(!Outline::new(&text.replace(".extern ", "")).has_dynamic_shared);
        assert!(!Outline::new(".extern .func f; // .extern .shared").has_dynamic_shared);
    }

    #[test]
    fn who_calls_malloc_allocates() {
        let text = ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.entry k() { ret; }";
        assert!(Outline::new(text).allocates);
        assert!(!Outline::new(&text.replace("malloc", "malloc_like")).allocates);
        assert!(!Outline::new(".entry k() { ret; } // malloc").allocates);
    }

    const HEADER: &str = "//\n// Generated by NVIDIA NVVM Compiler\n/* .version 1.0 */\n\n\
        .version 9.5\n.target sm_90\n.address_size 64\n";

    #[test]
    fn the_version_stands_first() {
        let (version, bytes) = Outline::new(HEADER).version.unwrap();
        assert_eq!((version, &HEADER[bytes]), ((9, 5), "9.5"));
        for text in [".target sm_90 .version 9.5", "", "// .version 9.5", ".version 9", "é"] {
            assert_eq!(Outline::new(text).version, None, "{text}");
        }
    }

    fn layout(declarations: &str) -> Vec<Range<usize>> {
        let ptx = format!(
            "{HEADER}.visible .entry kernel(\n{declarations}\n)\n.maxntid 128, 1, 1\n{{ ret; }}\n"
        );
        let entries = Outline::new(&ptx).entries;
        assert_eq!(entries.len(), 1, "{ptx}");
        assert_eq!(entries[0].name, "kernel");
        entries[0].parameters.clone()
    }

    #[test]
    fn parameters_lie_as_the_abi_says() {
        let scalars = ".param .u64 p0,\n\t.param .f32 p1, // count\n\t.param .u64 p2";
        assert_eq!(layout(scalars), [0..8, 8..12, 16..24]);
        assert_eq!(layout(".param .u8 p0, .param .u16 p1, .param .b32 p2"), [0..1, 2..4, 4..8]);
        assert_eq!(layout(".param .u32 p0, .param .align 16 .b8 p1[16]"), [0..4, 16..32]);
        assert_eq!(layout(".param .align 4 .b8 p0[12], .param .f64 p1"), [0..12, 16..24]);
        assert_eq!(layout(".param .u32 p0, .param .u64 .ptr .global .align 1 p1"), [0..4, 8..16]);
        assert_eq!(layout(".param .texref p0, .param .b128 p1"), [0..8, 16..32]);
        assert!(layout("").is_empty());
    }

    #[test]
    fn entries_are_found_among_comments_strings_and_functions() {
        let ptx = ".func (.param .b32 r) helper(.param .b64 p) { ret; }\n\
            // .entry no(\n.file 1 \".entry neither(\"\n\
            .visible .entry _Z3onei(.param .u32 _Z3onei_param_0) { ret; }\n\
            .entry two { ret; }\n.entry two { ret; }";
        let names: Vec<_> = Outline::new(ptx).entries.into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["_Z3onei", "two"]);
        // Each compared with all before it takes hours.
        let many: String = (0..1 << 19).map(|index| format!(".entry a{index} ")).collect();
        assert_eq!(Outline::new(&many).entries.len(), 1 << 19);
    }

    #[test]
    fn damaged_text_ends_without_a_panic() {
        for text in [".entry", ".entry k", ".entry k(", ".entry k(.param", "\"", "/*", ".version 9"]
        {
            let outline = Outline::new(text);
            assert!(outline.entries.len() <= 1 && outline.version.is_none(), "{text}");
        }
        for length in ["99999999999999999999999", "9999999999999999999"] {
            let huge = format!(".entry k(.param .b64 p[{length}], .param .align 4 .b8 q[8])");
            assert_eq!(Outline::new(&huge).entries.len(), 1);
        }
    }

    /// The parser, which reads all of a text, finds the same.
    #[test]
    fn the_parser_finds_the_same() {
        for text in [
            include_str!("../../../../tests/ptx/functions.ptx"),
            include_str!("../../../../tests/ptx/cuda.ptx"),
            include_str!("../../../../tests/ptx/memory.ptx"),
        ] {
            let module = parse(text).unwrap();
            let kernels = module.functions.iter().filter(|f| f.kind == FunctionKind::Entry);
            let expected: Vec<_> = kernels
                .map(|function| {
                    let bytes = function.params.iter().map(|param| param.bytes() as usize);
                    (function.name.clone(), bytes.collect::<Vec<_>>())
                })
                .collect();
            let found = Outline::new(text).entries.into_iter().map(|entry| {
                let bytes = entry.parameters.into_iter().map(|place| place.len());
                (entry.name, bytes.collect::<Vec<_>>())
            });
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }
}

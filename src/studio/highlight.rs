//! Colours for a scene's text: CUDA C++, with the manifest in the first comment as TOML.
//!
//! It works on tokens, not on a grammar: it never fails, whatever half-typed text it gets. Names that the manifest
//! declares are told apart wherever the kernels use them.

use std::{collections::BTreeSet, ops::Range};

use crate::{
    cuda::lexer::{Kind, Token, lex},
    scene,
};

/// What a piece of text is to the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Anything else.
    Plain,
    /// A comment, in CUDA C++ or in the manifest, and what an `#if 0` leaves out.
    Comment,
    /// `if`, `return`, `const` ...
    Keyword,
    /// `float`, `float4`, `cudaSurfaceObject_t` ...
    Type,
    /// `__global__`, `__shared__` ...
    Qualifier,
    /// `threadIdx`, `__syncthreads` ...
    BuiltIn,
    /// A name that the manifest declares: a resource, a constant, a parameter.
    Bound,
    /// A name in front of a parenthesis.
    Function,
    /// A number.
    Number,
    /// A string or a character.
    String,
    /// A line that starts with `#`.
    Preprocessor,
    /// Operators and brackets.
    Punctuation,
    /// A table's header in the manifest, and the marks around the manifest.
    Table,
    /// A key in the manifest.
    Key,
}

#[cfg(test)]
impl Syntax {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Plain,
        Self::Comment,
        Self::Keyword,
        Self::Type,
        Self::Qualifier,
        Self::BuiltIn,
        Self::Bound,
        Self::Function,
        Self::Number,
        Self::String,
        Self::Preprocessor,
        Self::Punctuation,
        Self::Table,
        Self::Key,
    ];
}

/// A piece of text, in bytes, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it is.
    pub range: Range<usize>,
    /// What it is.
    pub syntax: Syntax,
}

const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "asm",
    "auto",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "const_cast",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "final",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "nullptr",
    "operator",
    "override",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "restrict",
    "return",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "using",
    "virtual",
    "volatile",
    "while",
];

const TYPES: &[&str] = &[
    "bool",
    "cudaSurfaceObject_t",
    "cudaTextureObject_t",
    "dim3",
    "half",
    "half2",
    "nv_bfloat16",
    "nv_bfloat162",
    "ptrdiff_t",
    "signed",
    "size_t",
    "unsigned",
    "void",
    "wchar_t",
];

/// Types that exist alone and with a count of lanes behind them: `float`, `float4`.
const VECTOR_TYPES: &[&str] = &[
    "char",
    "double",
    "float",
    "int",
    "long",
    "longlong",
    "short",
    "uchar",
    "uint",
    "ulong",
    "ulonglong",
    "ushort",
];

const BUILT_INS: &[&str] = &["blockDim", "blockIdx", "gridDim", "threadIdx", "warpSize"];

const QUALIFIERS: &[&str] = &[
    "__align__",
    "__cluster_dims__",
    "__constant__",
    "__device__",
    "__forceinline__",
    "__global__",
    "__grid_constant__",
    "__host__",
    "__launch_bounds__",
    "__managed__",
    "__noinline__",
    "__restrict__",
    "__shared__",
];

/// The words of CUDA C++, and what each is.
pub fn words() -> impl Iterator<Item = (&'static str, Syntax)> {
    let of = |words: &'static [&'static str], syntax| words.iter().map(move |word| (*word, syntax));
    let types = of(TYPES, Syntax::Type).chain(of(VECTOR_TYPES, Syntax::Type));
    of(KEYWORDS, Syntax::Keyword).chain(types).chain(of(QUALIFIERS, Syntax::Qualifier))
}

/// What a texture's name may carry behind it, beside `_count` of every resource.
const SUFFIXES: &[&str] = &["_count", "_width", "_height", "_depth", "_next"];

/// What a text looks like from its start, up to its end or to where it was enough.
#[derive(Debug)]
pub struct Painted<'a> {
    /// Pieces that follow one another without a gap.
    pub spans: Vec<Span>,
    /// Where lines begin with which the lexer could begin.
    pub begins: Vec<usize>,
    /// What the manifest declares, where there is one, or what was known of it before.
    pub bound: Option<BTreeSet<&'a str>>,
    /// Where the manifest ends that was found.
    pub manifest_end: Option<usize>,
    /// Whether there was enough.
    pub is_stopped: bool,
}

/// `text` cut into pieces. It begins where a line begins, outside of anything; `bound` is what the manifest before it
/// declares. At each line with which the lexer could begin, `enough` is asked whether to stop there.
pub fn paint<'a>(
    text: &'a str,
    bound: Option<BTreeSet<&'a str>>,
    mut enough: impl FnMut(usize, &Option<BTreeSet<&'a str>>) -> bool,
) -> Painted<'a> {
    let mut painter = Painter { text, spans: Vec::new(), bound };
    let (mut begins, mut manifest_end, mut is_stopped) = (Vec::new(), None, false);
    for token in lex(text) {
        let had_manifest = painter.bound.is_some();
        painter.token(&token);
        let end = token.offset + token.text.len();
        if !had_manifest && painter.bound.is_some() {
            manifest_end = Some(end);
        }
        if token.kind == Kind::Blank && token.text == "\n" {
            begins.push(end);
            is_stopped = enough(end, &painter.bound);
            if is_stopped {
                break;
            }
        }
    }
    Painted { spans: painter.spans, begins, bound: painter.bound, manifest_end, is_stopped }
}

struct Painter<'a> {
    text: &'a str,
    spans: Vec<Span>,
    /// What the manifest declares, once it was seen.
    bound: Option<BTreeSet<&'a str>>,
}

impl<'a> Painter<'a> {
    /// Up to where the text has its colours.
    fn end(&self) -> usize {
        self.spans.last().map_or(0, |span| span.range.end)
    }

    /// Takes `bytes` more as `syntax`; joins them to the piece before where that is of the same kind.
    fn take(&mut self, bytes: usize, syntax: Syntax) {
        let start = self.end();
        match self.spans.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if last.syntax == syntax => last.range.end += bytes,
            _ => self.spans.push(Span { range: start..start + bytes, syntax }),
        }
    }

    fn token(&mut self, token: &Token<'a>) {
        let text = token.text;
        let syntax = match token.kind {
            Kind::Comment if self.bound.is_none() && scene::opens_manifest(text) => {
                return self.manifest(text);
            }
            Kind::Directive => return self.directive(text),
            Kind::Blank => Syntax::Plain,
            Kind::Comment | Kind::Disabled => Syntax::Comment,
            Kind::Word => self.word(text, &self.text[token.offset + text.len()..]),
            Kind::Number => Syntax::Number,
            Kind::Quoted => Syntax::String,
            Kind::Sign => Syntax::Punctuation,
        };
        self.take(text.len(), syntax);
    }

    /// `#include <a>`: the file as a string, the rest as one piece.
    fn directive(&mut self, text: &str) {
        let file = text.find(['<', '"']).filter(|_| text.contains("include"));
        let at = file.unwrap_or(text.len());
        self.take(at, Syntax::Preprocessor);
        self.take(text.len() - at, Syntax::String);
    }

    /// What a word is, with `behind` after it.
    fn word(&self, word: &str, behind: &str) -> Syntax {
        let behind = behind.trim_start_matches(' ');
        let opens = behind.starts_with('(');
        let called = opens || behind.starts_with('<');
        if KEYWORDS.contains(&word) {
            Syntax::Keyword
        } else if is_type(word) {
            Syntax::Type
        } else if QUALIFIERS.contains(&word) {
            Syntax::Qualifier
        } else if BUILT_INS.contains(&word) || (word.starts_with("__") && called) {
            Syntax::BuiltIn
        } else if self.is_bound(word) {
            Syntax::Bound
        } else if opens {
            Syntax::Function
        } else {
            Syntax::Plain
        }
    }

    fn is_bound(&self, word: &str) -> bool {
        let Some(bound) = &self.bound else { return false };
        let stems = SUFFIXES.iter().filter_map(|suffix| word.strip_suffix(suffix));
        bound.contains(word) || stems.into_iter().any(|name| bound.contains(name))
    }

    /// The comment that is the manifest.
    fn manifest(&mut self, comment: &'a str) {
        let (mut bound, mut table) = (BTreeSet::new(), "");
        self.take(scene::OPEN.len(), Syntax::Table);
        for whole in comment[scene::OPEN.len()..].split_inclusive('\n') {
            let line = whole.trim();
            let indent = whole.len() - whole.trim_start().len();
            self.take(indent, Syntax::Plain);
            if line.ends_with("*/") {
                self.take(line.len(), Syntax::Table);
            } else if line.starts_with('[') {
                table = line.trim_start_matches('[').split([']', '.']).next().unwrap_or("").trim();
                bound.extend(self.header(line));
            } else {
                bound.extend(self.entry(line).filter(|_| table == "constant"));
            }
            self.take(whole.trim_start().len() - line.len(), Syntax::Plain);
        }
        self.bound = Some(bound);
    }

    /// `[buffer.position]`, with a comment behind it perhaps; the name behind the dot.
    fn header(&mut self, line: &'a str) -> Option<&'a str> {
        let close = line.find(']').map(|at| line.len() - line[at..].trim_start_matches(']').len());
        let (header, values) = line.split_at(close.unwrap_or(line.len()));
        self.take(header.len(), Syntax::Table);
        self.values(values);
        let (_, name) = header.trim_matches(['[', ']']).split_once('.')?;
        Some(name.trim().trim_matches('"'))
    }

    /// `key = value`; the key.
    fn entry(&mut self, line: &'a str) -> Option<&'a str> {
        let equals = line.find('=').filter(|_| !line.starts_with('#'));
        let key = equals.map_or("", |at| line[..at].trim_end());
        self.take(key.len(), Syntax::Key);
        self.values(&line[key.len()..]);
        (!key.is_empty()).then_some(key)
    }

    /// Whatever stands right of a key, to the end of its line. The tokens of TOML's values are those of C++.
    fn values(&mut self, line: &str) {
        for token in lex(line) {
            let syntax = match token.kind {
                _ if token.text.starts_with('#') => {
                    return self.take(line.len() - token.offset, Syntax::Comment);
                }
                Kind::Word if matches!(token.text, "true" | "false" | "inf" | "nan") => {
                    Syntax::Keyword
                }
                Kind::Word | Kind::Blank => Syntax::Plain,
                Kind::Number => Syntax::Number,
                Kind::Quoted => Syntax::String,
                Kind::Sign | Kind::Comment | Kind::Directive | Kind::Disabled => {
                    Syntax::Punctuation
                }
            };
            self.take(token.text.len(), syntax);
        }
    }
}

fn is_type(word: &str) -> bool {
    if TYPES.contains(&word) {
        return true;
    }
    if word
        .strip_suffix("_t")
        .is_some_and(|stem| stem.starts_with("int") || stem.starts_with("uint"))
    {
        return true;
    }
    VECTOR_TYPES.contains(&word.trim_end_matches(['1', '2', '3', '4']))
        && word.len() - word.trim_end_matches(['1', '2', '3', '4']).len() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<Span> {
        paint(text, None, |_, _| false).spans
    }

    fn pieces(text: &str) -> Vec<(&str, Syntax)> {
        spans(text).into_iter().map(|span| (&text[span.range], span.syntax)).collect()
    }

    fn of(text: &str, syntax: Syntax) -> Vec<&str> {
        pieces(text).into_iter().filter(|(_, t)| *t == syntax).map(|(text, _)| text).collect()
    }

    #[test]
    fn a_kernel_is_told_apart() {
        let text =
            "__global__ void go(float4 *p, int n) { int i = blockIdx.x; p[i] = sinf(2.0e-3f); }";
        assert_eq!(of(text, Syntax::Qualifier), ["__global__"]);
        assert_eq!(of(text, Syntax::Type), ["void", "float4", "int", "int"]);
        assert_eq!(of(text, Syntax::BuiltIn), ["blockIdx"]);
        assert_eq!(of(text, Syntax::Function), ["go", "sinf"]);
        assert_eq!(of(text, Syntax::Number), ["2.0e-3f"]);
    }

    #[test]
    fn pieces_follow_one_another_without_a_gap() {
        for text in [
            "",
            "a",
            "/*",
            "/*---",
            "/*---\n[buffer.x",
            "\"open",
            "'",
            "#include <a> // b\nx",
            "/*---\nx = \"ü\"\n---*/\n\n// ende ü",
            "0x1p-3 .5f 1'000 a->b",
            "#",
            "\\",
            "é ü /* ß",
            "/*---\r\n[a]\r\n---*/\r\nint x;",
        ] {
            let joined: String = pieces(text).into_iter().map(|(text, _)| text).collect();
            assert_eq!(joined, text);
        }
    }

    #[test]
    fn every_prefix_of_a_scene_is_covered() {
        let text = "/*---\ntitle = \"T\" # c\n[param.drag]\nvalue = 0.2\n---*/\n#include <x>\nvoid f() { \"s\\\"\"; 'c'; 1e+3; }\n";
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let covered: usize = spans(&text[..end]).iter().map(|span| span.range.len()).sum();
            assert_eq!(covered, end);
        }
    }

    #[test]
    fn the_manifest_is_toml_and_its_names_are_known_below() {
        let text = "/*---\n[constant] # sizes\nn = 12\n[buffer.position]\ntype = \"float4\"\n---*/\nx = position[n] + position_count;";
        assert_eq!(of(text, Syntax::Table), ["/*---", "[constant]", "[buffer.position]", "---*/"]);
        assert_eq!(of(text, Syntax::Key), ["n", "type"]);
        assert_eq!(of(text, Syntax::String), ["\"float4\""]);
        assert_eq!(of(text, Syntax::Bound), ["position", "n", "position_count"]);
        assert_eq!(of(text, Syntax::Comment), ["# sizes"]);
    }

    #[test]
    fn an_ordinary_comment_is_no_manifest() {
        assert_eq!(pieces("/* [a] */"), [("/* [a] */", Syntax::Comment)]);
        let text = "/* licence */ /*---\nx = 1\n---*/ /*---\ny = 2\n---*/";
        assert_eq!(of(text, Syntax::Key), ["x"], "others may stand before it; there is one");
    }

    #[test]
    fn strings_end_with_their_line_and_know_escapes() {
        assert_eq!(of("\"a\\\"b\" c", Syntax::String), ["\"a\\\"b\""]);
        assert_eq!(of("\"open\nint x;", Syntax::String), ["\"open"]);
    }

    #[test]
    fn a_comment_before_a_directive_is_a_blank() {
        let text = "  #if A\n;#if B\n /* */ #if C";
        assert_eq!(of(text, Syntax::Preprocessor), ["#if A", "#if C"]);
    }

    #[test]
    fn unusual_types() {
        for name in ["uchar4", "uint32_t", "int64_t", "cudaTextureObject_t", "unsigned", "double2"]
        {
            assert!(is_type(name), "{name}");
        }
        for name in ["float44", "floaty", "x_t", "int_"] {
            assert!(!is_type(name), "{name}");
        }
    }
}

//! Colours for a scene's text: CUDA C++, with the manifest in the first comment as TOML.
//!
//! A scanner, not a parser: it never fails, whatever half-typed text it gets. Names that the manifest
//! declares are told apart wherever the kernels use them.

use std::{collections::BTreeSet, ops::Range, sync::Arc};

use egui::{
    FontId,
    text::{LayoutJob, LayoutSection, TextFormat},
};

use super::theme;
use crate::scene;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// Anything else.
    Plain,
    /// A comment, in CUDA C++ or in the manifest.
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

/// A piece of text, in bytes, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it is.
    pub range: Range<usize>,
    /// What it is.
    pub token: Token,
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

/// What a texture's name may carry behind it, beside `_count` of every resource.
const SUFFIXES: &[&str] = &["_count", "_width", "_height", "_depth", "_next"];

/// A text of more pieces than this has no colours: to lay it out takes longer than they are worth.
const MOST_SPANS: usize = 200_000;

/// `text` cut into pieces that follow one another without a gap.
pub fn tokenize(text: &str) -> Vec<Span> {
    let (spans, bound) = (Vec::new(), BTreeSet::new());
    let mut scanner = Scanner { text, at: 0, spans, bound, line_is_blank: true };
    scanner.source();
    if scanner.spans.len() > MOST_SPANS {
        return vec![Span { range: 0..text.len(), token: Token::Plain }];
    }
    scanner.spans
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    spans: Vec<Span>,
    bound: BTreeSet<&'a str>,
    /// Whether there are only blanks before this place on its line.
    line_is_blank: bool,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes `bytes` more as `token`; joins them to the piece before where that is of the same kind.
    fn take(&mut self, bytes: usize, token: Token) {
        let range = self.at..self.at + bytes;
        self.at = range.end;
        let taken = &self.text[range.clone()];
        self.line_is_blank = match taken.rfind('\n') {
            Some(end) => taken[end..].trim().is_empty(),
            None => self.line_is_blank && taken.trim().is_empty(),
        };
        match self.spans.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.token == token => last.range.end = range.end,
            _ => self.spans.push(Span { range, token }),
        }
    }

    /// How many bytes from here on fulfil `accept`.
    fn run(&self, accept: impl Fn(char) -> bool) -> usize {
        let rest = self.rest();
        rest.find(|c| !accept(c)).unwrap_or(rest.len())
    }

    fn to_line_end(&self) -> usize {
        self.run(|c| c != '\n')
    }

    fn source(&mut self) {
        let mut manifest_seen = false;
        while let Some(next) = self.peek() {
            let rest = self.rest();
            if rest.starts_with("/*") {
                if !manifest_seen && rest.starts_with(scene::OPEN) {
                    self.manifest();
                    manifest_seen = true;
                } else {
                    self.take(self.through_block_comment(), Token::Comment);
                }
            } else if rest.starts_with("//") {
                self.take(self.to_line_end(), Token::Comment);
            } else if next == '#' && self.line_is_blank {
                self.directive();
            } else if next == '"' || next == '\'' {
                self.quoted(next);
            } else if starts_number(rest) {
                self.number();
            } else if is_word_start(next) {
                self.word();
            } else if next.is_whitespace() {
                self.take(self.run(char::is_whitespace), Token::Plain);
            } else {
                self.take(next.len_utf8(), Token::Punctuation);
            }
        }
    }

    fn through_block_comment(&self) -> usize {
        self.rest()[2..].find("*/").map_or(self.rest().len(), |at| at + 4)
    }

    /// `#include <a>`: the file as a string, the rest up to a comment as one piece.
    fn directive(&mut self) {
        let line = &self.rest()[..self.to_line_end()];
        let code = line.find("//").or_else(|| line.find("/*")).unwrap_or(line.len());
        let file = line[..code].find(['<', '"']).filter(|_| line.contains("include"));
        match file {
            Some(at) => {
                self.take(at, Token::Preprocessor);
                self.take(code - at, Token::String);
            }
            None => self.take(code, Token::Preprocessor),
        }
    }

    /// A string or character; one that is not closed ends with its line.
    fn quoted(&mut self, quote: char) {
        let mut escaped = false;
        let mut bytes = 0;
        for c in self.rest().chars() {
            if c == '\n' {
                break;
            }
            bytes += c.len_utf8();
            if bytes > 1 && c == quote && !escaped {
                break;
            }
            escaped = c == '\\' && !escaped;
        }
        self.take(bytes, Token::String);
    }

    fn number(&mut self) {
        let rest = self.rest();
        let mut before = ' ';
        let hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
        let length = rest
            .find(|c: char| {
                let exponent = matches!((before, hexadecimal), ('e' | 'E', false) | ('p' | 'P', _));
                let part = c.is_ascii_alphanumeric()
                    || c == '.'
                    || c == '\''
                    || (exponent && (c == '+' || c == '-'));
                before = c;
                !part
            })
            .unwrap_or(rest.len());
        self.take(length.max(1), Token::Number);
    }

    fn word(&mut self) {
        let length = self.run(is_word);
        let word = &self.rest()[..length];
        let called = self.rest()[length..].trim_start_matches(' ').starts_with(['(', '<']);
        let opens = self.rest()[length..].trim_start_matches(' ').starts_with('(');
        let token = if KEYWORDS.contains(&word) {
            Token::Keyword
        } else if is_type(word) {
            Token::Type
        } else if QUALIFIERS.contains(&word) {
            Token::Qualifier
        } else if BUILT_INS.contains(&word) || (word.starts_with("__") && called) {
            Token::BuiltIn
        } else if self.is_bound(word) {
            Token::Bound
        } else if opens {
            Token::Function
        } else {
            Token::Plain
        };
        self.take(length, token);
    }

    fn is_bound(&self, word: &str) -> bool {
        self.bound.contains(word)
            || SUFFIXES
                .iter()
                .filter_map(|suffix| word.strip_suffix(suffix))
                .any(|name| self.bound.contains(name))
    }

    fn manifest(&mut self) {
        let end = self.at + self.through_block_comment();
        self.take(scene::OPEN.len(), Token::Table);
        let mut table = "";
        while self.at < end {
            let line = &self.text[self.at..end.min(self.at + self.to_line_end())];
            let indent = line.len() - line.trim_start().len();
            self.take(indent, Token::Plain);
            let line = line.trim_start();
            if line.starts_with(scene::CLOSE) || line.ends_with("*/") {
                self.take(line.len(), Token::Table);
            } else if line.starts_with('[') {
                table = line.trim_start_matches('[').split([']', '.']).next().unwrap_or("").trim();
                self.header(line);
            } else {
                self.entry(line, table);
            }
            self.take(self.run(|c| c == '\n').min(end - self.at), Token::Plain);
        }
    }

    /// `[buffer.position]`, with a comment behind it perhaps.
    fn header(&mut self, line: &'a str) {
        let close = line
            .find(']')
            .map_or(line.len(), |at| at + line[at..].chars().take_while(|c| *c == ']').count());
        if let Some((_, name)) = line[..close].trim_matches(['[', ']']).split_once('.') {
            self.bound.insert(name.trim().trim_matches('"'));
        }
        self.take(close, Token::Table);
        self.values(&line[close..]);
    }

    /// `key = value`.
    fn entry(&mut self, line: &'a str, table: &str) {
        let Some(equals) = line.find('=').filter(|_| !line.starts_with('#')) else {
            return self.values(line);
        };
        let key = line[..equals].trim_end();
        if table == "constant" {
            self.bound.insert(key);
        }
        self.take(key.len(), Token::Key);
        self.values(&line[key.len()..]);
    }

    /// Whatever stands right of a key, to the end of `line`.
    fn values(&mut self, line: &str) {
        let end = self.at + line.len();
        while self.at < end {
            let Some(next) = self.peek() else { return };
            let rest = &self.text[self.at..end];
            match next {
                '#' => self.take(rest.len(), Token::Comment),
                '"' | '\'' => self.quoted(next),
                c if c.is_ascii_digit() => self.number(),
                c if is_word_start(c) => {
                    let word = self.run(is_word);
                    let known = matches!(&rest[..word], "true" | "false" | "inf" | "nan");
                    self.take(word, if known { Token::Keyword } else { Token::Plain });
                }
                c if c.is_whitespace() => self.take(c.len_utf8(), Token::Plain),
                c => self.take(c.len_utf8(), Token::Punctuation),
            }
        }
    }
}

fn is_word_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn starts_number(rest: &str) -> bool {
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    digits.starts_with(|c: char| c.is_ascii_digit())
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

/// Colours a text once and keeps the result until the text or the font changes.
#[derive(Default)]
pub struct Highlighter {
    font: Option<FontId>,
    job: Arc<LayoutJob>,
}

impl Highlighter {
    /// What to lay out for `text`: coloured, never wrapped.
    pub fn job(&mut self, text: &str, font: &FontId) -> Arc<LayoutJob> {
        if self.font.as_ref() != Some(font) || self.job.text != text {
            self.job = Arc::new(layout(text, font));
            self.font = Some(font.clone());
        }
        self.job.clone()
    }
}

fn layout(text: &str, font: &FontId) -> LayoutJob {
    let line_height = Some((font.size * 1.45).round());
    let section = |range: Range<usize>, token| LayoutSection {
        leading_space: 0.0,
        byte_range: range.start.into()..range.end.into(),
        format: TextFormat {
            line_height,
            valign: egui::Align::Center,
            ..TextFormat::simple(font.clone(), theme::token(token))
        },
    };
    let mut sections: Vec<LayoutSection> =
        tokenize(text).into_iter().map(|span| section(span.range, span.token)).collect();
    if sections.is_empty() {
        sections.push(section(0..0, Token::Plain));
    }
    let mut job = LayoutJob { text: text.to_owned(), sections, ..LayoutJob::default() };
    job.wrap.max_width = f32::INFINITY;
    job.keep_trailing_whitespace = true;
    job
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(&str, Token)> {
        tokenize(text).into_iter().map(|span| (&text[span.range], span.token)).collect()
    }

    fn of(text: &str, token: Token) -> Vec<&str> {
        pieces(text).into_iter().filter(|(_, t)| *t == token).map(|(text, _)| text).collect()
    }

    #[test]
    fn a_kernel_is_told_apart() {
        let text =
            "__global__ void go(float4 *p, int n) { int i = blockIdx.x; p[i] = sinf(2.0e-3f); }";
        assert_eq!(of(text, Token::Qualifier), ["__global__"]);
        assert_eq!(of(text, Token::Type), ["void", "float4", "int", "int"]);
        assert_eq!(of(text, Token::BuiltIn), ["blockIdx"]);
        assert_eq!(of(text, Token::Function), ["go", "sinf"]);
        assert_eq!(of(text, Token::Number), ["2.0e-3f"]);
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
            let covered: usize = tokenize(&text[..end]).iter().map(|span| span.range.len()).sum();
            assert_eq!(covered, end);
        }
    }

    #[test]
    fn the_manifest_is_toml_and_its_names_are_known_below() {
        let text = "/*---\n[constant] # sizes\nn = 12\n[buffer.position]\ntype = \"float4\"\n---*/\nx = position[n] + position_count;";
        assert_eq!(of(text, Token::Table), ["/*---", "[constant]", "[buffer.position]", "---*/"]);
        assert_eq!(of(text, Token::Key), ["n", "type"]);
        assert_eq!(of(text, Token::String), ["\"float4\""]);
        assert_eq!(of(text, Token::Bound), ["position", "n", "position_count"]);
        assert_eq!(of(text, Token::Comment), ["# sizes"]);
    }

    #[test]
    fn an_ordinary_comment_is_no_manifest() {
        assert_eq!(pieces("/* [a] */"), [("/* [a] */", Token::Comment)]);
        let text = "/* licence */ /*---\nx = 1\n---*/ /*---\ny = 2\n---*/";
        assert_eq!(of(text, Token::Key), ["x"], "others may stand before it; there is one");
    }

    #[test]
    fn strings_end_with_their_line_and_know_escapes() {
        assert_eq!(of("\"a\\\"b\" c", Token::String), ["\"a\\\"b\""]);
        assert_eq!(of("\"open\nint x;", Token::String), ["\"open"]);
    }

    #[test]
    fn a_line_of_very_many_pieces_is_looked_at_once_and_has_no_colours() {
        assert_eq!(of("  #if A\n;#if B\n /* */ #if C", Token::Preprocessor), ["#if A"]);
        let spans = tokenize(&"a;#".repeat(400_000));
        assert_eq!(spans, [Span { range: 0..1_200_000, token: Token::Plain }]);
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

    #[test]
    fn the_same_text_is_coloured_once() {
        let mut highlighter = Highlighter::default();
        let font = FontId::monospace(12.0);
        let first = highlighter.job("int x;", &font);
        assert!(Arc::ptr_eq(&first, &highlighter.job("int x;", &font)));
        assert!(!Arc::ptr_eq(&first, &highlighter.job("int y;", &font)));
    }
}

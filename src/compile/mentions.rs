//! Where a text names other files.
//!
//! Whatever the text, this takes a time in proportion to its length: each place is looked at once, and what was found
//! from there is remembered for the next one.

use std::{
    collections::{HashMap, HashSet},
    iter, mem,
};

use super::budget::MOST_MENTIONS;

/// What a text says about other files, in its order.
pub(super) struct Mentions {
    pub found: Vec<Mention>,
    /// Whether the result depends on the clock.
    pub asks_for_time: bool,
}

/// A place where a text names another file.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Mention {
    /// The name; `None` where it is computed, or has bytes that are no UTF-8.
    pub what: Option<String>,
    pub line: u32,
}

/// The names in `#include`, `#include_next`, `#import`, `#embed` and `__has_include`, or `None` where a name is
/// computed or the text asks for the time.
#[cfg(any(feature = "gl", test))]
pub(crate) fn included_names(text: &[u8]) -> Option<Vec<String>> {
    let Mentions { found, asks_for_time } = Mentions::of(text);
    let names: Option<Vec<_>> = found.into_iter().map(|mention| mention.what).collect();
    names.filter(|_| !asks_for_time)
}

/// Macros that make two compilations of one text differ.
const CLOCK_MACROS: [&str; 3] = ["__TIME__", "__DATE__", "__TIMESTAMP__"];

/// What makes the compiler look at a file.
const DIRECTIVES: [&str; 5] = ["include_next", "include", "import", "embed", "using"];

/// How a directive may begin.
const HASHES: [&str; 3] = ["#", "%:", "??="];

/// What stands behind two question marks, and what the three mean.
const TRIGRAPHS: [(char, char); 9] = [
    ('=', '#'),
    ('/', '\\'),
    ('\'', '^'),
    ('(', '['),
    (')', ']'),
    ('!', '|'),
    ('<', '{'),
    ('>', '}'),
    ('-', '~'),
];

/// What asks whether there is a file.
const QUESTIONS: [&str; 2] = ["__has_include", "__has_embed"];

/// What may stand between the words of a directive; a carriage return alone ends no line.
const BLANKS: [char; 5] = [' ', '\t', '\r', '\x0b', '\x0c'];

/// The longest name, in bytes: no system opens longer ones.
const LONGEST_NAME: usize = 4096;

impl Mentions {
    /// Which of them a text means depends on the language's version where it has trigraphs, or blanks between a
    /// backslash and the line's end: all are found.
    pub(super) fn of(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut mentions = Self::of_text(&text);
        let replaced = without_trigraphs(&text);
        let joined = without_blanks_of_joints(replaced.as_deref().unwrap_or(&text));
        let joined_alone = replaced.as_ref().and_then(|_| without_blanks_of_joints(&text));
        for other in [replaced, joined, joined_alone].into_iter().flatten() {
            let more = Self::of_text(&other);
            let known: HashSet<Mention> = mentions.found.iter().cloned().collect();
            mentions.found.extend(more.found.into_iter().filter(|found| !known.contains(found)));
            mentions.found.truncate(MOST_MENTIONS + 1);
            mentions.asks_for_time |= more.asks_for_time;
        }
        mentions
    }

    fn of_text(text: &str) -> Self {
        let (joined, joints) = join_lines(text);
        let text: &str = joined.as_deref().unwrap_or(text);
        let mut reader = Reader::new(text);
        let mut found = Vec::new();
        for (at, mark) in marks(text) {
            let after = at + mark.len();
            let what = match QUESTIONS.contains(&mark) {
                true => reader.question(after, at),
                false => reader.directive(after),
            };
            if let Some(what) = what
                && !reader.line(at).is_comment(at)
            {
                let joined = joints.partition_point(|joint| *joint <= at);
                let line = u32::try_from(reader.number + joined).unwrap_or(u32::MAX);
                let what = what.filter(|name| !name.contains(char::REPLACEMENT_CHARACTER));
                found.push(Mention { what, line });
                if found.len() > MOST_MENTIONS {
                    break;
                }
            }
        }
        let asks_for_time = CLOCK_MACROS.iter().any(|name| text.contains(name));
        Self { found, asks_for_time }
    }
}

/// Where a file may be named, in the order of the text, each with what stands there.
fn marks(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let of_mark = |mark: &'static str| {
        let mut places = text.match_indices(mark).map(|(at, _)| at);
        (places.next(), mark, places)
    };
    let mut all: Vec<_> = HASHES.into_iter().chain(QUESTIONS).map(of_mark).collect();
    iter::from_fn(move || {
        let left = all.iter_mut().filter(|(next, ..)| next.is_some());
        let (next, mark, places) = left.min_by_key(|(next, ..)| *next)?;
        mem::replace(next, places.next()).map(|at| (at, *mark))
    })
}

/// The text as C++ before its version of 2017 reads it, where that differs (ISO C++ 14, 2.4).
fn without_trigraphs(text: &str) -> Option<String> {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("??") {
        let meant = rest[at + 2..].chars().next().and_then(|third| {
            let meant = TRIGRAPHS.iter().find(|(last, _)| *last == third)?;
            Some(meant.1)
        });
        replaced.push_str(&rest[..at]);
        match meant {
            Some(meant) => {
                replaced.push(meant);
                rest = &rest[at + 3..];
            }
            None => {
                replaced.push('?');
                rest = &rest[at + 1..];
            }
        }
    }
    let is_same = rest.len() == text.len();
    replaced.push_str(rest);
    (!is_same && replaced != text).then_some(replaced)
}

/// The text as C++ since its version of 2023 reads it, where that differs: there a backslash joins lines also where
/// blanks stand behind it (ISO C++ 23, 5.2).
fn without_blanks_of_joints(text: &str) -> Option<String> {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, after) = rest.split_at(at + 1);
        replaced.push_str(before);
        let behind = after.trim_start_matches(BLANKS);
        rest = if behind.starts_with('\n') { behind } else { after };
    }
    replaced.push_str(rest);
    (replaced.len() < text.len()).then_some(replaced)
}

/// The text with continued lines joined, where there are any, and where they were.
fn join_lines(text: &str) -> (Option<String>, Vec<usize>) {
    if !text.contains('\\') {
        return (None, Vec::new());
    }
    let (mut joined, mut joints) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let after = &rest[at + 1..];
        let next = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n'));
        joined.push_str(&rest[..at + usize::from(next.is_none())]);
        joints.extend(next.map(|_| joined.len()));
        rest = next.unwrap_or(after);
    }
    joined.push_str(rest);
    (Some(joined), joints)
}

/// Reads a text at ascending places.
struct Reader<'a> {
    text: &'a str,
    /// Up to here lines are known.
    at: usize,
    line: Line,
    /// The number of the line, from 1: lines are counted by `\n` alone.
    number: usize,
    /// Where the blanks and comments end that begin behind a comment.
    blanks_end: HashMap<usize, usize>,
    /// Behind the first `*/` from some place on; `None`: there is none.
    comment_end: (usize, Option<usize>),
}

/// A line, which a carriage return ends, too.
#[derive(Clone, Copy)]
struct Line {
    /// Whether it begins with two slashes.
    is_slashed: bool,
    /// Where its first `*/` stands.
    comment_end: Option<usize>,
    /// Where its first `define ` stands.
    define: Option<usize>,
}

impl Line {
    fn new(text: &str, start: usize) -> Self {
        let end = text[start..].find(['\n', '\r']).map_or(text.len(), |length| start + length);
        let line = &text[start..end];
        let find = |what: &str| line.find(what).map(|at| start + at);
        let is_slashed = line.trim_start_matches(BLANKS).starts_with("//");
        Self { is_slashed, comment_end: find("*/"), define: find("define ") }
    }

    /// Whether what stands at `at` is certainly a comment's: its line begins with two slashes, and no comment that
    /// began on an earlier line ends on it.
    fn is_comment(&self, at: usize) -> bool {
        self.is_slashed && self.comment_end.is_none_or(|end| end >= at)
    }
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let (line, comment_end) = (Line::new(text, 0), (usize::MAX, None));
        Self { text, at: 0, line, number: 1, blanks_end: HashMap::new(), comment_end }
    }

    /// The line with `at`, which is not before one that was asked for earlier.
    fn line(&mut self, at: usize) -> Line {
        let passed = &self.text[self.at..at];
        self.number += passed.bytes().filter(|byte| *byte == b'\n').count();
        if let Some(end) = passed.rfind(['\n', '\r']) {
            self.line = Line::new(self.text, self.at + end + 1);
        }
        self.at = at;
        self.line
    }

    /// The name that a directive asks for whose hash ends at `at`, where it is one that reads a file: `Some(None)` for
    /// a name that is computed.
    fn directive(&mut self, at: usize) -> Option<Option<String>> {
        let at = self.skip_blanks(at);
        let rest = &self.text[at..];
        let word = DIRECTIVES.iter().find(|word| rest.starts_with(**word))?;
        let after = at + word.len();
        let goes_on = self.text[after..].starts_with(is_of_word);
        (!goes_on).then(|| self.quoted_name(after))
    }

    /// The name that `__has_include` asks for, which begins at `start` and ends at `at`. Where it is only looked
    /// whether there is such a thing, it asks for nothing; a macro that stands for it asks for anything.
    fn question(&mut self, at: usize, start: usize) -> Option<Option<String>> {
        let next = if self.text[at..].starts_with("_next") { at + "_next".len() } else { at };
        if self.text[next..].starts_with(is_of_word) {
            return None;
        }
        let open = self.skip_blanks(next);
        if self.text[open..].starts_with('(') {
            return Some(self.quoted_name(open + 1));
        }
        self.line(start).define.is_some_and(|define| define < start).then_some(None)
    }

    /// The name between the quotes or angle brackets that stand behind blanks at `at`.
    fn quoted_name(&mut self, at: usize) -> Option<String> {
        let at = self.skip_blanks(at);
        let rest = &self.text.as_bytes()[at..];
        let close = match rest.first()? {
            b'"' => b'"',
            b'<' => b'>',
            _ => return None,
        };
        let name = &rest[1..];
        let ends = |byte: &u8| *byte == close || *byte == b'\n';
        let length = name.iter().take(LONGEST_NAME).position(ends)?;
        (name[length] == close).then(|| self.text[at + 1..at + 1 + length].to_owned())
    }

    /// Behind the blanks and block comments at `at`.
    fn skip_blanks(&mut self, mut at: usize) -> usize {
        let mut passed = Vec::new();
        let end = loop {
            let rest = self.text[at..].trim_start_matches(BLANKS);
            let blank_end = self.text.len() - rest.len();
            let comment_end = rest.starts_with("/*").then(|| self.comment_end(blank_end + 2));
            let Some(after) = comment_end.flatten() else { break blank_end };
            if let Some(end) = self.blanks_end.get(&after) {
                break *end;
            }
            passed.push(after);
            at = after;
        };
        self.blanks_end.extend(passed.into_iter().map(|after| (after, end)));
        end
    }

    /// Behind the first `*/` from `at` on.
    fn comment_end(&mut self, at: usize) -> Option<usize> {
        let (from, end) = self.comment_end;
        if at < from || end.is_some_and(|end| end < at + 2) {
            let found = self.text[at..].find("*/").map(|length| at + length + 2);
            self.comment_end = (at, found);
        }
        self.comment_end.1
    }
}

/// Whether a word goes on with `c`.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn lines(text: &str) -> Vec<u32> {
        Mentions::of(text.as_bytes()).found.iter().map(|mention| mention.line).collect()
    }

    /// The names that are found; `?` for those that cannot be told.
    fn names(text: &[u8]) -> Vec<String> {
        let found = Mentions::of(text).found.into_iter();
        found.map(|mention| mention.what.unwrap_or_else(|| "?".to_owned())).collect()
    }

    #[test]
    fn trigraphs_are_read_in_both_ways() {
        assert_eq!(names(b"#inc??/\nlude \"a.h\"\n"), ["a.h"]);
        assert_eq!(names(b"int x;\n??=inc??/\r\nlude \"a.h\"\n"), ["a.h"]);
        assert_eq!(names(b"#include \"l??'/a.h\"\n"), ["l??'/a.h", "l^/a.h"]);
        assert_eq!(names(b"// what???\n#include \"a.h\"\n"), ["a.h"]);
        assert_eq!(names(b"// what???/\n#include \"a.h\"\n"), ["a.h"]);
    }

    #[test]
    fn names_that_are_no_text_cannot_be_told() {
        assert_eq!(names(b"#include \"l\xff/a.h\"\n#include \"b.h\"\n"), ["?", "b.h"]);
        assert_eq!(names("#include \"l\u{fffd}/a.h\"\n".as_bytes()), ["?"]);
    }

    #[test]
    fn every_spelling_of_include_is_found() {
        let text = "#include <a.h>\n # /* x */ include /* y */ \"b.h\"\n#inc\\\nlude \"c.h\"\n%:include<d.h>\n\
                    /* #include \"e.h\" */\n#if __has_include( <f.h> )\nint include; // to include things\n\
                    #include_next <g.h>\n#import \"h.h\"\n#\x0binclude\x0c\"i.h\"\n#/* /* */include \"j.h\"\n\
                    /*\n// */ #include \"k.h\"\n// x\r#include \"l.h\"\n??=include \"m.h\"\n";
        let expected = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"];
        assert_eq!(
            included_names(text.as_bytes()).unwrap(),
            expected.map(|stem| format!("{stem}.h"))
        );
        assert_eq!(lines(text), [1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16]);
    }

    #[test]
    fn a_line_that_is_a_comment_names_nothing() {
        assert_eq!(included_names(b"// #include \"a.h\"\n  // #include X\n"), Some(vec![]));
        assert_eq!(
            included_names(b"#ifdef __has_include\n#if defined(__has_include)\n"),
            Some(vec![])
        );
        // The comment goes on.
        assert_eq!(included_names(b"// \\\n#include \"a.h\"\n"), Some(vec![]));
        assert_eq!(
            included_names(b"#includes \"a.h\"\n#include_directory \"a.h\"\n"),
            Some(vec![])
        );
    }

    #[test]
    fn what_cannot_be_told_has_no_key() {
        assert_eq!(included_names(b"#define H \"a.h\"\n#include H\n"), None);
        assert_eq!(included_names(b"#include \"a.h\n"), None);
        assert_eq!(included_names(b"#define ASK __has_include\n"), None);
        assert_eq!(included_names(b"#if __has_include(H)\n"), None);
        assert_eq!(included_names(b"const char *t = __TIME__;"), None);
        assert_eq!(included_names(b"int x;"), Some(vec![]));
    }

    /// What is read again and again from each place where something may begin takes hours.
    #[test]
    fn a_long_text_takes_no_longer_than_its_length() {
        let started = Instant::now();
        for part in [
            "#/*",
            "#/**/",
            "#/*#*//*#/**/",
            "# /*/",
            "//*/#",
            "#include \"a\" ",
            "#include \"a\"\n",
            "#include <",
            "#include/* ",
            "__has_include",
            "__has_include(/*",
            "\\\n#",
            "??=%:",
        ] {
            let text = part.repeat((1 << 20) / part.len());
            assert!(lines(&text).len() <= MOST_MENTIONS + 1, "{part}");
            let inside = format!("/*\n{text}\n*/");
            assert!(lines(&inside).len() <= MOST_MENTIONS + 1, "{part}");
        }
        assert!(started.elapsed() < Duration::from_secs(600), "{:?}", started.elapsed());
    }
}

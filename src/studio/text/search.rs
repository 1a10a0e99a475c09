//! Finding and replacing, plain or by regular expressions.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use regex::{Captures, Regex, RegexBuilder};
use ropey::Rope;

use super::limit::LONGEST as LONGEST_TEXT;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The text, or the regular expression.
    pub text: String,
    /// Whether it is a regular expression (of the crate `regex`).
    pub regex: bool,
    /// Whether capital letters are told from small ones.
    pub case: bool,
    /// Whether only whole words are found.
    pub words: bool,
}

/// More matches than these are not looked for.
const MOST: usize = 100_000;
/// So long is looked for matches: a pattern may look to the text's end for each of them.
const LONGEST: Duration = Duration::from_millis(100);
/// So long is looked for what is to be replaced.
const LONGEST_REPLACING: Duration = Duration::from_secs(1);

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Matches that are not empty, in order, in characters.
    pub matches: Vec<Range<usize>>,
    /// Whether these are all.
    pub is_all: bool,
}

/// There are too many matches, it takes too long to find them, or what takes their place is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// Finds a query in texts.
#[derive(Clone, Debug)]
pub struct Finder {
    pattern: Regex,
    is_plain: bool,
}

impl Finder {
    /// What finds `query`; `None` where that is empty.
    ///
    /// # Errors
    /// What is wrong with a regular expression, in one line.
    pub fn new(query: &Query) -> Result<Option<Self>, String> {
        if query.text.is_empty() {
            return Ok(None);
        }
        let text = if query.regex { query.text.clone() } else { regex::escape(&query.text) };
        let text =
            if query.words { format!(r"\b{{start-half}}(?:{text})\b{{end-half}}") } else { text };
        let pattern = RegexBuilder::new(&text)
            .case_insensitive(!query.case)
            .multi_line(true)
            .size_limit(1 << 20)
            .build()
            .map_err(|error| reason(&error))?;
        Ok(Some(Self { pattern, is_plain: !query.regex }))
    }

    /// The matches, as far as they are found soon.
    pub fn matches(&self, rope: &Rope) -> Found {
        let (text, end) = (rope.to_string(), Instant::now() + LONGEST);
        let mut matches = Vec::new();
        for found in self.pattern.find_iter(&text).filter(|found| !found.is_empty()) {
            if matches.len() == MOST || Instant::now() > end {
                return Found { matches, is_all: false };
            }
            matches.push(characters(rope, found.range()));
        }
        Found { matches, is_all: true }
    }

    /// Each match within `within` and what takes its place: `template`, in which `$1` and `${name}` stand for groups of
    /// a regular expression.
    ///
    /// # Errors
    /// [`TooMany`]: some alone are not replaced.
    pub fn replacements(
        &self,
        rope: &Rope,
        within: &Range<usize>,
        template: &str,
    ) -> Result<Vec<(Range<usize>, String)>, TooMany> {
        let (text, end) = (rope.to_string(), Instant::now() + LONGEST_REPLACING);
        let (mut at, last) = (rope.char_to_byte(within.start), rope.char_to_byte(within.end));
        let (mut replacements, mut bytes) = (Vec::new(), 0);
        while let Some(captures) = self.pattern.captures_at(&text, at) {
            let found = captures.get_match().range();
            if found.end > last {
                break;
            }
            if replacements.len() == MOST || Instant::now() > end {
                return Err(TooMany);
            }
            at = found.end;
            if found.is_empty() {
                // The next one begins a character later.
                let Some(next) = text[at..].chars().next() else { break };
                at += next.len_utf8();
            } else {
                let text = self.expanded(&captures, template);
                bytes += text.len();
                if bytes > LONGEST_TEXT {
                    return Err(TooMany);
                }
                replacements.push((characters(rope, found), text));
            }
        }
        Ok(replacements)
    }

    fn expanded(&self, captures: &Captures<'_>, template: &str) -> String {
        if self.is_plain {
            return template.to_owned();
        }
        let mut text = String::new();
        captures.expand(template, &mut text);
        text
    }
}

fn characters(rope: &Rope, bytes: Range<usize>) -> Range<usize> {
    rope.byte_to_char(bytes.start)..rope.byte_to_char(bytes.end)
}

/// The last line of what the crate says: the ones before draw where it is.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::text::Buffer;

    fn query(text: &str) -> Query {
        Query { text: text.into(), ..Query::default() }
    }

    fn found(query: &Query, text: &str) -> Vec<String> {
        let rope = Rope::from_str(text);
        let found = Finder::new(query).unwrap().unwrap().matches(&rope);
        assert!(found.is_all);
        found.matches.into_iter().map(|range| rope.slice(range).to_string()).collect()
    }

    fn replaced(query: &Query, text: &str, template: &str) -> String {
        let mut buffer = Buffer::new(text);
        let all = 0..buffer.rope().len_chars();
        let finder = Finder::new(query).unwrap().unwrap();
        let replacements = finder.replacements(buffer.rope(), &all, template).unwrap();
        buffer.replace(replacements, 0.0);
        buffer.to_string()
    }

    #[test]
    fn plain_texts_are_found_as_they_are() {
        let text = "a.b A.B axb \u{fc}a.b";
        assert_eq!(found(&query("a.b"), text), ["a.b", "A.B", "a.b"]);
        assert_eq!(found(&Query { case: true, ..query("a.b") }, text), ["a.b", "a.b"]);
        assert_eq!(found(&Query { words: true, ..query("a.b") }, text), ["a.b", "A.B"]);
        assert_eq!(
            found(&Query { words: true, ..query("(x)") }, "(x)(x)"),
            ["(x)", "(x)"],
            "signs are no words"
        );
        assert!(Finder::new(&query("")).unwrap().is_none());
    }

    #[test]
    fn regular_expressions_know_lines_and_groups() {
        let regex = |text: &str| Query { regex: true, ..query(text) };
        assert_eq!(found(&regex(r"^\s*\w"), "a\n  b\n"), ["a", "  b"]);
        assert_eq!(found(&regex("x*"), "axxb"), ["xx"], "nothing is no match");
        assert_eq!(replaced(&regex(r"(\w+)\((\w)\)"), "f(x) + g(y)", "$2.$1()"), "x.f() + y.g()");
        assert_eq!(replaced(&query("f"), "\u{fc}f(f)", "$1"), "\u{fc}$1($1)");
        let error = Finder::new(&regex("(a")).unwrap_err();
        assert_eq!(error, "unclosed group");
        assert!(Finder::new(&regex(r"(\w{1000}){1000}")).is_err(), "too large a machine");
    }

    #[test]
    fn only_what_is_within_the_range_is_replaced() {
        let rope = Rope::from_str("aaaa");
        let finder = Finder::new(&query("a")).unwrap().unwrap();
        let places: Vec<_> =
            finder.replacements(&rope, &(1..3), "b").unwrap().into_iter().map(|(r, _)| r).collect();
        assert_eq!(places, [1..2, 2..3]);
    }

    /// Each match of this pattern is looked for to the line's end: all of them would take minutes.
    #[test]
    fn what_takes_too_long_is_left() {
        let rope = Rope::from_str(&"a".repeat(1_500_000));
        let slow = Query { regex: true, ..query(r".*[^a\n]|a") };
        let finder = Finder::new(&slow).unwrap().unwrap();
        let found = finder.matches(&rope);
        assert!(!found.is_all && found.matches.len() < MOST, "{}", found.matches.len());
        let all = 0..rope.len_chars();
        assert_eq!(finder.replacements(&rope, &all, "b"), Err(TooMany));
        assert_eq!(finder.replacements(&rope, &(7..8), "b"), Ok(vec![(7..8, "b".to_owned())]));
    }
}

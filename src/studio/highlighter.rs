//! The colours of a text that is edited: after a change only the lines are looked at that it may have changed.
//!
//! The lexer can begin anew at every line where it is within nothing: no comment, no string, no `#if 0`. What follows
//! such a line has its colours from there on alone, and from the names that the manifest declares.

use std::collections::BTreeSet;

use super::{
    highlight::{Painted, Syntax, paint},
    text::Buffer,
};

/// A line of more pieces than this has no colours: to lay it out takes longer than they are worth.
const MOST_PIECES: usize = 10_000;

/// So many bytes of a line, and what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// In bytes.
    pub length: u32,
    /// What it is.
    pub syntax: Syntax,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    pieces: Vec<Piece>,
    /// Whether the lexer can begin with it.
    begins: bool,
}

/// What each line's pieces are, for the text that was looked at last.
#[derive(Debug, Default)]
pub struct Highlighter {
    revision: Option<u64>,
    text: String,
    lines: Vec<Line>,
    /// What the manifest declares, and the byte that it ends before; `None` without one.
    bound: Option<(BTreeSet<String>, usize)>,
}

impl Highlighter {
    /// The pieces of a line without its end.
    pub fn line(&self, line: usize) -> &[Piece] {
        self.lines.get(line).map_or(&[], |line| &line.pieces)
    }

    /// The text that was looked at last.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the manifest declares.
    pub fn bound(&self) -> BTreeSet<String> {
        self.bound.as_ref().map(|(names, _)| names.clone()).unwrap_or_default()
    }

    /// What the character before `at` is part of.
    pub fn syntax_before(&self, buffer: &Buffer, at: usize) -> Option<Syntax> {
        let (line, _) = buffer.place(at);
        let rope = buffer.rope();
        let before = rope.char_to_byte(at) - rope.char_to_byte(rope.line_to_char(line));
        let mut end = 0;
        let mut ends = self.line(line).iter().map(|piece| {
            end += piece.length as usize;
            (end, piece.syntax)
        });
        ends.find(|(end, _)| *end >= before).map(|(_, syntax)| syntax).filter(|_| before > 0)
    }

    /// Looks at the text, unless it is the one that was looked at last.
    pub fn update(&mut self, buffer: &Buffer) {
        if self.revision == Some(buffer.revision()) {
            return;
        }
        self.revision = Some(buffer.revision());
        let text = buffer.to_string();
        self.change(text, buffer.rope().len_lines());
    }

    fn change(&mut self, text: String, count: usize) {
        let ahead = common(self.text.bytes(), text.bytes());
        let most = self.text.len().min(text.len()) - ahead;
        let behind = common(self.text.bytes().rev().take(most), text.bytes().rev().take(most));
        let (first, start) = self.beginning(&text, ahead);
        let bound = self.bound.as_ref().filter(|(_, end)| *end <= start);
        let known = bound.map(|(names, _)| names.iter().map(String::as_str).collect());
        let before: Option<BTreeSet<&str>> =
            self.bound.as_ref().map(|(names, _)| names.iter().map(String::as_str).collect());
        let manifest_end = self.bound.as_ref().map(|(_, end)| *end);
        let (mut lines, mut seen) = (first, 0);
        let mut rest = None;
        let rest_of = &text[start..];
        let (old, unchanged) = (&self.lines, text.len() - behind);
        let painted = paint(rest_of, known, |at, names| {
            lines += rest_of[seen..at].matches('\n').count();
            seen = at;
            // The same line of the old text, where the lexer could begin, too.
            let same = (lines + old.len()).checked_sub(count).filter(|_| start + at > unchanged);
            // Where the manifest is another one, what comes after it may look so, too.
            let is_passed = |end: usize| end + text.len() <= start + at + self.text.len();
            let is_known = *names == before && manifest_end.is_none_or(is_passed);
            rest = same.filter(|same| is_known && old.get(*same).is_some_and(|line| line.begins));
            rest.is_some()
        });
        let fresh = cut(rest_of, &painted);
        let names = |names: &BTreeSet<&str>| names.iter().map(|name| (*name).to_owned()).collect();
        let own = painted.bound.as_ref().map(names);
        let end = match (painted.manifest_end, &self.bound) {
            (Some(end), _) => start + end,
            // It stands before what was looked at.
            (None, Some((_, end))) => *end,
            (None, None) => 0,
        };
        let kept = rest.unwrap_or(old.len());
        self.bound = own.map(|names| (names, end));
        self.lines.splice(first.min(kept)..kept, fresh);
        self.text = text;
    }

    /// The last line before byte `changed` with which the lexer can begin, and its first byte.
    fn beginning(&self, text: &str, changed: usize) -> (usize, usize) {
        let mut line = text.as_bytes()[..changed].iter().filter(|byte| **byte == b'\n').count();
        let mut start = line_start(text, changed);
        while line > 0 && !self.lines.get(line).is_some_and(|line| line.begins) {
            line -= 1;
            start = line_start(text, start - 1);
        }
        (line, start)
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

fn common(a: impl Iterator<Item = u8>, b: impl Iterator<Item = u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

/// The lines of what was painted; where that ends with a line's end, the next one is not among them.
fn cut(text: &str, painted: &Painted<'_>) -> Vec<Line> {
    let mut begins = painted.begins.iter().copied().peekable();
    let (mut lines, mut at) = (Vec::new(), 0);
    let mut line = Line { pieces: Vec::new(), begins: true };
    for span in &painted.spans {
        for part in text[span.range.clone()].split_inclusive('\n') {
            let length = part.strip_suffix('\n').unwrap_or(part).len();
            if length > 0 {
                line.pieces.push(Piece { length: length as u32, syntax: span.syntax });
            }
            at += part.len();
            if length < part.len() {
                while begins.next_if(|begin| *begin < at).is_some() {}
                let next = Line { pieces: Vec::new(), begins: begins.peek() == Some(&at) };
                lines.push(plain_if_many(std::mem::replace(&mut line, next)));
            }
        }
    }
    if !painted.is_stopped {
        lines.push(plain_if_many(line));
    }
    lines
}

fn plain_if_many(mut line: Line) -> Line {
    if line.pieces.len() > MOST_PIECES {
        let length = line.pieces.iter().map(|piece| piece.length).sum();
        line.pieces = vec![Piece { length, syntax: Syntax::Plain }];
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> usize {
        text.matches('\n').count() + 1
    }

    fn fresh(text: &str) -> Highlighter {
        let mut highlighter = Highlighter::default();
        highlighter.change(text.to_owned(), lines(text));
        highlighter
    }

    const TEXT: &str = "// a\n/*---\n[constant]\nn = 1\n[buffer.x]\n---*/\n#if 0\nint\n#endif\nf(n, x);\n/* b\nc */ d\n\
                        R\"(e\nf)\"; \"g\\\nh\"\n#define i \\\n  j\nx_count = k;\n";

    #[test]
    fn lines_have_their_pieces() {
        let highlighter = fresh("int a;\n\n/* b\n\u{fc} */ c");
        let of = |n: usize| {
            let line = highlighter.line(n).iter();
            line.map(|piece| (piece.length, piece.syntax)).collect::<Vec<_>>()
        };
        assert_eq!(of(0)[0], (3, Syntax::Type));
        assert_eq!(of(1), []);
        assert_eq!(of(3), [(5, Syntax::Comment), (2, Syntax::Plain)]);
        let begins: Vec<bool> = highlighter.lines.iter().map(|line| line.begins).collect();
        assert_eq!(begins, [true, true, true, false]);
    }

    #[test]
    fn after_any_change_the_colours_are_those_of_the_whole_text() {
        let parts = [
            "/*",
            "*/",
            "\"",
            "\n",
            "#if 0\n",
            "#endif\n",
            "R\"(",
            ")\"",
            "\\",
            "x",
            "---*/",
            "/*---\n",
            "[buffer.d]\n",
            "\u{fc}",
        ];
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut text = TEXT.to_owned();
            let mut highlighter = fresh(&text);
            for _ in 0..20 {
                let place = |random: &mut fastrand::Rng, text: &str| {
                    text.floor_char_boundary(random.usize(..=text.len()))
                };
                let (a, b) = (place(&mut random, &text), place(&mut random, &text));
                let range = if random.u8(..4) == 0 {
                    a.min(b)..(a.max(b)).min(text.floor_char_boundary(a.min(b) + 12))
                } else {
                    a..a
                };
                text.replace_range(
                    range.start..range.end.max(range.start),
                    parts[random.usize(..parts.len())],
                );
                highlighter.change(text.clone(), lines(&text));
                let whole = fresh(&text);
                assert_eq!(highlighter.lines, whole.lines, "{seed}: {text}");
                assert_eq!(highlighter.bound, whole.bound, "{seed}: {text}");
            }
        }
    }

    #[test]
    fn a_change_leaves_the_lines_that_it_does_not_touch() {
        let text = "int a;\n".repeat(1000);
        let mut highlighter = fresh(&text);
        // What would be found again is told apart from what is left.
        highlighter.lines[10].pieces[0].syntax = Syntax::String;
        highlighter.lines[990].pieces[0].syntax = Syntax::String;
        let changed = format!("{}b{}", &text[..3500], &text[3500..]);
        highlighter.change(changed, 1001);
        for line in [10, 990] {
            assert_eq!(highlighter.line(line)[0].syntax, Syntax::String, "{line}");
        }
        assert_eq!(highlighter.line(500)[0].syntax, Syntax::Plain);
    }

    #[test]
    fn a_line_of_very_many_pieces_has_no_colours() {
        let highlighter = fresh(&format!("int a;\n{}\nint b;", "a;#".repeat(400_000)));
        assert_eq!(highlighter.line(1), [Piece { length: 1_200_000, syntax: Syntax::Plain }]);
        assert_eq!(highlighter.line(2)[0].syntax, Syntax::Type);
    }
}

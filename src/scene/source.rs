//! Places in a source file.

use std::ops::Range;

/// A place in the scene's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
}

/// Turns byte offsets of a text into [`Position`]s.
#[derive(Clone, Debug)]
pub struct Lines<'s> {
    text: &'s str,
    starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    /// Finds the lines of `text`.
    pub fn new(text: &'s str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The text from the byte at `offset` on.
    pub fn from(&self, offset: usize) -> &'s str {
        self.text.get(offset..).unwrap_or_default()
    }

    /// Where the byte at `offset` is; the end of the text for offsets beyond it.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let column = self.text[self.starts[line - 1]..offset].chars().count() + 1;
        Position { line: clamp(line), column: clamp(column) }
    }
}

fn clamp(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Where the manifest opens.
pub const OPEN: &str = "/*---";
/// Where the manifest ends.
pub const CLOSE: &str = "---*/";

/// The bytes of the manifest's text in `source`: the inside of the first block comment that starts with `/*---`.
pub fn manifest_block(source: &str) -> Block {
    let Some(open) = first_block_comment(source) else { return Block::Missing };
    let start = open + OPEN.len();
    // From there on: `/*---*/` opens one, and does not end it.
    let Some(length) = source[start..].find(CLOSE) else { return Block::Unclosed(open) };
    Block::Found(start..start + length)
}

/// What [`manifest_block`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// The manifest's text.
    Found(Range<usize>),
    /// It starts here and never ends.
    Unclosed(usize),
    /// There is none.
    Missing,
}

/// Where the first `/*---` opens a comment, not inside a line comment or a string.
fn first_block_comment(source: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = source.get(at..) {
        let found = at + rest.find(['/', '"'])?;
        let rest = &source[found..];
        at = if rest.starts_with(OPEN) {
            return Some(found);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            found + 2 + comment.find("*/")? + 2
        } else if rest.starts_with("//") {
            found + rest.find('\n')?
        } else if rest.starts_with('"') {
            found + quoted(rest)
        } else {
            found + 1
        };
    }
    None
}

/// The length of the string literal that `text` starts with, at most to its line's end.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => return at,
            b'"' if !escaped => return at + 1,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    text.len()
}

//! A piece of the text that something beside the keyboard writes anew again and again, such as a drag.

use std::ops::Range;

use crate::studio::text::{Buffer, Command};

/// The piece, as it was.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// In characters.
    range: Range<usize>,
    text: String,
    /// Whether another text stands in its place: then the last change of the buffer is that.
    is_changed: bool,
    /// The text as this has left it: another one is not this one's any more.
    revision: u64,
}

impl Piece {
    /// That in these characters.
    pub(super) fn of(buffer: &Buffer, range: Range<usize>) -> Self {
        let (text, revision) = (buffer.text(range.clone()), buffer.revision());
        Self { range, text, is_changed: false, revision }
    }

    /// As it was.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where it was.
    pub(super) fn range(&self) -> &Range<usize> {
        &self.range
    }

    /// Whether nothing else has changed the buffer since: what is undone then would be something else.
    pub(super) fn is_last_change(&self, buffer: &Buffer) -> bool {
        buffer.revision() == self.revision
    }

    /// Puts a text in the place of the piece and of what was put there before. All of it is undone at once.
    pub(super) fn put(&mut self, text: String, buffer: &mut Buffer, now: f64) {
        if self.is_changed {
            buffer.run(&Command::Undo, now);
        }
        // The same text again would be no change, and what is undone next would be the one before.
        self.is_changed = text != self.text;
        if self.is_changed {
            buffer.replace(vec![(self.range.clone(), text)], now);
        }
        self.revision = buffer.revision();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_before_stays() {
        let mut buffer = Buffer::new("x = 0u;");
        buffer.run(&Command::Type("// kept\n".to_owned()), 0.0);
        let typed = buffer.text(0..buffer.rope().len_chars());
        let at = typed.find("0u").expect("a number");
        let mut piece = Piece::of(&buffer, at..at + 2);
        for (text, line) in [("0u", "0u"), ("0u", "0u"), ("2u", "2u"), ("0u", "0u"), ("7u", "7u")] {
            piece.put(text.to_owned(), &mut buffer, 9.0);
            assert_eq!(buffer, &*typed.replace("0u", line));
        }
        assert!(piece.is_last_change(&buffer));
        buffer.run(&Command::Undo, 9.0);
        assert!(!piece.is_last_change(&buffer), "it is not there any more");
        assert_eq!(buffer, &*typed);
    }
}

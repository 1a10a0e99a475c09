//! Places in a text.

/// A place in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
}

/// So many bytes are gone over at most to find a place: a line may be as long as the text.
const STRIDE: usize = 256;

/// Turns byte offsets of a text into [`Position`]s.
#[derive(Clone, Debug)]
pub struct Lines<'s> {
    text: &'s str,
    /// The place of each byte whose offset is a multiple of [`STRIDE`].
    places: Vec<Position>,
}

impl<'s> Lines<'s> {
    /// Finds the lines of `text`.
    pub fn new(text: &'s str) -> Self {
        let mut places = vec![Position { line: 1, column: 1 }];
        places.extend(text.as_bytes().chunks_exact(STRIDE).scan(places[0], |place, bytes| {
            *place = place.behind(bytes);
            Some(*place)
        }));
        Self { text, places }
    }

    /// The text from the byte at `offset` on.
    #[cfg(feature = "gl")]
    pub fn from(&self, offset: usize) -> &'s str {
        self.text.get(offset..).unwrap_or_default()
    }

    /// Where the byte at `offset` is; the end of the text for offsets beyond it.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let known = offset / STRIDE;
        self.places[known].behind(&self.text.as_bytes()[known * STRIDE..offset])
    }
}

impl Position {
    /// The place behind `bytes`, which begin here and may begin or end within a character.
    fn behind(self, bytes: &[u8]) -> Self {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let (start, last) = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => (1, &bytes[end + 1..]),
            None => (self.column, bytes),
        };
        // A character counts where its first byte is.
        let characters = last.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        Self {
            line: self.line.saturating_add(clamp(lines)),
            column: start.saturating_add(clamp(characters)),
        }
    }
}

fn clamp(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn places_are_those_that_counting_finds() {
        let texts =
            ["", "\n", "ü", "a", "aü\n", "\r\nü", "länger\nals \u{10348}\n\n", "x\u{10348}"];
        for text in texts.map(|text| text.repeat(700)) {
            let lines = Lines::new(&text);
            for offset in 0..text.len() + 3 {
                let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
                let last = before.rsplit('\n').next().unwrap();
                let (line, column) = (before.split('\n').count(), last.chars().count() + 1);
                let expected = Position { line: line as u32, column: column as u32 };
                assert_eq!(lines.position(offset), expected, "{offset}");
            }
        }
    }

    /// A column that is counted from its line's beginning takes hours where a line is long.
    #[test]
    fn a_long_line_takes_no_longer_than_its_length() {
        let started = Instant::now();
        for part in ["a", "\n", "ü"] {
            let text = part.repeat((1 << 20) / part.len());
            let lines = Lines::new(&text);
            let places = (0..text.len()).step_by(16).map(|offset| lines.position(offset));
            let last = places.fold(Position::default(), Position::max);
            assert!(last.line.max(last.column) > 500_000, "{part:?}");
        }
        assert!(started.elapsed() < Duration::from_secs(600), "{:?}", started.elapsed());
    }
}

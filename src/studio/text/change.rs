//! Changes of a text: what stands where another text stood.

use std::ops::Range;

use ropey::Rope;
use serde::{Deserialize, Serialize};

/// What is to be done: `text` takes the place of what is in `range`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl Edit {
    pub(super) fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::new(at..at, text)
    }

    pub(super) fn delete(range: Range<usize>) -> Self {
        Self::new(range, "")
    }
}

/// Edits that were done at once, so that they can be undone: each with its place in the text before all of them, first
/// to last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Change(Vec<Replaced>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Replaced {
    at: usize,
    old: String,
    new: String,
}

impl Change {
    /// Does `edits`, which are in order and do not overlap, and which name places of the text before all of them.
    /// `None` where they change nothing.
    pub(super) fn make(rope: &mut Rope, edits: &[Edit]) -> Option<Self> {
        let replaced = |edit: &Edit| {
            let range =
                edit.range.start.min(rope.len_chars())..edit.range.end.min(rope.len_chars());
            Replaced { at: range.start, old: rope.slice(range).to_string(), new: edit.text.clone() }
        };
        let all: Vec<Replaced> = edits.iter().map(replaced).filter(|r| r.old != r.new).collect();
        let change = Self(all);
        change.redo(rope);
        (!change.0.is_empty()).then_some(change)
    }

    /// Does it again.
    pub(super) fn redo(&self, rope: &mut Rope) {
        // From the last to the first, so that the places of those that are to come stay what they were.
        for Replaced { at, old, new } in self.0.iter().rev() {
            replace(rope, *at, old, new);
        }
    }

    /// Takes it back.
    pub(super) fn undo(&self, rope: &mut Rope) {
        for Replaced { at, old, new } in &self.0 {
            replace(rope, *at, new, old);
        }
    }

    /// Does it again where all that it replaces is there; else `false`, and the text is anything.
    pub(super) fn redo_checked(&self, rope: &mut Rope) -> bool {
        self.0.iter().rev().all(|Replaced { at, old, new }| replace_checked(rope, *at, old, new))
    }

    /// Takes it back where all that it made is there; else `false`, and the text is anything.
    pub(super) fn undo_checked(&self, rope: &mut Rope) -> bool {
        self.0.iter().all(|Replaced { at, old, new }| replace_checked(rope, *at, new, old))
    }

    /// The bytes of its texts.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|replaced| replaced.old.len() + replaced.new.len()).sum()
    }
}

fn replace(rope: &mut Rope, at: usize, old: &str, new: &str) {
    rope.remove(at..at + old.chars().count());
    rope.insert(at, new);
}

fn replace_checked(rope: &mut Rope, at: usize, old: &str, new: &str) -> bool {
    let end = at.checked_add(old.chars().count());
    let is_there = end.and_then(|end| rope.get_slice(at..end)).is_some_and(|there| there == old);
    if is_there {
        replace(rope, at, old, new);
    }
    is_there
}

/// Which side of an inserted text a place that it is inserted at goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    Behind,
}

/// Where places are after edits, which are in order and do not overlap. There may be as many places as edits, so none
/// goes through all of them.
pub(super) struct Moves<'a> {
    edits: &'a [Edit],
    /// The characters that the edits before each one have added and removed, and in the end those of all.
    before: Vec<[usize; 2]>,
}

impl<'a> Moves<'a> {
    pub(super) fn new(edits: &'a [Edit]) -> Self {
        let mut before = Vec::with_capacity(edits.len() + 1);
        let [mut added, mut removed] = [0, 0];
        for Edit { range, text } in edits {
            before.push([added, removed]);
            added += text.chars().count();
            removed += range.len();
        }
        before.push([added, removed]);
        Self { edits, before }
    }

    /// Where `place` is.
    pub(super) fn of(&self, place: usize, side: Side) -> usize {
        let next = self.edits.partition_point(|edit| edit.range.end < place);
        let [added, removed] = self.before[next];
        match self.edits.get(next) {
            Some(Edit { range, .. }) if range.start <= place => {
                let inside = match side {
                    Side::Before => 0,
                    Side::Behind => self.before[next + 1][0] - added,
                };
                range.start + added - removed + inside
            }
            Some(_) | None => place + added - removed,
        }
    }
}

/// The edit that makes `old` `new` and leaves what both begin and end with.
pub(super) fn difference(old: &Rope, new: &str) -> Edit {
    let ahead = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let length = new.chars().count();
    let most = old.len_chars().min(length) - ahead;
    let backwards = old.chars_at(old.len_chars()).reversed().zip(new.chars().rev());
    let behind = backwards.take(most).take_while(|(a, b)| a == b).count();
    let text = new.chars().skip(ahead).take(length - ahead - behind).collect::<String>();
    Edit::new(ahead..old.len_chars() - behind, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_name_places_of_the_text_before_them() {
        let mut rope = Rope::from_str("abcdef");
        let edits = [Edit::insert(0, "\u{fc}"), Edit::delete(1..3), Edit::new(5..6, "xyz")];
        let change = Change::make(&mut rope, &edits).unwrap();
        assert_eq!(rope, "\u{fc}adexyz");
        change.undo(&mut rope);
        assert_eq!(rope, "abcdef");
        change.redo(&mut rope);
        assert_eq!(rope, "\u{fc}adexyz");
        let moves = Moves::new(&edits);
        let places = [0, 1, 3, 4, 5, 6].map(|place| moves.of(place, Side::Behind));
        assert_eq!(places, [1, 2, 2, 3, 7, 7]);
        let places = [0, 2, 5, 6].map(|place| moves.of(place, Side::Before));
        assert_eq!(places, [0, 2, 4, 4]);
        assert_eq!(Change::make(&mut rope, &[Edit::new(0..1, "\u{fc}")]), None);
    }

    #[test]
    fn a_difference_is_as_small_as_can_be() {
        for (old, new, range, text) in [
            ("a b c", "a x c", 2..3, "x"),
            ("aa", "aaa", 2..2, "a"),
            ("aaa", "aa", 2..3, ""),
            ("", "x", 0..0, "x"),
            ("same", "same", 4..4, ""),
        ] {
            let mut rope = Rope::from_str(old);
            let edit = difference(&rope, new);
            assert_eq!((edit.range.clone(), edit.text.as_str()), (range, text));
            Change::make(&mut rope, &[edit]);
            assert_eq!(rope, new);
        }
    }
}

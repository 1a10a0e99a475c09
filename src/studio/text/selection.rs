//! Carets and what is selected with them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A caret, and the text between it and its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Where the selection was begun.
    pub anchor: usize,
    /// The caret: where it ends, on either side of the anchor.
    pub head: usize,
    /// The column that a caret which goes up and down through shorter lines comes back to.
    pub column: Option<usize>,
}

impl Selection {
    /// A caret at `at` that selects nothing.
    pub const fn caret(at: usize) -> Self {
        Self { anchor: at, head: at, column: None }
    }

    /// What lies between `anchor` and the caret `head`.
    pub const fn new(anchor: usize, head: usize) -> Self {
        Self { anchor, head, column: None }
    }

    /// What is selected.
    pub fn range(&self) -> Range<usize> {
        self.anchor.min(self.head)..self.anchor.max(self.head)
    }

    /// Whether nothing is selected.
    pub const fn is_empty(&self) -> bool {
        self.anchor == self.head
    }

    /// The same caret at both ends' new places.
    pub fn mapped(&self, place: impl Fn(usize) -> usize) -> Self {
        Self::new(place(self.anchor), place(self.head))
    }

    /// Whether the two cannot be told apart once they are side by side.
    fn meets(&self, next: &Self) -> bool {
        let (end, start) = (self.range().end, next.range().start);
        start < end || start == end && (self.is_empty() || next.is_empty())
    }

    /// All of both; the caret is where `self` has it.
    fn joined(&self, other: &Self) -> Self {
        let (a, b) = (self.range(), other.range());
        let (start, end) = (a.start.min(b.start), a.end.max(b.end));
        let forward =
            if self.is_empty() { other.anchor <= other.head } else { self.anchor <= self.head };
        let column = self.column.filter(|_| self.head == if forward { end } else { start });
        match forward {
            true => Self { anchor: start, head: end, column },
            false => Self { anchor: end, head: start, column },
        }
    }
}

/// At least one selection; in the text's order, none meets another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Listed")]
pub struct Selections {
    all: Vec<Selection>,
    /// The one that was made last.
    primary: usize,
}

/// The same, of anywhere: in any order, and with any number as that of the primary one.
#[derive(Deserialize)]
struct Listed {
    all: Vec<Selection>,
    primary: usize,
}

impl From<Listed> for Selections {
    fn from(Listed { all, primary }: Listed) -> Self {
        Self::new(all, primary)
    }
}

impl Default for Selections {
    fn default() -> Self {
        Self::one(Selection::caret(0))
    }
}

impl Selections {
    /// Only this one.
    pub fn one(selection: Selection) -> Self {
        Self { all: vec![selection], primary: 0 }
    }

    /// All of `all`, in any order, joined where they meet; `primary` is the place in it of the one that was made last.
    /// A caret at the text's start where there is none.
    pub fn new(all: Vec<Selection>, primary: usize) -> Self {
        let Some(last) = all.get(primary).or(all.last()).copied() else { return Self::default() };
        let mut sorted = all;
        sorted.sort_by_key(|selection| (selection.range().start, selection.range().end));
        let mut joined: Vec<Selection> = Vec::with_capacity(sorted.len());
        for selection in sorted {
            match joined.last_mut() {
                Some(before) if before.meets(&selection) => *before = before.joined(&selection),
                _ => joined.push(selection),
            }
        }
        let holds = |s: &Selection| {
            s.range().start <= last.range().start && last.range().end <= s.range().end
        };
        let primary = joined.iter().position(|s| *s == last).or(joined.iter().position(holds));
        Self { primary: primary.unwrap_or(0), all: joined }
    }

    /// All, in the text's order.
    pub fn all(&self) -> &[Selection] {
        &self.all
    }

    /// The one that was made last: its caret is kept in sight.
    pub fn primary(&self) -> Selection {
        self.all[self.primary]
    }

    /// The place of the primary one among all.
    pub fn primary_index(&self) -> usize {
        self.primary
    }

    /// Whether there is one alone.
    pub fn is_one(&self) -> bool {
        self.all.len() == 1
    }

    /// One more, which is the primary one now.
    pub fn with(&self, selection: Selection) -> Self {
        let mut all = self.all.clone();
        all.push(selection);
        let last = all.len() - 1;
        Self::new(all, last)
    }

    /// Each as `change` makes it.
    pub fn map(&self, change: impl FnMut(&Selection) -> Selection) -> Self {
        Self::new(self.all.iter().map(change).collect(), self.primary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(selections: &Selections) -> Vec<(usize, usize)> {
        selections.all().iter().map(|s| (s.anchor, s.head)).collect()
    }

    #[test]
    fn they_are_in_order_and_joined_where_they_meet() {
        let s = Selection::new;
        let all = Selections::new(vec![s(9, 7), s(0, 2), s(1, 4), s(4, 6), s(6, 6)], 0);
        assert_eq!(ranges(&all), [(0, 4), (4, 6), (9, 7)], "side by side they stay two");
        assert_eq!(all.primary(), s(9, 7));
        let carets = Selections::new(vec![s(3, 3), s(3, 3)], 1);
        assert_eq!(ranges(&carets), [(3, 3)]);
    }

    #[test]
    fn the_primary_one_is_found_in_what_it_was_joined_to() {
        let all = Selections::one(Selection::new(8, 9))
            .with(Selection::new(0, 4))
            .with(Selection::caret(2));
        assert_eq!(ranges(&all), [(0, 4), (8, 9)]);
        assert_eq!(all.primary(), Selection::new(0, 4));
    }

    #[test]
    fn a_caret_joined_to_a_selection_keeps_its_direction() {
        let all = Selections::new(vec![Selection::caret(2), Selection::new(5, 2)], 0);
        assert_eq!(ranges(&all), [(5, 2)]);
        assert_eq!(Selections::new(Vec::new(), 0), Selections::default());
    }
}

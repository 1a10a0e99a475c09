//! What can be undone: changes in groups, a group for each word that is typed.

use std::collections::VecDeque;

use ropey::Rope;
use serde::{Deserialize, Serialize};

use super::{change::Change, selection::Selections};

/// Seconds without a key after which what is typed is undone by itself.
const PAUSE_S: f64 = 1.0;
/// The bytes of text that are kept for undo. The oldest go first.
const MOST_BYTES: usize = 64 << 20;

/// What kind of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// Letters are typed; whether the last one is a blank, and whether this one is.
    Typed(Letters),
    /// Letters are deleted, one after the other.
    Deleted(Letters),
    /// Anything else: it is undone by itself.
    Whole,
}

/// Whether what is typed or deleted is blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Letters {
    Blank,
    Word,
}

impl Letters {
    pub(super) fn of(text: &str) -> Self {
        if text.chars().all(char::is_whitespace) { Self::Blank } else { Self::Word }
    }

    /// Whether these letters begin a new word behind `before`.
    fn begin_word(self, before: Self) -> bool {
        (before, self) == (Self::Blank, Self::Word)
    }
}

impl Kind {
    fn joins(self, before: Self) -> bool {
        match (before, self) {
            (Self::Typed(before), Self::Typed(now))
            | (Self::Deleted(before), Self::Deleted(now)) => !now.begin_word(before),
            (Self::Typed(_) | Self::Deleted(_) | Self::Whole, _) => false,
        }
    }
}

/// Changes that are undone together.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Group {
    changes: Vec<Change>,
    before: Selections,
    after: Selections,
    kind: Kind,
    /// When it was last added to.
    at: f64,
}

impl Group {
    fn bytes(&self) -> usize {
        self.changes.iter().map(Change::bytes).sum()
    }
}

/// What was done, and what was undone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct History {
    done: VecDeque<Group>,
    undone: Vec<Group>,
    /// The bytes of all texts.
    #[serde(skip)]
    bytes: usize,
}

impl History {
    /// Notes a change that was made at `now`, in seconds of any clock.
    pub(super) fn note(
        &mut self,
        change: Change,
        kind: Kind,
        now: f64,
        [before, after]: [&Selections; 2],
    ) {
        self.bytes -= self.undone.drain(..).map(|group| group.bytes()).sum::<usize>();
        self.bytes += change.bytes();
        match self.done.back_mut() {
            Some(group)
                if kind.joins(group.kind) && now - group.at < PAUSE_S && group.after == *before =>
            {
                group.changes.push(change);
                (group.after, group.kind, group.at) = (after.clone(), kind, now);
            }
            _ => {
                let (before, after) = (before.clone(), after.clone());
                self.done.push_back(Group { changes: vec![change], before, after, kind, at: now });
            }
        }
        while self.bytes > MOST_BYTES && self.done.len() > 1 {
            self.bytes -= self.done.pop_front().map_or(0, |group| group.bytes());
        }
    }

    /// As one that comes from elsewhere, such as a file; `None` where it did not lead to this text, or has something
    /// that cannot be.
    pub(super) fn of(mut self, rope: &Rope) -> Option<Self> {
        let fits = |selections: &Selections, text: &Rope| {
            let places = selections.all().iter().flat_map(|of| [of.anchor, of.head]);
            places.max().is_none_or(|last| last <= text.len_chars())
        };
        let (mut text, mut later) = (rope.clone(), rope.clone());
        let is_right =
            self.done.iter().rev().all(|Group { changes, before, after, .. }| {
                fits(after, &text)
                    && changes.iter().rev().all(|change| change.undo_checked(&mut text))
                    && fits(before, &text)
            }) && self.undone.iter().rev().all(|Group { changes, before, after, .. }| {
                fits(before, &later)
                    && changes.iter().all(|change| change.redo_checked(&mut later))
                    && fits(after, &later)
            });
        for group in self.done.iter_mut().chain(&mut self.undone) {
            // What is typed now is undone by itself: the times are those of another clock.
            group.kind = Kind::Whole;
            self.bytes += group.bytes();
        }
        is_right.then_some(self)
    }

    /// Takes the last group back; gives what was selected before it.
    pub(super) fn undo(&mut self, rope: &mut Rope) -> Option<Selections> {
        let group = self.done.pop_back()?;
        group.changes.iter().rev().for_each(|change| change.undo(rope));
        let before = group.before.clone();
        self.undone.push(group);
        Some(before)
    }

    /// Does the group again that was last taken back; gives what was selected after it.
    pub(super) fn redo(&mut self, rope: &mut Rope) -> Option<Selections> {
        let mut group = self.undone.pop()?;
        group.changes.iter().for_each(|change| change.redo(rope));
        let after = group.after.clone();
        // What is typed now is undone by itself.
        group.kind = Kind::Whole;
        self.done.push_back(group);
        Some(after)
    }
}

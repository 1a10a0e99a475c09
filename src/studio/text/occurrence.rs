//! More carets: at the next occurrence of what is selected, above and below.

use ropey::Rope;

use super::{
    command::Direction,
    motion::{self, Motion},
    selection::{Selection, Selections},
};

/// Selects the words at carets that select nothing; where all select something, the next occurrence of what the primary
/// one selects is selected, too.
pub(super) fn add_next(rope: &Rope, selections: &Selections) -> Selections {
    if selections.all().iter().any(Selection::is_empty) {
        return words(rope, selections);
    }
    let range = selections.primary().range();
    let (wanted, text) = (rope.slice(range.clone()).to_string(), rope.to_string());
    let found = places(rope, &text, &wanted);
    let is_new = |at: &&usize| {
        selections.all().binary_search_by_key(*at, |selection| selection.range().start).is_err()
    };
    let behind = found.iter().filter(|at| **at >= range.end).find(is_new);
    match behind.or(found.iter().find(is_new)) {
        Some(at) => selections.with(Selection::new(*at, at + range.len())),
        None => selections.clone(),
    }
}

/// Selects all occurrences of what the primary one selects, or of the word at its caret.
pub(super) fn all(rope: &Rope, selections: &Selections) -> Selections {
    let primary = words(rope, &Selections::one(selections.primary())).primary();
    let range = primary.range();
    if range.is_empty() {
        return selections.clone();
    }
    let (wanted, text) = (rope.slice(range.clone()).to_string(), rope.to_string());
    let found = places(rope, &text, &wanted);
    let last = found.iter().position(|at| *at == range.start).unwrap_or(0);
    Selections::new(found.iter().map(|at| Selection::new(*at, at + range.len())).collect(), last)
}

fn words(rope: &Rope, selections: &Selections) -> Selections {
    selections.map(|selection| {
        let word = motion::word_at(rope, selection.head);
        let is_name =
            word.clone().next().and_then(|at| rope.get_char(at)).is_some_and(motion::is_word);
        match selection.is_empty() && is_name {
            true => Selection::new(word.start, word.end),
            false => *selection,
        }
    })
}

fn places(rope: &Rope, text: &str, wanted: &str) -> Vec<usize> {
    text.match_indices(wanted).map(|(byte, _)| rope.byte_to_char(byte)).collect()
}

/// One more caret on the line above the uppermost one, or below the lowest one.
pub(super) fn add_caret(rope: &Rope, selections: &Selections, direction: Direction) -> Selections {
    let all = selections.all();
    let (from, motion) = match direction {
        Direction::Up => (all[0], Motion::Up(1)),
        Direction::Down => (all[all.len() - 1], Motion::Down(1)),
    };
    let added = motion.of(rope, &from);
    match rope.char_to_line(added.head) == rope.char_to_line(from.head) {
        true => selections.clone(),
        false => selections.with(added),
    }
}

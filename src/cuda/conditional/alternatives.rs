//! What tokens between directives may be, where it is open which of these are compiled.

use std::ops::Range;

use crate::cuda::{lexer::Token, macros::Likely};

/// So many are looked at.
const MOST: usize = 16;
/// So deep may sections lie in one another.
const DEEPEST: usize = 32;

/// A directive of a conditional section.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Turn {
    pub(super) offset: usize,
    pub(super) what: What,
    /// How likely what follows in the section is compiled; at its end, that none of its branches is.
    pub(super) here: Likely,
}

/// What such a directive does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Begin,
    Next,
    End,
}

/// What `tokens`, which stand at these offsets of a text, may be: more than one where it is open which branches are
/// compiled of the sections among them, of which those count that are at least so likely.
pub(in crate::cuda) fn alternatives<'s>(
    tokens: &[Token<'s>],
    at: &Range<usize>,
    turns: &[Turn],
    least: Likely,
) -> Vec<Vec<Token<'s>>> {
    let place = |offset: usize| turns.partition_point(|turn| turn.offset < offset);
    let turns = turns.get(place(at.start)..place(at.end)).unwrap_or_default();
    let is_open = turns.iter().any(|turn| turn.here != Likely::Yes && turn.here != Likely::No);
    let mut reader = Reader { tokens, turns, least, depth: 0 };
    let found = is_open.then(|| reader.sequence()).flatten();
    found.filter(|_| reader.turns.is_empty()).unwrap_or_else(|| vec![tokens.to_vec()])
}

struct Reader<'t, 's> {
    tokens: &'t [Token<'s>],
    turns: &'t [Turn],
    least: Likely,
    depth: usize,
}

impl<'s> Reader<'_, 's> {
    /// What the tokens up to the end of the branch may be; `None` where sections end that did not begin.
    fn sequence(&mut self) -> Option<Vec<Vec<Token<'s>>>> {
        let mut all = vec![Vec::new()];
        loop {
            let end = self.turns.first().map_or(usize::MAX, |turn| turn.offset);
            let length = self.tokens.partition_point(|token| token.offset < end);
            let (here, rest) = self.tokens.split_at(length);
            all.iter_mut().for_each(|one: &mut Vec<Token<'s>>| one.extend_from_slice(here));
            self.tokens = rest;
            if self.turns.first().is_none_or(|turn| turn.what != What::Begin) {
                return Some(all);
            }
            let choices = self.section()?;
            let with = |one: &Vec<Token<'s>>| {
                let one = one.clone();
                choices
                    .iter()
                    .map(move |choice| [one.as_slice(), choice].concat())
                    .collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).take(MOST).collect();
        }
    }

    /// What the section that begins here may be.
    fn section(&mut self) -> Option<Vec<Vec<Token<'s>>>> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut choices: Vec<Vec<Token<'s>>> = Vec::new();
        while let Some((turn, rest)) = self.turns.split_first() {
            self.turns = rest;
            let branches = match turn.what {
                What::Begin | What::Next => self.sequence()?,
                What::End => vec![Vec::new()],
            };
            if turn.here >= self.least {
                choices.extend(branches);
            }
            if turn.what == What::End {
                self.depth -= 1;
                choices.truncate(MOST);
                // What is not compiled at all has one, which is empty.
                return Some(if choices.is_empty() { vec![Vec::new()] } else { choices });
            }
        }
        None
    }
}

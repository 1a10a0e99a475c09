//! Which bracket closes which.

use std::{collections::HashMap, ops::Range};

use ropey::Rope;

use crate::cuda::lexer::{Kind, lex};

/// The brackets of a text's code and their partners. Those in comments and strings count only within one comment or
/// string, and only pairs of one kind are pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brackets(HashMap<usize, usize>);

impl Brackets {
    /// Finds them all.
    pub fn new(rope: &Rope) -> Self {
        let text = rope.to_string();
        let mut pairs = HashMap::new();
        let mut open = Open::default();
        for token in lex(&text) {
            let first = rope.byte_to_char(token.offset);
            let places = (first..).zip(token.text.chars());
            match token.kind {
                Kind::Sign => open.find(places, &mut pairs),
                Kind::Comment | Kind::Directive | Kind::Disabled | Kind::Quoted => {
                    Open::default().find(places, &mut pairs);
                }
                Kind::Blank | Kind::Word | Kind::Number => {}
            }
        }
        Self(pairs)
    }

    /// The partner of the bracket at `at`.
    pub fn partner(&self, at: usize) -> Option<usize> {
        self.0.get(&at).copied()
    }

    /// The bracket beside a caret at `at`, that behind it first, and its partner.
    pub fn beside(&self, at: usize) -> Option<[usize; 2]> {
        let pair = |at: usize| Some([at, self.partner(at)?]);
        pair(at).or_else(|| pair(at.checked_sub(1)?))
    }
}

/// Which brackets are around a place, found without a look at all of them. Pairs lie within or beside each other.
pub(super) struct Nest {
    /// In the text's order.
    pairs: Vec<Pair>,
    /// The places of all brackets in order, and the innermost pair that is open behind each.
    places: Vec<(usize, Option<usize>)>,
}

struct Pair {
    open: usize,
    close: usize,
    /// The pair around it.
    outer: Option<usize>,
}

impl Nest {
    pub(super) fn new(brackets: &Brackets) -> Self {
        let mut all: Vec<(usize, usize)> = brackets.0.iter().map(|(at, of)| (*at, *of)).collect();
        all.sort_unstable();
        let mut nest = Self {
            pairs: Vec::with_capacity(all.len() / 2),
            places: Vec::with_capacity(all.len()),
        };
        let mut innermost = None;
        for (at, partner) in all {
            if at < partner {
                nest.pairs.push(Pair { open: at, close: partner, outer: innermost });
                innermost = Some(nest.pairs.len() - 1);
            } else {
                innermost = innermost.and_then(|pair: usize| nest.pairs[pair].outer);
            }
            nest.places.push((at, innermost));
        }
        nest
    }

    /// The text within the innermost brackets around `range`; with the brackets, where it is that text already.
    pub(super) fn around(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let before = self.places.partition_point(|(at, _)| *at < range.start);
        let mut pair = &self.pairs[self.places[before.checked_sub(1)?].1?];
        // Those that end within the range are not around it.
        while pair.close < range.end {
            pair = &self.pairs[pair.outer?];
        }
        let within = pair.open + 1..pair.close;
        Some(if within == *range { pair.open..pair.close + 1 } else { within })
    }
}

/// Brackets that are still open, of each kind by itself.
#[derive(Default)]
struct Open([Vec<usize>; 3]);

impl Open {
    fn find(
        &mut self,
        places: impl Iterator<Item = (usize, char)>,
        pairs: &mut HashMap<usize, usize>,
    ) {
        for (at, c) in places {
            match c {
                '(' => self.0[0].push(at),
                '[' => self.0[1].push(at),
                '{' => self.0[2].push(at),
                ')' => self.close(0, at, pairs),
                ']' => self.close(1, at, pairs),
                '}' => self.close(2, at, pairs),
                _ => {}
            }
        }
    }

    /// Closes the nearest one of the kind, and what was left open behind it.
    fn close(&mut self, kind: usize, at: usize, pairs: &mut HashMap<usize, usize>) {
        let Some(partner) = self.0[kind].pop() else { return };
        pairs.insert(at, partner);
        pairs.insert(partner, at);
        for open in &mut self.0 {
            while open.last().is_some_and(|last| *last > partner) {
                open.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(usize, usize)> {
        let mut all: Vec<_> =
            Brackets::new(&Rope::from_str(text)).0.into_iter().filter(|(a, b)| a < b).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn pairs_are_of_code_or_of_one_comment() {
        assert_eq!(pairs("f(a[1]) /* ( */ { \")\" }"), [(1, 6), (3, 5), (16, 22)]);
        assert_eq!(pairs("\u{fc}(/*(x)*/)"), [(1, 9), (4, 6)]);
    }

    #[test]
    fn one_that_is_missing_parts_no_others() {
        assert_eq!(pairs("{ f(a; }"), [(0, 7)]);
        assert_eq!(pairs("{ a); }"), [(0, 6)]);
    }

    #[test]
    fn a_caret_has_a_bracket_on_either_side() {
        let brackets = Brackets::new(&Rope::from_str("(a)(b)"));
        assert_eq!(
            [0, 1, 3, 6].map(|at| brackets.beside(at)),
            [Some([0, 2]), Some([0, 2]), Some([3, 5]), Some([5, 3])]
        );
        assert_eq!(Brackets::new(&Rope::from_str("a")).beside(1), None);
    }
}

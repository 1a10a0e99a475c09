//! Which brackets belong together, where conditional sections write the same one twice.

use crate::cuda::lexer::{self, Kind, Token};

/// So many brackets may be open where a conditional section begins whose branches are each taken for the whole.
const DEEPEST: usize = 64;
/// So many conditional sections lie in one another; the branches of what lies deeper are taken as they come.
const MOST_SECTIONS: usize = 1000;

/// For each token of the code that opens a bracket the place behind the one that closes it.
pub(crate) struct Brackets {
    after: Vec<usize>,
}

/// A conditional section that is open.
struct Section {
    /// The brackets that were open before it; `None` where there were too many of them, or of sections.
    before: Option<Vec<usize>>,
    /// Those that its earlier branches opened and did not close.
    left_open: Vec<Vec<usize>>,
}

impl Brackets {
    /// Of `tokens`, whose directives are no code and have no place of their own.
    pub(crate) fn new(tokens: &[Token<'_>]) -> Self {
        let code = tokens.iter().filter(|token| token.kind != Kind::Directive).count();
        let mut after = vec![usize::MAX; code];
        // One that a branch opens is closed where the one is that the last branch opens in its place.
        let mut same: Vec<(usize, usize)> = Vec::new();
        let (mut open, mut sections): (Vec<usize>, Vec<Section>) = (Vec::new(), Vec::new());
        let mut at = 0;
        for token in tokens {
            if token.kind == Kind::Directive {
                conditional(token.text, &mut open, &mut sections, &mut same);
                continue;
            }
            match token.text {
                "(" | "[" | "{" => open.push(at),
                ")" | "]" | "}" => {
                    if let Some(start) = open.pop() {
                        after[start] = at + 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        for (of_branch, of_last) in same {
            after[of_branch] = after[of_last];
        }
        Self { after }
    }

    /// Behind the bracket that closes the one at `open`, where one does.
    pub(crate) fn after(&self, open: usize) -> Option<usize> {
        self.after.get(open).copied().filter(|after| *after != usize::MAX)
    }
}

/// Takes a directive into account.
fn conditional(
    directive: &str,
    open: &mut Vec<usize>,
    sections: &mut Vec<Section>,
    same: &mut Vec<(usize, usize)>,
) {
    let name = lexer::directive_body(directive).unwrap_or(directive).trim_start();
    if name.starts_with("if") {
        let is_within = open.len() <= DEEPEST && sections.len() < MOST_SECTIONS;
        let before = is_within.then(|| open.clone());
        sections.push(Section { before, left_open: Vec::new() });
    } else if name.starts_with("el") {
        if let Some(Section { before: Some(before), left_open }) = sections.last_mut() {
            left_open.push(open.get(before.len()..).unwrap_or_default().to_vec());
            open.clone_from(before);
        }
    } else if name.starts_with("endif")
        && let Some(Section { before: Some(before), left_open }) = sections.pop()
    {
        let of_last = open.get(before.len()..).unwrap_or_default();
        let pairs = left_open.iter().flat_map(|branch| branch.iter().zip(of_last));
        same.extend(pairs.map(|(of_branch, of_last)| (*of_branch, *of_last)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sections_hold_does_not_grow_with_their_number() {
        let (mut open, mut sections, mut same) = (vec![0; DEEPEST], Vec::new(), Vec::new());
        for _ in 0..2 * MOST_SECTIONS {
            conditional("#if", &mut open, &mut sections, &mut same);
        }
        let held = sections.iter().filter(|section| section.before.is_some()).count();
        assert_eq!((sections.len(), held), (2 * MOST_SECTIONS, MOST_SECTIONS));
        for _ in 0..2 * MOST_SECTIONS {
            conditional("#endif", &mut open, &mut sections, &mut same);
        }
        assert!(sections.is_empty());
    }
}

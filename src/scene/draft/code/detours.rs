//! Parts of host code that jumps go round: behind a `return` in its block, or between a `goto` and its label.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    LONGEST, Span,
    regions::{Kind, Regions},
};
use crate::cuda::{
    brackets::Brackets,
    lexer::{Token, Tokens},
};

/// So many parts are told apart.
const MOST: usize = 10_000;

/// What a jump does with a part of the code.
#[derive(PartialEq)]
pub(in crate::scene::draft) enum Way {
    /// Nothing leads there.
    Never,
    /// It goes over it, where it is made.
    Over,
    /// It goes back to where that begins.
    Back,
}

pub(in crate::scene::draft) struct Detour {
    pub(in crate::scene::draft) jump: usize,
    pub(in crate::scene::draft) way: Way,
    pub(in crate::scene::draft) span: Span,
}

/// All of a file.
#[derive(Default)]
pub(in crate::scene::draft) struct Detours {
    pub(in crate::scene::draft) all: Vec<Detour>,
    /// Where those blocks behind `catch` begin for which something is thrown.
    caught: BTreeSet<usize>,
}

impl Detours {
    /// Those of `jumps`, the places of the words that make them.
    pub(in crate::scene::draft) fn new<'s>(
        code: &[Token<'s>],
        brackets: &Brackets,
        regions: &Regions,
        jumps: &[usize],
    ) -> Self {
        let finder = Finder { code, brackets, regions, labels: labels(code) };
        let mut named: BTreeMap<(Option<usize>, &'s str), usize> = BTreeMap::new();
        for label in &finder.labels {
            named.insert((regions.function(*label), code[*label].text), *label);
        }
        let mut found = Self::default();
        for jump in jumps.iter().copied().take(MOST) {
            let Some(end) = finder.end(jump) else { continue };
            let mut add = |way, span: Span| {
                if !span.is_empty() && found.all.len() < MOST {
                    found.all.push(Detour { jump, way, span });
                }
            };
            if let Some(behind) = finder.behind(jump, end) {
                add(Way::Never, behind);
            }
            let target = finder.code.text_at(jump + 1);
            match finder.code.text_at(jump) {
                "goto" => match named.get(&(regions.function(jump), target)).copied() {
                    Some(label) if label > jump => add(Way::Over, end..label),
                    Some(label) => add(Way::Back, label..jump),
                    None => {}
                },
                "throw" => {
                    if let Some(tried) = finder.tried(jump) {
                        add(Way::Over, end..tried);
                        found.caught.extend(finder.catches(tried));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Whether something is thrown to the block behind a `catch` that begins at `at`.
    pub(in crate::scene::draft) fn is_caught(&self, at: usize) -> bool {
        self.caught.contains(&at)
    }

    /// What is repeated around `at` since a `goto` goes back.
    pub(in crate::scene::draft) fn repeated_around(
        &self,
        at: usize,
    ) -> impl Iterator<Item = &Span> {
        let around = self.all.iter().filter(move |own| own.span.contains(&at));
        around.filter(|own| own.way == Way::Back).map(|own| &own.span)
    }
}

struct Finder<'t, 's> {
    code: &'t [Token<'s>],
    brackets: &'t Brackets,
    regions: &'t Regions,
    labels: Vec<usize>,
}

impl<'s> Finder<'_, 's> {
    /// Where the statement ends that a jump is; `None` where it is no statement of its own.
    fn end(&self, jump: usize) -> Option<usize> {
        let is_word =
            matches!(self.code.text_at(jump), "return" | "goto" | "throw" | "break" | "continue");
        let mut start = jump;
        while start >= 1 && self.code.text_at(start - 1) == "::" {
            start -= if self.code.text_at(start - 2) == "std" { 2 } else { 1 };
        }
        let before = self.code.text_before(start);
        let is_own = matches!(before, ";" | "{" | "}" | ":" | ")" | "else" | "do");
        if !is_own || !is_word && self.code.text_at(jump + 1) != "(" {
            return None;
        }
        let mut at = jump;
        while at < self.code.len() && at - jump < LONGEST {
            at = match self.code.text_at(at) {
                ";" => return Some(at + 1),
                "(" | "[" | "{" => self.brackets.after(at)?,
                _ => at + 1,
            };
        }
        None
    }

    /// What stands behind a jump in its block, up to a label.
    fn behind(&self, jump: usize, end: usize) -> Option<Span> {
        let (_, around) = self.regions.around(jump).next()?;
        let next = self.labels.partition_point(|label| *label < end);
        let label = self.labels.get(next).copied().unwrap_or(usize::MAX);
        Some(end..around.span.end.min(label))
    }

    /// Where the `try` block ends around a place in its function.
    fn tried(&self, at: usize) -> Option<usize> {
        let around = self.regions.around(at).map(|(_, region)| region);
        let mut inside = around.take_while(|region| {
            !matches!(region.kind, Kind::Function { .. } | Kind::Lambda { .. })
        });
        let is_tried = |start: usize| start >= 1 && self.code.text_at(start - 1) == "try";
        inside.find(|region| is_tried(region.span.start)).map(|region| region.span.end)
    }

    /// Where the blocks begin behind each `catch` that follows at `at`.
    fn catches(&self, mut at: usize) -> Vec<usize> {
        let mut found = Vec::new();
        while self.code.text_at(at) == "catch" && found.len() < LONGEST {
            let Some(block) = self.brackets.after(at + 1) else { break };
            found.push(block);
            let Some(after) = self.brackets.after(block) else { break };
            at = after;
        }
        found
    }
}

/// The words before whose colon something may go on: `case`, `default`, and what `goto` names.
fn labels(code: &[Token<'_>]) -> Vec<usize> {
    let begins = |at: usize| {
        let before = code.text_before(at);
        matches!(before, ";" | "{" | "}" | ":" | ")" | "else" | "do")
    };
    let is_label = |at: &usize| match code.text_at(*at) {
        "case" => true,
        _ => code[*at].is_word() && code.text_at(*at + 1) == ":" && begins(*at),
    };
    (0..code.len()).filter(is_label).collect()
}

//! Functions of the file whose value is one expression: `int blocks(int n) { return (n + 63) / 64; }`.

use std::collections::BTreeMap;

use super::{
    Span,
    parameters::declarators,
    regions::{Kind, Regions},
    variables::Declared,
};
use crate::cuda::lexer::{Kind as TokenKind, Token};

/// Words of a type, at most so many.
const MOST_WORDS: usize = 10;

/// A function that returns an expression at once.
pub(in crate::scene::draft) struct Function<'s> {
    pub(in crate::scene::draft) parameters: Vec<(&'s str, Declared<'s>)>,
    pub(in crate::scene::draft) returns: Vec<&'s str>,
    pub(in crate::scene::draft) value: Span,
}

/// All functions with a body; `None` are those whose value is not known.
#[derive(Default)]
pub(in crate::scene::draft) struct Functions<'s> {
    by_name: BTreeMap<&'s str, Option<Function<'s>>>,
}

impl<'s> Functions<'s> {
    pub(in crate::scene::draft) fn new(code: &[Token<'s>], regions: &Regions) -> Self {
        let mut by_name = BTreeMap::new();
        for (_, region) in regions.iter() {
            let Kind::Function { parameters, .. } = &region.kind else { continue };
            let Some(name) = region.span.start.checked_sub(1) else { continue };
            let found = function(code, name, parameters, region.span.end);
            // Of several of one name it is not known which is called.
            by_name.entry(code[name].text).and_modify(|known| *known = None).or_insert(found);
        }
        Self { by_name }
    }

    /// Whether there is one of this name, and what it returns.
    pub(in crate::scene::draft) fn named(&self, name: &str) -> Option<Option<&Function<'s>>> {
        self.by_name.get(name).map(Option::as_ref)
    }
}

/// The function whose name stands at `name`, and that ends before `end`.
fn function<'s>(
    code: &[Token<'s>],
    name: usize,
    parameters: &Span,
    end: usize,
) -> Option<Function<'s>> {
    let open = parameters.end + 1;
    let body = code.get(open..end)?;
    let [brace, word, value @ .., semicolon, _] = body else { return None };
    let is_return = (brace.text, word.text, semicolon.text) == ("{", "return", ";");
    if !is_return || value.iter().any(|token| matches!(token.text, ";" | "{")) {
        return None;
    }
    let before = code[..name].iter().rev().take(MOST_WORDS);
    let mut returns: Vec<&str> =
        before.take_while(|token| token.kind == TokenKind::Word).map(|token| token.text).collect();
    returns.reverse();
    Some(Function {
        parameters: declarators(code, parameters)
            .into_iter()
            .map(|(_, name, declared)| (name, declared))
            .collect(),
        returns: returns.into_iter().filter(|word| !word.starts_with("__")).collect(),
        value: open + 2..end - 2,
    })
}

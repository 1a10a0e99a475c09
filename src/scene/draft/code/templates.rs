//! The templates among the functions of the host, and what they are called with.

use std::collections::BTreeMap;

use super::{
    LONGEST, Span,
    parameters::{angled, called_with},
};
use crate::cuda::{brackets::Brackets, lexer::Token};

/// So many templates are looked at.
const MOST_TEMPLATES: usize = 1000;

/// A function that is a template.
pub(in crate::scene::draft) struct HostTemplate<'s> {
    name: &'s str,
    /// Each with its default argument.
    pub(in crate::scene::draft) parameters: Vec<(&'s str, Option<Span>)>,
    pub(in crate::scene::draft) body: Span,
    /// Those of the first call that names them: `run<float, 16>(n)`.
    pub(in crate::scene::draft) arguments: Vec<Span>,
}

/// All templates of `code` that have a body, with what they are called with first.
pub(in crate::scene::draft) fn templates<'s>(
    code: &[Token<'s>],
    brackets: &Brackets,
) -> Vec<HostTemplate<'s>> {
    let starts = (0..code.len()).filter(|at| code[*at].text == "template");
    let found = starts.filter_map(|at| template(code, brackets, at)).take(MOST_TEMPLATES);
    let mut found: Vec<HostTemplate<'s>> = found.collect();
    let places: BTreeMap<&str, usize> =
        found.iter().enumerate().map(|(place, template)| (template.name, place)).collect();
    for (at, token) in code.iter().enumerate().filter(|(_, token)| token.is_word()) {
        let Some(template) = places.get(token.text).map(|place| &mut found[*place]) else {
            continue;
        };
        if template.arguments.is_empty() && !template.body.contains(&at) {
            template.arguments = called_with(code, at + 1).unwrap_or_default().0;
        }
    }
    found
}

/// `template <class T, int n> void name(...) { ... }`.
fn template<'s>(code: &[Token<'s>], brackets: &Brackets, at: usize) -> Option<HostTemplate<'s>> {
    let (parameters, behind) = angled(code, at + 1)?;
    let of = |span: &Span| {
        let equals = span.clone().find(|at| code[*at].text == "=");
        let declared = &code[span.start..equals.unwrap_or(span.end)];
        let name = declared.last().filter(|token| token.is_word())?;
        Some((name.text, equals.map(|equals| equals + 1..span.end)))
    };
    let parameters: Vec<_> = parameters.iter().filter_map(of).collect();
    let open = (behind..code.len().min(behind + LONGEST))
        .find(|at| matches!(code[*at].text, "(" | ";" | "{"))?;
    let name = open.checked_sub(1).and_then(|at| code.get(at)).filter(|token| token.is_word())?;
    let list = brackets.after(open).filter(|_| code[open].text == "(")?;
    let body = (code.get(list)?.text == "{").then(|| brackets.after(list))??;
    Some(HostTemplate { name: name.text, parameters, body: list..body, arguments: Vec::new() })
}

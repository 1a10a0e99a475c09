//! The templates among the functions of the host, and what they are called with.

use std::collections::BTreeMap;

use super::{
    evaluator::Place,
    host::{Host, LONGEST, Span},
};
use crate::cuda::{
    brackets::Brackets,
    lexer::{Kind, Token},
};

/// Template arguments that are those of templates around them, at most so many.
const DEEPEST: usize = 24;
/// So many templates are looked at.
const MOST_TEMPLATES: usize = 1000;

/// A function that is a template.
pub(super) struct HostTemplate<'s> {
    name: &'s str,
    /// Each with its default argument.
    pub(super) parameters: Vec<(&'s str, Option<Span>)>,
    pub(super) body: Span,
    /// Those of the first call that names them: `run<float, 16>(n)`.
    pub(super) arguments: Vec<Span>,
}

/// All templates of `code` that have a body, with what they are called with first.
pub(super) fn templates<'s>(code: &[Token<'s>], brackets: &Brackets) -> Vec<HostTemplate<'s>> {
    let starts = (0..code.len()).filter(|at| code[*at].text == "template");
    let found = starts.filter_map(|at| template(code, brackets, at)).take(MOST_TEMPLATES);
    let mut found: Vec<HostTemplate<'s>> = found.collect();
    let places: BTreeMap<&str, usize> =
        found.iter().enumerate().map(|(place, template)| (template.name, place)).collect();
    for (at, token) in code.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
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
        let name = declared.last().filter(|token| token.kind == Kind::Word)?;
        Some((name.text, equals.map(|equals| equals + 1..span.end)))
    };
    let parameters: Vec<_> = parameters.iter().filter_map(of).collect();
    let open = (behind..code.len().min(behind + LONGEST))
        .find(|at| matches!(code[*at].text, "(" | ";" | "{"))?;
    let name =
        open.checked_sub(1).and_then(|at| code.get(at)).filter(|token| token.kind == Kind::Word)?;
    let list = brackets.after(open).filter(|_| code[open].text == "(")?;
    let body = (code.get(list)?.text == "{").then(|| brackets.after(list))??;
    Some(HostTemplate { name: name.text, parameters, body: list..body, arguments: Vec::new() })
}

/// What stands in the angle brackets of a call, `<float, 16>(`, and the place of the parenthesis behind them.
pub(super) fn called_with(code: &[Token<'_>], at: usize) -> Option<(Vec<Span>, usize)> {
    if code.get(at)?.text == "(" {
        return Some((Vec::new(), at));
    }
    angled(code, at).filter(|(_, behind)| code.get(*behind).is_some_and(|t| t.text == "("))
}

/// What stands between angle brackets that open at `at`, split at its commas, and the place behind them.
fn angled(code: &[Token<'_>], at: usize) -> Option<(Vec<Span>, usize)> {
    if code.get(at)?.text != "<" {
        return None;
    }
    let (mut parts, mut start, mut depth) = (Vec::new(), at + 1, 0_usize);
    for (at, token) in code.iter().enumerate().skip(at + 1).take(LONGEST) {
        match token.text {
            "<" | "(" => depth += 1,
            ">" | "," if depth == 0 => {
                parts.push(start..at);
                start = at + 1;
                if token.text == ">" {
                    return Some((parts, start));
                }
            }
            ">" | ")" => depth = depth.checked_sub(1)?,
            ";" | "{" | "}" => return None,
            _ => {}
        }
    }
    None
}

impl<'s> Host<'s> {
    /// `tokens` with the types that the parameters of the template around a place stand for; `None` where there are
    /// none such among them.
    pub(super) fn with_types(
        &self,
        tokens: &[Token<'s>],
        place: &Place<'_, 's>,
    ) -> Option<Vec<Token<'s>>> {
        let is_type = |token: &Token<'s>| {
            token.kind == Kind::Word && self.type_parameters.contains(token.text)
        };
        if self.type_parameters.is_empty() || tokens.len() > LONGEST {
            return None;
        }
        tokens.iter().find(|token| is_type(token))?;
        self.look(tokens.len())?;
        let mut found: Vec<Token<'s>> = Vec::new();
        // The places say which signs are one operator.
        let (mut end, mut end_there) = (0, usize::MAX);
        for token in tokens.iter().take(LONGEST) {
            let meant = is_type(token).then(|| self.type_of_parameter(token, place, 0)).flatten();
            let meant =
                meant.as_ref().map_or(std::slice::from_ref(token), |span| self.tokens(span));
            for own in meant {
                let is_joined = own.offset == end_there;
                end_there = own.offset + own.text.len();
                let offset = end + usize::from(!is_joined);
                end = offset + own.text.len();
                found.push(Token { offset, ..*own });
            }
            end_there = token.offset + token.text.len();
        }
        Some(found)
    }

    /// Where the type stands that a template's parameter is at a place.
    pub(super) fn type_of_parameter(
        &self,
        token: &Token<'s>,
        place: &Place<'_, 's>,
        depth: usize,
    ) -> Option<Span> {
        let (span, outer) = self.template_argument_of(token.text, place)?;
        let inner = match self.tokens(&span) {
            [inner] if depth < DEEPEST => self.type_of_parameter(inner, &outer, depth + 1),
            _ => None,
        };
        Some(inner.unwrap_or(span))
    }
}

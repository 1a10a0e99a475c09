//! Parameters of functions and arguments of templates, as they stand in the text.

use super::{LONGEST, Span, variables::Declared};
use crate::cuda::{
    brackets::Brackets,
    lexer::{Token, Tokens},
};

/// The parameters of a function, each with its place and its name, where it has one.
pub(in crate::scene::draft) fn declarators<'s>(
    code: &[Token<'s>],
    parameters: &Span,
) -> Vec<(usize, &'s str, Declared<'s>)> {
    let tokens = code.get(parameters.clone()).unwrap_or_default();
    let parts = tokens.split(|token| token.text == ",");
    let named = parts.enumerate().filter_map(|(index, part)| {
        let part = part.split(|token| token.text == "=").next()?;
        let is_array = part.last().is_some_and(|token| token.text == "]");
        let end = part.iter().position(|token| token.text == "[").unwrap_or(part.len());
        let (name, before) = part[..end].split_last()?;
        let has = |sign: &str| before.iter().any(|token| token.text == sign);
        let is_indirect = is_array || has("*");
        let is_reference = has("&") && (has("*") || !has("const"));
        let words = before.iter().filter(|token| token.is_word());
        let words: Vec<&str> =
            words.map(|token| token.text).filter(|word| *word != "std").collect();
        (name.is_word() && !before.is_empty()).then_some((
            index,
            name.text,
            Declared { words, is_indirect, is_reference },
        ))
    });
    named.take(LONGEST).collect()
}

/// The parts of a list, which is split at commas outside of brackets, those of templates among them.
pub(in crate::scene::draft) fn listed(
    code: &[Token<'_>],
    brackets: &Brackets,
    span: Span,
) -> Vec<Span> {
    let (mut parts, mut depth, mut start, mut at) = (Vec::new(), 0_i32, span.start, span.start);
    if span.is_empty() || span.len() > LONGEST {
        return parts;
    }
    while at < span.end {
        match code.text_at(at) {
            "<" => depth += 1,
            ">" => depth -= 1,
            "," if depth <= 0 => {
                parts.push(start..at);
                start = at + 1;
            }
            "(" | "[" | "{" => {
                at = brackets.after(at).map_or(at, |after| after.max(at + 1) - 1);
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(start..span.end);
    parts
}

/// What stands in the angle brackets of a call, `<float, 16>(`, and the place of the parenthesis behind them.
pub(in crate::scene::draft) fn called_with(
    code: &[Token<'_>],
    at: usize,
) -> Option<(Vec<Span>, usize)> {
    if code.get(at)?.text == "(" {
        return Some((Vec::new(), at));
    }
    angled(code, at).filter(|(_, behind)| code.get(*behind).is_some_and(|t| t.text == "("))
}

/// What stands between angle brackets that open at `at`, split at its commas, and the place behind them.
pub(in crate::scene::draft) fn angled(code: &[Token<'_>], at: usize) -> Option<(Vec<Span>, usize)> {
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

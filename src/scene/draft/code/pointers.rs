//! What an argument that is a pointer points to.

use super::Span;
use crate::cuda::lexer::Token;

/// Casts around one another.
const MOST_CASTS: usize = 8;

/// Where into its array a pointer of the host code points.
pub(in crate::scene::draft) enum Offset {
    /// To its start.
    None,
    /// To this element, and of which type it is one, where that is known.
    Elements(String, Option<String>),
    /// What is written there is not understood.
    Unknown(String),
}

/// What is cast: `(float *)name`, `static_cast<float *>(name)`, `thrust::raw_pointer_cast(name)`.
pub(in crate::scene::draft) fn without_casts(code: &[Token<'_>], mut span: Span) -> Span {
    let is_type =
        |token: &Token<'_>| token.is_word() || matches!(token.text, "*" | "::" | "<" | ">");
    for _ in 0..MOST_CASTS {
        let tokens = code.get(span.clone()).unwrap_or_default();
        if let [space, sign, name, open, inner @ .., last] = tokens
            && (space.text, sign.text, open.text, last.text) == ("thrust", "::", "(", ")")
            && name.text.ends_with("_pointer_cast")
            && !inner.is_empty()
        {
            span = span.start + 4..span.end - 1;
            continue;
        }
        let (open, close) = match tokens {
            [open, ..] if open.text == "(" => (0, ")"),
            [name, open, ..] if name.text.ends_with("_cast") && open.text == "<" => (1, ">"),
            _ => break,
        };
        if let Some(length) = cast_to_array(tokens) {
            span = span.start + length..span.end;
            continue;
        }
        let Some(length) = tokens.iter().position(|token| token.text == close) else { break };
        let behind = span.start + length + 1;
        span = match (open, &tokens[length + 1..]) {
            (0, [_, ..]) if tokens[1..length].iter().all(is_type) => behind..span.end,
            (1, [first, .., last]) if first.text == "(" && last.text == ")" => {
                behind + 1..span.end - 1
            }
            _ => break,
        };
    }
    span
}

/// How many tokens `(float (*)[n])` has that begins here.
fn cast_to_array(tokens: &[Token<'_>]) -> Option<usize> {
    let texts = |from: usize, wanted: &[&str]| {
        (from..).zip(wanted).all(|(at, text)| tokens.get(at).is_some_and(|own| own.text == *text))
    };
    let words = tokens.get(1..)?.iter().take_while(|token| token.is_word()).count();
    if words == 0 || !texts(0, &["("]) || !texts(1 + words, &["(", "*", ")", "["]) {
        return None;
    }
    let end = tokens.iter().position(|token| token.text == "]")?;
    (tokens.len() > end + 2 && texts(end + 1, &[")"])).then_some(end + 2)
}

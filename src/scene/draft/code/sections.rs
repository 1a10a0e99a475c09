//! Parts of host code that are compiled under a condition of the preprocessor.

use super::Span;
use crate::cuda::lexer::{self, Kind, Token};

/// So many sections are told.
const MOST: usize = 1000;
/// Names that are defined wherever a scene is compiled, and by nvcc.
const DEFINED: [&str; 3] = ["WARPAINT", "__CUDACC__", "__NVCC__"];

/// A branch of an `#if`, and its directive.
pub(in crate::scene::draft) struct Section<'s> {
    pub(in crate::scene::draft) span: Span,
    pub(in crate::scene::draft) directive: &'s str,
}

/// The branches in `tokens`, whose directives have no place of their own. What begins the code, or defines the name
/// that it asks for at once, is a header's guard.
pub(in crate::scene::draft) fn sections<'s>(tokens: &[Token<'s>]) -> Vec<Section<'s>> {
    let (mut found, mut open, mut at) = (Vec::new(), Vec::<(usize, &str)>::new(), 0);
    for (place, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Directive {
            at += 1;
            continue;
        }
        let name = lexer::directive_body(token.text).unwrap_or(token.text).trim_start();
        if name.starts_with("el") || name.starts_with("endif") {
            let Some((start, directive)) = open.pop() else { continue };
            let is_told = start > 0 && !DEFINED.iter().any(|name| directive.contains(name));
            if is_told && found.len() < MOST {
                found.push(Section { span: start..at, directive });
            }
        }
        if (name.starts_with("el") || name.starts_with("if")) && open.len() < MOST {
            let is_guard = tokens.get(place + 1).is_some_and(|next| is_guard(name, next));
            open.push((if is_guard { 0 } else { at }, token.text.trim()));
        }
    }
    found
}

/// `#ifndef NAME` with a `#define NAME` behind it.
fn is_guard(name: &str, next: &Token<'_>) -> bool {
    let asked = name.strip_prefix("ifndef").map(str::trim);
    let next = lexer::directive_body(next.text).unwrap_or_default().trim_start();
    let defined = next.strip_prefix("define").and_then(|rest| rest.split_whitespace().next());
    asked.is_some() && asked == defined
}

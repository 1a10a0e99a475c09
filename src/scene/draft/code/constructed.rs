//! Structures that are not made of their fields in the order of these.

use std::collections::BTreeSet;

use crate::cuda::{
    brackets::Brackets,
    lexer::{Token, Tokens},
};

/// So many tokens stand between a structure's name and its brace, at most.
const LONGEST_HEAD: usize = 100;
/// So many tokens has a declaration of another name for a type, at most.
const LONGEST_NAMING: usize = 10_000;

/// The names of structures that have a constructor of their own, or bases: what a list of values makes of them does
/// not follow from their fields.
pub(in crate::scene::draft) fn constructed<'s>(
    code: &[Token<'s>],
    brackets: &Brackets,
) -> BTreeSet<&'s str> {
    let mut found = BTreeSet::new();
    for at in 0..code.len() {
        match code.text_at(at) {
            "struct" | "class" => {
                let head = at + 1..code.len().min(at + LONGEST_HEAD);
                let is_end = |at: &usize| matches!(code.text_at(*at), "{" | ";" | "=" | "");
                let Some(open) =
                    head.clone().find(is_end).filter(|open| code.text_at(*open) == "{")
                else {
                    continue;
                };
                let has_bases = (at..open).any(|at| code.text_at(at) == ":");
                let name = name_of(code, at + 1..open);
                let Some(name) = name else { continue };
                let after = brackets.after(open).unwrap_or(code.len());
                if has_bases || has_constructor(code, brackets, open + 1..after, name) {
                    found.insert(name);
                }
            }
            "typedef" | "using" => {
                found.extend(other_name(code, brackets, at, &found));
            }
            _ => {}
        }
    }
    found
}

/// The name of the structure whose head this is: what stands before its bases, or its template's arguments.
fn name_of<'s>(code: &[Token<'s>], head: std::ops::Range<usize>) -> Option<&'s str> {
    let tokens = code.get(head)?.iter();
    let own = tokens.take_while(|token| !matches!(token.text, ":" | "<"));
    let words = own.filter(|token| token.is_word() && token.text != "final");
    words.last().map(|token| token.text)
}

/// Whether a function that is called as the structure stands among its members.
fn has_constructor(
    code: &[Token<'_>],
    brackets: &Brackets,
    body: std::ops::Range<usize>,
    name: &str,
) -> bool {
    let mut at = body.start;
    while at < body.end {
        if code.text_at(at) == name && code.text_at(at + 1) == "(" && code.text_at(at - 1) != "~" {
            return true;
        }
        at = match code.text_at(at) {
            "(" | "[" | "{" => brackets.after(at).unwrap_or(at + 1),
            _ => at + 1,
        };
    }
    false
}

/// The name that `typedef` or `using` gives to one of these.
fn other_name<'s>(
    code: &[Token<'s>],
    brackets: &Brackets,
    at: usize,
    known: &BTreeSet<&str>,
) -> Option<&'s str> {
    let (mut end, mut names_one) = (at + 1, false);
    // What a structure within it holds does not count, but whether it has a constructor is not known yet.
    while end < code.len().min(at + LONGEST_NAMING) && code.text_at(end) != ";" {
        names_one |= known.contains(code.text_at(end));
        end = match code.text_at(end) {
            "{" => {
                let after = brackets.after(end)?;
                let name = name_of(code, at + 1..end);
                let own = |name| has_constructor(code, brackets, end + 1..after, name);
                names_one |= name.is_some_and(own) || (at..end).any(|at| code.text_at(at) == ":");
                after
            }
            _ => end + 1,
        };
    }
    let name = if code.text_at(at) == "using" { at + 1 } else { end.checked_sub(1)? };
    let is_one = names_one && (code.text_at(at) == "typedef" || code.text_at(at + 2) == "=");
    code.get(name).filter(|token| is_one && token.is_word()).map(|token| token.text)
}

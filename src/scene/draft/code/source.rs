//! The text that a manifest is drafted from: a file with those that it includes in their places, and with what its
//! macros launch where they are used.

use std::{collections::BTreeMap, collections::BTreeSet, fmt::Write as _};

use super::macros::{self, Macro};
use crate::cuda::lexer::{self, Kind, Token, Tokens};

/// So many files are included.
const MOST_FILES: usize = 64;
/// So much text is read, altogether.
const MOST_BYTES: usize = 4 << 20;
/// Files that include one another, and macros that use one another.
const DEEPEST: usize = 16;
/// So many tokens are an argument of a macro, or all of them.
const LONGEST: usize = 10_000;

/// Finds what a file includes: of the file's name and what stands in the quotes the name and the text of that.
pub type Includes<'i> = dyn FnMut(&str, &str) -> Option<(String, String)> + 'i;

/// The text of a file with those that it includes, each where it is included first.
pub(in crate::scene::draft) fn whole(
    name: &str,
    source: &str,
    includes: &mut Includes<'_>,
) -> String {
    let mut inclusion = Inclusion { includes, there: BTreeSet::new(), text: String::new() };
    inclusion.add(name, source, 0);
    with_launches(inclusion.text)
}

struct Inclusion<'i, 'f> {
    includes: &'i mut Includes<'f>,
    there: BTreeSet<String>,
    text: String,
}

impl Inclusion<'_, '_> {
    fn add(&mut self, name: &str, source: &str, depth: usize) {
        for token in lexer::lex(source) {
            let included = included(&token).filter(|_| depth < DEEPEST);
            let found = included.and_then(|included| (self.includes)(name, included));
            let Some((file, text)) = found else {
                self.text.push_str(token.text);
                continue;
            };
            let is_too_much = self.there.len() >= MOST_FILES
                || self.text.len().saturating_add(text.len()) > MOST_BYTES;
            if !is_too_much && self.there.insert(file.clone()) {
                self.add(&file, &text, depth + 1);
            }
            self.text.push('\n');
        }
    }
}

/// What stands in the quotes of `#include "name"`.
fn included<'s>(token: &Token<'s>) -> Option<&'s str> {
    let directive = Some(token.text).filter(|_| token.kind == Kind::Directive)?;
    let rest = lexer::directive_body(directive)?.trim_start().strip_prefix("include")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

/// `text` with the macros that launch kernels, or use such ones, expanded where they are used.
fn with_launches(text: String) -> String {
    if !text.contains("<<<") {
        return text;
    }
    let tokens: Vec<Token<'_>> = lexer::lex(&text).collect();
    let directives = tokens.iter().filter(|token| token.kind == Kind::Directive);
    let all: Vec<_> = directives.filter_map(|token| macros::definition(token.text)).collect();
    let mut launching: BTreeMap<&str, &Macro<'_>> = BTreeMap::new();
    for _ in 0..DEEPEST {
        let before = launching.len();
        for (name, own) in &all {
            let launches = own.text.contains("<<<")
                || lexer::code(own.text).any(|token| launching.contains_key(token.text));
            if launches {
                launching.insert(name, own);
            }
        }
        if launching.len() == before {
            break;
        }
    }
    if launching.is_empty() {
        return text;
    }
    let mut written = String::with_capacity(text.len());
    expand(&tokens, &launching, DEEPEST, &mut written);
    written
}

/// Writes `tokens` with those macros expanded.
fn expand(
    tokens: &[Token<'_>],
    launching: &BTreeMap<&str, &Macro<'_>>,
    deepest: usize,
    written: &mut String,
) {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let known = launching.get(token.text).filter(|_| token.is_word());
        let known = known.filter(|_| deepest > 0 && written.len() < MOST_BYTES);
        let used = known.and_then(|own| match &own.parameters {
            None => Some((own.text.to_owned(), at)),
            Some(parameters) => {
                let (arguments, behind) = arguments(tokens, at)?;
                Some((filled(own.text, parameters, &arguments), behind))
            }
        });
        match used {
            Some((text, behind)) => {
                let inner: Vec<Token<'_>> = lexer::lex(&text).collect();
                expand(&inner, launching, deepest - 1, written);
                at = behind;
            }
            None => written.push_str(token.text),
        }
    }
}

/// The arguments in the parentheses that open behind `at`, as texts, and the place behind them.
fn arguments(tokens: &[Token<'_>], at: usize) -> Option<(Vec<String>, usize)> {
    let is_blank = |token: &&Token<'_>| matches!(token.kind, Kind::Blank | Kind::Comment);
    let open = at + tokens.get(at..)?.iter().take_while(is_blank).count();
    tokens.get(open).filter(|token| token.text == "(")?;
    let (mut found, mut depth) = (vec![String::new()], 0_usize);
    for (place, token) in tokens.iter().enumerate().skip(open + 1).take(LONGEST) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" if depth == 0 => {
                let trimmed = found.iter().map(|argument| argument.trim().to_owned());
                return Some((trimmed.collect(), place + 1));
            }
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            "," if depth == 0 => {
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push_str(if token.kind == Kind::Comment { " " } else { token.text });
        }
    }
    None
}

/// The text of a macro with its arguments in the places of its parameters, joined by `##` and quoted by `#`.
fn filled(text: &str, parameters: &[&str], arguments: &[String]) -> String {
    let mut written = String::new();
    let tokens: Vec<Token<'_>> =
        lexer::lex(text).filter(|token| token.kind != Kind::Comment).collect();
    let rest = arguments.get(parameters.len().saturating_sub(1)..).unwrap_or_default().join(", ");
    let given = |word: &str| match parameters.iter().position(|own| *own == word) {
        Some(place) => arguments.get(place).map(String::as_str),
        None if word == "__VA_ARGS__" && parameters.last() == Some(&"...") => Some(rest.as_str()),
        None => None,
    };
    let is_hash = |at: usize| {
        tokens.get(at).is_some_and(|token: &Token<'_>| lexer::directive_body(token.text).is_some())
    };
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if is_hash(at) && is_hash(at + 1) {
            written.truncate(written.trim_end().len());
            at += 2;
            while tokens.get(at).is_some_and(|token| token.kind == Kind::Blank) {
                at += 1;
            }
            continue;
        }
        let next = tokens.text_at(at + 1);
        match given(next).filter(|_| is_hash(at)) {
            Some(argument) => {
                let _ = write!(written, "\"{}\"", argument.replace(['"', '\\'], ""));
                at += 2;
            }
            None => {
                // A line of its own would end where a line of the macro ends.
                let own = if token.kind == Kind::Blank { " " } else { token.text };
                written.push_str(given(token.text).unwrap_or(own));
                at += 1;
            }
        }
    }
    written
}

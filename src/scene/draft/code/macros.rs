//! Macros of the file, which stand for their texts.

use std::collections::{BTreeMap, BTreeSet};

use super::LONGEST;
use crate::cuda::lexer::{self, Token};

/// Macros that name others, at most so many behind one another.
const DEEPEST: usize = 24;

/// A macro.
#[derive(PartialEq)]
pub(in crate::scene::draft) struct Macro<'s> {
    /// Those of `#define NAME(a, b) text`.
    pub(in crate::scene::draft) parameters: Option<Vec<&'s str>>,
    pub(in crate::scene::draft) text: &'s str,
}

/// All that the file defines, in whichever branch.
#[derive(Default)]
pub(in crate::scene::draft) struct Macros<'s> {
    /// Several that have the same text are one.
    all: BTreeMap<&'s str, Vec<Macro<'s>>>,
    /// Those in whose texts something may be assigned.
    assigning: BTreeSet<&'s str>,
}

/// What tokens are behind the preprocessor.
pub(in crate::scene::draft) struct Expanded<'s> {
    pub(in crate::scene::draft) tokens: Vec<Token<'s>>,
    /// Whether each macro in it has one text in the file.
    pub(in crate::scene::draft) is_sure: bool,
}

impl<'s> Macros<'s> {
    pub(in crate::scene::draft) fn of<'t>(directives: impl Iterator<Item = &'t str>) -> Self
    where
        's: 't,
        't: 's,
    {
        let mut all: BTreeMap<&'s str, Vec<Macro<'s>>> = BTreeMap::new();
        for (name, found) in directives.filter_map(definition) {
            let known = all.entry(name).or_default();
            if !known.contains(&found) {
                known.push(found);
            }
        }
        let mut found = Self { all, assigning: BTreeSet::new() };
        for _ in 0..DEEPEST {
            let before = found.assigning.len();
            let assigns = |of: &Macro<'_>| {
                let has = |sign: &str| of.text.contains(sign);
                let names = || lexer::code(of.text).any(|token| found.assigns(token.text));
                has("=") || has("++") || has("--") || names()
            };
            let own = found.all.iter().filter(|(_, all)| all.iter().any(assigns));
            let own: BTreeSet<&str> = own.map(|(name, _)| *name).collect();
            found.assigning = own;
            if found.assigning.len() == before {
                break;
            }
        }
        found
    }

    /// Whether a name is a macro that may assign something.
    pub(in crate::scene::draft) fn assigns(&self, name: &str) -> bool {
        self.assigning.contains(name)
    }

    /// What they are called.
    pub(in crate::scene::draft) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.all.keys().copied()
    }

    /// The texts of the macros of a name, where there are any.
    pub(in crate::scene::draft) fn texts(
        &self,
        name: &str,
    ) -> Option<impl Iterator<Item = &'s str>> {
        Some(self.all.get(name)?.iter().map(|own| own.text))
    }

    /// The words of those, without the macros' parameters.
    pub(in crate::scene::draft) fn words(&self, name: &str) -> impl Iterator<Item = &'s str> {
        self.all.get(name).into_iter().flatten().flat_map(|own| {
            let is_own = |word: &str| {
                own.parameters.as_ref().is_some_and(|parameters| parameters.contains(&word))
            };
            let words = lexer::code(own.text).filter(|token| token.is_word());
            words.map(|token| token.text).filter(move |word| !is_own(word))
        })
    }

    /// Whether nothing in `tokens` is a macro.
    pub(in crate::scene::draft) fn leave(&self, tokens: &[Token<'_>]) -> bool {
        !tokens.iter().any(|token| self.all.contains_key(token.text))
    }

    /// `tokens` with the texts of macros in their places; `None` where there is no end to it, or too much of it.
    /// `look` counts what is looked at.
    pub(in crate::scene::draft) fn expand(
        &self,
        tokens: &[Token<'s>],
        look: &dyn Fn(usize) -> Option<()>,
    ) -> Option<Expanded<'s>> {
        let mut found = Expanded { tokens: Vec::new(), is_sure: true };
        self.expand_into(&mut found, tokens, &mut Vec::new(), look)?;
        Some(found)
    }

    fn expand_into(
        &self,
        found: &mut Expanded<'s>,
        tokens: &[Token<'s>],
        active: &mut Vec<&'s str>,
        look: &dyn Fn(usize) -> Option<()>,
    ) -> Option<()> {
        look(tokens.len() + 1)?;
        let mut at = 0;
        // Where the token before ends in its text.
        let mut end = usize::MAX;
        while let Some(token) = tokens.get(at) {
            let known = self.all.get(token.text).filter(|_| !active.contains(&token.text));
            let arguments = arguments(tokens, at + 1);
            let fits = |known: &&Macro<'_>| known.parameters.is_none() || arguments.is_some();
            let Some(known) = known.and_then(|known| known.last().filter(fits).map(|m| (m, known)))
            else {
                push(found, *token, token.offset == end)?;
                end = token.offset + token.text.len();
                at += 1;
                continue;
            };
            let (own, all) = known;
            found.is_sure &= all.len() == 1;
            let mut body: Vec<Token<'s>> = lexer::code(own.text).take(LONGEST + 1).collect();
            if body.len() > LONGEST || active.len() >= DEEPEST {
                return None;
            }
            at += 1;
            if let (Some(parameters), Some((arguments, length))) = (&own.parameters, arguments) {
                body = filled(&body, parameters, &arguments)?;
                at += length;
            }
            active.push(token.text);
            self.expand_into(found, &body, active, look)?;
            active.pop();
            end = usize::MAX;
        }
        Some(())
    }
}

/// Adds a token behind the others, which it may be one operator with.
fn push<'s>(found: &mut Expanded<'s>, token: Token<'s>, is_joined: bool) -> Option<()> {
    let end = found.tokens.last().map_or(0, |last| last.offset + last.text.len());
    found.tokens.push(Token { offset: end + usize::from(!is_joined), ..token });
    (found.tokens.len() <= LONGEST).then_some(())
}

/// The text of a macro with its arguments in the places of its parameters; `None` where it makes new words of them.
fn filled<'s>(
    body: &[Token<'s>],
    parameters: &[&str],
    arguments: &[&[Token<'s>]],
) -> Option<Vec<Token<'s>>> {
    let mut filled = Vec::new();
    for token in body {
        if token.text == "#" {
            return None;
        }
        match parameters.iter().position(|parameter| *parameter == token.text) {
            Some(place) => filled.extend(arguments.get(place)?.iter().copied()),
            None => filled.push(*token),
        }
        if filled.len() > LONGEST {
            return None;
        }
    }
    Some(filled)
}

/// The arguments in the parentheses at a place, and how many tokens these are.
fn arguments<'t, 's>(
    tokens: &'t [Token<'s>],
    open: usize,
) -> Option<(Vec<&'t [Token<'s>]>, usize)> {
    let rest = tokens.get(open..).filter(|rest| rest.first().is_some_and(|t| t.text == "("))?;
    let (mut parts, mut start, mut depth) = (Vec::new(), 1, 0_usize);
    for (place, token) in rest.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        let is_end = depth == 0;
        if is_end || depth == 1 && token.text == "," {
            parts.push(&rest[start..place]);
            start = place + 1;
        }
        if is_end {
            return Some((parts, place + 1));
        }
    }
    None
}

/// `#define NAME text`, `#define NAME(a, b) text`.
pub(in crate::scene::draft) fn definition(directive: &str) -> Option<(&str, Macro<'_>)> {
    let rest = lexer::directive_body(directive)?.trim_start().strip_prefix("define")?;
    let rest = rest.trim();
    let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric())?;
    let (name, text) = rest.split_at(end);
    if name.is_empty() {
        return None;
    }
    if let Some(text) = text.strip_prefix('(') {
        let (parameters, text) = text.split_once(')')?;
        let is_blank = |c: char| c.is_whitespace() || c == '\\';
        let parameters = parameters.split(',').map(|own| own.trim_matches(is_blank)).collect();
        return Some((name, Macro { parameters: Some(parameters), text: text.trim() }));
    }
    text.starts_with([' ', '\t', '\\'])
        .then(|| (name, Macro { parameters: None, text: text.trim() }))
}

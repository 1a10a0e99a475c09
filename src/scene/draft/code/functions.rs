//! Functions of the file whose value is one expression: `int blocks(int n) { return (n + 63) / 64; }`.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Span,
    parameters::declarators,
    regions::{Kind, Regions},
    variables::Declared,
};
use crate::cuda::{
    brackets::Brackets,
    lexer::{Kind as TokenKind, Token, Tokens},
};

/// So many tokens stand before the name of a function whose value is followed.
const LONGEST_HEAD: usize = 12;
/// So many tokens are compared of the parameters of declarations.
const LONGEST_PARAMETERS: usize = 1000;

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
    /// Where names that are called somewhere stand for something else than what is called, or a member.
    others: BTreeMap<&'s str, Vec<usize>>,
}

impl<'s> Functions<'s> {
    pub(in crate::scene::draft) fn new(
        code: &[Token<'s>],
        brackets: &Brackets,
        regions: &Regions,
    ) -> Self {
        let reader = Reader { code, brackets, regions };
        let mut by_name: BTreeMap<&str, Option<Function<'s>>> = BTreeMap::new();
        let mut defined = BTreeMap::new();
        for (place, region) in regions.iter() {
            let Kind::Function { name, parameters, .. } = &region.kind else { continue };
            let found = reader.function(place, *name, parameters, region.span.end);
            // Of several of one name it is not known which is called.
            let text = reader.code.text_at(*name);
            by_name.entry(text).and_modify(|known| *known = None).or_insert(found);
            defined.insert(text, parameters.clone());
        }
        for at in (0..code.len()).filter(|at| reader.is_declaration(*at)) {
            let of_other = |own: &Span| !reader.are_same(own, at + 2);
            if let Some(known) = by_name.get_mut(reader.code.text_at(at))
                && defined.get(reader.code.text_at(at)).is_some_and(of_other)
            {
                *known = None;
            }
        }
        Self { by_name, others: reader.others() }
    }

    /// Whether there is one of this name, and what it returns.
    pub(in crate::scene::draft) fn named(&self, name: &str) -> Option<Option<&Function<'s>>> {
        self.by_name.get(name).map(Option::as_ref)
    }

    /// Where a name that is called somewhere stands for something else.
    pub(in crate::scene::draft) fn others(&self, name: &str) -> &[usize] {
        self.others.get(name).map_or(&[], Vec::as_slice)
    }
}

struct Reader<'t, 's> {
    code: &'t [Token<'s>],
    brackets: &'t Brackets,
    regions: &'t Regions,
}

impl<'s> Reader<'_, 's> {
    /// The function whose name stands at `name`, and that ends before `end`; `None` where its value is not one
    /// expression, or where it is not called by its name alone.
    fn function(
        &self,
        region: usize,
        name: usize,
        parameters: &Span,
        end: usize,
    ) -> Option<Function<'s>> {
        let open = parameters.end + 1;
        let body = self.code.get(open..end)?;
        let [brace, word, value @ .., semicolon, _] = body else { return None };
        let is_return = (brace.text, word.text, semicolon.text) == ("{", "return", ";");
        if !is_return || value.iter().any(|token| matches!(token.text, ";" | "{")) {
            return None;
        }
        let returns = self.returned(name).filter(|_| !self.is_member(region))?;
        let parameters = declarators(self.code, parameters);
        Some(Function {
            parameters: parameters.into_iter().map(|(_, name, own)| (name, own)).collect(),
            returns,
            value: open + 2..end - 2,
        })
    }

    /// The words of the type that the function returns whose name stands at `name`, where these are all of it, and it
    /// is one of the host.
    fn returned(&self, name: usize) -> Option<Vec<&'s str>> {
        let is_end = |at: &usize| matches!(self.code.text_at(*at), ";" | "{" | "}");
        let near = (name.saturating_sub(LONGEST_HEAD)..name).rev();
        let start = near.into_iter().find(is_end).map_or(0, |end| end + 1);
        let mut head = self.code.get(start..name).filter(|head| head.len() < LONGEST_HEAD)?;
        if let [word, quoted, rest @ ..] = head
            && (word.text, quoted.kind) == ("extern", TokenKind::Quoted)
        {
            head = rest;
        }
        let has = |wanted: &str| head.iter().any(|token| token.text == wanted);
        let is_of_device = has("__device__") && !has("__host__");
        if is_of_device || has("template") || has("operator") {
            return None;
        }
        let mut words = Vec::new();
        for (place, token) in head.iter().enumerate() {
            let is_of_std = token.text == "::" && place > 0 && head[place - 1].text == "std";
            match token.kind {
                TokenKind::Word if token.text == "std" || token.text.starts_with("__") => {}
                TokenKind::Word => words.push(token.text),
                _ if is_of_std => {}
                TokenKind::Blank
                | TokenKind::Comment
                | TokenKind::Directive
                | TokenKind::Disabled
                | TokenKind::Number
                | TokenKind::Quoted
                | TokenKind::Sign => return None,
            }
        }
        (!words.is_empty()).then_some(words)
    }

    /// Whether a function is one of a structure or of a namespace that has a name.
    fn is_member(&self, region: usize) -> bool {
        let Some(start) = self.regions.get(region).map(|region| region.span.start) else {
            return true;
        };
        let is_open = |at: usize| {
            let quoted = at.checked_sub(1).and_then(|at| self.code.get(at));
            self.code.text_before(at) == "namespace"
                || quoted.is_some_and(|t| t.kind == TokenKind::Quoted)
        };
        let mut around = self.regions.around(start).filter(|(place, _)| *place != region);
        !around.all(|(_, outer)| outer.kind == Kind::Block && is_open(outer.span.start))
    }

    /// Whether a function is declared here, outside of functions: `int name(int);`.
    fn is_declaration(&self, at: usize) -> bool {
        self.code.is_word_at(at)
            && self.code.text_at(at + 1) == "("
            && at > 0
            && (self.code.is_word_at(at - 1)
                || matches!(self.code.text_at(at - 1), "*" | "&" | ">"))
            && self.regions.function(at).is_none()
            && self.brackets.after(at + 1).is_some_and(|after| self.code.text_at(after) != "{")
    }

    /// Whether the parameters that begin at `start` have the same types as `own`, as far as their texts tell.
    fn are_same(&self, own: &Span, start: usize) -> bool {
        let Some(end) = self.brackets.after(start - 1) else { return false };
        let types = |span: Span| {
            let tokens = self.code.get(span).unwrap_or_default();
            let parts = tokens.split(|token| token.text == ",").map(|part| {
                let declared = part.split(|token| token.text == "=").next().unwrap_or_default();
                declared.iter().map(|token| token.text).collect::<Vec<_>>()
            });
            parts.collect::<Vec<_>>()
        };
        let span = start..end - 1;
        if own.len() > LONGEST_PARAMETERS || span.len() > LONGEST_PARAMETERS {
            return false;
        }
        // Each may have a name behind its type, or none.
        let is_same = |(one, other): (&Vec<&str>, &Vec<&str>)| {
            let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
            let common = short.iter().zip(long).take_while(|(a, b)| a == b).count();
            common == long.len() || common + 1 == long.len() && common > 0
        };
        let (own, other) = (types(own.clone()), types(span));
        own.len() == other.len() && own.iter().zip(&other).all(is_same)
    }

    /// Where names that are called somewhere stand for something else than what is called, or a member: there a
    /// variable may be declared that hides a function.
    fn others(&self) -> BTreeMap<&'s str, Vec<usize>> {
        let is_called = |at: usize| matches!(self.code.text_at(at + 1), "(" | "<");
        let words = || (0..self.code.len()).filter(|at| self.code.is_word_at(*at));
        let called: BTreeSet<&str> =
            words().filter(|at| is_called(*at)).map(|at| self.code.text_at(at)).collect();
        let mut found = BTreeMap::<_, Vec<_>>::new();
        for at in words().filter(|at| !is_called(*at) && called.contains(self.code.text_at(*at))) {
            let is_arrow =
                at > 1 && (self.code.text_at(at - 2), self.code.text_at(at - 1)) == ("-", ">");
            let is_used = self.code.text_before(at) == "::" && self.is_used(at);
            let is_member = is_arrow || matches!(self.code.text_before(at), "." | "::") && !is_used;
            if !is_member {
                found.entry(self.code.text_at(at)).or_default().push(at);
            }
        }
        found
    }

    /// Whether the name is one of `using other::name;`, but for the library's.
    fn is_used(&self, at: usize) -> bool {
        let near = (at.saturating_sub(LONGEST_HEAD)..at).rev();
        let mut near = near.take_while(|at| !matches!(self.code.text_at(*at), ";" | "{" | "}"));
        let is_std = at > 1 && self.code.text_at(at - 2) == "std";
        !is_std && near.any(|at| self.code.text_at(at) == "using")
    }
}

//! The functions of each name that calls may mean: where each is declared, and in which namespaces and structures.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    LONGEST, Span,
    parameters::listed,
    regions::{Kind, Regions},
    templates::HostTemplate,
};
use crate::cuda::{
    brackets::Brackets,
    lexer::{Token, Tokens},
};

/// So many tokens stand between the word of a structure or a namespace and its brace.
const LONGEST_HEAD: usize = 60;
/// Scopes in one another, and names joined by `::`, at most so many.
const MOST_SPACES: usize = 16;
/// So many scopes are told apart, and so many `using`.
const MOST_SCOPES: usize = 500;

/// A function as it is declared or defined.
pub(in crate::scene::draft) struct Candidate<'s> {
    /// The namespaces and structures that it lies in, from the outermost.
    pub(in crate::scene::draft) path: Vec<&'s str>,
    pub(in crate::scene::draft) parameters: Vec<Span>,
    /// Its region, where it is defined.
    pub(in crate::scene::draft) region: Option<usize>,
    /// The parameters of the template that it is.
    pub(in crate::scene::draft) template: Vec<&'s str>,
    /// It is what a template is for some arguments: `template <> void f<int>(int a)`.
    pub(in crate::scene::draft) is_specialised: bool,
}

/// A namespace or a structure.
struct Scope<'s> {
    span: Span,
    names: Vec<&'s str>,
}

/// `using namespace a::b;`, `using a::f;`
pub(in crate::scene::draft) struct Using<'s> {
    at: usize,
    /// Where it counts.
    scope: Span,
    pub(in crate::scene::draft) path: Vec<&'s str>,
    pub(in crate::scene::draft) is_namespace: bool,
}

/// All of them.
#[derive(Default)]
pub(in crate::scene::draft) struct Candidates<'s> {
    by_name: BTreeMap<&'s str, Vec<Candidate<'s>>>,
    /// The paths of those that are defined, by their regions.
    paths: BTreeMap<usize, Vec<&'s str>>,
    scopes: Vec<Scope<'s>>,
    uses: Vec<Using<'s>>,
    /// Whether any method may be another one's.
    pub(in crate::scene::draft) has_virtual: bool,
    /// What else may stand before `::`: `using name = ...;`, `typedef ... name;`, parameters of templates.
    others: BTreeSet<&'s str>,
}

impl<'s> Candidates<'s> {
    pub(in crate::scene::draft) fn new(
        code: &[Token<'s>],
        brackets: &Brackets,
        regions: &Regions,
        templates: &[HostTemplate<'s>],
    ) -> Self {
        let finder = Finder { code, brackets, regions };
        let mut found = Self::default();
        for at in 0..code.len() {
            match finder.code.text_at(at) {
                "namespace" | "struct" | "class" | "union" => {
                    found.scopes.extend(finder.scope(at));
                    found.uses.extend(finder.using_namespace(at));
                }
                "using" => match finder.code.text_at(at + 2) {
                    "=" => _ = found.others.insert(finder.code.text_at(at + 1)),
                    _ => found.uses.extend(finder.using(at)),
                },
                "virtual" => found.has_virtual = true,
                "typedef" => found.others.extend(finder.typedef(at)),
                _ => {}
            }
        }
        found.scopes.truncate(MOST_SCOPES);
        found.uses.truncate(MOST_SCOPES);
        for (place, region) in regions.iter() {
            let Kind::Function { name, parameters, .. } = &region.kind else { continue };
            if finder.code.text_before(*name) == "~" {
                continue;
            }
            let template = templates.iter().find(|own| own.body.end == region.span.end);
            let is_specialised = finder.code.text_at(name + 1) == "<"
                || template.is_some_and(|own| own.parameters.is_empty());
            let template = template.map_or_else(Vec::new, |own| {
                own.parameters.iter().map(|(name, _)| *name).collect()
            });
            found.others.extend(&template);
            let mut path = found.path_at(*name);
            path.extend(finder.spaces_before(*name));
            found.paths.insert(place, path.clone());
            found.by_name.entry(finder.code.text_at(*name)).or_default().push(Candidate {
                path,
                parameters: finder.parts(parameters.clone()),
                region: Some(place),
                template,
                is_specialised,
            });
        }
        for at in (0..code.len()).filter(|at| finder.is_declaration(*at)) {
            let Some(after) = brackets.after(at + 1) else { continue };
            let mut path = found.path_at(at);
            path.extend(finder.spaces_before(at));
            let parameters = finder.parts(at + 2..after - 1);
            let all = found.by_name.entry(finder.code.text_at(at)).or_default();
            let types = |parts: &[Span]| parts.iter().map(|part| finder.type_of(part)).collect();
            let own: Vec<Vec<&str>> = types(&parameters);
            let known = all.iter_mut().find(|other| {
                let other_types: Vec<Vec<&str>> = types(&other.parameters);
                other.path == path && other_types == own
            });
            match known {
                // Defaults stand where it is declared first.
                Some(known) if finder.has_defaults(&parameters) => known.parameters = parameters,
                Some(_) => {}
                None => all.push(Candidate {
                    path,
                    parameters,
                    region: None,
                    template: Vec::new(),
                    is_specialised: false,
                }),
            }
        }
        found
    }

    /// All functions of this name.
    pub(in crate::scene::draft) fn named(&self, name: &str) -> &[Candidate<'s>] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The namespaces and structures around a place.
    pub(in crate::scene::draft) fn path_at(&self, at: usize) -> Vec<&'s str> {
        let around = self.scopes.iter().filter(|scope| scope.span.contains(&at));
        around.flat_map(|scope| scope.names.iter().copied()).take(MOST_SPACES).collect()
    }

    /// The same around what a function does, whose region is known.
    pub(in crate::scene::draft) fn path_of(
        &self,
        region: Option<usize>,
        at: usize,
    ) -> Vec<&'s str> {
        let own = region.and_then(|region| self.paths.get(&region));
        own.map_or_else(|| self.path_at(at), Clone::clone)
    }

    /// What `using` brings to a place.
    pub(in crate::scene::draft) fn used_at(&self, at: usize) -> impl Iterator<Item = &Using<'s>> {
        self.uses.iter().filter(move |own| own.at < at && own.scope.contains(&at))
    }

    /// Whether the file has a namespace, a structure or another type of this name.
    pub(in crate::scene::draft) fn is_scope(&self, name: &str) -> bool {
        self.is_structure(name) || self.others.contains(name)
    }

    /// Whether it has a namespace or a structure of this name.
    pub(in crate::scene::draft) fn is_structure(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.names.contains(&name))
    }
}

struct Finder<'t, 's> {
    code: &'t [Token<'s>],
    brackets: &'t Brackets,
    regions: &'t Regions,
}

impl<'s> Finder<'_, 's> {
    /// The namespace or the structure whose word stands at `at`; one without a name, or an inline one, is no part of a
    /// path.
    fn scope(&self, at: usize) -> Option<Scope<'s>> {
        let is_end =
            |at: &usize| matches!(self.code.text_at(*at), "{" | ";" | "(" | ")" | "=" | ">" | "");
        let open = (at + 1..at + LONGEST_HEAD).find(is_end)?;
        let after = self.brackets.after(open).filter(|_| self.code.text_at(open) == "{")?;
        let head = (at + 1..open).take_while(|at| !matches!(self.code.text_at(*at), ":" | "<"));
        let is_name = |at: &usize| self.code.is_word_at(*at) && self.code.text_at(*at) != "final";
        let words: Vec<&str> = head.filter(is_name).map(|at| self.code.text_at(at)).collect();
        let is_namespace = self.code.text_at(at) == "namespace";
        let names = match (is_namespace, self.code.text_before(at)) {
            (true, "inline") => Vec::new(),
            (true, _) => words,
            // Before its name an attribute may stand.
            (false, _) => words.last().copied().into_iter().collect(),
        };
        Some(Scope { span: open..after, names })
    }

    fn using_namespace(&self, at: usize) -> Option<Using<'s>> {
        let is_used = self.code.text_before(at) == "using" && self.code.text_at(at) == "namespace";
        is_used.then(|| self.used(at - 1, at + 1, true))?
    }

    /// `using a::f;`
    fn using(&self, at: usize) -> Option<Using<'s>> {
        let is_name = self.code.is_word_at(at + 1) && self.code.text_at(at + 1) != "namespace";
        is_name.then(|| self.used(at, at + 1, false))?
    }

    fn used(&self, at: usize, start: usize, is_namespace: bool) -> Option<Using<'s>> {
        let end = (start..start + 2 * MOST_SPACES).find(|at| self.code.text_at(*at) == ";")?;
        let path = (start..end)
            .filter(|at| self.code.is_word_at(*at))
            .map(|at| self.code.text_at(at))
            .collect();
        Some(Using { at, scope: self.regions.scope(at), path, is_namespace })
    }

    /// The name that a `typedef` makes.
    fn typedef(&self, at: usize) -> Option<&'s str> {
        let mut end = at + 1;
        while end < at + LONGEST {
            match self.code.text_at(end) {
                ";" | "" => break,
                "{" => end = self.brackets.after(end)?,
                _ => end += 1,
            }
        }
        end.checked_sub(1)
            .filter(|last| self.code.is_word_at(*last))
            .map(|last| self.code.text_at(last))
    }

    /// The names that `::` joins with the one at `name`.
    fn spaces_before(&self, name: usize) -> Vec<&'s str> {
        let (mut found, mut at) = (Vec::new(), name);
        while at >= 2
            && self.code.text_before(at) == "::"
            && self.code.is_word_at(at - 2)
            && found.len() < MOST_SPACES
        {
            at -= 2;
            found.insert(0, self.code.text_at(at));
        }
        found
    }

    /// Whether a function is declared here, outside of functions: `int name(int);`.
    fn is_declaration(&self, at: usize) -> bool {
        let has_type = || {
            let is_type = self.code.is_word_at(at - 1)
                && !matches!(self.code.text_at(at - 1), "return" | "new");
            is_type || matches!(self.code.text_at(at - 1), "*" | "&" | ">")
        };
        self.code.is_word_at(at)
            && self.code.text_at(at + 1) == "("
            && at > 0
            && has_type()
            && self.regions.function(at).is_none()
            && self.brackets.after(at + 1).is_some_and(|after| {
                matches!(self.code.text_at(after), ";" | "const" | "noexcept" | "override" | "=")
            })
    }

    /// The parameters of a list, which `void` alone has none of.
    fn parts(&self, span: Span) -> Vec<Span> {
        match span.len() == 1 && self.code.text_at(span.start) == "void" {
            true => Vec::new(),
            false => listed(self.code, self.brackets, span),
        }
    }

    fn has_defaults(&self, parts: &[Span]) -> bool {
        parts.iter().any(|part| part.clone().any(|at| self.code.text_at(at) == "="))
    }

    fn type_of(&self, part: &Span) -> Vec<&'s str> {
        type_in(self.code.get(part.clone()).unwrap_or_default())
    }
}

/// The tokens of a parameter's type, without its name and its default.
pub(in crate::scene::draft) fn type_in<'s>(part: &[Token<'s>]) -> Vec<&'s str> {
    let own = part.split(|token| token.text == "=").next().unwrap_or_default();
    let is_word = |token: &Token<'_>| token.is_word();
    let array = own.iter().position(|token| token.text == "[").unwrap_or(own.len());
    let (head, axes) = own.split_at(array);
    let no_types =
        ["const", "volatile", "unsigned", "signed", "struct", "__restrict__", "restrict"];
    let no_names = ["int", "long", "short", "char", "float", "double", "bool", "const", "unsigned"];
    // The last of several words, or the one behind a sign, is the name.
    let is_named = head.split_last().is_some_and(|(last, before)| {
        let is_other = |token: &&Token<'_>| !is_word(token) || !no_types.contains(&token.text);
        let is_scoped = before.last().is_some_and(|token| token.text == "::");
        is_word(last)
            && !no_names.contains(&last.text)
            && !no_types.contains(&last.text)
            && !is_scoped
            && (before.iter().any(|token| is_other(&token))
                || before.iter().any(|token| matches!(token.text, "unsigned" | "signed")))
    });
    let head = if is_named { &head[..head.len() - 1] } else { head };
    let is_mark = |text: &str| matches!(text, "struct" | "volatile") || text.contains("restrict");
    let axes = axes.iter().filter(|token| token.text == "[").map(|_| "*");
    let own = head.iter().map(|token| token.text).filter(|text| !is_mark(text));
    own.chain(axes).collect()
}

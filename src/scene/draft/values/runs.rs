//! Which functions are run once at most: what a variable has that outlives a function is another in its next run.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    cuda::lexer::{Kind as TokenKind, Tokens},
    scene::draft::{
        code::{
            Span,
            parameters::called_with,
            regions::Kind,
            variables::{Definition, Id, Value},
        },
        host::Host,
    },
};

/// Functions that call one another, at most so deep.
const DEEPEST: usize = 16;

/// So many calls are gone through; functions beyond may run within themselves.
const MOST_STEPS: usize = 1_000_000;

impl Host<'_> {
    /// The regions of the functions that are run once at most, and where others call themselves.
    pub(in crate::scene::draft) fn runs_of_functions(&self) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut definitions = BTreeSet::new();
        for (region, of) in self.regions.iter() {
            if let Kind::Function { name, .. } = of.kind {
                definitions.insert(name);
                named.entry(self.text_at(name)).or_default().push(region);
            }
        }
        let mut mentions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, token) in self.code.iter().enumerate() {
            // A declaration alone stands outside of functions, behind a type.
            let is_declared = || {
                let before = at.checked_sub(1).and_then(|before| self.code.get(before));
                let ends_type = |kind, text| kind == TokenKind::Word || matches!(text, "*" | "&");
                self.regions.function(at).is_none()
                    && before.is_some_and(|before| ends_type(before.kind, before.text))
            };
            if named.contains_key(token.text) && !definitions.contains(&at) && !is_declared() {
                mentions.entry(token.text).or_default().push(at);
            }
        }
        // How often a structure is made is not said by how often it is named.
        let structures: BTreeSet<&str> = self.structures.names().collect();
        let is_made = |name: &str| structures.contains(name) || self.constructed.contains(name);
        let mut once: BTreeSet<usize> = BTreeSet::new();
        for _ in 0..DEEPEST {
            let before = once.len();
            for (name, regions) in named.iter().filter(|(name, _)| !is_made(name)) {
                let is_once = match mentions.get(name).map_or(&[][..], Vec::as_slice) {
                    [] => true,
                    [at] => {
                        called_with(&self.code, at + 1).is_some() && self.is_once_in(*at, &once)
                    }
                    _ => false,
                };
                once.extend(regions.iter().filter(|_| is_once));
            }
            if once.len() == before {
                break;
            }
        }
        // Which function names which, in how many steps ever.
        let mut inner: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (name, places) in &mentions {
            for outer in places.iter().filter_map(|at| self.regions.function(*at)) {
                inner.entry(outer).or_default().extend(named.get(name).into_iter().flatten());
            }
        }
        let mut steps = 0_usize;
        let is_within_itself = |function: &usize| {
            let (mut open, mut seen) = (vec![*function], BTreeSet::new());
            while let Some(next) = open.pop() {
                let named = inner.get(&next).into_iter().flatten();
                open.extend(named.copied().filter(|named| seen.insert(*named)));
                steps += 1;
                if seen.contains(function) || steps > MOST_STEPS {
                    return true;
                }
            }
            false
        };
        let recursive: BTreeSet<usize> = inner.keys().copied().filter(is_within_itself).collect();
        let is_one = |region: &usize| recursive.contains(region);
        let calls = mentions.iter().flat_map(|(name, places)| {
            let is_inner = named.get(name).is_some_and(|regions| regions.iter().any(is_one));
            places.iter().copied().filter(move |_| is_inner)
        });
        let is_within = |at: &usize| self.regions.function(*at).is_some_and(|of| is_one(&of));
        (once, calls.filter(is_within).collect())
    }

    /// Whether what stands at `at` is done once, where the functions are known that are.
    fn is_once_in(&self, at: usize, once: &BTreeSet<usize>) -> bool {
        let is_again = |kind: &Kind| {
            matches!(
                kind,
                Kind::Lambda { .. } | Kind::For { .. } | Kind::While { .. } | Kind::Do { .. }
            )
        };
        !self.regions.around(at).any(|(_, region)| is_again(&region.kind))
            && self.detours.repeated_around(at).next().is_none()
            && self.regions.function(at).is_none_or(|function| once.contains(&function))
    }

    /// Whether a variable outlives a function around `at` that sets it, by one of its `definitions`, and may be run
    /// again.
    pub(in crate::scene::draft) fn is_of_earlier_run<'d>(
        &self,
        id: Id,
        definitions: impl Iterator<Item = &'d Definition> + Clone,
        at: usize,
    ) -> bool {
        if self.look(definitions.clone().count()).is_none() {
            return true;
        }
        let variable = self.variables.get(id);
        let words = &variable.declared.words;
        let is_constant = words.iter().any(|word| matches!(*word, "const" | "constexpr"));
        let is_static = variable.declared.is_static();
        // It begins once with what the first run gives it.
        let is_once = |value: &Value| match value {
            Value::Expression(span) if is_constant => self.names_constants(span),
            _ => self.is_constant(value),
        };
        let is_run = |region: usize, kind: &Kind, start: usize| match kind {
            Kind::Function { .. } => !self.run_once.contains(&region),
            Kind::Lambda { .. } => true,
            // What stands behind the parameters of an operator.
            Kind::Block => start.checked_sub(1).is_some_and(|before| self.text_at(before) == ")"),
            // What stands before a loop is followed in its rounds.
            Kind::For { .. } | Kind::While { .. } | Kind::Do { .. } => is_static,
            Kind::If { .. } | Kind::Switch { .. } | Kind::Catch => false,
        };
        let sets_in = |span: &Span, set: &Definition| {
            let is_first = set.at == variable.at && is_once(&set.value);
            span.contains(&set.at) && !is_first
        };
        // What a `goto` repeats.
        let mut repeated = self.detours.repeated_around(at);
        let is_repeated =
            is_static && repeated.any(|span| definitions.clone().any(|set| sets_in(span, set)));
        is_repeated
            || self.regions.around(at).any(|(index, region)| {
                let span = &region.span;
                let sets = |set: &Definition| sets_in(span, set);
                let is_loop = region.repeated().is_some();
                if is_loop && !span.contains(&variable.at) {
                    return false;
                }
                (is_static || !span.contains(&variable.at))
                    && definitions.clone().any(sets)
                    && is_run(index, &region.kind, span.start)
            })
    }

    /// Whether a value names no variable but constants.
    fn names_constants(&self, span: &Span) -> bool {
        span.clone().filter(|at| self.code.is_word_at(*at)).all(|at| {
            self.visible(self.text_at(at), at).is_none_or(|id| {
                let words = &self.variables.get(id).declared.words;
                words.iter().any(|word| matches!(*word, "const" | "constexpr"))
            })
        })
    }

    /// Whether a value names nothing that may be another one.
    fn is_constant(&self, value: &Value) -> bool {
        match value {
            Value::Expression(span) => !self.tokens(span).iter().any(|token| token.is_word()),
            Value::Behind(..) => true,
            Value::List(parts) => parts.is_empty(),
            Value::Compound(..) | Value::Count(_) | Value::Swapped(_) => false,
            Value::Part | Value::Given(_) | Value::Unknown => false,
        }
    }
}

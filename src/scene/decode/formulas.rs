//! Numbers of a pass that may depend on parameters, built-ins, rounds, and on what the launches before have written.

use toml::{Spanned, de::DeValue};

use super::{checks, fields::Fields, selection, suggestion};
use crate::scene::{
    Builtin, Components, Element, Formula, Manifest, Measured, Number, ResourceId, Source, Term,
    Value,
    expression::{Kind, Meaning},
    meaning::{derived_names, meaning, round_of},
};

/// What expressions may name at a place of the manifest.
pub(super) struct Names<'a> {
    pub(super) manifest: &'a Manifest,
    /// The names of the rounds of the loops around, from the outermost.
    counters: &'a [String],
}

/// What the rounds of the innermost loop are called, unless something else has the name.
pub(super) const ROUND: &str = "round";

impl<'a> Names<'a> {
    /// Those of a pass, or of a group of passes.
    pub(super) fn of_pass(manifest: &'a Manifest, counters: &'a [String]) -> Self {
        Self { manifest, counters }
    }

    /// What `name` stands for.
    pub(super) fn meaning(&self, name: &str) -> Result<Meaning<Term>, String> {
        if let Some(depth) = round_of(self.counters, name) {
            return Ok(Meaning::Term(Term::Round(depth), Kind::Int));
        }
        match meaning(self.manifest, name) {
            Some(source) => self.of_source(name, &source),
            None if name == ROUND && !self.counters.is_empty() => {
                Ok(Meaning::Term(Term::Round(self.counters.len() - 1), Kind::Int))
            }
            None => self.read(name),
        }
    }

    fn of_source(&self, name: &str, source: &Source) -> Result<Meaning<Term>, String> {
        match source {
            Source::Count(_, value) | Source::Extent(_, _, value) => {
                Ok(Meaning::Number(Number::Int((*value).into())))
            }
            Source::Number(formula) => match formula.constant() {
                Some(number) => Ok(Meaning::Number(number)),
                None => Err(format!("`{name}` is no constant")),
            },
            Source::Parameter(index) => {
                let kind = match self.manifest.parameters[*index].default {
                    Value::Float(_) => Kind::Float,
                    Value::Int(_) => Kind::Int,
                    Value::Toggle(_) => Kind::Bool,
                    Value::Color(_) => return Err(format!("`{name}` is a color, no number")),
                };
                Ok(Meaning::Term(Term::Parameter(*index), kind))
            }
            Source::Builtin(builtin) => match builtin.kind() {
                Some(kind) => Ok(Meaning::Term(Term::Builtin(*builtin), kind)),
                None => Err(format!("`{name}` is a vector, no number")),
            },
            Source::Resource(id) => {
                let resource = self.manifest.resource(*id);
                Err(format!(
                    "`{name}` is the {resource}, no number: name an element, `{name}[0]`, or a statistic, `{name}.max`"
                ))
            }
            Source::Next(_) | Source::Element { .. } | Source::Vector(_) | Source::Structure(_) => {
                Err(format!("`{name}` is no number"))
            }
        }
    }

    /// An element of a resource, `flag[0].x`, or a statistic, `residual.max`.
    fn read(&self, name: &str) -> Result<Meaning<Term>, String> {
        let is_stat = self.manifest.stats.iter().any(|stat| stat.name == name);
        if let Some((of, rest)) = name.split_once('[').filter(|_| !is_stat) {
            return self.element(of, rest);
        }
        if name.contains('.') || is_stat {
            let measured = checks::measured(name, self.manifest)?;
            return Ok(Meaning::Term(Term::Measured(measured), kind_of(measured)));
        }
        Err(self.unknown(name))
    }

    fn element(&self, name: &str, rest: &str) -> Result<Meaning<Term>, String> {
        let resource = self.manifest.find_resource(name.trim_end());
        let of = resource.ok_or_else(|| self.unknown(name))?;
        let resource = self.manifest.resource(of);
        if resource.texture().is_some() {
            return Err(format!("the {resource} has no elements that can be looked at"));
        }
        let (index, component) = rest.split_once(']').unwrap_or((rest, ""));
        let index: u64 = index.trim().parse().map_err(|_| {
            format!("an element's place is a whole number, as in `{name}[0]`, not `{index}`")
        })?;
        if index >= resource.count() {
            let count = resource.count();
            return Err(format!("`{name}` has {count} elements, from 0 on: there is no {index}"));
        }
        let path = component.trim().strip_prefix('.');
        let found = path.map(|path| selection::components(path, of, self.manifest)).transpose()?;
        let is_one = matches!(resource.of().element(), Some(Element { lanes: 1, .. }));
        let component = match found {
            Some(Components { first, count: 1 }) => first,
            None if is_one => 0,
            Some(_) | None => {
                let example = resource.of().components().into_iter().next().unwrap_or_default();
                return Err(format!(
                    "`{name}` has {}: name a component, `{name}[0].{example}`",
                    if resource.element().is_some() { "vectors" } else { "structures" }
                ));
            }
        };
        let part = resource.of().part_of(component.into());
        let is_float = part.is_some_and(|(part, _)| part.element.scalar.is_float());
        let kind = if is_float { Kind::Float } else { Kind::Int };
        Ok(Meaning::Term(Term::Element { of, index, component }, kind))
    }

    fn unknown(&self, name: &str) -> String {
        let manifest = self.manifest;
        let derived = (0..manifest.resources.len())
            .flat_map(|index| derived_names(manifest, ResourceId(index)))
            .filter(|name| !name.ends_with("_next"));
        let mut names: Vec<String> = derived.collect();
        names.extend(manifest.constants.iter().map(|constant| constant.name.clone()));
        names.extend(manifest.parameters.iter().map(|parameter| parameter.name.clone()));
        names.extend(self.counters.iter().filter(|name| !name.is_empty()).cloned());
        let builtins = Builtin::ALL.iter().filter(|(_, builtin)| builtin.kind().is_some());
        names.extend(builtins.map(|(name, _)| (*name).to_owned()));
        let hint = suggestion(name, names.iter().map(String::as_str));
        format!("there is no constant or parameter `{name}`{hint}")
    }
}

/// What number a statistic is.
fn kind_of(measured: Measured) -> Kind {
    use crate::scene::Statistic as S;
    match measured {
        Measured::Stat(_) => Kind::Float,
        Measured::Resource { statistic, .. } => match statistic {
            S::Count | S::Nan | S::Inf => Kind::Int,
            S::Sum | S::Min | S::Max | S::Mean | S::Std => Kind::Float,
        },
    }
}

/// The number or expression that `value`, (part of) the value of `key`, is.
pub(super) fn any(
    table: &Fields<'_, '_, '_>,
    names: &Names<'_>,
    key: &str,
    value: &Spanned<DeValue<'_>>,
) -> Option<Formula> {
    table.formula_in(key, value, &mut |name| names.meaning(name))
}

/// One that is whole, and lies between the ends of `range` where it is known already.
pub(super) fn integer(
    table: &Fields<'_, '_, '_>,
    names: &Names<'_>,
    key: &str,
    value: &Spanned<DeValue<'_>>,
    [least, most]: [i64; 2],
) -> Option<Formula> {
    let formula = any(table, names, key, value)?;
    let text = match (formula.kind(), formula.constant()) {
        (_, Some(Number::Int(found))) if found < least.into() => {
            format!("`{key}` is {found}, but must be at least {least}")
        }
        (_, Some(Number::Int(found))) if found > most.into() => {
            format!("`{key}` is {found}, but must be at most {most}")
        }
        (Kind::Int, _) => return Some(formula),
        (kind, Some(found)) => format!("`{key}` must be a whole number, not the {kind} {found}"),
        (kind, None) => {
            format!(
                "`{key}` must be a whole number, and this is a {kind}: `int(...)` makes one of it"
            )
        }
    };
    table.report.error(value.span(), text);
    None
}

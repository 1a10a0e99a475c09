//! `args` of a pass: what it gives to parameters of its kernel by their names.

use toml::{Spanned, de::DeValue};

use super::{
    fields::{Fields, sorted},
    formulas::{self, Names},
    is_identifier,
};
use crate::scene::{
    Field, Given, Half, Manifest, Source,
    meaning::{hint, meaning},
};

/// Reads them in the file's order.
pub(super) fn decode(
    table: &mut Fields<'_, '_, '_>,
    manifest: &Manifest,
    counters: &[String],
) -> Vec<Given> {
    let Some(value) = table.take("args") else { return Vec::new() };
    let Some(arguments) = value.get_ref().as_table() else {
        let text = "`args` must be a table: args = { in = \"a\", stride = \"1 << round\" }";
        table.complain_about("args", text);
        return Vec::new();
    };
    let names = Names::of_pass(manifest, counters);
    let given = sorted(arguments).into_iter().filter_map(|(name, value)| {
        let (parameter, at) = (name.get_ref().to_string(), table.report.position(&value.span()));
        let (source, cast) = cast_source(table, &names, &parameter, value)?;
        Some(Given { parameter, source, cast, at })
    });
    given.collect()
}

/// What a parameter is given: what a name means, a number or an expression, a vector, or a structure's fields.
fn source(
    table: &Fields<'_, '_, '_>,
    names: &Names<'_>,
    parameter: &str,
    value: &Spanned<DeValue<'_>>,
) -> Option<Source> {
    match value.get_ref() {
        DeValue::String(name) if is_identifier(name) => named(table, names, parameter, value, name),
        DeValue::String(text) => match offset(names.manifest, text) {
            Some((of, at)) => {
                let resolve = &mut |name: &str| names.meaning(name);
                let index = table.formula_behind(at, parameter, value, resolve)?;
                let count = names.manifest.resource(of.resource).count();
                Some(Source::Element { of, index, count })
            }
            None => formulas::any(table, names, parameter, value).map(Source::Number),
        },
        DeValue::Array(items) => list(table, names, parameter, items),
        DeValue::Table(fields) => {
            let fields = sorted(fields).into_iter().map(|(name, value)| {
                let at = table.report.position(&value.span());
                let name = name.get_ref().to_string();
                if name.starts_with('[') {
                    table.report.error(value.span(), format!("`{name}` is no field's name"));
                    return None;
                }
                let (source, cast) = cast_source(table, names, &name, value)?;
                Some(Field { name, source, cast, at })
            });
            fields.collect::<Option<_>>().map(Source::Structure)
        }
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
            formulas::any(table, names, parameter, value).map(Source::Number)
        }
    }
}

/// What a parameter is given, and the type of a pointer that it is cast to: `(int *)values`, `(int *)(values + 8)`.
fn cast_source(
    table: &Fields<'_, '_, '_>,
    names: &Names<'_>,
    parameter: &str,
    value: &Spanned<DeValue<'_>>,
) -> Option<(Source, Option<String>)> {
    let cast = value.get_ref().as_str().and_then(cast);
    let Some((ctype, what)) = cast else {
        return source(table, names, parameter, value).map(|source| (source, None));
    };
    let text = DeValue::String(what.into());
    let source = source(table, names, parameter, &Spanned::new(value.span(), text))?;
    Some((source, Some(ctype.to_owned())))
}

/// The type and what is cast to it, of `(int *)values` and `(int *)(values + 8)`.
fn cast(text: &str) -> Option<(&str, &str)> {
    let (ctype, what) = text.trim().strip_prefix('(')?.split_once(')')?;
    let what = what.trim();
    let inner = what.strip_prefix('(').and_then(|what| what.strip_suffix(')'));
    ctype.trim_end().ends_with('*').then(|| (ctype.trim(), inner.unwrap_or(what).trim()))
}

/// A list: numbers are the components of a vector, or the elements of an array of numbers; anything else is what each
/// element of an array is given.
fn list(
    table: &Fields<'_, '_, '_>,
    names: &Names<'_>,
    parameter: &str,
    items: &[Spanned<DeValue<'_>>],
) -> Option<Source> {
    let field = |(index, value): (usize, &Spanned<DeValue<'_>>)| {
        let at = table.report.position(&value.span());
        let is_resource = |name: &str| match meaning(names.manifest, name) {
            Some(source) => !source.resources().is_empty(),
            None => false,
        };
        let name = value.get_ref().as_str().filter(|name| is_identifier(name));
        let (source, cast) = match name {
            Some(name) if !is_resource(name) => {
                (Source::Number(formulas::any(table, names, parameter, value)?), None)
            }
            Some(_) | None => cast_source(table, names, parameter, value)?,
        };
        Some(Field { name: format!("[{index}]"), source, cast, at })
    };
    let fields: Vec<Field> = items.iter().enumerate().map(field).collect::<Option<_>>()?;
    let number = |field: &Field| match &field.source {
        Source::Number(formula) => Some(formula.clone()).filter(|_| field.cast.is_none()),
        Source::Resource(_) | Source::Next(_) | Source::Element { .. } | Source::Count(..) => None,
        Source::Extent(..) | Source::Vector(_) | Source::Structure(_) => None,
        Source::Parameter(_) | Source::Builtin(_) => None,
    };
    let numbers: Option<Vec<_>> = fields.iter().map(number).collect();
    Some(numbers.map_or(Source::Structure(fields), Source::Vector))
}

/// The array, and where the number of the element begins, of a pointer into an array: `values + 2 * n`.
fn offset(manifest: &Manifest, text: &str) -> Option<(Half, usize)> {
    let (name, _) = text.split_once('+')?;
    let of = half(manifest, name.trim()).ok()?;
    Some((of, name.len() + 1))
}

/// The buffer or array, or the half of a double one, that `name` means.
///
/// # Errors
///
/// A sentence, where it means something else.
pub(super) fn half(manifest: &Manifest, name: &str) -> Result<Half, String> {
    let half = match meaning(manifest, name) {
        Some(Source::Resource(resource)) => Half { resource, next: false },
        Some(Source::Next(resource)) => Half { resource, next: true },
        Some(_) | None => {
            let hint = hint(manifest, name);
            return Err(format!("`{name}` is no buffer or array{hint}"));
        }
    };
    let resource = manifest.resource(half.resource);
    match resource.texture() {
        Some(_) => Err(format!("the {resource} is no buffer or array")),
        None => Ok(half),
    }
}

/// What a single name means: as for a parameter of that name, or the rounds of a loop.
fn named(
    table: &Fields<'_, '_, '_>,
    names: &Names<'_>,
    parameter: &str,
    value: &Spanned<DeValue<'_>>,
    name: &str,
) -> Option<Source> {
    if let Some(source) = meaning(names.manifest, name) {
        return Some(source);
    }
    if names.meaning(name).is_ok() {
        return formulas::any(table, names, parameter, value).map(Source::Number);
    }
    let hint = hint(names.manifest, name);
    let text = format!("`{name}` is no resource, constant, parameter or built-in{hint}");
    table.report.error(value.span(), text);
    None
}

//! `args` of a pass: what it gives to parameters of its kernel by their names.

use toml::{Spanned, de::DeValue};

use super::{
    fields::{Fields, sorted},
    formulas::{self, Names},
    is_identifier,
};
use crate::scene::{Field, Given, Half, Manifest, Source, binding};

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
        let source = source(table, &names, &parameter, value)?;
        Some(Given { parameter, source, at })
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
        DeValue::Array(components) => {
            let formula = |value| formulas::any(table, names, parameter, value);
            components.iter().map(formula).collect::<Option<_>>().map(Source::Vector)
        }
        DeValue::Table(fields) => {
            let fields = sorted(fields).into_iter().map(|(name, value)| {
                let at = table.report.position(&value.span());
                let name = name.get_ref().to_string();
                let source = source(table, names, &name, value)?;
                Some(Field { name, source, at })
            });
            fields.collect::<Option<_>>().map(Source::Structure)
        }
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
            formulas::any(table, names, parameter, value).map(Source::Number)
        }
    }
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
    let half = match binding::meaning(manifest, name) {
        Some(Source::Resource(resource)) => Half { resource, next: false },
        Some(Source::Next(resource)) => Half { resource, next: true },
        Some(_) | None => {
            let hint = binding::hint(manifest, name);
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
    if let Some(source) = binding::meaning(names.manifest, name) {
        return Some(source);
    }
    if names.meaning(name).is_ok() {
        return formulas::any(table, names, parameter, value).map(Source::Number);
    }
    let hint = binding::hint(names.manifest, name);
    let text = format!("`{name}` is no resource, constant, parameter or built-in{hint}");
    table.report.error(value.span(), text);
    None
}

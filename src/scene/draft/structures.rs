//! Structures that host code gives kernels by value.

use super::{
    Guess, arguments,
    evaluator::Told,
    host::{Host, Span},
    number::{Number, Operator, Type},
    variables::{Id, Value},
};
use crate::{
    cuda::{KnownField, Structures, lexer::Token},
    element::{Element, Scalar},
};

/// More fields than these are not written.
const MOST_FIELDS: usize = 64;
/// Changes of a field that come behind one another, at most so many.
const DEEPEST: usize = 24;

/// What the manifest gives a parameter of the type `name`, for which the host gives its `variable` at `at`; `None`
/// where nothing is known of its fields.
pub(super) fn value(
    host: &Host<'_>,
    structures: &Structures,
    name: &str,
    (variable, at): (&str, usize),
) -> Option<Guess> {
    let fields = structures.fields(name, MOST_FIELDS).filter(|fields| !fields.is_empty())?;
    let (values, is_sure) = host.surely(|host| {
        let id = host.visible(variable, at);
        let value =
            |(index, field): (usize, &KnownField)| match given(host, &fields, index, (id?, at), 0)?
            {
                Given::Written(span) => written(host, &field.element, &span),
                Given::Computed(number) => {
                    let told = Told::Number(number);
                    arguments::written(&told, &told)
                }
            };
        fields.iter().enumerate().map(value).collect::<Vec<_>>()
    });
    let is_known = is_sure && values.iter().all(Option::is_some);
    // What is not said of an array is zero.
    let pairs =
        fields.iter().zip(values).filter(|(field, _)| !field.is_array).map(|(field, value)| {
            format!("{} = {}", field.path, value.unwrap_or_else(|| zero(&field.element)))
        });
    let text = format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "));
    Some(Guess::of((text, is_known), variable))
}

/// What a field is given.
enum Given {
    /// What stands there.
    Written(Span),
    /// What operators make of what it had.
    Computed(Number),
}

/// What the field at `index` of a variable has at a place.
fn given(
    host: &Host<'_>,
    fields: &[KnownField],
    index: usize,
    (id, at): (Id, usize),
    depth: usize,
) -> Option<Given> {
    let field = &fields[index];
    let (set, is_alone) = host.field(id, &field.path, at).filter(|_| depth < DEEPEST)?;
    let changed = |operator: Operator, by: Number| {
        let of = Type::of_element(field.element)?;
        let before = match given(host, fields, index, (id, set.at), depth + 1)? {
            Given::Written(span) => host.number(&span)?.to(of)?,
            Given::Computed(number) => number,
        };
        Some(Given::Computed(operator.apply(before, by)?.to(of)?))
    };
    match &set.value {
        Value::Expression(span) if is_alone => Some(Given::Written(span.clone())),
        // A copy of another one.
        Value::Expression(span) | Value::Swapped(span) if !is_alone => {
            let other = host.visible(host.word(span)?, set.at)?;
            given(host, fields, index, (other, set.at), depth + 1)
        }
        Value::List(parts) if !is_alone => {
            listed(host, fields, parts).get(index).cloned().flatten().map(Given::Written)
        }
        Value::Compound(operator, by) if is_alone => changed(*operator, host.number(by)?),
        Value::Count(by) if is_alone => changed(Operator::Add, Number::int(*by)),
        Value::Expression(_)
        | Value::Swapped(_)
        | Value::List(_)
        | Value::Compound(..)
        | Value::Count(_)
        | Value::Behind(..)
        | Value::Part
        | Value::Given(_)
        | Value::Unknown => None,
    }
}

/// Where each field's value stands in a list, where it has one: by the fields' order, or by their names, as in
/// `{ .n = 4 }`.
fn listed(host: &Host<'_>, fields: &[KnownField], parts: &[Span]) -> Vec<Option<Span>> {
    let tokens = |part: &Span| host.code.get(part.clone()).unwrap_or_default();
    let named = |field: &KnownField| {
        parts.iter().find_map(|part| match tokens(part) {
            [dot, name, equals, ..]
                if (dot.text, name.text, equals.text) == (".", &field.path, "=") =>
            {
                Some(part.start + 3..part.end)
            }
            _ => None,
        })
    };
    let are_named =
        parts.iter().any(|part| tokens(part).first().is_some_and(|token| token.text == "."));
    match are_named {
        true => fields.iter().map(named).collect(),
        // Of pointers, and of structures within it, nothing is known: the places of the others are not either.
        false if parts.len() == fields.len() && fields.iter().all(|f| !f.path.contains('.')) => {
            parts.iter().cloned().map(Some).collect()
        }
        false => Vec::new(),
    }
}

/// A field's value in the manifest.
fn written(host: &Host<'_>, element: &Element, span: &Span) -> Option<String> {
    let number = |span: &Span| {
        let of = Element::scalar(element.scalar);
        let number = host.number(span)?;
        let given = Type::of_element(of).map_or(Some(number), |of| number.to(of))?;
        arguments::written(&Told::Number(number), &Told::Number(given))
    };
    if element.lanes == 1 {
        return number(span);
    }
    // `make_float3(1, 2, 3)`, `{1, 2, 3}`
    let tokens: &[Token<'_>] = host.code.get(span.clone())?;
    let open = tokens.iter().position(|token| matches!(token.text, "(" | "{"))?;
    let inner = span.start + open + 1..span.end.checked_sub(1)?;
    let parts = host.parts(inner);
    let numbers: Vec<String> = parts.iter().map(number).collect::<Option<_>>()?;
    (numbers.len() == usize::from(element.lanes)).then(|| format!("[{}]", numbers.join(", ")))
}

fn zero(element: &Element) -> String {
    match element {
        Element { scalar: Scalar::Bool, lanes: 1 } => "false".to_owned(),
        Element { lanes: 1, .. } => "0".to_owned(),
        Element { lanes, .. } => format!("[{}]", vec!["0"; usize::from(*lanes)].join(", ")),
    }
}

//! Constants: numbers, or expressions over the other constants in any order.

use std::{collections::BTreeMap, ops::Range};

use toml::de::{DeTable, DeValue};

use super::{
    Report,
    fields::{describe, literal, report_expression, sorted},
    suggestion,
};
use crate::scene::{Constant, Number, Overrides, expression::evaluate};

/// Constants that refer to one another in a row; each takes its share of the stack.
const LONGEST_CHAIN: usize = 32;

/// The table of `[constant]` whose values are for the CPU device.
const CPU: &str = "cpu";

/// A constant before it is computed.
#[derive(Clone)]
struct Declared {
    name: String,
    at: Range<usize>,
    value: Definition,
    /// The place of its value, where the file gives it.
    span: Option<Range<usize>>,
}

/// What a constant is declared as.
#[derive(Clone)]
enum Definition {
    Number(Number),
    Expression(String),
}

/// Reads `[constant]`, `[constant.cpu]`, and what the command line says over both.
pub(super) fn decode(
    report: &Report<'_>,
    table: &DeTable<'_>,
    overrides: &Overrides,
) -> Vec<Constant> {
    let Some(table) = constant_table(report, table) else {
        return resolve(report, &[], &[], overrides);
    };
    let (declared, mut for_cpu) = (declarations(report, table), Vec::new());
    if let Some(value) = table.get(CPU).and_then(|value| value.get_ref().as_table()) {
        for_cpu = declarations(report, value);
        for_cpu.retain(|replacement| known(report, &declared, replacement));
        // Whichever device it is read for, a fault in what is for the other one is told.
        resolve(
            report,
            &declared,
            &for_cpu,
            &Overrides { cpu: Some(!is_for_cpu(overrides)), ..Overrides::default() },
        );
    }
    resolve(report, &declared, &for_cpu, overrides)
}

/// The constants as they are for one device and one command line.
fn resolve(
    report: &Report<'_>,
    declared: &[Declared],
    for_cpu: &[Declared],
    overrides: &Overrides,
) -> Vec<Constant> {
    let replacements: &[Declared] = if is_for_cpu(overrides) { for_cpu } else { &[] };
    if overrides.constants.is_empty() && replacements.is_empty() {
        return compute(report, declared);
    }
    // What `[constant]` says decides of which kind each is; its faults are reported below.
    let before = compute(&report.clone_empty(), declared);
    let mut declared = declared.to_vec();
    for replacement in replacements {
        for constant in declared.iter_mut().filter(|c| c.name == replacement.name) {
            (constant.value, constant.span) = (replacement.value.clone(), replacement.span.clone());
        }
    }
    for (name, text) in &overrides.constants {
        if let Some(constant) = declared.iter_mut().find(|c| c.name == *name) {
            (constant.value, constant.span) = (Definition::Expression(text.clone()), None);
        } else {
            let hint = suggestion(name, before.iter().map(|c| c.name.as_str()));
            report.error_in_option(format!("--const {name}: the scene has no such constant{hint}"));
        }
    }
    let mut after = compute(report, &declared);
    for ((new, old), declared) in after.iter_mut().zip(&before).zip(&declared) {
        keep_kind(report, new, old, declared);
    }
    after
}

/// A replaced constant stays what it is: an `int` an `int`; a `float` takes integers too.
fn keep_kind(report: &Report<'_>, new: &mut Constant, old: &Constant, declared: &Declared) {
    let (kind, found) = (old.value.kind(), new.value.kind());
    if let (Number::Float(_), Number::Int(value)) = (old.value, new.value) {
        new.value = Number::Float(value as f64);
    } else if kind != found {
        declared.fault(report, format!("`{}` is of kind {kind}, not {found}", new.name));
    }
}

impl Declared {
    /// Reports what is wrong with its value where that stands: in the file, or on the command line.
    fn fault(&self, report: &Report<'_>, text: String) {
        match (&self.span, &self.value) {
            (Some(span), _) => report.error(span.clone(), text),
            (None, Definition::Expression(value)) => {
                report.error_in_option(format!("--const {}={value}: {text}", self.name));
            }
            (None, Definition::Number(_)) => report.error_anywhere(text),
        }
    }
}

/// Whether `[constant]` has what `[constant.cpu]` wants to replace.
fn known(report: &Report<'_>, declared: &[Declared], replacement: &Declared) -> bool {
    let name = &replacement.name;
    let found = declared.iter().any(|constant| constant.name == *name);
    if !found {
        let hint = suggestion(name, declared.iter().map(|c| c.name.as_str()));
        let text = format!("[constant] has no `{name}` to be replaced for the CPU device{hint}");
        report.error(replacement.at.clone(), text);
    }
    found
}

fn constant_table<'t, 's>(report: &Report<'_>, table: &'t DeTable<'s>) -> Option<&'t DeTable<'s>> {
    let value = table.get("constant")?;
    let found = value.get_ref().as_table();
    if found.is_none() {
        let found = describe(value.get_ref());
        report.error(value.span(), format!("`constant` must be a table: [constant], not {found}"));
    }
    found
}

fn declarations(report: &Report<'_>, table: &DeTable<'_>) -> Vec<Declared> {
    let mut declared = Vec::new();
    for (key, value) in sorted(table) {
        if key.get_ref() == CPU && value.get_ref().as_table().is_some() {
            continue;
        }
        let definition = match (value.get_ref(), literal(value.get_ref())) {
            (DeValue::String(text), _) => Ok(Definition::Expression(text.to_string())),
            (_, Ok(number)) => Ok(Definition::Number(number)),
            (_, Err(Some(text))) => Err(text),
            (other, Err(None)) => Err(format!(
                "`{}` must be a number, true, false or an expression, not {}",
                key.get_ref(),
                describe(other)
            )),
        };
        let name = key.get_ref().to_string();
        let value = definition.unwrap_or_else(|text| {
            report.error(value.span(), text);
            Definition::Number(Number::Int(1))
        });
        let span = table.get(name.as_str()).map(toml::Spanned::span);
        declared.push(Declared { name, at: key.span(), value, span });
    }
    declared
}

/// The values of all constants; faults count as 1, so that they are reported once.
fn compute(report: &Report<'_>, declared: &[Declared]) -> Vec<Constant> {
    let mut known = BTreeMap::new();
    let constant = |c: &Declared, known: &mut BTreeMap<String, Number>| Constant {
        name: c.name.clone(),
        value: value_of(report, declared, c, known, &mut Vec::new()).unwrap_or(Number::Int(1)),
        at: report.position(&c.at),
    };
    let all: Vec<Constant> = declared.iter().map(|c| constant(c, &mut known)).collect();
    for (constant, declared) in all.iter().zip(declared) {
        check_float(report, constant, declared);
    }
    all
}

/// A float constant becomes a `float`, whose range is narrower.
fn check_float(report: &Report<'_>, constant: &Constant, declared: &Declared) {
    if let Number::Float(value) = constant.value
        && !(value as f32).is_finite()
    {
        let name = &constant.name;
        let text = format!("the constant `{name}` is {value}, beyond the range of a float");
        declared.fault(report, text);
    }
}

/// The value of `constant`; `open` are those being computed, to find circles.
fn value_of(
    report: &Report<'_>,
    declared: &[Declared],
    constant: &Declared,
    known: &mut BTreeMap<String, Number>,
    open: &mut Vec<String>,
) -> Option<Number> {
    if let Some(value) = known.get(&constant.name) {
        return Some(*value);
    }
    let Definition::Expression(text) = &constant.value else {
        let Definition::Number(value) = constant.value else { return None };
        known.insert(constant.name.clone(), value);
        return Some(value);
    };
    open.push(constant.name.clone());
    let mut resolve = |name: &str| {
        if open.iter().any(|other| other == name) {
            return Err(format!("the constant `{name}` depends on itself"));
        }
        if open.len() > LONGEST_CHAIN {
            return Err(format!("more than {LONGEST_CHAIN} constants depend on one another"));
        }
        let Some(other) = declared.iter().find(|c| c.name == name) else {
            let hint = suggestion(name, declared.iter().map(|c| c.name.as_str()));
            return Err(format!("there is no constant `{name}`{hint}"));
        };
        // A fault of the other one is reported where that one is declared.
        Ok(value_of(report, declared, other, known, open).unwrap_or(Number::Int(1)))
    };
    let value = evaluate(text, &mut resolve);
    open.pop();
    let value = value.unwrap_or_else(|error| {
        let name = &constant.name;
        match &constant.span {
            Some(span) => report_expression(report, span, error),
            None => report.error_in_option(format!("--const {name}={text}: {}", error.text)),
        }
        Number::Int(1)
    });
    known.insert(constant.name.clone(), value);
    Some(value)
}

/// Whether `[constant.cpu]` stands over `[constant]`.
fn is_for_cpu(overrides: &Overrides) -> bool {
    overrides.cpu == Some(true)
}

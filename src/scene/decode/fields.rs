//! The keys of one table, read with their types; what is left over is unknown.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};

use super::{Report, suggestion};
use crate::cuda::Position;
use crate::scene::{
    Constant, Expression, Number,
    expression::{self, Meaning, evaluate},
};

/// The longest name that commands take, in bytes.
const LONGEST_LABEL: usize = 64;

/// Whether it can be a name that commands take.
pub(crate) fn is_label(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=LONGEST_LABEL).contains(&text.len()) && text.chars().all(allowed)
}

/// A key and its value.
pub(super) type Entry<'t, 's> = (&'t Spanned<DeString<'s>>, &'t Spanned<DeValue<'s>>);

/// A table being read.
pub(super) struct Fields<'r, 't, 's> {
    pub report: &'r Report<'r>,
    pub constants: &'r [Constant],
    table: &'t DeTable<'s>,
    /// Such as `[buffer.position]`.
    place: String,
    span: Range<usize>,
    known: Vec<&'static str>,
}

impl<'r, 't, 's> Fields<'r, 't, 's> {
    pub(super) fn new(
        report: &'r Report<'r>,
        constants: &'r [Constant],
        table: &'t DeTable<'s>,
        place: String,
        span: Range<usize>,
    ) -> Self {
        Self { report, constants, table, place, span, known: Vec::new() }
    }

    /// Where the table is.
    pub(super) fn at(&self) -> Position {
        self.report.position(&self.span)
    }

    /// Counts these keys among the known.
    pub(super) fn know(&mut self, keys: &[&'static str]) {
        self.known.extend(keys);
    }

    /// Complains about keys that nobody asked for.
    pub(super) fn finish(self) {
        for (key, _) in sorted(self.table) {
            let name: &str = key.get_ref();
            if !self.known.contains(&name) {
                let hint = suggestion(name, self.known.iter().copied());
                let text = format!("{} has no key `{name}`{hint}", self.place);
                self.report.error(key.span(), text);
            }
        }
    }

    /// All keys with their values, in the file's order, where any may be there.
    pub(super) fn entries(&self) -> Vec<Entry<'t, 's>> {
        sorted(self.table)
    }

    /// Complains about a key.
    pub(super) fn complain_about_key(&self, key: &Spanned<DeString<'_>>, text: String) {
        self.report.error(key.span(), text);
    }

    /// Complains about a value.
    pub(super) fn complain_of(&self, value: &Spanned<DeValue<'_>>, text: String) {
        self.report.error(value.span(), text);
    }

    /// Complains about the table as a whole.
    pub(super) fn complain(&self, text: &str) {
        self.report.error(self.span.clone(), format!("{} {text}", self.place));
    }

    /// The value of `key`, as TOML.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'s>>> {
        self.known.push(key);
        self.table.get(key)
    }

    /// The place of the value of `key`, or the table's.
    pub(super) fn span_of(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or(self.span.clone(), Spanned::span)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Complains about the value of `key`.
    pub(super) fn complain_about(&self, key: &str, text: impl Into<String>) {
        self.report.error(self.span_of(key), text);
    }

    fn wrong_type(&self, key: &str, expected: &str, value: &Spanned<DeValue<'_>>) {
        let found = describe(value.get_ref());
        self.report.error(value.span(), format!("`{key}` must be {expected}, not {found}"));
    }

    /// Complains where `key` is missing.
    pub(super) fn require(&self, key: &str, example: &str) {
        if !self.has(key) {
            self.complain(&format!("needs `{key}`, such as `{key} = {example}`"));
        }
    }

    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        let value = self.take(key)?;
        if let Some(text) = value.get_ref().as_str() {
            return Some(text.to_owned());
        }
        self.wrong_type(key, "a string", value);
        None
    }

    /// A text that stands within lines of output.
    pub(super) fn line(&mut self, key: &'static str) -> Option<String> {
        let text = self.text(key)?;
        if text.contains(['\n', '\r']) {
            self.complain_about(key, format!("`{key}` has a line end in it"));
        }
        Some(text)
    }

    /// A name that commands and files take: it is told from paths and values, and stands in a line.
    pub(super) fn label(&mut self, key: &'static str) -> Option<String> {
        let text = self.text(key)?;
        if !is_label(&text) {
            let rule = format!("1 to {LONGEST_LABEL} letters, digits, `_` and `-`");
            self.complain_about(key, format!("`{key}` must be of {rule}: commands take it"));
            return None;
        }
        Some(text)
    }

    pub(super) fn boolean(&mut self, key: &'static str) -> Option<bool> {
        let value = self.take(key)?;
        let found = value.get_ref().as_bool();
        if found.is_none() {
            self.wrong_type(key, "true or false", value);
        }
        found
    }

    /// One of the values that `all` names.
    pub(super) fn named<T: Copy>(&mut self, key: &'static str, all: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        let found = all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        if found.is_none() {
            let hint = suggestion(&text, all.iter().map(|(name, _)| *name));
            self.complain_about(key, format!("`{key}` cannot be \"{text}\"{hint}"));
        }
        found
    }

    /// A number, or an expression over the constants.
    pub(super) fn number(&mut self, key: &'static str) -> Option<Number> {
        let value = self.take(key)?;
        self.number_in(key, value)
    }

    /// The number that `value`, (part of) the value of `key`, stands for.
    pub(super) fn number_in(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Number> {
        match value.get_ref() {
            DeValue::String(text) => self.expression(text, value.span()),
            other => literal(other).map_or_else(
                |text| {
                    match text {
                        Some(text) => self.report.error(value.span(), text),
                        None => self.wrong_type(key, "a number", value),
                    }
                    None
                },
                Some,
            ),
        }
    }

    /// The number or the expression that `value`, (part of) the value of `key`, stands for, where `resolve` knows what
    /// names mean.
    pub(super) fn formula_in<T>(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        resolve: &mut dyn FnMut(&str) -> Result<Meaning<T>, String>,
    ) -> Option<Expression<T>> {
        self.formula_behind(0, key, value, resolve)
    }

    /// The expression that a string has from its byte `start` on.
    pub(super) fn formula_behind<T>(
        &self,
        start: usize,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        resolve: &mut dyn FnMut(&str) -> Result<Meaning<T>, String>,
    ) -> Option<Expression<T>> {
        let DeValue::String(text) = value.get_ref() else {
            return self.number_in(key, value).map(Expression::from);
        };
        let formula = Expression::parse(text.get(start..).unwrap_or_default(), resolve);
        let fault = |error: expression::Error| {
            let error = expression::Error { offset: start + error.offset, ..error };
            report_expression(self.report, &value.span(), error);
        };
        formula.map_err(fault).ok()
    }

    fn expression(&self, text: &str, span: Range<usize>) -> Option<Number> {
        let mut resolve = |name: &str| {
            let found = self.constants.iter().find(|c| c.name == name).map(|c| c.value);
            found.ok_or_else(|| unknown_constant(name, self.constants))
        };
        match evaluate(text, &mut resolve) {
            Ok(value) => Some(value),
            Err(error) => {
                report_expression(self.report, &span, error);
                None
            }
        }
    }

    /// A whole number from `least` to `greatest`.
    pub(super) fn integer(&mut self, key: &'static str, least: i64, greatest: i64) -> Option<i64> {
        let value = self.take(key)?;
        self.integer_in(key, value, least, greatest)
    }

    pub(super) fn integer_in(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        least: i64,
        greatest: i64,
    ) -> Option<i64> {
        let text = match self.number_in(key, value)? {
            number @ Number::Int(found) => match number.whole() {
                Ok(whole) if (least..=greatest).contains(&whole) => return Some(whole),
                Ok(whole) if whole < least => {
                    format!("`{key}` is {found}, but must be at least {least}")
                }
                Ok(_) | Err(_) => format!("`{key}` is {found}, but must be at most {greatest}"),
            },
            other => format!("`{key}` must be a whole number, not the {} {other}", other.kind()),
        };
        self.report.error(value.span(), text);
        None
    }

    pub(super) fn float(&mut self, key: &'static str) -> Option<f64> {
        let value = self.take(key)?;
        self.float_in(key, value)
    }

    pub(super) fn float_in(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<f64> {
        let number = self.number_in(key, value)?;
        let found = number.as_f64();
        match (number, found) {
            (_, None) => self.wrong_type(key, "a number", value),
            (Number::Int(whole), Some(found)) if found as i128 != whole => {
                let text = format!("`{key}` is in double precision, which has no {whole}");
                self.report.error(value.span(), text);
                return None;
            }
            (Number::Int(_) | Number::Float(_) | Number::Bool(_), Some(_)) => {}
        }
        found
    }

    /// A number above 0.
    pub(super) fn positive(&mut self, key: &'static str) -> Option<f64> {
        let value = self.float(key)?;
        if value > 0.0 {
            return Some(value);
        }
        self.complain_about(key, format!("`{key}` is {value}, but must be greater than 0"));
        None
    }

    /// An array of values.
    pub(super) fn list(&mut self, key: &'static str) -> Option<&'t [Spanned<DeValue<'s>>]> {
        let value = self.take(key)?;
        match value.get_ref().as_array() {
            Some(array) => Some(array),
            None => {
                self.wrong_type(key, "an array", value);
                None
            }
        }
    }

    /// An array of numbers, as many as `lengths` allows.
    pub(super) fn floats(&mut self, key: &'static str, lengths: &[usize]) -> Option<Vec<f64>> {
        let list = self.list(key)?;
        if !lengths.contains(&list.len()) {
            let lengths: Vec<_> = lengths.iter().map(ToString::to_string).collect();
            let (expected, found) = (lengths.join(" or "), list.len());
            self.complain_about(key, format!("`{key}` must have {expected} numbers, not {found}"));
            return None;
        }
        list.iter().map(|value| self.float_in(key, value)).collect()
    }

    /// Width and height, each at least 1.
    pub(super) fn sides(&mut self, key: &'static str, most: i64) -> Option<[u32; 2]> {
        let list = self.list(key)?;
        let [width, height] = list else {
            self.complain_about(key, format!("`{key}` must be two numbers: [width, height]"));
            return None;
        };
        let side = |value| self.integer_in(key, value, 1, most);
        Some([side(width)? as u32, side(height)? as u32])
    }

    /// The tables under `key`, such as those of `[buffer.a]` and `[buffer.b]`, in the file's order.
    pub(super) fn tables(&mut self, key: &'static str) -> Vec<(String, Fields<'r, 't, 's>)> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type(key, &format!("tables with a name: [{key}.name]"), value);
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, value) in sorted(table) {
            let text = name.get_ref().to_string();
            let place = format!("[{key}.{text}]");
            match value.get_ref().as_table() {
                Some(table) => found.push((text, self.inner(table, place, name.span()))),
                None => self.wrong_type(&text, &format!("a table, {place}"), value),
            }
        }
        found
    }

    /// The tables of `[[key]]`.
    pub(super) fn array_of_tables(&mut self, key: &'static str) -> Vec<Fields<'r, 't, 's>> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let tables = value.get_ref().as_array().map(|array| array.iter());
        let Some(tables) = tables else {
            self.wrong_type(key, &format!("a list of tables: [[{key}]] with two brackets"), value);
            return Vec::new();
        };
        let mut found = Vec::new();
        for value in tables {
            match value.get_ref().as_table() {
                Some(table) => found.push(self.inner(table, format!("[[{key}]]"), value.span())),
                None => self.wrong_type(key, "a list of tables", value),
            }
        }
        found
    }

    /// The table `[key]`.
    pub(super) fn table(&mut self, key: &'static str) -> Option<Fields<'r, 't, 's>> {
        let (name, value) = self.table.get_key_value(key)?;
        self.known.push(key);
        match value.get_ref().as_table() {
            Some(table) => Some(self.inner(table, format!("[{key}]"), name.span())),
            None => {
                self.wrong_type(key, &format!("a table: [{key}]"), value);
                None
            }
        }
    }

    /// The table `[key]`, or those of `[[key]]`: one that may be several.
    pub(super) fn table_or_tables(&mut self, key: &'static str) -> Vec<Fields<'r, 't, 's>> {
        match self.table.get(key).map(Spanned::get_ref) {
            Some(DeValue::Array(_)) => self.array_of_tables(key),
            Some(_) | None => self.table(key).into_iter().collect(),
        }
    }

    fn inner(
        &self,
        table: &'t DeTable<'s>,
        place: String,
        span: Range<usize>,
    ) -> Fields<'r, 't, 's> {
        Fields::new(self.report, self.constants, table, place, span)
    }
}

/// The entries in the file's order.
pub(super) fn sorted<'t, 's>(table: &'t DeTable<'s>) -> Vec<Entry<'t, 's>> {
    let mut entries: Vec<Entry<'t, 's>> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// The number that a TOML value is; `Err(None)` for other values, `Err(Some)` for numbers out of range.
pub(super) fn literal(value: &DeValue<'_>) -> Result<Number, Option<String>> {
    match value {
        DeValue::Boolean(value) => Ok(Number::Bool(*value)),
        DeValue::Integer(value) => {
            let parsed = i128::from_str_radix(value.as_str(), value.radix()).ok();
            let text = || Some(format!("{value} does not fit into 64 bits"));
            parsed.and_then(Number::int).ok_or_else(text)
        }
        DeValue::Float(value) => {
            let parsed = value.as_str().parse().ok().filter(|value: &f64| value.is_finite());
            let text = || Some(format!("{value} is not a finite number"));
            parsed.map(Number::Float).ok_or_else(text)
        }
        _ => Err(None),
    }
}

/// What an unknown name in an expression is told.
pub(super) fn unknown_constant(name: &str, constants: &[Constant]) -> String {
    let hint = suggestion(name, constants.iter().map(|c| c.name.as_str()));
    format!("there is no constant `{name}`{hint}")
}

/// Reports a fault of the expression that the string at `span` holds.
pub(super) fn report_expression(
    report: &Report<'_>,
    span: &Range<usize>,
    error: expression::Error,
) {
    report.error_at(report.inside_string(span, error.offset), error.text);
}

/// A value in words.
pub(super) fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.len() <= 40 => format!("the string \"{text}\""),
        DeValue::String(_) => "a string".into(),
        DeValue::Integer(value) => format!("the integer {value}"),
        DeValue::Float(value) => format!("the float {value}"),
        DeValue::Boolean(value) => format!("{value}"),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "an array".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

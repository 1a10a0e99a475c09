//! Where a manifest has its tables and keys, found by TOML's own parser.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};

use super::Edit;
use crate::scene::literal;

/// A key, with its value in TOML.
pub(super) type Entry = (String, String);

/// What a table's keys stand in.
#[derive(Clone)]
enum Notation {
    /// Lines, below this head, or above all tables.
    Lines(Option<Range<usize>>),
    /// These braces.
    Braces(Range<usize>),
}

/// A table of a manifest. All places are bytes of the manifest's text.
#[derive(Clone)]
pub(super) struct Place<'t> {
    toml: &'t str,
    table: &'t DeTable<'t>,
    notation: Notation,
    /// What stands before each key of the table within its notation: `calm` in `calm.drag = 1`.
    above: Vec<&'t str>,
}

impl<'t> Place<'t> {
    /// The whole manifest.
    pub(super) fn root(toml: &'t str, table: &'t DeTable<'t>) -> Self {
        Self { toml, table, notation: Notation::Lines(None), above: Vec::new() }
    }

    /// The table under `key`.
    pub(super) fn inner(&self, key: &str) -> Option<Self> {
        let (key, value) = self.table.get_key_value(key)?;
        self.within(key, value)
    }

    /// The table under `key`, or the one at `index` of several there.
    pub(super) fn element(&self, key: &str, index: usize) -> Option<Self> {
        let (key, value) = self.table.get_key_value(key)?;
        match value.get_ref().as_array() {
            Some(several) => self.within(key, several.get(index)?),
            None => self.within(key, value).filter(|_| index == 0),
        }
    }

    fn within(
        &self,
        key: &'t Spanned<DeString<'t>>,
        value: &'t Spanned<DeValue<'t>>,
    ) -> Option<Self> {
        let table = value.get_ref().as_table()?;
        let span = value.span();
        // The parser gives a table the place of its head or of its braces, and one that has neither that of its key.
        let (notation, above) = match self.toml.as_bytes().get(span.start)? {
            b'[' => (Notation::Lines(Some(span)), Vec::new()),
            b'{' => (Notation::Braces(span), Vec::new()),
            _ => {
                let above = self.above.iter().copied().chain([key.get_ref().as_ref()]);
                (self.notation.clone(), above.collect())
            }
        };
        Some(Self { toml: self.toml, table, notation, above })
    }

    /// The value of `key`.
    pub(super) fn value(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.get(key)
    }

    /// Whether it stands within braces, so that no table with a head can be added to it.
    pub(super) fn is_in_braces(&self) -> bool {
        matches!(self.notation, Notation::Braces(_))
    }

    /// The key that stands last.
    pub(super) fn last(&self) -> Option<&'t str> {
        let last = self.table.keys().max_by_key(|key| key.span().start);
        last.map(|key| key.get_ref().as_ref())
    }

    /// The key that stands last and is no table: behind a table with a head keys would be that one's.
    pub(super) fn last_but_tables(&self) -> Option<&'t str> {
        let own = self.table.iter().filter(|(_, value)| value.get_ref().as_table().is_none());
        let last = own.max_by_key(|(key, _)| key.span().start);
        last.map(|(key, _)| key.get_ref().as_ref())
    }

    /// Puts entries behind that of `key`, and without one behind what the table begins with.
    pub(super) fn insert(&self, key: Option<&str>, entries: &[Entry]) -> Edit {
        let entries: Vec<String> = entries.iter().map(|entry| self.entry(entry)).collect();
        let before = key.and_then(|key| self.table.get_key_value(key));
        match (&self.notation, before) {
            (Notation::Braces(_), Some((_, value))) => {
                Edit::insert(end_of(value), format!(", {}", entries.join(", ")))
            }
            (Notation::Braces(braces), None) => {
                let inside = &self.toml[braces.start + 1..];
                let end = if inside.starts_with(char::is_whitespace) { "" } else { " " };
                Edit::insert(braces.start + 1, format!(" {}{end}", entries.join(", ")))
            }
            (Notation::Lines(_), Some((key, value))) => {
                self.lines_behind(key.span().start..end_of(value), &entries)
            }
            (Notation::Lines(head), None) => {
                self.lines_behind(head.clone().unwrap_or_default(), &entries)
            }
        }
    }

    fn entry(&self, (key, value): &Entry) -> String {
        let path = self.above.iter().copied().chain([key.as_str()]).map(literal::key);
        format!("{} = {value}", path.collect::<Vec<_>>().join("."))
    }

    /// Lines behind those of `before`, as far from the left as its first one.
    fn lines_behind(&self, before: Range<usize>, entries: &[String]) -> Edit {
        let line_end = line_end(self.toml);
        let line = &self.toml[self.toml[..before.start].rfind('\n').map_or(0, |at| at + 1)..];
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let lines = entries.iter().map(|entry| format!("{indent}{entry}"));
        match self.toml[before.end..].find('\n') {
            Some(length) => {
                let lines = lines.map(|line| line + line_end);
                Edit::insert(before.end + length + 1, lines.collect::<String>())
            }
            None => {
                let lines = lines.map(|line| line_end.to_owned() + &line);
                Edit::insert(self.toml.len(), lines.collect::<String>())
            }
        }
    }
}

/// A table behind all others of a manifest.
pub(super) fn new_table(toml: &str, path: &[&str], entries: &[Entry]) -> Edit {
    let line_end = line_end(toml);
    let path: Vec<_> = path.iter().map(|key| literal::key(key)).collect();
    let mut text = format!("{line_end}[{}]{line_end}", path.join("."));
    for (key, value) in entries {
        text += &format!("{} = {value}{line_end}", literal::key(key));
    }
    // Before the blanks that the end of the manifest is indented with.
    let last_line = toml.rfind('\n').map_or(0, |at| at + 1);
    match toml[last_line..].trim().is_empty() {
        true => Edit::insert(last_line, text),
        false => Edit::insert(toml.len(), format!("{line_end}{text}")),
    }
}

/// A table within braces.
pub(super) fn in_braces(entries: &[Entry]) -> String {
    let entries: Vec<_> =
        entries.iter().map(|(key, value)| format!("{} = {value}", literal::key(key))).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// How the lines of a text end.
fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next();
    if first.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

/// Where a value ends. One of dotted keys ends with the last of them.
fn end_of(value: &Spanned<DeValue<'_>>) -> usize {
    let inner = value.get_ref().as_table().into_iter().flat_map(|table| table.iter());
    inner.map(|(_, value)| end_of(value)).fold(value.span().end, usize::max)
}

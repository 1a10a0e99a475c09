//! `type` and `fields`: what elements are.

use std::cell::OnceCell;

use super::{
    Report,
    fields::{Fields, describe, sorted},
    is_identifier, suggestion,
};
use crate::{
    cuda::{Held, Macros, Structures},
    scene::{CompileOptions, Element, Part, Structure, Type},
};

/// So many fields of a structure are looked at: each is statistics, and columns of a table.
const MOST_FIELDS: usize = 64;
/// The longest name of a type, and of a field, in bytes.
const LONGEST_NAME: usize = 1024;

/// The types that a manifest may name: numbers, vectors, and the structures of its source.
pub(super) struct Types<'r> {
    report: &'r Report<'r>,
    macros: Macros,
    headers: &'r [String],
    /// Read when the first name comes that is no number's and no vector's.
    structures: OnceCell<Structures>,
}

/// A field that is to be looked at.
struct Declared {
    path: String,
    element: Element,
}

impl<'r> Types<'r> {
    /// Those of the source that `report` is about, and of its headers.
    pub(super) fn new(
        report: &'r Report<'r>,
        options: &CompileOptions,
        headers: &'r [String],
    ) -> Self {
        let macros = options.macros();
        Self { report, macros, headers, structures: OnceCell::new() }
    }

    fn structures(&self) -> &Structures {
        self.structures.get_or_init(|| {
            let headers = self.headers.iter().map(String::as_str);
            let texts: Vec<&str> = headers.chain([self.report.lines.from(0)]).collect();
            Structures::of(self.macros.clone(), &texts.join("\n"))
        })
    }

    /// `type`, and `fields` of a structure.
    pub(super) fn read(&self, table: &mut Fields<'_, '_, '_>, example: &str) -> Option<Type> {
        table.require("type", example);
        let text = table.text("type")?;
        if let Some(element) = parse(&text) {
            return Some(element.into());
        }
        let declared = if table.has("fields") { given(table) } else { self.found(table, &text) };
        let declared = declared.filter(|_| is_type(&text) || refuse(table, &text))?;
        Some(structure(text, declared).into())
    }

    /// Complains where the variable `name` has numbers of another type in the source than `element`, which `table`
    /// says.
    pub(super) fn compare(&self, table: &Fields<'_, '_, '_>, name: &str, element: Element) {
        let is = match self.structures().variable(name) {
            Held::Element(declared) if declared.scalar != element.scalar => {
                format!("has elements of type `{declared}`")
            }
            Held::Pointer(_) => "is a pointer".to_owned(),
            Held::Element(_) | Held::Unknown => return,
        };
        table.complain_about("type", format!("`{name}` {is} in the source, not of `{element}`"));
    }

    /// The fields that the source has for a structure.
    fn found(&self, table: &Fields<'_, '_, '_>, name: &str) -> Option<Vec<Declared>> {
        let fields = self.structures().fields(name, MOST_FIELDS);
        let Some(fields) = fields else {
            let known = Element::names();
            let known = known.iter().map(String::as_str).chain(self.structures().names());
            let hint = suggestion(name, known);
            let text = format!(
                "`type` cannot be \"{name}\"{hint}; of a structure that neither the file nor a header beside it \
                 defines, `fields` says the fields, as in `fields = {{ position = \"float3\" }}`"
            );
            table.complain_about("type", text);
            return None;
        };
        if fields.is_empty() {
            let text = format!(
                "no field of `{name}` has a type that is known from the text: say which they are, as in \
                 `fields = {{ position = \"float3\" }}`"
            );
            table.complain_about("type", text);
            return None;
        }
        let declared = fields.into_iter();
        Some(declared.map(|field| Declared { path: field.path, element: field.element }).collect())
    }
}

fn parse(text: &str) -> Option<Element> {
    let words: Vec<&str> = text.split_whitespace().collect();
    Element::parse(&words.join(" "))
}

/// Whether it has the form of a type's name: `sim::Particle`, `Pair<float, 3>`.
fn is_type(text: &str) -> bool {
    let is_sign =
        |c: char| matches!(c, '_' | ':' | '<' | '>' | ',' | ' ') || c.is_ascii_alphanumeric();
    text.len() <= LONGEST_NAME && text.chars().all(is_sign)
}

fn refuse(table: &Fields<'_, '_, '_>, text: &str) -> bool {
    table.complain_about("type", format!("`type` cannot be {text:?}: that is no name of a type"));
    false
}

/// `fields = { position = "float3", "box.size" = "float" }`.
fn given(table: &mut Fields<'_, '_, '_>) -> Option<Vec<Declared>> {
    let value = table.take("fields")?;
    let Some(list) = value.get_ref().as_table().filter(|list| !list.is_empty()) else {
        let found = describe(value.get_ref());
        let text =
            format!("`fields` must be a table such as {{ position = \"float3\" }}, not {found}");
        table.complain_about("fields", text);
        return None;
    };
    if list.len() > MOST_FIELDS {
        let text = format!("`fields` has {}, and at most {MOST_FIELDS} are looked at", list.len());
        table.complain_about("fields", text);
        return None;
    }
    let field = |(key, value): super::fields::Entry<'_, '_>| {
        let path: &str = key.get_ref();
        let is_path = path.len() <= LONGEST_NAME && path.split('.').all(is_identifier);
        let element = value.get_ref().as_str().and_then(parse);
        let problem = match (is_path, element) {
            (true, Some(element)) => return Some(Declared { path: path.to_owned(), element }),
            (false, _) => format!("{path:?} is no field's name"),
            (true, None) => format!(
                "the field `{path}` must have the type of a number or a vector, such as \"float3\"; of an array, that \
                 of its elements"
            ),
        };
        table.report.error(value.span(), problem);
        None
    };
    sorted(list).into_iter().map(field).collect::<Vec<_>>().into_iter().collect()
}

/// The structure, as if its fields lay one behind the other.
fn structure(name: String, fields: Vec<Declared>) -> Structure {
    let mut bytes = 0;
    let parts = fields.into_iter().map(|Declared { path, element }| {
        let offset = bytes;
        bytes += element.bytes();
        Part { path, element, offset, count: 1 }
    });
    let parts = parts.collect();
    Structure { name, bytes, parts }
}

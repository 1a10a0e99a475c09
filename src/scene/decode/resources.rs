//! `[buffer.*]`, `[array.*]` and `[texture.*]`.

use super::{data, fields::Fields};
use crate::scene::{
    Element, Elements, Filter, Format, Initial, Manifest, Overrides, Resource, ResourceKind,
    Scalar, Texels, Wrap,
};

/// Beyond this no device follows: 1 TiB.
const MOST_BYTES: u64 = 1 << 40;
/// Texels along an axis that no OpenGL exceeds.
const MOST_TEXELS: i64 = 1 << 16;

/// Reads them in the file's order.
pub(super) fn decode(
    fields: &mut Fields<'_, '_, '_>,
    manifest: &mut Manifest,
    overrides: &Overrides,
) {
    let mut found = Vec::new();
    for (name, mut table) in fields.tables("buffer") {
        let elements = elements(&mut table);
        let initial = initial(&mut table, &name, &elements, overrides);
        let kind = ResourceKind::Buffer(elements.declared);
        found.push(resource(name, kind, (true, initial), table));
    }
    for (name, mut table) in fields.tables("array") {
        let mut elements = elements(&mut table);
        elements.declared.double = table.boolean("double").unwrap_or(false);
        let initial = initial(&mut table, &name, &elements, overrides);
        let kind = ResourceKind::Array(elements.declared);
        found.push(resource(name, kind, (false, initial), table));
    }
    for (name, mut table) in fields.tables("texture") {
        let texture = texture(&mut table);
        let initial = data::file(&mut table, &name, overrides, false);
        found.push(resource(name, ResourceKind::Texture(texture), (false, initial), table));
    }
    found.sort_by_key(|resource| resource.at);
    manifest.resources = found;
}

fn resource(
    name: String,
    kind: ResourceKind,
    (shared, initial): (bool, Option<Initial>),
    table: Fields<'_, '_, '_>,
) -> Resource {
    let resource = Resource { name, kind, shared, initial, at: table.at() };
    let texels: u128 = resource.extent().into_iter().map(u128::from).product();
    let bytes = texels * resource.element().bytes() as u128;
    if bytes > u128::from(MOST_BYTES) {
        let size = bytes as f64 / f64::from(1 << 30);
        table.complain(&format!("takes {size:.0} GiB; more than 1024 GiB is surely a mistake"));
    }
    table.finish();
    resource
}

/// What a table declares of its elements.
struct DeclaredElements {
    declared: Elements,
    /// Whether type and count are what the table says.
    is_sound: bool,
}

/// Faulty ones count as one float4, so that what refers to it is not reported too.
fn elements(table: &mut Fields<'_, '_, '_>) -> DeclaredElements {
    let element = element(table, "\"float4\"");
    table.require("count", "1024");
    let count = table.integer("count", 1, i64::MAX);
    let declared = Elements {
        element: element.unwrap_or(Element::vector(Scalar::F32, 4)),
        count: count.map_or(1, i64::unsigned_abs),
        double: false,
    };
    DeclaredElements { declared, is_sound: element.is_some() && count.is_some() }
}

/// `type`.
pub(super) fn element(table: &mut Fields<'_, '_, '_>, example: &str) -> Option<Element> {
    table.require("type", example);
    let text = table.text("type")?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let element = Element::parse(&words.join(" "));
    if element.is_none() {
        let names = Element::names();
        let hint = super::suggestion(&text, names.iter().map(String::as_str));
        table.complain_about("type", format!("`type` cannot be \"{text}\"{hint}"));
    }
    element
}

/// `file` or `value`.
fn initial(
    table: &mut Fields<'_, '_, '_>,
    name: &str,
    elements: &DeclaredElements,
    overrides: &Overrides,
) -> Option<Initial> {
    let Elements { element, count, .. } = elements.declared;
    let wanted = elements.is_sound.then_some((element, Some(count)));
    data::initial(table, name, wanted, overrides)
}

fn texture(table: &mut Fields<'_, '_, '_>) -> Texels {
    table.require("format", "\"rgba32f\"");
    table.require("size", "[512, 512]");
    let format = table.named("format", Format::ALL).unwrap_or(Format::Rgba32f);
    let (size, dimensions) = size(table).unwrap_or(([1; 3], 2));
    Texels {
        format,
        size,
        dimensions,
        double: table.boolean("double").unwrap_or(false),
        filter: table.named("filter", Filter::ALL).unwrap_or(Filter::Nearest),
        wrap: table.named("wrap", Wrap::ALL).unwrap_or(Wrap::Clamp),
        normalized: table.boolean("normalized").unwrap_or(false),
    }
}

fn size(table: &mut Fields<'_, '_, '_>) -> Option<([u32; 3], u8)> {
    let list = table.list("size")?;
    if list.len() != 2 && list.len() != 3 {
        let found = list.len();
        let text = format!(
            "`size` must be [width, height] or [width, height, depth], not {found} numbers"
        );
        table.complain_about("size", text);
        return None;
    }
    let mut size = [1; 3];
    let mut complete = true;
    for (axis, value) in size.iter_mut().zip(list) {
        let found = table.integer_in("size", value, 1, MOST_TEXELS);
        complete &= found.is_some();
        *axis = found.map_or(1, |n| n as u32);
    }
    complete.then_some((size, list.len() as u8))
}

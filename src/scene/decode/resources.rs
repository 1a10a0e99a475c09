//! `[buffer.*]`, `[array.*]` and `[texture.*]`.

use std::collections::BTreeSet;

use super::{data, fields::Fields, types::Types};
use crate::scene::{
    Element, Elements, Filter, Format, Initial, Manifest, Overrides, Resource, ResourceKind,
    Scalar, Texels, Type, Wrap,
};

/// Texels along an axis that no OpenGL exceeds.
const MOST_TEXELS: i64 = 1 << 16;

/// Reads them in the file's order.
pub(super) fn decode(
    fields: &mut Fields<'_, '_, '_>,
    manifest: &mut Manifest,
    overrides: &Overrides,
) {
    let types = Types::new(fields.report, &manifest.compile, &overrides.headers);
    let (mut found, mut untyped) = (Vec::new(), BTreeSet::new());
    for (name, mut table) in fields.tables("buffer") {
        let elements = elements(&mut table, &types);
        untyped.extend(elements.is_untyped.then(|| name.clone()));
        let initial = initial(&mut table, &name, &elements, overrides);
        let kind = ResourceKind::Buffer(elements.declared);
        found.push(resource(name, kind, (true, initial), table));
    }
    for (name, mut table) in fields.tables("array") {
        let mut elements = elements(&mut table, &types);
        untyped.extend(elements.is_untyped.then(|| name.clone()));
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
    (manifest.resources, manifest.untyped) = (found, untyped);
}

fn resource(
    name: String,
    kind: ResourceKind,
    (shared, initial): (bool, Option<Initial>),
    mut table: Fields<'_, '_, '_>,
) -> Resource {
    let was = table.text("was");
    let keep = table.boolean("keep").unwrap_or(true);
    let resource = Resource { name, kind, shared, initial, was, keep, at: table.at() };
    if let Some(problem) = resource.too_many_bytes() {
        table.complain(&problem);
    }
    table.finish();
    resource
}

/// What a table declares of its elements.
struct DeclaredElements {
    declared: Elements,
    /// Whether type and count are what the table says.
    is_sound: bool,
    /// Whether the type is not.
    is_untyped: bool,
}

/// Faulty ones count as one float4, so that what refers to it is not reported too.
fn elements(table: &mut Fields<'_, '_, '_>, types: &Types<'_>) -> DeclaredElements {
    let of = types.read(table, "\"float4\"");
    table.require("count", "1024");
    let count = table.integer("count", 1, i64::MAX);
    let declared = Elements {
        of: of.clone().unwrap_or(Element::vector(Scalar::F32, 4).into()),
        count: count.map_or(1, i64::unsigned_abs),
        double: false,
    };
    let is_sound = of.is_some() && count.is_some();
    DeclaredElements { declared, is_sound, is_untyped: of.is_none() }
}

/// `file`, `value`, `random` or `each`.
fn initial(
    table: &mut Fields<'_, '_, '_>,
    name: &str,
    elements: &DeclaredElements,
    overrides: &Overrides,
) -> Option<Initial> {
    let Elements { of, count, .. } = &elements.declared;
    if let Type::Structure(structure) = of
        && table.has("value")
    {
        let name = &structure.name;
        let text = format!(
            "`value` is for numbers: what each `{name}` is at first say `file`, `random`, `each`, or a pass `on = \"reset\"`"
        );
        table.complain_about("value", text);
        table.know(&["value"]);
    }
    let wanted = elements.is_sound.then_some((of, Some(*count)));
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
        resample: table.boolean("resample").unwrap_or(false),
    }
}

fn size(table: &mut Fields<'_, '_, '_>) -> Option<([u32; 3], u8)> {
    let list = table.list("size")?;
    if !(1..=3).contains(&list.len()) {
        let found = list.len();
        let text = format!(
            "`size` must be [width], [width, height] or [width, height, depth], not {found} numbers"
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

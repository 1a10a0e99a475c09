//! `[view]` and `[[view]]`, and what is shown without them.

use super::{fields::Fields, suggestion};
use crate::scene::{
    COLORMAPS, Camera, ColorBy, Coloring, Element, Filter, Grid, Manifest, Resource, ResourceId,
    ResourceKind, Scalar, Texels, View, ViewKind,
};

const DEFAULT_SIZE_PX: f32 = 2.0;
/// Views that a scene can have: OpenGL holds what each shows.
const MOST_VIEWS: usize = 32;
/// The most values in a row, and rows: as of textures.
const LONGEST_SIDE: i64 = 65536;
const BLENDS: &[(&str, bool)] = &[("additive", true), ("opaque", false)];

#[derive(Clone, Copy)]
enum Kind {
    Points,
    Image,
    Surface,
    Volume,
}

const KINDS: &[(&str, Kind)] = &[
    ("points", Kind::Points),
    ("image", Kind::Image),
    ("surface", Kind::Surface),
    ("volume", Kind::Volume),
];

/// Reads it, or chooses: the first texture as an image, else the first float4 buffer as points.
pub(super) fn decode(fields: &mut Fields<'_, '_, '_>, manifest: &mut Manifest) {
    let tables = fields.table_or_tables("view");
    let count = tables.len();
    if count == 0 {
        manifest.views.extend(implied(manifest));
    }
    for (index, mut table) in tables.into_iter().enumerate() {
        if index == MOST_VIEWS {
            table.complain(&format!("is one too many: a scene can have {MOST_VIEWS} views"));
            break;
        }
        let name = name(&mut table, manifest, count);
        table.require("kind", "\"points\"");
        // Without its kind nothing is known about the other keys.
        let Some(kind) = table.named("kind", KINDS) else { continue };
        manifest.views.extend(view(&mut table, manifest, kind, name));
        table.finish();
    }
    share(manifest);
}

/// What commands call the view; one that is alone needs no name.
fn name(table: &mut Fields<'_, '_, '_>, manifest: &Manifest, count: usize) -> String {
    if count > 1 {
        table.require("name", "\"side\"");
    }
    let Some(name) = table.label("name") else { return View::DEFAULT_NAME.to_owned() };
    if manifest.views.iter().any(|view| view.name == name) {
        table.complain_about("name", format!("there is another view `{name}` already"));
    }
    name
}

/// An array or a texture that is drawn must be one that OpenGL sees.
fn share(manifest: &mut Manifest) {
    let Manifest { views, resources, .. } = manifest;
    for id in views.iter().flat_map(|view| view.kind.drawn()) {
        resources[id.0].shared = true;
    }
}

fn implied(manifest: &Manifest) -> Option<View> {
    let id = |index: Option<usize>| index.map(ResourceId);
    let textures = |r: &Resource| r.texture().is_some();
    let buffers = |r: &Resource| {
        matches!(r.kind, ResourceKind::Buffer(_))
            && r.element() == Some(Element::vector(Scalar::F32, 4))
    };
    let texture = id(manifest.resources.iter().position(textures)).map(|texture| {
        match manifest.resource(texture).texture().map(|t| t.dimensions) {
            Some(3) => ViewKind::Volume { texture, density: 1.0 },
            Some(_) | None => {
                let grid = Grid { of: texture, size: flat_size(manifest, texture) };
                ViewKind::Image { grid, filter: Filter::Nearest }
            }
        }
    });
    let points = || {
        id(manifest.resources.iter().position(buffers)).map(|position| ViewKind::Points {
            position,
            color: None,
            size_px: DEFAULT_SIZE_PX,
            additive: true,
        })
    };
    let kind = texture.or_else(points)?;
    let by = default_by(manifest, &kind);
    let coloring = Coloring { by, colormap: COLORMAPS[0].into(), range: None, unit: String::new() };
    let name = View::DEFAULT_NAME.to_owned();
    Some(View { name, kind, coloring, camera: Camera::default(), at: None })
}

fn view(
    table: &mut Fields<'_, '_, '_>,
    manifest: &Manifest,
    kind: Kind,
    name: String,
) -> Option<View> {
    let kind = match kind {
        Kind::Points => points(table, manifest),
        Kind::Image => {
            let grid = grid(table, manifest);
            let filter = table.named("filter", Filter::ALL).unwrap_or(Filter::Nearest);
            grid.map(|grid| ViewKind::Image { grid, filter })
        }
        Kind::Surface => {
            let grid = grid(table, manifest);
            let height = table.float("height").unwrap_or(1.0) as f32;
            grid.map(|grid| ViewKind::Surface { grid, height })
        }
        Kind::Volume => {
            let texture = volume(table, manifest);
            let density = table.positive("density").unwrap_or(1.0) as f32;
            texture.map(|texture| ViewKind::Volume { texture, density })
        }
    };
    let by = table.named("color_by", ColorBy::ALL);
    let coloring = Coloring {
        by: by.or_else(|| kind.map(|kind| default_by(manifest, &kind))).unwrap_or(ColorBy::X),
        colormap: colormap(table),
        range: range(table),
        unit: table.text("unit").unwrap_or_default(),
    };
    let camera = table.table("camera").map(camera).unwrap_or_default();
    Some(View { name, kind: kind?, coloring, camera, at: Some(table.at()) })
}

/// Four bytes are a colour, and three or four channels of an image; anything else goes through the colour map: a scalar
/// with its sign, a vector by its length.
fn default_by(manifest: &Manifest, kind: &ViewKind) -> ColorBy {
    let (id, image) = match *kind {
        ViewKind::Points { position, color, .. } => (color.unwrap_or(position), false),
        ViewKind::Image { grid, .. } => (grid.of, true),
        ViewKind::Surface { .. } | ViewKind::Volume { .. } => return ColorBy::X,
    };
    let element = manifest.resource(id).element();
    match element.map(|element| (element.lanes, element.scalar)) {
        Some((3 | 4, _)) if image => ColorBy::Rgba,
        Some((4, Scalar::U8)) => ColorBy::Rgba,
        Some((1, _)) => ColorBy::X,
        Some(_) | None => ColorBy::Magnitude,
    }
}

fn points(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<ViewKind> {
    table.require("position", "\"position\"");
    let position = elements(table, manifest, "position");
    if let Some(id) = position {
        let of = manifest.resource(id).of();
        let fits = |element: Element| element.scalar == Scalar::F32 && element.lanes > 1;
        if !of.element().is_some_and(fits) {
            let text = format!("positions must be float2, float3 or float4, not {of}");
            table.complain_about("position", text);
        }
    }
    let color = elements(table, manifest, "color");
    if let (Some(color), Some(position)) = (color, position) {
        color_fits(table, manifest, color, position);
    }
    let size = table.positive("size").map_or(DEFAULT_SIZE_PX, |size| size as f32);
    let additive = table.named("blend", BLENDS).unwrap_or(true);
    Some(ViewKind::Points { position: position?, color, size_px: size, additive })
}

fn color_fits(
    table: &Fields<'_, '_, '_>,
    manifest: &Manifest,
    color: ResourceId,
    position: ResourceId,
) {
    let (color, position) = (manifest.resource(color), manifest.resource(position));
    expect_drawable(table, "color", color);
    if color.count() < position.count() {
        let (has, needs) = (color.count(), position.count());
        let text = format!("`{}` has {has} elements for {needs} points", color.name);
        table.complain_about("color", text);
    }
}

/// Complains about elements of which OpenGL knows nothing.
fn expect_drawable(table: &Fields<'_, '_, '_>, key: &str, resource: &Resource) {
    use Scalar::{F16, F32, I32, U8, U32};
    let is_known = |element: Element| matches!(element.scalar, F32 | F16 | U8 | I32 | U32);
    if !resource.element().is_some_and(is_known) {
        let text = "must be of float, half, int, unsigned or unsigned char components";
        table.complain_about(key, format!("what is drawn {text}, not {}", resource.of()));
    }
}

/// The buffer or array that `key` names.
fn elements(
    table: &mut Fields<'_, '_, '_>,
    manifest: &Manifest,
    key: &'static str,
) -> Option<ResourceId> {
    let name = table.text(key)?;
    let buffers = manifest.resources.iter().filter(|r| r.texture().is_none());
    let found = manifest.find_resource(&name);
    let found = found.filter(|id| manifest.resource(*id).texture().is_none());
    if found.is_none() {
        let hint = suggestion(&name, buffers.map(|r| r.name.as_str()));
        table.complain_about(key, format!("there is no buffer or array `{name}`{hint}"));
    }
    if let Some(id) = found {
        expect_single(table, key, manifest.resource(id));
    }
    found
}

/// Complains about an array of two halves: OpenGL sees neither.
fn expect_single(table: &Fields<'_, '_, '_>, key: &str, resource: &Resource) {
    if resource.double() {
        let text = "is double, which OpenGL does not see: draw a buffer that a pass fills from it";
        table.complain_about(key, format!("`{}` {text}", resource.name));
    }
}

/// The grid that `texture` and `size` name.
fn grid(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<Grid> {
    table.require("texture", "\"dye\"");
    let name = table.text("texture")?;
    let Some(of) = manifest.find_resource(&name) else {
        let hint = suggestion(&name, manifest.resources.iter().map(|r| r.name.as_str()));
        table.complain_about(
            "texture",
            format!("there is no texture, buffer or array `{name}`{hint}"),
        );
        table.know(&["size"]);
        return None;
    };
    let resource = manifest.resource(of);
    if let Some(texture) = resource.texture() {
        if table.take("size").is_some() {
            let text = format!(
                "the texture `{name}` has a size of its own: `size` is for buffers and arrays"
            );
            table.complain_about("size", text);
        }
        expect_dimensions(table, &name, texture, 2)?;
        return Some(Grid { of, size: flat_size(manifest, of) });
    }
    expect_drawable(table, "texture", resource);
    expect_single(table, "texture", resource);
    if !table.has("size") {
        let text = format!(
            "`{name}` is no texture: how its elements lie in rows says `size = [width, height]`"
        );
        table.complain_about("texture", text);
    }
    let size = table.sides("size", LONGEST_SIDE)?;
    let needed = size.map(u64::from).iter().product::<u64>();
    if needed > resource.count() {
        let [width, height] = size;
        let text = format!(
            "{width} x {height} are {needed} elements, and `{name}` has {}",
            resource.count()
        );
        table.complain_about("size", text);
    }
    Some(Grid { of, size })
}

fn flat_size(manifest: &Manifest, texture: ResourceId) -> [u32; 2] {
    let [width, height, _] = manifest.resource(texture).texture().map_or([1; 3], |t| t.size);
    [width, height]
}

/// The texture of three dimensions that `texture` names.
fn volume(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<ResourceId> {
    table.require("texture", "\"smoke\"");
    let name = table.text("texture")?;
    let found = manifest.find_resource(&name);
    let Some(texture) = found.and_then(|id| manifest.resource(id).texture()) else {
        let textures = manifest.resources.iter().filter(|r| r.texture().is_some());
        let hint = suggestion(&name, textures.map(|r| r.name.as_str()));
        table.complain_about("texture", format!("there is no texture `{name}`{hint}"));
        return None;
    };
    expect_dimensions(table, &name, texture, 3)?;
    found
}

/// `None`, and a complaint, where the texture has another number of dimensions.
fn expect_dimensions(
    table: &Fields<'_, '_, '_>,
    name: &str,
    texture: &Texels,
    dimensions: u8,
) -> Option<()> {
    let has = texture.dimensions;
    if has != dimensions {
        let text = format!("this view needs a {dimensions}-D texture, but `{name}` is {has}-D");
        table.complain_about("texture", text);
    }
    (has == dimensions).then_some(())
}

fn colormap(table: &mut Fields<'_, '_, '_>) -> String {
    let all: Vec<(&str, &str)> = COLORMAPS.iter().map(|name| (*name, *name)).collect();
    table.named("colormap", &all).unwrap_or(COLORMAPS[0]).to_owned()
}

fn range(table: &mut Fields<'_, '_, '_>) -> Option<[f32; 2]> {
    let range = table.floats("range", &[2])?;
    if range[0] >= range[1] {
        let text = format!("`range` starts at {}, not below its end {}", range[0], range[1]);
        table.complain_about("range", text);
    }
    Some([range[0] as f32, range[1] as f32])
}

fn camera(mut table: Fields<'_, '_, '_>) -> Camera {
    let target = table.floats("target", &[3]);
    let mut angle = |key| table.float(key).map(|degrees| degrees as f32);
    let (yaw_deg, pitch_deg) = (angle("yaw"), angle("pitch"));
    let camera = Camera {
        target: target.map(|t| [t[0] as f32, t[1] as f32, t[2] as f32]),
        distance: table.positive("distance").map(|distance| distance as f32),
        yaw_deg,
        pitch_deg,
        fov_deg: table.positive("fov").map(|degrees| degrees as f32),
    };
    table.finish();
    camera
}

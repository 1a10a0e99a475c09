//! `[view]`, and what is shown without it.

use super::{fields::Fields, suggestion};
use crate::scene::{
    COLORMAPS, Camera, ColorBy, Coloring, Element, Filter, Manifest, ResourceId, ResourceKind,
    Scalar, View, ViewKind,
};

const DEFAULT_SIZE_PX: f32 = 2.0;
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
    manifest.view = match fields.table("view") {
        None => implied(manifest),
        Some(mut table) => {
            table.require("kind", "\"points\"");
            let kind = table.named("kind", KINDS);
            let view = kind.and_then(|kind| view(&mut table, manifest, kind));
            match kind {
                // Without its kind nothing is known about the other keys.
                None => {}
                Some(_) => table.finish(),
            }
            view
        }
    };
    share(manifest);
}

/// An array or a texture that is drawn must be one that OpenGL sees.
fn share(manifest: &mut Manifest) {
    let Some(view) = &manifest.view else { return };
    let drawn = match view.kind {
        ViewKind::Points { position, color, .. } => [Some(position), color],
        ViewKind::Image { texture, .. }
        | ViewKind::Surface { texture, .. }
        | ViewKind::Volume { texture, .. } => [Some(texture), None],
    };
    for id in drawn.into_iter().flatten() {
        manifest.resources[id.0].shared = true;
    }
}

fn implied(manifest: &Manifest) -> Option<View> {
    let id = |index: Option<usize>| index.map(ResourceId);
    let textures = |r: &crate::scene::Resource| r.texture().is_some();
    let buffers = |r: &crate::scene::Resource| {
        matches!(r.kind, ResourceKind::Buffer(_))
            && r.element() == Some(Element::vector(Scalar::F32, 4))
    };
    let texture = id(manifest.resources.iter().position(textures)).map(|texture| {
        match manifest.resource(texture).texture().map(|t| t.dimensions) {
            Some(3) => ViewKind::Volume { texture, density: 1.0 },
            _ => ViewKind::Image { texture, filter: Filter::Nearest },
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
    Some(View { kind, coloring, camera: Camera::default(), at: None })
}

fn view(table: &mut Fields<'_, '_, '_>, manifest: &Manifest, kind: Kind) -> Option<View> {
    let kind = match kind {
        Kind::Points => points(table, manifest),
        Kind::Image => {
            let texture = texture(table, manifest, 2);
            let filter = table.named("filter", Filter::ALL).unwrap_or(Filter::Nearest);
            texture.map(|texture| ViewKind::Image { texture, filter })
        }
        Kind::Surface => {
            let texture = texture(table, manifest, 2);
            let height = table.float("height").unwrap_or(1.0) as f32;
            texture.map(|texture| ViewKind::Surface { texture, height })
        }
        Kind::Volume => {
            let texture = texture(table, manifest, 3);
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
    Some(View { kind: kind?, coloring, camera, at: Some(table.at()) })
}

/// 8-bit colours and four-channel textures are colours; anything else goes through the colour map: a scalar with its
/// sign, a vector by its length.
fn default_by(manifest: &Manifest, kind: &ViewKind) -> ColorBy {
    let (id, texture) = match *kind {
        ViewKind::Points { position, color, .. } => (color.unwrap_or(position), false),
        ViewKind::Image { texture, .. } => (texture, true),
        ViewKind::Surface { .. } | ViewKind::Volume { .. } => return ColorBy::X,
    };
    let element = manifest.resource(id).element();
    match element.map(|element| (element.lanes, element.scalar)) {
        Some((4, scalar)) if texture || scalar == Scalar::U8 => ColorBy::Rgba,
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
    let fits = |element: Element| {
        matches!(element.scalar, Scalar::F32 | Scalar::U8 | Scalar::I32 | Scalar::U32)
    };
    if !color.element().is_some_and(fits) {
        let text = "colors must be of float, int, unsigned or unsigned char components";
        table.complain_about("color", format!("{text}, not {}", color.of()));
    }
    if color.count() < position.count() {
        let (has, needs) = (color.count(), position.count());
        let text = format!("`{}` has {has} elements for {needs} points", color.name);
        table.complain_about("color", text);
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
    if found.is_some_and(|id| manifest.resource(id).double()) {
        let text = format!(
            "`{name}` is double, which OpenGL does not see: draw a buffer that a pass fills from it"
        );
        table.complain_about(key, text);
    }
    found
}

/// The texture that `texture` names, of two or three dimensions.
fn texture(
    table: &mut Fields<'_, '_, '_>,
    manifest: &Manifest,
    dimensions: u8,
) -> Option<ResourceId> {
    table.require("texture", "\"dye\"");
    let name = table.text("texture")?;
    let found = manifest.find_resource(&name);
    match found.and_then(|id| manifest.resource(id).texture()) {
        Some(texture) if texture.dimensions == dimensions => found,
        Some(texture) => {
            let has = texture.dimensions;
            let text = format!("this view needs a {dimensions}-D texture, but `{name}` is {has}-D");
            table.complain_about("texture", text);
            None
        }
        None => {
            let textures = manifest.resources.iter().filter(|r| r.texture().is_some());
            let hint = suggestion(&name, textures.map(|r| r.name.as_str()));
            table.complain_about("texture", format!("there is no texture `{name}`{hint}"));
            None
        }
    }
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

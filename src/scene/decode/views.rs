//! `[view]` and `[[view]]`, and what is shown without them.

use toml::de::DeValue;

use super::{
    fields::{Fields, describe},
    selection, suggestion,
};
use crate::scene::{
    COLORMAPS, Camera, ColorBy, Coloring, Coordinates, Element, Filter, Grid, Manifest, Projection,
    Resource, ResourceId, ResourceKind, Scalar, Selection, Texels, View, ViewKind,
};

const DEFAULT_SIZE_PX: f32 = 2.0;
/// Views that a scene can have: OpenGL holds what each shows.
const MOST_VIEWS: usize = 32;
/// The most values in a row, and rows: as of textures.
const LONGEST_SIDE: i64 = 65536;
/// Bytes from one point to the next that OpenGL takes with every driver (OpenGL 4.4, table 23.55).
const FARTHEST: usize = 2048;
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
    let textures = |r: &Resource| r.texture().is_some_and(|texture| texture.dimensions > 1);
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
            position: Coordinates::Vector(Selection::all(position)),
            color: None,
            size_px: DEFAULT_SIZE_PX,
            additive: true,
        })
    };
    let kind = texture.or_else(points)?;
    let by = default_by(manifest, &kind);
    let coloring = Coloring {
        by,
        colormap: COLORMAPS[0].into(),
        range: None,
        reversed: false,
        logarithmic: false,
        unit: String::new(),
    };
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
        reversed: table.boolean("reverse").unwrap_or(false),
        logarithmic: table.boolean("log").unwrap_or(false),
        unit: table.text("unit").unwrap_or_default(),
    };
    if coloring.logarithmic && coloring.range.is_some_and(|[low, _]| low <= 0.0) {
        let text = "with `log` the range begins above 0".to_owned();
        table.complain_about("range", text);
    }
    let camera = table.table("camera").map(camera).unwrap_or_default();
    Some(View { name, kind: kind?, coloring, camera, at: Some(table.at()) })
}

/// Four bytes are a colour, and three or four channels of an image; anything else goes through the colour map: a scalar
/// with its sign, a vector by its length.
fn default_by(manifest: &Manifest, kind: &ViewKind) -> ColorBy {
    let (element, image) = match *kind {
        ViewKind::Points { color, .. } => (color.and_then(|color| color.vector(manifest)), false),
        ViewKind::Image { grid, .. } => (Selection::all(grid.of).vector(manifest), true),
        ViewKind::Surface { .. } | ViewKind::Volume { .. } => return ColorBy::X,
    };
    match element.map(|(element, _)| (element.lanes, element.scalar)) {
        Some((3 | 4, _)) if image => ColorBy::Rgba,
        Some((4, Scalar::U8)) => ColorBy::Rgba,
        Some((1, _)) => ColorBy::X,
        Some(_) | None => ColorBy::Magnitude,
    }
}

fn points(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<ViewKind> {
    table.require("position", "\"position\"");
    let position = coordinates(table, manifest);
    let color = table.text("color").map(|text| drawn(&text, manifest));
    let color = color.transpose().map_err(|problem| table.complain_about("color", problem)).ok();
    let size = table.positive("size").map_or(DEFAULT_SIZE_PX, |size| size as f32);
    let additive = table.named("blend", BLENDS).unwrap_or(true);
    let (position, color) = (position?, color?);
    // What the compiler says of a structure's fields is not known yet.
    let is_known = |resource: &Resource| resource.element().is_some();
    if let Some((key, problem)) = problem_of_points(position, color, manifest, is_known) {
        table.complain_about(key, problem);
    }
    Some(ViewKind::Points { position, color, size_px: size, additive })
}

/// `position`: a vector, or a list of two or three numbers.
fn coordinates(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<Coordinates> {
    let value = table.take("position")?;
    let selection = |value: &DeValue<'_>| {
        let text = value.as_str().ok_or_else(|| {
            let found = describe(value);
            format!("`position` must be a name such as \"position\", or names such as [\"x\", \"y\"], not {found}")
        })?;
        drawn(text, manifest)
    };
    let found = match value.get_ref() {
        DeValue::Array(axes) if matches!(axes.len(), 2 | 3) => {
            let axes: Result<Vec<_>, _> =
                axes.iter().map(|axis| selection(axis.get_ref())).collect();
            axes.map(|axes| Coordinates::Axes([0, 1, 2].map(|axis| axes.get(axis).copied())))
        }
        DeValue::Array(axes) => Err(format!(
            "`position` has {} names, and points have two or three coordinates",
            axes.len()
        )),
        value => selection(value).map(Coordinates::Vector),
    };
    found.map_err(|problem| table.complain_about("position", problem)).ok()
}

/// The numbers of a buffer or an array that are called so.
fn drawn(text: &str, manifest: &Manifest) -> Result<Selection, String> {
    selection::find(text, "buffer or array", manifest, |r| r.texture().is_none())
}

/// What keeps points from being drawn: the key that it is about, and what is wrong. Of structures of which `is_known`
/// does not hold yet how they lie in memory, nothing is said.
fn problem_of_points(
    position: Coordinates,
    color: Option<Selection>,
    manifest: &Manifest,
    is_known: impl Fn(&Resource) -> bool,
) -> Option<(&'static str, String)> {
    let is_laid_out = |selection: &Selection| is_known(manifest.resource(selection.of));
    let position_problem = |selection: Selection| {
        let found = selection.vector(manifest).map(|(element, _)| element);
        let is_vector = matches!(position, Coordinates::Vector(_));
        let is_real = |scalar| matches!(scalar, Scalar::F32 | Scalar::F64);
        let fits = |e: Element| is_real(e.scalar) && (e.lanes > 1) == is_vector;
        if found.is_some_and(fits) {
            return None;
        }
        let needed = match is_vector {
            true => "vectors of float or double",
            false => "each a float or double",
        };
        Some(format!("positions must be {needed}, not {}", described(selection, manifest)))
    };
    if let Some(text) = position.selections().filter(is_laid_out).find_map(position_problem) {
        return Some(("position", text));
    }
    if let Some(color) = color.filter(is_laid_out) {
        let found = color.vector(manifest).map(|(element, _)| element);
        let is_known = |e: Element| e.scalar == Scalar::F64 || is_drawable(e);
        if !found.is_some_and(is_known) {
            return Some(("color", undrawable("float, double", &described(color, manifest))));
        }
    }
    if let Some(color) = color {
        let color = manifest.resource(color.of);
        let (has, needs) = (color.count(), position.count(manifest));
        if has < needs {
            return Some((
                "color",
                format!("`{}` has {has} elements for {needs} points", color.name),
            ));
        }
    }
    let large = |selection: &Selection| manifest.resource(selection.of).of().bytes() > FARTHEST;
    position.selections().chain(color).filter(is_laid_out).find(large).map(|selection| {
        let resource = manifest.resource(selection.of);
        let text = format!(
            "`{}` has elements of {} bytes, and OpenGL draws points that are at most {FARTHEST} bytes apart",
            resource.name,
            resource.of().bytes()
        );
        ("position", text)
    })
}

/// What it is, as a sentence says it.
fn described(selection: Selection, manifest: &Manifest) -> String {
    match selection.vector(manifest) {
        Some((element, _)) => element.to_string(),
        None => format!("the array `{}`", selection.name(manifest)),
    }
}

/// What keeps the views of `manifest` from being drawn, now that the structures of its resources are laid out.
#[cfg(feature = "gl")]
pub(crate) fn problems(
    manifest: &Manifest,
) -> impl Iterator<Item = (crate::cuda::Position, String)> {
    manifest.views.iter().filter_map(|view| match view.kind {
        ViewKind::Points { position, color, .. } => {
            let (_, text) = problem_of_points(position, color, manifest, |_| true)?;
            Some((view.at.unwrap_or_default(), text))
        }
        ViewKind::Image { .. } | ViewKind::Surface { .. } | ViewKind::Volume { .. } => None,
    })
}

/// Whether OpenGL knows what its components are, in textures, too: doubles it takes for points alone.
fn is_drawable(element: Element) -> bool {
    use Scalar::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    match element.scalar {
        F32 | F16 | U8 | I32 | U32 => true,
        Bool | BF16 | F64 | I8 | I16 | I64 | U16 | U64 => false,
    }
}

fn undrawable(reals: &str, what: &str) -> String {
    format!(
        "what is drawn must be of {reals}, half, int, unsigned or unsigned char components, not {what}"
    )
}

/// Complains about elements of which OpenGL knows nothing.
fn expect_drawable(table: &Fields<'_, '_, '_>, key: &str, resource: &Resource) {
    if !resource.element().is_some_and(is_drawable) {
        table.complain_about(key, undrawable("float", &resource.of().to_string()));
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
    Some(Grid { of, size: size_of_rows(table, "texture", resource)? })
}

/// How the elements of a buffer or array, which `key` names, lie in rows: `size`.
pub(super) fn size_of_rows(
    table: &mut Fields<'_, '_, '_>,
    key: &'static str,
    resource: &Resource,
) -> Option<[u32; 2]> {
    let name = &resource.name;
    if !table.has("size") {
        let text = format!(
            "`{name}` is no texture: how its elements lie in rows says `size = [width, height]`"
        );
        table.complain_about(key, text);
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
    Some(size)
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

/// Two corners of a box, of which the second has the larger coordinates.
fn box_to_fit(table: &mut Fields<'_, '_, '_>) -> Option<[[f32; 3]; 2]> {
    let ends = table.floats("fit", &[6])?;
    let [low, high] = [0, 3].map(|end| [0, 1, 2].map(|axis| ends[end + axis] as f32));
    if (0..3).any(|axis| low[axis] > high[axis]) || low == high {
        let text = "`fit` is a box: its smallest x, y and z, then its largest".to_owned();
        table.complain_about("fit", text);
        return None;
    }
    Some([low, high])
}

fn camera(mut table: Fields<'_, '_, '_>) -> Camera {
    let target = table.floats("target", &[3]);
    let mut angle = |key| table.float(key).map(|degrees| degrees as f32);
    let (yaw_deg, pitch_deg) = (angle("yaw"), angle("pitch"));
    let fit = box_to_fit(&mut table);
    let camera = Camera {
        fit,
        target: target.map(|t| [t[0] as f32, t[1] as f32, t[2] as f32]),
        distance: table.positive("distance").map(|distance| distance as f32),
        yaw_deg,
        pitch_deg,
        fov_deg: table.positive("fov").map(|degrees| degrees as f32),
        projection: table.named("projection", Projection::ALL),
    };
    table.finish();
    camera
}

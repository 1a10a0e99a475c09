//! What a scene shows, as what `draw` draws.

use glam::Vec3;

use super::{
    Error, Reset, Session, ViewState,
    grid_texture::{GridTexture, component},
};
use crate::{
    array::Statistics,
    draw::{
        Blend, Bounds, Camera, Cloud, Coloring, Colormap, Content, Frame, Guides, Image, Legend,
        Paint, Projection, Recoloring, Surface, Values, Volume,
    },
    element::Scalar,
    gl,
    scene::{
        self, Builtin, ColorBy, Components, Coordinates, Grid, Manifest, Selection, Source, View,
        ViewId, ViewKind,
    },
};

impl Session {
    /// What the scene shows, where a program runs: its views, of which a [`ViewId`] is an index.
    pub fn views(&self) -> &[View] {
        self.program.as_ref().map_or(&[], |program| &program.scene.manifest.views)
    }

    /// The view that is called `name`, or the first one.
    ///
    /// # Errors
    /// A sentence, where there is none.
    pub fn find_view(&self, name: Option<&str>) -> Result<ViewId, String> {
        match &self.program {
            Some(program) => program.scene.manifest.find_view(name),
            None => Err("no program runs".to_owned()),
        }
    }

    fn view(&self, id: ViewId) -> Option<&View> {
        self.views().get(id.0)
    }

    /// The last finished step in one of the views, seen by `camera`; the background alone where there is nothing to
    /// draw.
    pub fn frame<'a>(&'a self, view: ViewId, camera: &'a Camera) -> Frame<'a> {
        let content = self.content(view);
        Frame::new(camera, content.unwrap_or(Content::Nothing))
    }

    /// Whether it is known where the camera of a view starts: not until what it fits was measured.
    pub fn is_start_known(&self, view: ViewId) -> bool {
        self.view(view).is_some_and(|view| self.is_fitted(view))
    }

    /// Whether the start camera fits what was measured, where it has to fit such.
    fn is_fitted(&self, view: &View) -> bool {
        to_measure(view).is_none() || self.measured(view).is_some()
    }

    /// Where the scene wants the camera of a view to start: without a wish, so that all that is drawn is in a picture
    /// of this `aspect`, width / height.
    pub fn start_camera(&self, view: ViewId, aspect: f32) -> Camera {
        let Some(view) = self.view(view) else { return Camera::default() };
        let (start, usual) = (view.camera, usual_camera(view));
        let camera = Camera {
            target: start.target.map_or(usual.target, Into::into),
            distance: start.distance.unwrap_or(usual.distance),
            yaw: start.yaw_deg.map_or(usual.yaw, f32::to_radians),
            pitch: start.pitch_deg.map_or(usual.pitch, f32::to_radians),
            fov: start.fov_deg.map_or(usual.fov, f32::to_radians),
            projection: start.projection.map_or(usual.projection, projection),
        };
        let bounds = to_fit(view).or_else(|| self.bounds(view, self.measured(view)));
        let bounds = bounds.filter(|_| !is_placed(view));
        bounds.map_or(camera, |bounds| camera.fitted(bounds, aspect))
    }

    /// `camera`, moved so that all that a view draws now is in a picture of this `aspect`; `None` where that is nothing
    /// that has depth.
    pub fn fitted_camera(&self, view: ViewId, camera: Camera, aspect: f32) -> Option<Camera> {
        let view = self.view(view)?;
        Some(camera.fitted(self.present_bounds(view)?, aspect))
    }

    /// What shows where the things are that a view draws: rulers along an image, a grid round all else, as it is now.
    /// `None` where nothing is known of it.
    pub fn guides(&self, view: ViewId) -> Option<Guides> {
        let view = self.view(view)?;
        match view.kind {
            ViewKind::Image { grid, .. } => Some(Guides::Rulers(grid.size)),
            ViewKind::Points { .. } | ViewKind::Surface { .. } | ViewKind::Volume { .. } => {
                self.present_bounds(view).map(Guides::Grid)
            }
        }
    }

    /// The box of all that a view draws now.
    fn present_bounds(&self, view: &View) -> Option<Bounds> {
        let now = measurable(view).and_then(|what| extent(self.axes(what)));
        self.bounds(view, now)
    }

    /// The box of what a view draws, of whose values `measured` is the extent.
    fn bounds(&self, view: &View, measured: Option<Bounds>) -> Option<Bounds> {
        let manifest = self.manifest()?;
        let of_texels = |half: Vec3| Bounds { low: -half, high: half };
        match view.kind {
            ViewKind::Points { .. } => measured,
            ViewKind::Surface { grid: Grid { of, size: [width, depth] }, height } => {
                let longer = width.max(depth) as f32;
                let [low, high] = match declared_heights(view) {
                    Some(declared) => declared,
                    // What is measured first is the first axis.
                    None => measured.map_or([0.0; 2], |of_values| {
                        [of_values.low.x, of_values.high.x].map(|value| value * self.unit_of(of))
                    }),
                };
                let ends = [low * height, high * height];
                let flat = of_texels(Vec3::new(width as f32, 0.0, depth as f32) / longer);
                Some(Bounds {
                    low: flat.low.with_y(ends[0].min(ends[1])),
                    high: flat.high.with_y(ends[0].max(ends[1])),
                })
            }
            ViewKind::Volume { texture, .. } => {
                let texels = Vec3::from(manifest.resource(texture).extent().map(|n| n as f32));
                Some(of_texels(texels / texels.max_element()))
            }
            ViewKind::Image { .. } => None,
        }
    }

    /// The extent of what the start camera of a view fits, as it was measured first.
    fn measured(&self, view: &View) -> Option<Bounds> {
        let values = to_measure(view)?;
        self.extents.get(&values.names(self.manifest()?)).copied()
    }

    /// Fits the start cameras to what they show when that is measured first; after that they stay where they are.
    pub(super) fn fit_cameras(&mut self) {
        let unseen = self.views().iter().filter(|view| self.measured(view).is_none());
        let found = unseen.filter_map(to_measure).filter_map(|values| {
            let extent = extent(self.axes(values))?;
            Some((values.names(self.manifest()?), extent))
        });
        let found: Vec<_> = found.collect();
        self.extents.extend(found);
    }

    /// Forgets what start cameras fit: the points in these resources, or all of them, are set anew.
    pub(super) fn forget_extents(&mut self, reset: &Reset) {
        match reset {
            Reset::None => {}
            Reset::Fresh(fresh) => {
                let is_fresh = |name: &String| fresh.iter().any(|fresh| fresh == resource_of(name));
                self.extents.retain(|names, _| !names.iter().any(is_fresh));
            }
            Reset::All => self.extents.clear(),
        }
    }

    /// Forgets what start cameras fit where `manifest` has no such resources.
    pub(super) fn keep_extents_of(&mut self, manifest: &Manifest) {
        let is_there = |name: &String| manifest.find_resource(resource_of(name)).is_some();
        self.extents.retain(|names, _| names.iter().all(is_there));
    }

    pub(super) fn manifest(&self) -> Option<&Manifest> {
        self.program.as_ref().map(|program| &program.scene.manifest)
    }

    /// The texture that a view shows as a flat image, where it does.
    pub fn image(&self, view: ViewId) -> Option<&gl::Texture> {
        match self.view(view)?.kind {
            ViewKind::Image { grid, .. } => self.texture_of(view, grid),
            ViewKind::Points { .. } | ViewKind::Surface { .. } | ViewKind::Volume { .. } => None,
        }
    }

    /// The components of what an image has in this column and row, as they are stored: bytes from 0 to 255. Waits for
    /// OpenGL.
    ///
    /// # Errors
    /// OpenGL's.
    pub fn texel(&self, view: ViewId, [x, y]: [u32; 2]) -> Result<Option<Vec<f64>>, Error> {
        let Some(texture) = self.image(view) else { return Ok(None) };
        let grid_texture = self
            .grid_texture(view)
            .and_then(|grid_texture| Some((grid_texture, self.drawn(grid_texture.of())?.0)));
        Ok(Some(match grid_texture {
            Some((grid_texture, buffer)) => grid_texture.element(buffer, [x, y])?,
            None => texture.read_texel([x, y, 0])?.into_iter().map(f64::from).collect(),
        }))
    }

    pub(super) fn view_states(&self) -> Vec<ViewState> {
        let passes = self.program.iter().flat_map(|program| &program.passes);
        let mut sources =
            passes.flat_map(|pass| &pass.plan.arguments).map(|argument| &argument.source);
        let takes_mouse = sources.any(|source| *source == Source::Builtin(Builtin::Mouse));
        let state = |view: &View| ViewState {
            name: view.name.clone(),
            kind: view.kind.name(),
            takes_mouse,
            legend: self.legend_of(view),
        };
        self.views().iter().map(state).collect()
    }

    /// What the colours of a view stand for; `None` where they are nothing but colours.
    pub fn legend(&self, view: ViewId) -> Option<Legend> {
        self.legend_of(self.view(view)?)
    }

    fn legend_of(&self, view: &View) -> Option<Legend> {
        let of = colored(view)?;
        let Coloring { paint, colormap, range, reversed, logarithmic, .. } =
            self.coloring(&view.coloring, Some(of));
        let manifest = self.manifest()?;
        let name = of.name(manifest);
        let title = match (paint, of.vector(manifest).map(|(element, _)| element.lanes)) {
            (Paint::Rgba, _) => return None,
            (_, Some(1)) => name,
            (Paint::Magnitude, _) => format!("|{name}|"),
            (Paint::Component(_), _) => format!("{name}.{}", view.coloring.by.name()),
        };
        let unit = view.coloring.unit.clone();
        Some(Legend { title, unit, range, colormap, reversed, logarithmic })
    }

    /// The values that a view colours.
    pub(super) fn colored(&self, view: ViewId) -> Option<Selection> {
        colored(self.view(view)?)
    }

    /// Whether the manifest says all that is chosen of a view's colours.
    pub fn declares(&self, view: ViewId, chosen: &Recoloring) -> bool {
        let Some(View { coloring, .. }) = self.view(view) else { return false };
        let Recoloring { colormap, reversed, logarithmic, range } = *chosen;
        colormap.is_none_or(|of| of.name() == coloring.colormap)
            && reversed.is_none_or(|of| of == coloring.reversed)
            && logarithmic.is_none_or(|of| of == coloring.logarithmic)
            && range.is_none_or(|of| Some(of) == coloring.range)
    }

    /// Whether the picture of a view depends on statistics, because the manifest gives no range for the colours, or no
    /// camera and the points have not been measured yet.
    pub fn needs_statistics_to_draw(&self, view: ViewId) -> bool {
        self.view(view).is_some_and(|view| self.depends_on_statistics(view))
    }

    pub(super) fn depends_on_statistics(&self, view: &View) -> bool {
        let colors = view.coloring.range.is_none() && view.coloring.by != ColorBy::Rgba;
        colors || !self.is_fitted(view)
    }

    pub(super) fn content(&self, id: ViewId) -> Option<Content<'_>> {
        let view = self.view(id)?;
        match view.kind {
            ViewKind::Points { position, color, size_px, additive } => {
                let position_values = match position {
                    Coordinates::Vector(vector) => self.values(vector)?.axes(),
                    Coordinates::Axes(axes) => axes.map(|axis| self.values(axis?)),
                };
                Some(Content::Points(Cloud {
                    position: position_values,
                    color: color.and_then(|color| self.values(color)),
                    coloring: self.coloring(&view.coloring, color),
                    count: position.count(self.manifest()?) as usize,
                    size_px,
                    scale: to_fit(view)
                        .or_else(|| self.measured(view))
                        .map_or(1.0, |bounds| bounds.half()),
                    perspective: true,
                    blend: if additive { Blend::Additive } else { Blend::Opaque },
                }))
            }
            ViewKind::Image { grid, filter } => Some(Content::Image(Image {
                texture: self.texture_of(id, grid)?,
                coloring: self.coloring_of(id, view, grid),
                filter: match filter {
                    scene::Filter::Nearest => gl::Filter::Nearest,
                    scene::Filter::Linear => gl::Filter::Linear,
                },
            })),
            ViewKind::Surface { grid, height } => Some(Content::Surface(Surface {
                texture: self.texture_of(id, grid)?,
                coloring: self.coloring_of(id, view, grid),
                height: height * self.grid_texture(id).map_or(1.0, GridTexture::scale),
            })),
            ViewKind::Volume { texture, density } => Some(Content::Volume(Volume {
                texture: self.texture(texture)?,
                coloring: self.coloring(&view.coloring, Some(Selection::all(texture))),
                density,
            })),
        }
    }

    fn grid_texture(&self, id: ViewId) -> Option<&GridTexture> {
        self.grids.get(id.0)?.as_ref()
    }

    /// The texture that a view draws as a grid: the scene's own, or the one of elements.
    fn texture_of(&self, id: ViewId, grid: Grid) -> Option<&gl::Texture> {
        self.grid_texture(id).map(GridTexture::texture).or_else(|| self.texture(grid.of))
    }

    /// How a view colours that texture.
    fn coloring_of(&self, id: ViewId, view: &View, grid: Grid) -> Coloring {
        let scale = self.grid_texture(id).map_or(1.0, GridTexture::scale);
        Coloring { scale, ..self.coloring(&view.coloring, Some(Selection::all(grid.of))) }
    }

    /// What OpenGL is to read.
    fn values(&self, of: Selection) -> Option<Values<'_>> {
        let manifest = self.manifest()?;
        let (element, offset) = of.vector(manifest)?;
        let kind = component(element.scalar)?;
        let (buffer, _) = self.drawn(of.of)?;
        let stride = manifest.resource(of.of).of().bytes() as u32;
        Some(Values { buffer, components: element.lanes, kind, stride, offset: offset as u32 })
    }

    /// How a view colours these values.
    fn coloring(&self, declared: &scene::Coloring, of: Option<Selection>) -> Coloring {
        let paint = paint(declared.by);
        let declares =
            Recoloring { logarithmic: Some(declared.logarithmic), ..Recoloring::default() };
        declares.of_coloring(Coloring {
            paint,
            colormap: Colormap::parse(&declared.colormap).unwrap_or_default(),
            range: declared.range.unwrap_or_else(|| self.range(of, paint)),
            reversed: declared.reversed,
            ..Coloring::default()
        })
    }

    /// The range of the data, from the latest statistics.
    fn range(&self, color: Option<Selection>, paint: Paint) -> [f32; 2] {
        let statistics = color.map_or_else(Vec::new, |color| self.statistics_of(color));
        let statistics = statistics.as_slice();
        let range = match paint {
            Paint::Magnitude if statistics.len() == 1 => range_of(&statistics[0]),
            Paint::Magnitude => [0.0, greatest_length(statistics)],
            Paint::Component(index) => {
                statistics.get(usize::from(index)).map_or([0.0, 1.0], range_of)
            }
            Paint::Rgba => return [0.0, 1.0],
        };
        range.map(|value| value * color.map_or(1.0, |color| self.unit(color)))
    }

    /// The same, of all that a resource holds.
    pub(super) fn unit_of(&self, of: scene::ResourceId) -> f32 {
        self.unit(Selection::all(of))
    }

    /// What the number 1 is to a view: bytes count from 0 to 1 there.
    pub(super) fn unit(&self, of: Selection) -> f32 {
        let vector = self.manifest().and_then(|manifest| of.vector(manifest));
        if vector.is_some_and(|(e, _)| e.scalar == Scalar::U8) { 1.0 / 255.0 } else { 1.0 }
    }

    /// The latest statistics of each component. Those of a field that is an array are of all that it has.
    fn statistics_of(&self, of: Selection) -> Vec<Statistics> {
        let vector = self.manifest().and_then(|manifest| of.vector(manifest));
        let Some((element, _)) = vector else { return Vec::new() };
        let all = self.statistics(of.of);
        let (first, count) = match of.components {
            Some(Components { first, count }) => (usize::from(first), usize::from(count)),
            None => (0, all.len()),
        };
        let found = all.iter().skip(first).take(count);
        found.cycle().take(usize::from(element.lanes)).cloned().collect()
    }

    /// The latest statistics of each coordinate.
    fn axes(&self, position: Coordinates) -> Vec<Statistics> {
        position.selections().flat_map(|selection| self.statistics_of(selection)).collect()
    }
}

/// The resource whose numbers are called so.
fn resource_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(resource, _)| resource)
}

/// The values that a view colours; `None` where it draws points of one colour.
fn colored(view: &View) -> Option<Selection> {
    match view.kind {
        ViewKind::Points { color, .. } => color,
        ViewKind::Image { grid, .. } | ViewKind::Surface { grid, .. } => {
            Some(Selection::all(grid.of))
        }
        ViewKind::Volume { texture, .. } => Some(Selection::all(texture)),
    }
}

/// Whether the manifest says where the camera of a view starts.
fn is_placed(view: &View) -> bool {
    view.camera.target.is_some() || view.camera.distance.is_some()
}

/// Where the camera starts if the scene does not mind and there is nothing to fit.
fn usual_camera(view: &View) -> Camera {
    let usual = Camera::default();
    match view.kind {
        // Fields are seen from above, their middle in the middle.
        ViewKind::Surface { height, .. } => {
            let middle = declared_heights(view).map_or(0.0, |[low, high]| (low + high) / 2.0);
            let target = [0.0, middle * height, 0.0].into();
            Camera { target, pitch: 0.55, distance: 3.2, ..usual }
        }
        ViewKind::Volume { .. } | ViewKind::Points { .. } | ViewKind::Image { .. } => usual,
    }
}

/// The heights that the manifest expects of a surface, because it colours it by them.
fn declared_heights(view: &View) -> Option<[f32; 2]> {
    let is_surface = matches!(view.kind, ViewKind::Surface { .. });
    view.coloring.range.filter(|_| is_surface && view.coloring.by == ColorBy::X)
}

/// The box that the manifest wants to be seen whole.
fn to_fit(view: &View) -> Option<Bounds> {
    view.camera.fit.map(|[low, high]| Bounds { low: low.into(), high: high.into() })
}

/// The values whose extent the start camera of a view is to fit, because the manifest does not say where it is.
fn to_measure(view: &View) -> Option<Coordinates> {
    let is_told = is_placed(view) || to_fit(view).is_some() || declared_heights(view).is_some();
    measurable(view).filter(|_| !is_told)
}

/// The values that decide how large that is what a view draws.
fn measurable(view: &View) -> Option<Coordinates> {
    match view.kind {
        ViewKind::Points { position, .. } => Some(position),
        ViewKind::Surface { grid, .. } => Some(Coordinates::Vector(Selection::all(grid.of))),
        ViewKind::Image { .. } | ViewKind::Volume { .. } => None,
    }
}

fn projection(declared: scene::Projection) -> Projection {
    match declared {
        scene::Projection::Perspective => Projection::Perspective,
        scene::Projection::Orthographic => Projection::Orthographic,
    }
}

/// What of a value makes its colour.
pub(super) fn paint(by: ColorBy) -> Paint {
    match by {
        ColorBy::Magnitude => Paint::Magnitude,
        ColorBy::X => Paint::Component(0),
        ColorBy::Y => Paint::Component(1),
        ColorBy::Z => Paint::Component(2),
        ColorBy::W => Paint::Component(3),
        ColorBy::Rgba => Paint::Rgba,
    }
}

/// The box of all finite values; of a single place there is none to see.
fn extent(statistics: Vec<Statistics>) -> Option<Bounds> {
    let side = |axis: usize| statistics.get(axis).filter(|s| s.min <= s.max);
    let ends = |s: &Statistics| [s.min as f32, s.max as f32];
    let sides = [0, 1, 2].map(|axis| side(axis).map_or([0.0; 2], ends));
    let [low, high] = [0, 1].map(|end| Vec3::from(sides.map(|side| side[end])));
    let bounds = Bounds { low, high };
    let half = bounds.half();
    (half > 0.0 && half.is_finite() && bounds.centre().is_finite()).then_some(bounds)
}

fn range_of(statistics: &Statistics) -> [f32; 2] {
    let (min, max) = (statistics.min as f32, statistics.max as f32);
    match min {
        _ if min < max => [min, max],
        _ if min.is_finite() => [min - 0.5, min + 0.5],
        // Not one value is finite.
        _ => [0.0, 1.0],
    }
}

/// No vector is longer than this: the length of the box that holds them all.
fn greatest_length(statistics: &[Statistics]) -> f32 {
    let square = |s: &Statistics| s.min.abs().max(s.max.abs()).powi(2);
    let length = statistics.iter().take(3).map(square).sum::<f64>().sqrt() as f32;
    if length.is_finite() && length > 0.0 { length } else { 1.0 }
}

//! What a scene shows, as what `draw` draws.

use glam::{Vec2, Vec3};

use super::{Reset, Session, ViewState};
use crate::{
    array::Statistics,
    draw::{
        Blend, Camera, Cloud, Coloring, Colormap, Content, Frame, Image, Legend, Paint, Surface,
        Values, Volume,
    },
    element::Scalar,
    gl,
    scene::{self, Builtin, ColorBy, ResourceId, Source, View, ViewKind},
};

/// The box that points fill when they are seen first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    centre: Vec3,
    /// Half of its longest edge.
    half: f32,
}

impl Session {
    /// The last finished step, seen by `camera`; the background alone where there is nothing to draw.
    pub fn frame<'a>(&'a self, camera: &'a Camera) -> Frame<'a> {
        Frame::new(camera, self.content().unwrap_or(Content::Nothing))
    }

    /// Where the scene wants its camera to start.
    pub fn start_camera(&self) -> Camera {
        let start = self.view().map_or_else(scene::Camera::default, |view| view.camera);
        let usual = self.usual_camera();
        Camera {
            target: start.target.map_or(usual.target, Into::into),
            distance: start.distance.unwrap_or(usual.distance),
            yaw: start.yaw_deg.map_or(usual.yaw, f32::to_radians),
            pitch: start.pitch_deg.map_or(usual.pitch, f32::to_radians),
            fov: start.fov_deg.map_or(usual.fov, f32::to_radians),
        }
    }

    /// Where the camera starts if the scene does not mind.
    fn usual_camera(&self) -> Camera {
        let usual = Camera::default();
        let Some(view) = self.view() else { return usual };
        match view.kind {
            // Fields are seen from above, their middle in the middle.
            ViewKind::Surface { height, .. } => {
                let middle = view.coloring.range.map_or(0.0, |[low, high]| (low + high) / 2.0);
                let shown = if view.coloring.by == ColorBy::X { middle * height } else { 0.0 };
                Camera { target: [0.0, shown, 0.0].into(), pitch: 0.55, distance: 3.2, ..usual }
            }
            // All corners of the box.
            ViewKind::Volume { .. } => Camera { distance: 5.0, ..usual },
            ViewKind::Points { .. } => {
                self.fitted().map_or(usual, |extent| Camera::around(extent.centre, extent.half))
            }
            ViewKind::Image { .. } => usual,
        }
    }

    /// The points that the start camera is to fit, because the manifest does not say where they are.
    fn points_to_fit(&self) -> Option<ResourceId> {
        let view = self.view()?;
        match view.kind {
            ViewKind::Points { position, .. }
                if view.camera.target.is_none() && view.camera.distance.is_none() =>
            {
                Some(position)
            }
            _ => None,
        }
    }

    /// What the start camera fits.
    fn fitted(&self) -> Option<Extent> {
        self.points_to_fit().and(self.extent)
    }

    /// Fits the start camera to the points when they are measured first; after that it stays where it is.
    pub(super) fn fit_camera(&mut self) {
        if self.extent.is_none()
            && let Some(position) = self.points_to_fit()
        {
            self.extent = extent(self.statistics(position), self.unit(position));
        }
    }

    /// Forgets what the start camera fits: the points in these resources, or all of them, are set anew.
    pub(super) fn forget_extent(&mut self, reset: &Reset) {
        let position = self.points_to_fit().and_then(|position| self.name_of(position));
        let anew = match reset {
            Reset::None => false,
            Reset::Fresh(names) => position.is_some_and(|name| names.contains(name)),
            Reset::All => true,
        };
        if anew {
            self.extent = None;
        }
    }

    fn name_of(&self, id: ResourceId) -> Option<&str> {
        Some(&self.program.as_ref()?.scene.manifest.resource(id).name)
    }

    /// The texture that is shown as a flat image, where one is.
    pub fn image(&self) -> Option<&gl::Texture> {
        match self.view()?.kind {
            ViewKind::Image { texture, .. } => self.texture(texture),
            _ => None,
        }
    }

    pub(super) fn view_state(&self) -> Option<ViewState> {
        let program = self.program.as_ref()?;
        let view = self.view()?;
        let arguments = program.passes.iter().flat_map(|pass| &pass.plan.arguments);
        let mouse = Source::Builtin(Builtin::Mouse);
        let takes_mouse = arguments.map(|argument| &argument.source).any(|s| *s == mouse);
        Some(ViewState { kind: view.kind.name(), takes_mouse, legend: self.legend() })
    }

    /// What the view's colours stand for; `None` where they are nothing but colours.
    pub fn legend(&self) -> Option<Legend> {
        let view = self.view()?;
        let of = match view.kind {
            ViewKind::Points { color, .. } => color?,
            ViewKind::Image { texture, .. }
            | ViewKind::Surface { texture, .. }
            | ViewKind::Volume { texture, .. } => texture,
        };
        let Coloring { paint, colormap, range } = self.coloring(&view.coloring, Some(of));
        let resource = self.program.as_ref()?.scene.manifest.resource(of);
        let name = &resource.name;
        let title = match (paint, resource.element().map(|element| element.lanes)) {
            (Paint::Rgba, _) => return None,
            (_, Some(1)) => name.clone(),
            (Paint::Magnitude, _) => format!("|{name}|"),
            (Paint::Component(_), _) => format!("{name}.{}", view.coloring.by.name()),
        };
        Some(Legend { title, unit: view.coloring.unit.clone(), range, colormap })
    }

    /// Whether the picture depends on statistics, because the manifest gives no range for the colours, or no camera and
    /// the points have not been measured yet.
    pub fn needs_statistics_to_draw(&self) -> bool {
        let depends =
            |view: &View| view.coloring.range.is_none() && view.coloring.by != ColorBy::Rgba;
        let unseen = self.extent.is_none() && self.points_to_fit().is_some();
        unseen || self.view().is_some_and(depends)
    }

    fn content(&self) -> Option<Content<'_>> {
        let view = self.view()?;
        match view.kind {
            ViewKind::Points { position, color, size_px, additive } => {
                let (position, count) = self.values(position)?;
                Some(Content::Points(Cloud {
                    position,
                    color: color.and_then(|id| self.values(id)).map(|(values, _)| values),
                    coloring: self.coloring(&view.coloring, color),
                    count,
                    size_px,
                    scale: self.fitted().map_or(1.0, |extent| extent.half),
                    blend: if additive { Blend::Additive } else { Blend::Opaque },
                    ..Cloud::new(position.buffer, count)
                }))
            }
            ViewKind::Image { texture, filter } => Some(Content::Image(Image {
                texture: self.texture(texture)?,
                coloring: self.coloring(&view.coloring, Some(texture)),
                filter: match filter {
                    scene::Filter::Nearest => gl::Filter::Nearest,
                    scene::Filter::Linear => gl::Filter::Linear,
                },
            })),
            ViewKind::Surface { texture, height } => Some(Content::Surface(Surface {
                texture: self.texture(texture)?,
                coloring: self.coloring(&view.coloring, Some(texture)),
                height,
            })),
            ViewKind::Volume { texture, density } => Some(Content::Volume(Volume {
                texture: self.texture(texture)?,
                coloring: self.coloring(&view.coloring, Some(texture)),
                density,
            })),
        }
    }

    fn values(&self, id: ResourceId) -> Option<(Values<'_>, usize)> {
        let element = self.program.as_ref()?.scene.manifest.resource(id).element()?;
        let kind = match element.scalar {
            Scalar::F32 => gl::Component::F32,
            Scalar::I32 => gl::Component::I32,
            Scalar::U32 => gl::Component::U32,
            Scalar::U8 => gl::Component::U8,
            _ => return None,
        };
        let (buffer, count) = self.drawn(id)?;
        Some((Values { buffer, components: element.lanes, kind }, count as usize))
    }

    /// How a view colours the values of a resource.
    fn coloring(&self, declared: &scene::Coloring, of: Option<ResourceId>) -> Coloring {
        let paint = paint(declared.by);
        Coloring {
            paint,
            colormap: Colormap::parse(&declared.colormap).unwrap_or_default(),
            range: declared.range.unwrap_or_else(|| self.range(of, paint)),
        }
    }

    /// The range of the data, from the latest statistics.
    fn range(&self, color: Option<ResourceId>, paint: Paint) -> [f32; 2] {
        let statistics = color.map_or(&[][..], |id| self.statistics(id));
        let range = match paint {
            Paint::Magnitude if statistics.len() == 1 => range_of(&statistics[0]),
            Paint::Magnitude => [0.0, greatest_length(statistics)],
            Paint::Component(index) => {
                statistics.get(usize::from(index)).map_or([0.0, 1.0], range_of)
            }
            Paint::Rgba => return [0.0, 1.0],
        };
        range.map(|value| value * color.map_or(1.0, |id| self.unit(id)))
    }

    /// What the number 1 of a resource is to a view: bytes count from 0 to 1 there.
    fn unit(&self, id: ResourceId) -> f32 {
        let element = self.program.as_ref().and_then(|p| p.scene.manifest.resource(id).element());
        if element.is_some_and(|e| e.scalar == Scalar::U8) { 1.0 / 255.0 } else { 1.0 }
    }
}

fn paint(by: ColorBy) -> Paint {
    match by {
        ColorBy::Magnitude => Paint::Magnitude,
        ColorBy::X => Paint::Component(0),
        ColorBy::Y => Paint::Component(1),
        ColorBy::Z => Paint::Component(2),
        ColorBy::W => Paint::Component(3),
        ColorBy::Rgba => Paint::Rgba,
    }
}

/// The box of all finite positions; of a single place there is none to see.
fn extent(statistics: &[Statistics], unit: f32) -> Option<Extent> {
    let side = |axis: usize| statistics.get(axis).filter(|s| s.min <= s.max);
    let ends = |s: &Statistics| (Vec2::new(s.min as f32, s.max as f32) * unit).to_array();
    let sides = [0, 1, 2].map(|axis| side(axis).map_or([0.0; 2], ends));
    let centre = Vec3::from(sides.map(|[low, high]| low / 2.0 + high / 2.0));
    let half = sides.map(|[low, high]| high / 2.0 - low / 2.0).into_iter().fold(0.0, f32::max);
    (half > 0.0 && half.is_finite() && centre.is_finite()).then_some(Extent { centre, half })
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

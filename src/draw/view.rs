//! One face for all kinds of content.

use super::{
    Background, Camera, Cloud, Coloring, PanZoom,
    chart::{Chart, Look},
    coloring::Palette,
    guides::Guides,
    image::{Image, Images},
    legend::Legend,
    overlay::Overlay,
    picture::{Development, Picture},
    points::Points,
    print::{draw_legend, points_of},
    surface::{Surface, Surfaces},
    volume::{Volume, Volumes},
};
use crate::gl::{Framebuffer, Gl, Result};
use epaint::{Pos2, Rect, vec2};

/// Draws frames into a picture of its own. What a kind of content needs is made when it first comes.
#[derive(Debug)]
pub struct View {
    gl: Gl,
    picture: Picture,
    palette: Palette,
    points: Option<Points>,
    images: Option<Images>,
    surfaces: Option<Surfaces>,
    volumes: Option<Volumes>,
    overlay: Option<Overlay>,
}

/// What one frame shows.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// From where; images have no depth and are seen through `part`.
    pub camera: &'a Camera,
    /// Which part of an image.
    pub part: PanZoom,
    /// Behind it.
    pub background: Background,
    /// Brightness of light that adds up; 1 suits every count, size and resolution.
    pub exposure: f32,
    /// A grid behind it, or rulers along it.
    pub guides: Option<Guides>,
    /// How finely surfaces and volumes are drawn, up to 1: what costs time on a slow renderer goes with its square.
    pub detail: f32,
    /// What.
    pub content: Content<'a>,
}

/// Kinds of content.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Content<'a> {
    /// The background alone.
    Nothing,
    /// Points.
    Points(Cloud<'a>),
    /// A texture as a picture.
    Image(Image<'a>),
    /// A texture as a lit height field.
    Surface(Surface<'a>),
    /// A texture as a glowing cloud.
    Volume(Volume<'a>),
}

impl Content<'_> {
    /// How its values become colours.
    pub fn coloring_mut(&mut self) -> Option<&mut Coloring> {
        match self {
            Self::Nothing => None,
            Self::Points(cloud) => Some(&mut cloud.coloring),
            Self::Image(image) => Some(&mut image.coloring),
            Self::Surface(surface) => Some(&mut surface.coloring),
            Self::Volume(volume) => Some(&mut volume.coloring),
        }
    }
}

impl<'a> Frame<'a> {
    /// A frame on the dark background at the usual brightness.
    pub fn new(camera: &'a Camera, content: Content<'a>) -> Self {
        let (part, background) = (PanZoom::default(), Background::default());
        Self { camera, part, background, exposure: 1.0, guides: None, detail: 1.0, content }
    }
}

impl View {
    /// A view with a picture of `size` pixels; zero counts as one.
    ///
    /// # Errors
    /// [`Error::Size`](crate::gl::Error::Size) beyond the driver's limit, [`crate::gl::Error::Call`] when
    /// memory is out.
    pub fn new(gl: &Gl, size: [u32; 2]) -> Result<Self> {
        Ok(Self {
            gl: gl.clone(),
            picture: Picture::new(gl, size)?,
            palette: Palette::new(gl),
            points: None,
            images: None,
            surfaces: None,
            volumes: None,
            overlay: None,
        })
    }

    /// Changes the picture's size in pixels; nothing if it is the same. Zero counts as one.
    ///
    /// # Errors
    /// As [`new`](Self::new); the view then keeps its size.
    pub fn resize(&mut self, size: [u32; 2]) -> Result<()> {
        self.picture.resize(&self.gl, size)
    }

    /// The picture's size in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.picture.size()
    }

    /// The picture as it was last drawn.
    pub fn picture(&self) -> &Framebuffer {
        self.picture.developed()
    }

    /// Draws a frame. The same frame gives the same picture: nothing adapts from frame to frame.
    ///
    /// # Errors
    /// [`Error::WrongContext`](crate::gl::Error::WrongContext) for buffers of another context;
    /// [`Error::Shader`](crate::gl::Error::Shader) when the driver does not take a shader.
    pub fn draw(&mut self, frame: &Frame<'_>) -> Result<&Framebuffer> {
        let (light, camera) = (self.picture.light(), frame.camera);
        let detail = frame.detail.clamp(LEAST_DETAIL, 1.0);
        let mut development = match &frame.content {
            Content::Nothing => {
                light.clear([0.0; 4]);
                Development::default()
            }
            Content::Points(cloud) => {
                let points = made(&mut self.points, || Points::new(&self.gl))?;
                let colormap = self.palette.texture(cloud.coloring.colormap)?;
                points.draw(light, colormap, camera, cloud)?
            }
            Content::Image(image) => {
                let images = made(&mut self.images, || Images::new(&self.gl))?;
                let colormap = self.palette.texture(image.coloring.colormap)?;
                let picture = self.picture.developed();
                images.draw(picture, colormap, frame.part, &frame.background, image)?;
                if let Some(guides) = &frame.guides {
                    guide(&mut self.overlay, picture, guides, frame)?;
                }
                return Ok(picture);
            }
            Content::Surface(surface) => {
                let surfaces = made(&mut self.surfaces, || Surfaces::new(&self.gl))?;
                let colormap = self.palette.texture(surface.coloring.colormap)?;
                let draw = |light: &_| surfaces.draw(light, colormap, camera, surface);
                self.picture.light_with_detail(detail, draw)?;
                Development::default()
            }
            Content::Volume(volume) => {
                let volumes = made(&mut self.volumes, || Volumes::new(&self.gl))?;
                let colormap = self.palette.texture(volume.coloring.colormap)?;
                let draw = |light: &_| volumes.draw(light, colormap, camera, volume);
                self.picture.light_with_detail(detail, draw)?;
                Development::default()
            }
        };
        development.exposure *= frame.exposure;
        let guides = frame.guides.as_ref();
        if let Some(guides) = guides {
            let behind = self.picture.behind()?;
            behind.clear([0.0; 4]);
            guide(&mut self.overlay, behind, guides, frame)?;
        }
        self.picture.develop(&frame.background, development, guides.is_some())?;
        Ok(self.picture.developed())
    }

    /// Draws a legend over the picture, into its lower right corner; the next frame takes it away.
    ///
    /// # Errors
    /// As [`draw`](Self::draw).
    pub fn draw_legend(&mut self, legend: &Legend) -> Result<&Framebuffer> {
        let picture = self.picture.developed();
        draw_legend(&mut self.overlay, picture, legend)?;
        Ok(picture)
    }
}

impl View {
    /// Draws a chart instead of what was there.
    ///
    /// # Errors
    /// As [`draw`](Self::draw).
    pub fn draw_chart(&mut self, chart: &Chart) -> Result<&Framebuffer> {
        let overlay = Overlay::made(&mut self.overlay, &self.gl)?;
        let picture = self.picture.developed();
        let [w, h] = picture.size().map(|n| n as f32);
        let scale = (h / CHART_POINTS_HIGH).max(1.0);
        let room = Rect::from_min_size(Pos2::ZERO, vec2(w / scale, h / scale));
        overlay.draw(picture, scale, |fonts| chart.shapes(room, &Look::LIGHT, fonts))?;
        Ok(picture)
    }
}

/// A point of a chart is a pixel of a picture so many pixels high, and of smaller ones; of larger ones it is more.
const CHART_POINTS_HIGH: f32 = 480.0;

/// A picture is drawn at least so finely.
const LEAST_DETAIL: f32 = 0.1;

/// Draws guides into a picture of the frame.
fn guide(
    overlay: &mut Option<Overlay>,
    picture: &Framebuffer,
    guides: &Guides,
    frame: &Frame<'_>,
) -> Result<()> {
    let overlay = Overlay::made(overlay, picture.gl())?;
    let [w, h] = picture.size().map(|n| n as f32);
    let scale = points_of(h);
    let seen = (frame.camera, frame.part);
    overlay.draw(picture, scale, |fonts| guides.shapes(seen, vec2(w, h) / scale, fonts))
}

/// What is in `slot`, made if it is not there yet.
fn made<T>(slot: &mut Option<T>, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    Ok(match slot {
        Some(there) => there,
        none => none.insert(make()?),
    })
}

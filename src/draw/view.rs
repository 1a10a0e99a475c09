//! One face for all kinds of content.

use super::{
    Background, Camera,
    picture::{Development, Picture},
    points::{Cloud, Points},
};
use crate::gl::{Framebuffer, Gl, Result};

/// Draws frames into a picture of its own. What a kind of content needs is made when it first comes.
#[derive(Debug)]
pub struct View {
    gl: Gl,
    picture: Picture,
    points: Option<Points>,
}

/// What one frame shows.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// From where.
    pub camera: &'a Camera,
    /// Behind it.
    pub background: Background,
    /// Brightness of light that adds up; 1 suits every count, size and resolution.
    pub exposure: f32,
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
}

impl<'a> Frame<'a> {
    /// A frame on the dark background at the usual brightness.
    pub fn new(camera: &'a Camera, content: Content<'a>) -> Self {
        Self { camera, background: Background::default(), exposure: 1.0, content }
    }
}

impl View {
    /// A view with a picture of `size` pixels; zero counts as one.
    ///
    /// # Errors
    /// [`Error::Size`](crate::gl::Error::Size) beyond the driver's limit, [`crate::gl::Error::Call`] when
    /// memory is out.
    pub fn new(gl: &Gl, size: [u32; 2]) -> Result<Self> {
        Ok(Self { gl: gl.clone(), picture: Picture::new(gl, size)?, points: None })
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
        let mut development = match &frame.content {
            Content::Nothing => {
                self.picture.light().clear([0.0; 4]);
                Development::default()
            }
            Content::Points(cloud) => {
                let points = match &mut self.points {
                    Some(points) => points,
                    none => none.insert(Points::new(&self.gl)?),
                };
                points.draw(self.picture.light(), frame.camera, cloud)?
            }
        };
        development.exposure *= frame.exposure;
        self.picture.develop(&frame.background, development)?;
        Ok(self.picture.developed())
    }
}

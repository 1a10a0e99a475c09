//! Points to draw.

#[cfg(doc)]
use super::Camera;
use super::Coloring;
#[cfg(doc)]
use crate::gl::VertexArray;
use crate::gl::{Attribute, Buffer, Component};

/// A sprite's light over that of a full square of its diameter: (π/3) / 4.
pub(super) const LIGHT: f32 = 0.262;

/// Points to draw.
#[derive(Clone, Copy, Debug)]
pub struct Cloud<'a> {
    /// Where they are: x, y and z, one number of each element; those that are missing are 0. Points that are not
    /// finite are not drawn.
    pub position: [Option<Values<'a>>; 3],
    /// What their colour is made from; `None`: one colour out of the map.
    pub color: Option<Values<'a>>,
    /// How; alpha scales a point's light.
    pub coloring: Coloring,
    /// How many; at most as many as the buffers hold are drawn.
    pub count: usize,
    /// Diameter in pixels of a picture 720 pixels high, at the start camera's distance
    /// ([`Camera::START_DISTANCE`]); it scales with the picture, so that every size looks the same.
    pub size_px: f32,
    /// Half of what the points fill, along its longest side: what counts as near, and how bright they are together,
    /// goes by it. The start camera's distance is so many times as large.
    pub scale: f32,
    /// Whether near points are larger.
    pub perspective: bool,
    /// How they meet.
    pub blend: Blend,
}

/// Vectors of 1 to 4 numbers at even distances in a buffer: one of each element.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The buffer.
    pub buffer: &'a Buffer,
    /// Numbers of a vector, 1 to 4.
    pub components: u8,
    /// What a number is.
    pub kind: Component,
    /// Bytes from one vector to the next, at most [`VertexArray::MAX_STRIDE`]; 0: tightly packed.
    pub stride: u32,
    /// Byte of the first number.
    pub offset: u32,
}

impl<'a> Values<'a> {
    /// Tightly packed vectors from the buffer's start on.
    pub fn packed(buffer: &'a Buffer, components: u8, kind: Component) -> Self {
        Self { buffer, components, kind, stride: 0, offset: 0 }
    }

    /// Their components one by one, up to three of them.
    pub fn axes(self) -> [Option<Self>; 3] {
        [0, 1, 2].map(|axis: u8| {
            let before = u32::from(axis) * self.kind.bytes() as u32;
            let step = self.attribute(0).step() as u32;
            let alone = Self { components: 1, stride: step, offset: self.offset + before, ..self };
            (axis < self.components).then_some(alone)
        })
    }

    /// As an input of a shader.
    pub(super) fn attribute(self, location: u32) -> Attribute<'a> {
        let Self { buffer, components, kind, stride, offset } = self;
        Attribute { location, buffer, components, kind, stride, offset }
    }
}

/// How points meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blend {
    /// Their light adds up. Order does not matter.
    #[default]
    Additive,
    /// The nearer ball hides the farther one.
    Opaque,
}

impl<'a> Cloud<'a> {
    /// Points of four floats each as a scene without further wishes shows them.
    pub fn new(position: &'a Buffer, count: usize) -> Self {
        Self {
            position: Values::packed(position, 4, Component::F32).axes(),
            color: None,
            coloring: Coloring::default(),
            count,
            size_px: 2.0,
            scale: 1.0,
            perspective: true,
            blend: Blend::Additive,
        }
    }

    /// How its points look.
    pub fn sprites(&self) -> Sprites {
        let Self { size_px, scale, perspective, blend, .. } = *self;
        Sprites { size_px, scale, perspective, blend }
    }
}

/// How points look, whichever they are; the fields are those of [`Cloud`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprites {
    /// Diameter in pixels.
    pub size_px: f32,
    /// Half of what the points fill.
    pub scale: f32,
    /// Whether near points are larger.
    pub perspective: bool,
    /// How they meet.
    pub blend: Blend,
}

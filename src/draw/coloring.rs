//! How values become colours, the same in every view.

use std::collections::HashMap;

use super::Colormap;
use crate::gl::{Gl, Program, Result, Texture, Uniform};

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coloring {
    /// What of a value counts.
    pub paint: Paint,
    /// From scalars to colours.
    pub colormap: Colormap,
    /// The scalars at the colour map's ends.
    pub range: [f32; 2],
    /// Values are multiplied by it first: OpenGL makes of integers in textures parts of the greatest one.
    pub scale: f32,
}

impl Default for Coloring {
    fn default() -> Self {
        Self {
            paint: Paint::default(),
            colormap: Colormap::default(),
            range: [0.0, 1.0],
            scale: 1.0,
        }
    }
}

/// What of a value makes its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// The length of its first three components, through the colour map.
    #[default]
    Magnitude,
    /// One component (0 to 3), through the colour map.
    Component(u8),
    /// It is the colour itself: sRGB in [0, 1], and alpha.
    Rgba,
}

impl Paint {
    /// As `shaders/coloring.glsl` counts them.
    pub(super) fn number(self) -> i32 {
        match self {
            Self::Component(component) => i32::from(component.min(3)),
            Self::Magnitude => 4,
            Self::Rgba => 5,
        }
    }
}

impl Coloring {
    /// Sets what `shaders/coloring.glsl` needs; the colour map's texture is to be bound to `unit`.
    pub(super) fn set_uniforms(&self, program: &Program, unit: u16) {
        let [low, high] = self.range;
        let width = if high > low { high - low } else { 1.0 };
        program.set("paint", Uniform::I32(self.paint.number()));
        program.set("range", Uniform::Vec2([low, 1.0 / width]));
        program.set("value_scale", Uniform::F32(self.scale));
        program.set("colormap", Uniform::I32(i32::from(unit)));
    }
}

/// The colour maps' textures, made when they first come.
#[derive(Debug)]
pub(super) struct Palette {
    gl: Gl,
    textures: HashMap<Colormap, Texture>,
}

impl Palette {
    pub(super) fn new(gl: &Gl) -> Self {
        Self { gl: gl.clone(), textures: HashMap::new() }
    }

    /// The texture of a colour map.
    pub(super) fn texture(&mut self, colormap: Colormap) -> Result<&Texture> {
        use std::collections::hash_map::Entry;
        Ok(match self.textures.entry(colormap) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(colormap.texture(&self.gl)?),
        })
    }
}

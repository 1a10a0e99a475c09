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
    /// Whether the map's last colour is that of the lowest scalar.
    pub reversed: bool,
    /// Whether colours follow the logarithms of the scalars. Only where the range begins above 0.
    pub logarithmic: bool,
    /// Values are multiplied by it first: OpenGL makes of integers in textures parts of the greatest one.
    pub scale: f32,
}

impl Default for Coloring {
    fn default() -> Self {
        Self {
            paint: Paint::default(),
            colormap: Colormap::default(),
            range: [0.0, 1.0],
            reversed: false,
            logarithmic: false,
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
        let logarithmic = self.logarithmic && self.range[0] > 0.0;
        let [low, high] = self.range.map(|end| if logarithmic { end.ln() } else { end });
        let width = if high > low { high - low } else { 1.0 };
        // From the other end, and backwards.
        let range = if self.reversed { [low + width, -1.0 / width] } else { [low, 1.0 / width] };
        program.set("paint", Uniform::I32(self.paint.number()));
        program.set("range", Uniform::Vec2(range));
        program.set("logarithmic", Uniform::I32(i32::from(logarithmic)));
        program.set("value_scale", Uniform::F32(self.scale));
        program.set("colormap", Uniform::I32(i32::from(unit)));
    }
}

/// So many times the lowest value that has a colour of its own is the highest one, where logarithms say nothing of the
/// lowest.
const DECADES: f32 = 1.0e4;

/// A range of which there are logarithms, where it has values above 0: four decades, where it begins at 0 or below.
pub(crate) fn above_zero([low, high]: [f32; 2]) -> [f32; 2] {
    if low <= 0.0 && high > 0.0 { [high / DECADES, high] } else { [low, high] }
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

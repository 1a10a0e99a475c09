//! Light and the picture that is developed from it.

use super::{
    cover::{VERTEX, cover},
    glow::Glow,
};
use crate::gl::{
    Blend, Format, Framebuffer, Gl, Program, Result, Source, Target, Uniform, VertexArray,
};

/// Where content's light is gathered (linear colour times weight, and the weight, in half floats), and the
/// picture (sRGB, 8 bits) that is developed from it.
#[derive(Debug)]
pub(super) struct Picture {
    light: Framebuffer,
    /// Light in fewer pixels, for less than full detail.
    coarse: Option<Framebuffer>,
    developed: Framebuffer,
    glow: Glow,
    // Two, because software renderers go both ways of a branch.
    sharp: Program,
    soft: Program,
    nothing: VertexArray,
}

/// How light is developed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Development {
    /// The density of one unit of weight; 0: the light's weight is coverage.
    pub exposure: f32,
    /// The variance in square pixels, at most 1/2 along each axis, of a blur of the light.
    pub softness: f32,
}

/// What is behind the content: linear colours of the middle and of the rim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// In the middle.
    pub middle: [f32; 3],
    /// At the rim.
    pub rim: [f32; 3],
}

impl Default for Background {
    fn default() -> Self {
        Self { middle: [0.0060, 0.0072, 0.0125], rim: [0.0011, 0.0012, 0.0020] }
    }
}

const SHARP: Source = Source {
    name: "shaders/picture.frag",
    text: concat!("#version 330 core\n", include_str!("../../shaders/picture.frag")),
};
const SOFT: Source = Source {
    name: "shaders/picture.frag",
    text: concat!("#version 330 core\n#define SOFT\n", include_str!("../../shaders/picture.frag")),
};

/// How much brighter dense places are than opaque ones, for each doubling.
const HEAT: f32 = 0.32;
/// How much of the glow is added.
const GLOW: f32 = 0.13;

/// Less is not to be seen, and is not worth its reads.
const LEAST_SOFTNESS: f32 = 0.1;

impl Picture {
    pub(super) fn new(gl: &Gl, size: [u32; 2]) -> Result<Self> {
        let sharp = Program::new(gl, VERTEX, SHARP)?;
        let soft = Program::new(gl, VERTEX, SOFT)?;
        let size = size.map(|n| n.max(1));
        let [light, developed] = framebuffers(gl, size)?;
        let glow = Glow::new(gl, size)?;
        let nothing = VertexArray::new(gl, &[])?;
        Ok(Self { light, coarse: None, developed, glow, sharp, soft, nothing })
    }

    pub(super) fn resize(&mut self, gl: &Gl, size: [u32; 2]) -> Result<()> {
        let size = size.map(|n| n.max(1));
        if size == self.size() {
            return Ok(());
        }
        let [light, developed] = framebuffers(gl, size)?;
        self.glow.resize(gl, size)?;
        (self.light, self.developed) = (light, developed);
        Ok(())
    }

    pub(super) fn size(&self) -> [u32; 2] {
        self.developed.size()
    }

    pub(super) fn light(&self) -> &Framebuffer {
        &self.light
    }

    /// Lets `draw` gather light in fewer pixels, by a factor of `detail` along each side, and enlarges what it drew.
    pub(super) fn light_with_detail(
        &mut self,
        detail: f32,
        draw: impl FnOnce(&Framebuffer) -> Result<()>,
    ) -> Result<()> {
        let [w, h] = self.light.size();
        let size = [w, h].map(|n| ((n as f32 * detail).ceil() as u32).clamp(1, n));
        if size == [w, h] {
            return draw(&self.light);
        }
        let kept = self.coarse.take().filter(|coarse| coarse.size() == size);
        let coarse = match kept {
            Some(coarse) => coarse,
            None => Framebuffer::new(self.light.gl(), self.light.format(), size, true)?,
        };
        let coarse = self.coarse.insert(coarse);
        draw(coarse)?;
        coarse.blit_to(Target::Framebuffer(&self.light), [0, 0, w, h])
    }

    pub(super) fn developed(&self) -> &Framebuffer {
        &self.developed
    }

    /// Makes the picture from the light.
    pub(super) fn develop(&self, background: &Background, how: Development) -> Result<()> {
        let Development { exposure, softness } = how;
        let Some(light) = self.light.texture() else { return Ok(()) };
        let glow = self.glow.draw(light, exposure, &self.nothing)?;
        let program = if softness < LEAST_SOFTNESS { &self.sharp } else { &self.soft };
        let [w, h] = self.size();
        program.set("light", Uniform::I32(0));
        program.set("glow", Uniform::I32(1));
        program.set("glow_strength", Uniform::F32(GLOW));
        // Two linear taps at distance s have variance s.
        program.set("softness", Uniform::F32(softness));
        program.set("exposure", Uniform::F32(exposure));
        program.set("heat", Uniform::F32(HEAT));
        program.set("middle", Uniform::Vec3(background.middle));
        program.set("rim", Uniform::Vec3(background.rim));
        program.set("size", Uniform::Vec2([w as f32, h as f32]));
        let textures = [(0, light), (1, glow)];
        cover(&self.developed, program, &self.nothing, Blend::Replace, &textures, &[])
    }
}

fn framebuffers(gl: &Gl, size: [u32; 2]) -> Result<[Framebuffer; 2]> {
    Ok([
        Framebuffer::new(gl, Format::Rgba16f, size, true)?,
        Framebuffer::new(gl, Format::Rgba8, size, false)?,
    ])
}

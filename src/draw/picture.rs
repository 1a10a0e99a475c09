//! Light and the picture that is developed from it.

use std::collections::{BTreeMap, btree_map::Entry};

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
    /// What stands between the background and the content, once there is such.
    behind: Option<Framebuffer>,
    glow: Glow,
    // One for each way, because software renderers go both ways of a branch.
    programs: BTreeMap<Way, Program>,
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

/// A way to develop: whether light is blurred, and whether something stands behind the content.
type Way = (bool, bool);

/// The fragment shader of a way.
macro_rules! fragment {
    ($defines:literal) => {
        concat!("#version 330 core\n", $defines, include_str!("../../shaders/picture.frag"))
    };
}

fn fragment(way: Way) -> Source {
    let text = match way {
        (false, false) => fragment!(""),
        (true, false) => fragment!("#define SOFT\n"),
        (false, true) => fragment!("#define GUIDED\n"),
        (true, true) => fragment!("#define SOFT\n#define GUIDED\n"),
    };
    Source { name: "shaders/picture.frag", text }
}

/// How much brighter dense places are than opaque ones, for each doubling.
const HEAT: f32 = 0.32;
/// How much of the glow is added.
const GLOW: f32 = 0.13;

/// Less is not to be seen, and is not worth its reads.
const LEAST_SOFTNESS: f32 = 0.1;

impl Picture {
    pub(super) fn new(gl: &Gl, size: [u32; 2]) -> Result<Self> {
        let usual = [(false, false), (true, false)];
        let programs = usual.map(|way| Ok((way, Program::new(gl, VERTEX, fragment(way))?)));
        let programs = programs.into_iter().collect::<Result<_>>()?;
        let size = size.map(|n| n.max(1));
        let [light, developed] = framebuffers(gl, size)?;
        let glow = Glow::new(gl, size)?;
        let nothing = VertexArray::new(gl, &[])?;
        let (coarse, behind) = (None, None);
        Ok(Self { light, coarse, developed, behind, glow, programs, nothing })
    }

    pub(super) fn resize(&mut self, gl: &Gl, size: [u32; 2]) -> Result<()> {
        let size = size.map(|n| n.max(1));
        if size == self.size() {
            return Ok(());
        }
        let [light, developed] = framebuffers(gl, size)?;
        self.glow.resize(gl, size)?;
        (self.light, self.developed, self.behind) = (light, developed, None);
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

    /// What stands between the background and the content: sRGB, times alpha.
    pub(super) fn behind(&mut self) -> Result<&Framebuffer> {
        let behind = match self.behind.take() {
            Some(there) => there,
            None => Framebuffer::new(self.light.gl(), Format::Rgba8, self.size(), false)?,
        };
        Ok(self.behind.insert(behind))
    }

    /// Makes the picture from the light, and from what is behind it where that `is_guided`.
    pub(super) fn develop(
        &mut self,
        background: &Background,
        how: Development,
        is_guided: bool,
    ) -> Result<()> {
        let Development { exposure, softness } = how;
        let behind = self.behind.as_ref().and_then(Framebuffer::texture).filter(|_| is_guided);
        let way = (softness >= LEAST_SOFTNESS, behind.is_some());
        let Some(light) = self.light.texture() else { return Ok(()) };
        let glow = self.glow.draw(light, exposure, &self.nothing)?;
        let program = match self.programs.entry(way) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                place.insert(Program::new(self.developed.gl(), VERTEX, fragment(way))?)
            }
        };
        let [w, h] = self.developed.size();
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
        let mut textures = vec![(0, light), (1, glow)];
        if let Some(behind) = behind {
            program.set("behind", Uniform::I32(2));
            textures.push((2, behind));
        }
        cover(&self.developed, program, &self.nothing, Blend::Replace, &textures, &[])
    }
}

fn framebuffers(gl: &Gl, size: [u32; 2]) -> Result<[Framebuffer; 2]> {
    Ok([
        Framebuffer::new(gl, Format::Rgba16f, size, true)?,
        Framebuffer::new(gl, Format::Rgba8, size, false)?,
    ])
}

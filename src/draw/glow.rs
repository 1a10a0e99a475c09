//! The glow around bright places: a pyramid of ever smaller pictures, blurred on the way down and up again
//! (M. Kawase's and J. Jimenez's dual filter).

use super::cover::{VERTEX, cover};
use crate::gl::{
    Blend, Format, Framebuffer, Gl, Program, Result, Source, Texture, Uniform, VertexArray,
};

#[derive(Debug)]
pub(super) struct Glow {
    program: Program,
    levels: Vec<Framebuffer>,
}

/// What a pass makes of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// From light what glows, a quarter as large.
    Emitted,
    /// Half as large.
    Halved,
    /// Twice as large.
    Doubled,
}

const FRAGMENT: Source =
    Source { name: "shaders/glow.frag", text: include_str!("../../shaders/glow.frag") };

impl Glow {
    pub(super) fn new(gl: &Gl, size: [u32; 2]) -> Result<Self> {
        Ok(Self { program: Program::new(gl, VERTEX, FRAGMENT)?, levels: levels(gl, size)? })
    }

    pub(super) fn resize(&mut self, gl: &Gl, size: [u32; 2]) -> Result<()> {
        self.levels = levels(gl, size)?;
        Ok(())
    }

    /// The glow of this light, at a quarter of its size.
    pub(super) fn draw<'a>(
        &'a self,
        light: &'a Texture,
        exposure: f32,
        nothing: &VertexArray,
    ) -> Result<&'a Texture> {
        self.program.set("exposure", Uniform::F32(exposure));
        let mut source = light;
        for (index, level) in self.levels.iter().enumerate() {
            let stage = if index == 0 { Stage::Emitted } else { Stage::Halved };
            self.pass(source, level, stage, nothing, Blend::Replace)?;
            source = level.texture().unwrap_or(light);
        }
        for pair in self.levels.windows(2).rev() {
            if let [large, small] = pair
                && let Some(source) = small.texture()
            {
                self.pass(source, large, Stage::Doubled, nothing, Blend::Add)?;
            }
        }
        Ok(self.levels.first().and_then(Framebuffer::texture).unwrap_or(light))
    }

    fn pass(
        &self,
        source: &Texture,
        target: &Framebuffer,
        stage: Stage,
        nothing: &VertexArray,
        blend: Blend,
    ) -> Result<()> {
        let [w, h, _] = source.size().extents();
        // Four taps between texels: 4 x 4 texels make one, 2 x 2 make one, or a tent's blur for doubling.
        let reach = match stage {
            Stage::Emitted => 1.0,
            Stage::Halved => 0.5,
            Stage::Doubled => std::f32::consts::FRAC_1_SQRT_2,
        };
        self.program.set("reach", Uniform::Vec2([reach / w as f32, reach / h as f32]));
        self.program.set("emitted", Uniform::I32(i32::from(stage == Stage::Emitted)));
        self.program.set("source", Uniform::I32(0));
        cover(target, &self.program, nothing, blend, &[(0, source)], &[])
    }
}

/// A quarter, and halves of it until the smaller side has about twenty pixels, so that the glow's reach is a part of
/// the picture, not a number of pixels.
fn levels(gl: &Gl, size: [u32; 2]) -> Result<Vec<Framebuffer>> {
    let mut levels = Vec::new();
    let mut size = size.map(|n| n.div_ceil(2));
    loop {
        size = size.map(|n| n.div_ceil(2));
        levels.push(Framebuffer::new(gl, Format::Rgba16f, size, false)?);
        if size[0].min(size[1]) <= 24 {
            return Ok(levels);
        }
    }
}

//! Small points whose light adds up, added by a compute shader: rasterising and blending a square for each
//! costs many times as much, on GPUs and more so where the CPU draws.

use super::{
    picture,
    points::{Cloud, LIGHT, Values},
};
use crate::gl::{
    Blend, Buffer, Component, Dispatch, Framebuffer, Gl, Program, Result, Source, Texture, Uniform,
    VertexArray,
};

/// Adds clouds into a picture's sums, and makes light of these.
#[derive(Debug)]
pub(super) struct Splat {
    gl: Gl,
    splat: Program,
    gather: Program,
    nothing: VertexArray,
    /// For each pixel the sums of red, green and blue times weight, and of the weights, in whole numbers.
    sums: Buffer,
}

const SPLAT: Source = Source {
    name: "shaders/splat.comp",
    text: concat!(
        "#version 430 core\n",
        include_str!("../../shaders/coloring.glsl"),
        include_str!("../../shaders/points.glsl"),
        include_str!("../../shaders/splat.comp")
    ),
};
const GATHER: Source =
    Source { name: "shaders/splat.frag", text: include_str!("../../shaders/splat.frag") };

/// Points of a cloud share their light among four pixels each, by their place among these, and the whole
/// picture is softened as they ask for on average; only those nearer by this factor have a size of their own.
const NEAR: f32 = 1.45;
/// The diameter in pixels of a sprite as soft as four pixels: its variance, diameter² / 32, is their tent's, 1/6.
const SHARPEST: f32 = 2.31;
/// Work items of a group, as in `shaders/splat.comp`.
const GROUP: usize = 64;
/// Points of a work item: software renderers pay much for each item, and GPUs have enough of them.
const EACH: usize = 16;

impl Splat {
    /// `None` where OpenGL has no compute shaders.
    pub(super) fn new(gl: &Gl) -> Result<Option<Self>> {
        if !gl.computes() {
            return Ok(None);
        }
        Ok(Some(Self {
            gl: gl.clone(),
            splat: Program::compute(gl, SPLAT)?,
            gather: Program::new(gl, picture::VERTEX, GATHER)?,
            nothing: VertexArray::new(gl, &[])?,
            sums: Buffer::with_data(gl, &[[0_u32; 4]])?,
        }))
    }

    /// The program whose points' uniforms are to be set before [`draw`](Self::draw).
    pub(super) fn program(&self) -> &Program {
        &self.splat
    }

    /// Whether shaders can read the cloud's buffers, which are of floats, all of them in one dispatch, and write as
    /// many sums as the picture has pixels.
    pub(super) fn fits(&self, light: &Framebuffer, cloud: &Cloud<'_>) -> bool {
        let buffers = [cloud.position, cloud.color.unwrap_or(cloud.position)];
        let largest = buffers.iter().map(|values| values.buffer.bytes()).max().unwrap_or(0);
        let most = GROUP * EACH * Dispatch::MAX_GROUPS as usize;
        let floats = buffers.iter().all(|values| values.kind == Component::F32);
        floats
            && cloud.count <= most
            && largest.max(sums_bytes(light)) <= self.gl.max_storage_bytes()
    }

    /// Draws a cloud whose points have this diameter in pixels at the target.
    pub(super) fn draw(
        &mut self,
        light: &Framebuffer,
        colormap: &Texture,
        cloud: &Cloud<'_>,
        diameter: f32,
    ) -> Result<()> {
        if self.sums.bytes() != sums_bytes(light) {
            self.sums = Buffer::with_data(&self.gl, &vec![0_u8; sums_bytes(light)])?;
        }
        let color = cloud.color.unwrap_or(cloud.position);
        let count = cloud.count.min(length(cloud.position)).min(length(color));
        self.set_uniforms(light, cloud, count, diameter);
        let dispatch = Dispatch {
            program: &self.splat,
            groups: u32::try_from(count.div_ceil(GROUP * EACH)).unwrap_or(Dispatch::MAX_GROUPS),
            storage: &[(0, cloud.position.buffer), (1, color.buffer), (2, &self.sums)],
            textures: &[(0, colormap)],
        };
        dispatch.run()?;
        let sums = [(0, &self.sums)];
        picture::cover(light, &self.gather, &self.nothing, Blend::Replace, &[], &sums)
    }

    fn set_uniforms(&self, light: &Framebuffer, cloud: &Cloud<'_>, count: usize, diameter: f32) {
        let size = Uniform::Ivec2(light.size().map(u32::cast_signed));
        let unit = Uniform::F32(unit(count, diameter));
        let color = cloud.color.unwrap_or(cloud.position);
        let components = [cloud.position, color].map(|values| i32::from(values.components));
        for program in [&self.splat, &self.gather] {
            program.set("size", size);
            program.set("unit", unit);
        }
        self.splat.set("components", Uniform::Ivec2(components));
        self.splat.set("count", Uniform::I32(i32::try_from(count).unwrap_or(i32::MAX)));
        self.splat.set("fine", Uniform::F32(fine(diameter)));
        self.splat.set("light", Uniform::F32(LIGHT));
    }
}

/// The blur that makes four pixels' tent as soft as a sprite of this diameter: its variance along an axis.
pub(super) fn softness(diameter: f32) -> f32 {
    ((diameter * diameter - SHARPEST * SHARPEST) / 32.0).clamp(0.0, 0.5)
}

/// Diameter in pixels up to which four pixels share a point's light.
fn fine(diameter: f32) -> f32 {
    NEAR * diameter.max(SHARPEST)
}

/// A unit of weight in whole numbers: as fine as it can be if all points of this diameter, or up to
/// [`NEAR`] times that, were to meet in one pixel.
fn unit(count: usize, diameter: f32) -> f32 {
    // Near points are brighter by 1.25.
    let heaviest = 1.25 * LIGHT * (NEAR * diameter).powi(2);
    (u32::MAX as f32 * 0.99 / (count.max(1) as f32 * heaviest)).min(1_048_576.0)
}

fn sums_bytes(light: &Framebuffer) -> usize {
    let [w, h] = light.size().map(|n| n as usize);
    w * h * size_of::<[u32; 4]>()
}

/// How many vectors the buffer holds.
fn length(values: Values<'_>) -> usize {
    values.buffer.bytes() / (usize::from(values.components.max(1)) * size_of::<f32>())
}

//! Small points whose light adds up, added by a compute shader: rasterising and blending a square for each
//! costs many times as much, on GPUs and more so where the CPU draws.

use super::{
    cloud::{Cloud, LIGHT, Values},
    cover,
};
use crate::gl::{
    Blend, Buffer, Component, Dispatch, Framebuffer, Gl, Program, Result, Source, Storage, Texture,
    Uniform, VertexArray,
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
            gather: Program::new(gl, cover::VERTEX, GATHER)?,
            nothing: VertexArray::new(gl, &[])?,
            sums: Buffer::with_data(gl, &[[0_u32; 4]])?,
        }))
    }

    /// The program whose points' uniforms are to be set before [`draw`](Self::draw).
    pub(super) fn program(&self) -> &Program {
        &self.splat
    }

    /// Whether shaders can read what the cloud has, which is of floats, and write as many sums as the picture has
    /// pixels.
    pub(super) fn fits(&self, light: &Framebuffer, cloud: &Cloud<'_>) -> bool {
        let are_floats = inputs(cloud).all(|values| {
            let words = values.offset.is_multiple_of(4) && values.stride.is_multiple_of(4);
            values.kind == Component::F32 && words
        });
        are_floats && self.part(cloud) > 0 && sums_bytes(light) <= self.gl.max_storage_bytes()
    }

    /// How many points are drawn in a run: no more than shaders see of each buffer, and a number of which every run
    /// begins where a block of storage may.
    fn part(&self, cloud: &Cloud<'_>) -> usize {
        let seen = |values: Values<'_>| {
            let room = self.gl.max_storage_bytes().saturating_sub(values.offset as usize);
            room / values.attribute(0).step()
        };
        let most = GROUP * EACH * Dispatch::MAX_GROUPS as usize;
        let part = inputs(cloud).map(seen).fold(most, usize::min);
        part - part % Storage::ALIGNMENT
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
        let counts = inputs(cloud).map(|values| values.attribute(0).vertices());
        let count = counts.fold(cloud.count, usize::min);
        self.set_uniforms(light, cloud, count, diameter);
        let part = self.part(cloud).max(1);
        for before in (0..count).step_by(part) {
            self.run(colormap, cloud, before, part.min(count - before))?;
        }
        let sums = [Storage::new(0, &self.sums)];
        cover::cover(light, &self.gather, &self.nothing, Blend::Replace, &[], &sums)
    }

    /// Adds `count` points, those behind the first ones.
    fn run(
        &self,
        colormap: &Texture,
        cloud: &Cloud<'_>,
        before: usize,
        count: usize,
    ) -> Result<()> {
        let [x, y, z] = cloud.position;
        let blocks = [(0, x), (1, y), (2, z), (3, cloud.color)].map(|(binding, values)| {
            let start = values.map_or(0, |values| before * values.attribute(0).step());
            // A block that is not read is a buffer all the same.
            Storage { binding, buffer: values.map_or(&self.sums, |values| values.buffer), start }
        });
        let [xs, ys, zs, values] = blocks;
        self.splat.set("count", whole(count));
        self.splat.set("before", whole(before));
        let dispatch = Dispatch {
            program: &self.splat,
            groups: u32::try_from(count.div_ceil(GROUP * EACH)).unwrap_or(Dispatch::MAX_GROUPS),
            storage: &[xs, ys, zs, values, Storage::new(4, &self.sums)],
            textures: &[(0, colormap)],
        };
        dispatch.run()
    }

    fn set_uniforms(&self, light: &Framebuffer, cloud: &Cloud<'_>, count: usize, diameter: f32) {
        let size = Uniform::Ivec2(light.size().map(u32::cast_signed));
        let unit = Uniform::F32(unit(count, diameter));
        for program in [&self.splat, &self.gather] {
            program.set("size", size);
            program.set("unit", unit);
        }
        let layouts = cloud.position.map(|axis| axis.map_or([0; 3], layout));
        self.splat.set("position_offsets", Uniform::Ivec3(layouts.map(|[offset, ..]| offset)));
        self.splat.set("position_strides", Uniform::Ivec3(layouts.map(|[_, stride, _]| stride)));
        self.splat.set("value_layout", Uniform::Ivec3(cloud.color.map_or([0; 3], layout)));
        self.splat.set("fine", Uniform::F32(fine(diameter)));
        self.splat.set("light", Uniform::F32(LIGHT));
    }
}

/// What a point has.
fn inputs<'a>(cloud: &Cloud<'a>) -> impl Iterator<Item = Values<'a>> + use<'a> {
    cloud.position.into_iter().chain([cloud.color]).flatten()
}

/// Offset and stride in floats, and components.
fn layout(values: Values<'_>) -> [i32; 3] {
    let words = |bytes: usize| (bytes / size_of::<f32>()) as i32;
    let step = values.attribute(0).step();
    [words(values.offset as usize), words(step), i32::from(values.components)]
}

fn whole(count: usize) -> Uniform {
    Uniform::I32(i32::try_from(count).unwrap_or(i32::MAX))
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

//! Volumes: a texture of three dimensions as a cloud that glows.

use glam::Vec3;

use super::{Camera, Coloring, Paint, Projection, cover};
use crate::gl::{
    Blend, Filter, Framebuffer, Gl, Program, Result, Source, Texture, Uniform, VertexArray, Wrap,
};

/// A texture to show as a cloud in a box whose longest side is 2: x to the right, y upwards, z towards the start
/// camera. Each place has the colour of its value, and is the denser the larger that is: over a length l of the value
/// v the share 1 - exp(-v · density · l / 2) of the light behind is hidden. With [`Paint::Rgba`] alpha is the value.
#[derive(Clone, Copy, Debug)]
pub struct Volume<'a> {
    /// Of three dimensions. Values of 8-bit textures count from 0 to 1. Sampled with settings of the view's own.
    pub texture: &'a Texture,
    /// From texels to colours.
    pub coloring: Coloring,
    /// Optical depth of the value 1 along the longest side.
    pub density: f32,
}

impl<'a> Volume<'a> {
    /// A volume as a scene without further wishes shows it.
    pub fn new(texture: &'a Texture) -> Self {
        let coloring = Coloring { paint: Paint::Component(0), ..Coloring::default() };
        Self { texture, coloring, density: 1.0 }
    }
}

/// Draws volumes.
#[derive(Debug)]
pub(super) struct Volumes {
    program: Program,
    nothing: VertexArray,
}

const FRAGMENT: Source = Source {
    name: "shaders/volume.frag",
    text: concat!(
        "#version 330 core\n",
        include_str!("../../shaders/coloring.glsl"),
        include_str!("../../shaders/volume.frag")
    ),
};

/// A step in texels: with linear interpolation between them nothing falls through.
const STEP_TEXELS: f32 = 0.8;

impl Volumes {
    pub(super) fn new(gl: &Gl) -> Result<Self> {
        let program = Program::new(gl, cover::VERTEX, FRAGMENT)?;
        Ok(Self { program, nothing: VertexArray::new(gl, &[])? })
    }

    /// Draws over all of `light`, with its weight as coverage.
    pub(super) fn draw(
        &self,
        light: &Framebuffer,
        colormap: &Texture,
        camera: &Camera,
        volume: &Volume<'_>,
    ) -> Result<()> {
        self.set_uniforms(camera, light.size(), volume);
        volume.texture.set_sampling(Filter::Linear, Wrap::Clamp);
        let textures = [(0, volume.texture), (1, colormap)];
        cover::cover(light, &self.program, &self.nothing, Blend::Replace, &textures, &[])
    }

    fn set_uniforms(&self, camera: &Camera, size: [u32; 2], volume: &Volume<'_>) {
        let [w, h] = size.map(|n| n as f32);
        let texels = Vec3::from(volume.texture.size().extents().map(|n| n as f32));
        let longest = texels.max_element();
        let edge = |x: f32, y: f32| camera.at_target_depth([x, y].into(), w / h) - camera.target;
        let program = &self.program;
        volume.coloring.set_uniforms(program, 1);
        program.set("volume", Uniform::I32(0));
        program.set("eye", Uniform::Vec3(camera.eye().to_array()));
        program.set("forward", Uniform::Vec3((camera.target - camera.eye()).to_array()));
        program.set("right", Uniform::Vec3(edge(1.0, 0.0).to_array()));
        program.set("up", Uniform::Vec3(edge(0.0, 1.0).to_array()));
        let is_parallel = camera.projection == Projection::Orthographic;
        program.set("parallel", Uniform::F32(if is_parallel { 1.0 } else { 0.0 }));
        program.set("extent", Uniform::Vec3((texels / longest).to_array()));
        program.set("density", Uniform::F32(volume.density / 2.0));
        program.set("stride", Uniform::F32(STEP_TEXELS * 2.0 / longest));
        let pixel = 1.0 / (camera.pixels_per_unit(size) * camera.distance);
        program.set("pixel", Uniform::F32(pixel));
    }
}

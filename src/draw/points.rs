//! Points: round sprites whose light adds up, or balls that hide each other.

use super::{
    Camera,
    cloud::{Blend, Cloud, LIGHT, Sprites},
    picture::Development,
    splat::{self, Splat},
};
use crate::gl::{
    self, Depth, DrawCall, Framebuffer, Gl, Primitive, Program, Result, Source, Target, Texture,
    Uniform, VertexArray,
};

/// Draws clouds.
#[derive(Debug)]
pub(super) struct Points {
    gl: Gl,
    sprites: Program,
    splat: Option<Splat>,
}

const VERTEX: Source = Source {
    name: "shaders/points.vert",
    text: concat!(
        "#version 330 core\n",
        include_str!("../../shaders/coloring.glsl"),
        include_str!("../../shaders/points.glsl"),
        include_str!("../../shaders/points.vert")
    ),
};
const FRAGMENT: Source =
    Source { name: "shaders/points.frag", text: include_str!("../../shaders/points.frag") };

/// For points that have no values, in `shaders/coloring.glsl`.
const NO_PAINT: i32 = 6;
/// A sprite's diameter over its diameter at half light: (1 - r²)² is 1/2 at r = 0.54.
const SPRITE: f32 = 1.85;
/// Sprites smaller than this in pixels would flicker between pixels.
const SMALLEST: f32 = 2.5;
/// No sprite is larger in pixels: drivers end somewhere above 200.
const LARGEST: f32 = 200.0;
/// Points up to this diameter in pixels, at the target, are splatted, where that can be done.
const SPLATTED: f32 = 6.0;
/// The mean density of points over the area that [-1, 1]³ covers.
const MEAN_DENSITY: f32 = 0.7;
/// The density of a single point: the light of few points does not grow beyond.
const SINGLE_DENSITY: f32 = 2.4;

impl Points {
    pub(super) fn new(gl: &Gl) -> Result<Self> {
        let sprites = Program::new(gl, VERTEX, FRAGMENT)?;
        let splat = Splat::new(gl)?;
        Ok(Self { gl: gl.clone(), sprites, splat })
    }

    /// Draws into `light`; how to develop it.
    pub(super) fn draw(
        &mut self,
        light: &Framebuffer,
        colormap: &Texture,
        camera: &Camera,
        cloud: &Cloud<'_>,
    ) -> Result<Development> {
        let size = light.size();
        let diameter = diameter_at_target(camera, cloud, size);
        if cloud.blend == Blend::Additive
            && diameter <= SPLATTED
            && let Some(splat) = &mut self.splat
            && splat.fits(light, cloud)
        {
            set_uniforms(splat.program(), camera, cloud, size);
            splat.draw(light, colormap, cloud, diameter)?;
            let softness = splat::softness(diameter);
            return Ok(Development { exposure: exposure(camera, cloud, size), softness });
        }
        light.clear([0.0; 4]);
        self.draw_sprites(light, colormap, camera, cloud)?;
        Ok(match cloud.blend {
            Blend::Additive => {
                Development { exposure: exposure(camera, cloud, size), softness: 0.0 }
            }
            Blend::Opaque => Development::default(),
        })
    }

    fn draw_sprites(
        &self,
        light: &Framebuffer,
        colormap: &Texture,
        camera: &Camera,
        cloud: &Cloud<'_>,
    ) -> Result<()> {
        let [w, h] = light.size();
        let opaque = cloud.blend == Blend::Opaque;
        set_uniforms(&self.sprites, camera, cloud, [w, h]);
        self.sprites.set("smallest", Uniform::F32(SMALLEST));
        self.sprites.set("opaque", Uniform::I32(i32::from(opaque)));
        let call = DrawCall {
            target: Target::Framebuffer(light),
            rect: [0, 0, w, h],
            program: &self.sprites,
            vertices: &self.vertices(cloud)?,
            count: cloud.count,
            primitive: Primitive::Points,
            blend: if opaque { gl::Blend::Replace } else { gl::Blend::Add },
            depth: if opaque { Depth::Test } else { Depth::Ignore },
            textures: &[(0, colormap)],
            storage: &[],
        };
        call.draw()
    }

    // Made anew each time: it costs microseconds, and the buffers change with each step (there are two).
    fn vertices(&self, cloud: &Cloud<'_>) -> Result<VertexArray> {
        let [x, y, z] = cloud.position;
        let inputs = [(0, x), (1, y), (2, z), (3, cloud.color)];
        let inputs = inputs.map(|(location, values)| Some(values?.attribute(location)));
        VertexArray::new(&self.gl, &inputs.into_iter().flatten().collect::<Vec<_>>())
    }
}

/// What `shaders/points.glsl` needs.
fn set_uniforms(program: &Program, camera: &Camera, cloud: &Cloud<'_>, size: [u32; 2]) {
    let [w, h] = size.map(|n| n as f32);
    let sprites = cloud.sprites();
    let reference = if cloud.perspective { reference(camera, &sprites) } else { 0.0 };
    let near_far = [-1.2, 1.6].map(|depth| camera.distance + depth * cloud.scale);
    let view_projection = camera.view_projection(w / h).to_cols_array();
    program.set("view_projection", Uniform::Mat4(view_projection));
    program.set("diameter", Uniform::F32(diameter(&sprites, size)));
    program.set("largest", Uniform::F32(LARGEST));
    program.set("reference", Uniform::F32(reference));
    program.set("depth_range", Uniform::Vec2(near_far));
    cloud.coloring.set_uniforms(program, 0);
    if cloud.color.is_none() {
        program.set("paint", Uniform::I32(NO_PAINT));
        program.set("logarithmic", Uniform::I32(0));
    }
}

/// A sprite's diameter in pixels at the start camera's distance.
fn diameter(of: &Sprites, [_, height]: [u32; 2]) -> f32 {
    let round = if of.blend == Blend::Opaque { 1.0 } else { SPRITE };
    of.size_px.clamp(0.01, 1000.0) * round * height as f32 / 720.0
}

/// The distance at which sprites have their diameter. It follows the camera half way, so that near points are
/// larger than far ones, but going nearer does not turn sparks into balloons.
fn reference(camera: &Camera, of: &Sprites) -> f32 {
    (Camera::START_DISTANCE * of.scale * camera.distance).sqrt()
}

fn diameter_at_target(camera: &Camera, cloud: &Cloud<'_>, size: [u32; 2]) -> f32 {
    diameter_at(camera, &cloud.sprites(), size, camera.distance)
}

/// A sprite's diameter in pixels, `w` being that of its place in clip space.
pub(super) fn diameter_at(camera: &Camera, of: &Sprites, size: [u32; 2], w: f32) -> f32 {
    let scale = if of.perspective { reference(camera, of) / w.max(1.0e-6) } else { 1.0 };
    diameter(of, size) * scale
}

/// The density of one unit of weight with which the cloud's mean density is the same for every count, size,
/// resolution and distance: nothing is measured, so nothing adapts.
fn exposure(camera: &Camera, cloud: &Cloud<'_>, size: [u32; 2]) -> f32 {
    let light_px = diameter_at_target(camera, cloud, size).powi(2) * LIGHT;
    // [-1, 1]³ covers about 5 square units.
    let area_px = 5.0 * (cloud.scale * camera.pixels_per_unit(size)).powi(2);
    let mean = cloud.count as f32 * light_px / area_px;
    (MEAN_DENSITY / mean.max(1.0e-12)).min(SINGLE_DENSITY)
}

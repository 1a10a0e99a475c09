//! Images: a texture of two dimensions, flat on the picture.

use super::{Background, Coloring, PanZoom, cover};
use crate::gl::{
    Blend, Filter, Framebuffer, Gl, Program, Result, Source, Texture, Uniform, VertexArray, Wrap,
};

/// A texture to show as a picture; its first row is the lowest one. Colours come out as the colour map, or the
/// texture's own RGBA, has them: light is not simulated here.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// Of two dimensions. Values of 8-bit textures count from 0 to 1. Sampled with settings of the view's own.
    pub texture: &'a Texture,
    /// From texels to colours; a checkerboard shows through where alpha is below 1.
    pub coloring: Coloring,
    /// How it is enlarged. Where a pixel covers several texels it has their mean.
    pub filter: Filter,
}

impl<'a> Image<'a> {
    /// An image as a scene without further wishes shows it.
    pub fn new(texture: &'a Texture) -> Self {
        Self { texture, coloring: Coloring::default(), filter: Filter::Nearest }
    }
}

/// Draws images.
#[derive(Debug)]
pub(super) struct Images {
    program: Program,
    nothing: VertexArray,
}

const FRAGMENT: Source = Source {
    name: "shaders/image.frag",
    text: concat!(
        "#version 330 core\n",
        include_str!("../../shaders/coloring.glsl"),
        include_str!("../../shaders/image.frag")
    ),
};

/// At most so many taps of two texels each are averaged along an axis.
const MOST_TAPS: f32 = 8.0;

impl Images {
    pub(super) fn new(gl: &Gl) -> Result<Self> {
        let program = Program::new(gl, cover::VERTEX, FRAGMENT)?;
        Ok(Self { program, nothing: VertexArray::new(gl, &[])? })
    }

    /// Draws over all of `target`, in sRGB.
    pub(super) fn draw(
        &self,
        target: &Framebuffer,
        colormap: &Texture,
        part: PanZoom,
        background: &Background,
        image: &Image<'_>,
    ) -> Result<()> {
        let [width, height, _] = image.texture.size().extents();
        let span = part.span([width, height], target.size());
        let texels = span.to_array().map(|part| part * width as f32);
        let per_pixel = texels[0] / target.size()[0] as f32;
        let taps = (per_pixel / 2.0).ceil().clamp(1.0, MOST_TAPS) as i32;
        let nearest = image.filter == Filter::Nearest && per_pixel <= 1.0;
        image.texture.set_sampling(Filter::Linear, Wrap::Clamp);
        let program = &self.program;
        image.coloring.set_uniforms(program, 1);
        program.set("image", Uniform::I32(0));
        program.set("size", Uniform::Vec2(target.size().map(|n| n as f32)));
        program.set("centre", Uniform::Vec2(part.centre().to_array()));
        program.set("span", Uniform::Vec2(span.to_array()));
        program.set("nearest", Uniform::I32(i32::from(nearest)));
        program.set("taps", Uniform::I32(taps));
        program.set("ground", Uniform::Vec3(background.middle));
        let textures = [(0, image.texture), (1, colormap)];
        cover::cover(target, program, &self.nothing, Blend::Replace, &textures, &[])
    }
}

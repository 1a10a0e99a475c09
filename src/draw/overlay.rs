//! Flat shapes and text over a picture.

use epaint::{
    Mesh, Shape, TessellationOptions, Tessellator, TextOptions,
    text::{FontDefinitions, Fonts, FontsView, ViewportKey},
};

use crate::gl::{
    Attribute, Blend, Buffer, Component, Depth, DrawCall, Filter, Format, Framebuffer, Gl,
    Primitive, Program, Result, Size, Source, Target, Texture, Uniform, VertexArray, Wrap,
};

/// Draws epaint's shapes, as egui's painter does: colours are sRGB, and cover by their alpha.
pub(super) struct Overlay {
    gl: Gl,
    program: Program,
    fonts: Fonts,
    /// The glyphs that have been used so far.
    glyphs: Option<Texture>,
}

const VERTEX: Source =
    Source { name: "shaders/overlay.vert", text: include_str!("../../shaders/overlay.vert") };
const FRAGMENT: Source =
    Source { name: "shaders/overlay.frag", text: include_str!("../../shaders/overlay.frag") };

/// A corner of a triangle.
#[derive(Clone, Copy, bytemuck::NoUninit)]
#[repr(C)]
struct Vertex {
    position: [f32; 2],
    uv: [f32; 2],
    color: [u8; 4],
}

impl std::fmt::Debug for Overlay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overlay").finish_non_exhaustive()
    }
}

impl Overlay {
    pub(super) fn new(gl: &Gl) -> Result<Self> {
        let fonts = Fonts::new(TextOptions::default(), FontDefinitions::default());
        let program = Program::new(gl, VERTEX, FRAGMENT)?;
        Ok(Self { gl: gl.clone(), program, fonts, glyphs: None })
    }

    /// What is in `slot`, made if it is not there yet.
    pub(super) fn made<'a>(slot: &'a mut Option<Self>, gl: &Gl) -> Result<&'a mut Self> {
        Ok(match slot {
            Some(there) => there,
            none => none.insert(Self::new(gl)?),
        })
    }

    /// Draws what `shapes` gives over `picture`, a point of which has `scale` pixels.
    pub(super) fn draw(
        &mut self,
        picture: &Framebuffer,
        scale: f32,
        shapes: impl FnOnce(&mut FontsView<'_>) -> Vec<Shape>,
    ) -> Result<()> {
        self.fonts.begin_pass(TextOptions::default(), ViewportKey::default());
        let shapes = shapes(&mut self.fonts.with_pixels_per_point(scale));
        let (options, atlas) = (TessellationOptions::default(), self.fonts.font_image_size());
        let mut tessellator = Tessellator::new(scale, options, atlas, Vec::new());
        let mut mesh = Mesh::default();
        shapes.into_iter().for_each(|shape| tessellator.tessellate_shape(shape, &mut mesh));
        self.keep_glyphs()?;
        let Some(glyphs) = &self.glyphs else { return Ok(()) };
        let [w, h] = picture.size();
        self.program.set("size", Uniform::Vec2([w as f32 / scale, h as f32 / scale]));
        self.program.set("glyphs", Uniform::I32(0));
        let corners = corners(&mesh);
        let call = DrawCall {
            target: Target::Framebuffer(picture),
            rect: [0, 0, w, h],
            program: &self.program,
            vertices: &vertices(&self.gl, &corners)?,
            count: corners.len(),
            primitive: Primitive::Triangles,
            blend: Blend::Over,
            depth: Depth::Ignore,
            textures: &[(0, glyphs)],
            storage: &[],
        };
        call.draw()
    }

    /// Brings the texture up to date with the glyphs that were laid out.
    fn keep_glyphs(&mut self) -> Result<()> {
        if self.fonts.font_image_delta().is_none() && self.glyphs.is_some() {
            return Ok(());
        }
        let image = self.fonts.image();
        let size = Size::Flat(image.size.map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
        let texture = match self.glyphs.take().filter(|texture| texture.size() == size) {
            Some(texture) => texture,
            None => Texture::new(&self.gl, Format::Rgba8, size)?,
        };
        let texels: Vec<[u8; 4]> = image.pixels.iter().map(|color| color.to_array()).collect();
        texture.write(texels.as_flattened())?;
        texture.set_sampling(Filter::Linear, Wrap::Clamp);
        self.glyphs = Some(texture);
        Ok(())
    }
}

/// Three corners a triangle.
fn corners(mesh: &Mesh) -> Vec<Vertex> {
    let vertices = mesh.indices.iter().filter_map(|index| mesh.vertices.get(*index as usize));
    vertices
        .map(|vertex| Vertex {
            position: vertex.pos.into(),
            uv: vertex.uv.into(),
            color: vertex.color.to_array(),
        })
        .collect()
}

fn vertices(gl: &Gl, corners: &[Vertex]) -> Result<VertexArray> {
    let buffer = Buffer::with_data(gl, corners)?;
    let input = |location, components, kind, offset| Attribute {
        location,
        buffer: &buffer,
        components,
        kind,
        stride: size_of::<Vertex>() as u32,
        offset,
    };
    let color = input(2, 4, Component::U8, 16);
    VertexArray::new(gl, &[input(0, 2, Component::F32, 0), input(1, 2, Component::F32, 8), color])
}

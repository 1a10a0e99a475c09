//! Surfaces: a texture of two dimensions as a lit height field.

use super::{Camera, Coloring, Paint};
use crate::gl::{
    Blend, Depth, DrawCall, Filter, Format, Framebuffer, Gl, Primitive, Program, Result, Samples,
    Source, Target, Texture, Uniform, VertexArray, Wrap,
};

/// A texture to show as a height field over the x-z plane: its first row is nearest to the start camera, its longer
/// side 2 long. The first channel is the height.
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a> {
    /// Of two dimensions. Values of 8-bit textures count from 0 to 1. Sampled with settings of the view's own.
    pub texture: &'a Texture,
    /// From texels to the surface's colours; alpha counts for nothing.
    pub coloring: Coloring,
    /// The height of the value 1.
    pub height: f32,
}

impl<'a> Surface<'a> {
    /// A surface as a scene without further wishes shows it.
    pub fn new(texture: &'a Texture) -> Self {
        let coloring = Coloring { paint: Paint::Component(0), ..Coloring::default() };
        Self { texture, coloring, height: 1.0 }
    }
}

/// Draws surfaces.
#[derive(Debug)]
pub(super) struct Surfaces {
    gl: Gl,
    program: Program,
    nothing: VertexArray,
    /// Where edges are smooth: with several samples a pixel.
    smooth: Option<Framebuffer>,
}

const VERTEX: Source = Source {
    name: "shaders/surface.vert",
    text: concat!("#version 330 core\n", include_str!("../../shaders/surface.vert")),
};
const FRAGMENT: Source = Source {
    name: "shaders/surface.frag",
    text: concat!(
        "#version 330 core\n",
        include_str!("../../shaders/coloring.glsl"),
        include_str!("../../shaders/surface.frag")
    ),
};

/// Samples of a pixel.
const SAMPLES: Samples = Samples::Many(4);
/// Pixels of the picture's longer side for each cell along the field's: smaller ones are hardly seen, because the light
/// is computed for each pixel.
const PIXELS_PER_CELL: f32 = 2.0;
const FEWEST_CELLS: f32 = 16.0;

impl Surfaces {
    pub(super) fn new(gl: &Gl) -> Result<Self> {
        let program = Program::new(gl, VERTEX, FRAGMENT)?;
        Ok(Self { gl: gl.clone(), program, nothing: VertexArray::new(gl, &[])?, smooth: None })
    }

    /// Draws into `light`, with its weight as coverage.
    pub(super) fn draw(
        &mut self,
        light: &Framebuffer,
        colormap: &Texture,
        camera: &Camera,
        surface: &Surface<'_>,
    ) -> Result<()> {
        let [w, h] = light.size();
        if self.smooth.as_ref().is_none_or(|smooth| smooth.size() != [w, h]) {
            let smooth =
                Framebuffer::with_samples(&self.gl, Format::Rgba16f, [w, h], true, SAMPLES)?;
            self.smooth = Some(smooth);
        }
        let Some(smooth) = &self.smooth else { return Ok(()) };
        smooth.clear([0.0; 4]);
        let cells = cells(surface.texture, [w, h]);
        self.set_uniforms(camera, [w, h], cells, surface);
        surface.texture.set_sampling(Filter::Linear, Wrap::Clamp);
        let call = DrawCall {
            target: Target::Framebuffer(smooth),
            rect: [0, 0, w, h],
            program: &self.program,
            vertices: &self.nothing,
            count: vertices(cells),
            primitive: Primitive::TriangleStrip,
            blend: Blend::Replace,
            depth: Depth::Test,
            textures: &[(0, surface.texture), (1, colormap)],
            storage: &[],
        };
        call.draw()?;
        smooth.blit_to(Target::Framebuffer(light), [0, 0, w, h])
    }

    fn set_uniforms(
        &self,
        camera: &Camera,
        size: [u32; 2],
        cells: [u32; 2],
        surface: &Surface<'_>,
    ) {
        let [w, h] = size.map(|n| n as f32);
        let [width, depth, _] = surface.texture.size().extents().map(|n| n as f32);
        let longer = width.max(depth);
        let program = &self.program;
        surface.coloring.set_uniforms(program, 1);
        program.set("field", Uniform::I32(0));
        program
            .set("view_projection", Uniform::Mat4(camera.view_projection(w / h).to_cols_array()));
        program.set("eye", Uniform::Vec4(camera.origin().to_array()));
        program.set("cells", Uniform::Ivec2(cells.map(u32::cast_signed)));
        program.set("extent", Uniform::Vec2([width / longer, depth / longer]));
        program.set("height", Uniform::F32(surface.height));
        program.set("reach", Uniform::Vec2(reach([width, depth], cells)));
    }
}

/// Cells of the grid: one between two texels, or fewer where the picture would not show them.
fn cells(texture: &Texture, picture: [u32; 2]) -> [u32; 2] {
    let [width, depth, _] = texture.size().extents();
    let [w, h] = picture;
    let most = (w.max(h) as f32 / PIXELS_PER_CELL).max(FEWEST_CELLS);
    let share = (most / width.max(depth) as f32).min(1.0);
    [width, depth].map(|texels| ((texels as f32 * share) as u32).min(texels - 1).max(1))
}

/// How far from a vertex the taps are whose mean it has: a quarter of a cell that is wider than a texel.
fn reach(texels: [f32; 2], cells: [u32; 2]) -> [f32; 2] {
    [0, 1].map(|axis| {
        let cell = 1.0 / cells[axis] as f32;
        if cell > 1.5 / texels[axis] { cell / 4.0 } else { 0.0 }
    })
}

/// Vertices of the strip: those of a row of cells, of which the first and the last come twice.
fn vertices([width, depth]: [u32; 2]) -> usize {
    (2 * width as usize + 4) * depth as usize
}

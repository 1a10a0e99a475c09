//! One draw with all the state that it relies on.

use super::{Gl, Program, Result, Storage, Target, Texture, VertexArray, dispatch};

/// One draw: where to, with what, and every state that it relies on. Nothing of an earlier draw, or of
/// another painter on the same context, shows through.
///
/// Afterwards the framebuffer that was bound is bound again, and no program, vertex array or texture of ours
/// is; viewport, scissor, blending and depth state stay as the draw set them (egui sets its own).
#[derive(Clone, Copy, Debug)]
pub struct DrawCall<'a> {
    /// Where to.
    pub target: Target<'a>,
    /// The rectangle `[x, y, width, height]` of the target that is drawn into, in pixels, y upwards; nothing
    /// outside of it changes.
    pub rect: [u32; 4],
    /// The shaders, with their uniforms set.
    pub program: &'a Program,
    /// The shaders' inputs.
    pub vertices: &'a VertexArray,
    /// How many vertices; at most [`VertexArray::capacity`], more are not drawn.
    pub count: usize,
    /// What the vertices make.
    pub primitive: Primitive,
    /// How colours are combined.
    pub blend: Blend,
    /// Whether what lies behind is hidden.
    pub depth: Depth,
    /// Textures and the units that the shaders' samplers name.
    pub textures: &'a [(u32, &'a Texture)],
    /// What the shaders' `buffer` blocks are (OpenGL 4.3).
    pub storage: &'a [Storage<'a>],
}

/// What vertices make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// A square each, of `gl_PointSize` pixels.
    Points,
    /// Three make a triangle.
    Triangles,
    /// Each makes a triangle with the two before it.
    TriangleStrip,
    /// Two make a line.
    Lines,
}

/// How a draw's colours are combined with what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blend {
    /// They replace it.
    Replace,
    /// They are added.
    Add,
    /// They cover it by their alpha, with which they were multiplied before.
    Over,
}

/// What a draw does with the depth buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Nothing.
    Ignore,
    /// Hides what is behind, and hides what comes behind it.
    Test,
    /// Is hidden by what is in front, and hides nothing.
    ReadOnly,
}

/// Points that are drawn at once.
const MOST_POINTS: i32 = 1 << 20;

impl DrawCall<'_> {
    /// Draws.
    ///
    /// # Errors
    /// [`super::Error::WrongContext`] when the objects are not of one context.
    pub fn draw(&self) -> Result<()> {
        let gl = self.program.gl();
        self.expect_one_context(gl)?;
        let count = i32::try_from(self.count.min(self.vertices.capacity())).unwrap_or(i32::MAX);
        let _bound = self.target.bind(gl);
        self.set_rasterisation(gl);
        self.set_blend(gl);
        self.set_depth(gl);
        dispatch::bind(self.storage, self.textures);
        self.program.bind();
        self.vertices.bind();
        self.draw_vertices(gl, count);
        self.leave(gl);
        Ok(())
    }

    /// A driver that draws on the CPU holds what the vertex shader makes of a whole draw, over 100 bytes of each point.
    fn draw_vertices(&self, gl: &Gl, count: i32) {
        let mode = self.primitive.constant();
        match self.primitive {
            Primitive::Points => {
                let starts = (0..count).step_by(MOST_POINTS as usize);
                starts
                    .for_each(|first| gl.draw_arrays(mode, first, MOST_POINTS.min(count - first)));
            }
            Primitive::Triangles | Primitive::TriangleStrip | Primitive::Lines => {
                gl.draw_arrays(mode, 0, count);
            }
        }
    }

    fn expect_one_context(&self, gl: &Gl) -> Result<()> {
        self.target.expect_same(gl, "draw")?;
        gl.expect_same(self.vertices.gl(), "draw")?;
        dispatch::expect_one_context(gl, self.storage, self.textures, "draw")
    }

    fn set_rasterisation(&self, gl: &Gl) {
        let [x, y, w, h] = self.rect.map(u32::cast_signed);
        gl.viewport(x, y, w, h);
        gl.enable(glow::SCISSOR_TEST);
        gl.scissor(x, y, w, h);
        gl.color_mask(true, true, true, true);
        gl.enable(glow::PROGRAM_POINT_SIZE);
        for off in [glow::CULL_FACE, glow::STENCIL_TEST, glow::FRAMEBUFFER_SRGB, glow::DITHER] {
            gl.disable(off);
        }
        gl.polygon_mode(glow::FRONT_AND_BACK, glow::FILL);
    }

    fn set_blend(&self, gl: &Gl) {
        let destination = match self.blend {
            Blend::Replace => return gl.disable(glow::BLEND),
            Blend::Add => glow::ONE,
            Blend::Over => glow::ONE_MINUS_SRC_ALPHA,
        };
        gl.enable(glow::BLEND);
        gl.blend_equation(glow::FUNC_ADD);
        gl.blend_func_separate(glow::ONE, destination, glow::ONE, destination);
    }

    fn set_depth(&self, gl: &Gl) {
        gl.depth_mask(self.depth == Depth::Test);
        if self.depth == Depth::Ignore {
            return gl.disable(glow::DEPTH_TEST);
        }
        gl.enable(glow::DEPTH_TEST);
        gl.depth_func(glow::LEQUAL);
    }

    fn leave(&self, gl: &Gl) {
        gl.bind_vertex_array(None);
        gl.use_program(None);
        dispatch::unbind(gl, self.storage, self.textures);
    }
}

impl Primitive {
    fn constant(self) -> u32 {
        match self {
            Self::Points => glow::POINTS,
            Self::Triangles => glow::TRIANGLES,
            Self::TriangleStrip => glow::TRIANGLE_STRIP,
            Self::Lines => glow::LINES,
        }
    }
}

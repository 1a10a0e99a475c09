//! One run of a compute shader with all that it works on.

use super::{Buffer, Gl, Program, Result, Texture};

/// One run of a compute shader.
///
/// It sees what the runs and draws before it stored in buffers; those after it, and [`Buffer::read`], see
/// what it stored.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// The shader, with its uniforms set.
    pub program: &'a Program,
    /// How many work groups, all along x; at most [`MAX_GROUPS`](Self::MAX_GROUPS) are run.
    pub groups: u32,
    /// What the shader's `buffer` blocks are.
    pub storage: &'a [Storage<'a>],
    /// Textures and the units that the shader's samplers name.
    pub textures: &'a [(u32, &'a Texture)],
}

/// What a shader's `buffer` block is.
#[derive(Clone, Copy, Debug)]
pub struct Storage<'a> {
    /// `layout(binding = …)` in the shader.
    pub binding: u32,
    /// Of this buffer the bytes from `start` on, up to [`Gl::max_storage_bytes`].
    pub buffer: &'a Buffer,
    /// The first byte, a multiple of [`ALIGNMENT`](Self::ALIGNMENT).
    pub start: usize,
}

impl<'a> Storage<'a> {
    /// Where a block may begin with every driver (OpenGL 4.3, table 23.66).
    pub const ALIGNMENT: usize = 256;

    /// A buffer from its start on.
    pub fn new(binding: u32, buffer: &'a Buffer) -> Self {
        Self { binding, buffer, start: 0 }
    }
}

impl Dispatch<'_> {
    /// Work groups that every driver takes (OpenGL 4.3, table 23.60).
    pub const MAX_GROUPS: u32 = 65_535;

    /// Runs it.
    ///
    /// # Errors
    /// [`super::Error::WrongContext`] when the objects are not of one context.
    pub fn run(&self) -> Result<()> {
        let gl = self.program.gl();
        expect_one_context(gl, self.storage, self.textures, "dispatch")?;
        gl.memory_barrier(glow::SHADER_STORAGE_BARRIER_BIT);
        bind(self.storage, self.textures);
        self.program.bind();
        gl.dispatch_compute(self.groups.min(Self::MAX_GROUPS));
        gl.memory_barrier(glow::SHADER_STORAGE_BARRIER_BIT | glow::BUFFER_UPDATE_BARRIER_BIT);
        gl.use_program(None);
        unbind(gl, self.storage, self.textures);
        Ok(())
    }
}

pub(super) fn expect_one_context(
    gl: &Gl,
    storage: &[Storage<'_>],
    textures: &[(u32, &Texture)],
    operation: &'static str,
) -> Result<()> {
    storage.iter().try_for_each(|block| gl.expect_same(block.buffer.gl(), operation))?;
    textures.iter().try_for_each(|(_, texture)| gl.expect_same(texture.gl(), operation))
}

pub(super) fn bind(storage: &[Storage<'_>], textures: &[(u32, &Texture)]) {
    storage.iter().for_each(|block| block.buffer.bind_as_storage(block.binding, block.start));
    textures.iter().for_each(|(unit, texture)| texture.bind(*unit));
}

pub(super) fn unbind(gl: &Gl, storage: &[Storage<'_>], textures: &[(u32, &Texture)]) {
    for block in storage {
        gl.bind_buffer_base(glow::SHADER_STORAGE_BUFFER, block.binding, None);
    }
    for (unit, texture) in textures {
        gl.active_texture(glow::TEXTURE0 + unit);
        gl.bind_texture(texture.target(), None);
    }
    gl.active_texture(glow::TEXTURE0);
}

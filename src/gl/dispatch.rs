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
    /// Buffers and the bindings of the shader's `buffer` blocks.
    pub storage: &'a [(u32, &'a Buffer)],
    /// Textures and the units that the shader's samplers name.
    pub textures: &'a [(u32, &'a Texture)],
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
    storage: &[(u32, &Buffer)],
    textures: &[(u32, &Texture)],
    operation: &'static str,
) -> Result<()> {
    storage.iter().try_for_each(|(_, buffer)| gl.expect_same(buffer.gl(), operation))?;
    textures.iter().try_for_each(|(_, texture)| gl.expect_same(texture.gl(), operation))
}

pub(super) fn bind(storage: &[(u32, &Buffer)], textures: &[(u32, &Texture)]) {
    storage.iter().for_each(|(binding, buffer)| buffer.bind_as_storage(*binding));
    textures.iter().for_each(|(unit, texture)| texture.bind(*unit));
}

pub(super) fn unbind(gl: &Gl, storage: &[(u32, &Buffer)], textures: &[(u32, &Texture)]) {
    for (binding, _) in storage {
        gl.bind_buffer_base(glow::SHADER_STORAGE_BUFFER, *binding, None);
    }
    for (unit, texture) in textures {
        gl.active_texture(glow::TEXTURE0 + unit);
        gl.bind_texture(texture.target(), None);
    }
    gl.active_texture(glow::TEXTURE0);
}

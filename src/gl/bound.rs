//! A framebuffer that is bound for a while.

use super::Gl;

/// A framebuffer that is bound; the one that was bound before is bound again when this is dropped.
pub(super) struct Bound<'gl> {
    gl: &'gl Gl,
    target: u32,
    before: Option<glow::NativeFramebuffer>,
}

impl<'gl> Bound<'gl> {
    pub(super) fn draw(gl: &'gl Gl, name: Option<glow::NativeFramebuffer>) -> Self {
        Self::bind(gl, glow::DRAW_FRAMEBUFFER, glow::DRAW_FRAMEBUFFER_BINDING, name)
    }

    pub(super) fn read(gl: &'gl Gl, name: Option<glow::NativeFramebuffer>) -> Self {
        Self::bind(gl, glow::READ_FRAMEBUFFER, glow::READ_FRAMEBUFFER_BINDING, name)
    }

    fn bind(gl: &'gl Gl, target: u32, query: u32, name: Option<glow::NativeFramebuffer>) -> Self {
        let before = gl.get_parameter_framebuffer(query);
        gl.bind_framebuffer(target, name);
        Self { gl, target, before }
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        self.gl.bind_framebuffer(self.target, self.before);
    }
}

//! Drawing over the whole of a picture.

use crate::gl::{
    Blend, Depth, DrawCall, Framebuffer, Primitive, Program, Result, Source, Storage, Target,
    Texture, VertexArray,
};

/// The vertex shader of everything that covers the whole picture.
pub(super) const VERTEX: Source =
    Source { name: "shaders/picture.vert", text: include_str!("../../shaders/picture.vert") };

/// Draws a program over the whole of a framebuffer.
pub(super) fn cover(
    target: &Framebuffer,
    program: &Program,
    nothing: &VertexArray,
    blend: Blend,
    textures: &[(u32, &Texture)],
    storage: &[Storage<'_>],
) -> Result<()> {
    let [w, h] = target.size();
    let call = DrawCall {
        target: Target::Framebuffer(target),
        rect: [0, 0, w, h],
        program,
        vertices: nothing,
        count: 3,
        primitive: Primitive::Triangles,
        blend,
        depth: Depth::Ignore,
        textures,
        storage,
    };
    call.draw()
}

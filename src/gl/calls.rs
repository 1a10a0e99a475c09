//! Every call into OpenGL, as a safe method of [`Gl`]: the only file that calls `glow`, but for `loader.rs`.
//!
//! Each makes its context current first. Calls that take names, sizes and enums have no duty that could
//! break memory safety: OpenGL answers nonsense with an error code. Those that OpenGL reads from or writes
//! to through a pointer take slices and check their length.
#![expect(unsafe_code, reason = "all OpenGL calls are unsafe functions in glow")]

use std::ffi::c_void;

use glow::{HasContext, PixelPackData, PixelUnpackData};

use super::{Error, Format, Gl, Result, error::OUT_OF_MEMORY};

/// One call without memory of ours: the body of most methods below.
macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            pub(super) fn $name(&self $(, $argument: $type)*) $(-> $result)? {
                let glow = self.current();
                // SAFETY: the context is current; no pointer of ours is kept or written through.
                unsafe { glow.$name($($argument),*) }
            }
        )*
    };
}

/// One `glGen*` or `glCreate*` call.
macro_rules! creations {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $call:literal;)*) => {
        $(
            pub(super) fn $name(&self $(, $argument: $type)*) -> Result<$result> {
                let glow = self.current();
                // SAFETY: the context is current; the call takes no pointer of ours.
                let created = unsafe { glow.$name($($argument),*) };
                created.map_err(|reason| self.refused($call, reason))
            }
        )*
    };
}

/// What `glGetGraphicsResetStatus` is (OpenGL 4.5, section 2.3.2), which `glow` has not.
type ResetStatus = unsafe extern "system" fn() -> u32;

impl Gl {
    /// Whether the driver has taken away what the context holds, because a program has made the GPU fail. None says so
    /// of a context that was not made to hear of it.
    pub(super) fn is_reset(&self) -> bool {
        let _current = self.current();
        let address = self.address(c"glGetGraphicsResetStatus");
        // SAFETY: drivers that have the function have it of this type; null is `None`.
        let status = unsafe { std::mem::transmute::<*const c_void, Option<ResetStatus>>(address) };
        // SAFETY: the context is current; the call takes nothing.
        status.is_some_and(|status| unsafe { status() } != glow::NO_ERROR)
    }

    creations! {
        create_buffer() -> glow::NativeBuffer, "glGenBuffers";
        create_texture() -> glow::NativeTexture, "glGenTextures";
        create_framebuffer() -> glow::NativeFramebuffer, "glGenFramebuffers";
        create_renderbuffer() -> glow::NativeRenderbuffer, "glGenRenderbuffers";
        create_shader(kind: u32) -> glow::NativeShader, "glCreateShader";
        create_program() -> glow::NativeProgram, "glCreateProgram";
        create_vertex_array() -> glow::NativeVertexArray, "glGenVertexArrays";
        create_query() -> glow::NativeQuery, "glGenQueries";
    }

    calls! {
        delete_buffer(name: glow::NativeBuffer);
        bind_buffer(target: u32, name: Option<glow::NativeBuffer>);
        bind_buffer_base(target: u32, binding: u32, name: Option<glow::NativeBuffer>);
        bind_buffer_range(
            target: u32,
            binding: u32,
            name: Option<glow::NativeBuffer>,
            offset: i32,
            bytes: i32
        );
        memory_barrier(barriers: u32);
        buffer_data_size(target: u32, bytes: i32, usage: u32);
        delete_texture(name: glow::NativeTexture);
        bind_texture(target: u32, name: Option<glow::NativeTexture>);
        active_texture(unit: u32);
        tex_parameter_i32(target: u32, parameter: u32, value: i32);
        pixel_store_i32(parameter: u32, value: i32);
        delete_framebuffer(name: glow::NativeFramebuffer);
        bind_framebuffer(target: u32, name: Option<glow::NativeFramebuffer>);
        get_parameter_framebuffer(parameter: u32) -> Option<glow::NativeFramebuffer>;
        framebuffer_texture_2d(target: u32, attachment: u32, kind: u32, name: Option<glow::NativeTexture>, level: i32);
        framebuffer_texture_layer(target: u32, attachment: u32, name: Option<glow::NativeTexture>, level: i32, layer: i32);
        check_framebuffer_status(target: u32) -> u32;
        delete_renderbuffer(name: glow::NativeRenderbuffer);
        bind_renderbuffer(target: u32, name: Option<glow::NativeRenderbuffer>);
        renderbuffer_storage_multisample(target: u32, samples: i32, format: u32, width: i32, height: i32);
        framebuffer_renderbuffer(target: u32, attachment: u32, kind: u32, name: Option<glow::NativeRenderbuffer>);
        clear_color(red: f32, green: f32, blue: f32, alpha: f32);
        clear(mask: u32);
        viewport(x: i32, y: i32, width: i32, height: i32);
        scissor(x: i32, y: i32, width: i32, height: i32);
        enable(parameter: u32);
        disable(parameter: u32);
        blend_func_separate(source: u32, destination: u32, source_alpha: u32, destination_alpha: u32);
        blend_equation(mode: u32);
        depth_func(function: u32);
        depth_mask(write: bool);
        color_mask(red: bool, green: bool, blue: bool, alpha: bool);
        polygon_mode(face: u32, mode: u32);
        shader_source(name: glow::NativeShader, text: &str);
        compile_shader(name: glow::NativeShader);
        get_shader_compile_status(name: glow::NativeShader) -> bool;
        get_shader_info_log(name: glow::NativeShader) -> String;
        delete_shader(name: glow::NativeShader);
        attach_shader(program: glow::NativeProgram, shader: glow::NativeShader);
        detach_shader(program: glow::NativeProgram, shader: glow::NativeShader);
        link_program(name: glow::NativeProgram);
        get_program_link_status(name: glow::NativeProgram) -> bool;
        get_program_info_log(name: glow::NativeProgram) -> String;
        delete_program(name: glow::NativeProgram);
        use_program(name: Option<glow::NativeProgram>);
        get_uniform_location(program: glow::NativeProgram, name: &str) -> Option<glow::NativeUniformLocation>;
        uniform_1_f32(location: Option<&glow::NativeUniformLocation>, x: f32);
        uniform_1_i32(location: Option<&glow::NativeUniformLocation>, x: i32);
        uniform_2_i32(location: Option<&glow::NativeUniformLocation>, x: i32, y: i32);
        uniform_3_i32(location: Option<&glow::NativeUniformLocation>, x: i32, y: i32, z: i32);
        uniform_2_f32(location: Option<&glow::NativeUniformLocation>, x: f32, y: f32);
        uniform_3_f32(location: Option<&glow::NativeUniformLocation>, x: f32, y: f32, z: f32);
        uniform_4_f32(location: Option<&glow::NativeUniformLocation>, x: f32, y: f32, z: f32, w: f32);
        uniform_matrix_4_f32_slice(location: Option<&glow::NativeUniformLocation>, transpose: bool, values: &[f32; 16]);
        delete_vertex_array(name: glow::NativeVertexArray);
        bind_vertex_array(name: Option<glow::NativeVertexArray>);
        enable_vertex_attrib_array(index: u32);
        delete_query(name: glow::NativeQuery);
        begin_query(target: u32, name: glow::NativeQuery);
        end_query(target: u32);
        get_query_parameter_u32(name: glow::NativeQuery, parameter: u32) -> u32;
        get_query_parameter_u64(name: glow::NativeQuery, parameter: u32) -> u64;
        get_error() -> u32;
        get_parameter_i32(parameter: u32) -> i32;
    }

    /// Hands all commands so far to the driver, without waiting (`glFlush`).
    pub fn flush(&self) {
        let glow = self.current();
        // SAFETY: the context is current.
        unsafe { glow.flush() }
    }

    /// Waits until all commands so far are done (`glFinish`).
    pub fn finish(&self) {
        let glow = self.current();
        // SAFETY: the context is current.
        unsafe { glow.finish() }
    }

    /// Uploads to the bound buffer from byte `offset` on; the caller has checked the range.
    pub(super) fn buffer_sub_data(&self, target: u32, offset: i32, bytes: &[u8]) {
        let glow = self.current();
        // SAFETY: the context is current; OpenGL reads exactly the slice and checks the buffer's range.
        unsafe { glow.buffer_sub_data_u8_slice(target, offset, bytes) }
    }

    /// Reads the bound buffer from byte `offset` on.
    pub(super) fn get_buffer_sub_data(&self, target: u32, offset: i32, bytes: &mut [u8]) {
        let glow = self.current();
        // SAFETY: the context is current; OpenGL writes exactly the slice and checks the buffer's range.
        unsafe { glow.get_buffer_sub_data(target, offset, bytes) }
    }

    /// Allocates the bound texture's level 0 without content.
    pub(super) fn tex_image(&self, target: u32, format: Format, [w, h, d]: [i32; 3]) {
        let glow = self.current();
        let (internal, layout, kind) =
            (format.internal().cast_signed(), format.layout(), format.kind());
        let none = PixelUnpackData::Slice(None);
        if target == glow::TEXTURE_3D {
            // SAFETY: the context is current; there is no pixel data to read.
            unsafe { glow.tex_image_3d(target, 0, internal, w, h, d, 0, layout, kind, none) }
        } else {
            // SAFETY: the context is current; there is no pixel data to read.
            unsafe { glow.tex_image_2d(target, 0, internal, w, h, 0, layout, kind, none) }
        }
    }

    /// Uploads the bound texture's level 0; rows are tightly packed.
    pub(super) fn tex_sub_image(
        &self,
        target: u32,
        format: Format,
        size: [i32; 3],
        bytes: &[u8],
    ) -> Result<()> {
        fits("a texture", bytes.len(), format.bytes(size))?;
        self.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
        self.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
        let [w, h, d] = size;
        let (glow, layout, kind) = (self.current(), format.layout(), format.kind());
        let data = PixelUnpackData::Slice(Some(bytes));
        if target == glow::TEXTURE_3D {
            // SAFETY: the context is current; the slice has the w*h*d texels that are read, unpadded.
            unsafe { glow.tex_sub_image_3d(target, 0, 0, 0, 0, w, h, d, layout, kind, data) }
        } else {
            // SAFETY: the context is current; the slice has the w*h texels that are read, unpadded.
            unsafe { glow.tex_sub_image_2d(target, 0, 0, 0, w, h, layout, kind, data) }
        }
        Ok(())
    }

    /// Fills the bound flat texture's level 0 from the start of the bound pixel buffer, whose rows are tightly packed.
    /// The caller has checked that it is long enough.
    pub(super) fn tex_sub_image_from_buffer(&self, layout: u32, kind: u32, [w, h]: [i32; 2]) {
        self.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
        let (glow, data) = (self.current(), PixelUnpackData::BufferOffset(0));
        // SAFETY: the context is current; OpenGL reads the bound buffer and checks its length.
        unsafe { glow.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, w, h, layout, kind, data) }
        self.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
    }

    /// Reads the bound texture's level 0, which has `size`; rows are tightly packed.
    pub(super) fn get_tex_image(
        &self,
        target: u32,
        format: Format,
        size: [i32; 3],
        bytes: &mut [u8],
    ) -> Result<()> {
        fits("a texture", bytes.len(), format.bytes(size))?;
        self.pixel_store_i32(glow::PACK_ALIGNMENT, 1);
        self.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
        let (glow, layout, kind) = (self.current(), format.layout(), format.kind());
        let data = PixelPackData::Slice(Some(bytes));
        // SAFETY: the context is current; the slice has room for all texels of the level, unpadded.
        unsafe { glow.get_tex_image(target, 0, layout, kind, data) }
        Ok(())
    }

    /// Reads a rectangle of the bound read framebuffer, bottom row first, tightly packed.
    pub(super) fn read_pixels(
        &self,
        [x, y, w, h]: [i32; 4],
        format: Format,
        bytes: &mut [u8],
    ) -> Result<()> {
        fits("a picture", bytes.len(), format.bytes([w, h, 1]))?;
        self.pixel_store_i32(glow::PACK_ALIGNMENT, 1);
        self.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
        let (glow, layout, kind) = (self.current(), format.layout(), format.kind());
        let data = PixelPackData::Slice(Some(bytes));
        // SAFETY: the context is current; the slice has room for w*h pixels, unpadded.
        unsafe { glow.read_pixels(x, y, w, h, layout, kind, data) }
        Ok(())
    }

    /// Copies colour between the bound framebuffers; rectangles are `[x0, y0, x1, y1]`.
    pub(super) fn blit_framebuffer(&self, from: [i32; 4], to: [i32; 4], mask: u32, filter: u32) {
        let glow = self.current();
        let ([a, b, c, d], [p, q, r, s]) = (from, to);
        // SAFETY: the context is current; the call takes no pointer.
        unsafe { glow.blit_framebuffer(a, b, c, d, p, q, r, s, mask, filter) }
    }

    /// Sets where the bound vertex array finds attribute `index` in the bound array buffer.
    pub(super) fn vertex_attrib_pointer(
        &self,
        index: u32,
        components: i32,
        kind: u32,
        normalized: bool,
        stride: i32,
        offset: i32,
    ) {
        let glow = self.current();
        // SAFETY: the context is current and an array buffer bound, so `offset` is no host address.
        unsafe {
            glow.vertex_attrib_pointer_f32(index, components, kind, normalized, stride, offset)
        }
    }

    /// Draws `count` vertices of the bound vertex array from `first` on; [`super::VertexArray::capacity`] bounds both.
    pub(super) fn draw_arrays(&self, mode: u32, first: i32, count: i32) {
        let glow = self.current();
        // SAFETY: the context is current; all enabled attributes come from buffers with `first + count` elements.
        unsafe { glow.draw_arrays(mode, first, count) }
    }

    /// Runs `groups` work groups of the current compute program.
    pub(super) fn dispatch_compute(&self, groups: u32) {
        let glow = self.current();
        // SAFETY: the context is current; it reads and writes bound buffers, which live until unbound. That
        // a shader's indices stay within them is the duty of its text, which is this crate's own.
        unsafe { glow.dispatch_compute(groups, 1, 1) }
    }

    /// Forgets errors of earlier calls, so that [`check`](Self::check) tells of the next ones only.
    pub(super) fn forget_errors(&self) {
        // A lost context may report an error for ever.
        for _ in 0..16 {
            if self.get_error() == glow::NO_ERROR {
                return;
            }
        }
    }

    /// The error of the calls since [`forget_errors`](Self::forget_errors), blamed on `call`.
    pub(super) fn check(&self, call: &'static str) -> Result<()> {
        match self.get_error() {
            glow::NO_ERROR => Ok(()),
            code => Err(self.refused(call, error_name(code))),
        }
    }

    pub(super) fn refused(&self, call: &'static str, code: String) -> Error {
        Error::Call { call, code, renderer: self.info().renderer.clone() }
    }
}

fn fits(what: &'static str, bytes: usize, needed: usize) -> Result<()> {
    if bytes == needed {
        return Ok(());
    }
    Err(Error::OutOfRange { what, start: 0, end: bytes, bytes: needed })
}

fn error_name(code: u32) -> String {
    match code {
        glow::INVALID_ENUM => "GL_INVALID_ENUM".into(),
        glow::INVALID_VALUE => "GL_INVALID_VALUE".into(),
        glow::INVALID_OPERATION => "GL_INVALID_OPERATION".into(),
        glow::INVALID_FRAMEBUFFER_OPERATION => "GL_INVALID_FRAMEBUFFER_OPERATION".into(),
        glow::OUT_OF_MEMORY => OUT_OF_MEMORY.into(),
        glow::CONTEXT_LOST => "GL_CONTEXT_LOST".into(),
        other => format!("{other:#06x}"),
    }
}

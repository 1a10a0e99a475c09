//! Textures of two and three dimensions.

use std::cell::Cell;

use super::{Buffer, Component, Error, Gl, Result, bound::Bound};

/// A texture with one level, 2-D or 3-D.
///
/// Made for CUDA to register: its name, format and size never change.
#[derive(Debug)]
pub struct Texture {
    gl: Gl,
    name: glow::NativeTexture,
    format: Format,
    size: Size,
    owned: Cell<bool>,
}

/// What a texel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Four unsigned bytes in [0, 1].
    Rgba8,
    /// Four half floats.
    Rgba16f,
    /// Four floats.
    Rgba32f,
    /// Two floats.
    Rg32f,
    /// One float.
    R32f,
}

impl Format {
    /// Bytes of a texel.
    pub fn texel_bytes(self) -> usize {
        match self {
            Self::Rgba8 | Self::R32f => 4,
            Self::Rgba16f | Self::Rg32f => 8,
            Self::Rgba32f => 16,
        }
    }

    /// Components of a texel.
    pub fn components(self) -> usize {
        match self {
            Self::R32f => 1,
            Self::Rg32f => 2,
            Self::Rgba8 | Self::Rgba16f | Self::Rgba32f => 4,
        }
    }

    pub(super) fn internal(self) -> u32 {
        match self {
            Self::Rgba8 => glow::RGBA8,
            Self::Rgba16f => glow::RGBA16F,
            Self::Rgba32f => glow::RGBA32F,
            Self::Rg32f => glow::RG32F,
            Self::R32f => glow::R32F,
        }
    }

    pub(super) fn layout(self) -> u32 {
        match self.components() {
            1 => glow::RED,
            2 => glow::RG,
            _ => glow::RGBA,
        }
    }

    pub(super) fn kind(self) -> u32 {
        match self {
            Self::Rgba8 => glow::UNSIGNED_BYTE,
            Self::Rgba16f => glow::HALF_FLOAT,
            Self::Rgba32f | Self::Rg32f | Self::R32f => glow::FLOAT,
        }
    }

    /// The components of texels in native byte order.
    fn floats(self, texels: &[u8]) -> Vec<f32> {
        let native = bytemuck::pod_read_unaligned::<f32>;
        match self {
            Self::Rgba8 => texels.iter().map(|&byte| f32::from(byte)).collect(),
            Self::Rgba16f => {
                let half = |bytes: &[u8]| half::f16::from_ne_bytes([bytes[0], bytes[1]]).to_f32();
                texels.chunks_exact(2).map(half).collect()
            }
            Self::Rgba32f | Self::Rg32f | Self::R32f => {
                texels.chunks_exact(4).map(native).collect()
            }
        }
    }

    /// Bytes of a block of texels; sizes are not negative.
    pub(super) fn bytes(self, size: [i32; 3]) -> usize {
        let texels: usize = size.iter().map(|&n| usize::try_from(n).unwrap_or(0)).product();
        texels * self.texel_bytes()
    }
}

/// How large a texture is, in texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Width and height.
    Flat([u32; 2]),
    /// Width, height and depth.
    Solid([u32; 3]),
}

impl Size {
    /// Width, height and depth; a flat texture's depth is 1.
    pub fn extents(self) -> [u32; 3] {
        match self {
            Self::Flat([w, h]) => [w, h, 1],
            Self::Solid(extents) => extents,
        }
    }

    /// How many texels there are.
    pub fn texels(self) -> usize {
        self.extents().iter().map(|&n| n as usize).product()
    }

    fn target(self) -> u32 {
        match self {
            Self::Flat(_) => glow::TEXTURE_2D,
            Self::Solid(_) => glow::TEXTURE_3D,
        }
    }
}

/// Numbers in a buffer that can be texels: from its start on, tightly packed.
#[derive(Clone, Copy, Debug)]
pub struct Pixels<'a> {
    /// Where they are.
    pub buffer: &'a Buffer,
    /// Numbers of a texel: 1 to 4.
    pub components: u8,
    /// What a number is.
    pub kind: Component,
}

/// How a texture is read between texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest texel.
    Nearest,
    /// Linear between texels.
    #[default]
    Linear,
}

/// How a texture is read outside of [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Its edge texel.
    #[default]
    Clamp,
    /// Again and again.
    Repeat,
    /// Again and again, mirrored in between.
    Mirror,
}

impl Texture {
    /// Allocates a texture with undefined content, filtered linearly and clamped.
    ///
    /// # Errors
    /// [`Error::Size`] for sizes of zero or beyond the driver's limit; [`Error::Call`] when OpenGL is out of
    /// memory.
    pub fn new(gl: &Gl, format: Format, size: Size) -> Result<Self> {
        let extents = checked(gl, size)?;
        let texture = Self {
            gl: gl.clone(),
            name: gl.create_texture()?,
            format,
            size,
            owned: Cell::new(true),
        };
        gl.forget_errors();
        texture.bind_to_edit();
        gl.tex_image(size.target(), format, extents);
        gl.tex_parameter_i32(size.target(), glow::TEXTURE_MAX_LEVEL, 0);
        texture.set_sampling(Filter::Linear, Wrap::Clamp);
        gl.check("glTexImage")?;
        Ok(texture)
    }

    /// OpenGL's name for it, which CUDA registers.
    pub fn name(&self) -> u32 {
        self.name.0.get()
    }

    /// The target that CUDA registers it with: `GL_TEXTURE_2D` or `GL_TEXTURE_3D`.
    pub fn target(&self) -> u32 {
        self.size.target()
    }

    /// glow's handle for egui's `register_native_texture` or `replace_native_texture`, which take ownership:
    /// from now on egui deletes the texture, and this object must be dropped when egui has done so.
    pub fn give_away(&self) -> glow::NativeTexture {
        self.owned.set(false);
        self.name
    }

    /// Its texels' format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Its content's length in bytes.
    pub fn bytes(&self) -> usize {
        self.size.texels() * self.format.texel_bytes()
    }

    /// The context that it belongs to.
    pub fn gl(&self) -> &Gl {
        &self.gl
    }

    /// Sets how it is read between and beyond its texels.
    pub fn set_sampling(&self, filter: Filter, wrap: Wrap) {
        let (target, filter) = (self.target(), filter_constant(filter));
        let wrap = wrap_constant(wrap);
        self.bind_to_edit();
        self.gl.tex_parameter_i32(target, glow::TEXTURE_MIN_FILTER, filter);
        self.gl.tex_parameter_i32(target, glow::TEXTURE_MAG_FILTER, filter);
        for axis in [glow::TEXTURE_WRAP_S, glow::TEXTURE_WRAP_T, glow::TEXTURE_WRAP_R] {
            self.gl.tex_parameter_i32(target, axis, wrap);
        }
    }

    /// Overwrites all of it: texels in x, then y, then z order, tightly packed, row 0 at texture
    /// coordinate 0.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless `bytes` has [`bytes()`](Self::bytes) bytes.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        self.bind_to_edit();
        self.gl.tex_sub_image(self.target(), self.format, self.extents(), bytes)
    }

    /// Overwrites all of a flat texture with numbers that OpenGL has already, in [`write`](Self::write)'s order.
    /// Missing components are 0, and alpha 1. Integers become parts of the greatest one of their type.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where the buffer has fewer; [`Error::Call`].
    pub fn write_from(&self, pixels: Pixels<'_>) -> Result<()> {
        let Pixels { buffer, components, kind } = pixels;
        let end = self.size.texels() * usize::from(components) * kind.bytes();
        if end > buffer.bytes() {
            let bytes = buffer.bytes();
            return Err(Error::OutOfRange { what: "a buffer", start: 0, end, bytes });
        }
        let layout = match components {
            1 => glow::RED,
            2 => glow::RG,
            3 => glow::RGB,
            _ => glow::RGBA,
        };
        let [w, h, _] = self.extents();
        self.gl.forget_errors();
        self.bind_to_edit();
        buffer.bind_to_unpack();
        self.gl.tex_sub_image_from_buffer(layout, kind.constant(), [w, h]);
        self.gl.check("glTexSubImage2D")
    }

    /// Reads all of it, in [`write`](Self::write)'s order; waits for what writes it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless `bytes` has [`bytes()`](Self::bytes) bytes; [`Error::Call`].
    pub fn read(&self, bytes: &mut [u8]) -> Result<()> {
        self.gl.forget_errors();
        self.bind_to_edit();
        self.gl.get_tex_image(self.target(), self.format, self.extents(), bytes)?;
        self.gl.check("glGetTexImage")
    }

    /// The components of one texel as they are stored: floats, or bytes from 0 to 255. Waits for what writes it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] beyond the texture; [`Error::Call`].
    pub fn read_texel(&self, [x, y, z]: [u32; 3]) -> Result<Vec<f32>> {
        let [w, h, d] = self.size.extents();
        if x >= w || y >= h || z >= d {
            let texel = self.format.texel_bytes();
            let start = ((z as usize * h as usize + y as usize) * w as usize + x as usize) * texel;
            let (end, bytes) = (start + texel, self.bytes());
            return Err(Error::OutOfRange { what: "a texture", start, end, bytes });
        }
        let mut bytes = vec![0; self.format.texel_bytes()];
        self.gl.forget_errors();
        self.read_layer(z, [x, y, 1, 1], &mut bytes)?;
        self.gl.check("glReadPixels")?;
        Ok(self.format.floats(&bytes))
    }

    /// Reads a rectangle of one layer, bottom row first, tightly packed.
    fn read_layer(&self, layer: u32, [x, y, w, h]: [u32; 4], bytes: &mut [u8]) -> Result<()> {
        let gl = &self.gl;
        let name = gl.create_framebuffer()?;
        let _bound = Bound::read(gl, Some(name));
        let (target, attachment) = (glow::READ_FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
        let raw = Some(self.raw());
        match self.size() {
            Size::Flat(_) => gl.framebuffer_texture_2d(target, attachment, self.target(), raw, 0),
            Size::Solid(_) => {
                gl.framebuffer_texture_layer(target, attachment, raw, 0, layer.cast_signed());
            }
        }
        let read = gl.read_pixels([x, y, w, h].map(u32::cast_signed), self.format(), bytes);
        gl.delete_framebuffer(name);
        read
    }

    fn extents(&self) -> [i32; 3] {
        // `checked` bounded them by the driver's limit, an i32.
        self.size.extents().map(u32::cast_signed)
    }

    pub(super) fn raw(&self) -> glow::NativeTexture {
        self.name
    }

    /// Binds it where a shader's sampler `unit` finds it.
    pub(super) fn bind(&self, unit: u32) {
        self.gl.active_texture(glow::TEXTURE0 + unit);
        self.gl.bind_texture(self.target(), Some(self.name));
    }

    /// Binds it to the unit that egui uses and always rebinds.
    fn bind_to_edit(&self) {
        self.bind(0);
    }
}

impl Drop for Texture {
    fn drop(&mut self) {
        if self.owned.get() {
            self.gl.delete_texture(self.name);
        }
    }
}

fn checked(gl: &Gl, size: Size) -> Result<[i32; 3]> {
    let parameter = match size {
        Size::Flat(_) => glow::MAX_TEXTURE_SIZE,
        Size::Solid(_) => glow::MAX_3D_TEXTURE_SIZE,
    };
    let limit = gl.get_parameter_i32(parameter).cast_unsigned();
    let extents = size.extents();
    if extents.iter().any(|&n| n == 0 || n > limit) {
        let [w, h, d] = extents;
        let (what, asked) = match size {
            Size::Flat(_) => ("an OpenGL texture", format!("{w} x {h} texels")),
            Size::Solid(_) => ("a 3-D OpenGL texture", format!("{w} x {h} x {d} texels")),
        };
        return Err(Error::Size { what, asked, limit: format!("1 to {limit} texels a side") });
    }
    Ok(extents.map(u32::cast_signed))
}

fn filter_constant(filter: Filter) -> i32 {
    match filter {
        Filter::Nearest => glow::NEAREST.cast_signed(),
        Filter::Linear => glow::LINEAR.cast_signed(),
    }
}

fn wrap_constant(wrap: Wrap) -> i32 {
    match wrap {
        Wrap::Clamp => glow::CLAMP_TO_EDGE.cast_signed(),
        Wrap::Repeat => glow::REPEAT.cast_signed(),
        Wrap::Mirror => glow::MIRRORED_REPEAT.cast_signed(),
    }
}

//! Framebuffers: pictures to draw into.

use super::{Error, Filter, Format, Gl, Result, Size, Texture, Wrap, bound::Bound};

/// A picture to draw into: a colour texture or multisampled colour, and depth if wanted.
#[derive(Debug)]
pub struct Framebuffer {
    gl: Gl,
    name: glow::NativeFramebuffer,
    size: [u32; 2],
    color: Color,
    // Held because it is attached.
    _depth: Option<Renderbuffer>,
}

/// How many samples a pixel has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Samples {
    /// One: the colour is a texture.
    #[default]
    One,
    /// So many, or as many as the driver has below; read after [`Framebuffer::blit_to`] another.
    Many(u8),
}

#[derive(Debug)]
enum Color {
    Texture(Texture),
    Multisampled { _color: Renderbuffer, format: Format },
}

#[derive(Debug)]
struct Renderbuffer {
    gl: Gl,
    name: glow::NativeRenderbuffer,
}

impl Framebuffer {
    /// Allocates a picture with undefined content and one sample a pixel; with a 24-bit depth buffer if
    /// `depth`.
    ///
    /// # Errors
    /// [`Error::Size`] for sizes of zero or beyond the driver's limit; [`Error::Call`] when the format cannot
    /// be drawn into or memory is out.
    pub fn new(gl: &Gl, format: Format, size: [u32; 2], depth: bool) -> Result<Self> {
        Self::with_samples(gl, format, size, depth, Samples::One)
    }

    /// As [`new`](Self::new) with several samples a pixel.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_samples(
        gl: &Gl,
        format: Format,
        size: [u32; 2],
        depth: bool,
        samples: Samples,
    ) -> Result<Self> {
        let count = sample_count(gl, samples);
        let color = if count == 0 {
            let texture = Texture::new(gl, format, Size::Flat(size))?;
            texture.set_sampling(Filter::Linear, Wrap::Clamp);
            Color::Texture(texture)
        } else {
            let _color = Renderbuffer::new(gl, format.internal(), size, count)?;
            Color::Multisampled { _color, format }
        };
        let depth = depth
            .then(|| Renderbuffer::new(gl, glow::DEPTH_COMPONENT24, size, count))
            .transpose()?;
        let this =
            Self { gl: gl.clone(), name: gl.create_framebuffer()?, size, color, _depth: depth };
        this.attach()?;
        Ok(this)
    }

    fn attach(&self) -> Result<()> {
        let gl = &self.gl;
        let _bound = Bound::draw(gl, Some(self.name));
        gl.forget_errors();
        let target = glow::DRAW_FRAMEBUFFER;
        match &self.color {
            Color::Texture(texture) => gl.framebuffer_texture_2d(
                target,
                glow::COLOR_ATTACHMENT0,
                glow::TEXTURE_2D,
                Some(texture.raw()),
                0,
            ),
            Color::Multisampled { _color, .. } => {
                self.attach_renderbuffer(glow::COLOR_ATTACHMENT0, _color)
            }
        }
        if let Some(depth) = &self._depth {
            self.attach_renderbuffer(glow::DEPTH_ATTACHMENT, depth);
        }
        match gl.check_framebuffer_status(target) {
            glow::FRAMEBUFFER_COMPLETE => gl.check("glFramebufferTexture2D"),
            status => Err(gl.refused("glCheckFramebufferStatus", format!("status {status:#06x}"))),
        }
    }

    fn attach_renderbuffer(&self, attachment: u32, buffer: &Renderbuffer) {
        self.gl.framebuffer_renderbuffer(
            glow::DRAW_FRAMEBUFFER,
            attachment,
            glow::RENDERBUFFER,
            Some(buffer.name),
        );
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Its colour's format.
    pub fn format(&self) -> Format {
        match &self.color {
            Color::Texture(texture) => texture.format(),
            Color::Multisampled { format, .. } => *format,
        }
    }

    /// Its colour as a texture, bottom row first; `None` with several samples a pixel.
    pub fn texture(&self) -> Option<&Texture> {
        match &self.color {
            Color::Texture(texture) => Some(texture),
            Color::Multisampled { .. } => None,
        }
    }

    /// The context that it belongs to.
    pub fn gl(&self) -> &Gl {
        &self.gl
    }

    /// Fills it with a colour (and its depth with the far plane).
    pub fn clear(&self, [red, green, blue, alpha]: [f32; 4]) {
        let gl = &self.gl;
        let _bound = Bound::draw(gl, Some(self.name));
        gl.disable(glow::SCISSOR_TEST);
        gl.color_mask(true, true, true, true);
        gl.depth_mask(true);
        gl.clear_color(red, green, blue, alpha);
        gl.clear(glow::COLOR_BUFFER_BIT | glow::DEPTH_BUFFER_BIT);
    }

    /// Reads it as 8-bit RGBA, **top row first**, tightly packed: a picture to save. Waits for the drawing.
    ///
    /// # Errors
    /// [`Error::Call`] with several samples a pixel, or when OpenGL refuses.
    pub fn read_rgba8(&self) -> Result<Vec<u8>> {
        let row = self.size[0] as usize * Format::Rgba8.texel_bytes();
        let mut bytes = vec![0; row * self.size[1] as usize];
        self.read(Format::Rgba8, &mut bytes)?;
        flip_rows(&mut bytes, row);
        Ok(bytes)
    }

    /// Reads it as RGBA floats, **top row first**, tightly packed. Waits for the drawing.
    ///
    /// # Errors
    /// As [`read_rgba8`](Self::read_rgba8).
    pub fn read_rgba32f(&self) -> Result<Vec<[f32; 4]>> {
        let width = self.size[0] as usize;
        let mut pixels = vec![[0.0_f32; 4]; width * self.size[1] as usize];
        self.read(Format::Rgba32f, bytemuck::cast_slice_mut(&mut pixels))?;
        flip_rows(&mut pixels, width);
        Ok(pixels)
    }

    fn read(&self, format: Format, bytes: &mut [u8]) -> Result<()> {
        let gl = &self.gl;
        gl.forget_errors();
        let _bound = Bound::read(gl, Some(self.name));
        let [w, h] = self.size.map(u32::cast_signed);
        gl.read_pixels([0, 0, w, h], format, bytes)?;
        gl.check("glReadPixels")
    }

    pub(super) fn raw(&self) -> glow::NativeFramebuffer {
        self.name
    }
}

impl Drop for Framebuffer {
    fn drop(&mut self) {
        self.gl.delete_framebuffer(self.name);
    }
}

impl Renderbuffer {
    fn new(gl: &Gl, format: u32, [w, h]: [u32; 2], samples: i32) -> Result<Self> {
        let limit = gl.get_parameter_i32(glow::MAX_RENDERBUFFER_SIZE).cast_unsigned();
        if [w, h].iter().any(|&n| n == 0 || n > limit) {
            return Err(Error::Size {
                what: "a renderbuffer",
                asked: format!("{w} x {h} pixels"),
                limit: format!("1 to {limit} pixels a side"),
            });
        }
        let this = Self { gl: gl.clone(), name: gl.create_renderbuffer()? };
        gl.forget_errors();
        gl.bind_renderbuffer(glow::RENDERBUFFER, Some(this.name));
        let (w, h) = (w.cast_signed(), h.cast_signed());
        gl.renderbuffer_storage_multisample(glow::RENDERBUFFER, samples, format, w, h);
        gl.bind_renderbuffer(glow::RENDERBUFFER, None);
        gl.check("glRenderbufferStorageMultisample")?;
        Ok(this)
    }
}

impl Drop for Renderbuffer {
    fn drop(&mut self) {
        self.gl.delete_renderbuffer(self.name);
    }
}

fn sample_count(gl: &Gl, samples: Samples) -> i32 {
    match samples {
        Samples::One | Samples::Many(0 | 1) => 0,
        Samples::Many(n) => i32::from(n).min(gl.get_parameter_i32(glow::MAX_SAMPLES)),
    }
}

/// OpenGL's first row is the bottom one.
fn flip_rows<T>(values: &mut [T], row: usize) {
    let rows = values.len() / row;
    for y in 0..rows / 2 {
        let (above, below) = values.split_at_mut((rows - 1 - y) * row);
        above[y * row..(y + 1) * row].swap_with_slice(&mut below[..row]);
    }
}

#[cfg(test)]
mod tests {
    use super::flip_rows;

    #[test]
    fn rows_are_flipped() {
        for (before, after) in
            [(vec![1, 2, 3, 4, 5, 6], vec![5, 6, 3, 4, 1, 2]), (vec![1, 2], vec![1, 2])]
        {
            let mut rows = before;
            flip_rows(&mut rows, 2);
            assert_eq!(rows, after);
        }
    }
}

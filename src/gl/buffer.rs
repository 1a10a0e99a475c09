//! Buffer objects.

use super::{Error, Gl, Result};

/// A buffer object: bytes that OpenGL can draw from.
///
/// Made for CUDA to register: its name and storage never change.
#[derive(Debug)]
pub struct Buffer {
    gl: Gl,
    name: glow::NativeBuffer,
    bytes: usize,
}

/// glow, like 32-bit OpenGL, counts bytes in an `i32`.
const MAX_BYTES: usize = i32::MAX as usize;

impl Buffer {
    /// Allocates `bytes` bytes (at least one) with undefined content.
    ///
    /// # Errors
    /// [`Error::Size`] beyond 2 GiB; [`Error::Call`] when OpenGL is out of memory.
    pub fn new(gl: &Gl, bytes: usize) -> Result<Self> {
        let size = i32::try_from(bytes.max(1)).map_err(|_| Error::Size {
            what: "an OpenGL buffer",
            asked: format!("{bytes} bytes"),
            limit: format!("at most {MAX_BYTES} bytes"),
        })?;
        let buffer = Self { gl: gl.clone(), name: gl.create_buffer()?, bytes };
        gl.forget_errors();
        buffer.bind();
        gl.buffer_data_size(glow::COPY_WRITE_BUFFER, size, glow::DYNAMIC_DRAW);
        gl.check("glBufferData")?;
        Ok(buffer)
    }

    /// Allocates a buffer with a copy of `values`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_data<T: bytemuck::NoUninit>(gl: &Gl, values: &[T]) -> Result<Self> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let buffer = Self::new(gl, bytes.len())?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    /// OpenGL's name for it, which CUDA registers.
    pub fn name(&self) -> u32 {
        self.name.0.get()
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The context that it belongs to.
    pub fn gl(&self) -> &Gl {
        &self.gl
    }

    /// Overwrites bytes from `offset` on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let offset = self.offset(offset, bytes.len())?;
        self.bind();
        self.gl.buffer_sub_data(glow::COPY_WRITE_BUFFER, offset, bytes);
        Ok(())
    }

    /// Reads bytes from `offset` on; waits for what writes them.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], or [`Error::Call`] when OpenGL refuses.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let offset = self.offset(offset, bytes.len())?;
        self.gl.forget_errors();
        self.bind();
        self.gl.get_buffer_sub_data(glow::COPY_WRITE_BUFFER, offset, bytes);
        self.gl.check("glGetBufferSubData")
    }

    // The copy target, because binding the others would change a vertex array's state.
    fn bind(&self) {
        self.gl.bind_buffer(glow::COPY_WRITE_BUFFER, Some(self.name));
    }

    pub(super) fn bind_to_unpack(&self) {
        self.gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, Some(self.name));
    }

    pub(super) fn bind_as_array(&self) {
        self.gl.bind_buffer(glow::ARRAY_BUFFER, Some(self.name));
    }

    /// As the storage of a shader's block: the bytes from `start` on, as many as a block may have.
    pub(super) fn bind_as_storage(&self, binding: u32, start: usize) {
        let (target, name) = (glow::SHADER_STORAGE_BUFFER, Some(self.name));
        let bytes = self.bytes.saturating_sub(start).min(self.gl.max_storage_bytes());
        match (i32::try_from(start), i32::try_from(bytes)) {
            (Ok(start), Ok(bytes @ 1..)) if start > 0 || (bytes as usize) < self.bytes => {
                self.gl.bind_buffer_range(target, binding, name, start, bytes);
            }
            _ => self.gl.bind_buffer_base(target, binding, name),
        }
    }

    fn offset(&self, start: usize, length: usize) -> Result<i32> {
        let end = start.saturating_add(length);
        let error = || Error::OutOfRange { what: "a buffer", start, end, bytes: self.bytes };
        if end > self.bytes {
            return Err(error());
        }
        i32::try_from(start).map_err(|_| error())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.gl.delete_buffer(self.name);
    }
}

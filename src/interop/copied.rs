//! The path through the host: device memory beside an OpenGL buffer, and a copy on its way from one to the other.

use super::{Access, Result};
use crate::{
    device::{Device, Memory, Readback, Stream},
    gl::{self, Gl},
};

/// Device memory and OpenGL's copy of it.
#[derive(Debug)]
pub(super) struct Copied {
    memory: Memory,
    buffer: gl::Buffer,
    access: Access,
    /// What the last unmap gave back, until OpenGL has it.
    on_its_way: Option<Readback>,
}

impl Copied {
    pub(super) fn new(gl: &Gl, device: &Device, bytes: usize, access: Access) -> Result<Self> {
        Ok(Self {
            memory: device.alloc(bytes)?,
            buffer: gl::Buffer::new(gl, bytes)?,
            access,
            on_its_way: None,
        })
    }

    pub(super) fn gl(&self) -> &gl::Buffer {
        &self.buffer
    }

    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Starts the copy to the host, in the stream's order. One that nobody fetched is given up: it is older.
    pub(super) fn unmap(&mut self, stream: &Stream) -> Result<()> {
        if self.access != Access::ReadOnly {
            self.on_its_way = Some(stream.download(self.memory.slice(..)?)?);
        }
        Ok(())
    }

    /// Gives OpenGL what has arrived; whether it has all that was given back.
    pub(super) fn present(&mut self) -> Result<bool> {
        let Some(readback) = self.on_its_way.take() else { return Ok(true) };
        if !readback.is_ready()? {
            self.on_its_way = Some(readback);
            return Ok(false);
        }
        self.buffer.write(0, &readback.wait()?)?;
        Ok(true)
    }
}

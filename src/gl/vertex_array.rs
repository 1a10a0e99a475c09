//! Vertex arrays: where a shader's inputs come from.

use super::{Buffer, Error, Gl, Result};

/// A vertex array: which buffer each of a vertex shader's inputs comes from.
///
/// It borrows the buffers' storage from OpenGL, not the [`Buffer`]s: OpenGL keeps storage that a vertex array
/// names until the array is gone, so dropping a buffer first is harmless.
#[derive(Debug)]
pub struct VertexArray {
    gl: Gl,
    name: glow::NativeVertexArray,
    capacity: usize,
}

/// One input: numbers at even distances in a buffer, which the shader gets as floats.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// `layout(location = …)` in the shader.
    pub location: u32,
    /// Where the values are.
    pub buffer: &'a Buffer,
    /// Numbers of a vertex: 1 to 4.
    pub components: u8,
    /// What a number is.
    pub kind: Component,
    /// Bytes from one vertex to the next; 0: tightly packed.
    pub stride: u32,
    /// Byte of the first value.
    pub offset: u32,
}

/// A number of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Component {
    /// A float.
    #[default]
    F32,
    /// A double, which shaders see as a float.
    F64,
    /// A half float.
    F16,
    /// A signed integer of 32 bits.
    I32,
    /// An unsigned integer of 32 bits.
    U32,
    /// A byte that counts from 0 to 1.
    U8,
}

impl Component {
    /// Its length.
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 => 2,
            Self::U8 => 1,
        }
    }

    pub(super) fn constant(self) -> u32 {
        match self {
            Self::F32 => glow::FLOAT,
            Self::F64 => glow::DOUBLE,
            Self::F16 => glow::HALF_FLOAT,
            Self::I32 => glow::INT,
            Self::U32 => glow::UNSIGNED_INT,
            Self::U8 => glow::UNSIGNED_BYTE,
        }
    }
}

impl<'a> Attribute<'a> {
    /// Tightly packed vertices of `components` floats from the buffer's start on.
    pub fn packed(location: u32, buffer: &'a Buffer, components: u8) -> Self {
        Self { location, buffer, components, kind: Component::F32, stride: 0, offset: 0 }
    }

    fn bytes(&self) -> usize {
        usize::from(self.components) * self.kind.bytes()
    }

    /// Bytes from one vertex to the next.
    pub fn step(&self) -> usize {
        if self.stride == 0 { self.bytes() } else { self.stride as usize }
    }

    /// How many vertices the buffer holds.
    pub fn vertices(&self) -> usize {
        let room = self.buffer.bytes().saturating_sub(self.offset as usize);
        if room < self.bytes() { 0 } else { (room - self.bytes()) / self.step() + 1 }
    }
}

impl VertexArray {
    /// Bytes from one vertex to the next that every driver takes (OpenGL 4.4, table 23.55).
    pub const MAX_STRIDE: u32 = 2048;

    /// A vertex array with these inputs; none for shaders that need only `gl_VertexID`.
    ///
    /// # Errors
    /// [`Error::WrongContext`], [`Error::Size`] for components other than 1 to 4, [`Error::Call`].
    pub fn new(gl: &Gl, attributes: &[Attribute<'_>]) -> Result<Self> {
        for attribute in attributes {
            gl.expect_same(attribute.buffer.gl(), "vertex array")?;
            if !(1..=4).contains(&attribute.components) || attribute.stride > Self::MAX_STRIDE {
                return Err(Error::Size {
                    what: "a vertex attribute",
                    asked: format!(
                        "{} numbers every {} bytes",
                        attribute.components, attribute.stride
                    ),
                    limit: "1 to 4 numbers, at most 2048 bytes apart".into(),
                });
            }
        }
        let capacity = attributes.iter().map(Attribute::vertices).min().unwrap_or(usize::MAX);
        let this = Self { gl: gl.clone(), name: gl.create_vertex_array()?, capacity };
        gl.forget_errors();
        gl.bind_vertex_array(Some(this.name));
        attributes.iter().for_each(|attribute| enable(gl, attribute));
        gl.bind_vertex_array(None);
        gl.check("glVertexAttribPointer")?;
        Ok(this)
    }

    /// How many vertices its buffers hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The context that it belongs to.
    pub fn gl(&self) -> &Gl {
        &self.gl
    }

    pub(super) fn bind(&self) {
        self.gl.bind_vertex_array(Some(self.name));
    }
}

fn enable(gl: &Gl, attribute: &Attribute<'_>) {
    attribute.buffer.bind_as_array();
    let components = i32::from(attribute.components);
    let (stride, offset) = (attribute.stride.cast_signed(), attribute.offset.cast_signed());
    let kind = attribute.kind.constant();
    let normalized = attribute.kind == Component::U8;
    gl.vertex_attrib_pointer(attribute.location, components, kind, normalized, stride, offset);
    gl.enable_vertex_attrib_array(attribute.location);
    gl.bind_buffer(glow::ARRAY_BUFFER, None);
}

impl Drop for VertexArray {
    fn drop(&mut self) {
        self.gl.delete_vertex_array(self.name);
    }
}

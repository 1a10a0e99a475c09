//! The types of kernel parameters.

use std::fmt;

use super::Element;

/// The type of a kernel parameter, as far as packing an argument needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CType {
    /// A scalar or a CUDA vector by value.
    Value(Element),
    /// A pointer.
    Pointer {
        /// What it points to.
        to: Pointee,
        /// Whether the kernel promises not to write through it.
        constant: bool,
    },
    /// `cudaSurfaceObject_t`.
    Surface,
    /// `cudaTextureObject_t`.
    Texture,
    /// Any other type, whose size the signature does not tell.
    Named(String),
}

/// What a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointee {
    /// A scalar or a CUDA vector.
    Element(Element),
    /// `void`.
    Void,
    /// Any other type: a structure of the file, another pointer.
    Named(String),
}

impl CType {
    /// Size and alignment in bytes as a kernel argument; `None` for types known by name only.
    pub const fn layout(&self) -> Option<(usize, usize)> {
        match self {
            Self::Value(element) => Some((element.bytes(), element.align())),
            Self::Pointer { .. } | Self::Surface | Self::Texture => Some((8, 8)),
            Self::Named(_) => None,
        }
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(element) => element.fmt(f),
            Self::Pointer { to, constant } => {
                write!(f, "{}{to} *", if *constant { "const " } else { "" })
            }
            Self::Surface => f.write_str("cudaSurfaceObject_t"),
            Self::Texture => f.write_str("cudaTextureObject_t"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Pointee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(element) => element.fmt(f),
            Self::Void => f.write_str("void"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

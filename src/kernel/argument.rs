//! Kernel arguments with their types.

use std::fmt;

use num_complex::Complex;
use smallvec::SmallVec;

use crate::{
    device::Slice,
    element::{Element, Scalar},
    scene::{CType, Pointee},
};

/// What an argument is, as far as its Rust type tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Device memory that holds elements of a CUDA type, or of the named one.
    Array(Option<Element>),
    /// A value of a CUDA type.
    Value(Element),
    /// A value of a type that only the caller and the kernel know.
    Bytes(usize),
}

/// A kernel argument: device memory, or a value.
///
/// Made by `From` of slices of device memory and of scalars, by [`Argument::value`] for structures, and by
/// [`Argument::address`] where memory has but an address.
#[derive(Clone, Debug)]
pub struct Argument {
    bytes: SmallVec<[u8; 16]>,
    align: usize,
    kind: Kind,
}

impl Argument {
    /// A value that a kernel takes as `element`; for CUDA's vector types, as arrays of scalars.
    pub fn element<T: bytemuck::NoUninit>(element: Element, value: T) -> Self {
        let bytes = bytemuck::bytes_of(&value).into();
        Self { bytes, align: element.align(), kind: Kind::Value(element) }
    }

    /// A value of a `#[repr(C)]` type that the kernel declares alike.
    pub fn value<T: bytemuck::NoUninit>(value: T) -> Self {
        let bytes: SmallVec<[u8; 16]> = bytemuck::bytes_of(&value).into();
        let kind = Kind::Bytes(bytes.len());
        Self { bytes, align: align_of::<T>(), kind }
    }

    /// Device memory that holds `element`s, where that is known.
    pub fn array(memory: Slice<'_>, element: Option<Element>) -> Self {
        Self { kind: Kind::Array(element), ..Self::address(memory.address()) }
    }

    /// Device memory at an address, whatever it holds: another library's, or somewhere in an allocation. (A `u64` by
    /// itself is a number, which no pointer takes.)
    pub fn address(address: u64) -> Self {
        let bytes = SmallVec::from_slice(&address.to_ne_bytes());
        Self { bytes, align: 8, kind: Kind::Array(None) }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its bytes as the kernel gets them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its alignment in bytes.
    pub(crate) fn align(&self) -> usize {
        self.align
    }

    /// Whether a parameter of type `ctype` can take it: pointers to the same element, values of the same type.
    /// Signedness does not matter in pointers to bytes, and a type that only the source knows takes what has
    /// its size, which the launch checks.
    pub(crate) fn fits(&self, ctype: &CType) -> bool {
        match (self.kind, ctype) {
            (Kind::Array(None), CType::Pointer { .. }) => true,
            (Kind::Array(Some(found)), CType::Pointer { to, .. }) => match to {
                Pointee::Element(expected) => *expected == found,
                Pointee::Void | Pointee::Named(_) => true,
            },
            (Kind::Value(found), CType::Value(expected)) => *expected == found,
            (Kind::Value(found), CType::Surface | CType::Texture) => {
                found == Element::scalar(Scalar::U64)
            }
            (Kind::Bytes(found), CType::Value(expected)) => expected.bytes() == found,
            (Kind::Bytes(_) | Kind::Value(_), CType::Named(_)) => true,
            _ => false,
        }
    }
}

impl From<Slice<'_>> for Argument {
    fn from(memory: Slice<'_>) -> Self {
        Self::array(memory, None)
    }
}

macro_rules! scalar_arguments {
    ($($rust:ty => $scalar:ident),* $(,)?) => {$(
        impl From<$rust> for Argument {
            fn from(value: $rust) -> Self {
                Self::element(Element::scalar(Scalar::$scalar), value)
            }
        }
    )*};
}

scalar_arguments! {
    bool => Bool, i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64, u64 => U64,
    half::f16 => F16, half::bf16 => BF16, f32 => F32, f64 => F64,
}

macro_rules! complex_arguments {
    ($($part:ty),*) => {$(
        /// As `warpaint::complex`, which is aligned to its size.
        impl From<Complex<$part>> for Argument {
            fn from(value: Complex<$part>) -> Self {
                Self { align: size_of_val(&value), ..Self::value(value) }
            }
        }
    )*};
}

complex_arguments!(f32, f64);

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(Some(element)) => write!(f, "an array of `{element}`"),
            Self::Array(None) => f.write_str("device memory"),
            Self::Value(element) => write!(f, "a value of type `{element}`"),
            Self::Bytes(bytes) => write!(f, "a value of {bytes} bytes"),
        }
    }
}

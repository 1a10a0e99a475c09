//! Kernel arguments with their types.

use std::fmt;

use num_complex::Complex;
use smallvec::SmallVec;

use crate::{
    cuda::{CType, Pointee},
    device::Slice,
    element::{Element, Scalar},
};

/// What an argument is, as far as its Rust type tells.
///
/// ```
/// use warpaint::{element::{Element, Scalar}, kernel::{Argument, Kind}};
///
/// let value = Argument::from(2.5f32);
/// assert_eq!(value.kind(), Kind::Value(Element::scalar(Scalar::F32)));
/// assert_eq!(value.kind().to_string(), "a value of type `float`");
/// assert_eq!(Argument::value([2.5f32; 3]).kind(), Kind::Bytes(12));
/// ```
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
///
/// ```
/// use warpaint::{device::Device, kernel::{Argument, Context, Error, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("__global__ void keep(const float *x, int2 from, unsigned n) {}");
/// let keep = context.module(&source)?.kernel("keep")?;
/// let x = context.pool().alloc(context.stream(), 12)?;
/// let (x, from) = (Argument::from(x.slice(..)?), Argument::value([0i32, 1]));
/// assert_eq!(keep.arguments(&[x.clone(), from.clone(), 3u32.into()])?.bytes().len(), 20);
/// // As C++'s literals, Rust's are signed; unlike C++, nothing converts them.
/// let signed = keep.arguments(&[x, from, 3.into()]);
/// assert!(matches!(signed, Err(Error::Argument { parameter, .. }) if parameter == "n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Argument {
    bytes: SmallVec<[u8; 16]>,
    align: usize,
    kind: Kind,
}

impl Argument {
    /// A value that a kernel takes as `element`; for CUDA's vector types, as arrays of scalars.
    ///
    /// ```
    /// # use warpaint::{device::Device, element::{Element, Scalar}, kernel::{Argument, Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void run(int n, float4 v) {}");
    /// let run = context.module(&source)?.kernel("run")?;
    /// let v = Argument::element(Element::vector(Scalar::F32, 4), [1.0f32, 2.0, 3.0, 4.0]);
    /// // CUDA's `float4` begins at a multiple of 16 bytes.
    /// assert_eq!(run.arguments(&[1.into(), v])?.parameters()[1].offset, 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn element<T: bytemuck::NoUninit>(element: Element, value: T) -> Self {
        let bytes = bytemuck::bytes_of(&value).into();
        Self { bytes, align: element.align(), kind: Kind::Value(element) }
    }

    /// A value of a `#[repr(C)]` type that the kernel declares alike, or an array of scalars for one of CUDA's vectors.
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, kernel::{Argument, Context, InOut, Source}};
    /// #[derive(Clone, Copy, bytemuck::NoUninit)]
    /// #[repr(C)]
    /// struct Limits { low: f32, high: f32 }
    ///
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("struct Limits { float low, high; };
    ///     __global__ void clamp(float *x, Limits to) { *x = fmin(fmax(*x, to.low), to.high); }");
    /// let clamp = context.module(&source)?.kernel("clamp")?;
    /// let (mut x, to) = ([2.5f32], Argument::value(Limits { low: 0.0, high: 1.0 }));
    /// // SAFETY: one thread, one element.
    /// unsafe { clamp.call(&context, &LaunchConfig::new(1, 1), &mut [InOut(&mut x).into(), to.into()])? };
    /// assert_eq!(x, [1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value<T: bytemuck::NoUninit>(value: T) -> Self {
        let bytes: SmallVec<[u8; 16]> = bytemuck::bytes_of(&value).into();
        let kind = Kind::Bytes(bytes.len());
        Self { bytes, align: align_of::<T>(), kind }
    }

    /// Device memory that holds `element`s, where that is known.
    ///
    /// ```
    /// # use warpaint::{device::Device, element::{Element, Scalar}};
    /// # use warpaint::kernel::{Argument, Context, Error, Source};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let count = context.module(&Source::new("__global__ void count(int *n) {}"))?.kernel("count")?;
    /// let memory = context.pool().alloc(context.stream(), 4)?;
    /// assert!(count.arguments(&[Argument::array(memory.slice(..)?, None)]).is_ok());
    /// let floats = Argument::array(memory.slice(..)?, Some(Element::scalar(Scalar::F32)));
    /// assert!(matches!(count.arguments(&[floats]), Err(Error::Argument { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn array(memory: Slice<'_>, element: Option<Element>) -> Self {
        Self { kind: Kind::Array(element), ..Self::address(memory.address()) }
    }

    /// Device memory at an address, whatever it holds: another library's, or somewhere in an allocation. (A `u64` by
    /// itself is a number, which no pointer takes.)
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, kernel::{Argument, Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let set = context.module(&Source::new("__global__ void set(int *x) { *x = 7; }"))?.kernel("set")?;
    /// let x = context.device().alloc(12)?;
    /// context.stream().upload(x.slice(..)?, &[0; 12])?;
    /// let last = Argument::address(x.address() + 8);
    /// // SAFETY: one thread writes the last four of the twelve bytes.
    /// unsafe { set.launch(context.stream(), &LaunchConfig::new(1, 1), &[last])? };
    /// assert_eq!(context.stream().download(x.slice(..)?)?.wait()?, [0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// The alignment in bytes of a parameter of type `ctype` that takes it: where the source alone knows that type, the
    /// argument's own.
    pub(crate) fn align_as(&self, ctype: Option<&CType>) -> usize {
        match ctype {
            Some(CType::Value(element)) => element.align(),
            Some(CType::Pointer { .. } | CType::Surface | CType::Texture) => self.align,
            Some(CType::Named(_)) | None => self.align,
        }
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
            (
                Kind::Array(_),
                CType::Value(_) | CType::Surface | CType::Texture | CType::Named(_),
            )
            | (Kind::Value(_), CType::Pointer { .. })
            | (Kind::Bytes(_), CType::Pointer { .. } | CType::Surface | CType::Texture) => false,
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

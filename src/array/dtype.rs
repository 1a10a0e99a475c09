//! What CUDA C++ calls a type of elements.

use std::hash::Hash;

use crate::element::{Element, Scalar};

/// A type of CUDA C++ as generated kernels use it.
///
/// ```
/// use warpaint::{
///     array::{DType, Data, GpuArray, f16},
///     device::{Device, LaunchConfig},
///     kernel::{Context, Source},
/// };
///
/// /// A kernel for whatever has a `+`.
/// fn twice<T: Data>() -> Source {
///     let DType { name, definition, .. } = T::DTYPE;
///     let body = "{ x[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x]; }";
///     Source::new(format!("{definition}\n__global__ void twice({name} *x) {body}"))
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// let twice = context.module(&twice::<f16>())?.kernel("twice")?; // of `__half`, from `<cuda_fp16.h>`
/// let a = GpuArray::from_slice(&context, &[f16::from_f32(1.5), f16::from_f32(-4.0)])?;
/// // SAFETY: two threads, two elements.
/// unsafe { twice.launch(context.stream(), &LaunchConfig::new(1, 2), &[a.argument()?])? };
/// assert_eq!(a.to_vec()?, [f16::from_f32(3.0), f16::from_f32(-8.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DType {
    /// How CUDA C++ spells it.
    pub name: &'static str,
    /// What must stand before its first use: an `#include`, the definition of a structure, or nothing.
    pub definition: &'static str,
    /// Size in bytes.
    pub bytes: usize,
    /// Alignment in bytes.
    pub align: usize,
}

impl DType {
    /// Whether its values are whole numbers; `bool` is no number.
    pub(super) fn is_integer(&self) -> bool {
        let element = Element::parse(self.name).filter(|element| element.lanes == 1);
        element.is_some_and(|element| element.scalar.is_integer())
    }

    /// What tells it from all others in the key of a generated source: its definition by its address, as what it never
    /// changes, for it may be long.
    pub(super) fn facts(&self) -> impl Hash {
        let Self { name, definition, bytes, align } = *self;
        (name, definition.as_ptr(), definition.len(), bytes, align)
    }
}

/// A scalar type of CUDA C++ without any definition before it.
pub(super) const fn plain(scalar: Scalar) -> DType {
    defined(scalar, "")
}

pub(super) const fn defined(scalar: Scalar, definition: &'static str) -> DType {
    let element = Element::scalar(scalar);
    DType { name: scalar.name(), definition, bytes: element.bytes(), align: element.align() }
}

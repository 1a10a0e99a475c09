//! The classes of CUDA C++ that reductions collect values in.

use super::dtype::DType;

/// A class that values are collected in on the device.
const fn class(name: &'static str, definition: &'static str, bytes: usize, align: usize) -> DType {
    DType { name, definition, bytes, align }
}

/// A definition that names complex numbers.
macro_rules! with_complex {
    ($file:literal) => {
        concat!("#include <warpaint/complex.cuh>\n", include_str!($file))
    };
}

/// A sum of `f64` that keeps its rounding errors, and its complex counterpart.
pub(super) const COMPENSATED: DType =
    class("warpaint::Compensated", include_str!("compensated.cuh"), 16, 8);
pub(super) const COMPLEX_COMPENSATED: DType =
    class("warpaint::complex<warpaint::Compensated>", with_complex!("compensated.cuh"), 32, 32);

/// Moments of real and of complex numbers.
pub(super) const MOMENTS: DType =
    class("warpaint::Moments<double>", include_str!("moments.cuh"), 32, 8);
pub(super) const COMPLEX_MOMENTS: DType =
    class("warpaint::Moments<warpaint::complex<double>>", with_complex!("moments.cuh"), 48, 16);

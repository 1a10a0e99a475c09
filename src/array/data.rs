//! Which Rust types arrays hold, and what CUDA C++ calls them.

use std::ops::{Div, Sub};

use half::{bf16, f16};
use num_complex::Complex;

use super::{
    accumulator::{COMPENSATED, COMPLEX_COMPENSATED, COMPLEX_MOMENTS, MOMENTS},
    dtype::{DType, defined, plain},
};
use crate::element::Scalar;

/// A Rust type whose values arrays hold.
///
/// Implemented for `bool`, the integers of 8 to 64 bits, [`half::f16`], [`half::bf16`], `f32`, `f64` and
/// [`num_complex::Complex`] of the last two. For a structure, give it `#[repr(C)]` and the same definition in CUDA C++;
/// every kernel that uses it checks that size and alignment agree.
///
/// ```
/// use warpaint::array::{DType, Data};
///
/// #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Body { position: [f32; 3], mass: f32 }
///
/// impl Data for Body {
///     const DTYPE: DType = DType {
///         name: "Body",
///         definition: "struct Body { float position[3]; float mass; };",
///         bytes: 16,
///         align: 4,
///     };
/// }
/// ```
///
/// Where the size that is stated is not the type's, or is 0, programs with arrays of it do not compile:
///
/// ```compile_fail,E0080
/// use warpaint::{array::{DType, Data, GpuArray}, device::Device, kernel::Context};
///
/// #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Half { one: f32 }
///
/// impl Data for Half {
///     const DTYPE: DType =
///         DType { name: "Half", definition: "struct Half { float one, two; };", bytes: 8, align: 4 };
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// GpuArray::<Half>::zeros(&context, &[3])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Data:
    bytemuck::NoUninit + bytemuck::CheckedBitPattern + Send + Sync + std::fmt::Debug + 'static
{
    /// What CUDA C++ calls it.
    const DTYPE: DType;

    /// How it is printed, with `precision` digits behind the point where it has one.
    ///
    /// ```
    /// use warpaint::array::{Complex, Data};
    ///
    /// assert_eq!((0.1f32.text(None), 0.1f32.text(Some(3))), ("0.1".into(), "0.100".into()));
    /// assert_eq!(Complex::new(1.0, -0.5).text(Some(2)), "1.00-0.50i");
    /// ```
    fn text(&self, precision: Option<usize>) -> String {
        match precision {
            Some(digits) => format!("{self:.digits$?}"),
            None => format!("{self:?}"),
        }
    }
}

/// That kernels see values of `T` as long as the host has them; else the program does not compile.
pub(super) const fn expect_sized<T: Data>() {
    const {
        assert!(
            size_of::<T>() > 0 && T::DTYPE.bytes == size_of::<T>(),
            "`DTYPE.bytes` is not the size of the type, or there is none"
        );
    }
}

/// A type with `+ - * /`.
///
/// For a structure, its definition in CUDA C++ has the operators that are used, and [`Promote`] with itself lets two of
/// them stand side by side.
///
/// ```
/// use warpaint::{array::{Arithmetic, DType, Data, GpuArray, Promote}, device::Device, kernel::Context};
///
/// /// A value and its slope: arithmetic that differentiates.
/// #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Dual { value: f32, slope: f32 }
///
/// impl Data for Dual {
///     const DTYPE: DType = DType {
///         name: "Dual",
///         definition: "struct Dual { float value, slope; };
///             __device__ Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
///             __device__ Dual operator*(Dual a, Dual b)
///             {
///                 return {a.value * b.value, a.slope * b.value + a.value * b.slope};
///             }",
///         bytes: 8,
///         align: 4,
///     };
/// }
/// impl Arithmetic for Dual {}
/// impl Promote<Dual> for Dual { type Output = Dual; }
///
/// let context = Context::new(Device::cpu()?)?;
/// let x = GpuArray::from_slice(&context, &[Dual { value: 3.0, slope: 1.0 }])?;
/// let y = (&x * &x * &x + Dual { value: 5.0, slope: 0.0 }).eval()?; // x³ + 5, whose slope is 3 x²
/// assert_eq!(y.item()?, Dual { value: 32.0, slope: 27.0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Arithmetic: Data {}

/// A type with sums: numbers, and vectors of them.
///
/// ```
/// use warpaint::{
///     array::{Additive, GpuArray, Result, vector::Float2},
///     device::Device,
///     kernel::Context,
/// };
///
/// fn total<T: Additive>(values: &[T], context: &Context) -> Result<T> {
///     GpuArray::from_slice(context, values)?.reduce().sum().item()
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// assert_eq!(total(&[Float2::new(1.0, 2.0), Float2::new(3.0, 4.0)], &context)?, Float2::new(4.0, 6.0));
/// // Collected in `f64`, where `f32` alone would have lost the one:
/// assert_eq!(total(&[1e8f32, 1.0, -1e8], &context)?, 1.0);
/// // The sum has the type of its terms, and wraps around:
/// assert_eq!(total(&[200u8, 100], &context)?, 44);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Additive: Arithmetic {
    /// The type that sums of it are collected in on the device, one that loses nothing that matters.
    const SUM: DType;
    /// The type that running sums and products of it are collected in.
    const RUNNING: DType = Self::DTYPE;
}

/// A number: an integer, real or complex. Beside its like, and beside a `bool`, it stays what it is ([`Promote`]).
///
/// ```
/// use warpaint::{array::{Complex, GpuArray, Number, Result}, device::Device, kernel::Context};
///
/// /// The sum of the squares of absolute values.
/// fn energy<T: Number>(of: &GpuArray<T>) -> Result<T::Real> {
///     let size = of.abs();
///     (&size * &size).reduce().sum().item()
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// assert_eq!(energy(&GpuArray::from_slice(&context, &[Complex::new(3.0f32, 4.0)])?)?, 25.0f32);
/// assert_eq!(energy(&GpuArray::from_slice(&context, &[1i32, -2, 3])?)?, 14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Number: Additive + Promote<Self, Output = Self> + Promote<bool, Output = Self> {
    /// The type of its real part and of its absolute value: the type itself, or a complex number's parts'.
    type Real: Real;
    /// The type of its mean: the type itself, or `f64` for integers.
    type Mean: Inexact;
    /// The type that means and squares of deviations from them are collected in on the device.
    const MOMENTS: DType;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
}

/// A number with an order.
///
/// ```
/// use warpaint::{array::{Expr, GpuArray, Real}, device::Device, kernel::Context};
///
/// fn rectified<T: Real>(a: &GpuArray<T>) -> Expr<T> {
///     a.clip(T::ZERO, T::GREATEST)
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::from_slice(&context, &[-1.5f32, 0.5, f32::INFINITY])?;
/// assert_eq!(rectified(&a).eval()?.to_vec()?, [0.0, 0.5, f32::INFINITY]);
/// assert_eq!(rectified(&GpuArray::from_slice(&context, &[-3i8, 127])?).eval()?.to_vec()?, [0, 127]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Real: Number<Real = Self> {
    /// The least value: minus infinity, or the least integer.
    const LEAST: Self;
    /// The greatest value: infinity, or the greatest integer.
    const GREATEST: Self;

    /// How many of `start`, `start + step`, ... come before `stop`; `None` where no number says that.
    ///
    /// ```
    /// use warpaint::array::Real;
    ///
    /// assert_eq!(i32::steps(5, 0, -2), Some(3)); // 5, 3, 1
    /// assert_eq!(i32::steps(0, 5, -2), Some(0));
    /// assert_eq!(i32::steps(0, 5, 0), None);
    /// assert_eq!(f64::steps(0.0, f64::INFINITY, 1.0), None);
    /// ```
    fn steps(start: Self, stop: Self, step: Self) -> Option<usize>;
}

/// A number with square roots and sines: floating-point, real or complex (numpy's `inexact`).
///
/// ```
/// use warpaint::{array::{Complex, GpuArray, Inexact, Result}, device::Device, kernel::Context};
///
/// /// A vector divided by its length.
/// fn unit<T: Inexact>(a: &GpuArray<T>) -> Result<GpuArray<T>> {
///     (a / (a * a.conj()).sum()?.sqrt()).eval()
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// assert_eq!(unit(&GpuArray::from_slice(&context, &[3.0, -4.0])?)?.to_vec()?, [0.6, -0.8]);
/// let a = GpuArray::from_slice(&context, &[Complex::new(0.0f32, 2.0), Complex::ZERO])?;
/// assert_eq!(unit(&a)?.to_vec()?, [Complex::I, Complex::ZERO]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Inexact: Number {}

/// A real floating-point number.
///
/// ```
/// use warpaint::{array::{Expr, Float, GpuArray, bf16}, device::Device, kernel::Context};
///
/// fn logistic<T: Float>(x: &GpuArray<T>) -> Expr<T> {
///     Expr::scalar(T::ONE) / ((-x).exp() + T::ONE)
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// let x = GpuArray::from_slice(&context, &[-100.0f32, 0.0, 100.0])?;
/// assert_eq!(logistic(&x).eval()?.to_vec()?, [0.0, 0.5, 1.0]);
/// let x = GpuArray::from_slice(&context, &[bf16::ZERO])?;
/// assert_eq!(logistic(&x).eval()?.to_vec()?, [bf16::from_f32(0.5)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Float: Real + Inexact {}

/// An integer.
///
/// ```
/// use warpaint::{array::{Expr, GpuArray, Integer}, device::Device, kernel::Context};
///
/// fn is_power_of_two<T: Integer>(n: &GpuArray<T>) -> Expr<bool> {
///     (n & (n - T::ONE)).eq(T::ZERO)
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// let n = GpuArray::from_slice(&context, &[1u64, 6, 1 << 63])?;
/// assert_eq!(is_power_of_two(&n).eval()?.to_vec()?, [true, false, true]);
/// let n = GpuArray::from_slice(&context, &[-128i8, 127])?; // -128 - 1 wraps around to 127
/// assert_eq!(is_power_of_two(&n).eval()?.to_vec()?, [true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Integer: Real + Bits {}

/// A type with `& | ^ !`.
///
/// ```
/// use warpaint::{array::{Bits, Expr, GpuArray}, device::Device, kernel::Context};
///
/// fn complement<T: Bits>(a: &GpuArray<T>) -> Expr<T> {
///     !a
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// let mask = GpuArray::from_slice(&context, &[true, false])?;
/// assert_eq!(complement(&mask).eval()?.to_vec()?, [false, true]);
/// let bytes = GpuArray::from_slice(&context, &[0x0fu8, 0xff])?;
/// assert_eq!(complement(&bytes).eval()?.to_vec()?, [0xf0, 0x00]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Bits: Data {}

macro_rules! data {
    ($($rust:ty: $dtype:expr;)*) => {$(
        impl Data for $rust {
            const DTYPE: DType = $dtype;
        }
    )*};
}

impl Data for bool {
    const DTYPE: DType = plain(Scalar::Bool);

    /// Whole: to `Debug` of a `bool`, a precision is how much is left of the word.
    fn text(&self, _precision: Option<usize>) -> String {
        self.to_string()
    }
}

data! {
    i8: DType { name: "signed char", ..plain(Scalar::I8) };
    u8: plain(Scalar::U8);
    i16: plain(Scalar::I16);
    u16: plain(Scalar::U16);
    i32: plain(Scalar::I32);
    u32: plain(Scalar::U32);
    i64: plain(Scalar::I64);
    u64: plain(Scalar::U64);
    f16: DType { name: "__half", ..defined(Scalar::F16, "#include <cuda_fp16.h>") };
    bf16: defined(Scalar::BF16, "#include <cuda_bf16.h>");
    f32: plain(Scalar::F32);
    f64: plain(Scalar::F64);
}

/// Complex numbers, which our header aligns to their size on the device.
const fn complex(name: &'static str, bytes: usize) -> DType {
    DType { name, definition: "#include <warpaint/complex.cuh>", bytes, align: bytes }
}

macro_rules! real {
    ($($steps:ident, $mean:ty { $($rust:ty: $zero:expr, $one:expr, $least:expr, $greatest:expr, $sum:expr $(, $running:expr)?;)* })*) => {$($(
        impl Arithmetic for $rust {}
        impl Additive for $rust {
            const SUM: DType = $sum;
            $(const RUNNING: DType = $running;)?
        }
        impl Number for $rust {
            type Real = Self;
            type Mean = $mean;
            const MOMENTS: DType = MOMENTS;
            const ZERO: Self = $zero;
            const ONE: Self = $one;
        }
        impl Real for $rust {
            const LEAST: Self = $least;
            const GREATEST: Self = $greatest;

            fn steps(start: Self, stop: Self, step: Self) -> Option<usize> {
                $steps::<Self>(start, stop, step)
            }
        }
    )*)*};
}

fn whole_steps<T: Into<i128>>(start: T, stop: T, step: T) -> Option<usize> {
    let [start, stop, step] = [start, stop, step].map(T::into);
    let (distance, step) = if step < 0 { (start - stop, -step) } else { (stop - start, step) };
    usize::try_from(distance.max(0).checked_add(step - 1)?.checked_div(step)?).ok()
}

/// As `numpy.arange`: distance and quotient are numbers of the type.
fn real_steps<T>(start: T, stop: T, step: T) -> Option<usize>
where
    T: Copy + Into<f64> + Sub<Output = T> + Div<Output = T>,
{
    let distance = stop - start;
    let quotient: f64 = (distance / step).into();
    // One that is too small for the type is not none, as in numpy.
    if quotient == 0.0 && distance.into() != 0.0 {
        return Some(usize::from(quotient.is_sign_positive()));
    }
    let count = quotient.ceil();
    count.is_finite().then_some(count as usize)
}

real! {
    whole_steps, f64 {
        i8: 0, 1, Self::MIN, Self::MAX, <i64 as Data>::DTYPE;
        u8: 0, 1, Self::MIN, Self::MAX, <u64 as Data>::DTYPE;
        i16: 0, 1, Self::MIN, Self::MAX, <i64 as Data>::DTYPE;
        u16: 0, 1, Self::MIN, Self::MAX, <u64 as Data>::DTYPE;
        i32: 0, 1, Self::MIN, Self::MAX, <i64 as Data>::DTYPE;
        u32: 0, 1, Self::MIN, Self::MAX, <u64 as Data>::DTYPE;
        i64: 0, 1, Self::MIN, Self::MAX, <i64 as Data>::DTYPE;
        u64: 0, 1, Self::MIN, Self::MAX, <u64 as Data>::DTYPE;
    }
    real_steps, Self {
        f16: Self::ZERO, Self::ONE, Self::NEG_INFINITY, Self::INFINITY, <f32 as Data>::DTYPE, <f32 as Data>::DTYPE;
        bf16: Self::ZERO, Self::ONE, Self::NEG_INFINITY, Self::INFINITY, <f32 as Data>::DTYPE, <f32 as Data>::DTYPE;
        f32: 0.0, 1.0, Self::NEG_INFINITY, Self::INFINITY, <f64 as Data>::DTYPE;
        f64: 0.0, 1.0, Self::NEG_INFINITY, Self::INFINITY, COMPENSATED;
    }
}

macro_rules! complex {
    ($($part:ty: $name:literal, $bytes:literal, $sum:expr;)*) => {$(
        impl Data for Complex<$part> {
            const DTYPE: DType = complex($name, $bytes);

            fn text(&self, precision: Option<usize>) -> String {
                let (re, im) = (self.re.text(precision), self.im.text(precision));
                let sign = if im.starts_with('-') { "" } else { "+" };
                format!("{re}{sign}{im}i")
            }
        }
        impl Arithmetic for Complex<$part> {}
        impl Additive for Complex<$part> {
            const SUM: DType = $sum;
        }
        impl Number for Complex<$part> {
            type Real = $part;
            type Mean = Self;
            const MOMENTS: DType = COMPLEX_MOMENTS;
            const ZERO: Self = Self::new(0.0, 0.0);
            const ONE: Self = Self::new(1.0, 0.0);
        }
    )*};
}

complex! {
    f32: "warpaint::complex<float>", 8, <Complex<f64> as Data>::DTYPE;
    f64: "warpaint::complex<double>", 16, COMPLEX_COMPENSATED;
}

macro_rules! mark {
    ($as:ident: $($rust:ty),*) => { $(impl $as for $rust {})* };
}

mark!(Inexact: f16, bf16, f32, f64, Complex<f32>, Complex<f64>);
mark!(Float: f16, bf16, f32, f64);
mark!(Integer: i8, u8, i16, u16, i32, u32, i64, u64);
mark!(Bits: bool, i8, u8, i16, u16, i32, u32, i64, u64);

/// The type that an operation on two types gives, by numpy's rules for arrays.
///
/// Integers widen to one that holds both; `i64` with `u64`, and 32- and 64-bit integers with `f32`, give `f64`, as in
/// numpy. What numpy lacks is as in JAX: `bf16` with an integer stays `bf16`, with `f16` it gives `f32`.
///
/// ```
/// use warpaint::{array::GpuArray, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let (signed, unsigned) = (GpuArray::full(&context, &[], -1i32)?, GpuArray::full(&context, &[], u32::MAX)?);
/// let sum: GpuArray<i64> = (&signed + &unsigned).eval()?;
/// assert_eq!(sum.item()?, 4294967294);
/// let third: GpuArray<f64> = (&signed / &GpuArray::full(&context, &[], 3.0f32)?).eval()?;
/// assert_eq!(third.item()?, -1.0 / 3.0);
/// let next: GpuArray<u32> = (&unsigned + 1).eval()?; // scalars take the array's type
/// assert_eq!(next.item()?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Promote<Other: Data>: Data {
    /// The common type.
    type Output: Data;
}

macro_rules! promote {
    ($($a:ty, $b:ty => $to:ty;)*) => {$(
        impl Promote<$b> for $a { type Output = $to; }
        impl Promote<$a> for $b { type Output = $to; }
    )*};
    (same $($a:ty),*) => { $(impl Promote<$a> for $a { type Output = $a; })* };
    (into $a:ty: $($b:ty),*) => { promote! { $($a, $b => $a;)* } };
}

promote!(same bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>);
promote!(into Complex<f64>: bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, Complex<f32>);
promote!(into Complex<f32>: bool, i8, u8, i16, u16, f16, bf16, f32);
promote!(into f64: bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32);
promote!(into f32: bool, i8, u8, i16, u16, f16, bf16);
promote!(into f16: bool, i8, u8);
promote!(into bf16: bool, i8, u8, i16, u16, i32, u32, i64, u64);
promote!(into i64: bool, i8, u8, i16, u16, i32, u32);
promote!(into u64: bool, u8, u16, u32);
promote!(into i32: bool, i8, u8, i16, u16);
promote!(into u32: bool, u8, u16);
promote!(into i16: bool, i8, u8);
promote!(into u16: bool, u8);
promote!(into i8: bool);
promote!(into u8: bool);
promote! {
    i8, u8 => i16; i8, u16 => i32; i16, u16 => i32; i8, u32 => i64; i16, u32 => i64; i32, u32 => i64;
    i8, u64 => f64; i16, u64 => f64; i32, u64 => f64; i64, u64 => f64;
    f16, i16 => f32; f16, u16 => f32; f16, i32 => f64; f16, u32 => f64; f16, i64 => f64; f16, u64 => f64;
    f16, bf16 => f32;
    f32, i32 => f64; f32, u32 => f64; f32, i64 => f64; f32, u64 => f64;
    Complex<f32>, i32 => Complex<f64>; Complex<f32>, u32 => Complex<f64>; Complex<f32>, i64 => Complex<f64>;
    Complex<f32>, u64 => Complex<f64>; Complex<f32>, f64 => Complex<f64>;
}

//! One number for all elements, which takes the type of what it stands beside.

use std::ops::Deref;

use half::{bf16, f16};
use num_complex::Complex;

use crate::array::{Beside, Data, Expr, Promote};

/// The same value everywhere, for where it stands first: [`Expr::scalar`] makes it.
///
/// Beside an array or an expression it takes their type, as numbers that stand beside them do, so long as that type has
/// fractions and imaginary parts where its own has ([`WeakPromote`]). By itself, and to all other functions, it is an
/// expression of its own type.
///
/// ```
/// use warpaint::{array::{Expr, GpuArray}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let x = GpuArray::from_slice(&context, &[0.5f32, -1.0, 3.0])?;
/// let powers: GpuArray<f32> = Expr::scalar(2.0).pow(&x).eval()?;
/// assert_eq!(powers.to_vec()?, [std::f32::consts::SQRT_2, 0.5, 8.0]);
/// let counts = GpuArray::from_slice(&context, &[1u8, 2])?;
/// let halves: GpuArray<f64> = (Expr::scalar(0.5) / &counts).eval()?;
/// assert_eq!(halves.to_vec()?, [0.5, 0.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scalar<T>(Expr<T>);

impl<T: Data> Scalar<T> {
    pub(in crate::array) fn new(value: T) -> Self {
        Self(Expr::constant(value))
    }

    /// This and what stands behind it as their common type, put together by `code`.
    pub(in crate::array) fn with<R: BesideScalar<T>, O: Data>(
        &self,
        right: R,
        code: &'static str,
    ) -> Expr<O> {
        let right = right.own_side().cast::<R::Common>();
        self.cast::<R::Common>().binary(code, right.node)
    }

    /// As [`Expr::compared`].
    pub(in crate::array) fn compared<R: BesideScalar<T>>(
        &self,
        right: R,
        code: &'static str,
    ) -> Expr<bool> {
        if T::DTYPE.is_integer() && R::Own::DTYPE.is_integer() {
            return self.binary(code, right.own_side().node);
        }
        self.with(right, code)
    }
}

impl<T> Deref for Scalar<T> {
    type Target = Expr<T>;

    fn deref(&self) -> &Expr<T> {
        &self.0
    }
}

impl<T> From<Scalar<T>> for Expr<T> {
    fn from(scalar: Scalar<T>) -> Self {
        scalar.0
    }
}

impl<T: Data> From<&Scalar<T>> for Expr<T> {
    fn from(scalar: &Scalar<T>) -> Self {
        scalar.0.clone()
    }
}

/// The type that one number gives beside arrays of `Other`, by numpy's rules for Python's numbers.
///
/// It is `Other`, so long as that can hold the kind of number: a real number beside integers, and a complex one beside
/// real ones, gives what arrays of both would ([`Promote`]), or the complex type with parts of type `Other`.
pub trait WeakPromote<Other: Data>: Data {
    /// The common type.
    type Output: Data;
}

impl<T: Data> WeakPromote<T> for T {
    type Output = T;
}

/// Rows of `scalars beside others => type`, and groups in which each takes the type of each other.
macro_rules! weak_promote {
    (each of $first:ty $(, $rest:ty)*) => {
        $(
            impl WeakPromote<$rest> for $first { type Output = $rest; }
            impl WeakPromote<$first> for $rest { type Output = $first; }
        )*
        weak_promote!(each of $($rest),*);
    };
    (each of) => {};
    ([$($scalar:ty),*] beside $others:tt => $to:ident) => {
        $(weak_promote!(@one $scalar, $others, $to);)*
    };
    (@one $scalar:ty, [$($other:ty),*], other) => {
        $(impl WeakPromote<$other> for $scalar { type Output = $other; })*
    };
    (@one $scalar:ty, [$($other:ty),*], promoted) => {
        $(impl WeakPromote<$other> for $scalar { type Output = <$scalar as Promote<$other>>::Output; })*
    };
}

weak_promote!(each of i8, u8, i16, u16, i32, u32, i64, u64);
weak_promote!(each of f16, bf16, f32, f64);
weak_promote!(each of Complex<f32>, Complex<f64>);
weak_promote!([bool] beside [i8, u8, i16, u16, i32, u32, i64, u64] => other);
weak_promote!([bool, i8, u8, i16, u16, i32, u32, i64, u64] beside [f16, bf16, f32, f64] => other);
weak_promote!(
    [bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64] beside [Complex<f32>, Complex<f64>] => other
);
weak_promote!([i8, u8, i16, u16, i32, u32, i64, u64] beside [bool] => promoted);
weak_promote!(
    [f16, bf16, f32, f64, Complex<f32>, Complex<f64>] beside [bool, i8, u8, i16, u16, i32, u32, i64, u64] => promoted
);
weak_promote!([Complex<f32>] beside [f16, bf16, f32, f64] => promoted);
weak_promote!([Complex<f64>] beside [f64] => promoted);

macro_rules! complex_parts {
    ($($other:ty),*) => {
        $(impl WeakPromote<$other> for Complex<f64> { type Output = Complex<f32>; })*
    };
}

complex_parts!(f16, bf16, f32);

/// What may stand behind one number: all that may stand beside arrays of its type ([`Beside`]).
pub trait BesideScalar<T: Data> {
    /// The type of this side.
    type Own: Data;
    /// The type that both become.
    type Common: Data;

    /// This side.
    fn own_side(self) -> Expr<Self::Own>;
}

impl<T: WeakPromote<R::Own>, R: Beside<T>> BesideScalar<T> for R {
    type Own = R::Own;
    type Common = T::Output;

    fn own_side(self) -> Expr<R::Own> {
        self.own()
    }
}

macro_rules! beside_arrays {
    ($($scalar:ty),*) => {$(
        impl<T: Data, V: WeakPromote<T>> Beside<T> for $scalar {
            type Own = V;
            type Common = V::Output;

            fn own(self) -> Expr<V> {
                self.into()
            }
        }
    )*};
}

beside_arrays!(Scalar<V>, &Scalar<V>);

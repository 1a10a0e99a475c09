//! `+ - * / % & | ^ << >> !` on arrays and expressions, and what may stand on their other side.

use std::ops;

use half::{bf16, f16};
use num_complex::Complex;

use crate::array::{
    Arithmetic, BesideScalar, Bits, Data, Expr, GpuArray, Integer, Promote, Real, Result, Scalar,
    example::example,
};

/// What may stand beside an array or expression of `T` in an operation on two: arrays and expressions of any type
/// that has a common one with `T` ([`Promote`]), and scalars.
///
/// Scalars take the type of what they stand beside, so that `&a * 2.0` stays what `a` is; a number may stand beside
/// complex numbers and vectors of its type, and they beside it.
///
/// ```
/// use warpaint::{array::{Complex, GpuArray}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let small = GpuArray::from_slice(&context, &[1i8, -2])?;
/// let large: GpuArray<f64> = (&small * GpuArray::from_slice(&context, &[0.5f32, 1e9])?).cast().eval()?;
/// assert_eq!(large.to_vec()?, [0.5, -2e9]);
/// let turned: GpuArray<Complex<f64>> = (&large * Complex::new(0.0, 1.0)).eval()?;
/// assert_eq!(turned.to_vec()?[0], Complex::new(0.0, 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Beside<T: Data>: Sized {
    /// The type of this side.
    type Own: Data;
    /// The type that both become.
    type Common: Data;

    /// This side.
    fn own(self) -> Expr<Self::Own>;

    /// This side, as the common type.
    fn promoted(self) -> Expr<Self::Common> {
        self.own().cast()
    }
}

impl<T: Data> Beside<T> for T {
    type Own = T;
    type Common = T;
    fn own(self) -> Expr<T> {
        Expr::constant(self)
    }
}

macro_rules! beside {
    ($($array:ty),*) => {$(
        impl<T: Promote<B>, B: Data> Beside<T> for $array {
            type Own = B;
            type Common = T::Output;
            fn own(self) -> Expr<B> {
                Expr::from(self)
            }
        }
    )*};
    (@part $($part:ty, $whole:ty;)*) => {$(
        impl Beside<$whole> for $part {
            type Own = $part;
            type Common = $whole;
            fn own(self) -> Expr<$part> {
                Expr::constant(self)
            }
        }

        impl Beside<$part> for $whole {
            type Own = $whole;
            type Common = $whole;
            fn own(self) -> Expr<$whole> {
                Expr::constant(self)
            }
        }
    )*};
}
pub(in crate::array) use beside;

beside!(Expr<B>, &Expr<B>, GpuArray<B>, &GpuArray<B>);
beside!(@part f32, Complex<f32>; f64, Complex<f64>;);

impl<T: Data> Expr<T> {
    /// Both sides as their common type, put together by `code`.
    pub(in crate::array) fn with<R: Beside<T>, O: Data>(
        &self,
        right: R,
        code: &'static str,
    ) -> Expr<O> {
        self.with_one(right, code, code)
    }

    /// The same where one number for all elements is put together by `code_of_one`.
    pub(in crate::array) fn with_one<R: Beside<T>, O: Data>(
        &self,
        right: R,
        code: &'static str,
        code_of_one: &'static str,
    ) -> Expr<O> {
        let right = right.own();
        let code = if right.is_constant() { code_of_one } else { code };
        self.cast::<R::Common>().binary(code, right.cast::<R::Common>().node)
    }

    /// Both sides compared by `code`: integers of different types as what they are, for which some have no common type
    /// that holds both; others as their common type.
    pub(in crate::array) fn compared<R: Beside<T>>(
        &self,
        right: R,
        code: &'static str,
    ) -> Expr<bool> {
        if T::DTYPE.is_integer() && R::Own::DTYPE.is_integer() {
            return self.binary(code, right.own().node);
        }
        self.with(right, code)
    }
}

/// Scalars on the left, of arrays whose elements are numbers of their type, or made of them.
macro_rules! scalars_left {
    ($trait:ident, $method:ident, $code:expr; $($scalar:ty: $($of:ty),*;)*) => {$($(
        scalars_left!(@pair $trait, $method, $code, $scalar, $of; Expr<$of>, &Expr<$of>, GpuArray<$of>, &GpuArray<$of>);
    )*)*};
    (@pair $trait:ident, $method:ident, $code:expr, $scalar:ty, $of:ty; $($array:ty),*) => {$(
        impl ops::$trait<$array> for $scalar {
            type Output = Expr<$of>;
            fn $method(self, right: $array) -> Self::Output {
                Expr::constant(self).cast::<$of>().binary($code, Expr::from(right).node)
            }
        }
    )*};
}
pub(in crate::array) use scalars_left;

pub(in crate::array) const ADD: &str = "warpaint::add($0, $1)";
pub(in crate::array) const SUBTRACT: &str = "warpaint::subtract($0, $1)";
pub(in crate::array) const MULTIPLY: &str = "warpaint::multiply($0, $1)";
pub(in crate::array) const DIVIDE: &str = "warpaint::divide($0, $1)";

macro_rules! operators {
    ($($bound:ident { $($trait:ident, $method:ident, $code:expr;)* })*) => {$($(
        operators!(@left $bound, $trait, $method, $code; Expr<A>, &Expr<A>, GpuArray<A>, &GpuArray<A>);
        operators!(@scalar $bound, $trait, $method, $code; Scalar<A>, &Scalar<A>);
        scalars_left!($trait, $method, $code;
            i8: i8; u8: u8; i16: i16; u16: u16; i32: i32; u32: u32; i64: i64; u64: u64;
            f16: f16; bf16: bf16; f32: f32, Complex<f32>; f64: f64, Complex<f64>;
            Complex<f32>: Complex<f32>; Complex<f64>: Complex<f64>;);
    )*)*};
    (@scalar $bound:ident, $trait:ident, $method:ident, $code:expr; $($left:ty),*) => {$(
        impl<A: Data, R: BesideScalar<A, Common: $bound>> ops::$trait<R> for $left {
            type Output = Expr<R::Common>;
            fn $method(self, right: R) -> Self::Output {
                self.with(right, $code)
            }
        }
    )*};
    (@left $bound:ident, $trait:ident, $method:ident, $code:expr; $($left:ty),*) => {$(
        impl<A: Data, R: Beside<A, Common: $bound>> ops::$trait<R> for $left {
            type Output = Expr<R::Common>;
            fn $method(self, right: R) -> Self::Output {
                Expr::from(self).with(right, $code)
            }
        }
    )*};
}

operators! {
    Arithmetic {
        Add, add, ADD;
        Sub, sub, SUBTRACT;
        Mul, mul, MULTIPLY;
        Div, div, DIVIDE;
    }
    Real {
        Rem, rem, "warpaint::remainder($0, $1)";
    }
    Integer {
        Shl, shl, "warpaint::shift_left($0, $1)";
        Shr, shr, "warpaint::shift_right($0, $1)";
    }
}

macro_rules! unary_operators {
    ($($trait:ident, $method:ident, $bound:ident, $code:literal: $($left:ty),*;)*) => {$($(
        impl<A: $bound> ops::$trait for $left {
            type Output = Expr<A>;
            fn $method(self) -> Expr<A> {
                Expr::from(self).unary($code)
            }
        }
    )*)*};
}

unary_operators! {
    Neg, neg, Arithmetic, "warpaint::negative($0)":
        Expr<A>, &Expr<A>, GpuArray<A>, &GpuArray<A>, Scalar<A>, &Scalar<A>;
    Not, not, Bits, "warpaint::complement($0)":
        Expr<A>, &Expr<A>, GpuArray<A>, &GpuArray<A>, Scalar<A>, &Scalar<A>;
}

macro_rules! bit_operators {
    ($($trait:ident, $method:ident, $code:literal;)*) => {$(
        operators!(@left Bits, $trait, $method, $code; Expr<A>, &Expr<A>, GpuArray<A>, &GpuArray<A>);
        operators!(@scalar Bits, $trait, $method, $code; Scalar<A>, &Scalar<A>);
    )*};
}

bit_operators! {
    BitAnd, bitand, "static_cast<$T>($0 & $1)";
    BitOr, bitor, "static_cast<$T>($0 | $1)";
    BitXor, bitxor, "static_cast<$T>($0 ^ $1)";
}

/// `+=` and its kin. Rust's operators cannot return errors, so these are methods.
macro_rules! in_place {
    ($($(#[$doc:meta])* $name:ident, $operator:tt $other:expr => $result:expr;)*) => {
        impl<T: Arithmetic> GpuArray<T> {$(
            $(#[$doc])*
            ///
            /// Rust's operator could not return an error, so this is a method; nothing is allocated.
            ///
            #[doc = example!(
                "let mut a = GpuArray::from_slice(&context, &[6.0f32, 8.0])?;",
                concat!("a.", stringify!($name), "(", stringify!($other), ")?;"),
                concat!("assert_eq!(a.to_vec()?, ", stringify!($result), ");"),
            )]
            ///
            /// # Errors
            /// As [`Expr::eval_into`].
            pub fn $name<R: Beside<T, Common = T>>(&mut self, other: R) -> Result<()> {
                let value = &*self $operator other;
                self.assign(value)
            }
        )*}
    };
}

in_place! {
    /// Adds `other`, broadcast to its shape, in place: numpy's `+=`.
    add_assign, + 2.0 => [8.0, 10.0];
    /// Subtracts `other` in place: numpy's `-=`.
    sub_assign, - &a / 2.0 => [3.0, 4.0];
    /// Multiplies by `other` in place: numpy's `*=`.
    mul_assign, * 0.5 => [3.0, 4.0];
    /// Divides by `other` in place: numpy's `/=`.
    div_assign, / 2.0 => [3.0, 4.0];
}

//! `+ - * / % & | ^ << >> !` on arrays and expressions, and what may stand on their other side.

use std::ops;

use half::{bf16, f16};
use num_complex::Complex;

use super::{Arithmetic, Bits, Data, Expr, GpuArray, Integer, Promote, Real, Result};

/// What may stand beside an array or expression of `T` in an operation on two: arrays and expressions of any type
/// that has a common one with `T` ([`Promote`]), and scalars.
///
/// Scalars take the type of what they stand beside, so that `&a * 2.0` stays what `a` is; a number may stand beside
/// complex numbers and vectors of its type, and they beside it.
pub trait Beside<T: Data> {
    /// The type that both become.
    type Common: Data;
    /// This side, as that type.
    fn promoted(self) -> Expr<Self::Common>;
}

impl<T: Data> Beside<T> for T {
    type Common = T;
    fn promoted(self) -> Expr<T> {
        Expr::scalar(self)
    }
}

macro_rules! beside {
    ($($array:ty),*) => {$(
        impl<T: Promote<B>, B: Data> Beside<T> for $array {
            type Common = T::Output;
            fn promoted(self) -> Expr<T::Output> {
                Expr::<B>::from(self).cast()
            }
        }
    )*};
    (@part $($part:ty, $whole:ty;)*) => {$(
        impl Beside<$whole> for $part {
            type Common = $whole;
            fn promoted(self) -> Expr<$whole> {
                Expr::scalar(self).cast()
            }
        }

        impl Beside<$part> for $whole {
            type Common = $whole;
            fn promoted(self) -> Expr<$whole> {
                Expr::scalar(self)
            }
        }
    )*};
}
pub(super) use beside;

beside!(Expr<B>, &Expr<B>, &GpuArray<B>);
beside!(@part f32, Complex<f32>; f64, Complex<f64>;);

impl<T: Data> Expr<T> {
    /// Both sides as their common type, put together by `code`.
    pub(super) fn with<R: Beside<T>, O: Data>(&self, right: R, code: &'static str) -> Expr<O> {
        let right = right.promoted();
        self.cast::<R::Common>().binary(code, right.node)
    }
}

macro_rules! operators {
    ($($bound:ident { $($trait:ident, $method:ident, $code:literal;)* })*) => {$($(
        operators!(@left $bound, $trait, $method, $code; Expr<A>, &Expr<A>, &GpuArray<A>);
        operators!(@scalars $trait, $method, $code;
            i8: i8; u8: u8; i16: i16; u16: u16; i32: i32; u32: u32; i64: i64; u64: u64;
            f16: f16; bf16: bf16; f32: f32, Complex<f32>; f64: f64, Complex<f64>;
            Complex<f32>: Complex<f32>; Complex<f64>: Complex<f64>;);
    )*)*};
    (@left $bound:ident, $trait:ident, $method:ident, $code:literal; $($left:ty),*) => {$(
        impl<A: Data, R: Beside<A, Common: $bound>> ops::$trait<R> for $left {
            type Output = Expr<R::Common>;
            fn $method(self, right: R) -> Self::Output {
                Expr::from(self).with(right, $code)
            }
        }
    )*};
    (@scalars $trait:ident, $method:ident, $code:literal; $($scalar:ty: $($of:ty),*;)*) => {$($(
        operators!(@pair $trait, $method, $code, $scalar, $of; Expr<$of>, &Expr<$of>, &GpuArray<$of>);
    )*)*};
    (@pair $trait:ident, $method:ident, $code:literal, $scalar:ty, $of:ty; $($array:ty),*) => {$(
        impl ops::$trait<$array> for $scalar {
            type Output = Expr<$of>;
            fn $method(self, right: $array) -> Self::Output {
                Expr::scalar(self).cast::<$of>().binary($code, Expr::from(right).node)
            }
        }
    )*};
}

operators! {
    Arithmetic {
        Add, add, "warpaint::add($0, $1)";
        Sub, sub, "warpaint::subtract($0, $1)";
        Mul, mul, "warpaint::multiply($0, $1)";
        Div, div, "warpaint::divide($0, $1)";
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
    Neg, neg, Arithmetic, "warpaint::negative($0)": Expr<A>, &Expr<A>, &GpuArray<A>;
    Not, not, Bits, "warpaint::complement($0)": Expr<A>, &Expr<A>, &GpuArray<A>;
}

macro_rules! bit_operators {
    ($($trait:ident, $method:ident, $code:literal: $($left:ty),*;)*) => {$($(
        impl<A: Data, R: Beside<A, Common: Bits>> ops::$trait<R> for $left {
            type Output = Expr<R::Common>;
            fn $method(self, right: R) -> Self::Output {
                Expr::from(self).with(right, $code)
            }
        }
    )*)*};
}

bit_operators! {
    BitAnd, bitand, "static_cast<$T>($0 & $1)": Expr<A>, &Expr<A>, &GpuArray<A>;
    BitOr, bitor, "static_cast<$T>($0 | $1)": Expr<A>, &Expr<A>, &GpuArray<A>;
    BitXor, bitxor, "static_cast<$T>($0 ^ $1)": Expr<A>, &Expr<A>, &GpuArray<A>;
}

/// `+=` and its kin. Rust's operators cannot return errors, so these are methods.
macro_rules! in_place {
    ($($(#[$doc:meta])* $name:ident, $operator:tt;)*) => {
        impl<T: Arithmetic> GpuArray<T> {$(
            $(#[$doc])*
            ///
            /// Rust's operator could not return an error, so this is a method; nothing is allocated.
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
    add_assign, +;
    /// Subtracts `other` in place: numpy's `-=`.
    sub_assign, -;
    /// Multiplies by `other` in place: numpy's `*=`.
    mul_assign, *;
    /// Divides by `other` in place: numpy's `/=`.
    div_assign, /;
}

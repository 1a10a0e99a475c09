//! The functions of numpy that are applied to each element, as methods of arrays and expressions. [`Expr`] says
//! by how much they may be off.

use crate::array::{
    Beside, BesideScalar, Data, Expr, Float, GpuArray, Inexact, Integer, Number, Promote, Real,
    Scalar,
    example::{example, example_of_each},
};

/// Methods that arrays and expressions have alike, whose arguments have the array's own type. Behind the code of each
/// stands its example: what it makes of these elements, with these arguments.
macro_rules! functions {
    ($($bound:ident { $(
        $(#[$doc:meta])* $name:ident($($argument:ident),*) -> $output:ty = $code:literal
            [$($of:tt)*] $(with ($($with:tt)*))? => $shown:literal;
    )* })*) => {$(
        impl<T: $bound> Expr<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_each!(Expr, $name, [$($of)*], [$($($with)*)?] => $shown)]
            pub fn $name(&self $(, $argument: impl Into<Self>)*) -> Expr<$output> {
                Expr::apply($code, smallvec::smallvec![self.node.clone() $(, $argument.into().node)*])
            }
        )*}

        impl<T: $bound> GpuArray<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_each!(GpuArray, $name, [$($of)*], [$($($with)*)?] => $shown)]
            pub fn $name(&self $(, $argument: impl Into<Expr<T>>)*) -> Expr<$output> {
                Expr::from(self).$name($($argument),*)
            }
        )*}
    )*};
}

functions! {
    Number {
        /// Its real part; of a real number, itself.
        real() -> T::Real = "warpaint::real($0)"
            [Complex::new(3.0, -4.0), Complex::new(0.5, 2.0)] => "[3.00 0.50]";
        /// Its imaginary part; of a real number, 0.
        imag() -> T::Real = "warpaint::imag($0)"
            [Complex::new(3.0, -4.0), Complex::new(0.5, 2.0)] => "[-4.00  2.00]";
        /// Its complex conjugate; of a real number, itself.
        conj() -> T = "warpaint::conj($0)"
            [Complex::new(3.0, -4.0), Complex::new(0.5, 2.0)] => "[3.00+4.00i 0.50-2.00i]";
        /// Its absolute value; of the least integer, itself. Complex: 3 ulp, 1 ulp, without overflow on the way.
        abs() -> T::Real = "warpaint::absolute($0)"
            [Complex::new(3.0, -4.0), Complex::new(0.0, 2.0)] => "[5.00 2.00]";
        /// Whether it, or one of its parts, is not a number.
        is_nan() -> bool = "warpaint::is_nan($0)"
            [1.0, f32::INFINITY, f32::NAN] => "[false false  true]";
        /// Whether it, or one of its parts, is infinite.
        is_inf() -> bool = "warpaint::is_infinite($0)"
            [1.0, f32::NEG_INFINITY, f32::NAN] => "[false  true false]";
        /// Whether it is neither infinite nor NaN.
        is_finite() -> bool = "warpaint::is_finite($0)"
            [1.0, f32::INFINITY, f32::NAN] => "[ true false false]";
    }
    Real {
        /// 1, 0 or -1, as it is greater than, equal to or less than 0; NaN of NaN.
        sign() -> T = "warpaint::sign($0)"
            [-3, 0, 7] => "[-1  0  1]";
        /// Whether its sign is negative, that of -0.0 and of NaN, too.
        signbit() -> bool = "warpaint::sign_bit($0)"
            [-2.0, -0.0, 0.0] => "[ true  true false]";
        /// It, but at least `low` and at most `high`; NaN where one of them is NaN (`numpy.clip`).
        clip(low, high) -> T = "warpaint::minimum(warpaint::maximum($0, $1), $2)"
            [-3.0, 0.5, 2.0] with (-1.0, 1.0) => "[-1.00  0.50  1.00]";
    }
    Inexact {
        /// Square root.
        sqrt() -> T = "warpaint::sqrt($0)"
            [0.25, 2.0] => "[0.50 1.41]";
        /// Natural exponential. 2 ulp, 1 ulp.
        exp() -> T = "warpaint::exp($0)"
            [0.0, 1.0] => "[1.00 2.72]";
        /// Natural logarithm. 1 ulp, 1 ulp.
        log() -> T = "warpaint::log($0)"
            [1.0, 10.0] => "[0.00 2.30]";
        /// Logarithm to the base of 2. 1 ulp, 1 ulp.
        log2() -> T = "warpaint::log2($0)"
            [0.125, 10.0] => "[-3.00  3.32]";
        /// Logarithm to the base of 10. 2 ulp, 1 ulp.
        log10() -> T = "warpaint::log10($0)"
            [0.01, 2.0] => "[-2.00  0.30]";
        /// Sine. 2 ulp, 2 ulp.
        sin() -> T = "warpaint::sin($0)"
            [0.5, 1.0] => "[0.48 0.84]";
        /// Cosine. 2 ulp, 2 ulp.
        cos() -> T = "warpaint::cos($0)"
            [0.5, 1.0] => "[0.88 0.54]";
        /// Tangent. 4 ulp, 2 ulp.
        tan() -> T = "warpaint::tan($0)"
            [0.5, 1.0] => "[0.55 1.56]";
        /// Arc sine. 2 ulp (4 with older CUDA), 2 ulp.
        asin() -> T = "warpaint::asin($0)"
            [0.5, 1.0] => "[0.52 1.57]";
        /// Arc cosine. 2 ulp (3 with older CUDA), 2 ulp.
        acos() -> T = "warpaint::acos($0)"
            [0.5, -1.0] => "[1.05 3.14]";
        /// Arc tangent. 2 ulp, 2 ulp.
        atan() -> T = "warpaint::atan($0)"
            [1.0, -10.0] => "[ 0.79 -1.47]";
        /// Hyperbolic sine. 3 ulp, 2 ulp.
        sinh() -> T = "warpaint::sinh($0)"
            [0.5, 2.0] => "[0.52 3.63]";
        /// Hyperbolic cosine. 2 ulp, 1 ulp.
        cosh() -> T = "warpaint::cosh($0)"
            [0.5, 2.0] => "[1.13 3.76]";
        /// Hyperbolic tangent. 2 ulp, 1 ulp.
        tanh() -> T = "warpaint::tanh($0)"
            [0.5, 2.0] => "[0.46 0.96]";
        /// Inverse hyperbolic sine. 3 ulp, 3 ulp.
        asinh() -> T = "warpaint::asinh($0)"
            [0.5, 2.0] => "[0.48 1.44]";
        /// Inverse hyperbolic cosine. 4 ulp, 3 ulp.
        acosh() -> T = "warpaint::acosh($0)"
            [1.5, 2.0] => "[0.96 1.32]";
        /// Inverse hyperbolic tangent. 3 ulp, 2 ulp.
        atanh() -> T = "warpaint::atanh($0)"
            [0.5, -0.9] => "[ 0.55 -1.47]";
        /// The angle of a complex number from the positive real axis (`numpy.angle`); of a real one 0 or pi. 3 ulp,
        /// 2 ulp.
        arg() -> T::Real = "warpaint::arg($0)"
            [Complex::new(0.0, 2.0), Complex::new(-1.0, 0.0)] => "[1.57 3.14]";
    }
    Float {
        /// Cube root. 1 ulp, 1 ulp.
        cbrt() -> T = "warpaint::cbrt($0)"
            [27.0, -2.0] => "[ 3.00 -1.26]";
        /// 1 over its square root. 2 ulp, 1 ulp.
        rsqrt() -> T = "warpaint::rsqrt($0)"
            [0.25, 2.0] => "[2.00 0.71]";
        /// 2 to its power. 2 ulp, 1 ulp.
        exp2() -> T = "warpaint::exp2($0)"
            [3.0, -0.5] => "[8.00 0.71]";
        /// 10 to its power. 2 ulp, 1 ulp, so that powers which `f64` holds are exact.
        exp10() -> T = "warpaint::exp10($0)"
            [2.0, -0.5] => "[100.00   0.32]";
        /// Natural exponential minus 1, exact near 0. 1 ulp, 1 ulp.
        expm1() -> T = "warpaint::expm1($0)"
            [1e-20, 1.0] => "[0.00 1.72]";
        /// Natural logarithm of 1 plus it, exact near 0. 1 ulp, 1 ulp.
        log1p() -> T = "warpaint::log1p($0)"
            [1e-20, 1.0] => "[0.00 0.69]";
        /// The error function. 2 ulp, 2 ulp.
        erf() -> T = "warpaint::erf($0)"
            [0.5, -1.0] => "[ 0.52 -0.84]";
        /// 1 minus the error function. 4 ulp, 5 ulp.
        erfc() -> T = "warpaint::erfc($0)"
            [0.5, -1.0] => "[0.48 1.84]";
        /// The gamma function. 5 ulp (11 before CUDA 12), 10 ulp.
        gamma() -> T = "warpaint::tgamma($0)"
            [5.0, 0.5] => "[24.00  1.77]";
        /// The logarithm of the absolute value of the gamma function. 6 ulp outside (-10.001, -2.264), 4 ulp outside
        /// (-23.0001, -2.2637); more between, where it passes through 0.
        lgamma() -> T = "warpaint::lgamma($0)"
            [5.0, 0.5] => "[3.18 0.57]";
        /// The greatest whole number that is not greater.
        floor() -> T = "warpaint::floor($0)"
            [-1.5, 2.5] => "[-2.00  2.00]";
        /// The least whole number that is not less.
        ceil() -> T = "warpaint::ceil($0)"
            [-1.5, 2.5] => "[-1.00  3.00]";
        /// Its whole part: rounded towards 0.
        trunc() -> T = "warpaint::trunc($0)"
            [-1.5, 2.5] => "[-1.00  2.00]";
        /// The nearest whole number, the even one of two (`numpy.rint`, `numpy.round`).
        rint() -> T = "warpaint::rint($0)"
            [0.5, 1.5, 2.5] => "[0.00 2.00 2.00]";
        /// The nearest whole number, away from 0 of two, as Rust and C have it.
        round() -> T = "warpaint::round($0)"
            [0.5, 1.5, 2.5] => "[1.00 2.00 3.00]";
        /// It times `factor` plus `addend`, rounded once (in `f32` for `f16` and `bf16`). PyCUDA's `mul_add`,
        /// `a x + b y`, is `&x * a + &y * b`: one kernel, too.
        mul_add(factor, addend) -> T = "warpaint::fma($0, $1, $2)"
            [1.0, 2.0] with (10.0, 0.5) => "[10.50 20.50]";
    }
}

/// Functions of two: with arrays and expressions of other types after promotion, with scalars of the array's type, for
/// which there may be code of their own.
macro_rules! functions_of_two {
    (@with $self:ident, $other:ident, $code:literal) => { $self.with($other, $code) };
    (@with $self:ident, $other:ident, $code:literal, $code_of_one:literal) => {
        $self.with_one($other, $code, $code_of_one)
    };
    ($($type:ident { $(
        $(#[$doc:meta])* $name:ident: $bound:ident -> $output:ty = $code:literal $(, of one $code_of_one:literal)?
            [$($of:tt)*] with ($($with:tt)*) => $shown:literal;
    )* })*) => {$(
        impl<T: $type> Expr<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_each!(Expr, $name, [$($of)*], [$($with)*] => $shown)]
            pub fn $name<R: Beside<T, Common: $bound>>(&self, other: R) -> Expr<$output> {
                functions_of_two!(@with self, other, $code $(, $code_of_one)?)
            }
        )*}

        impl<T: $type> Scalar<T> {$(
            #[doc = concat!("As [`Expr::", stringify!($name), "`], in the type of `other`.")]
            pub fn $name<R: BesideScalar<T, Common: $bound>>(&self, other: R) -> Expr<$output> {
                self.with(other, $code)
            }
        )*}

        impl<T: $type> GpuArray<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_each!(GpuArray, $name, [$($of)*], [$($with)*] => $shown)]
            pub fn $name<R: Beside<T, Common: $bound>>(&self, other: R) -> Expr<$output> {
                Expr::from(self).$name(other)
            }
        )*}
    )*};
}

functions_of_two! {
    Number {
        /// To the power of `other`. 4 ulp, 1 ulp, so that powers which `f64` holds are exact; to the power of 2, -1 and
        /// 0.5 correctly rounded. One number 0.5 for all elements is [`Expr::sqrt`], as in numpy; an array of them
        /// differs at `-0.0` and minus infinity. Integers are multiplied, and a negative exponent gives what C's
        /// division by the power would: 0, 1 or -1. The relative error of a complex power whose exponent is no whole
        /// number below 100 grows with the size of the exponent times the base's logarithm.
        pow: Number -> R::Common = "warpaint::power($0, $1)", of one "warpaint::power_by_one($0, $1)"
            [2.0, 9.0] with (0.5) => "[1.41 3.00]";
    }
    Real {
        /// The greater of both; NaN where one is NaN (`numpy.maximum`).
        maximum: Real -> R::Common = "warpaint::maximum($0, $1)"
            [-1.0, f32::NAN, 3.0] with (2.0) => "[2.00  NaN 3.00]";
        /// The lesser of both; NaN where one is NaN (`numpy.minimum`).
        minimum: Real -> R::Common = "warpaint::minimum($0, $1)"
            [-1.0, f32::NAN, 3.0] with (2.0) => "[-1.00   NaN  2.00]";
        /// The greater of both; where one is NaN, the other (C's `fmax`).
        fmax: Real -> R::Common = "warpaint::fmax($0, $1)"
            [-1.0, f32::NAN, 3.0] with (2.0) => "[2.00 2.00 3.00]";
        /// The lesser of both; where one is NaN, the other (C's `fmin`).
        fmin: Real -> R::Common = "warpaint::fmin($0, $1)"
            [-1.0, f32::NAN, 3.0] with (2.0) => "[-1.00  2.00  2.00]";
        /// The remainder with the sign of the dividend, exact: C's `fmod`, and the operator `%`.
        fmod: Real -> R::Common = "warpaint::remainder($0, $1)"
            [-7, 7] with (3) => "[-1  1]";
        /// The remainder with the sign of the divisor: `numpy.mod`, Python's `%`. 0 for integers where `other` is 0.
        modulo: Real -> R::Common = "warpaint::modulo($0, $1)"
            [-7, 7] with (3) => "[2 1]";
        /// The quotient, rounded down: Python's `//`. 0 for integers where `other` is 0.
        floor_divide: Real -> R::Common = "warpaint::floor_divide($0, $1)"
            [-7, 7] with (2) => "[-4  3]";
        /// The angle of the point (`other`, this) from the positive first axis. 3 ulp, 2 ulp.
        atan2: Float -> R::Common = "warpaint::atan2($0, $1)"
            [1.0, -1.0] with (-1.0) => "[ 2.36 -2.36]";
        /// The length of the vector of both, without overflow on the way. 3 ulp, 1 ulp.
        hypot: Float -> R::Common = "warpaint::hypot($0, $1)"
            [3.0, -5.0] with (4.0) => "[5.00 6.40]";
        /// It with the sign of `other`.
        copysign: Float -> R::Common = "warpaint::copysign($0, $1)"
            [3.0, -4.0] with (-1.0) => "[-3.00 -4.00]";
    }
    Integer {
        /// The quotient of integers as a floating-point number (`numpy.true_divide`), where `/` cuts off the fraction.
        true_divide: Integer -> f64 = "static_cast<double>($0) / static_cast<double>($1)"
            [-7, 7] with (2) => "[-3.50  3.50]";
    }
}

/// Comparisons, exact between integers of all types.
macro_rules! comparisons {
    ($($type:ident, $bound:ident { $(
        $(#[$doc:meta])* $name:ident = $code:literal [$($of:tt)*] with ($($with:tt)*) => $shown:literal;
    )* })*) => {$(
        impl<T: $type> Scalar<T> {$(
            #[doc = concat!("As [`Expr::", stringify!($name), "`], in the type of `other`.")]
            pub fn $name<R: BesideScalar<T, Common: $bound>>(&self, other: R) -> Expr<bool> {
                self.compared(other, $code)
            }
        )*}

        impl<T: $type> Expr<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_each!(Expr, $name, [$($of)*], [$($with)*] => $shown)]
            pub fn $name<R: Beside<T, Common: $bound>>(&self, other: R) -> Expr<bool> {
                self.compared(other, $code)
            }
        )*}

        impl<T: $type> GpuArray<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_each!(GpuArray, $name, [$($of)*], [$($with)*] => $shown)]
            pub fn $name<R: Beside<T, Common: $bound>>(&self, other: R) -> Expr<bool> {
                Expr::from(self).$name(other)
            }
        )*}
    )*};
}

comparisons! {
    Data, Equal {
        /// Whether it equals `other`.
        eq = "warpaint::equal($0, $1)"
            [1, 2, 3] with (2) => "[false  true false]";
        /// Whether it differs from `other`.
        ne = "!warpaint::equal($0, $1)"
            [1, 2, 3] with (2) => "[ true false  true]";
    }
    Real, Real {
        /// Whether it is less than `other`.
        lt = "warpaint::less($0, $1)"
            [1, 2, 3] with (2) => "[ true false false]";
        /// Whether it is at most `other`.
        le = "warpaint::at_most($0, $1)"
            [1, 2, 3] with (2) => "[ true  true false]";
        /// Whether it is greater than `other`.
        gt = "warpaint::less($1, $0)"
            [1, 2, 3] with (2) => "[false false  true]";
        /// Whether it is at least `other`.
        ge = "warpaint::at_most($1, $0)"
            [1, 2, 3] with (2) => "[false  true  true]";
    }
}

/// A type with `==`: numbers and `bool`.
pub trait Equal: Data {}

impl<T: Promote<bool>> Equal for T {}

/// Functions of two conditions of any types: what is not 0 holds.
macro_rules! logical {
    ($(
        $(#[$doc:meta])* $name:ident = $code:literal [$($of:tt)*] with ($($with:tt)*) => $shown:literal;
    )*) => {
        impl<T: Promote<bool>> Expr<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_each!(Expr, $name, [$($of)*], [$($with)*] => $shown)]
            pub fn $name<B: Promote<bool>>(&self, other: impl Into<Expr<B>>) -> Expr<bool> {
                self.cast::<bool>().binary($code, other.into().cast::<bool>().node)
            }
        )*}

        impl<T: Promote<bool>> GpuArray<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_each!(GpuArray, $name, [$($of)*], [$($with)*] => $shown)]
            pub fn $name<B: Promote<bool>>(&self, other: impl Into<Expr<B>>) -> Expr<bool> {
                Expr::from(self).$name(other)
            }
        )*}
    };
}

logical! {
    /// Whether neither it nor `other` is 0. NaN is not 0.
    logical_and = "$0 && $1"
            [0, 1, 2] with (true) => "[false  true  true]";
    /// Whether it or `other` is not 0.
    logical_or = "$0 || $1"
            [0, 1, 2] with (false) => "[false  true  true]";
    /// Whether one of it and `other` is 0 and the other is not.
    logical_xor = "$0 != $1"
            [0, 1, 2] with (true) => "[ true false false]";
}

impl<T: Promote<bool>> Expr<T> {
    /// Whether it is 0.
    pub fn logical_not(&self) -> Expr<bool> {
        self.cast::<bool>().unary("!$0")
    }
}

impl<T: Promote<bool>> GpuArray<T> {
    /// Whether it is 0.
    pub fn logical_not(&self) -> Expr<bool> {
        Expr::from(self).logical_not()
    }
}

impl<T: Real> Expr<T> {
    /// `then` where this is greater than 0, `otherwise` elsewhere.
    pub fn if_positive<U: Data>(
        &self,
        then: impl Into<Expr<U>>,
        otherwise: impl Into<Expr<U>>,
    ) -> Expr<U> {
        Expr::select(self.gt(T::ZERO), then, otherwise)
    }
}

impl<T: Real> GpuArray<T> {
    /// `then` where this is greater than 0, `otherwise` elsewhere.
    pub fn if_positive<U: Data>(
        &self,
        then: impl Into<Expr<U>>,
        otherwise: impl Into<Expr<U>>,
    ) -> Expr<U> {
        Expr::from(self).if_positive(then, otherwise)
    }
}

/// Functions with two results are two expressions, each of which may be evaluated or used on its own.
impl<T: Float> Expr<T> {
    /// Its fraction and its whole part, both with its sign (C's `modf`).
    pub fn modf(&self) -> (Self, Self) {
        (self.unary("warpaint::fraction($0)"), self.trunc())
    }

    /// Its significand, of absolute value 0.5 to 1, and its exponent: it is the significand times 2 to the power of the
    /// exponent (C's `frexp`). 0, infinities and NaN are their own significands, with exponent 0.
    pub fn frexp(&self) -> (Self, Expr<i32>) {
        (self.unary("warpaint::significand($0)"), self.unary("warpaint::exponent($0)"))
    }

    /// It times 2 to the power of `exponent`, rounded once.
    pub fn ldexp(&self, exponent: impl Into<Expr<i32>>) -> Self {
        self.binary("warpaint::ldexp($0, $1)", exponent.into().node)
    }
}

impl<T: Float> GpuArray<T> {
    /// As [`Expr::modf`].
    pub fn modf(&self) -> (Expr<T>, Expr<T>) {
        Expr::from(self).modf()
    }

    /// As [`Expr::frexp`].
    pub fn frexp(&self) -> (Expr<T>, Expr<i32>) {
        Expr::from(self).frexp()
    }

    /// As [`Expr::ldexp`].
    pub fn ldexp(&self, exponent: impl Into<Expr<i32>>) -> Expr<T> {
        Expr::from(self).ldexp(exponent)
    }
}

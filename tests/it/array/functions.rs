//! Functions of each element: real ones against `std` and `libm` in `f64`, integers against wider ones.

use half::{bf16, f16};
use warpaint::{
    array::{Data, Expr, Float, GpuArray},
    kernel::Context,
};

use super::contexts;

/// All of `functions` on the same arguments as rows of one array: one kernel.
pub(super) fn rows<T: Data>(context: &Context, functions: Vec<Expr<T>>) -> Vec<Vec<T>> {
    let row = GpuArray::<i32>::arange(context, functions.len()).unwrap();
    let row = row.reshape(&[functions.len(), 1]).unwrap();
    let n = functions[0].shape().unwrap()[0];
    let all = functions
        .into_iter()
        .enumerate()
        .reduce(|(_, all), (i, function)| (i, Expr::select(row.eq(i as i32), function, all)));
    let values = all.unwrap().1.eval().unwrap().to_vec().unwrap();
    values.chunks(n).map(<[T]>::to_vec).collect()
}

/// A type whose values are compared by units in the last place.
trait Compared: Float {
    /// Bits of its significand, its least exponent, and where rounding becomes infinite.
    const DIGITS: i32;
    const LEAST_EXPONENT: i32;
    const OVERFLOW: f64;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! compared {
    ($($type:ty: $digits:expr, $least:expr, $overflow:expr, $of:expr, $wide:expr;)*) => {$(
        impl Compared for $type {
            const DIGITS: i32 = $digits;
            const LEAST_EXPONENT: i32 = $least;
            const OVERFLOW: f64 = $overflow;
            fn of(value: f64) -> Self { $of(value) }
            fn wide(self) -> f64 { $wide(self) }
        }
    )*};
}

compared! {
    f16: 11, -14, 65520.0, f16::from_f64, f16::to_f64;
    bf16: 8, -126, f32::MAX as f64, bf16::from_f64, bf16::to_f64;
    f32: 24, -126, 3.4028235677973366e38, |v| v as f32, |v: f32| f64::from(v);
    f64: 53, -1022, f64::INFINITY, |v| v, |v| v;
}

/// How far `found` is from `expected`, in units of the last place of `T`.
fn ulp<T: Compared>(found: T, expected: f64) -> f64 {
    let found = found.wide();
    if expected.is_nan() || found.is_nan() {
        return if expected.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if expected.abs() >= T::OVERFLOW {
        return if found == f64::INFINITY.copysign(expected) { 0.0 } else { 1.0 };
    }
    if found.is_infinite() {
        // The next number beyond the greatest.
        return (T::OVERFLOW - expected.abs()).abs() / T::OVERFLOW * 2.0_f64.powi(T::DIGITS);
    }
    let (_, exponent) = libm::frexp(expected);
    let unit = libm::ldexp(1.0, (exponent - 1).max(T::LEAST_EXPONENT) + 1 - T::DIGITS);
    (found - expected).abs() / unit
}

/// What a function is, and by how many units in the last place of `f32` and of `f64` it may be off: the bounds that
/// its documentation states.
type Function<T> = (&'static str, fn(&GpuArray<T>) -> Expr<T>, fn(f64) -> f64, [f64; 2]);

fn of_one<T: Compared>() -> Vec<Function<T>> {
    macro_rules! table {
        ($($name:ident: $reference:expr, $single:expr, $double:expr;)*) => {
            vec![$((stringify!($name), |x: &GpuArray<T>| x.$name(), $reference, [$single, $double])),*]
        };
    }
    table! {
        sqrt: f64::sqrt, 0.5, 0.5;
        cbrt: libm::cbrt, 1.0, 1.0;
        rsqrt: |x| 1.0 / x.sqrt(), 2.0, 1.0;
        exp: f64::exp, 2.0, 1.0;
        exp2: libm::exp2, 2.0, 1.0;
        exp10: libm::exp10, 2.0, 1.0;
        expm1: f64::exp_m1, 1.0, 1.0;
        log: f64::ln, 1.0, 1.0;
        log2: f64::log2, 1.0, 1.0;
        log10: f64::log10, 2.0, 1.0;
        log1p: f64::ln_1p, 1.0, 1.0;
        sin: f64::sin, 2.0, 2.0;
        cos: f64::cos, 2.0, 2.0;
        tan: f64::tan, 4.0, 2.0;
        asin: f64::asin, 4.0, 2.0;
        acos: f64::acos, 3.0, 2.0;
        atan: f64::atan, 2.0, 2.0;
        sinh: libm::sinh, 3.0, 2.0;
        cosh: libm::cosh, 2.0, 1.0;
        tanh: libm::tanh, 2.0, 1.0;
        asinh: libm::asinh, 3.0, 3.0;
        acosh: |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, 4.0, 3.0;
        atanh: libm::atanh, 3.0, 2.0;
        erf: libm::erf, 2.0, 2.0;
        erfc: libm::erfc, 4.0, 5.0;
        gamma: libm::tgamma, 11.0, 10.0;
        lgamma: libm::lgamma, 6.0, 4.0;
        floor: f64::floor, 0.0, 0.0;
        ceil: f64::ceil, 0.0, 0.0;
        trunc: f64::trunc, 0.0, 0.0;
        rint: f64::round_ties_even, 0.0, 0.0;
        round: f64::round, 0.0, 0.0;
        abs: f64::abs, 0.0, 0.0;
        sign: |x| if x == 0.0 || x.is_nan() { x } else { x.signum() }, 0.0, 0.0;
    }
}

/// Of all sizes and both signs, and where functions have their corners.
fn arguments<T: Compared>() -> Vec<T> {
    let mut random = fastrand::Rng::with_seed(11);
    let magnitude = |random: &mut fastrand::Rng| {
        let sign = if random.bool() { 1.0 } else { -1.0 };
        let exponent = match random.u8(..4) {
            0 => random.f64() * 70.0 - 35.0,
            1 => random.f64() * 4.0 - 1.0,
            _ => random.f64() * 2.6 - 1.8,
        };
        T::of(sign * 10.0_f64.powf(exponent))
    };
    let corners = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, f64::INFINITY, -f64::INFINITY];
    let corners = corners.into_iter().chain([f64::NAN, 88.7, 709.7, -0.49999997, 8388609.0]);
    corners.map(T::of).chain((0..400).map(|_| magnitude(&mut random))).collect()
}

/// `bound` from what is documented, for `f32` and `f64`.
fn functions_of_one<T: Compared>(bound: impl Fn([f64; 2]) -> f64) {
    let arguments = arguments::<T>();
    for context in contexts() {
        let x = GpuArray::from_slice(&context, &arguments).unwrap();
        let table = of_one::<T>();
        let found = rows(&context, table.iter().map(|(_, function, ..)| function(&x)).collect());
        for ((name, _, reference, bounds), found) in table.iter().zip(found) {
            for (&x, &y) in arguments.iter().zip(&found) {
                let zero_of_lgamma = (-24.0..-2.0).contains(&x.wide());
                if *name == "lgamma" && zero_of_lgamma {
                    continue;
                }
                let off = ulp(y, reference(x.wide()));
                assert!(off <= bound(*bounds), "{name}({x:?}) is {y:?}, off by {off} ulp");
            }
        }
    }
}

/// Bounds are from the correctly rounded value, which is up to half a unit from the reference.
#[test]
fn single_precision_is_as_exact_as_documented() {
    functions_of_one::<f32>(|[single, _]| if single > 0.5 { single + 0.5 } else { single });
}

/// One more unit for the reference, which is not correctly rounded either.
#[test]
fn double_precision_is_as_exact_as_documented() {
    functions_of_one::<f64>(|[_, double]| if double > 0.5 { double + 1.0 } else { double });
}

/// Half a unit for the last rounding, and the error in `f32`, whose units are 2^-13 and 2^-16 as large.
#[test]
fn half_precision_is_rounded_once_more() {
    let bound = |finer: f64| {
        move |[single, _]: [f64; 2]| if single == 0.0 { 0.0 } else { 0.5 + (single + 0.5) / finer }
    };
    functions_of_one::<f16>(bound(8192.0));
    functions_of_one::<bf16>(bound(65536.0));
}

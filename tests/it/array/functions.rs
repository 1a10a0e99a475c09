//! Functions of each element: real ones against `std` and `libm` in `f64`, integers against wider ones.

use half::{bf16, f16};
use warpaint::{
    array::{Data, Equal, Error, Expr, Float, GpuArray, Integer, Promote, Real},
    device::Device,
    kernel::Context,
};

use super::contexts;

/// A function of two, what it is in a wider type, and by how much it may be off.
pub(super) type OfTwo<T, Wide, Bound> = (&'static str, Expr<T>, fn(Wide, Wide) -> Wide, Bound);

/// All of `functions`, which have one shape, as rows of one array: one kernel.
pub(super) fn rows<T: Data>(context: &Context, functions: Vec<Expr<T>>) -> Vec<Vec<T>> {
    let (count, shape) = (functions.len(), functions[0].shape().unwrap());
    let row = GpuArray::<i32>::arange(context, count).unwrap();
    let row = row.reshape(&[&[count], &vec![1; shape.len()][..]].concat()).unwrap();
    let all = functions
        .into_iter()
        .enumerate()
        .reduce(|(_, all), (i, function)| (i, Expr::select(row.eq(i as i32), function, all)));
    let values = all.unwrap().1.eval().unwrap().to_vec().unwrap();
    let n = values.len() / count;
    (0..count).map(|row| values[row * n..(row + 1) * n].to_vec()).collect()
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
    let some: Vec<T> = (0..400).map(|_| magnitude(&mut random)).collect();
    // Of any exponent, down to the least subnormal number.
    let any = (0..300).map(|_| {
        let exponent = random.i32(T::LEAST_EXPONENT - T::DIGITS..=1 - T::LEAST_EXPONENT);
        let sign = if random.bool() { 1.0 } else { -1.0 };
        T::of(libm::ldexp(sign * (1.0 + random.f64()), exponent))
    });
    corners.map(T::of).chain(some).chain(any).collect()
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

/// numpy's `mod`: the exact remainder, moved to the divisor's side.
fn modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest == 0.0 {
        0.0_f64.copysign(b)
    } else if (rest < 0.0) != (b < 0.0) {
        rest + b
    } else {
        rest
    }
}

fn nan_or(a: f64, b: f64, result: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { result }
}

#[test]
fn functions_of_two_are_those_of_numpy() {
    fn check<T: Compared>(bound: impl Fn([f64; 2]) -> f64) {
        let mut arguments = arguments::<T>();
        arguments.truncate(150);
        let (n, other) = (arguments.len(), arguments.iter().rev().copied().collect::<Vec<_>>());
        for context in contexts() {
            let (x, y) = (
                GpuArray::from_slice(&context, &arguments).unwrap(),
                GpuArray::from_slice(&context, &other).unwrap(),
            );
            let table: Vec<OfTwo<T, f64, [f64; 2]>> = vec![
                ("atan2", x.atan2(&y), f64::atan2, [3.0, 2.0]),
                ("hypot", x.hypot(&y), libm::hypot, [3.0, 1.0]),
                ("pow", x.abs().pow(&y), |a, b| a.abs().powf(b), [4.0, 1.0]),
                ("fmod", x.fmod(&y), |a, b| a % b, [0.0; 2]),
                ("modulo", x.modulo(&y), modulo, [0.5; 2]),
                ("copysign", x.copysign(&y), f64::copysign, [0.0; 2]),
                ("maximum", x.maximum(&y), |a, b| nan_or(a, b, a.max(b)), [0.0; 2]),
                ("minimum", x.minimum(&y), |a, b| nan_or(a, b, a.min(b)), [0.0; 2]),
                ("fmax", x.fmax(&y), f64::max, [0.0; 2]),
                ("fmin", x.fmin(&y), f64::min, [0.0; 2]),
                ("clip", x.clip(T::of(-0.5), T::of(2.0)), |a, _| a.clamp(-0.5, 2.0), [0.0; 2]),
                ("mul_add", x.mul_add(&y, &x), |a, b| a.mul_add(b, a), [0.5; 2]),
            ];
            let found = rows(&context, table.iter().map(|(_, expr, ..)| expr.clone()).collect());
            for ((name, _, reference, bounds), found) in table.iter().zip(found) {
                for i in 0..n {
                    let (a, b) = (arguments[i].wide(), other[i].wide());
                    let off = ulp(found[i], reference(a, b));
                    let found = found[i];
                    assert!(
                        off <= bound(*bounds),
                        "{name}({a:?}, {b:?}) is {found:?}, off by {off} ulp"
                    );
                }
            }
        }
    }
    // As for functions of one.
    let half = |finer: f64| {
        move |[single, _]: [f64; 2]| if single == 0.0 { 0.0 } else { 0.5 + (single + 0.5) / finer }
    };
    check::<f16>(half(8192.0));
    check::<bf16>(half(65536.0));
    // Half a unit from the correctly rounded value to the reference; in `f64` a whole one of the reference's, too.
    check::<f32>(|[single, _]| if single > 0.5 { single + 0.5 } else { single });
    check::<f64>(|[_, double]| if double > 0.0 { double + 1.0 } else { double });
}

/// Python's `//` on floating-point numbers, by its definition: what `divmod` leaves.
#[test]
fn quotients_are_rounded_down() {
    let cases = [
        (7.0, 2.0, 3.0),
        (-7.0, 2.0, -4.0),
        (7.0, -2.0, -4.0),
        (-7.0, -2.0, 3.0),
        (1.0, 0.1, 9.0), // 0.1 is a little more than a tenth
        (6.0, 0.1, 59.0),
        (-1.0, f64::INFINITY, -1.0),
        (1.0, 0.0, f64::INFINITY),
        (1e300, 1e-10, f64::INFINITY),
        // Quotients of such numbers lie a half apart.
        (1e16, 3.0, 3_333_333_333_333_333.0),
        (-1e16, 3.0, -3_333_333_333_333_335.0),
    ];
    for context in contexts() {
        let a = GpuArray::from_slice(&context, &cases.map(|case| case.0)).unwrap();
        let b = GpuArray::from_slice(&context, &cases.map(|case| case.1)).unwrap();
        let found = a.floor_divide(&b).eval().unwrap().to_vec().unwrap();
        assert_eq!(found, cases.map(|case| case.2));
    }
}

/// All pairs of bytes, against arithmetic in wider integers.
#[test]
fn integers_are_those_of_numpy() {
    let all: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    for context in contexts() {
        let b = GpuArray::from_slice(&context, &all).unwrap();
        let a = b.reshape(&[256, 1]).unwrap();
        let table: Vec<OfTwo<i8, i32, ()>> = vec![
            ("/", &a / &b, |a, b| a.checked_div(b).unwrap_or(0), ()),
            ("%", &a % &b, |a, b| a.checked_rem(b).unwrap_or(0), ()),
            ("modulo", a.modulo(&b), |a, b| if b == 0 { 0 } else { (a % b + b) % b }, ()),
            (
                "floor_divide",
                a.floor_divide(&b),
                |a, b| {
                    if b == 0 { 0 } else { (f64::from(a) / f64::from(b)).floor() as i32 }
                },
                (),
            ),
            ("<<", &a << &b, |a, b| if (0..8).contains(&b) { a << b } else { 0 }, ()),
            (
                ">>",
                &a >> &b,
                |a, b| if (0..8).contains(&b) { a >> b } else { a.signum().min(0) },
                (),
            ),
            ("maximum", a.maximum(&b), i32::max, ()),
            ("sign", a.sign() + &b - &b, |a, _| a.signum(), ()),
            ("abs", a.abs() | (&b & 0), |a, _| a.abs(), ()),
        ];
        let row = GpuArray::<i32>::arange(&context, table.len()).unwrap();
        let row = row.reshape(&[table.len(), 1, 1]).unwrap();
        let every = table.iter().enumerate().fold(Expr::from(0), |every, (i, (_, expr, ..))| {
            Expr::select(row.eq(i as i32), expr, every)
        });
        let every = every.eval().unwrap().to_vec().unwrap();
        for ((name, _, reference, ()), found) in table.iter().zip(every.chunks(1 << 16)) {
            let pairs = all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b)));
            for ((a, b), &found) in pairs.zip(found) {
                let expected = reference(a.into(), b.into()) as i8;
                assert_eq!(found, expected, "{a} {name} {b}");
            }
        }
    }
}

#[test]
fn numbers_come_apart_and_together() {
    let values = [0.0, -0.0, 1.0, -3.75, 1e-310, f64::INFINITY, -f64::INFINITY, f64::NAN, 6.5e10];
    for context in contexts() {
        let x = GpuArray::from_slice(&context, &values).unwrap();
        let (fraction, whole) = x.modf();
        let (significand, exponent) = x.frexp();
        let again = significand.ldexp(&exponent);
        let found = rows(&context, vec![fraction, whole, significand, again, exponent.cast()]);
        for (i, value) in values.into_iter().enumerate() {
            let (whole, fraction) =
                (value.trunc(), if value.is_infinite() { 0.0 } else { value.fract() });
            let (significand, exponent) = libm::frexp(value);
            let exponent = if value.is_finite() { f64::from(exponent) } else { 0.0 };
            let expected = [fraction.copysign(value), whole, significand, value, exponent];
            let bits = |v: f64| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() };
            let found: Vec<u64> = found.iter().map(|row| bits(row[i])).collect();
            assert_eq!(found, expected.map(bits), "{value}");
        }
    }
}

#[test]
fn conditions_hold_where_they_should() {
    let values = [0.0f32, -0.0, 2.5, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45];
    for context in contexts() {
        let x = GpuArray::from_slice(&context, &values).unwrap();
        let whole = GpuArray::from_slice(&context, &[0i64, 1, 2, -1, 0, 1, 2, 3]).unwrap();
        let table: Vec<(Expr<bool>, [u8; 8])> = vec![
            (x.is_nan(), [0, 0, 0, 0, 1, 0, 0, 0]),
            (x.is_inf(), [0, 0, 0, 0, 0, 1, 1, 0]),
            (x.is_finite(), [1, 1, 1, 1, 0, 0, 0, 1]),
            (x.signbit(), [0, 1, 0, 1, 0, 0, 1, 0]),
            (x.logical_not(), [1, 1, 0, 0, 0, 0, 0, 0]),
            (x.logical_and(&whole), [0, 0, 1, 1, 0, 1, 1, 1]),
            (x.logical_or(&whole), [0, 1, 1, 1, 1, 1, 1, 1]),
            (x.logical_xor(&whole), [0, 1, 0, 0, 1, 0, 0, 0]),
            (x.eq(&whole), [1, 0, 0, 1, 0, 0, 0, 0]),
            (x.lt(&whole), [0, 1, 0, 0, 0, 0, 1, 1]),
            (whole.ge(&x), [1, 1, 0, 1, 0, 0, 1, 1]),
            (x.gt(1.0).eq(whole.gt(1)), [1, 1, 1, 1, 1, 0, 0, 0]),
            (x.if_positive(whole.gt(0), true), [1, 1, 1, 1, 1, 1, 1, 1]),
        ];
        let found = rows(&context, table.iter().map(|(expr, _)| expr.clone()).collect());
        for (row, (found, (_, expected))) in found.iter().zip(&table).enumerate() {
            assert_eq!(
                found.iter().map(|&b| u8::from(b)).collect::<Vec<_>>(),
                expected,
                "row {row}"
            );
        }
    }
}

#[test]
fn integers_divide_truly_and_arrays_change_in_place() {
    for context in contexts() {
        let mut a = GpuArray::from_slice(&context, &[1i32, -7, 3]).unwrap();
        let b = GpuArray::from_slice(&context, &[2u8, 2, 0]).unwrap();
        let quotient = a.true_divide(&b).eval().unwrap().to_vec().unwrap();
        assert_eq!(quotient, [0.5, -3.5, f64::INFINITY]);
        a.add_assign(&b).unwrap();
        a.mul_assign(10).unwrap();
        a.sub_assign(&a.clone()).unwrap();
        a.add_assign(7).unwrap();
        a.slice(&warpaint::index![1..]).unwrap().div_assign(2).unwrap();
        assert_eq!(a.to_vec().unwrap(), [7, 3, 3]);
        let wide = a.reshape(&[1, 3]).unwrap().broadcast_to(&[2, 3]).unwrap();
        assert!(wide.clone().add_assign(1).is_err(), "a broadcast view cannot be written");
        let flipped = a.reverse();
        a.assign(&flipped).unwrap();
        assert_eq!(a.to_vec().unwrap(), [3, 3, 7], "as if everything was read first");
    }
}

#[test]
fn functions_keep_to_one_device_and_take_no_elements() {
    let [here, there] = [(); 2].map(|()| Context::new(Device::cpu().unwrap()).unwrap());
    let mut a = GpuArray::<f32>::ones(&here, &[3]).unwrap();
    let b = GpuArray::<f32>::ones(&there, &[3]).unwrap();
    assert!(matches!(a.maximum(&b).eval(), Err(Error::WrongDevice { .. })));
    assert!(matches!(a.add_assign(&b), Err(Error::WrongDevice { .. })));
    assert!(matches!(a.assign(b.hypot(3.0)), Err(Error::WrongDevice { .. })));
    let short = GpuArray::<f32>::ones(&here, &[2]).unwrap();
    assert!(matches!(a.atan2(&short).eval(), Err(Error::Broadcast { .. })));
    let mut none = GpuArray::<f32>::ones(&here, &[0, 3]).unwrap();
    none.mul_assign(&a).unwrap();
    assert_eq!(none.reverse().lgamma().eval().unwrap().shape(), [0, 3]);
}

/// Of integers that have no common type, too: `f64` does not hold all of 64 bits.
#[test]
fn integers_of_all_types_compare_exactly() {
    fn check<A, B>(context: &Context, a: &[A], b: &[B])
    where
        A: Integer + Promote<B, Output: Real + Equal> + Into<i128>,
        B: Integer + Into<i128>,
    {
        let of = |x: &[A], y: &[B]| {
            let (x, y): (i128, i128) = (x[0].into(), y[0].into());
            [x == y, x != y, x < y, x <= y, x > y, x >= y]
        };
        let expected: Vec<bool> =
            a.chunks(1).flat_map(|x| b.chunks(1).flat_map(move |y| of(x, y))).collect();
        let a = GpuArray::from_shape(context, &[a.len(), 1], a).unwrap();
        let b = GpuArray::from_slice(context, b).unwrap();
        let all = [a.eq(&b), a.ne(&b), a.lt(&b), a.le(&b), a.gt(&b), a.ge(&b)];
        let all = all.map(|each| each.eval().unwrap());
        let found = warpaint::array::stack(&all.each_ref(), 2).unwrap();
        assert_eq!(found.to_vec().unwrap(), expected, "{} {}", A::DTYPE.name, B::DTYPE.name);
    }
    for context in contexts() {
        let signed = [i64::MIN, -1, 0, 1, (1 << 53) + 1, i64::MAX - 1, i64::MAX];
        let unsigned =
            [0, 1, 1 << 53, (1 << 53) + 1, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX];
        check(&context, &signed, &unsigned);
        check(&context, &unsigned, &signed);
        check(&context, &[i8::MIN, -1, 0, 127], &unsigned);
        check(&context, &[-1i32, 0, i32::MAX], &[0u32, u32::MAX, i32::MAX as u32]);
        check(&context, &[-1i8, 0, 127], &[0u8, 127, 128, 255]);
        check(&context, &signed, &[-1i16, 0, 1]);
        // Beside floating-point numbers the common type is numpy's.
        let wide = GpuArray::from_slice(&context, &[(1i64 << 53) + 1]).unwrap();
        let float = GpuArray::from_slice(&context, &[(1u64 << 53) as f64]).unwrap();
        assert!(wide.eq(&float).eval().unwrap().item().unwrap());
    }
}

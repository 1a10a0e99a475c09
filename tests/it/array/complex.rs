//! Complex numbers: functions against a table, arithmetic against `num_complex`.

use num_complex::{Complex, Complex32, Complex64};
use warpaint::array::{ElementwiseKernel, Expr, GpuArray, Inexact};

use super::{contexts, functions::rows};

/// A line of `complex.txt`.
struct Case {
    function: &'static str,
    argument: Complex64,
    result: Complex64,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("complex.txt").lines().filter(|line| !line.starts_with('#'));
    let case = |line: &'static str| {
        let mut words = line.split(' ');
        let function = words.next().unwrap();
        let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let [a, b, c, d] = numbers[..] else { panic!("{line}") };
        Case { function, argument: Complex::new(a, b), result: Complex::new(c, d) }
    };
    lines.map(case).collect()
}

type Function<T> = (&'static str, fn(&GpuArray<T>) -> Expr<T>);

fn functions<T: Inexact>() -> Vec<Function<T>> {
    macro_rules! table {
        ($($name:ident),*) => { vec![$((stringify!($name), |z: &GpuArray<T>| z.$name())),*] };
    }
    table!(
        sqrt, exp, log, log2, log10, sin, cos, tan, sinh, cosh, tanh, asin, acos, atan, asinh,
        acosh, atanh
    )
}

/// Whether the parts agree to `tolerance`; a zero with its sign, where that counts: it says on which side of a cut it
/// lies.
fn same(found: f64, expected: f64, signs_count: bool, tolerance: f64) -> bool {
    if expected.is_nan() || found.is_nan() {
        expected.is_nan() && found.is_nan()
    } else if expected == 0.0 && found == 0.0 {
        !signs_count || expected.is_sign_negative() == found.is_sign_negative()
    } else if expected.is_infinite() || found.is_infinite() {
        found == expected || !signs_count && found == -expected
    } else {
        (found - expected).abs() <= tolerance
    }
}

/// `greatest`, `least` and `unit`: the range and the rounding of the parts. Four units of the larger part are what was
/// measured against the table's makers on 100,000 numbers, and rounded up.
fn functions_agree<T: Inexact + Copy>(
    of: impl Fn(Complex64) -> T,
    wide: impl Fn(T) -> Complex64,
    [greatest, least, unit]: [f64; 3],
) {
    let cases = cases();
    let fits =
        |part: f64| !part.is_finite() || part == 0.0 || (least..=greatest).contains(&part.abs());
    let fits = |case: &&Case| {
        let (a, r) = (case.argument, case.result);
        [a.re, a.im].into_iter().all(fits)
            && [r.re, r.im].into_iter().all(|r| !r.is_finite() || r.abs() <= greatest)
    };
    let first = cases[0].function;
    let arguments: Vec<Complex64> =
        cases.iter().filter(|case| case.function == first).map(|case| case.argument).collect();
    let on_device: Vec<T> = arguments.iter().map(|&z| of(z)).collect();
    for context in contexts() {
        let z = GpuArray::from_slice(&context, &on_device).unwrap();
        let table = functions::<T>();
        let found = rows(&context, table.iter().map(|(_, function)| function(&z)).collect());
        for case in cases.iter().filter(fits) {
            let function = table.iter().position(|(name, _)| *name == case.function).unwrap();
            let bits = |z: Complex64| (z.re.to_bits(), z.im.to_bits());
            let at = arguments.iter().position(|&z| bits(z) == bits(case.argument));
            let (found, expected) = (wide(found[function][at.unwrap()]), case.result);
            let size = expected.re.abs().max(expected.im.abs());
            let size =
                if size.is_finite() { size } else { expected.re.abs().min(expected.im.abs()) };
            let tolerance = if size.is_finite() { 4.0 * unit * size + least } else { least };
            // Where some part is NaN, C99 leaves signs open.
            let parts = [case.argument.re, case.argument.im, expected.re, expected.im];
            let signs_count = parts.into_iter().all(|part| !part.is_nan());
            assert!(
                same(found.re, expected.re, signs_count, tolerance)
                    && same(found.im, expected.im, signs_count, tolerance),
                "{}({}) is {found}, not {expected}",
                case.function,
                case.argument
            );
        }
    }
}

#[test]
fn functions_of_complex_numbers_are_those_of_c99() {
    let single = [f64::from(f32::MAX), 2.0_f64.powi(-149), f64::from(f32::EPSILON)];
    functions_agree::<Complex32>(
        |z| Complex::new(z.re as f32, z.im as f32),
        |z| Complex::new(z.re.into(), z.im.into()),
        single,
    );
    let double = [f64::MAX, f64::from_bits(1), f64::EPSILON];
    functions_agree::<Complex64>(|z| z, |z| z, double);
}

fn c32(re: f32, im: f32) -> Complex32 {
    Complex::new(re, im)
}

/// Numbers stand beside complex ones in kernels, too.
#[test]
fn powers_have_numbers_on_either_side() {
    let text = "z[i] = pow(x[i], 2); y[i] = pow(2.0f, x[i]); w[i] = pow(x[i], 0.5f)";
    let parameters = ["x", "y", "z", "w"].map(|name| format!("warpaint::complex<float> *{name}"));
    #[expect(unsafe_code, reason = "a kernel from an expression")]
    // SAFETY: only the element `i` of each array is used.
    let powers = unsafe { ElementwiseKernel::new(&parameters.join(", "), text) }.unwrap();
    for context in contexts() {
        let array = || GpuArray::from_slice(&context, &[c32(1.0, 2.0), c32(-3.0, 0.5)]).unwrap();
        let (x, y, z, w) = (array(), array(), array(), array());
        powers.call(&[(&x).into(), (&y).into(), (&z).into(), (&w).into()]).unwrap();
        let x = x.to_vec().unwrap();
        let near = |found: &GpuArray<Complex32>, expected: &dyn Fn(Complex32) -> Complex32| {
            let found = found.to_vec().unwrap();
            let off = found.iter().zip(&x).map(|(found, x)| (found - expected(*x)).norm());
            assert!(off.fold(0.0, f32::max) < 1e-5, "a few units in the last place of up to 10");
        };
        near(&z, &|x| x * x);
        near(&y, &|x| (x * 2.0_f32.ln()).exp());
        near(&w, &|x| x.sqrt());
    }
}

#[test]
fn complex_arithmetic_is_that_of_num_complex() {
    let (a, b) = (
        [c32(1.0, 2.0), c32(-3.0, 0.5), c32(0.0, -4.0)],
        [c32(2.0, -1.0), c32(0.25, 8.0), c32(1.0, 1.0)],
    );
    for context in contexts() {
        let (x, y) = (
            GpuArray::from_slice(&context, &a).unwrap(),
            GpuArray::from_slice(&context, &b).unwrap(),
        );
        let found = rows(
            &context,
            vec![
                &x + &y,
                &x - &y,
                &x * &y,
                -&x,
                x.conj(),
                &x * 2.0,
                1.0 - &x,
                x.pow(c32(3.0, 0.0)),
            ],
        );
        for (i, (a, b)) in a.into_iter().zip(b).enumerate() {
            let expected = [a + b, a - b, a * b, -a, a.conj(), a * 2.0, 1.0 - a, a * a * a];
            let found: Vec<_> = found.iter().map(|row| row[i]).collect();
            assert_eq!(found, expected, "all exact");
        }
        let parts = rows(&context, vec![x.real(), x.imag(), x.abs(), x.arg()]);
        for (i, a) in a.into_iter().enumerate() {
            let found: Vec<_> = parts.iter().map(|row| row[i]).collect();
            let expected = [a.re, a.im, a.norm(), a.arg()];
            let near = |(f, e): (&f32, f32)| (f - e).abs() <= 3.0 * f32::EPSILON * e.abs();
            assert!(found.iter().zip(expected).all(near), "{found:?} {expected:?}");
        }
        assert_eq!(x.eq(&y).eval().unwrap().to_vec().unwrap(), [false; 3]);
        assert_eq!(x.ne(a[1]).eval().unwrap().to_vec().unwrap(), [true, false, true]);
        let sum = Expr::from(&x).sum().unwrap().item().unwrap();
        assert_eq!(sum, c32(-2.0, -1.5));
    }
}

#[test]
fn sums_of_complex_numbers_keep_what_is_rounded_off() {
    let parts = [1e100, 1.0, -1e100, 1e-30];
    let z: Vec<_> = parts.iter().map(|&p| Complex64::new(p, -p)).collect();
    for context in contexts() {
        let z = GpuArray::from_slice(&context, &z).unwrap();
        assert_eq!(Expr::from(&z).sum().unwrap().item().unwrap(), Complex64::new(1.0, -1.0));
    }
}

/// Numpy's result types, checked by the compiler; and that real parts go on as they were.
#[test]
fn real_numbers_become_complex_beside_complex_ones() {
    for context in contexts() {
        let z = GpuArray::from_slice(&context, &[c32(1.0, -2.0)]).unwrap();
        let whole = GpuArray::from_slice(&context, &[3i32]).unwrap();
        let half = GpuArray::from_slice(&context, &[half::f16::from_f32(0.5)]).unwrap();
        let product: GpuArray<Complex64> = (&z * &whole).eval().unwrap();
        assert_eq!(product.item().unwrap(), Complex64::new(3.0, -6.0));
        let sum: GpuArray<Complex32> = (&half + &z).eval().unwrap();
        assert_eq!(sum.item().unwrap(), c32(1.5, -2.0));
        assert_eq!(z.cast::<f64>().eval().unwrap().item().unwrap(), 1.0);
        assert!((&z * c32(0.0, 1.0)).cast::<bool>().eval().unwrap().item().unwrap());
    }
}

/// At the ends of the range, and where there is no number: numpy 2.4.6 of the same.
#[test]
fn ends_of_the_range_are_those_of_numpy() {
    let (most, nan) = (f64::MAX, f64::NAN);
    let c = Complex64::new;
    for context in contexts() {
        let of = |values: &[Complex64]| GpuArray::from_slice(&context, values).unwrap();
        let one = of(&[c(1.0, 0.0); 4]);
        let divisors = of(&[c(0.0, nan), c(-0.0, nan), c(nan, 0.0), c(0.0, -0.0)]);
        let quotients = (&one / &divisors).to_vec().unwrap();
        assert!(quotients[..3].iter().all(|z| z.re.is_nan() && z.im.is_nan()), "{quotients:?}");
        assert!(quotients[3].re == f64::INFINITY && quotients[3].im.is_nan(), "{quotients:?}");

        let sides = [
            (most, 0.5),
            (0.5, -most),
            (most, 1e292),
            (most / 2.0, most / 2.0),
            (most, most),
            (-most, nan),
        ];
        let lengths = [most, most, most, most / 2.0 * 2.0_f64.sqrt(), f64::INFINITY, nan];
        let same = |found: &[f64]| {
            let close = |(&a, b): (&f64, f64)| {
                a == b || a.is_nan() && b.is_nan() || (a / b - 1.0).abs() < 4e-16
            };
            assert!(found.iter().zip(lengths).all(close), "{found:?}, not {lengths:?}: 2 ulp");
        };
        same(&of(&sides.map(|(x, y)| c(x, y))).abs().to_vec().unwrap());
        let [x, y] = [sides.map(|side| side.0), sides.map(|side| side.1)];
        let [x, y] = [x, y].map(|side| GpuArray::from_slice(&context, &side).unwrap());
        same(&x.hypot(&y).to_vec().unwrap());
        // C99: an infinite side is an infinite length, whatever the other.
        assert_eq!(x.hypot(f64::INFINITY).to_vec().unwrap(), [f64::INFINITY; 6]);

        let far = of(&[c(nan, 9e307), c(9e307, nan), c(nan, 1.0), c(-9e307, nan)]);
        let all = rows(&context, vec![far.atan(), far.atanh()]).concat();
        assert!(all.iter().all(|z| z.re.is_nan() && z.im.is_nan()), "{all:?}");
        let infinite = rows(&context, vec![of(&[c(nan, f64::INFINITY)]).atanh()])[0][0];
        assert!(infinite.re == 0.0 && infinite.im == std::f64::consts::FRAC_PI_2, "{infinite}");
    }
}

/// Where the schoolbook over- and underflows, against quotients that are exact.
#[test]
fn quotients_of_any_size_are_right() {
    let (big, small) = (2.0_f32.powi(126), f32::from_bits(1 << 9)); // the latter subnormal
    let cases = [
        (c32(big, big), c32(big, big), c32(1.0, 0.0)),
        (c32(1.5 * big, -big), c32(0.0, big), c32(-1.0, -1.5)),
        (c32(small, 3.0 * small), c32(small, small), c32(2.0, 1.0)),
        (c32(small, small), c32(big, big), c32(0.0, 0.0)),
        (c32(5.0, 10.0), c32(1.0, 2.0), c32(5.0, 0.0)),
        (c32(1.0, -1.0), c32(0.0, 0.0), c32(f32::INFINITY, f32::NEG_INFINITY)),
        (c32(1.0, 1.0), c32(f32::INFINITY, 0.0), c32(0.0, 0.0)),
    ];
    for context in contexts() {
        let of = |part: fn(&(Complex32, Complex32, Complex32)) -> Complex32| {
            GpuArray::from_slice(&context, &cases.each_ref().map(part)).unwrap()
        };
        let found = (&of(|case| case.0) / &of(|case| case.1)).eval().unwrap().to_vec().unwrap();
        assert_eq!(found, cases.map(|case| case.2));
    }
}

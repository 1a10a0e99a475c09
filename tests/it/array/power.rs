//! Powers that are whole numbers, squares and roots: numpy's, which are exact.

use warpaint::array::{Complex, Expr, GpuArray};

use super::{contexts, functions::rows};

/// Powers of whole numbers that `f64` holds: base, exponent, power.
fn whole_powers() -> Vec<[f64; 3]> {
    let mut powers = Vec::new();
    for base in 2..=1000_u64 {
        let mut power = 1_u128;
        for exponent in 0.. {
            // With zeros at their ends, larger ones are numbers of the type, too.
            if power >> power.trailing_zeros() >= 1 << 53 || power >> 100 > 0 {
                break;
            }
            powers.push([base as f64, f64::from(exponent), power as f64]);
            power *= u128::from(base);
        }
    }
    powers.extend((0..1024).map(|k| [2.0, f64::from(k), 2.0_f64.powi(k)]));
    powers.extend((1..1075).map(|k| [0.5, f64::from(k), libm::ldexp(1.0, -k)]));
    powers
}

#[test]
fn powers_that_are_whole_numbers_are_exact() {
    let powers = whole_powers();
    assert!(powers.len() > 5000, "{}", powers.len());
    let column = |k: usize| powers.iter().map(move |power| power[k]).collect::<Vec<_>>();
    for context in contexts() {
        let of = |values: &[f64]| GpuArray::from_slice(&context, values).unwrap();
        let (base, exponent) = (of(&column(0)), of(&column(1)));
        let found = rows(&context, vec![base.pow(&exponent), (-&base).pow(&exponent)]);
        for (i, &[base, exponent, power]) in powers.iter().enumerate() {
            assert_eq!(found[0][i], power, "{base}^{exponent}");
            let power = if exponent % 2.0 == 0.0 { power } else { -power };
            assert_eq!(found[1][i], power, "(-{base})^{exponent}");
        }
        // Roots that are whole: of 4th and 8th powers.
        let found = rows(&context, vec![of(&column(2)).pow(0.25), of(&column(2)).pow(0.125)]);
        for (i, &[base, exponent, power]) in powers.iter().enumerate() {
            for (k, root) in [(0, 4.0), (1, 8.0)] {
                if exponent == root && power < 9e15 {
                    assert_eq!(found[k][i], base, "{power}^(1/{root})");
                }
            }
        }
        let single: Vec<[f32; 3]> = powers
            .iter()
            .filter(|power| f64::from(power[2] as f32) == power[2] && power[2] >= 1.0)
            .map(|power| power.map(|x| x as f32))
            .collect();
        let column = |k: usize| single.iter().map(|power| power[k]).collect::<Vec<f32>>();
        let of = |values: &[f32]| GpuArray::from_slice(&context, values).unwrap();
        let found = of(&column(0)).pow(&of(&column(1))).to_vec().unwrap();
        for (&[base, exponent, power], found) in single.iter().zip(found) {
            assert_eq!(found, power, "{base}^{exponent}, of f32");
        }
    }
}

#[test]
fn powers_of_ten_that_are_whole_numbers_are_exact() {
    let exponents: Vec<f64> = (-320..=308).map(f64::from).collect();
    for context in contexts() {
        let x = GpuArray::from_slice(&context, &exponents).unwrap();
        let found = rows(&context, vec![x.exp10(), Expr::scalar(10.0).pow(&x)]);
        for (row, found) in found.into_iter().enumerate() {
            for (&exponent, found) in exponents.iter().zip(found) {
                let exact: f64 = format!("1e{exponent}").parse().unwrap();
                let off = found.to_bits().abs_diff(exact.to_bits());
                // To 10^22 they are numbers of the type.
                let bound = u64::from(!(0.0..=22.0).contains(&exponent));
                assert!(off <= bound, "10^{exponent} is {found:e}, row {row}");
            }
        }
        let x = GpuArray::<f32>::arange(&context, 11).unwrap();
        let powers: Vec<f32> = (0..11).map(|k| format!("1e{k}").parse().unwrap()).collect();
        assert_eq!(x.exp10().to_vec().unwrap(), powers);
        let ends = [f64::INFINITY, -f64::INFINITY, f64::NAN, 309.0, -330.0, f64::MAX, f64::MIN];
        let ends = GpuArray::from_slice(&context, &ends).unwrap().exp10().to_vec().unwrap();
        assert!(ends[2].is_nan());
        let infinite = [ends[0], ends[3], ends[5]].into_iter().all(|x| x == f64::INFINITY);
        assert!(infinite && [ends[1], ends[4], ends[6]] == [0.0; 3], "{ends:?}");
    }
}

#[test]
fn squares_reciprocals_and_roots_are_correctly_rounded() {
    let mut random = fastrand::Rng::with_seed(5);
    let any = |random: &mut fastrand::Rng| f64::from_bits(random.u64(..)).abs();
    let values: Vec<f64> =
        (1..1000).map(f64::from).chain((0..3000).map(|_| any(&mut random))).collect();
    for context in contexts() {
        let x = GpuArray::from_slice(&context, &values).unwrap();
        let all = |y: f64| (&x * 0.0 + y).eval().unwrap(); // Of NaN and infinities, NaN: looked over below.
        let table = vec![
            (x.pow(2.0), x.pow(&all(2.0))),
            (x.pow(-1.0), x.pow(&all(-1.0))),
            (x.pow(0.5), x.pow(&all(0.5))),
            (x.pow(1.0), x.pow(&all(1.0))),
        ];
        let (by_one, by_each): (Vec<_>, Vec<_>) = table.into_iter().unzip();
        let (by_one, by_each) = (rows(&context, by_one), rows(&context, by_each));
        for (i, &x) in values.iter().enumerate() {
            for (k, expected) in [x * x, 1.0 / x, x.sqrt(), x].into_iter().enumerate() {
                let same = |found: f64| found == expected || found.is_nan() && expected.is_nan();
                assert!(same(by_one[k][i]), "{x:e}, row {k}: {:e}", by_one[k][i]);
                assert!(
                    !x.is_finite() || same(by_each[k][i]),
                    "{x:e}, row {k}: {:e}",
                    by_each[k][i]
                );
            }
        }
        let x = GpuArray::from_slice(&context, &[3.0f32, 0.1, 1e20]).unwrap();
        let found = rows(&context, vec![x.pow(2.0), x.pow(0.5), x.pow(-1.0)]);
        for (i, x) in [3.0f32, 0.1, 1e20].into_iter().enumerate() {
            assert_eq!([found[0][i], found[1][i], found[2][i]], [x * x, x.sqrt(), 1.0 / x]);
        }
    }
}

/// C99's Annex F, which numpy follows for arrays of exponents; for one exponent, 0.5 is the square root there.
#[test]
fn powers_of_special_numbers_are_those_of_c99() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.25,
        1e308,
        -1e308,
        5e-324,
        1e300,
        9e15,
        -9e15,
        inf,
        -inf,
        nan,
        9007199254740991.0,
        1.0 + f64::EPSILON,
        1.0 - f64::EPSILON / 2.0,
        4.0 / 3.0,
    ];
    for context in contexts() {
        let x = GpuArray::from_slice(&context, &numbers).unwrap();
        let found = x.expand_dims(1).unwrap().pow(&x).to_vec().unwrap();
        let pairs = numbers.iter().flat_map(|&x| numbers.iter().map(move |&y| (x, y)));
        for ((x, y), found) in pairs.zip(found) {
            let expected = x.powf(y);
            let bits = |x: f64| if x.is_nan() { nan.to_bits() } else { x.to_bits() };
            // The host's own may be off by one.
            assert!(
                bits(found).abs_diff(bits(expected)) <= 1,
                "{x:e}^{y:e}: {found:e}, not {expected:e}"
            );
        }
        // numpy 2.4.6: numpy.array([-0.0, -inf]) ** 0.5
        let roots =
            GpuArray::from_slice(&context, &[-0.0, -inf]).unwrap().pow(0.5).to_vec().unwrap();
        assert!(roots[0].to_bits() == (-0.0_f64).to_bits() && roots[1].is_nan(), "{roots:?}");
    }
}

/// numpy 2.4.6: numpy.power(numpy.array([base]), numpy.array([exponent])).
#[test]
fn complex_numbers_have_whole_powers_by_multiplication() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let c = |re: f64, im: f64| Complex::new(re, im);
    let cases = [
        (c(inf, 0.0), 1.0, c(inf, 0.0)),
        (c(1e200, 0.0), 2.0, c(inf, 0.0)),
        (c(1e110, 0.0), 3.0, c(inf, 0.0)),
        (c(inf, 0.0), 2.0, c(inf, nan)),
        (c(1e100, 0.0), 4.0, c(inf, nan)),
        (c(1e200, 0.0), -2.0, c(nan, nan)),
        (c(inf, nan), 1.0, c(inf, nan)),
        (c(nan, 0.0), 1.0, c(nan, 0.0)),
        (c(nan, 0.0), 0.0, c(1.0, 0.0)),
        (c(0.0, 0.0), 2.0, c(0.0, 0.0)),
        (c(0.0, 0.0), -1.0, c(nan, nan)),
        (c(0.0, inf), 1.0, c(0.0, inf)),
        (c(2.0, 3.0), 5.0, c(122.0, -597.0)),
    ];
    for context in contexts() {
        let of = |part: &dyn Fn(usize) -> Complex<f64>| {
            let values: Vec<_> = (0..cases.len()).map(part).collect();
            GpuArray::from_slice(&context, &values).unwrap()
        };
        let (base, exponent) = (of(&|k| cases[k].0), of(&|k| c(cases[k].1, 0.0)));
        let found = base.pow(&exponent).to_vec().unwrap();
        let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
        for ((base, exponent, power), found) in cases.into_iter().zip(found) {
            let same = same(found.re, power.re) && same(found.im, power.im);
            assert!(same, "({base})^{exponent}: {found}, not {power}");
        }
        // As numpy has one exponent for all: the reciprocal and the root.
        let z = GpuArray::from_slice(&context, &[c(inf, 0.0), c(-3.0, 4.0)]).unwrap();
        assert_eq!(z.pow(c(-1.0, 0.0)).to_vec().unwrap()[0], c(0.0, -0.0));
        assert_eq!(z.pow(c(0.5, 0.0)).to_vec().unwrap()[1], c(1.0, 2.0));
    }
}

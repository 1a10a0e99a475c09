//! Arithmetic, comparisons and selections of two arrays of any types, broadcast; and where results are written.

use fastrand::Rng;
use half::{bf16, f16};
use warpaint::{
    array::{Expr, GpuArray, Promote, Real},
    kernel::Context,
};

use super::{
    super::functions::{OfTwo, rows},
    cases,
    value::{Value, assert_same},
    view::{Sample, View, shape},
};

/// What operations on two values of a type give, in the order of `OPERATIONS`.
trait Arithmetic: Value + Real {
    fn results(a: Self, b: Self) -> [Self; OPERATIONS.len()];
}

const OPERATIONS: [&str; 16] = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "modulo",
    "floor_divide",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "<",
    "<=",
    "==",
    "!=",
    "select",
];

/// The quotient rounded down, and the remainder that goes with it.
fn floored(a: i128, b: i128) -> (i128, i128) {
    let (quotient, rest) = (a.div_euclid(b.abs()), a.rem_euclid(b.abs()));
    let floor = if b > 0 { quotient } else { -quotient - i128::from(rest != 0) };
    (floor, a - floor * b)
}

macro_rules! integers {
    ($($rust:ident),*) => {$(
        impl Arithmetic for $rust {
            fn results(a: Self, b: Self) -> [Self; OPERATIONS.len()] {
                let by = if b == 0 { 1 } else { b };
                let (floor, modulo) = floored(a.into(), by.into());
                let none = |value: Self| if b == 0 { 0 } else { value };
                [
                    a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b),
                    none(a.wrapping_div(by)), none(a.wrapping_rem(by)), none(modulo as Self), none(floor as Self),
                    a.max(b), a.min(b), a.max(b), a.min(b),
                    Self::from(a < b), Self::from(a <= b), Self::from(a == b), Self::from(a != b),
                    if a > b { a } else { 1 },
                ]
            }
        }
    )*};
}

integers!(u8, i16, u32, i32, i64, u64);

macro_rules! floats {
    ($($rust:ty, $wide:ident: $to:expr, $of:expr;)*) => {$(
        impl Arithmetic for $rust {
            fn results(a: Self, b: Self) -> [Self; OPERATIONS.len()] {
                let (x, y): ($wide, $wide) = ($to(a), $to(b));
                let rest = x % y;
                let other_side = (rest < 0.0) != (y < 0.0);
                let modulo = if rest == 0.0 { (0.0 as $wide).copysign(y) } else if other_side { rest + y } else { rest };
                // As Python's and numpy's `divmod` compute it.
                let mut quotient = (x - rest) / y;
                if rest != 0.0 && other_side {
                    quotient -= 1.0;
                }
                let floor = quotient.floor();
                let floor = if quotient - floor > 0.5 { floor + 1.0 } else { floor };
                let floor = if y == 0.0 { x / y } else { floor };
                let nan_or = |value: $wide| if x.is_nan() || y.is_nan() { <$wide>::NAN } else { value };
                let truth = |value: bool| if value { 1.0 } else { 0.0 };
                [
                    x + y, x - y, x * y, x / y, rest, modulo, floor, nan_or(x.max(y)), nan_or(x.min(y)), x.max(y), x.min(y),
                    truth(x < y), truth(x <= y), truth(x == y), truth(x != y), if x > y { x } else { 1.0 },
                ].map($of)
            }
        }
    )*};
}

floats! {
    f16, f32: f16::to_f32, f16::from_f32;
    bf16, f32: bf16::to_f32, bf16::from_f32;
    f32, f32: |a| a, |a| a;
    f64, f64: |a| a, |a| a;
}

/// The same on the device.
fn expressions<A, B, C>(a: &GpuArray<A>, b: &GpuArray<B>) -> Vec<Expr<C>>
where
    A: Real + Promote<B, Output = C>,
    B: Real,
    C: Real + Promote<bool>,
{
    vec![
        a + b,
        a - b,
        a * b,
        a / b,
        a % b,
        a.modulo(b),
        a.floor_divide(b),
        a.maximum(b),
        a.minimum(b),
        a.fmax(b),
        a.fmin(b),
        a.lt(b).cast(),
        a.le(b).cast(),
        a.eq(b).cast(),
        a.ne(b).cast(),
        Expr::select(a.gt(b), a.cast::<C>(), C::ONE),
    ]
}

/// All operations on two views that broadcast together, and one of them by itself into a third view.
fn two<A, B, C>(context: &Context, rng: &mut Rng, left: impl Fn(A) -> C, right: impl Fn(B) -> C)
where
    A: Value + Real + Promote<B, Output = C>,
    B: Value + Real,
    C: Arithmetic + Promote<bool>,
{
    let shape = shape(rng);
    let a: Sample<A> = View::of_shape(rng, &shape).sample(context, rng);
    let b: Sample<B> = View::beside(rng, &shape).sample(context, rng);
    let (x, y) = (a.flat(), b.spread(&shape));
    let results = |(&x, &y): (&A, &B)| {
        let mut results = C::results(left(x), right(y));
        // Integers are compared as what they are, though their common type may not hold them.
        if let (Some(a), Some(b)) = (x.exact(), y.exact()) {
            let truth = |truth| if truth { C::ONE } else { C::ZERO };
            let compared = [truth(a < b), truth(a <= b), truth(a == b), truth(a != b)];
            results[11..15].copy_from_slice(&compared);
            results[15] = if a > b { left(x) } else { C::ONE };
        }
        results
    };
    let expected: Vec<_> = x.iter().zip(&y).map(results).collect();
    let name = |k: usize| format!("{} {} {}", a.name(), OPERATIONS[k], b.name());
    let of = |k: usize| expected.iter().map(|results| results[k]).collect::<Vec<C>>();

    let all = expressions(&a.device, &b.device);
    for (k, found) in rows(context, all.clone()).iter().enumerate() {
        assert_same(found, &of(k), || name(k));
    }
    let k = rng.usize(..4);
    let view = View::of_shape(rng, &shape);
    let base = GpuArray::full(context, &[view.base_count()], C::ONE).unwrap();
    all[k].eval_into(&mut view.of(&base)).unwrap();
    let mut whole = vec![C::ONE; view.base_count()];
    view.places().iter().zip(of(k)).for_each(|(&place, value)| whole[place] = value);
    assert_same(&base.to_vec().unwrap(), &whole, || format!("{} into a view", name(k)));
}

#[test]
fn operations_on_two_views_are_what_the_host_computes() {
    cases("two", 14, |context, rng, case| match case % 14 {
        0 => two(context, rng, |a: i8| i16::from(a), |b: u8| i16::from(b)),
        1 => two(context, rng, |a: u16| i32::from(a), |b: i16| i32::from(b)),
        2 => two(context, rng, |a: i32| i64::from(a), |b: u32| i64::from(b)),
        3 => two(context, rng, |a: i64| a as f64, |b: u64| b as f64),
        4 => two(context, rng, |a: f16| a, |b: i8| f16::from_f32(b.into())),
        5 => two(context, rng, |a: i32| bf16::from_f64(a.into()), |b: bf16| b),
        6 => two(context, rng, |a: f16| a.to_f32(), |b: bf16| b.to_f32()),
        7 => two(context, rng, |a: f32| a, |b: i16| b.into()),
        8 => two(context, rng, |a: f32| a.into(), |b: f64| b),
        9 => two(context, rng, |a: i32| a.into(), |b: f32| b.into()),
        10 => two(context, rng, |a: u8| a, |b: u8| b),
        11 => two(context, rng, |a: i64| a, |b: i64| b),
        12 => two(context, rng, |a: u64| a, |b: u64| b),
        _ => two(context, rng, |a: u32| a, |b: u32| b),
    });
}

/// Conditions and bits of two views, as their common type.
#[test]
fn bits_and_conditions_of_views_are_what_the_host_computes() {
    cases("bits", 3, |context, rng, _| {
        let shape = shape(rng);
        let a: Sample<u8> = View::of_shape(rng, &shape).sample(context, rng);
        let b: Sample<i16> = View::beside(rng, &shape).sample(context, rng);
        let (x, y) = (&a.device, &b.device);
        let table: Vec<OfTwo<i16, i16, ()>> = vec![
            ("&", x & y, |a, b| a & b, ()),
            ("|", x | y, |a, b| a | b, ()),
            ("^", x ^ y, |a, b| a ^ b, ()),
            ("<<", x << y, |a, b| if (0..16).contains(&b) { a << b } else { 0 }, ()),
            (">>", y >> x, |a, b| if (0..16).contains(&a) { b >> a } else { b >> 15 }, ()),
            ("!", !(x | y), |a, b| !(a | b), ()),
            ("and", x.logical_and(y).cast(), |a, b| i16::from(a != 0 && b != 0), ()),
            ("or", x.logical_or(y).cast(), |a, b| i16::from(a != 0 || b != 0), ()),
            ("xor", x.logical_xor(y).cast(), |a, b| i16::from((a != 0) != (b != 0)), ()),
            (
                "if_positive",
                y.if_positive(x.cast::<i16>(), y),
                |a, b| if b > 0 { a } else { b },
                (),
            ),
        ];
        let found = rows(context, table.iter().map(|(_, expr, ..)| expr.clone()).collect());
        for ((name, _, reference, ()), found) in table.iter().zip(found) {
            let pairs = a.flat().into_iter().zip(b.spread(&shape));
            let expected: Vec<i16> = pairs.map(|(a, b)| reference(a.into(), b)).collect();
            assert_same(&found, &expected, || format!("{} {name} {}", a.name(), b.name()));
        }
    });
}

/// The nearest number with so many digits and at least this exponent, the even one of two.
fn nearest(value: f64, digits: i32, least: i32, greatest: f64) -> f64 {
    let (_, exponent) = libm::frexp(value);
    let unit = libm::ldexp(1.0, exponent.max(least + 1) - digits);
    let rounded = (value / unit).round_ties_even() * unit;
    if rounded.abs() > greatest { f64::INFINITY.copysign(value) } else { rounded }
}

/// Numbers become other types rounded once, to the even one of two. (The crate `half` looks at the upper half of an
/// `f64` only.)
#[test]
fn conversions_round_once() {
    cases("conversions", 1, |context, rng, _| {
        // Halfway between two numbers of half precision, and a little beside.
        let real = |rng: &mut Rng| {
            let digits = f64::from(rng.u32(..1 << 12) * 2 + 1);
            let beside = [0.0, 1e-9, -1e-9][rng.usize(..3)];
            (digits + beside) * 2.0_f64.powi(rng.i32(-30..4))
        };
        let reals: Vec<f64> = (0..2000).map(|_| real(rng)).collect();
        let whole: Vec<i64> = (0..2000).map(|_| rng.i64(..) >> rng.u8(..63)).collect();
        let x = GpuArray::from_slice(context, &reals).unwrap();
        let n = GpuArray::from_slice(context, &whole).unwrap();
        let found = rows(
            context,
            vec![
                x.cast::<f16>().cast::<f64>(),
                x.cast::<bf16>().cast(),
                x.cast::<f32>().cast(),
                n.cast::<f16>().cast(),
                n.cast::<f32>().cast(),
                n.cast(),
                n.cast::<i32>().cast::<bf16>().cast(),
                n.cast::<i8>().cast(),
                n.cast::<u16>().cast(),
                n.cast::<u64>().cast(),
            ],
        );
        for (i, (&x, &n)) in reals.iter().zip(&whole).enumerate() {
            let expected = [
                nearest(x, 11, -14, 65504.0),
                nearest(x, 8, -126, f64::MAX),
                f64::from(x as f32),
                // Beyond 2^53, where `f64` rounds, all are infinite.
                nearest(n as f64, 11, -14, 65504.0),
                f64::from(n as f32),
                n as f64,
                nearest((n as i32).into(), 8, -126, f64::MAX),
                f64::from(n as i8),
                f64::from(n as u16),
                n as u64 as f64,
            ];
            let found: Vec<f64> = found.iter().map(|row| row[i]).collect();
            assert_same(&found, &expected, || format!("{x:?} and {n}"));
        }
    });
}

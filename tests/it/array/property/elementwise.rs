//! Arithmetic, comparisons and selections of two arrays of any types, broadcast; and where results are written.

use fastrand::Rng;
use half::{bf16, f16};
use warpaint::{
    array::{Expr, GpuArray, Promote, Real},
    kernel::Context,
};

use super::{
    super::functions::rows,
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
    let expected: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| C::results(left(x), right(y))).collect();
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

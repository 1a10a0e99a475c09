//! Floating-point numbers as integers: on every device what Rust's `as` makes of them.

use half::{bf16, f16};
use num_complex::Complex;
use warpaint::array::{
    Expr, Float, GpuArray,
    vector::{Double2, UChar2},
};

use super::{contexts, functions::rows};

/// Ends of the integers' ranges and their neighbours, and what is no number. (Those that a type lacks are rounded.)
fn special() -> Vec<f64> {
    let powers = [7, 8, 15, 16, 31, 32, 53, 63, 64].map(|k| 2.0_f64.powi(k));
    let near = |x: f64| [x - 1.0, x - 0.5, x.next_down(), x, x.next_up(), x + 0.5, x + 1.0];
    let near_ends = powers.into_iter().flat_map(near);
    let others = [0.0, 0.5, 0.99, 1.0, 1.5, 300.0, 5e-324, 1e-40, 1e10, 65504.0, 1e20, 1e300];
    let all: Vec<f64> =
        near_ends.chain(others).chain([f64::MAX, f64::INFINITY, f64::NAN]).collect();
    all.iter().flat_map(|&x| [x, -x]).collect()
}

/// Of a type with which tests name numbers.
trait Wide: Float + Copy {
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! wide {
    ($($type:ty: $of:expr, $wide:expr;)*) => {$(
        impl Wide for $type {
            fn of(x: f64) -> Self { $of(x) }
            fn wide(self) -> f64 { $wide(self) }
        }
    )*};
}

wide! {
    f16: f16::from_f64, f16::to_f64;
    bf16: bf16::from_f64, bf16::to_f64;
    f32: |x| x as f32, |x: f32| f64::from(x);
    f64: |x| x, |x| x;
}

/// The name of an integer type, the cast to it as an expression, and what `as` says; both as 64 bits, which hold any.
type Cast<T> = (&'static str, Expr<i64>, fn(T) -> i64);

fn check<T: Wide>() {
    let values: Vec<T> = special().into_iter().map(T::of).collect();
    for context in contexts() {
        let x = GpuArray::from_slice(&context, &values).unwrap();
        macro_rules! casts {
            ($($to:ty),*) => {
                vec![$(
                    (stringify!($to), x.cast::<$to>().cast::<i64>(), |x: T| i128::from(x.wide() as $to) as i64),
                )*]
            };
        }
        let mut casts: Vec<Cast<T>> = casts!(i8, u8, i16, u16, i32, u32, i64, u64);
        casts.push(("bool", x.cast::<bool>().cast(), |x| i64::from(x.wide() != 0.0)));
        let found = rows(&context, casts.iter().map(|(_, cast, _)| cast.clone()).collect());
        for ((name, _, expected), found) in casts.iter().zip(found) {
            for (&x, found) in values.iter().zip(found) {
                assert_eq!(found, expected(x), "{x:?} as {name}, of {}", T::DTYPE.name);
            }
        }
    }
}

#[test]
fn floating_point_numbers_become_integers_as_in_rust() {
    check::<f16>();
    check::<bf16>();
    check::<f32>();
    check::<f64>();
}

#[test]
fn parts_components_and_assignments_are_cast_alike() {
    for context in contexts() {
        let x = GpuArray::from_slice(&context, &[300.0, -1.0, f64::NAN, -129.0]).unwrap();
        let z = (&x * Complex::new(1.0, 1.0)).eval().unwrap();
        // The imaginary part of a NaN is NaN, and goes.
        assert_eq!(z.cast::<u8>().to_vec().unwrap(), [255, 0, 0, 0]);
        assert_eq!(z.cast::<i8>().to_vec().unwrap(), [127, -1, 0, -128]);
        let mut bytes = GpuArray::<i8>::zeros(&context, &[4]).unwrap();
        bytes.assign((&x * 2.0).cast()).unwrap();
        assert_eq!(bytes.to_vec().unwrap(), [127, -2, 0, -128]);
        let pairs = GpuArray::from_slice(&context, &[Double2::new(300.5, f64::NAN)]).unwrap();
        assert_eq!(pairs.cast::<UChar2>().item().unwrap(), UChar2::new(255, 0));
        assert_eq!(
            x.cast::<UChar2>().to_vec().unwrap()[..2],
            [UChar2::new(255, 255), UChar2::new(0, 0)]
        );
    }
}

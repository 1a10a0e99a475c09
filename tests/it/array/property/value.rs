//! Random values of every type, and when two of them are the same.

use fastrand::Rng;
use half::{bf16, f16};
use num_complex::Complex;
use warpaint::array::Data;

/// A type of which there are random values.
pub(super) trait Value: Data + Copy + PartialEq {
    /// Small whole numbers mostly, of which some are equal; and what types have at their ends.
    fn random(rng: &mut Rng) -> Self;
    /// How far they are from each other: 0 where they are equal, or both NaN in the same parts.
    fn off(self, other: Self) -> f64;
    /// It as an integer, where its type is one.
    fn exact(self) -> Option<i128> {
        None
    }
    fn same(self, other: Self) -> bool {
        self.off(other) == 0.0
    }
}

macro_rules! integers {
    ($($rust:ident),*) => {$(
        impl Value for $rust {
            fn random(rng: &mut Rng) -> Self {
                match rng.u8(..8) {
                    0 => [Self::MIN, Self::MAX, 0, Self::MAX - 1][rng.usize(..4)],
                    1 => rng.$rust(..),
                    _ => Self::try_from(rng.u8(..20)).unwrap_or(0).wrapping_sub(6),
                }
            }
            fn off(self, other: Self) -> f64 {
                i128::from(self).abs_diff(other.into()) as f64
            }
            fn exact(self) -> Option<i128> {
                Some(self.into())
            }
        }
    )*};
}

integers!(i8, u8, i16, u16, i32, u32, i64, u64);

impl Value for bool {
    fn random(rng: &mut Rng) -> Self {
        rng.bool()
    }
    fn off(self, other: Self) -> f64 {
        f64::from(self != other)
    }
}

/// Halves of small whole numbers mostly: their sums and products are exact in most types.
fn real(rng: &mut Rng) -> f64 {
    match rng.u8(..32) {
        0 => {
            [0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-8, 6e4][rng.usize(..8)]
        }
        1..=4 => (rng.f64() - 0.5) * 10.0_f64.powi(rng.i32(-3..3)),
        _ => f64::from(rng.i8(-9..12)) * 0.5,
    }
}

macro_rules! floats {
    ($($rust:ty: $of:expr;)*) => {$(
        impl Value for $rust {
            fn random(rng: &mut Rng) -> Self {
                $of(real(rng))
            }
            fn off(self, other: Self) -> f64 {
                let (a, b) = (f64::from(self), f64::from(other));
                match a == b || a.is_nan() && b.is_nan() {
                    true => 0.0,
                    false if a.is_finite() && b.is_finite() => (a - b).abs(),
                    false => f64::INFINITY,
                }
            }
        }
    )*};
}

floats! {
    f16: f16::from_f64;
    bf16: bf16::from_f64;
    f32: |value| value as f32;
    f64: |value| value;
}

macro_rules! complex {
    ($($part:ty),*) => {$(
        impl Value for Complex<$part> {
            fn random(rng: &mut Rng) -> Self {
                Self::new(<$part>::random(rng), <$part>::random(rng))
            }
            fn off(self, other: Self) -> f64 {
                self.re.off(other.re).max(self.im.off(other.im))
            }
        }
    )*};
}

complex!(f32, f64);

/// Compares all, and names the first that differs.
pub(super) fn assert_same<T: Value>(found: &[T], expected: &[T], name: impl FnOnce() -> String) {
    let differs = |(a, b): (&T, &T)| !a.same(*b);
    if found.len() == expected.len() && !found.iter().zip(expected).any(differs) {
        return;
    }
    let at = found.iter().zip(expected).position(differs);
    let (number, wanted) = (found.len(), expected.len());
    match at {
        Some(at) => panic!("{}: element {at} is {:?}, not {:?}", name(), found[at], expected[at]),
        None => panic!("{}: {number} elements, not {wanted}", name()),
    }
}

//! How the contents of two arrays of one type differ, number by number.

use serde::Serialize;

use crate::element::{Part, Scalar, Type};

/// How far two numbers are apart, or any of several pairs at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// Their difference; infinite where only one of them is NaN or infinite.
    pub absolute: f64,
    /// The same, in parts of the larger magnitude of the two.
    pub relative: f64,
    /// Units in the last place: representable numbers from one to the other, across zero; of integers and `bool` the
    /// difference. `None` where a NaN stands against a number.
    pub ulp: Option<u64>,
}

/// Two numbers that differ, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The element, in the order of memory.
    pub(super) element: usize,
    /// The number's name in it: `y`, `at.x`, `hits[2]`; empty where elements are numbers.
    pub(super) number: String,
    /// Both as text that no other number of the type has.
    pub(super) values: [String; 2],
}

/// How two arrays differ.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// Whether all bytes are the same, those that belong to no number included.
    pub(super) same_bits: bool,
    /// Numbers that differ. NaN is as NaN, and -0 as 0.
    pub(super) differing: u64,
    /// At most so much.
    pub(super) most: Gap,
    /// The first that differs.
    pub(super) first: Option<Place>,
    /// The first that differs by more than is allowed.
    pub(super) beyond: Option<Place>,
}

/// Numbers in an element of this type.
pub(super) fn numbers(of: &Type) -> u64 {
    of.parts().iter().map(|part| count(part) as u64).sum()
}

fn count(part: &Part) -> usize {
    usize::from(part.element.lanes).saturating_mul(part.count)
}

/// Compares `a` with `b`, both elements of the type `of`, one behind the other. A number may differ by `tolerance`
/// times the largest finite magnitude that `a` has of its field, or of all its numbers where elements have no fields;
/// one that is NaN or infinite alone differs by more than any.
pub(super) fn difference(of: &Type, [a, b]: [&[u8]; 2], tolerance: f64) -> Difference {
    let mut found =
        Difference { same_bits: a == b, differing: 0, most: Gap::NONE, first: None, beyond: None };
    if found.same_bits {
        return found;
    }
    let (parts, size) = (of.parts(), of.bytes().max(1));
    let allowed = |part| if tolerance > 0.0 { tolerance * largest(part, size, a) } else { 0.0 };
    let allowed: Vec<f64> = parts.iter().map(allowed).collect();
    for (element, (a, b)) in a.chunks_exact(size).zip(b.chunks_exact(size)).enumerate() {
        if a != b {
            for (part, allowed) in parts.iter().zip(&allowed) {
                found.add(element, part, [a, b], *allowed);
            }
        }
    }
    found
}

impl Difference {
    /// Adds the numbers that one part of an element has on both sides.
    fn add(&mut self, element: usize, part: &Part, sides: [&[u8]; 2], allowed: f64) {
        let scalar = part.element.scalar;
        for number in 0..count(part) {
            let [Some(a), Some(b)] = sides.map(|bytes| bits(part, bytes, number)) else { return };
            let Some(gap) = Gap::between(scalar, [a, b]) else { continue };
            let place = || Place {
                element,
                number: part.number_name(number),
                values: [a, b].map(|bits| shown(scalar, bits)),
            };
            self.differing += 1;
            self.most = self.most.max(gap);
            self.first.get_or_insert_with(place);
            if gap.absolute > allowed || gap.absolute.is_infinite() {
                self.beyond.get_or_insert_with(place);
            }
        }
    }
}

impl Gap {
    /// That of equal numbers.
    pub const NONE: Self = Self { absolute: 0.0, relative: 0.0, ulp: Some(0) };

    /// Each the larger one.
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            absolute: self.absolute.max(other.absolute),
            relative: self.relative.max(other.relative),
            ulp: self.ulp.zip(other.ulp).map(|(one, two)| one.max(two)),
        }
    }

    /// That of the numbers with these bits; `None` where they are the same number.
    fn between(scalar: Scalar, [a, b]: [u64; 2]) -> Option<Self> {
        if a == b {
            return None;
        }
        match scalar.value_of(a).zip(scalar.value_of(b)) {
            Some(values) => Self::of_floats(values, [a, b].map(|bits| ordinal(scalar, bits))),
            None => Some(Self::of_integers([a, b].map(|bits| integer(scalar, bits)))),
        }
    }

    /// The bits of both may differ, and the numbers be the same: two zeros, or two NaNs.
    fn of_floats((a, b): (f64, f64), [from, to]: [i128; 2]) -> Option<Self> {
        if a == b || (a.is_nan() && b.is_nan()) {
            return None;
        }
        if a.is_nan() || b.is_nan() {
            return Some(Self { absolute: f64::INFINITY, relative: f64::INFINITY, ulp: None });
        }
        let relative = |a: f64, b: f64| (a - b).abs() / a.abs().max(b.abs());
        let absolute = (a - b).abs();
        // Halves of finite numbers have a finite difference.
        let relative =
            if absolute.is_finite() { relative(a, b) } else { relative(a / 2.0, b / 2.0) };
        Some(Self {
            absolute,
            relative: if relative.is_nan() { f64::INFINITY } else { relative },
            ulp: u64::try_from(from.abs_diff(to)).ok(),
        })
    }

    fn of_integers([a, b]: [i128; 2]) -> Self {
        let apart = a.abs_diff(b);
        let larger = a.unsigned_abs().max(b.unsigned_abs());
        let absolute = apart as f64;
        Self { absolute, relative: absolute / larger as f64, ulp: u64::try_from(apart).ok() }
    }
}

/// The bits of a number of an element, in the lowest ones; `None` outside of the element.
fn bits(part: &Part, element: &[u8], number: usize) -> Option<u64> {
    let size = part.element.scalar.bytes();
    let at = part.offset.checked_add(number.checked_mul(size)?)?;
    let mut word = [0; 8];
    word.get_mut(..size)?.copy_from_slice(element.get(at..at.checked_add(size)?)?);
    Some(u64::from_le_bytes(word))
}

/// How many representable numbers lie between 0 and this one of a floating-point type, with its sign.
fn ordinal(scalar: Scalar, bits: u64) -> i128 {
    let sign = 1_u64 << (8 * scalar.bytes() - 1);
    let magnitude = i128::from(bits & (sign - 1));
    if bits & sign == 0 { magnitude } else { -magnitude }
}

/// The number with these bits, which is none of a floating-point type; of `bool` its byte.
fn integer(scalar: Scalar, bits: u64) -> i128 {
    scalar.integer_of(bits).unwrap_or(i128::from(bits))
}

/// The largest finite magnitude that `elements` of `size` bytes have of a part.
fn largest(part: &Part, size: usize, elements: &[u8]) -> f64 {
    let scalar = part.element.scalar;
    let magnitude = |bits| match scalar.value_of(bits) {
        Some(value) => value.abs(),
        None => integer(scalar, bits).unsigned_abs() as f64,
    };
    let of = |element| (0..count(part)).filter_map(move |number| bits(part, element, number));
    let all = elements.chunks_exact(size).flat_map(of).map(magnitude);
    all.filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// A number with all digits that tell it from its neighbours.
fn shown(scalar: Scalar, bits: u64) -> String {
    match scalar.value_of(bits) {
        Some(value) if scalar == Scalar::F64 => format!("{value:?}"),
        // All other floating-point types are part of this one.
        Some(value) => format!("{:?}", value as f32),
        None => integer(scalar, bits).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{Element, Structure};

    fn scalars(scalar: Scalar, a: &[u8], b: &[u8], tolerance: f64) -> Difference {
        difference(&Element::scalar(scalar).into(), [a, b], tolerance)
    }

    fn floats(a: &[f32], b: &[f32], tolerance: f64) -> Difference {
        scalars(Scalar::F32, bytemuck::cast_slice(a), bytemuck::cast_slice(b), tolerance)
    }

    fn place(element: usize, number: &str, a: &str, b: &str) -> Place {
        Place { element, number: number.to_owned(), values: [a.to_owned(), b.to_owned()] }
    }

    /// Each gap follows from the formats' definitions: 10, 7, 23 and 52 bits of a fraction.
    #[test]
    fn gaps_are_exact_in_every_type() {
        use Scalar::{BF16, Bool, F16, F32, F64, I8, I64, U8, U64};
        let infinity = f64::INFINITY;
        for (scalar, bits, absolute, relative, ulp) in [
            (F16, [0x3c00, 0x3c01], 2f64.powi(-10), 1.0 / 1025.0, Some(1)),
            (BF16, [0x3f80, 0x3f82], 2f64.powi(-6), 1.0 / 65.0, Some(2)),
            (F32, [0x3f80_0000, 0x3f80_0003], 3.0 * 2f64.powi(-23), 3.576_277_4e-7, Some(3)),
            // The smallest numbers on both sides of zero.
            (F32, [0x8000_0001, 1], 2f64.powi(-148), 2.0, Some(2)),
            (F32, [0x7f7f_ffff, 0x7f80_0000], infinity, infinity, Some(1)),
            (F32, [0xff80_0000, 0x7f80_0000], infinity, infinity, Some(0xff00_0000)),
            (F32, [0x7fc0_0000, 0], infinity, infinity, None),
            // 0.1 + 0.2 and 0.3.
            (
                F64,
                [0x3fd3_3333_3333_3334, 0x3fd3_3333_3333_3333],
                5.551_115_123_125_783e-17,
                1.850_371_707_708_594e-16,
                Some(1),
            ),
            // The largest number and its negative.
            (
                F64,
                [0x7fef_ffff_ffff_ffff, 0xffef_ffff_ffff_ffff],
                infinity,
                2.0,
                Some(0xffdf_ffff_ffff_fffe),
            ),
            (F64, [0, 1], 5e-324, 1.0, Some(1)),
            (I8, [0x80, 0x7f], 255.0, 255.0 / 128.0, Some(255)),
            (U8, [0x80, 0x7f], 1.0, 1.0 / 128.0, Some(1)),
            (I64, [1 << 63, (1 << 63) - 1], 2f64.powi(64), 2.0, Some(u64::MAX)),
            (U64, [1 << 53, (1 << 53) + 1], 1.0, 2f64.powi(-53), Some(1)),
            (Bool, [0, 1], 1.0, 1.0, Some(1)),
        ] {
            let gap = Gap::between(scalar, bits).unwrap();
            assert_eq!((gap.absolute, gap.ulp), (absolute, ulp), "{scalar} {bits:x?}");
            let apart = (gap.relative / relative - 1.0).abs();
            assert!(gap.relative == relative || apart < 1e-6, "{scalar} {bits:x?}: {gap:?}");
        }
    }

    #[test]
    fn the_same_numbers_may_have_other_bits() {
        let payload = f32::from_bits(0x7fc0_0001);
        let found = floats(&[0.0, f32::NAN, 1.0], &[-0.0, payload, 1.0], 0.0);
        assert!(!found.same_bits && found.first.is_none() && found.beyond.is_none());
        assert_eq!((found.differing, found.most), (0, Gap::NONE));
        assert!(floats(&[f32::NAN], &[f32::NAN], 0.0).same_bits);
        assert!(floats(&[], &[], 0.0).same_bits);
    }

    #[test]
    fn the_largest_gaps_and_the_first_are_found() {
        let found = floats(&[1.0, 2.0, 100.0, 0.5], &[1.0, 2.0000002, 101.0, 0.25], 0.0);
        assert_eq!((found.differing, found.most.absolute, found.most.relative), (3, 1.0, 0.5));
        // From 0.25 to 0.5 there are 2^23 numbers.
        assert_eq!(found.most.ulp, Some(1 << 23));
        assert_eq!(found.first, Some(place(1, "", "2.0", "2.0000002")));
        assert_eq!(found.beyond, found.first);
        let nan = floats(&[1.0, 5.0], &[f32::NAN, 6.0], 1e9);
        assert_eq!((nan.differing, nan.most.ulp), (2, None));
        assert_eq!(nan.beyond, Some(place(0, "", "1.0", "NaN")));
    }

    #[test]
    fn what_is_allowed_is_relative_to_the_largest_of_the_first() {
        let beyond =
            |b: &[f32], tolerance| floats(&[-8.0, f32::INFINITY, 1.0], b, tolerance).beyond;
        let b = [-8.0, f32::INFINITY, 2.0];
        assert_eq!(beyond(&b, 0.125), None);
        assert_eq!(beyond(&b, 0.124), Some(place(2, "", "1.0", "2.0")));
        assert_eq!(beyond(&[-8.0, 1.0, 2.0], 0.125), Some(place(1, "", "inf", "1.0")));
        // What is larger in the second allows nothing.
        assert_eq!(beyond(&[-80.0, f32::INFINITY, 1.0], 1.0), Some(place(0, "", "-8.0", "-80.0")));
    }

    #[test]
    fn large_integers_are_told_apart() {
        let bytes = |values: [i64; 2]| values.map(i64::to_le_bytes).concat();
        let found = scalars(Scalar::I64, &bytes([1 << 60, 7]), &bytes([(1 << 60) + 1, 7]), 0.0);
        let values = ["1152921504606846976", "1152921504606846977"];
        assert_eq!(found.beyond, Some(place(0, "", values[0], values[1])));
    }

    #[test]
    fn structures_are_compared_field_by_field() {
        let part = |path: &str, element, offset, count| Part {
            path: path.to_owned(),
            element,
            offset,
            count,
        };
        let [float2, half] = [Element::vector(Scalar::F32, 2), Element::scalar(Scalar::F16)];
        let parts = vec![part("spin.at", float2, 0, 2), part("mass", half, 16, 1)];
        let body = Type::from(Structure { name: "Body".to_owned(), bytes: 20, parts });
        assert_eq!(numbers(&body), 5);
        let zeros = [0_u8; 60];
        let changed = |at: usize, bytes: &[u8]| {
            let mut other = zeros;
            other[at..at + bytes.len()].copy_from_slice(bytes);
            difference(&body, [&zeros, &other], 1.0)
        };
        let y = changed(20 + 12, &1f32.to_le_bytes());
        assert_eq!((y.differing, y.first), (1, Some(place(1, "spin.at[1].y", "0.0", "1.0"))));
        let mass = changed(40 + 16, &[0, 0x3c]);
        assert_eq!((mass.differing, mass.beyond), (1, Some(place(2, "mass", "0.0", "1.0"))));
        // What lies between the fields is no number.
        let between = changed(18, &[1]);
        assert_eq!((between.differing, between.same_bits), (0, false));
    }
}

//! Numbers of one type as those of another.

use half::bf16;

use super::{Error, Origin, Result, bytes::with_room};
use crate::element::Scalar;

/// Digits of a floating-point type in binary, up to which every integer is exact.
const fn digits(scalar: Scalar) -> Option<u32> {
    match scalar {
        Scalar::BF16 => Some(8),
        Scalar::F16 => Some(11),
        Scalar::F32 => Some(24),
        Scalar::F64 => Some(53),
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64 => None,
    }
}

/// Whether each number of one type is one of the other, too.
pub(super) fn is_exact(from: Scalar, to: Scalar) -> bool {
    if from == to {
        return true;
    }
    match (from.integer_range(), to.integer_range(), digits(to)) {
        // Truth values are 0 and 1.
        _ if from == Scalar::Bool => true,
        (Some((least, most)), Some((lowest, highest)), _) => lowest <= least && most <= highest,
        (Some((least, most)), None, Some(digits)) => {
            let exact = 1_i128 << digits;
            -exact <= least && most <= exact
        }
        // A wider floating-point type has both more digits and a greater range, but for these two.
        (None, None, Some(wide)) => {
            let is_wider = digits(from).is_some_and(|narrow| narrow < wide);
            is_wider && (from, to) != (Scalar::BF16, Scalar::F16)
        }
        (Some(_) | None, _, None) | (None, Some(_), Some(_)) => false,
    }
}

/// Little-endian numbers of `from` as such of `to`.
///
/// # Errors
/// [`Error::Type`] where a number might not stay what it is; numpy lacks `bf16`, so of those in `float32` each is
/// looked at.
pub(super) fn convert(
    bytes: Vec<u8>,
    (from, to): (Scalar, Scalar),
    origin: Origin,
) -> Result<Vec<u8>> {
    if (from, to) == (Scalar::F32, Scalar::BF16) {
        return narrowed(&bytes)?.ok_or_else(|| refused(from, to));
    }
    if !is_exact(from, to) {
        return Err(refused(from, to));
    }
    let are_bits = from == to && origin == Origin::State;
    if from == Scalar::Bool && !are_bits {
        let truths = bytes.iter().map(|byte| f64::from(u8::from(*byte != 0)));
        return written(truths, to, bytes.len());
    }
    if from == to {
        return Ok(bytes);
    }
    let count = bytes.len() / from.bytes();
    written(bytes.chunks_exact(from.bytes()).map(|number| float(number, from)), to, count)
}

fn refused(from: Scalar, to: Scalar) -> Error {
    let found = from.numpy_name().unwrap_or(from.name()).to_owned();
    let name = to.numpy_name().unwrap_or("float32");
    Error::Type { found, wanted: to, call: format!(".astype(\"{name}\")") }
}

/// The `bf16`s among `float32`s, where all of them are.
fn narrowed(bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut found = with_room(bytes.len() / 2)?;
    for number in bytes.as_chunks::<4>().0 {
        let (low, high) = (&number[..2], &number[2..]);
        let number = f32::from_le_bytes(*number);
        match low {
            // The bits are those of the `bf16`, also of NaNs that a conversion would make quiet.
            [0, 0] => found.extend(high),
            _ if number.is_nan() => found.extend(bf16::from_f32(number).to_le_bytes()),
            _ => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// A little-endian number of a type whose numbers are all `f64`s; those of 64-bit integers are never converted.
fn float(number: &[u8], scalar: Scalar) -> f64 {
    let mut wide = [0; 8];
    let length = number.len().min(8);
    wide[..length].copy_from_slice(&number[..length]);
    let bits = u64::from_le_bytes(wide);
    let integer = || scalar.integer_of(bits).map(|value| value as f64);
    scalar.value_of(bits).or_else(integer).unwrap_or(bits as f64)
}

/// Numbers as little-endian ones of `scalar`: the nearest floating-point number, or the integer that they are.
///
/// # Errors
/// [`Error::Memory`].
pub(super) fn written(
    numbers: impl Iterator<Item = f64>,
    scalar: Scalar,
    count: usize,
) -> Result<Vec<u8>> {
    let mut bytes = with_room(count.saturating_mul(scalar.bytes()))?;
    for number in numbers {
        let bits = scalar.bits_of(number).unwrap_or(number as i64 as u64);
        bytes.extend(&bits.to_le_bytes()[..scalar.bytes()]);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_conversions_are_made() {
        use Scalar::*;
        for (from, to) in [
            (Bool, F32),
            (Bool, I8),
            (U8, I16),
            (U8, I32),
            (U8, F16),
            (U8, BF16),
            (U8, F32),
            (I8, F16),
            (I16, F32),
            (U16, F32),
            (U16, I32),
            (I32, F64),
            (U32, I64),
            (U32, F64),
            (F16, F32),
            (F32, F64),
            (BF16, F32),
            (I64, I64),
            (U64, U64),
        ] {
            assert!(is_exact(from, to), "{from} {to}");
        }
        for (from, to) in [
            (U8, I8),
            (I8, U8),
            (U8, Bool),
            (I32, F32),
            (U32, I32),
            (I32, U64),
            (I64, F64),
            (I64, I32),
            (U64, I64),
            (F64, F32),
            (F32, F16),
            (F32, I32),
            (F16, BF16),
            (BF16, F16),
            (I16, F16),
            (F32, Bool),
            (F32, BF16),
        ] {
            assert!(!is_exact(from, to), "{from} {to}");
        }
    }

    #[test]
    fn numbers_stay_what_they_are() {
        let ends =
            convert(vec![0, 127, 128, 255], (Scalar::I8, Scalar::F32), Origin::Data).unwrap();
        let ends: Vec<f32> = bytemuck::pod_collect_to_vec(&ends);
        assert_eq!(ends, [0.0, 127.0, -128.0, -1.0]);
        let wide = convert(
            [7u32.to_le_bytes(), u32::MAX.to_le_bytes()].concat(),
            (Scalar::U32, Scalar::I64),
            Origin::Data,
        );
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, i64>(&wide.unwrap()), [7, u32::MAX.into()]);
        assert_eq!(
            convert(vec![0, 1, 7], (Scalar::Bool, Scalar::Bool), Origin::Data).unwrap(),
            [0, 1, 1]
        );
        let bits = convert(vec![0, 1, 7], (Scalar::Bool, Scalar::Bool), Origin::State);
        assert_eq!(bits.unwrap(), [0, 1, 7]);
        let floats = |numbers: [f32; 2]| numbers.map(f32::to_le_bytes).concat();
        let narrow =
            convert(floats([1.5, -3.0]), (Scalar::F32, Scalar::BF16), Origin::Data).unwrap();
        assert_eq!(narrow, [1.5, -3.0].map(|n| bf16::from_f32(n).to_le_bytes()).concat());
        let loud = convert(
            floats([f32::from_bits(0x7f81_0000), 1.0]),
            (Scalar::F32, Scalar::BF16),
            Origin::Data,
        );
        assert_eq!(loud.unwrap(), [0x81, 0x7f, 0x80, 0x3f], "a signalling NaN");
        assert!(convert(floats([1.5, 0.1]), (Scalar::F32, Scalar::BF16), Origin::Data).is_err());
    }
}

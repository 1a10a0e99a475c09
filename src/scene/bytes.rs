//! Numbers as the bytes of a type.

use super::{Number, Scalar};

/// The bytes of `number` as a `scalar`, as far as it can be one.
///
/// # Errors
///
/// A sentence about the number.
pub(super) fn bytes_of(number: Number, scalar: Scalar) -> Result<Vec<u8>, String> {
    match number {
        Number::Bool(value) if scalar == Scalar::Bool => Ok(vec![value.into()]),
        Number::Bool(value) => Err(format!("{value} is no {scalar}")),
        Number::Int(value) => match (scalar.integer_range(), scalar.is_float()) {
            (Some((least, most)), _) if !(least..=most).contains(&value) => {
                Err(format!("{value} is beyond the range of {scalar}"))
            }
            (Some(_), _) => Ok(value.to_le_bytes()[..scalar.bytes()].to_vec()),
            (None, true) => float_bytes(value as f64, scalar),
            (None, false) => Err(format!("{value} is no {scalar}: it is `true` or `false`")),
        },
        Number::Float(value) if scalar.is_float() => float_bytes(value, scalar),
        Number::Float(value) => Err(format!("{value:?} is no {scalar}")),
    }
}

/// The nearest number that a floating-point type has.
fn float_bytes(value: f64, scalar: Scalar) -> Result<Vec<u8>, String> {
    let Some(bits) = scalar.bits_of(value) else { return Err(format!("{value:?} is no {scalar}")) };
    match scalar.value_of(bits).is_some_and(f64::is_finite) {
        true => Ok(bits.to_le_bytes()[..scalar.bytes()].to_vec()),
        false => Err(format!("{value:?} is beyond the range of {scalar}")),
    }
}

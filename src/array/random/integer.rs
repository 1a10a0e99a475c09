//! Integers of every width.

use crate::array::Real;

/// An integer type of at most 64 bits.
pub trait Integer: Real + Copy + Into<i128> {}

macro_rules! integer {
    ($($rust:ty),*) => { $(impl Integer for $rust {})* };
}

integer!(i8, u8, i16, u16, i32, u32, i64, u64);

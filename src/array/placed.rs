//! Classes of CUDA C++ that hold values of any type, with their places or in pairs.

use super::{data::Real, dtype::DType};

/// The classes of reductions that hold values of any type.
const PLACED: &str = include_str!("placed.cuh");

/// A name put together when the program is compiled, as names of types have to be: its bytes, and how many they are.
const fn instance(template: &str, of: &str) -> ([u8; 64], usize) {
    let (mut name, mut n) = ([0; 64], 0);
    let parts = [template.as_bytes(), b"<", of.as_bytes(), b">"];
    let mut part = 0;
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            name[n] = parts[part][at];
            (at, n) = (at + 1, n + 1);
        }
        part += 1;
    }
    (name, n)
}

const fn text((name, n): &'static ([u8; 64], usize)) -> &'static str {
    match std::str::from_utf8(name.split_at(*n).0) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// Instances for `T` of classes of `placed.cuh`.
pub(super) struct Instance<T>(std::marker::PhantomData<T>);

impl<T: Real> Instance<T> {
    const PLACED_NAME: &'static ([u8; 64], usize) = &instance("warpaint::Placed", T::DTYPE.name);
    const RANGE_NAME: &'static ([u8; 64], usize) = &instance("warpaint::Range", T::DTYPE.name);
    /// A value and its place.
    pub(super) const PLACED: DType =
        DType { name: text(Self::PLACED_NAME), definition: PLACED, bytes: 16, align: 8 };
    /// Two values.
    pub(super) const RANGE: DType = DType {
        name: text(Self::RANGE_NAME),
        definition: PLACED,
        bytes: 2 * T::DTYPE.bytes,
        align: T::DTYPE.align,
    };
}

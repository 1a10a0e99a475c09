//! Sorts elements by their numbers.

use std::cmp::Ordering;

use super::{GoOn, Halt, RUN};
use crate::scene::Number;

/// Sorts elements by their `key`, those with the same one as they were. NaN comes last, whichever way.
pub(super) fn sort_by(
    elements: &mut [u32],
    key: impl Fn(u32) -> Number,
    down: bool,
    go_on: GoOn<'_>,
) -> Result<(), Halt> {
    let integers = elements.iter().filter_map(|of| match key(*of) {
        Number::Int(value) => Some(value),
        Number::Float(_) | Number::Bool(_) => None,
    });
    let least = integers.min().unwrap_or(0);
    let mut sorted: Vec<(u64, u32)> =
        elements.iter().map(|of| (rank(key(*of), least, down), *of)).collect();
    let order = |a: &(u64, u32), b: &(u64, u32)| a.0.cmp(&b.0);
    for run in sorted.chunks_mut(RUN) {
        go_on()?;
        run.sort_by(order);
    }
    let (mut length, mut merged) = (RUN, Vec::with_capacity(sorted.len()));
    while length < sorted.len() {
        merged.clear();
        for pair in sorted.chunks(2 * length) {
            let (a, b) = pair.split_at(length.min(pair.len()));
            merge(a, b, &mut merged, order, go_on)?;
        }
        std::mem::swap(&mut sorted, &mut merged);
        length *= 2;
    }
    elements.iter_mut().zip(sorted).for_each(|(to, (_, element))| *to = element);
    Ok(())
}

/// A number whose order is that of all numbers of a column: of integers, of which none is below `least`, or of numbers
/// with a point. Small, for there may be millions.
pub(super) fn rank(number: Number, least: i128, down: bool) -> u64 {
    pub(super) const SIGN: u64 = 1 << 63;
    let up = match number {
        // Two integers of one type are less than 2^64 apart.
        Number::Int(value) => (value - least) as u64,
        Number::Float(value) if value.is_nan() => return u64::MAX,
        Number::Float(value) => match (value + 0.0).to_bits() {
            bits if bits & SIGN != 0 => !bits,
            bits => bits | SIGN,
        },
        Number::Bool(value) => value.into(),
    };
    if down { !up } else { up }
}

/// Puts two runs that are sorted behind `merged`, as one.
fn merge<T: Copy>(
    a: &[T],
    b: &[T],
    merged: &mut Vec<T>,
    order: impl Fn(&T, &T) -> Ordering,
    go_on: GoOn<'_>,
) -> Result<(), Halt> {
    let (mut a, mut b) = (a, b);
    while let ([first, rest @ ..], [other, others @ ..]) = (a, b) {
        if merged.len().is_multiple_of(RUN) {
            go_on()?;
        }
        match order(first, other) {
            Ordering::Less | Ordering::Equal => {
                merged.push(*first);
                a = rest;
            }
            Ordering::Greater => {
                merged.push(*other);
                b = others;
            }
        }
    }
    merged.extend_from_slice(a);
    merged.extend_from_slice(b);
    Ok(())
}

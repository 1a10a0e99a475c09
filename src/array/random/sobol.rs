//! Sobol's sequence: points that fill a cube more evenly than random ones (Sobol, "On the distribution of points in a
//! cube and the approximate evaluation of integrals", USSR Computational Mathematics and Mathematical Physics 7(4),
//! 1967).

use super::{member::Member, philox, tables::Tables};
use crate::{
    array::{Data, Error, GpuArray, Result},
    kernel::Context,
};

/// Joe and Kuo's table.
const JOE_KUO: &str = include_str!("joe_kuo.txt");
/// How many dimensions it is for.
const MOST_DIMENSIONS: usize = 1024;
const BITS: usize = 64;

/// Directions of one dimension, the bits of 64-bit numbers from the top.
type Directions = [u64; BITS];

/// A sequence of points whose coordinates have the bits of a `T`: `u32` or `u64`.
#[derive(Clone, Debug)]
pub(super) struct Sobol<T: Data> {
    pub(super) dimensions: u64,
    /// What scrambles it.
    seed: Option<u64>,
    /// Directions of each dimension, and its shift.
    tables: Tables<T>,
}

/// What coordinates are made of.
pub(super) trait Coordinate: Data + Copy {
    const BITS: usize;
    /// The upper bits.
    fn upper(of: u64) -> Self;
}

impl Coordinate for u32 {
    const BITS: usize = 32;
    fn upper(of: u64) -> Self {
        (of >> 32) as Self
    }
}

impl Coordinate for u64 {
    const BITS: usize = 64;
    fn upper(of: u64) -> Self {
        of
    }
}

impl<T: Coordinate> Sobol<T> {
    /// In this many dimensions; with a seed, scrambled.
    ///
    /// # Errors
    /// [`Error::Dimensions`].
    pub(super) fn new(dimensions: usize, seed: Option<u64>) -> Result<Self> {
        if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
            return Err(Error::Dimensions { dimensions, most: MOST_DIMENSIONS });
        }
        Ok(Self { dimensions: dimensions as u64, seed, tables: Tables::default() })
    }

    /// How many coordinates there are: as many points as coordinates can tell apart.
    pub(super) fn length(&self) -> u64 {
        if T::BITS == 32 { self.dimensions << 32 } else { 1 << 63 }
    }

    /// The members of its class.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn members(&mut self, context: &Context) -> Result<Vec<Member>> {
        let (dimensions, seed) = (self.dimensions as usize, self.seed);
        let table = self.tables.on(context, || {
            let of = lines().take(dimensions).map(directions).enumerate();
            let of: Vec<_> = of.map(|(dimension, of)| scrambled(dimension, of, seed)).collect();
            let directions = of.iter().flat_map(|(directions, _)| &directions[..T::BITS]);
            let shifts = of.iter().map(|(_, shift)| shift);
            let words: Vec<T> = directions.chain(shifts).map(|&word| T::upper(word)).collect();
            GpuArray::from_slice(context, &words)
        })?;
        let end_of_directions = (dimensions * T::BITS) as isize;
        let shifts = table.slice(&crate::index![end_of_directions..])?;
        Ok(vec![Member::array(&table), Member::array(&shifts), Member::value(self.dimensions)])
    }
}

/// The lines of Joe and Kuo's table; the first dimension's is empty.
fn lines() -> impl Iterator<Item = &'static str> {
    std::iter::once("").chain(JOE_KUO.lines().filter(|line| !line.starts_with('#')))
}

/// The directions of a dimension, by Sobol's recurrence from Joe and Kuo's numbers.
fn directions(line: &str) -> Directions {
    let mut numbers = line.split(' ').filter_map(|word| word.parse::<u64>().ok()).skip(1);
    let mut result = std::array::from_fn(|k| 1 << (BITS - 1 - k));
    // Without a polynomial each direction is a bit of its own.
    let (Some(degree), Some(coefficients)) = (numbers.next(), numbers.next()) else {
        return result;
    };
    let degree = degree as usize;
    for (k, number) in numbers.enumerate() {
        result[k] = number << (BITS - 1 - k);
    }
    for k in degree..BITS {
        let before = result[k - degree];
        let inner = (1..degree).filter(|i| coefficients >> (degree - 1 - i) & 1 == 1);
        result[k] = inner.fold(before ^ (before >> degree), |sum, i| sum ^ result[k - i]);
    }
    result
}

/// Directions and a shift that a seed scrambles so that the points stay as even: a random lower triangular matrix on
/// the bits, then a random number added to them (Matousek, "On the L2-discrepancy for anchored boxes", Journal of
/// Complexity 14, 1998).
fn scrambled(dimension: usize, of: Directions, seed: Option<u64>) -> (Directions, u64) {
    let Some(seed) = seed else { return (of, 0) };
    let random = |place: usize| philox::bits(seed, [place as u32, dimension as u32]);
    // Each bit, from the top, is itself and a random choice of those above it.
    let row = |bit: usize| (random(bit) | 1 << (BITS - 1 - bit)) & (u64::MAX << (BITS - 1 - bit));
    let rows: Directions = std::array::from_fn(row);
    let scramble = |direction: u64| {
        let parity = |row: &u64| u64::from((row & direction).count_ones() & 1);
        rows.iter().fold(0, |bits, row| bits << 1 | parity(row))
    };
    (of.map(scramble), random(BITS))
}

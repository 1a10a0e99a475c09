//! Sobol's sequence: points that fill a cube more evenly than random ones (Sobol, "On the distribution of points in a
//! cube and the approximate evaluation of integrals", USSR Computational Mathematics and Mathematical Physics 7(4),
//! 1967).

use std::sync::Arc;

use smallvec::smallvec;

use super::{
    member::{Member, Members},
    philox,
    tables::Tables,
};
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
type Column = [u64; BITS];

/// The numbers that make a Sobol sequence: for coordinates of 32 bits (`u32`) or of 64 (`u64`).
///
/// Bit `k` of the number of a point (in Gray code) adds direction `k` to each coordinate, without carries; the shift is
/// added to all of them.
///
/// ```
/// use warpaint::array::random::Directions;
///
/// let plain = Directions::<u32>::joe_kuo(2)?;
/// assert_eq!(plain.numbers[..3], [1 << 31, 1 << 30, 1 << 29]);
/// assert_eq!(plain.shifts, [0, 0]);
/// # Ok::<(), warpaint::array::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directions<T> {
    /// Direction numbers, one dimension behind the other: as many as a coordinate has bits, that of the lowest bit of a
    /// point's number first.
    pub numbers: Vec<T>,
    /// What is added to all points, a number for each dimension: cuRAND's scramble constants.
    pub shifts: Vec<T>,
}

/// A sequence of points whose coordinates have the bits of a `T`: `u32` or `u64`.
#[derive(Clone, Debug)]
pub(super) struct Sobol<T: Data> {
    pub(super) dimensions: u64,
    /// Directions of each dimension, and its shift.
    directions: Arc<Directions<T>>,
    /// The same on devices.
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
    /// The sequence that these make.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there are as many directions as the shifts' dimensions need; [`Error::Dimensions`] for
    /// none.
    pub(super) fn new(directions: Directions<T>) -> Result<Self> {
        let (dimensions, numbers) = (directions.shifts.len(), directions.numbers.len());
        if dimensions == 0 {
            return Err(Error::Dimensions { dimensions, most: MOST_DIMENSIONS });
        }
        if dimensions.checked_mul(T::BITS) != Some(numbers) {
            let (expected, found) = (vec![dimensions, T::BITS], vec![numbers]);
            return Err(Error::Shape { operation: "direction numbers", expected, found });
        }
        let (dimensions, directions) = (dimensions as u64, Arc::new(directions));
        Ok(Self { dimensions, directions, tables: Tables::default() })
    }

    /// How many coordinates there are: as many points as coordinates can tell apart.
    pub(super) fn length(&self) -> u64 {
        if T::BITS == 32 { self.dimensions << 32 } else { 1 << 63 }
    }

    /// The members of its class.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn members(&mut self, context: &Context) -> Result<Members> {
        let Directions { numbers, shifts } = &*self.directions;
        let words = || [&numbers[..], shifts].concat();
        let table = self.tables.on(context, || GpuArray::from_slice(context, &words()))?;
        let end_of_directions = numbers.len() as isize;
        let shifts = table.slice(&crate::index![end_of_directions..])?;
        Ok(smallvec![Member::array(&table), Member::array(&shifts), Member::value(self.dimensions)])
    }
}

macro_rules! directions {
    ($($bits:ty),*) => {$(
        impl Directions<$bits> {
            /// Joe and Kuo's, in up to 1024 dimensions, without shifts.
            ///
            /// ```
            /// # use warpaint::array::random::Directions;
            #[doc = concat!("let directions = Directions::<", stringify!($bits), ">::joe_kuo(1024)?;")]
            #[doc = concat!("assert_eq!(directions.numbers.len(), 1024 * ", stringify!($bits), "::BITS as usize);")]
            /// # Ok::<(), warpaint::array::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::Dimensions`].
            pub fn joe_kuo(dimensions: usize) -> Result<Self> {
                table(dimensions, None)
            }

            /// Joe and Kuo's, scrambled at random but as even: by a triangular matrix and a shift (Matousek, "On the
            /// L2-discrepancy for anchored boxes", Journal of Complexity 14, 1998).
            ///
            /// ```
            /// # use warpaint::array::random::Directions;
            #[doc = concat!("let directions = Directions::<", stringify!($bits), ">::scrambled(2, 7)?;")]
            /// // The first direction still halves each axis.
            #[doc = concat!("assert!(directions.numbers[0] >= 1 << (", stringify!($bits), "::BITS - 1));")]
            #[doc = concat!("let other = Directions::<", stringify!($bits), ">::scrambled(2, 8)?;")]
            /// assert_ne!(directions.shifts, other.shifts);
            /// # Ok::<(), warpaint::array::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::Dimensions`].
            pub fn scrambled(dimensions: usize, seed: u64) -> Result<Self> {
                table(dimensions, Some(seed))
            }
        }
    )*};
}

directions!(u32, u64);

/// The numbers of so many dimensions; with a seed, scrambled.
fn table<T: Coordinate>(dimensions: usize, seed: Option<u64>) -> Result<Directions<T>> {
    if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
        return Err(Error::Dimensions { dimensions, most: MOST_DIMENSIONS });
    }
    let (mut numbers, mut shifts) = (Vec::new(), Vec::new());
    for (dimension, column) in lines().take(dimensions).map(directions).enumerate() {
        let (column, shift) = scrambled(dimension, column, seed);
        numbers.extend(column.iter().take(T::BITS).map(|&word| T::upper(word)));
        shifts.push(T::upper(shift));
    }
    Ok(Directions { numbers, shifts })
}

/// The lines of Joe and Kuo's table; the first dimension's is empty.
fn lines() -> impl Iterator<Item = &'static str> {
    std::iter::once("").chain(JOE_KUO.lines().filter(|line| !line.starts_with('#')))
}

/// The directions of a dimension, by Sobol's recurrence from Joe and Kuo's numbers.
fn directions(line: &str) -> Column {
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
/// the bits, then a random number added to them.
fn scrambled(dimension: usize, of: Column, seed: Option<u64>) -> (Column, u64) {
    let Some(seed) = seed else { return (of, 0) };
    let random = |place: usize| philox::bits(seed, [place as u32, dimension as u32]);
    // Each bit, from the top, is itself and a random choice of those above it.
    let row = |bit: usize| (random(bit) | 1 << (BITS - 1 - bit)) & (u64::MAX << (BITS - 1 - bit));
    let rows: Column = std::array::from_fn(row);
    let scramble = |direction: u64| {
        let parity = |row: &u64| u64::from((row & direction).count_ones() & 1);
        rows.iter().fold(0, |bits, row| bits << 1 | parity(row))
    };
    (of.map(scramble), random(BITS))
}

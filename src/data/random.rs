//! Random numbers, the same in every run.

use std::{
    sync::{Mutex, PoisonError},
    thread,
};

use super::{Error, Found, Result, Wanted, bytes::with_room};
use crate::element::{Part, Scalar};

/// So many bytes are made at most.
const MOST_BYTES: u64 = 4 << 30;
/// So many of them between two looks at whether there is still time.
const PART_BYTES: usize = 1 << 20;
/// So many elements are computed, likewise.
const PART_ELEMENTS: usize = 1 << 12;

/// Elements of what is called `name` whose numbers lie between these ends, each as likely as any other; what does not
/// fit a type becomes its least or greatest number. Whole numbers are from the least up to the greatest in the range,
/// both of them included. What has another name has other numbers, so that places do not depend on velocities.
///
/// `None` where `is_over` says that there is no more time.
pub(crate) fn random(
    wanted: &Wanted,
    name: &str,
    [low, high]: [f64; 2],
    is_over: &dyn Fn() -> bool,
) -> Result<Option<Found>> {
    let (parts, element) = (wanted.of.parts(), wanted.of.bytes().max(1));
    let is_empty = |part: &&Part| part.element.scalar.is_integer() && low.ceil() > high.floor();
    if let Some(part) = parts.iter().find(is_empty) {
        let text = format!("there is no {} between {low} and {high}", part.element.scalar);
        return Err(Error::Format(text));
    }
    let Some(mut bytes) = room(wanted, is_over)? else { return Ok(None) };
    let mut generator = SplitMix(seed(name));
    for some in bytes.chunks_mut(PART_BYTES.div_ceil(element) * element) {
        if is_over() {
            return Ok(None);
        }
        for element in some.chunks_exact_mut(element) {
            parts.iter().for_each(|part| fill(element, part, &mut generator, [low, high]));
        }
    }
    Ok(Some(Found::All(bytes)))
}

/// Zeros for all that is wanted, where numbers are made for so much. To write zeros takes time, too: `None` where
/// `is_over` says that there is no more.
pub(crate) fn room(wanted: &Wanted, is_over: &dyn Fn() -> bool) -> Result<Option<Vec<u8>>> {
    if wanted.bytes() > MOST_BYTES {
        let text =
            format!("numbers are made for {MOST_BYTES} bytes at most, not {}", wanted.bytes());
        return Err(Error::Format(text));
    }
    let all = wanted.bytes() as usize;
    let mut bytes = with_room(all)?;
    while bytes.len() < all {
        if is_over() {
            return Ok(None);
        }
        bytes.resize(all.min(bytes.len() + PART_BYTES), 0);
    }
    Ok(Some(bytes))
}

/// Writes the element at a place, by numbers from 0 up to 1 that it draws.
type Compute<'a, E> =
    dyn Fn(u64, &mut dyn FnMut() -> f64, &mut [u8]) -> std::result::Result<(), E> + Sync + 'a;

/// Lets `compute` write each of the elements of `bytes`, which are what is called `name`; it is told the element's
/// place, and draws numbers from 0 up to 1, which do not depend on other elements. All cores compute at once.
///
/// Returns whether that was done before `is_over` said that there is no more time.
///
/// # Errors
/// The first that `compute` has.
pub(crate) fn computed<E: Send>(
    (bytes, element): (&mut [u8], usize),
    name: &str,
    is_over: &(dyn Fn() -> bool + Sync),
    compute: &Compute<'_, E>,
) -> std::result::Result<bool, E> {
    let (seed, element) = (seed(name), element.max(1));
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let part = bytes.len().div_ceil(element).div_ceil(workers).max(PART_ELEMENTS);
    let of_part = |first: usize, bytes: &mut [u8]| {
        for (place, element) in bytes.chunks_exact_mut(element).enumerate() {
            if place % PART_ELEMENTS == 0 && is_over() {
                return Ok(false);
            }
            let index = (first + place) as u64;
            let mut generator = SplitMix(SplitMix(seed ^ index).word());
            compute(index, &mut || generator.next(), element)?;
        }
        Ok(true)
    };
    let parts = Mutex::new(bytes.chunks_mut(part * element).enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut is_whole = true;
        while let Some((number, bytes)) = next() {
            is_whole &= of_part(number * part, bytes)?;
        }
        Ok(is_whole)
    };
    thread::scope(|scope| {
        // As many as the system allows, and this one.
        let others =
            (1..workers).map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        let own = work();
        let ended = others.into_iter().map(|worker| match worker.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let ended = ended.chain([own]).collect::<std::result::Result<Vec<bool>, E>>()?;
        Ok(ended.into_iter().all(|is_whole| is_whole))
    })
}

/// Puts random numbers into a part of an element.
fn fill(element: &mut [u8], part: &Part, generator: &mut SplitMix, range: [f64; 2]) {
    let scalar = part.element.scalar;
    let numbers = element.get_mut(part.offset..part.offset + part.bytes()).unwrap_or_default();
    for number in numbers.chunks_exact_mut(scalar.bytes()) {
        let bits = bits(scalar, generator.next(), range);
        number.copy_from_slice(&bits.to_le_bytes()[..scalar.bytes()]);
    }
}

/// Where the numbers of what is called `name` begin: its FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake:
/// The FNV Non-Cryptographic Hash Algorithm).
fn seed(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A scalar in the range, `share` of the way from its beginning to its end.
fn bits(scalar: Scalar, share: f64, [low, high]: [f64; 2]) -> u64 {
    let value = low * (1.0 - share) + high * share;
    match scalar.integer_range() {
        None => scalar.bits_of(value).unwrap_or(u64::from(share < 0.5)),
        Some((least, greatest)) => {
            let (low, high) = (low.ceil(), high.floor());
            let whole = (low + (share * (high - low + 1.0)).floor()).min(high);
            (whole as i128).clamp(least, greatest) as u64
        }
    }
}

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014; the
/// constants are those of Java's `SplittableRandom`).
struct SplitMix(u64);

impl SplitMix {
    /// A number from 0 up to 1, which it does not reach, in steps of 2⁻⁵³.
    fn next(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// 64 random bits.
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{data::Shape, element::Element};

    #[test]
    fn the_generator_is_the_published_one() {
        // The first outputs for the seed 0, as Vigna's splitmix64.c prints them.
        let published = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        let mut generator = SplitMix(0);
        for expected in published {
            assert_eq!(generator.next(), (expected >> 11) as f64 / (1_u64 << 53) as f64);
        }
    }

    #[test]
    fn numbers_are_in_the_range_and_spread_over_it() {
        let of = |scalar, range| {
            let wanted = Wanted {
                of: Element::vector(scalar, 2).into(),
                shape: Shape::Row(5000),
                raw: None,
            };
            let found = random(&wanted, "a", range, &|| false).unwrap();
            let Some(Found::All(bytes)) = found else { panic!("one for all") };
            let number = |bytes: &[u8]| {
                let mut wide = [0; 8];
                wide[..bytes.len()].copy_from_slice(bytes);
                let bits = u64::from_le_bytes(wide);
                scalar.value_of(bits).or_else(|| scalar.integer_of(bits).map(|n| n as f64)).unwrap()
            };
            bytes.chunks_exact(scalar.bytes()).map(number).collect::<Vec<f64>>()
        };
        for (scalar, range) in
            [(Scalar::F32, [-2.0, 3.0]), (Scalar::F64, [5.0, 5.0]), (Scalar::F16, [0.0, 1.0])]
        {
            let numbers = of(scalar, range);
            let [low, high] = range;
            assert!(numbers.iter().all(|x| (low..=high).contains(x)));
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            // Ten thousand numbers: the mean's deviation is 0.003 of the range, and five times that never comes.
            assert!((mean - (low + high) / 2.0).abs() <= 0.015 * (high - low), "{mean}");
        }
        let dice = of(Scalar::I8, [1.0, 6.0]);
        for face in 1..=6 {
            let count = dice.iter().filter(|x| **x == f64::from(face)).count();
            // 1,667 of 10,000 with a deviation of 37.
            assert!(count.abs_diff(1667) < 200, "{face}: {count}");
        }
        assert_eq!(of(Scalar::U8, [300.0, 301.0])[0], 255.0);
    }

    #[test]
    fn what_has_another_name_has_other_numbers() {
        let wanted = Wanted {
            of: Element::scalar(Scalar::F32).into(),
            shape: Shape::Row(2 * PART_BYTES as u64 / 4),
            raw: None,
        };
        let of = |name, is_over: &dyn Fn() -> bool| {
            let found = random(&wanted, name, [-1.0, 1.0], is_over).unwrap()?;
            let Found::All(bytes) = found else { panic!("one for all") };
            Some(bytemuck::pod_collect_to_vec::<u8, f32>(&bytes))
        };
        let [x, again, y] = ["x", "x", "y"].map(|name| of(name, &|| false).unwrap());
        assert_eq!(x, again);
        let product: f64 = x.iter().zip(&y).map(|(x, y)| f64::from(x * y)).sum();
        // The mean of so many products has a deviation of 1 / (3 sqrt(524288)) = 0.0005.
        assert!((product / x.len() as f64).abs() < 0.0025, "{product}");
        // Room for two parts is made first, and then their numbers.
        for last in 0..4 {
            let looks = std::cell::Cell::new(0);
            let is_over = || looks.replace(looks.get() + 1) == last;
            assert_eq!((of("x", &is_over), looks.get()), (None, last + 1));
        }
    }
}

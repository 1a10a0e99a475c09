//! What a generated source depends on, by which it is found again without being written.

use std::hash::{Hash, Hasher};

/// What stands for all that a generated source depends on: two sources have the same one with a probability of 2^-128.
///
/// It is a [`Hasher`]: whatever implements `Hash` writes down what it is made of. Each word is mixed into the state by
/// a multiplication with an odd number, which is a bijection; so is the exchange of the state's halves, which brings
/// the high bits, on which all of the word had an effect, to where the next word is. Debug builds compare the sources,
/// too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key(u128);

/// Odd, with bits that look random: those of pi behind the point, the last of them set.
const FACTOR: u128 = 0x243f_6a88_85a3_08d3_1319_8a2e_0370_7345;

impl Key {
    /// The key of a source that `facts` decide.
    pub(crate) fn of(facts: &impl Hash) -> Self {
        let mut key = Self::default();
        facts.hash(&mut key);
        key
    }
}

impl Hasher for Key {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|&word| self.write_u64(u64::from_ne_bytes(word)));
        let rest = rest.iter().rev().fold(1, |word, &byte| word << 8 | u64::from(byte));
        self.write_u64(rest);
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ u128::from(value)).wrapping_mul(FACTOR).rotate_left(64);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    /// Half of it, for maps.
    #[inline]
    fn finish(&self) -> u64 {
        self.0 as u64
    }
}

/// A key is its own hash.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.finish());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn what_differs_has_another_key() {
        assert_eq!(Key::of(&("add", 1u32, [2u8, 3])), Key::of(&("add", 1u32, [2u8, 3])));
        assert_ne!(Key::of(&("ab", "c")), Key::of(&("a", "bc")));
        assert_ne!(Key::of(&(vec![1u8], vec![2u8, 3])), Key::of(&(vec![1u8, 2], vec![3u8])));
        assert_ne!(Key::of(&Some(0u8)), Key::of(&None::<u8>));
        let of_bytes = |bytes: &[u8]| {
            let mut key = Key::default();
            key.write(bytes);
            key
        };
        assert_ne!(of_bytes(&[0; 7]), of_bytes(&[0; 8]));
    }

    /// Both halves alone, and 16 bits of either end of them, differ as those of random numbers do.
    #[test]
    fn keys_of_similar_things_have_little_in_common() {
        let things = (0..64).flat_map(|a: u64| (0..64).map(move |b: u64| (a, "float", b, "int")));
        let keys: Vec<u128> = things.map(|thing| Key::of(&thing).0).collect();
        for shift in [0, 48, 64, 112] {
            let different = keys.iter().map(|key| (key >> shift) as u16).collect::<HashSet<_>>();
            // 4096 random numbers of 16 bits have 3969 different values on average, give or take 11.
            assert!((3900..4040).contains(&different.len()), "{} at {shift}", different.len());
        }
    }
}

//! What a generated source depends on, by which it is found again without being written.

use std::hash::{Hash, Hasher};

/// All that a generated source depends on: equal keys stand for equal sources.
///
/// It is a [`Hasher`] that mixes nothing and forgets nothing: whatever implements `Hash` writes down what it is made of,
/// so two different things never have one key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Key(Vec<u8>);

/// Room for the key of a short expression, so that it is allocated once.
const USUAL_BYTES: usize = 512;

impl Key {
    /// The key of a source that `facts` decide.
    pub(crate) fn of(facts: &impl Hash) -> Self {
        let mut key = Self(Vec::with_capacity(USUAL_BYTES));
        facts.hash(&mut key);
        key
    }
}

impl Hasher for Key {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Nobody asks a key for a number: maps hash its bytes.
    fn finish(&self) -> u64 {
        self.0.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_has_another_key() {
        assert_eq!(Key::of(&("add", 1u32, [2u8, 3])), Key::of(&("add", 1u32, [2u8, 3])));
        assert_ne!(Key::of(&("ab", "c")), Key::of(&("a", "bc")));
        assert_ne!(Key::of(&(vec![1u8], vec![2u8, 3])), Key::of(&(vec![1u8, 2], vec![3u8])));
        assert_ne!(Key::of(&Some(0u8)), Key::of(&None::<u8>));
    }
}

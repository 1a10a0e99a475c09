//! Up to when a thread knows what the threads of other blocks did: a vector clock of a whole launch, of which most
//! blocks know a part that another block knows as well.
//!
//! It is a binary tree by the bits of a block's number, whose parts are shared and never change (Okasaki and Gill,
//! "Fast Mergeable Integer Maps", 1998). What two have in common is found by its address: where each block of a chain
//! knows all before it, a launch takes memory and time by the logarithm of its blocks for each of them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// What a part takes beside the times of threads: itself and the counts before it.
const OF_PART: usize = size_of::<Knowledge>() + 2 * size_of::<usize>();

/// Up to when threads are known, by block.
#[derive(Debug)]
pub(super) struct Knowledge {
    part: Part,
    bytes: usize,
    /// The bytes of all parts of a launch, with these.
    all: Arc<AtomicUsize>,
}

#[derive(Debug)]
enum Part {
    /// Of one block: the times of its threads.
    Block { block: u32, times: Vec<u32> },
    /// Of blocks that have the same bits as `blocks` above `bit`: those without that bit, and those with it.
    Halves { blocks: u32, bit: u32, halves: [Arc<Knowledge>; 2] },
}

impl Knowledge {
    /// Of one block alone, counted in `all`.
    pub(super) fn of_block(block: u32, times: Vec<u32>, all: &Arc<AtomicUsize>) -> Arc<Self> {
        let bytes = OF_PART + size_of_val(times.as_slice());
        Self::counted(Part::Block { block, times }, bytes, all)
    }

    fn counted(part: Part, bytes: usize, all: &Arc<AtomicUsize>) -> Arc<Self> {
        all.fetch_add(bytes, Relaxed);
        Arc::new(Self { part, bytes, all: all.clone() })
    }

    /// Up to when a thread of a block is known.
    pub(super) fn time(&self, block: u32, thread: u32) -> Option<u32> {
        let mut at = self;
        loop {
            match &at.part {
                Part::Block { block: of, times } if *of == block => {
                    return times.get(thread as usize).copied();
                }
                Part::Block { .. } => return None,
                Part::Halves { bit, halves, .. } => at = &halves[usize::from(block & bit != 0)],
            }
        }
    }

    /// All that is known to one or the other; the same as one of them where that knows it all.
    pub(super) fn joined(a: &Arc<Self>, b: &Arc<Self>) -> Arc<Self> {
        if Arc::ptr_eq(a, b) {
            return a.clone();
        }
        match (&a.part, &b.part) {
            (Part::Block { block, times: of_a }, Part::Block { block: of, times: of_b })
                if block == of =>
            {
                Self::later(a, b, *block, (of_a, of_b))
            }
            (
                Part::Halves { blocks, bit, halves },
                Part::Halves { blocks: of, bit: other, halves: others },
            ) if bit == other && above(*blocks, *bit) == above(*of, *bit) => {
                let joined = [0, 1].map(|half| Self::joined(&halves[half], &others[half]));
                Self::with(a, joined).unwrap_or_else(|joined| {
                    Self::with(b, joined)
                        .unwrap_or_else(|halves| a.halves_of(*blocks, *bit, halves))
                })
            }
            (
                Part::Block { .. } | Part::Halves { .. },
                Part::Block { .. } | Part::Halves { .. },
            ) => match (a.holds(b), b.holds(a)) {
                (true, _) => Self::joined_below(a, b),
                (false, true) => Self::joined_below(b, a),
                (false, false) => Self::beside(a, b),
            },
        }
    }

    /// Of one block: the later of two times for each thread.
    fn later(
        a: &Arc<Self>,
        b: &Arc<Self>,
        block: u32,
        (of_a, of_b): (&[u32], &[u32]),
    ) -> Arc<Self> {
        let times: Vec<u32> = of_a.iter().zip(of_b).map(|(a, b)| *a.max(b)).collect();
        match &times {
            times if times == of_a => a.clone(),
            times if times == of_b => b.clone(),
            _ => Self::of_block(block, times, &a.all),
        }
    }

    /// A part with these halves: `whole`, where they are its own.
    fn with(whole: &Arc<Self>, halves: [Arc<Self>; 2]) -> Result<Arc<Self>, [Arc<Self>; 2]> {
        match &whole.part {
            Part::Halves { halves: own, .. }
                if own.iter().zip(&halves).all(|(own, half)| Arc::ptr_eq(own, half)) =>
            {
                Ok(whole.clone())
            }
            Part::Halves { .. } | Part::Block { .. } => Err(halves),
        }
    }

    fn halves_of(&self, blocks: u32, bit: u32, halves: [Arc<Self>; 2]) -> Arc<Self> {
        Self::counted(Part::Halves { blocks, bit, halves }, OF_PART, &self.all)
    }

    /// Whether all blocks of `other` belong into one half of this.
    fn holds(&self, other: &Self) -> bool {
        match &self.part {
            Part::Block { .. } => false,
            Part::Halves { blocks, bit, .. } => {
                let is_smaller = match &other.part {
                    Part::Block { .. } => true,
                    Part::Halves { bit: of, .. } => of < bit,
                };
                is_smaller && above(*blocks, *bit) == above(other.a_block(), *bit)
            }
        }
    }

    /// Joins `other` to the half of `whole` into which it belongs.
    fn joined_below(whole: &Arc<Self>, other: &Arc<Self>) -> Arc<Self> {
        let Part::Halves { blocks, bit, halves } = &whole.part else { return whole.clone() };
        let half = usize::from(other.a_block() & bit != 0);
        let mut joined = halves.clone();
        joined[half] = Self::joined(&halves[half], other);
        Self::with(whole, joined).unwrap_or_else(|halves| whole.halves_of(*blocks, *bit, halves))
    }

    /// Two that have no block in common, at the highest bit in which their blocks differ.
    fn beside(a: &Arc<Self>, b: &Arc<Self>) -> Arc<Self> {
        let (of_a, of_b) = (a.a_block(), b.a_block());
        let bit = 1 << (of_a ^ of_b).max(1).ilog2();
        let halves = match of_a & bit {
            0 => [a.clone(), b.clone()],
            _ => [b.clone(), a.clone()],
        };
        a.halves_of(of_a, bit, halves)
    }

    /// One of its blocks.
    fn a_block(&self) -> u32 {
        match &self.part {
            Part::Block { block, .. } => *block,
            Part::Halves { blocks, .. } => *blocks,
        }
    }
}

impl Drop for Knowledge {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Relaxed);
    }
}

/// The bits of a block's number above `bit`.
fn above(block: u32, bit: u32) -> u32 {
    block & !(bit | (bit - 1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Map = BTreeMap<u32, Vec<u32>>;

    /// Numbers that follow from a seed (xorshift, Marsaglia 2003).
    struct Random(u32);

    impl Random {
        fn below(&mut self, end: u32) -> u32 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 17;
            self.0 ^= self.0 << 5;
            self.0 % end
        }
    }

    /// Some blocks of two threads each, near and far, in one way and the other.
    fn some(random: &mut Random, all: &Arc<AtomicUsize>) -> (Map, Arc<Knowledge>) {
        let (mut map, mut tree) = (Map::new(), None);
        for _ in 0..=random.below(20) {
            let block = random.below(40) << random.below(27);
            let times = vec![random.below(5), random.below(5)];
            let of_block = Knowledge::of_block(block, times.clone(), all);
            tree = Some(tree.map_or(of_block.clone(), |tree| Knowledge::joined(&tree, &of_block)));
            join(&mut map, &[(block, times)].into());
        }
        (map, tree.unwrap())
    }

    fn join(map: &mut Map, other: &Map) {
        for (block, times) in other {
            let known = map.entry(*block).or_insert_with(|| vec![0; times.len()]);
            known.iter_mut().zip(times).for_each(|(a, b)| *a = (*a).max(*b));
        }
    }

    fn assert_same(map: &Map, tree: &Knowledge) {
        for block in (0..40).flat_map(|block| (0..27).map(move |shift| block << shift)) {
            for thread in 0..3 {
                let expected = map.get(&block).and_then(|times| times.get(thread as usize));
                assert_eq!(tree.time(block, thread), expected.copied(), "{block} {thread}");
            }
        }
    }

    #[test]
    fn joined_is_what_a_map_gives() {
        let (all, mut random) = (Arc::new(AtomicUsize::new(0)), Random(1));
        for _ in 0..200 {
            let ((mut map, a), (other, b)) = (some(&mut random, &all), some(&mut random, &all));
            assert_same(&map, &a);
            join(&mut map, &other);
            let both = Knowledge::joined(&a, &b);
            assert_same(&map, &both);
            // Nothing new is no new memory.
            assert!(Arc::ptr_eq(&Knowledge::joined(&both, &a), &both));
            assert!(Arc::ptr_eq(&Knowledge::joined(&b, &both), &both));
        }
        assert_eq!(all.load(Relaxed), 0, "what is gone is not counted");
    }

    #[test]
    fn a_chain_of_blocks_shares_what_they_know() {
        let all = Arc::new(AtomicUsize::new(0));
        let first = Knowledge::of_block(0, vec![1], &all);
        let chain = (1..10_000).scan(first, |known, block| {
            let own = Knowledge::of_block(block, vec![1], &all);
            *known = Knowledge::joined(known, &own);
            Some(known.clone())
        });
        let chain: Vec<_> = chain.collect();
        // Each has a path of its own from the root, of at most 14 parts for 10,000 blocks, and its block.
        assert!(all.load(Relaxed) <= 10_000 * (15 * OF_PART + 4), "{all:?}");
        assert_eq!(chain[500].time(501, 0), Some(1));
        assert_eq!(chain[500].time(502, 0), None);
    }
}

//! What happened before what, among the threads of a block.
//!
//! Each thread counts its meetings with others (barriers, operations of its warp). An access carries its thread's
//! count; it happened before another thread's access if that thread knows of the count. What a thread knows comes
//! from meetings: of the whole block (the common case, kept once), of its warp, or of any others.

use std::sync::Arc;

use super::env::WARP;

/// The clocks of a block's threads.
#[derive(Debug)]
pub(super) struct Clocks {
    now: Vec<u32>,
    /// What all threads know of each.
    common: Vec<u32>,
    /// What a thread knows of the lanes of its warp.
    warp: Vec<[u32; WARP]>,
    /// What a thread knows besides, after barriers of some threads only.
    other: Vec<Option<Arc<Vec<u32>>>>,
    /// What those knew that arrived at a barrier without waiting.
    arrived: Vec<Option<Vec<u32>>>,
}

impl Clocks {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            now: vec![1; threads],
            common: vec![0; threads],
            warp: vec![[0; WARP]; threads],
            other: vec![None; threads],
            arrived: vec![None; 16],
        }
    }

    pub(super) fn now(&self, thread: u32) -> u32 {
        self.now[thread as usize]
    }

    /// Whether what thread `other` did at `time` happened before what `thread` does now.
    pub(super) fn is_before(&self, other: u32, time: u32, thread: u32) -> bool {
        other == thread || time <= self.known(thread as usize, other as usize)
    }

    fn known(&self, thread: usize, of: usize) -> u32 {
        let warp = if thread / WARP == of / WARP { self.warp[thread][of % WARP] } else { 0 };
        let other = self.other[thread].as_ref().map_or(0, |other| other[of]);
        self.common[of].max(warp).max(other)
    }

    /// What a thread does from now on is later than what it did.
    pub(super) fn advance(&mut self, thread: u32) {
        self.now[thread as usize] += 1;
    }

    /// Everything that a thread knows, of itself the present.
    pub(super) fn knowledge(&self, thread: usize) -> Vec<u32> {
        let mut known: Vec<u32> = (0..self.now.len()).map(|of| self.known(thread, of)).collect();
        known[thread] = self.now[thread];
        known
    }

    /// All threads that are left meet; what others did that have ended counts, too.
    pub(super) fn join_all(&mut self) {
        self.common.copy_from_slice(&self.now);
        self.now.iter_mut().for_each(|now| *now += 1);
        self.other.fill(None);
    }

    /// Some threads meet, at a barrier `id` or in their warp.
    pub(super) fn join(&mut self, threads: &[u32], id: Option<usize>) {
        let Some(&first) = threads.first() else { return };
        let one_warp =
            threads.iter().all(|thread| *thread as usize / WARP == first as usize / WARP);
        let plain = threads.iter().all(|thread| self.other[*thread as usize].is_none());
        let arrived = id.and_then(|id| self.arrived[id].take());
        if one_warp && plain && arrived.is_none() {
            self.join_lanes(threads);
        } else {
            let mut all = arrived.unwrap_or_else(|| vec![0; self.now.len()]);
            for &thread in threads {
                merge(&mut all, &self.knowledge(thread as usize));
            }
            let all = Arc::new(all);
            threads.iter().for_each(|thread| self.other[*thread as usize] = Some(all.clone()));
        }
        threads.iter().for_each(|thread| self.now[*thread as usize] += 1);
    }

    fn join_lanes(&mut self, threads: &[u32]) {
        let mut all = [0; WARP];
        for &thread in threads {
            let thread = thread as usize;
            merge(&mut all, &self.warp[thread]);
            all[thread % WARP] = all[thread % WARP].max(self.now[thread]);
        }
        threads.iter().for_each(|thread| self.warp[*thread as usize] = all);
    }

    /// A thread arrives at barrier `id` and goes on.
    pub(super) fn arrive(&mut self, thread: u32, id: usize) {
        let mut known = self.knowledge(thread as usize);
        if let Some(others) = &self.arrived[id] {
            merge(&mut known, others);
        }
        self.arrived[id] = Some(known);
        self.now[thread as usize] += 1;
    }
}

fn merge(all: &mut [u32], more: &[u32]) {
    all.iter_mut().zip(more).for_each(|(all, more)| *all = (*all).max(*more));
}

#[cfg(test)]
mod tests {
    use super::Clocks;

    #[test]
    fn meetings_order_what_went_before() {
        let mut clocks = Clocks::new(96);
        let time = clocks.now(3);
        assert!(clocks.is_before(3, time, 3), "a thread is in order with itself");
        assert!(!clocks.is_before(3, time, 4));
        clocks.join(&[3, 4], None);
        assert!(clocks.is_before(3, time, 4));
        assert!(!clocks.is_before(3, time, 5));
        assert!(!clocks.is_before(3, clocks.now(3), 4), "only what went before");
        clocks.join(&[4, 70], Some(1));
        assert!(clocks.is_before(3, time, 70), "knowledge is passed on");
        assert!(!clocks.is_before(3, time, 71));
        clocks.join(&[70, 71], None);
        assert!(clocks.is_before(3, time, 71));
        clocks.join_all();
        assert!(clocks.is_before(3, time, 95));
        let later = clocks.now(3);
        assert!(!clocks.is_before(3, later, 95));
        clocks.arrive(3, 2);
        assert!(!clocks.is_before(3, later, 95));
        clocks.join(&[95, 94], Some(2));
        assert!(clocks.is_before(3, later, 95));
        assert!(!clocks.is_before(95, clocks.now(95) - 1, 3), "who only arrives learns nothing");
    }
}

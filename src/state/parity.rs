//! Which half of a double resource is the last one.

/// Halves that take turns: two where a resource is double, else only one.
#[derive(Debug)]
pub(crate) struct Parity {
    halves: usize,
    /// The half that holds the content once the work put on the stream has ended.
    last: usize,
    /// The half that holds the content after the last finished step.
    finished: usize,
}

impl Parity {
    /// Of a resource that is double, or is not.
    pub(crate) fn new(double: bool) -> Self {
        Self { halves: if double { 2 } else { 1 }, last: 0, finished: 0 }
    }

    /// All halves, by index.
    pub(crate) fn halves(&self) -> std::ops::Range<usize> {
        0..self.halves
    }

    /// The half that kernels see as the last one, or as the one that is being written.
    pub(crate) fn half(&self, next: bool) -> usize {
        (self.last + usize::from(next)) % self.halves
    }

    /// All halves: the last one, and behind it the one that is being written.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = usize> + use<> {
        let (last, halves) = (self.last, self.halves);
        (0..halves).map(move |behind| (last + behind) % halves)
    }

    /// What was being written has been written.
    pub(crate) fn swap(&mut self) {
        self.last = self.half(true);
    }

    /// The work put on the stream has ended well.
    pub(crate) fn finish(&mut self) {
        self.finished = self.last;
    }

    /// That work has faulted: the other half, unless it was written again, still has what was there before.
    pub(crate) fn abandon(&mut self) {
        self.last = self.finished;
    }
}

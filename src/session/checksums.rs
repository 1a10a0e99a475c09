//! What the bits of past states were, and whether the same were had again.
//!
//! The steps from one copy to the next are had again by doing them once more. Where kernels add floats atomically, or
//! read clocks, other bits come out, and nothing in the copies tells. So each copy has a checksum, which stays when the
//! copy is forgotten; the first time that steps up to it are done again, it is compared.

use std::collections::{BTreeMap, BTreeSet};

use super::Error;
use crate::array::PendingChecksum;

/// Those of a line's steps of one program, by how many steps were finished.
#[derive(Default)]
pub(super) struct Checksums {
    first: BTreeMap<u64, Sum>,
    /// Of the steps that were done again.
    again: Vec<(u64, PendingChecksum)>,
    /// Up to which of them the steps were done again and compared, or are about to be.
    compared: BTreeSet<u64>,
    /// Where other bits came out.
    others: BTreeSet<u64>,
}

enum Sum {
    Pending(PendingChecksum),
    Known(u64),
}

impl Checksums {
    /// Notes what the state was after `step` steps.
    pub(super) fn note(&mut self, step: u64, sum: Option<PendingChecksum>) {
        if let Some(sum) = sum {
            self.first.insert(step, Sum::Pending(sum));
        }
    }

    /// Notes what it was when the steps had been done again.
    pub(super) fn note_again(&mut self, step: u64, sum: Option<PendingChecksum>) {
        self.compared.insert(step);
        self.again.extend(sum.map(|sum| (step, sum)));
    }

    /// Up to where the steps are to be done again, from a copy after `from` steps, before the state after `step` steps
    /// is shown, so that it is known whether the same bits come out; `None` where that is known, or nothing tells.
    pub(super) fn uncompared(&self, from: u64, step: u64) -> Option<u64> {
        if from == step {
            return None;
        }
        let (next, _) = self.first.range(step..).next()?;
        Some(*next).filter(|next| !self.compared.contains(next))
    }

    /// Steps that were not had again with the same bits: from one checksum, which was, to the other, which was not.
    pub(super) fn others(&self) -> impl Iterator<Item = [u64; 2]> {
        self.others.iter().map(|step| {
            let before = self.first.range(..step).next_back();
            [before.map_or(*step, |(before, _)| *before), *step]
        })
    }

    /// Takes over what has come, so that no memory is held for it, and compares.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        self.take_over()?;
        let mut waiting = Vec::new();
        for (step, again) in std::mem::take(&mut self.again) {
            if !again.is_ready()? {
                waiting.push((step, again));
                continue;
            }
            let again = again.wait()?;
            if self.first(step)?.is_some_and(|first| first != again) {
                self.others.insert(step);
            }
        }
        self.again = waiting;
        Ok(())
    }

    /// The first checksum after `step` steps, which was computed before those that came again.
    fn first(&mut self, step: u64) -> Result<Option<u64>, Error> {
        let known = match self.first.remove(&step) {
            None => return Ok(None),
            Some(Sum::Pending(pending)) => pending.wait()?,
            Some(Sum::Known(known)) => known,
        };
        self.first.insert(step, Sum::Known(known));
        Ok(Some(known))
    }

    fn take_over(&mut self) -> Result<(), Error> {
        // They come in order, so that those on their way are the last ones.
        let pending = self.first.iter().rev().map_while(|(step, sum)| match sum {
            Sum::Pending(pending) => Some((*step, pending)),
            Sum::Known(_) => None,
        });
        for (step, pending) in pending.map(|(step, sum)| (step, sum.is_ready())).collect::<Vec<_>>()
        {
            if pending? {
                self.first(step)?;
            }
        }
        Ok(())
    }
}

//! Digests of what a run's resources held, by which whoever repeats it knows whether the same came out.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Arrival, Error, Session, moment::Moment};
use crate::state::{HostCopy, Subject};

/// The bytes of a digest.
const DIGEST: usize = 16;
/// So many digests of past steps are in a file, where that are few bytes.
const MOST_DIGESTS: usize = 256;
/// So many bytes are.
const DIGESTED_BYTES: usize = 256 << 20;
/// So many digests are in it of states of whatever size.
const FEWEST_DIGESTS: usize = 16;

/// What the resources held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// Steps that were finished.
    pub step: u64,
    /// The first 16 bytes of SHA-256 of each resource's content, in hexadecimal digits.
    pub resources: BTreeMap<String, String>,
}

impl Digests {
    /// Of what `copy` is a copy of: the last halves of the resources.
    pub(super) fn of(copy: &HostCopy) -> Self {
        let mut digests = Self { step: copy.inputs.step, resources: BTreeMap::new() };
        copy.contents().into_iter().for_each(|(of, bytes)| digests.note(of, bytes));
        digests
    }

    /// Notes what `of` holds, where that is the last half of a resource.
    fn note(&mut self, of: &Subject, bytes: &[u8]) {
        match of {
            Subject::Half { resource, half: 0 } => {
                self.resources.insert(resource.name.clone(), digest(bytes));
            }
            Subject::Half { .. } | Subject::Variable { .. } => {}
        }
    }

    /// The first resource that differs from `other`'s of the same step, or that one of both does not have.
    pub fn first_other<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        let mut names = self.resources.keys().chain(other.resources.keys());
        let other = names.find(|name| self.resources.get(*name) != other.resources.get(*name));
        other.map(String::as_str)
    }
}

/// The first bytes of SHA-256, in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    let all = Sha256::digest(bytes);
    all.iter().take(DIGEST).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Those of `copies` of which digests are in the file of a run of so many steps, if none has more than so many bytes:
/// as many as may be, no two of them closer together than need be for it.
fn digested(mut copies: Vec<Moment>, steps: u64, bytes: usize) -> Vec<Moment> {
    // The latest line's comes first where several have one of a step.
    copies.sort_by_key(|copy| copy.step);
    let most = (DIGESTED_BYTES / bytes.max(1)).clamp(FEWEST_DIGESTS, MOST_DIGESTS);
    let every = steps.div_ceil(most as u64).max(1);
    let mut next = 0;
    copies.retain(|copy| {
        let is_wanted = copy.step >= next;
        next = if is_wanted { copy.step + every } else { next };
        is_wanted
    });
    copies
}

impl Session {
    /// Some moments that led to the present one and of which there are copies.
    pub(super) fn digested_moments(&self) -> Vec<Moment> {
        let Some(history) = &self.history else { return Vec::new() };
        let copies = history.copies(self.moment());
        let bytes = copies.iter().filter_map(|copy| Some(history.checkpoint(*copy)?.bytes())).max();
        digested(copies, self.state.inputs.step, bytes.unwrap_or(0))
    }

    /// Digests of what the resources hold now. Waits for them, and needs memory for the largest resource alone.
    ///
    /// # Errors
    /// The device's.
    pub fn digests(&mut self) -> Result<Digests, Error> {
        self.complete_in_flight()?;
        let mut digests = Digests { step: self.state.inputs.step, resources: BTreeMap::new() };
        self.each_content(|of, bytes| {
            digests.note(of, bytes);
            Ok(())
        })?;
        Ok(digests)
    }

    /// As [`Session::digests`], and waits for nothing, by way of a copy of the resources. `None` while the state is
    /// being changed.
    ///
    /// # Errors
    /// The device's; [`Error::Thread`].
    pub fn start_digests(&mut self) -> Result<Option<Arrival<Digests>>, Error> {
        let program = self.program.clone();
        let resources = program.iter().flat_map(|program| program.scene.manifest.resources());
        let names: Vec<&str> = resources.map(|resource| &*resource.name).collect();
        let Some(download) = self.start_download(&names)? else { return Ok(None) };
        Arrival::begin(download, |copy| Ok(Digests::of(&copy))).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_many_digests_of_small_states_and_some_of_large_ones() {
        let copies = |steps: &mut dyn Iterator<Item = u64>| -> Vec<Moment> {
            steps.map(|step| Moment { line: 0, step }).collect()
        };
        let steps = |of: &[Moment]| of.iter().map(|copy| copy.step).collect::<Vec<_>>();
        let few = copies(&mut (0..200));
        assert_eq!(digested(few.clone(), 200, 1000), few);
        let many = copies(&mut (0..10_000));
        assert_eq!(
            steps(&digested(many.clone(), 10_000, 1000)),
            Vec::from_iter((0..10_000).step_by(40))
        );
        assert_eq!(
            steps(&digested(many, 10_000, 1 << 30)),
            Vec::from_iter((0..10_000).step_by(625))
        );
        // Where most are of the last steps, those before are there still.
        let uneven = copies(&mut [0, 15, 700].into_iter().chain(900..1000));
        let found = steps(&digested(uneven, 1000, 1 << 30));
        assert_eq!(found, [0, 700, 900, 963]);
        // Of two lines' the latest one's.
        let both = vec![Moment { line: 1, step: 5 }, Moment { line: 0, step: 5 }];
        assert_eq!(digested(both, 9, 1000), [Moment { line: 1, step: 5 }]);
    }
}

//! What is known of how A and B compare, since both had the same state.

use super::{
    compared::{Compared, Unlike, in_common},
    comparer::Found,
    pass_times::{PassRatio, PassTimes},
};
use crate::{
    scene::Resource,
    session::{Error, PassTiming},
};

/// The times of so many steps count, the last ones.
const MOST_STEPS: usize = 240;

/// All that is shown of a comparison but its phase.
pub(super) struct Figures {
    /// Counts how often they began anew.
    pub(super) round: u64,
    /// Steps finished when they did.
    pub(super) since: u64,
    /// Steps finished when resources were compared last.
    pub(super) step: Option<u64>,
    pub(super) resources: Vec<Compared>,
    pub(super) unlike: Vec<Unlike>,
    pub(super) passes: Vec<PassRatio>,
    times: PassTimes,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            round: 0,
            since: 0,
            step: None,
            resources: Vec::new(),
            unlike: Vec::new(),
            passes: Vec::new(),
            times: PassTimes::of_last(MOST_STEPS),
        }
    }
}

impl Figures {
    /// Begins anew after `step` steps, for these resources of both sides.
    pub(super) fn restart(&mut self, step: u64, resources: [&[Resource]; 2]) {
        let (resources, unlike) = in_common(resources);
        *self = Self { round: self.round + 1, since: step, resources, unlike, ..Self::default() };
    }

    /// Whether some resource was seen to differ.
    pub(super) fn have_parted(&self) -> bool {
        self.resources.iter().any(|resource| resource.first.is_some())
    }

    /// Adds a step of both sides.
    pub(super) fn add_times(&mut self, sides: &[Vec<PassTiming>; 2]) {
        self.times.add(sides);
        self.passes = self.times.ratios();
    }

    /// Adds how the resources differ, unless that was asked for before they began anew.
    pub(super) fn add(&mut self, found: Found) -> Result<(), Error> {
        let Found { round, step, differences } = found;
        let differences = differences?;
        if round == self.round {
            self.step = Some(step);
            for (compared, difference) in self.resources.iter_mut().zip(differences) {
                compared.add(step, difference);
            }
        }
        Ok(())
    }
}

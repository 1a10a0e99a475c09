//! How the statistics of every component have changed: a sample for each time they were taken.

use std::collections::{BTreeMap, VecDeque};

use crate::session::Snapshot;

/// So many samples are kept of each.
const MOST: usize = 512;

/// What a component was at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The step.
    pub step: u64,
    /// The least value.
    pub min: f64,
    /// The mean of the finite ones.
    pub mean: f64,
    /// The greatest.
    pub max: f64,
}

/// The samples of each component of each resource.
#[derive(Debug, Default)]
pub struct Trends {
    of: BTreeMap<String, Vec<VecDeque<Sample>>>,
}

impl Trends {
    /// Takes what a snapshot has that is new. Steps that come again, after a reset or a look at the past, take the
    /// place of those that were there.
    pub fn observe(&mut self, snapshot: &Snapshot) {
        for resource in snapshot.resources.iter().filter(|resource| !resource.components.is_empty())
        {
            let step = resource.step;
            let samples = self.of.entry(resource.name.clone()).or_default();
            samples.resize_with(resource.components.len(), VecDeque::new);
            for (samples, of) in samples.iter_mut().zip(&resource.components) {
                while samples.back().is_some_and(|last| last.step >= step) {
                    samples.pop_back();
                }
                samples.push_back(Sample { step, min: of.min, mean: of.mean, max: of.max });
                if samples.len() > MOST {
                    samples.pop_front();
                }
            }
        }
    }

    /// Those of a component, oldest first.
    pub fn of(&self, resource: &str, component: usize) -> impl Iterator<Item = Sample> {
        self.of.get(resource).and_then(|of| of.get(component)).into_iter().flatten().copied()
    }

    /// Forgets all: another scene is open.
    pub fn clear(&mut self) {
        self.of.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{session::Statistics, studio::test_screen::snapshot};

    #[test]
    fn a_step_that_comes_again_takes_its_place() {
        let (mut trends, mut snapshot) = (Trends::default(), snapshot());
        for (step, mean) in [(1, 0.5), (2, 0.6), (2, 0.6), (4, 0.8), (2, 7.0)] {
            snapshot.resources[0].step = step;
            snapshot.resources[0].components = vec![Statistics { mean, ..Statistics::of_all(&[]) }];
            trends.observe(&snapshot);
        }
        let found: Vec<_> =
            trends.of("position", 0).map(|sample| (sample.step, sample.mean)).collect();
        assert_eq!(found, [(1, 0.5), (2, 7.0)]);
        assert_eq!(trends.of("other", 0).count() + trends.of("position", 1).count(), 0);
    }
}

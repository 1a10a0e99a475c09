//! The times of the passes that two programs have in common, measured in turns.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use crate::session::PassTiming;

/// The times of passes of the same name.
#[derive(Debug)]
pub(crate) struct PassTimes {
    passes: Vec<Pass>,
    /// The last so many steps count.
    most: usize,
}

#[derive(Debug)]
struct Pass {
    name: String,
    /// Its place among the passes of each side.
    places: [usize; 2],
    /// Milliseconds of each step.
    ms: VecDeque<[f32; 2]>,
}

/// How long a pass takes on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassRatio {
    /// The pass, as the manifest names it.
    pub name: String,
    /// The second side's time by the first one's, step by step: first quartile, median, third quartile. `None` where
    /// no step took a time that can be measured.
    pub ratio: Option<[f64; 3]>,
    /// The median of either side, in milliseconds.
    pub median_ms: [f64; 2],
}

impl PassTimes {
    /// Of the last `most` steps.
    pub(crate) fn of_last(most: usize) -> Self {
        Self { passes: Vec::new(), most }
    }

    /// Adds a step of both sides, whose passes are always the same ones.
    pub(crate) fn add(&mut self, sides: &[Vec<PassTiming>; 2]) {
        if self.passes.is_empty() {
            self.passes = in_common(sides);
        }
        for pass in &mut self.passes {
            let [a, b] = [0, 1].map(|side| sides[side].get(pass.places[side]));
            if let Some((a, b)) = a.zip(b) {
                if pass.ms.len() == self.most {
                    pass.ms.pop_front();
                }
                pass.ms.push_back([a.last_ms, b.last_ms]);
            }
        }
    }

    /// What came out, in the first side's order.
    pub(crate) fn ratios(&self) -> Vec<PassRatio> {
        self.passes.iter().map(Pass::ratio).collect()
    }
}

/// The passes of both sides; of several with one name the first with the first, and so on.
fn in_common([a, b]: &[Vec<PassTiming>; 2]) -> Vec<Pass> {
    let mut known: BTreeMap<&str, VecDeque<usize>> = BTreeMap::new();
    for (place, pass) in b.iter().enumerate() {
        known.entry(&pass.name).or_default().push_back(place);
    }
    let pair = |(place, pass): (usize, &PassTiming)| {
        let other = known.get_mut(pass.name.as_str())?.pop_front()?;
        Some(Pass { name: pass.name.clone(), places: [place, other], ms: VecDeque::new() })
    };
    a.iter().enumerate().filter_map(pair).collect()
}

impl Pass {
    /// Clocks drift, and what else runs comes and goes: the two times of one step have most of that in common.
    fn ratio(&self) -> PassRatio {
        let ratios = self.ms.iter().map(|ms| ms.map(f64::from)).filter(|ms| ms[0].min(ms[1]) > 0.0);
        let mut ratios = ratios.map(|[a, b]| b / a).peekable();
        let of = |side: usize| quartiles(self.ms.iter().map(|ms| f64::from(ms[side])));
        PassRatio {
            name: self.name.clone(),
            ratio: ratios.peek().is_some().then(|| quartiles(ratios)),
            median_ms: [0, 1].map(|side| of(side)[1]),
        }
    }
}

/// The lower quartile, the median and the upper quartile, as numpy's `percentile` has them; 0 where there are none.
pub(crate) fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|q| quantile(&values, q))
}

/// A quantile of sorted values, linear between two of them; 0 where there are none.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * sorted.len().saturating_sub(1) as f64;
    let value = |at: f64| sorted.get(at as usize).copied().unwrap_or(0.0);
    let (low, high) = (value(at.floor()), value(at.ceil()));
    low + (high - low) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(times: &[(&str, f32)]) -> Vec<PassTiming> {
        let pass = |&(name, last_ms): &(&str, f32)| PassTiming {
            name: name.to_owned(),
            last_ms,
            history_ms: Vec::new(),
            bytes: None,
            flops: None,
        };
        times.iter().map(pass).collect()
    }

    /// The quartiles of numpy's `percentile([1.25, 1.5, 1.75, 2.0], [25, 50, 75])`.
    #[test]
    fn quartiles_are_those_of_the_ratios_of_each_step() {
        let mut times = PassTimes::of_last(4);
        for (a, b) in [(1.0, 1.5), (4.0, 5.0), (8.0, 16.0), (2.0, 3.5)] {
            times.add(&[passes(&[("k", a)]), passes(&[("k", b)])]);
        }
        let ratios = times.ratios();
        assert_eq!(ratios[0].ratio, Some([1.4375, 1.625, 1.8125]));
        assert_eq!(ratios[0].median_ms, [3.0, 4.25]);
        // Only the last ones count.
        for _ in 0..4 {
            times.add(&[passes(&[("k", 2.0)]), passes(&[("k", 6.0)])]);
        }
        assert_eq!(times.ratios()[0].ratio, Some([3.0; 3]));
    }

    #[test]
    fn passes_are_found_by_their_names() {
        let mut times = PassTimes::of_last(4);
        let a = passes(&[("add", 1.0), ("only", 1.0), ("add", 2.0), ("add", 3.0), ("idle", 0.0)]);
        let b = passes(&[("idle", 0.0), ("add", 2.0), ("other", 1.0), ("add", 8.0)]);
        times.add(&[a, b]);
        let ratio = |name: &str, ratio: Option<f64>, median_ms| PassRatio {
            name: name.to_owned(),
            ratio: ratio.map(|ratio| [ratio; 3]),
            median_ms,
        };
        let expected = [
            ratio("add", Some(2.0), [1.0, 2.0]),
            ratio("add", Some(4.0), [2.0, 8.0]),
            ratio("idle", None, [0.0, 0.0]),
        ];
        assert_eq!(times.ratios(), expected);
        assert!(PassTimes::of_last(4).ratios().is_empty());
    }
}

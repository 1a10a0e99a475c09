//! The number that a check is about, and whether it is as demanded.

use std::fmt;

use crate::{
    scene::{Bound, Check, Manifest, Measured},
    session::{Snapshot, statistic_of},
};

/// The number that `measured` stands for after the statistics were taken; `None` where the resource has none.
pub(super) fn value(measured: Measured, snapshot: &Snapshot) -> Option<f64> {
    match measured {
        Measured::Stat(index) => snapshot.stats.get(index)?.value,
        Measured::Resource { of, components, statistic } => {
            statistic_of(statistic, components, &snapshot.resources.get(of.0)?.components)
        }
    }
}

/// What `measured` is called in the manifest.
pub(super) fn name(measured: Measured, manifest: &Manifest) -> String {
    match measured {
        Measured::Stat(index) => {
            manifest.stats.get(index).map_or_else(String::new, |stat| stat.name.clone())
        }
        Measured::Resource { of, components, statistic } => {
            let resource = manifest.resource(of);
            let (name, statistic) = (&resource.name, statistic.name());
            let path = components
                .and_then(|components| resource.of().path_of(components.first, components.count));
            match path {
                Some(path) => format!("{name}.{path}.{statistic}"),
                None => format!("{name}.{statistic}"),
            }
        }
    }
}

/// Whether `value`, which was `first` after the first step, is as `check` demands. NaN never is.
pub(super) fn holds(check: &Check, value: f64, first: f64) -> bool {
    check.bounds.iter().all(|bound| match *bound {
        Bound::Min(least) => value >= least,
        Bound::Max(greatest) => value <= greatest,
        Bound::Equals { value: expected, tolerance } => (value - expected).abs() <= tolerance,
        Bound::Drift(greatest) => drift(value, first) <= greatest,
    })
}

/// How far `value` is from `first`, relative to that.
fn drift(value: f64, first: f64) -> f64 {
    if value == first { 0.0 } else { ((value - first) / first).abs() }
}

/// The demands of a check in words: `min 2, equals 3 within 0.1`; with all digits, where `is_exact`.
pub(super) fn demand(
    check: &Check,
    value: Option<f64>,
    first: Option<f64>,
    is_exact: bool,
) -> String {
    let bounds = check.bounds.iter().map(|bound| match *bound {
        Bound::Min(least) => format!("min {}", told(least, is_exact)),
        Bound::Max(greatest) => format!("max {}", told(greatest, is_exact)),
        Bound::Equals { value, tolerance: 0.0 } => format!("equals {}", told(value, is_exact)),
        Bound::Equals { value, tolerance } => {
            format!("equals {} within {}", told(value, is_exact), Number(tolerance))
        }
        Bound::Drift(greatest) => {
            let found = value.zip(first).map_or_else(String::new, |(value, first)| {
                format!(" {} from {}", Number(drift(value, first)), Number(first))
            });
            format!("drift{found}, max {}", Number(greatest))
        }
    });
    bounds.collect::<Vec<_>>().join(", ")
}

/// A number as [`Number`] tells it, or with all its digits.
pub(super) fn told(value: f64, is_exact: bool) -> String {
    match is_exact {
        true => format!("{value:?}"),
        false => Number(value).to_string(),
    }
}

/// Whether `value` is told by the same digits as the number of `bound`.
pub(super) fn reads_as(bound: Bound, value: f64) -> bool {
    let bound = match bound {
        Bound::Min(bound) | Bound::Max(bound) | Bound::Equals { value: bound, .. } => bound,
        // What is told is how far it drifted.
        Bound::Drift(_) => return false,
    };
    Number(bound).to_string() == Number(value).to_string()
}

/// A number with as many digits as a person compares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub(super) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = *self;
        if value.trunc() == value && value.abs() < 1e15 {
            return write!(f, "{value:.0}");
        }
        // Nine digits tell any two `float`s apart; `Debug` takes an exponent where that is shorter.
        let short: f64 = format!("{value:.8e}").parse().unwrap_or(value);
        write!(f, "{short:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cuda::Position, scene::ResourceId};

    fn check(bounds: &[Bound]) -> Check {
        let statistic = crate::scene::Statistic::Mean;
        let of = Measured::Resource { of: ResourceId(0), components: None, statistic };
        Check { of, after: None, bounds: bounds.to_vec(), at: Position::default() }
    }

    #[test]
    fn every_bound_must_hold() {
        let within = Bound::Equals { value: 2.0, tolerance: 0.5 };
        for (bounds, value, first, expected) in [
            (&[Bound::Min(1.0), Bound::Max(2.0)][..], 2.0, 0.0, true),
            (&[Bound::Min(1.0), Bound::Max(2.0)], 2.1, 0.0, false),
            (&[Bound::Min(1.0), Bound::Max(2.0)], 0.9, 0.0, false),
            (&[within], 2.5, 0.0, true),
            (&[within], 1.4, 0.0, false),
            (&[Bound::Drift(0.1)], 1.1, 1.0, false), // 1.1 is above it in binary
            (&[Bound::Drift(0.1)], -0.95, -1.0, true),
            (&[Bound::Drift(0.1)], 0.0, 0.0, true),
            (&[Bound::Drift(0.1)], 1e-9, 0.0, false),
        ] {
            assert_eq!(holds(&check(bounds), value, first), expected, "{bounds:?} {value}");
        }
        for bound in [Bound::Min(0.0), Bound::Max(0.0), within, Bound::Drift(1e9)] {
            assert!(!holds(&check(&[bound]), f64::NAN, 1.0), "{bound:?}");
        }
    }

    #[test]
    fn numbers_are_short() {
        let told = |value| Number(value).to_string();
        for (value, text) in [
            (0.0, "0"),
            (-12.0, "-12"),
            (262_144.0, "262144"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333"),
            (6.02214076e23, "6.02214076e23"),
            (1.5e-9, "1.5e-9"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(told(value), text);
        }
    }
}

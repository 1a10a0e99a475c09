//! Statistics that a manifest asks for, and the checks of the test mode.

use super::{Components, ResourceId, ViewId, named::named};
use crate::cuda::Position;

/// A reduction of a mapped resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Stat {
    /// The name to show; may contain blanks.
    pub name: String,
    /// The resource reduced.
    pub of: ResourceId,
    /// A CUDA C++ expression of the element `x` and its place `i`.
    pub map: String,
    /// Where the expression starts; in the quotes, where it is the manifest's own.
    pub map_at: Position,
    /// How the mapped values are brought together.
    pub reduce: Reduce,
    /// Where it is declared.
    pub at: Position,
}

named! {
    /// How values are brought together.
    Reduce {
        /// Their sum.
        Sum = "sum",
        /// The least.
        Min = "min",
        /// The greatest.
        Max = "max",
        /// Their mean.
        Mean = "mean",
    }
}

named! {
    /// A statistic that every resource has.
    Statistic {
        /// Values looked at.
        Count = "count",
        /// Sum of the finite values.
        Sum = "sum",
        /// Least finite value.
        Min = "min",
        /// Greatest finite value.
        Max = "max",
        /// Mean of the finite values.
        Mean = "mean",
        /// Standard deviation of the finite values.
        Std = "std",
        /// How many are NaN.
        Nan = "nan",
        /// How many are infinite.
        Inf = "inf",
    }
}

/// A statement about a run that is true or false.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The number it is about.
    pub of: Measured,
    /// The step after which it is checked; `None`: the last one.
    pub after: Option<u64>,
    /// What must hold; at least one.
    pub bounds: Vec<Bound>,
    /// Where it is declared.
    pub at: Position,
}

/// What came out once, was looked at and kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Golden {
    /// What is compared.
    pub of: Kept,
    /// The file, from the scene's folder.
    pub file: String,
    /// The step after which it is compared; `None`: the last one.
    pub after: Option<u64>,
    /// Greatest difference allowed: of a picture the mean of its channels, of 255; of an array that of each number.
    pub tolerance: f64,
    /// Where it is declared.
    pub at: Position,
}

/// What a [`Golden`] keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kept {
    /// What a view of the scene shows.
    Image {
        /// Which.
        view: ViewId,
        /// Width and height in pixels.
        size_px: [u32; 2],
        /// Greatest share of pixels that may be quite different.
        outliers: f64,
        /// Whether the legend is in it.
        legend: bool,
    },
    /// A resource's contents.
    Array {
        /// Which.
        of: ResourceId,
        /// Difference allowed beside `tolerance`, relative to the number expected.
        relative: f64,
    },
}

/// A number that a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The manifest's own, an index into [`Manifest::stats`](super::Manifest::stats).
    Stat(usize),
    /// One of those that every resource has; of all components or of one.
    Resource {
        /// Whose.
        of: ResourceId,
        /// Of which of its components; `None`: all together.
        components: Option<Components>,
        /// Which.
        statistic: Statistic,
    },
}

/// What a check demands of its number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// At least this.
    Min(f64),
    /// At most this.
    Max(f64),
    /// This, within a tolerance.
    Equals {
        /// Expected value.
        value: f64,
        /// Greatest difference allowed.
        tolerance: f64,
    },
    /// At most this far from its value after the first step, relative to that value.
    Drift(f64),
}

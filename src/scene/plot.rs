//! What of a scene's numbers is plotted.

use super::{Measured, Selection};
use crate::cuda::Position;

/// A plot of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What commands call it: no other plot of the scene has this name.
    pub name: String,
    /// To show; the name where the manifest gives none.
    pub title: String,
    /// Of what.
    pub kind: PlotKind,
    /// Whether the axis of the values is logarithmic.
    pub log: bool,
    /// Unit of the values; may be empty.
    pub unit: String,
    /// Where it is declared.
    pub at: Position,
}

/// What a [`Plot`] shows.
#[derive(Clone, Debug, PartialEq)]
pub enum PlotKind {
    /// Statistics over the steps.
    Time {
        /// Each with what the manifest calls it.
        of: Vec<(String, Measured)>,
    },
    /// How often values are in each of several ranges.
    Histogram {
        /// Of what.
        of: Selection,
        /// How many ranges there are, all of one width.
        bins: u32,
        /// Where the first begins and the last ends; `None`: the least and the greatest value.
        range: Option<[f64; 2]>,
    },
    /// Values side by side.
    Line {
        /// Of what.
        of: Selection,
        /// Which.
        along: Along,
    },
}

/// Which values a line goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Elements of a buffer or array, each of which lies the same number of elements behind the one before.
    Elements {
        /// The first.
        first: u64,
        /// How far the next one is.
        step: u64,
        /// How many there are.
        count: u64,
    },
    /// A row of a flat texture.
    Row(u32),
    /// A column of a flat texture.
    Column(u32),
}

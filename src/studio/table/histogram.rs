//! How the values of a column are spread.

use super::{GoOn, Halt, RUN, content::Content, rows::Rows};

/// Bars of a histogram.
pub const BARS: usize = 64;

/// How the values of a column are spread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// The least and the greatest finite value.
    pub range: [f64; 2],
    /// How many are in each of equal parts of it.
    pub bars: Vec<u64>,
}

pub(super) fn histogram(
    content: &Content,
    rows: &Rows,
    column: usize,
    go_on: GoOn<'_>,
) -> Result<Histogram, Halt> {
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    each_finite(content, rows, column, go_on, |value| {
        range = [range[0].min(value), range[1].max(value)];
    })?;
    let [low, high] = range;
    if low > high {
        return Ok(Histogram::default());
    }
    // Halves of them, as their distance may be more than any number.
    let width = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
    let mut bars = vec![0; BARS];
    each_finite(content, rows, column, go_on, |value| {
        let at = ((value / 2.0 - low / 2.0) / width * BARS as f64) as usize;
        bars[at.min(BARS - 1)] += 1;
    })?;
    Ok(Histogram { range, bars })
}

/// Gives `take` the finite values of a column in these rows.
fn each_finite(
    content: &Content,
    rows: &Rows,
    column: usize,
    go_on: GoOn<'_>,
    mut take: impl FnMut(f64),
) -> Result<(), Halt> {
    for row in 0..rows.count(content) {
        if row.is_multiple_of(RUN as u64) {
            go_on()?;
        }
        let value = content.value(rows.element(row), column);
        if value.is_finite() {
            take(value);
        }
    }
    Ok(())
}

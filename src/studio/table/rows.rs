//! Which elements are shown, in which order.

use std::ops::Range;

use super::content::Content;

/// So many rows are shown at once: a scroll bar over many more could not stop at each of them.
pub const PAGE: u64 = 100_000;

/// Which elements are shown, in which order.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Rows {
    /// All, as they lie in memory.
    #[default]
    All,
    /// These; no resource that is read has so many that an index needs more bits.
    These(Vec<u32>),
}

impl Rows {
    /// How many there are.
    pub fn count(&self, content: &Content) -> u64 {
        match self {
            Self::All => content.count(),
            Self::These(elements) => elements.len() as u64,
        }
    }

    /// The element in a row.
    pub fn element(&self, row: u64) -> u64 {
        match self {
            Self::All => row,
            Self::These(elements) => elements.get(row as usize).map_or(0, |of| u64::from(*of)),
        }
    }

    /// The row of an element.
    pub fn row(&self, element: u64) -> Option<u64> {
        match self {
            Self::All => Some(element),
            Self::These(elements) => {
                elements.iter().position(|of| u64::from(*of) == element).map(|row| row as u64)
            }
        }
    }

    /// How many pages they make, at least one.
    pub fn pages(&self, content: &Content) -> u64 {
        self.count(content).div_ceil(PAGE).max(1)
    }

    /// The rows of a page, the first of which is 0.
    pub fn page(&self, content: &Content, page: u64) -> Range<u64> {
        let count = self.count(content);
        let first = page.saturating_mul(PAGE).min(count);
        first..(first + PAGE).min(count)
    }
}

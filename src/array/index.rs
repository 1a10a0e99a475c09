//! Indices for parts of arrays, as numpy's basic indexing has them.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// What to take along an axis. The macro [`index!`](crate::index) writes lists of them.
///
/// ```
/// use warpaint::{array::{Index, Layout}, index};
///
/// // Along an axis that is known only when the program runs:
/// let axis = 1;
/// let mut last = vec![Index::from(..); axis];
/// last.push(Index::At(-1));
/// assert_eq!(last, index![.., -1]);
/// assert_eq!(Layout::contiguous(&[4, 6, 5])?.index(&last)?.shape(), [4, 5]);
/// # Ok::<(), warpaint::array::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// One element; the axis goes. Negative ones count from the end.
    At(isize),
    /// Every `step`th element from `start` to before `stop`; negative places count from the end, and those outside
    /// are moved to it. A negative step goes down.
    Range {
        /// First; the front, or the end when going down.
        start: Option<isize>,
        /// Not reached; the end, or before the front when going down.
        stop: Option<isize>,
        /// Not 0.
        step: isize,
    },
    /// A new axis of length 1 (`np.newaxis`).
    NewAxis,
    /// All axes that are not named (`...`).
    Ellipsis,
}

impl Index {
    /// The same range with another step.
    ///
    /// ```
    /// # use warpaint::{array::{Index, Layout}, index};
    /// let line = Layout::contiguous(&[10])?;
    /// let down = Index::from(..).step(-3);
    /// assert_eq!([down], index![..;-3]);
    /// assert_eq!(line.index(&[down])?.offset(), 9); // without ends, a negative step starts from the back
    /// assert_eq!(line.index(&index![7..2;-3])?.shape(), [2]);
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    #[must_use]
    pub fn step(self, step: isize) -> Self {
        match self {
            Self::Range { start, stop, .. } => Self::Range { start, stop, step },
            other => other,
        }
    }

    /// Whether it stands for one axis of the array.
    pub(super) fn takes_axis(self) -> bool {
        matches!(self, Self::At(_) | Self::Range { .. })
    }
}

impl From<isize> for Index {
    fn from(at: isize) -> Self {
        Self::At(at)
    }
}

impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Self {
        Self::Range { start: None, stop: None, step: 1 }
    }
}

impl From<Range<isize>> for Index {
    fn from(range: Range<isize>) -> Self {
        Self::Range { start: Some(range.start), stop: Some(range.end), step: 1 }
    }
}

impl From<RangeFrom<isize>> for Index {
    fn from(range: RangeFrom<isize>) -> Self {
        Self::Range { start: Some(range.start), stop: None, step: 1 }
    }
}

impl From<RangeTo<isize>> for Index {
    fn from(range: RangeTo<isize>) -> Self {
        Self::Range { start: None, stop: Some(range.end), step: 1 }
    }
}

/// The end of a range that reaches `last`; -1 is the last of all.
fn behind(last: isize) -> Option<isize> {
    last.checked_add(1).filter(|&stop| stop != 0)
}

impl From<RangeInclusive<isize>> for Index {
    /// `2..=-1` reaches the end.
    fn from(range: RangeInclusive<isize>) -> Self {
        Self::Range { start: Some(*range.start()), stop: behind(*range.end()), step: 1 }
    }
}

impl From<RangeToInclusive<isize>> for Index {
    /// `..=-1` reaches the end.
    fn from(range: RangeToInclusive<isize>) -> Self {
        Self::Range { start: None, stop: behind(range.end), step: 1 }
    }
}

/// A list of [`Index`]es: `index![1, 2..-1, ..;2, ...]` is numpy's `[1, 2:-1, ::2, ...]`.
///
/// An integer takes one element, a range a part (`;step` behind it gives a step), `new` makes an axis, and `...`
/// stands for all axes that are not named.
///
/// ```
/// use warpaint::{array::{GpuArray, Layout}, index};
///
/// let layout = Layout::contiguous(&[4, 6])?;
/// let part = layout.index(&index![-1, ..;-2])?;
/// assert_eq!((part.shape(), part.strides(), part.offset()), (&[3][..], &[-2][..], 23));
/// assert_eq!(layout.index(&index![..., new, 0])?.shape(), [4, 1]);
/// # Ok::<(), warpaint::array::Error>(())
/// ```
#[macro_export]
macro_rules! index {
    (@list [$($done:expr),*]) => { [$($done),*] };
    (@list [$($done:expr),*] ... $(, $($rest:tt)*)?) => {
        $crate::index!(@list [$($done,)* $crate::array::Index::Ellipsis] $($($rest)*)?)
    };
    (@list [$($done:expr),*] new $(, $($rest:tt)*)?) => {
        $crate::index!(@list [$($done,)* $crate::array::Index::NewAxis] $($($rest)*)?)
    };
    (@list [$($done:expr),*] $range:expr; $step:expr $(, $($rest:tt)*)?) => {
        $crate::index!(@list [$($done,)* $crate::index!(@one $range).step($step)] $($($rest)*)?)
    };
    (@list [$($done:expr),*] $index:expr $(, $($rest:tt)*)?) => {
        $crate::index!(@list [$($done,)* $crate::index!(@one $index)] $($($rest)*)?)
    };
    (@one $index:expr) => {{
        #[allow(clippy::reversed_empty_ranges, reason = "`2..-1` ends before the last one")]
        let index = $crate::array::Index::from($index);
        index
    }};
    ($($indices:tt)*) => { $crate::index!(@list [] $($indices)*) };
}

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
    /// The same, but that `last` is reached where the steps come to it.
    Through {
        /// First; the front, or the end when going down.
        start: Option<isize>,
        /// Where it ends, itself taken.
        last: isize,
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
    /// assert_eq!(line.index(&index![7..=1;-3])?.shape(), [3]); // 7, 4 and 1
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    #[must_use]
    pub fn step(self, step: impl TryInto<isize>) -> Self {
        match self {
            Self::Range { start, stop, .. } => Self::Range { start, stop, step: place(step) },
            Self::Through { start, last, .. } => Self::Through { start, last, step: place(step) },
            Self::At(_) | Self::NewAxis | Self::Ellipsis => self,
        }
    }

    /// Whether it stands for one axis of the array.
    pub(super) fn takes_axis(self) -> bool {
        match self {
            Self::At(_) | Self::Range { .. } | Self::Through { .. } => true,
            Self::NewAxis | Self::Ellipsis => false,
        }
    }
}

impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Self {
        Self::Range { start: None, stop: None, step: 1 }
    }
}

/// A place as it is counted here; those that are too large to be one are outside of every axis as they were.
fn place(at: impl TryInto<isize>) -> isize {
    at.try_into().unwrap_or(isize::MAX)
}

/// The stop of a range that reaches `last`: upwards -1 is the last of all, downwards 0.
pub(super) fn behind(last: isize, step: isize) -> Option<isize> {
    if step < 0 {
        return last.checked_sub(1).filter(|&stop| stop != -1);
    }
    last.checked_add(1).filter(|&stop| stop != 0)
}

/// Places and ranges of any type of integers.
macro_rules! indices {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Index {
            fn from(at: $integer) -> Self {
                Self::At(place(at))
            }
        }

        impl From<Range<$integer>> for Index {
            fn from(range: Range<$integer>) -> Self {
                Self::Range { start: Some(place(range.start)), stop: Some(place(range.end)), step: 1 }
            }
        }

        impl From<RangeFrom<$integer>> for Index {
            fn from(range: RangeFrom<$integer>) -> Self {
                Self::Range { start: Some(place(range.start)), stop: None, step: 1 }
            }
        }

        impl From<RangeTo<$integer>> for Index {
            fn from(range: RangeTo<$integer>) -> Self {
                Self::Range { start: None, stop: Some(place(range.end)), step: 1 }
            }
        }

        impl From<RangeInclusive<$integer>> for Index {
            /// Of integers with a sign, `2..=-1` reaches the end.
            fn from(range: RangeInclusive<$integer>) -> Self {
                let (start, last) = range.into_inner();
                Self::Through { start: Some(place(start)), last: place(last), step: 1 }
            }
        }

        impl From<RangeToInclusive<$integer>> for Index {
            /// Of integers with a sign, `..=-1` reaches the end.
            fn from(range: RangeToInclusive<$integer>) -> Self {
                Self::Through { start: None, last: place(range.end), step: 1 }
            }
        }
    )*};
}

indices!(i8, u8, i16, u16, i32, u32, i64, u64, isize, usize);

/// A list of [`Index`]es: `index![1, 2..-1, ..;2, ...]` is numpy's `[1, 2:-1, ::2, ...]`.
///
/// An integer of any type takes one element, a range a part (`;step` behind it gives a step), `new` makes an axis, and
/// `...` stands for all axes that are not named. Literals are `i32` where nothing gives them another type, as
/// everywhere in Rust: `1_isize << 31`.
///
/// ```
/// use warpaint::{array::{GpuArray, Layout}, index};
///
/// let layout = Layout::contiguous(&[4, 6])?;
/// let part = layout.index(&index![-1, ..;-2])?;
/// assert_eq!((part.shape(), part.strides(), part.offset()), (&[3][..], &[-2][..], 23));
/// assert_eq!(layout.index(&index![..., new, 0])?.shape(), [4, 1]);
/// let half: usize = layout.shape()[1] / 2;
/// assert_eq!(layout.index(&index![0, half..])?.shape(), [3]);
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

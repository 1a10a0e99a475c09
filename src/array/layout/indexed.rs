//! Parts of a layout, as indices say.

use super::{Axes, Layout};
use crate::array::{Error, Index, Result, index::behind};

impl Layout {
    /// A part, as numpy's basic indexing takes it. See [`Index`].
    ///
    /// ```
    /// # use warpaint::{array::{Error, Layout}, index};
    /// let table = Layout::contiguous(&[4, 6])?;
    /// assert_eq!(table.index(&index![.., -1])?.shape(), [4]);
    /// assert_eq!(table.index(&index![2..100])?.shape(), [2, 6]); // ranges may reach outside, single elements not
    /// assert!(matches!(table.index(&index![100]), Err(Error::IndexOutOfRange { .. })));
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`], [`Error::TooManyIndices`], [`Error::ZeroStep`].
    pub fn index(&self, indices: &[Index]) -> Result<Self> {
        let used = indices.iter().filter(|index| index.takes_axis()).count();
        if used > self.ndim() {
            return Err(Error::TooManyIndices { indices: used, shape: self.shape.to_vec() });
        }
        if indices.iter().filter(|index| **index == Index::Ellipsis).count() > 1 {
            return Err(Error::TwoEllipses);
        }
        let mut part = Self { shape: Axes::new(), strides: Axes::new(), offset: self.offset };
        let mut axis = 0;
        let rest = self.ndim() - used;
        for &index in indices {
            match index {
                Index::NewAxis => part.push(1, 0),
                Index::Ellipsis => {
                    self.keep(axis..axis + rest, &mut part);
                    axis += rest;
                }
                index @ (Index::At(_) | Index::Range { .. } | Index::Through { .. }) => {
                    self.index_axis(axis, index, &mut part)?;
                    axis += 1;
                }
            }
        }
        self.keep(axis..self.ndim(), &mut part);
        if part.count() == 0 {
            // Where no element is, steps lead out of the memory.
            part.offset = self.offset;
        }
        Ok(part)
    }

    /// Adds an axis behind the others.
    pub(super) fn push(&mut self, n: usize, stride: isize) {
        self.shape.push(n);
        self.strides.push(stride);
    }

    fn keep(&self, axes: std::ops::Range<usize>, part: &mut Self) {
        axes.for_each(|axis| part.push(self.shape[axis], self.strides[axis]));
    }

    fn index_axis(&self, axis: usize, index: Index, part: &mut Self) -> Result<()> {
        let (n, stride) = (self.shape[axis], self.strides[axis]);
        let start = match index {
            Index::At(at) => {
                let from_front = if at < 0 { at + n as isize } else { at };
                if !(0..n as isize).contains(&from_front) {
                    return Err(Error::IndexOutOfRange { index: at, axis, length: n });
                }
                from_front
            }
            Index::Range { start, stop, step } => {
                part.push_range(start, stop, step, (n, stride))?
            }
            Index::Through { start, last, step } => {
                part.push_range(start, behind(last, step), step, (n, stride))?
            }
            Index::NewAxis | Index::Ellipsis => 0,
        };
        part.offset = (part.offset as isize + start * stride) as usize;
        Ok(())
    }

    /// An axis for the part of one of `n` elements, `stride` apart; the place of its first.
    fn push_range(
        &mut self,
        start: Option<isize>,
        stop: Option<isize>,
        step: isize,
        (n, stride): (usize, isize),
    ) -> Result<isize> {
        let (start, count) = resolve(start, stop, step, n)?;
        // Of a single element, a step of any size leads nowhere.
        self.push(count, if count > 1 { stride * step } else { stride });
        Ok(start)
    }
}

/// First index and number of elements of a range with step, as Python's `slice.indices` has them.
fn resolve(
    start: Option<isize>,
    stop: Option<isize>,
    step: isize,
    length: usize,
) -> Result<(isize, usize)> {
    let n = length as isize;
    // Going down, the place before the first element is a possible end.
    let (low, high) = match step {
        0 => return Err(Error::ZeroStep),
        1.. => (0, n),
        _ => (-1, n - 1),
    };
    let place = |at: isize| (if at < 0 { at.saturating_add(n) } else { at }).clamp(low, high);
    let start = start.map_or(if step > 0 { low } else { high }, place);
    let stop = stop.map_or(if step > 0 { high } else { low }, place);
    let distance = if step > 0 { stop - start } else { start - stop };
    let count = usize::try_from(distance).map_or(0, |d| d.div_ceil(step.unsigned_abs()));
    Ok((if count == 0 { 0 } else { start }, count))
}

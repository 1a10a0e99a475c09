//! Where the elements of several arrays lie that are counted together.

use smallvec::SmallVec;

use super::{Axes, Layout};
use crate::array::Result;

/// Lengths or strides that need no allocation.
pub(in crate::array) const USUAL_NUMBERS: usize = 12;

/// The places of arrays' elements by an index in C order over one shape. Axes of length 1 are left out, and neighbours
/// are joined where they are one run in all arrays, so that less is computed for each index.
pub(in crate::array) struct Places {
    pub(in crate::array) shape: Axes<usize>,
    arrays: usize,
    /// Of all arrays along the first axis, then along the second, and so on.
    strides: SmallVec<[isize; USUAL_NUMBERS]>,
}

impl Places {
    /// Those of arrays of these layouts, broadcast to `shape`.
    ///
    /// # Errors
    /// [`Error::Broadcast`](crate::array::Error::Broadcast).
    pub(in crate::array) fn new(shape: &[usize], layouts: &[&Layout]) -> Result<Self> {
        Self::along(0..shape.len(), shape, layouts)
    }

    /// The same along these axes alone, counted in this order of theirs.
    ///
    /// # Errors
    /// [`Error::Broadcast`](crate::array::Error::Broadcast).
    pub(in crate::array) fn along(
        axes: impl IntoIterator<Item = usize>,
        shape: &[usize],
        layouts: &[&Layout],
    ) -> Result<Self> {
        layouts.iter().try_for_each(|layout| layout.expect_broadcast(shape))?;
        Ok(Self::joined(axes, shape, layouts))
    }

    /// The same of layouts that can be broadcast to `shape`.
    pub(in crate::array) fn joined(
        axes: impl IntoIterator<Item = usize>,
        shape: &[usize],
        layouts: &[&Layout],
    ) -> Self {
        let (arrays, strides) = (layouts.len(), SmallVec::new());
        let mut places = Self { shape: Axes::new(), arrays, strides };
        for axis in axes.into_iter().filter(|&axis| shape[axis] != 1) {
            let strides = layouts.iter().map(|layout| layout.stride_over(shape, axis));
            places.push(shape[axis], strides);
        }
        places
    }

    /// Adds an axis behind the others, or joins it to the last.
    fn push(&mut self, length: usize, strides: impl Iterator<Item = isize> + Clone) {
        let last = self.strides.len().saturating_sub(self.arrays);
        // Over memory that is empty, strides may be of any size.
        let is_run =
            |(outer, inner): (&isize, isize)| inner.checked_mul(length as isize) == Some(*outer);
        let runs_on = self.strides[last..].iter().zip(strides.clone()).all(is_run);
        match self.shape.last_mut() {
            Some(joined) if runs_on => {
                *joined *= length;
                self.strides.truncate(last);
            }
            _ => self.shape.push(length),
        }
        self.strides.extend(strides);
    }

    /// How many elements.
    pub(in crate::array) fn count(&self) -> u64 {
        self.shape.iter().map(|&n| n as u64).product()
    }

    /// How many axes.
    pub(in crate::array) fn rank(&self) -> usize {
        self.shape.len()
    }

    /// How many arrays.
    pub(in crate::array) fn arrays(&self) -> usize {
        self.arrays
    }

    /// The stride of array `k` along `axis`.
    pub(in crate::array) fn stride(&self, k: usize, axis: usize) -> isize {
        self.strides[axis * self.arrays + k]
    }

    /// The strides of array `k`.
    pub(in crate::array) fn strides(&self, k: usize) -> impl DoubleEndedIterator<Item = isize> {
        (0..self.rank()).map(move |axis| self.stride(k, axis))
    }

    /// Whether there is one axis at most, along which each array goes step by step or stands still.
    pub(in crate::array) fn is_flat(&self) -> bool {
        self.rank() <= 1 && self.strides.iter().all(|stride| matches!(stride, 0 | 1))
    }

    /// Whether array `k` is the same everywhere.
    pub(in crate::array) fn is_uniform(&self, k: usize) -> bool {
        self.strides(k).all(|stride| stride == 0)
    }

    /// All strides as kernels get them: those of all arrays along the first axis, and so on.
    pub(in crate::array) fn packed_strides(&self) -> impl Iterator<Item = i64> {
        self.strides.iter().map(|&stride| stride as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index;

    #[test]
    fn runs_are_joined_only_where_all_arrays_allow_it() {
        let a = Layout::contiguous(&[4, 1, 6, 5]).unwrap();
        let b = a.permute(&[0, 1, 2, 3]).unwrap().index(&index![..;2]).unwrap();
        let shape = [2, 1, 6, 5];
        let c = Layout::contiguous(&shape).unwrap();
        let one = Places::new(&shape, &[&c]).unwrap();
        assert_eq!((&one.shape[..], &one.strides[..]), (&[60][..], &[1][..]));
        let both = Places::new(&shape, &[&c, &b]).unwrap();
        assert_eq!((&both.shape[..], &both.strides[..]), (&[2, 30][..], &[30, 60, 1, 1][..]));
        assert!(both.strides(1).eq([60, 1]));
        let point = Places::new(&[1, 1], &[&Layout::contiguous(&[1, 1]).unwrap()]).unwrap();
        assert_eq!((point.rank(), point.count(), point.is_flat()), (0, 1, true));
        let none = Places::new(&shape, &[]).unwrap();
        assert_eq!((&none.shape[..], none.arrays()), (&[60][..], 0));
        let empty = Layout::strided(&[0, 2], &[5, 1 << 62], 1).unwrap();
        assert_eq!(empty.collapsed()[..], [(0, 0), (2, 1 << 62)]);
        let turned = Places::along([3, 2], &shape, &[&c]).unwrap();
        assert_eq!((&turned.shape[..], &turned.strides[..]), (&[5, 6][..], &[1, 5][..]));
    }
}

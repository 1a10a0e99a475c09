//! Where the elements of an array lie: shape, strides and offset, counted in elements, and numpy's rules for them.
//!
//! Enters: shapes, strides, indices. Leaves: layouts, and the places of the elements of several. Must not know:
//! `device`, `kernel`, `array::generate`.

mod indexed;
mod places;
mod reshape;

use smallvec::{SmallVec, smallvec};

use super::{Error, Result};
pub(super) use places::{Places, USUAL_NUMBERS};

/// Most elements: their places, and the steps between them, are counted with a sign.
const COUNTABLE: usize = isize::MAX as usize;

/// One number for each axis: mostly so few that they need no memory of their own, which each operation would allocate.
pub(super) type Axes<N> = SmallVec<[N; 4]>;

/// One thing for each array of an operation.
pub(super) type Arrays<T> = SmallVec<[T; 4]>;

/// The shape of an array and where each of its elements lies.
///
/// The element at `[i, j, ...]` is at `offset + i * strides[0] + j * strides[1] + ...`. A stride may be negative,
/// or 0 where an axis was broadcast.
///
/// ```
/// use warpaint::{array::Layout, index};
///
/// let table = Layout::contiguous(&[4, 6])?;
/// let part = table.index(&index![1.., ..;-2])?; // rows from the second on, every other column from the last
/// assert_eq!((part.shape(), part.strides(), part.offset()), (&[3, 3][..], &[6, -2][..], 11));
/// assert_eq!(part.extent(), 7..24);
/// # Ok::<(), warpaint::array::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Axes<usize>,
    strides: Axes<isize>,
    offset: usize,
}

impl Layout {
    /// Rows one behind the other (C order), from offset 0.
    ///
    /// ```
    /// # use warpaint::array::Layout;
    /// assert_eq!(Layout::contiguous(&[2, 3, 4])?.strides(), [12, 4, 1]);
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`] when the elements cannot be counted.
    pub fn contiguous(shape: &[usize]) -> Result<Self> {
        expect_countable(shape)?;
        let mut strides: Axes<isize> = smallvec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis].max(1) as isize;
        }
        Ok(Self { shape: shape.into(), strides, offset: 0 })
    }

    /// Elements of so many bytes at these steps from each other, of which the lowest is at place 0. `None` where their
    /// bytes cannot be counted.
    pub(super) fn strided(shape: &[usize], strides: &[isize], bytes: usize) -> Option<Self> {
        let (mut lowest, mut highest) = (0_isize, 0_isize);
        for (&n, &stride) in shape.iter().zip(strides) {
            let reach = isize::try_from(n.max(1) - 1).ok()?.checked_mul(stride)?;
            let end = if reach < 0 { &mut lowest } else { &mut highest };
            *end = end.checked_add(reach)?;
        }
        highest.checked_sub(lowest)?.checked_add(1)?.checked_mul(bytes as isize)?;
        let empty = shape.contains(&0);
        let offset = if empty { 0 } else { lowest.unsigned_abs() };
        // Along one element or none nothing is stepped: what stands there may be any number.
        let strides = shape.iter().zip(strides).map(|(&n, &stride)| if n > 1 { stride } else { 0 });
        Some(Self { shape: shape.into(), strides: strides.collect(), offset })
    }

    /// Lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Steps between neighbours along each axis, in elements.
    ///
    /// ```
    /// # use warpaint::array::Layout;
    /// let table = Layout::contiguous(&[4, 3])?;
    /// assert_eq!(table.strides(), [3, 1]);
    /// assert_eq!(table.transpose().strides(), [1, 3]);
    /// assert_eq!(table.broadcast_to(&[2, 4, 3])?.strides(), [0, 3, 1]);
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The first element's place.
    ///
    /// ```
    /// # use warpaint::{array::Layout, index};
    /// let table = Layout::contiguous(&[4, 3])?;
    /// assert_eq!(table.index(&index![-1, 1])?.offset(), 10);
    /// assert_eq!(table.reverse().offset(), 11); // the first element is the last in memory
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// How many axes.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// How many elements.
    ///
    /// ```
    /// # use warpaint::array::Layout;
    /// let line = Layout::contiguous(&[3])?;
    /// assert_eq!(line.broadcast_to(&[1000, 3])?.count(), 3000); // of which 3 lie in memory
    /// assert_eq!(Layout::contiguous(&[])?.count(), 1);
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the elements lie one behind the other in C order.
    ///
    /// ```
    /// # use warpaint::{array::Layout, index};
    /// let table = Layout::contiguous(&[4, 3])?;
    /// assert!(table.index(&index![1..3])?.is_contiguous()); // whole rows
    /// assert!(!table.index(&index![.., 1..3])?.is_contiguous()); // parts of rows
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        self.count() == 0
            || self.shape.iter().zip(&self.strides).rev().all(|(&n, &stride)| {
                let fits = n == 1 || stride == expected;
                expected *= n as isize;
                fits
            })
    }

    /// Whether no two indices mean the same element, so that it can be written in any order. (Broadcast axes
    /// break this; views made by slicing never do.)
    ///
    /// ```
    /// # use warpaint::array::Layout;
    /// let line = Layout::contiguous(&[3])?;
    /// assert!(line.reverse().is_injective());
    /// assert!(!line.broadcast_to(&[2, 3])?.is_injective());
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    pub fn is_injective(&self) -> bool {
        if self.is_contiguous() {
            return true;
        }
        let axes = self.shape.iter().zip(&self.strides);
        let mut axes: Axes<(usize, usize)> =
            axes.filter(|(n, _)| **n > 1).map(|(&n, s)| (s.unsigned_abs(), n)).collect();
        axes.sort_unstable();
        let mut reach = 0;
        axes.into_iter().all(|(stride, n)| {
            let free = stride > reach;
            reach += stride * (n - 1);
            free
        })
    }

    /// The places of its elements: the first used, and the one behind the last used.
    ///
    /// ```
    /// # use warpaint::{array::Layout, index};
    /// let column = Layout::contiguous(&[4, 6])?.index(&index![1..3, -1])?;
    /// assert_eq!(column.extent(), 11..18); // two elements, 6 places from each other
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    pub fn extent(&self) -> std::ops::Range<usize> {
        if self.count() == 0 {
            return self.offset..self.offset;
        }
        let (mut first, mut last) = (self.offset as isize, self.offset as isize);
        for (&n, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = (n as isize - 1) * stride;
            if reach < 0 { first += reach } else { last += reach }
        }
        first as usize..last as usize + 1
    }

    /// The same elements seen as `shape`: new axes in front, and axes of length 1 repeated (numpy's
    /// broadcasting).
    ///
    /// ```
    /// # use warpaint::array::{Error, Layout};
    /// let column = Layout::contiguous(&[4, 1])?;
    /// let table = column.broadcast_to(&[2, 4, 3])?;
    /// assert_eq!(table.strides(), [0, 1, 0]);
    /// assert!(matches!(column.broadcast_to(&[2, 3]), Err(Error::Broadcast { .. })));
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Broadcast`], [`Error::TooLarge`] when the elements cannot be counted.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        self.expect_broadcast(shape)?;
        let strides = (0..shape.len()).map(|axis| self.stride_over(shape, axis)).collect();
        Ok(Self { shape: shape.into(), strides, offset: self.offset })
    }

    /// That it can be broadcast to `shape`, with the errors of [`Layout::broadcast_to`].
    pub(super) fn expect_broadcast(&self, shape: &[usize]) -> Result<()> {
        expect_countable(shape)?;
        let front = shape.len().checked_sub(self.ndim());
        let own = front.and_then(|front| shape.get(front..)).unwrap_or_default();
        let fits = front.is_some() && self.shape.iter().zip(own).all(|(&n, &to)| n == to || n == 1);
        if fits {
            return Ok(());
        }
        Err(Error::Broadcast { shapes: vec![self.shape.to_vec(), shape.to_vec()] })
    }

    /// The stride along an axis of `shape`, to which it can be broadcast.
    pub(super) fn stride_over(&self, shape: &[usize], axis: usize) -> isize {
        match (axis + self.ndim()).checked_sub(shape.len()) {
            Some(own) if self.shape[own] == shape[axis] => self.strides[own],
            _ => 0,
        }
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]`.
    ///
    /// ```
    /// # use warpaint::array::Layout;
    /// let images = Layout::contiguous(&[8, 480, 640, 3])?;
    /// let planes = images.permute(&[3, 0, 1, 2])?;
    /// assert_eq!((planes.shape(), planes.strides()[0]), (&[3, 8, 480, 640][..], 1));
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axes`] unless `axes` names each axis once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        let mut seen = vec![false; self.ndim()];
        let fresh =
            |&axis: &usize| seen.get_mut(axis).is_some_and(|seen| !std::mem::replace(seen, true));
        if axes.len() != self.ndim() || !axes.iter().all(fresh) {
            return Err(Error::Axes { axes: axes.to_vec(), ndim: self.ndim() });
        }
        Ok(Self {
            shape: axes.iter().map(|&axis| self.shape[axis]).collect(),
            strides: axes.iter().map(|&axis| self.strides[axis]).collect(),
            offset: self.offset,
        })
    }

    /// The same bytes as elements of `to` bytes, where these are of `from`: the last axis becomes longer or shorter.
    /// `None` where elements would not be whole.
    pub(super) fn reinterpret(&self, from: usize, to: usize) -> Option<Self> {
        if from == to {
            return Some(self.clone());
        }
        let whole = |elements: isize| {
            let bytes = elements.checked_mul(from as isize)?;
            (bytes.checked_rem(to as isize)? == 0).then(|| bytes / to as isize)
        };
        let (&length, lengths) = self.shape.split_last()?;
        let (&step, steps) = self.strides.split_last()?;
        if length > 1 && step != 1 {
            return None;
        }
        let offset = whole(self.offset as isize)? as usize;
        let mut view = Self { shape: Axes::new(), strides: Axes::new(), offset };
        for (&n, &stride) in lengths.iter().zip(steps) {
            // Along one element or none, nothing is stepped.
            view.push(n, if n > 1 { whole(stride)? } else { whole(stride).unwrap_or(1) });
        }
        view.push(whole(length as isize)? as usize, 1);
        expect_countable(&view.shape).ok()?;
        Some(view)
    }

    /// Its axes in the order in which they lie in memory, the one with the longest steps first.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.ndim()).collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(self.strides[axis].unsigned_abs()));
        order
    }

    /// The same elements, each axis from its end to its front.
    ///
    /// ```
    /// # use warpaint::array::Layout;
    /// let back = Layout::contiguous(&[2, 3])?.reverse();
    /// assert_eq!((back.offset(), back.strides()), (5, &[-3, -1][..]));
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    #[must_use]
    pub fn reverse(&self) -> Self {
        let back = |(&n, &stride): (&usize, &isize)| n.saturating_sub(1) as isize * stride;
        let last = self.shape.iter().zip(&self.strides).map(back).sum::<isize>();
        let offset =
            if self.count() == 0 { self.offset } else { self.offset.wrapping_add_signed(last) };
        let strides = self.strides.iter().map(|stride| -stride).collect();
        Self { shape: self.shape.clone(), strides, offset }
    }

    /// The elements with the same index along both axes, which become one, the last.
    ///
    /// ```
    /// # use warpaint::array::Layout;
    /// let diagonal = Layout::contiguous(&[4, 3])?.diagonal(0, 1)?;
    /// assert_eq!((diagonal.shape(), diagonal.strides()), (&[3][..], &[4][..]));
    /// let of_matrices = Layout::contiguous(&[100, 4, 4])?.diagonal(1, 2)?;
    /// assert_eq!((of_matrices.shape(), of_matrices.strides()), (&[100, 4][..], &[16, 5][..]));
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axes`] unless these are two of its axes.
    pub fn diagonal(&self, first: usize, second: usize) -> Result<Self> {
        if first == second || first.max(second) >= self.ndim() {
            return Err(Error::Axes { axes: vec![first, second], ndim: self.ndim() });
        }
        let mut part = Self { shape: Axes::new(), strides: Axes::new(), offset: self.offset };
        (0..self.ndim())
            .filter(|axis| ![first, second].contains(axis))
            .for_each(|axis| part.push(self.shape[axis], self.strides[axis]));
        part.push(
            self.shape[first].min(self.shape[second]),
            self.strides[first] + self.strides[second],
        );
        Ok(part)
    }

    /// The axes in reverse order.
    ///
    /// ```
    /// # use warpaint::array::Layout;
    /// let turned = Layout::contiguous(&[2, 3, 4])?.transpose();
    /// assert_eq!((turned.shape(), turned.strides()), (&[4, 3, 2][..], &[1, 4, 12][..]));
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    #[must_use]
    pub fn transpose(&self) -> Self {
        Self {
            shape: self.shape.iter().rev().copied().collect(),
            strides: self.strides.iter().rev().copied().collect(),
            offset: self.offset,
        }
    }

    /// Without its axes of length 1.
    ///
    /// ```
    /// # use warpaint::array::Layout;
    /// let thin = Layout::contiguous(&[1, 4, 1, 3])?.squeeze();
    /// assert_eq!((thin.shape(), thin.strides()), (&[4, 3][..], &[3, 1][..]));
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    #[must_use]
    pub fn squeeze(&self) -> Self {
        let axes = self.shape.iter().zip(&self.strides).filter(|(n, _)| **n != 1);
        let (shape, strides) = axes.map(|(n, s)| (*n, *s)).unzip();
        Self { shape, strides, offset: self.offset }
    }
}

/// Whether a shape's elements can be counted. As in numpy, axes of length 0 do not excuse the others.
fn expect_countable(shape: &[usize]) -> Result<()> {
    let count = shape.iter().try_fold(1_usize, |count, &n| count.checked_mul(n.max(1)));
    match count {
        Some(0..=COUNTABLE) => Ok(()),
        _ => Err(Error::TooLarge { shape: shape.to_vec() }),
    }
}

/// The shape that arrays of these shapes have together, by numpy's broadcasting.
///
/// ```
/// use warpaint::array::{Error, broadcast};
///
/// assert_eq!(broadcast([&[4, 1][..], &[3][..]])?, [4, 3]);
/// assert!(matches!(broadcast([&[4, 2][..], &[3][..]]), Err(Error::Broadcast { .. })));
/// # Ok::<(), warpaint::array::Error>(())
/// ```
///
/// # Errors
/// [`Error::Broadcast`], [`Error::TooLarge`] when the elements cannot be counted.
pub fn broadcast<'a>(shapes: impl IntoIterator<Item = &'a [usize]> + Clone) -> Result<Vec<usize>> {
    common_shape(shapes).map(Axes::into_vec)
}

/// As [`broadcast`].
///
/// # Errors
/// As [`broadcast`].
pub(super) fn common_shape<'a>(
    shapes: impl IntoIterator<Item = &'a [usize]> + Clone,
) -> Result<Axes<usize>> {
    let ndim = shapes.clone().into_iter().map(<[usize]>::len).max().unwrap_or(0);
    let mut result: Axes<usize> = smallvec![1; ndim];
    for shape in shapes.clone() {
        for (common, &n) in result[ndim - shape.len()..].iter_mut().zip(shape) {
            match (*common, n) {
                (_, 1) => {}
                (1, n) => *common = n,
                (common, n) if common == n => {}
                _ => {
                    let shapes = shapes.into_iter().map(<[usize]>::to_vec).collect();
                    return Err(Error::Broadcast { shapes });
                }
            }
        }
    }
    expect_countable(&result)?;
    Ok(result)
}

#[cfg(test)]
mod tests;

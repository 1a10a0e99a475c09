//! The same elements with other axes.

use smallvec::smallvec;

use super::{Axes, Layout, Places};
use crate::array::{Error, Result};

impl Layout {
    /// The same elements, in C order, with other axes; `None` where the strides cannot express that.
    ///
    /// ```
    /// # use warpaint::{array::Layout, index};
    /// let table = Layout::contiguous(&[2, 6])?;
    /// let even = table.index(&index![.., ..;2])?; // the last step of a row leads on to the next row
    /// assert_eq!(even.reshape(&[6])?.map(|line| line.strides().to_vec()), Some(vec![2]));
    /// assert_eq!(table.transpose().reshape(&[12])?, None);
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Reshape`] when the number of elements differs.
    pub fn reshape(&self, shape: &[usize]) -> Result<Option<Self>> {
        let target = Self::contiguous(shape)?;
        if target.count() != self.count() {
            return Err(Error::Reshape { from: self.shape.to_vec(), to: shape.to_vec() });
        }
        if self.is_contiguous() {
            return Ok(Some(Self { offset: self.offset, ..target }));
        }
        let strides = split_axes(&self.collapsed(), shape);
        let shape = shape.into();
        Ok(strides.map(|strides| Self { shape, strides, offset: self.offset }))
    }

    /// Its axes longer than 1, neighbours joined where they are one run: lengths and strides.
    pub(in crate::array) fn collapsed(&self) -> Axes<(usize, isize)> {
        let joined = Places::joined(0..self.ndim(), &self.shape, &[self]);
        joined.shape.iter().copied().zip(joined.strides(0)).collect()
    }
}

/// The strides of `shape` over axes that were collapsed, if each of its axes lies within one of them.
fn split_axes(runs: &[(usize, isize)], shape: &[usize]) -> Option<Axes<isize>> {
    let mut strides: Axes<isize> = smallvec![0; shape.len()];
    let mut axis = shape.len();
    for &(length, stride) in runs.iter().rev() {
        let (mut left, mut step) = (length, stride);
        while left > 1 {
            axis = axis.checked_sub(1)?;
            if !left.is_multiple_of(shape[axis]) {
                return None;
            }
            strides[axis] = step;
            step *= shape[axis] as isize;
            left /= shape[axis];
        }
    }
    Some(strides)
}

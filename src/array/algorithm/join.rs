//! Arrays put together, repeated and turned round.

use crate::array::{Data, Error, GpuArray, Index, Result, reduction::split};

/// The arrays one behind the other along `axis` (`numpy.concatenate`), on the stream of the first one.
///
/// ```
/// use warpaint::{array::{GpuArray, concatenate, stack}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let (a, b) = (GpuArray::from_slice(&context, &[1, 2])?, GpuArray::from_slice(&context, &[3, 4])?);
/// assert_eq!(concatenate(&[&a, &b], 0)?.to_vec()?, [1, 2, 3, 4]);
/// assert_eq!(stack(&[&a, &b], 1)?.to_vec()?, [1, 3, 2, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::NoArrays`], [`Error::Axes`], [`Error::Shape`] for one that differs in another axis; as
/// [`GpuArray::empty`].
pub fn concatenate<T: Data>(arrays: &[&GpuArray<T>], axis: usize) -> Result<GpuArray<T>> {
    let first = arrays.first().ok_or(Error::NoArrays { operation: "concatenate" })?;
    let mut shape = first.shape().to_vec();
    if axis >= shape.len() {
        return Err(Error::Axes { axes: vec![axis], ndim: shape.len() });
    }
    shape[axis] = 0;
    for array in arrays {
        let mut expected = shape.clone();
        expected[axis] = array.shape().get(axis).copied().unwrap_or(0);
        if array.shape() != expected {
            let found = array.shape().to_vec();
            return Err(Error::Shape { operation: "concatenate", expected, found });
        }
        shape[axis] = shape[axis]
            .checked_add(expected[axis])
            .ok_or_else(|| Error::TooLarge { shape: expected.clone() })?;
    }
    let out = GpuArray::empty(first.context(), &shape)?;
    let mut start = 0;
    for array in arrays {
        let end = start + array.shape()[axis] as isize;
        out.part(axis, (start..end).into())?.assign(*array)?;
        start = end;
    }
    Ok(out)
}

/// The arrays, which have one shape, along a new axis (`numpy.stack`).
///
/// ```
/// # use warpaint::{array::{GpuArray, concatenate, stack}, device::Device, kernel::Context};
/// # let context = Context::new(Device::cpu()?)?;
/// let (x, y) = (GpuArray::from_slice(&context, &[1, 2, 3])?, GpuArray::from_slice(&context, &[4, 5, 6])?);
/// assert_eq!(stack(&[&x, &y], 0)?.shape(), [2, 3]);
/// let points = stack(&[&x, &y], 1)?; // each point's coordinates side by side
/// assert_eq!(points.to_vec()?, [1, 4, 2, 5, 3, 6]);
/// assert_eq!(concatenate(&[&x, &y], 0)?.shape(), [6]); // no new axis
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::NoArrays`], [`Error::NewAxis`], [`Error::Shape`] for one that differs; as [`GpuArray::empty`].
pub fn stack<T: Data>(arrays: &[&GpuArray<T>], axis: usize) -> Result<GpuArray<T>> {
    let first = arrays.first().ok_or(Error::NoArrays { operation: "stack" })?;
    if let Some(other) = arrays.iter().find(|array| array.shape() != first.shape()) {
        let (expected, found) = (first.shape().to_vec(), other.shape().to_vec());
        return Err(Error::Shape { operation: "stack", expected, found });
    }
    let rows: Vec<GpuArray<T>> =
        arrays.iter().map(|array| array.expand_dims(axis)).collect::<Result<_>>()?;
    concatenate(&rows.iter().collect::<Vec<_>>(), axis)
}

impl<T: Data> GpuArray<T> {
    /// What `index` takes along `axis`, which is one of its axes.
    fn part(&self, axis: usize, index: Index) -> Result<Self> {
        if axis >= self.ndim() {
            return Err(Error::Axes { axes: vec![axis], ndim: self.ndim() });
        }
        let mut indices = vec![Index::from(..); axis];
        indices.push(index);
        self.slice(&indices)
    }

    /// A view with a new axis of length 1 that has the number `axis` (`numpy.expand_dims`).
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// let table = (a.expand_dims(1)? * &a).eval()?; // [3, 1] with [3]
    /// assert_eq!(table.to_vec()?, [1, 2, 3, 2, 4, 6, 3, 6, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NewAxis`] where there would be axes missing before it.
    pub fn expand_dims(&self, axis: usize) -> Result<Self> {
        if axis > self.ndim() {
            return Err(Error::NewAxis { axis, ndim: self.ndim() });
        }
        let mut indices = vec![Index::from(..); axis];
        indices.push(Index::NewAxis);
        self.slice(&indices)
    }

    /// Its elements in C order along one axis: a view where its strides allow that, else a copy.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// a.ravel()?.fill(0)?; // a view
    /// assert_eq!(a.sum()?.item()?, 0);
    /// a.transpose().ravel()?.fill(1)?; // a copy, which is lost
    /// assert_eq!(a.sum()?.item()?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::copy`].
    pub fn ravel(&self) -> Result<Self> {
        self.reshape(&[self.len()])
    }

    /// A view in which these axes go from their end to their front (`numpy.flip`).
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.flip(&[1])?.to_vec()?, [3, 2, 1, 6, 5, 4]);
    /// assert_eq!(a.flip(&[0, 1])?.layout(), a.reverse().layout());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axes`] for axes that are not there or not each once.
    pub fn flip(&self, axes: &[usize]) -> Result<Self> {
        let (_, axes) = split(self.ndim(), Some(axes))?;
        axes.into_iter()
            .try_fold(self.clone(), |array, axis| array.part(axis, Index::from(..).step(-1)))
    }

    /// Its elements moved by `shift` along `axis`; what leaves one end comes in at the other (`numpy.roll`).
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1, 2, 3, 4])?;
    /// assert_eq!(a.roll(1, 0)?.to_vec()?, [4, 1, 2, 3]);
    /// // The Laplacian on a ring:
    /// let laplacian = (a.roll(1, 0)? + a.roll(-1, 0)? - &a * 2).eval()?;
    /// assert_eq!(laplacian.to_vec()?, [4, 0, 0, -4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axes`]; as [`GpuArray::empty`].
    pub fn roll(&self, shift: isize, axis: usize) -> Result<Self> {
        let Some(&length) = self.shape().get(axis) else {
            return Err(Error::Axes { axes: vec![axis], ndim: self.ndim() });
        };
        let length = length as isize;
        let cut = (length - shift.checked_rem_euclid(length).unwrap_or(0)) % length.max(1);
        concatenate(&[&self.part(axis, (cut..).into())?, &self.part(axis, (..cut).into())?], axis)
    }

    /// Each of its parts along `axis`, `times` times in a row (`numpy.repeat`).
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let pixels = GpuArray::from_shape(&context, &[2, 2], &[1, 2, 3, 4])?;
    /// assert_eq!(pixels.repeat(2, 1)?.to_vec()?, [1, 1, 2, 2, 3, 3, 4, 4]);
    /// assert_eq!(pixels.repeat(2, 0)?.to_vec()?, [1, 2, 1, 2, 3, 4, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axes`], [`Error::TooLarge`]; as [`GpuArray::empty`].
    pub fn repeat(&self, times: usize, axis: usize) -> Result<Self> {
        self.part(axis, (..).into())?;
        let wide = self.expand_dims(axis + 1)?;
        let mut shape = wide.shape().to_vec();
        shape[axis + 1] = times;
        let mut joined = self.shape().to_vec();
        joined[axis] =
            joined[axis].checked_mul(times).ok_or(Error::TooLarge { shape: shape.clone() })?;
        wide.broadcast_to(&shape)?.copy()?.reshape(&joined)
    }

    /// The whole array side by side with itself, `times[axis]` times along each axis; fewer or more axes than it has
    /// are made up for in front (`numpy.tile`).
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let pattern = GpuArray::from_slice(&context, &[1, 2])?;
    /// assert_eq!(pattern.tile(&[2])?.to_vec()?, [1, 2, 1, 2]);
    /// assert_eq!(pattern.tile(&[3, 2])?.shape(), [3, 4]); // one axis more than it has
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`]; as [`GpuArray::empty`].
    pub fn tile(&self, times: &[usize]) -> Result<Self> {
        let ndim = self.ndim().max(times.len());
        let padded = |numbers: &[usize]| [&vec![1; ndim - numbers.len()], numbers].concat();
        let (own, times) = (padded(self.shape()), padded(times));
        let pairs = || times.iter().zip(&own);
        let (between, all): (Vec<usize>, Vec<usize>) = (
            own.iter().flat_map(|&n| [1, n]).collect(),
            pairs().flat_map(|(&times, &n)| [times, n]).collect(),
        );
        let joined: Option<Vec<usize>> = pairs().map(|(times, n)| times.checked_mul(*n)).collect();
        let joined = joined.ok_or(Error::TooLarge { shape: all.clone() })?;
        self.reshape(&between)?.broadcast_to(&all)?.copy()?.reshape(&joined)
    }
}

//! Elements by lists of their numbers: read, written, and as part of expressions.

use crate::array::{
    Data, Error, Expr, GpuArray, Integer, Result,
    elementwise::{Threads, index, reads, run},
    layout::Places,
    layout::broadcast,
    node::Operand,
    source::Code,
};
use crate::kernel::{Context, GENERATED};

/// What an index outside its axis means (the `mode` of `numpy.take`).
///
/// ```
/// use warpaint::{array::{Bounds, Error, GpuArray}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::from_slice(&context, &[10, 20, 30])?;
/// let indices = GpuArray::from_slice(&context, &[-1, 1, 3])?;
/// assert!(matches!(a.at_with(&indices, Bounds::Check), Err(Error::IndexOutOfRange { index: 3, .. })));
/// assert_eq!(a.at_with(&indices, Bounds::Wrap)?.eval()?.to_vec()?, [30, 20, 10]);
/// assert_eq!(a.at_with(&indices, Bounds::Clip)?.eval()?.to_vec()?, [10, 20, 30]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bounds {
    /// Negative ones count from the end; others are an error. The indices are looked through first, which waits for the
    /// device.
    #[default]
    Check,
    /// Modulo the axis' length.
    Wrap,
    /// The nearer end, which is 0 for all negative ones.
    Clip,
}

impl Bounds {
    /// `indices` along `axis` of `length` elements as places on it. One number, which has no array, is put on
    /// `context`.
    fn apply<I: Integer + Into<i64>>(
        self,
        indices: impl Into<Expr<I>>,
        context: &Context,
        axis: usize,
        length: usize,
    ) -> Result<Expr<i64>> {
        let indices = indices.into().on_device(context)?;
        let some = indices.shape()?.iter().all(|&n| n > 0);
        if self == Self::Check && some {
            let (least, greatest) = indices.minmax()?;
            let ends = [least.item()?.into(), greatest.item()?.into()];
            let inside = -(length as i64)..length as i64;
            if !ends.iter().all(|end| inside.contains(end)) {
                let mut all = indices.to_vec()?.into_iter().map(Into::into);
                let first = all.find(|index| !inside.contains(index)).unwrap_or(ends[0]);
                return Err(Error::IndexOutOfRange { index: first as isize, axis, length });
            }
        } else if some && length == 0 {
            return Err(Error::Empty { operation: "taking elements" });
        }
        // Checked ones are moved, too: who changes them meanwhile gets another element and no memory of others.
        let code = match self {
            Self::Check => "warpaint::counted($0, $1)",
            Self::Wrap => "warpaint::wrapped($0, $1)",
            Self::Clip => "warpaint::clipped($0, $1)",
        };
        Ok(indices.cast::<i64>().binary(code, Expr::constant(length as i64).node))
    }
}

/// Writes `values` to the elements of `out` with the numbers `places`, of which each must be one of its elements'.
/// Reads nothing of `out`.
fn scatter<T: Data>(
    values: &Expr<T>,
    places: &Expr<i64>,
    shape: &[usize],
    out: &Operand,
) -> Result<()> {
    let mut code = Code::new(&values.node)?;
    let at = code.include(&places.node)?;
    let to = code.indexed(out, false);
    code.use_on(&out.context, "put")?;
    let of = Places::new(shape, &code.layouts())?;
    let count = of.count();
    if count == 0 {
        return Ok(());
    }
    let mut arguments = code.arguments();
    of.push_to(&mut arguments);
    arguments.push(&count);
    let source = || {
        format!(
            "{definition}extern \"C\" __global__ void {GENERATED}({parameters}{places}const unsigned long long n)
{{
    {index}
    for (Index i = first_; i < n; i += threads_) {{ {evaluate}{to}[{at}] = {value}; }}
}}
",
            definition = of.definition(),
            parameters = code.parameters(),
            places = of.parameter(),
            index = index(count),
            evaluate = of.evaluate(&code),
            at = code.name(at),
            value = code.result(),
        )
    };
    let kernel = code.compile(&out.context, ("put", &of, index(count), at), source)?;
    run(&out.context, &kernel, (count, Threads::ForEach), &arguments)
}

impl<T: Data> GpuArray<T> {
    /// Its elements with these numbers, counted in C order, as an expression of the shape of `indices`; negative ones
    /// count from the end, and one number gives one element, without axes. No memory is used for them: sums over a
    /// subset are `a.at(&indices)?.sum()`, and so on.
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[2.0f32, 3.0, 5.0, 7.0])?;
    /// let subset = GpuArray::from_slice(&context, &[0, 2, -1])?;
    /// assert_eq!(a.at(&subset)?.sum()?.item()?, 14.0);
    /// assert_eq!(a.at(&subset)?.dot(a.at(&subset)?)?.item()?, 78.0);
    /// assert!(a.at(&(&subset * 2).eval()?).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`]; as [`Expr::eval`].
    pub fn at<I: Integer + Into<i64>>(&self, indices: impl Into<Expr<I>>) -> Result<Expr<T>> {
        self.at_with(indices, Bounds::Check)
    }

    /// As [`GpuArray::at`], and what indices outside mean. The places are computed when the expression is.
    ///
    /// ```
    /// # use warpaint::{array::{Bounds, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let ring = GpuArray::from_slice(&context, &[1.0f32, 2.0, 4.0, 8.0])?;
    /// let here = GpuArray::<i32>::arange(&context, 4)?;
    /// let right = ring.at_with(&here + 1, Bounds::Wrap)?;
    /// assert_eq!((right - &ring).eval()?.to_vec()?, [1.0, 2.0, 4.0, -7.0]); // one kernel
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::at`]; [`Error::Empty`] for elements of an array that has none.
    pub fn at_with<I: Integer + Into<i64>>(
        &self,
        indices: impl Into<Expr<I>>,
        bounds: Bounds,
    ) -> Result<Expr<T>> {
        let places = bounds.apply(indices, self.context(), 0, self.len())?;
        Ok(Expr::gather(self.operand(), &places))
    }

    /// Its parts at `indices` along `axis`, whose place the axes of `indices` take (`numpy.take`); for one number, the
    /// axis goes. Negative indices count from the end.
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// let columns = GpuArray::from_slice(&context, &[-1, 0])?;
    /// assert_eq!(a.take(&columns, 1)?.to_vec()?, [3, 1, 6, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axes`], [`Error::IndexOutOfRange`]; as [`Expr::eval`].
    pub fn take<I: Integer + Into<i64>>(
        &self,
        indices: impl Into<Expr<I>>,
        axis: usize,
    ) -> Result<Self> {
        self.take_with(indices, axis, Bounds::Check)
    }

    /// As [`GpuArray::take`], and what indices outside mean.
    ///
    /// ```
    /// # use warpaint::{array::{Bounds, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let image = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// let columns = GpuArray::from_slice(&context, &[-1, 0, 1, 2, 3])?;
    /// let padded = image.take_with(&columns, 1, Bounds::Clip)?; // by its own edge
    /// assert_eq!(padded.to_vec()?, [1, 1, 2, 3, 3, 4, 4, 5, 6, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::take`]; [`Error::Empty`] for parts of an axis that has none.
    pub fn take_with<I: Integer + Into<i64>>(
        &self,
        indices: impl Into<Expr<I>>,
        axis: usize,
        bounds: Bounds,
    ) -> Result<Self> {
        let Some(&length) = self.shape().get(axis) else {
            return Err(Error::Axes { axes: vec![axis], ndim: self.ndim() });
        };
        let (outer, inner) = (&self.shape()[..axis], &self.shape()[axis + 1..]);
        let indices = bounds.apply(indices, self.context(), axis, length)?.eval()?;
        let shape = [outer, indices.shape(), inner].concat();
        let mut out = Self::empty(self.context(), &shape)?;
        if out.is_empty() {
            return Ok(out);
        }
        let count: usize = inner.iter().product();
        let numbers = [indices.len(), length, count].map(|n| Expr::constant(n as i64).node);
        let spread = indices.reshape(&[indices.shape(), &vec![1; inner.len()]].concat())?;
        let arguments = [Expr::from(&spread).node].into_iter().chain(numbers).collect();
        let places = Expr::apply("warpaint::taken(i, $0, $1, $2, $3)", arguments);
        Expr::gather(self.operand(), &places).eval_into(&mut out)?;
        Ok(out)
    }

    /// Overwrites its elements with the numbers `indices`, counted in C order, by `values`, broadcast to the shape of
    /// `indices` (`numpy.put`). Negative indices count from the end. Of several values for one element one is kept;
    /// which, is not said.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut a = GpuArray::from_slice(&context, &[1, 2, 3, 4])?;
    /// a.put(&GpuArray::from_slice(&context, &[0, -1])?, &GpuArray::from_slice(&context, &[10, 40])?)?;
    /// assert_eq!(a.to_vec()?, [10, 2, 3, 40]);
    /// a.put(1, 0)?; // one index, one value
    /// assert_eq!(a.to_vec()?, [10, 0, 3, 40]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`], [`Error::Broadcast`], [`Error::NotWritable`]; as [`Expr::eval`].
    pub fn put<I: Integer + Into<i64>>(
        &mut self,
        indices: impl Into<Expr<I>>,
        values: impl Into<Expr<T>>,
    ) -> Result<()> {
        self.put_with(indices, values, Bounds::Check)
    }

    /// As [`GpuArray::put`], and what indices outside mean.
    ///
    /// ```
    /// # use warpaint::{array::{Bounds, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut ring = GpuArray::<u8>::zeros(&context, &[4])?;
    /// let steps = GpuArray::from_slice(&context, &[3, 5, -4])?;
    /// ring.put_with(&steps, 1, Bounds::Wrap)?;
    /// assert_eq!(ring.to_vec()?, [1, 1, 0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::put`]; [`Error::Empty`] for elements of an array that has none.
    pub fn put_with<I: Integer + Into<i64>>(
        &mut self,
        indices: impl Into<Expr<I>>,
        values: impl Into<Expr<T>>,
        bounds: Bounds,
    ) -> Result<()> {
        let out = self.operand();
        if !out.layout.is_injective() {
            return Err(Error::NotWritable { shape: self.shape().to_vec() });
        }
        let places = bounds.apply(indices, self.context(), 0, self.len())?;
        let mut values = values.into();
        let shape = places.shape()?;
        if broadcast([&shape[..], &values.shape()?])? != shape {
            return Err(Error::Broadcast { shapes: vec![shape, values.shape()?] });
        }
        if reads(&Code::new(&values.node)?, &out) {
            values = Expr::from(&values.eval()?);
        }
        // Places may be computed from the array, too.
        scatter(&values, &Expr::from(&places.eval()?), &shape, &out)
    }

    /// Overwrites its elements for which `mask` is true by those of `values` (`numpy.copyto` with `where`), both
    /// broadcast to its shape.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut a = GpuArray::from_slice(&context, &[1.0, f32::NAN, -3.0])?;
    /// a.put_mask(a.is_nan(), 0.0)?;
    /// a.put_mask(a.lt(0.0), -&a)?;
    /// assert_eq!(a.to_vec()?, [1.0, 0.0, 3.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval_into`].
    pub fn put_mask(
        &mut self,
        mask: impl Into<Expr<bool>>,
        values: impl Into<Expr<T>>,
    ) -> Result<()> {
        let merged = Expr::select(mask, values, &*self);
        self.assign(merged)
    }
}

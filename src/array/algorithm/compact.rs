//! Compactions: the elements, or their places, that a mask chooses, in one pass over memory.
//!
//! A compaction is a [`Sweep`] that counts what is chosen: an element's total before it is its place in the result.

use std::sync::Arc;

use smallvec::smallvec;

use crate::array::{
    DType, Data, Error, Expr, GpuArray, Order, Result, Sortable,
    bound::Declaration,
    layout::Axes,
    layout::Places,
    node::{Node, Operand},
    source::Code,
    sweep::{Steps, Sweep, SweepParameters},
};
use crate::{index, kernel::Context};

/// The elements that were chosen, in memory that has room for all, and how many they are, which is on the device until
/// it is asked for.
///
/// ```
/// use warpaint::{array::GpuArray, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::from_slice(&context, &[3, -1, 4, -1, 5])?;
/// let positive = a.compress(a.gt(0))?;
/// assert_eq!(positive.capacity().shape(), [5]);
/// assert_eq!(positive.count()?, 3);
/// assert_eq!(positive.elements()?.to_vec()?, [3, 4, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chosen<T: Data> {
    elements: GpuArray<T>,
    count: GpuArray<u64>,
}

impl<T: Data> Chosen<T> {
    /// Room for `n` elements, none of them chosen yet.
    fn new(context: &Context, n: usize) -> Result<Self> {
        let elements = GpuArray::empty(context, &[n])?;
        Ok(Self { elements, count: GpuArray::zeros(context, &[])? })
    }

    /// How many, as an array without axes on the device.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[3, -1, 4, -1])?;
    /// let positive = a.compress(a.gt(0))?;
    /// // The host has not waited for anything when it asks for this:
    /// let share = (positive.device_count().cast::<f64>() / a.len() as f64).eval()?;
    /// assert_eq!(share.item()?, 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn device_count(&self) -> &GpuArray<u64> {
        &self.count
    }

    /// How many. Waits for the device.
    ///
    /// # Errors
    /// Of earlier work on the stream.
    pub fn count(&self) -> Result<usize> {
        Ok(self.count.item()? as usize)
    }

    /// The memory that they begin; what follows them means nothing.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[3, -1, 4, -2])?;
    /// let parted = a.partition(a.gt(0))?; // Here what follows does mean something.
    /// assert_eq!(parted.elements()?.to_vec()?, [3, 4]);
    /// assert_eq!(parted.capacity().to_vec()?, [3, 4, -1, -2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn capacity(&self) -> &GpuArray<T> {
        &self.elements
    }

    /// The elements, as a view with one axis. Waits for their number.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 2], &[1.0f32, f32::NAN, -2.0, f32::INFINITY])?;
    /// let finite = a.compress(a.is_finite())?.elements()?;
    /// assert_eq!((finite.shape(), finite.to_vec()?), (&[2][..], vec![1.0, -2.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Chosen::count`].
    pub fn elements(&self) -> Result<GpuArray<T>> {
        self.elements.slice(&index![..self.count()?])
    }
}

impl<T: Data> Expr<T> {
    /// The elements for which `mask` is true, in C order (`numpy.compress`, and indexing with booleans).
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[3.0f32, -1.0, 4.0, -1.5])?;
    /// let roots = a.sqrt().compress(a.gt(3.5))?; // both computed in the pass that chooses
    /// assert_eq!(roots.elements()?.to_vec()?, [2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] unless the mask has the same shape; as [`Expr::eval`].
    pub fn compress(&self, mask: impl Into<Expr<bool>>) -> Result<Chosen<T>> {
        let mask = mask.into();
        self.expect_shape("compress", &mask)?;
        let chosen = Chosen::new(mask.context()?, mask.shape()?.iter().product())?;
        Choice::of_mask(&self.node, &mask.node)?.run(&chosen, CHOSEN)?;
        Ok(chosen)
    }

    /// All elements in C order, those for which `mask` is true before the others; both keep their order.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::<i32>::arange(&context, 6)?;
    /// let squares = (&a * &a).partition((&a % 2).eq(0))?;
    /// assert_eq!(squares.count()?, 3);
    /// assert_eq!(squares.capacity().to_vec()?, [0, 4, 16, 1, 9, 25]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::compress`].
    pub fn partition(&self, mask: impl Into<Expr<bool>>) -> Result<Chosen<T>> {
        let mask = mask.into();
        self.expect_shape("partition", &mask)?;
        let chosen = Chosen::new(mask.context()?, mask.shape()?.iter().product())?;
        let chosen = Chosen { count: mask.cast::<u64>().sum()?, ..chosen };
        Choice::of_mask(&self.node, &mask.node)?.run(&chosen, PARTED)?;
        Ok(chosen)
    }

    fn expect_shape(&self, operation: &'static str, mask: &Expr<bool>) -> Result<()> {
        let (expected, found) = (self.shape()?, mask.shape()?);
        if expected == found {
            return Ok(());
        }
        Err(Error::Shape { operation, expected, found })
    }
}

impl<T: Sortable> Expr<T> {
    /// The places of the elements that are not 0 (or are true, or NaN), counted in C order (`numpy.flatnonzero`).
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[4.0f32, -9.0, 25.0, f32::NAN])?;
    /// let large = a.sqrt().gt(1.0).flatnonzero()?;
    /// assert_eq!(large.elements()?.to_vec()?, [0, 2]); // the places, without an array of roots
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn flatnonzero(&self) -> Result<Chosen<i64>> {
        let mask = self.cast::<bool>();
        let chosen = Chosen::new(mask.context()?, mask.shape()?.iter().product())?;
        Choice::of_mask(&Expr::<i64>::linear_index().node, &mask.node)?.run(&chosen, CHOSEN)?;
        Ok(chosen)
    }

    /// The indices of the elements that are not 0, an array for each axis (`numpy.nonzero`). Waits for their number.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 7, 2, 8, 3, 9])?;
    /// let [rows, columns] = &a.gt(5).nonzero()?[..] else { panic!("two axes") };
    /// assert_eq!((rows.to_vec()?, columns.to_vec()?), (vec![0, 1, 1], vec![1, 0, 2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn nonzero(&self) -> Result<Vec<GpuArray<i64>>> {
        let places = self.flatnonzero()?.elements()?;
        let (shape, mut step) = (self.shape()?, 1);
        let mut axes = Vec::with_capacity(shape.len());
        for &length in shape.iter().rev() {
            axes.push((&places / step % length as i64).eval()?);
            step *= length as i64;
        }
        axes.reverse();
        Ok(axes)
    }

    /// The different values in ascending order (`numpy.unique`); NaN once.
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[3, 1, 3, 3, 2])?;
    /// assert_eq!(a.unique()?.elements()?.to_vec()?, [1, 2, 3]);
    /// let (values, counts) = a.unique_counts()?;
    /// assert_eq!((values.to_vec()?, counts.to_vec()?), (vec![1, 2, 3], vec![1, 1, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::sort`].
    pub fn unique(&self) -> Result<Chosen<T>> {
        let sorted = self.sort_all(Order::Ascending)?;
        let chosen = Chosen::new(sorted.context(), sorted.len())?;
        Choice::of_first(&sorted.operand(), &Expr::from(&sorted).node)?.run(&chosen, CHOSEN)?;
        Ok(chosen)
    }

    /// The different values as [`Expr::unique`] has them, and how often each occurs. Waits for their number.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[0.25f32, 1.75, 1.25, f32::NAN])?;
    /// let (values, counts) = a.floor().unique_counts()?;
    /// assert_eq!(values.to_vec()?[..2], [0.0, 1.0]); // NaN behind them
    /// assert_eq!(counts.to_vec()?, [1, 2, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::sort`].
    pub fn unique_counts(&self) -> Result<(GpuArray<T>, GpuArray<i64>)> {
        let sorted = self.sort_all(Order::Ascending)?;
        let values = Chosen::new(sorted.context(), sorted.len())?;
        Choice::of_first(&sorted.operand(), &Expr::from(&sorted).node)?.run(&values, CHOSEN)?;
        let firsts = Chosen::new(sorted.context(), sorted.len())?;
        let places = Expr::<i64>::linear_index();
        Choice::of_first(&sorted.operand(), &places.node)?.run(&firsts, CHOSEN)?;
        let (values, firsts) = (values.elements()?, firsts.elements()?);
        // From each first place to the next; from the last to the end.
        let counts = GpuArray::full(sorted.context(), firsts.shape(), sorted.len() as i64)?;
        counts.slice(&index![..-1])?.assign(&firsts.slice(&index![1..])?)?;
        let counts = (&counts - &firsts).eval()?;
        Ok((values, counts))
    }
}

/// What is written for element `i`, which `before_` chosen ones precede.
const CHOSEN: &str = "if (chosen_) out_[before_] = value_;
        if (i == n_ - 1) *count_ = after;";
/// The same where all are kept, and how many are chosen is known.
const PARTED: &str = "out_[chosen_ ? before_ : *count_ + (i - before_)] = value_;";

/// Values, and a mask over them.
struct Choice<'a> {
    code: Code<'a>,
    mask: Mask,
    shape: Axes<usize>,
    parameters: SweepParameters,
}

/// Which elements are chosen.
#[derive(Clone, Copy, Hash)]
enum Mask {
    /// Those for which the expression with this number is true.
    Step(usize),
    /// The first of equal neighbours in `sorted_`.
    First,
}

impl Mask {
    /// CUDA C++ that says whether element `i` is chosen.
    fn text(self, code: &Code<'_>) -> String {
        let (a, b) = ("sorted_[i - 1]", "sorted_[i]");
        match self {
            Self::Step(step) => code.name(step),
            // NaN equals NaN here, as in numpy.
            Self::First => format!("i == 0 || !({a} == {b} || {a} != {a} && {b} != {b})"),
        }
    }
}

impl<'a> Choice<'a> {
    fn of_mask(value: &'a Arc<Node>, mask: &'a Arc<Node>) -> Result<Self> {
        let mut code = Code::new(value)?;
        let mask = Mask::Step(code.include(mask)?);
        let shape = code.shape()?;
        Ok(Self { code, mask, shape, parameters: SweepParameters::new() })
    }

    /// The first of equal neighbours in `sorted`, which is contiguous.
    fn of_first(sorted: &Operand, value: &'a Arc<Node>) -> Result<Self> {
        let declaration = Declaration::pointer(sorted.dtype.name, "sorted_", true);
        let parameters = smallvec![(declaration, sorted.address())];
        let mut code = Code::new(value)?;
        code.define(sorted.dtype);
        Ok(Self { code, mask: Mask::First, shape: sorted.layout.shape().into(), parameters })
    }

    /// Runs it, with `store` for each element.
    fn run<T: Data>(mut self, chosen: &Chosen<T>, store: &str) -> Result<()> {
        let (out, count) = (chosen.elements.operand(), chosen.count.operand());
        self.code.define(out.dtype);
        self.code.use_on(&out.context, "a compaction")?;
        let places = Places::new(&self.shape, &self.code.layouts())?;
        let count_type = if places.count() < 1 << 32 { u32::DTYPE } else { u64::DTYPE };
        for (name, of) in [("out_", &out), ("count_", &count)] {
            self.parameters.push((Declaration::pointer(of.dtype.name, name, false), of.address()));
        }
        let mask = self.mask;
        let sweep = Sweep {
            places,
            total: DType { name: "Count", ..count_type },
            parameters: self.parameters,
            code: self.code,
        };
        sweep.run(&out.context, (mask, store, count_type.name), |code, _| Steps {
            definitions: format!(
                "using Count = {};
struct Plus {{ __device__ Count operator()(Count a, Count b) const {{ return a + b; }} }};
",
                count_type.name
            ),
            combine: "Plus()",
            load: format!("return {} ? 1 : 0;", mask.text(code)),
            store: format!(
                "const Count before_ = i == 0 ? 0 : before;
        const bool chosen_ = after != before_;
        const auto value_ = {value};
        {store}",
                value = code.result(),
            ),
        })
    }
}

impl<T: Data> GpuArray<T> {
    /// As [`Expr::compress`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 2], &[3.0f32, -1.0, 4.0, -1.5])?;
    /// assert_eq!(a.transpose().compress(a.transpose().gt(-1.25))?.elements()?.to_vec()?, [3.0, 4.0, -1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::compress`].
    pub fn compress(&self, mask: impl Into<Expr<bool>>) -> Result<Chosen<T>> {
        Expr::from(self).compress(mask)
    }

    /// As [`Expr::partition`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[3.0f32, -1.0, 4.0, -1.5])?;
    /// let parted = a.partition(a.lt(0.0))?;
    /// assert_eq!(parted.count()?, 2);
    /// assert_eq!(parted.capacity().to_vec()?, [-1.0, -1.5, 3.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::partition`].
    pub fn partition(&self, mask: impl Into<Expr<bool>>) -> Result<Chosen<T>> {
        Expr::from(self).partition(mask)
    }
}

impl<T: Sortable> GpuArray<T> {
    /// As [`Expr::flatnonzero`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 2], &[0.0f32, f32::NAN, -0.0, 2.0])?;
    /// assert_eq!(a.flatnonzero()?.elements()?.to_vec()?, [1, 3]); // NaN is not 0
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn flatnonzero(&self) -> Result<Chosen<i64>> {
        Expr::from(self).flatnonzero()
    }

    /// As [`Expr::nonzero`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[0, 5, 0, 6, 0, 7])?;
    /// let [rows, columns] = &a.nonzero()?[..] else { panic!("two axes") };
    /// assert_eq!(rows.to_vec()?, [0, 1, 1]);
    /// assert_eq!(columns.to_vec()?, [1, 0, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn nonzero(&self) -> Result<Vec<GpuArray<i64>>> {
        Expr::from(self).nonzero()
    }

    /// As [`Expr::unique`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[3, 1, 3, 2, 1, -7])?;
    /// assert_eq!(a.unique()?.elements()?.to_vec()?, [-7, 1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::sort`].
    pub fn unique(&self) -> Result<Chosen<T>> {
        Expr::from(self).unique()
    }

    /// As [`Expr::unique_counts`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let votes = GpuArray::from_slice(&context, &[2u8, 7, 2, 2, 7])?;
    /// let (candidates, counts) = votes.unique_counts()?;
    /// assert_eq!(candidates.to_vec()?, [2, 7]);
    /// assert_eq!(counts.to_vec()?, [3, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::sort`].
    pub fn unique_counts(&self) -> Result<(Self, GpuArray<i64>)> {
        Expr::from(self).unique_counts()
    }
}

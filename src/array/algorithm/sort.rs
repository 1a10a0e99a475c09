//! Stable sorts: of keys alone, of values by keys, and of indices. Few keys are ranked, many take a radix sort.
//!
//! Enters: keys, and values beside them. Leaves: arrays in order. Must not know: `array::random`,
//! `array::algorithm::reduce`.
//!
//! A kernel counts the digits of all keys, then each of their bytes is a pass over memory, from the lowest. Keys and
//! values may be expressions: the first pass evaluates them.

mod radix;

use radix::{LARGEST_VALUE, Radix};

use crate::array::{Data, ElementwiseKernel, Error, Expr, GpuArray, Layout, Real, Result, rank};

/// Which elements come first.
///
/// ```
/// use warpaint::{array::{GpuArray, Order}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::from_slice(&context, &[1, 2, 1, 2])?;
/// assert_eq!(a.argsort(Order::Ascending)?.to_vec()?, [0, 2, 1, 3]);
/// assert_eq!(a.argsort(Order::Descending)?.to_vec()?, [1, 3, 0, 2]); // not the reverse: equals stay in order
/// let a = GpuArray::from_slice(&context, &[1.0f32, f32::NAN, 2.0])?;
/// assert_eq!(a.argsort(Order::Ascending)?.to_vec()?, [0, 2, 1]);
/// assert_eq!(a.argsort(Order::Descending)?.to_vec()?, [1, 2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The least; NaN last, as in numpy.
    #[default]
    Ascending,
    /// The greatest, before which come NaN: the order turned round, but for equal elements, which stay in theirs.
    Descending,
}

impl Order {
    /// All ones turn the order of keys round.
    pub(in crate::array) fn flip(self) -> u64 {
        match self {
            Self::Ascending => 0,
            Self::Descending => u64::MAX,
        }
    }
}

/// Keys and, where there are some, values in their order.
pub(in crate::array) type Sorted<K, V> = (GpuArray<K>, Option<GpuArray<V>>);

/// A type that can be sorted: `bool` and the real numbers.
///
/// ```
/// use warpaint::array::{GpuArray, Order, Result, Sortable};
/// use warpaint::{device::Device, index, kernel::Context};
///
/// /// The upper median.
/// fn median<T: Sortable>(a: &GpuArray<T>) -> Result<T> {
///     let sorted = a.reshape(&[a.len()])?.sort(Order::Ascending)?;
///     sorted.slice(&index![a.len() / 2])?.item()
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// assert_eq!(median(&GpuArray::from_shape(&context, &[2, 2], &[9u8, 1, 5, 7])?)?, 7);
/// assert!(median(&GpuArray::from_slice(&context, &[true, false, true])?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Sortable: Data {}

impl Sortable for bool {}
impl<T: Real> Sortable for T {}

impl<T: Sortable> Expr<T> {
    /// The elements sorted along the last axis (`numpy.sort`).
    ///
    /// Equal elements keep their order, which shows where they differ in bits: `0.0` and `-0.0` are equal, and all NaN
    /// are. Rows take longer than one of their length together, for they are sorted as one and then by row; short ones
    /// do not.
    ///
    /// ```
    /// use warpaint::{array::{GpuArray, Order}, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[2.5f32, -1.0, 7.0])?;
    /// assert_eq!(a.sort(Order::Ascending)?.to_vec()?, [-1.0, 2.5, 7.0]);
    /// assert_eq!(a.argsort(Order::Descending)?.to_vec()?, [2, 0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn sort(&self, order: Order) -> Result<GpuArray<T>> {
        let rows = Rows::of(self)?;
        let sorted = if rank::is_worth_it(&rows) {
            rank::sort::<T, T>(self, None, &rows, order)?.0
        } else if rows.count <= 1 {
            self.sort_all(order)?
        } else {
            let (keys, row) = Radix::new(self, order)?.pairs(self, &rows.row())?;
            rows.sort(&(&row).into(), &(&keys).into())?
        };
        sorted.reshape(&self.shape()?)
    }

    /// The indices that sort along the last axis (`numpy.argsort`), stable as [`Expr::sort`].
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, Order}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[-3.0f32, 1.0, 2.0, 0.5, -0.25, 4.0])?;
    /// let by_size = a.abs().argsort(Order::Ascending)?; // along each row
    /// assert_eq!(by_size.to_vec()?, [1, 2, 0, 1, 0, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn argsort(&self, order: Order) -> Result<GpuArray<i64>> {
        if self.count()? <= 1 << 32 {
            self.argsort_as::<u32>(order)
        } else {
            self.argsort_as::<u64>(order)
        }
    }

    /// The same with indices counted in `I`, which has half the bytes mostly.
    fn argsort_as<I: Data>(&self, order: Order) -> Result<GpuArray<i64>> {
        let rows = Rows::of(self)?;
        let within = |places: Expr<u64>| (places % rows.length.max(1) as u64).cast::<i64>();
        if rank::is_worth_it(&rows) {
            let (_, places) =
                both(rank::sort(self, Some(&within(Expr::linear_index())), &rows, order)?)?;
            return places.reshape(&self.shape()?);
        }
        let (_, mut places) = Radix::new(self, order)?.pairs(self, &Expr::<I>::linear_index())?;
        if rows.count > 1 {
            let row = (places.cast::<u64>() / rows.length as u64).cast::<u32>();
            places = rows.sort(&row, &(&places).into())?;
        }
        within(places.cast()).eval()?.reshape(&self.shape()?)
    }

    /// The elements as keys, sorted, and `values` in the order of their keys, stable as [`Expr::sort`].
    ///
    /// ```
    /// use warpaint::{array::{GpuArray, Order}, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let keys = GpuArray::from_slice(&context, &[3u8, 1, 3, 2])?;
    /// let values = GpuArray::from_slice(&context, &[0.5f64, 1.5, 2.5, 3.5])?;
    /// let (keys, values) = keys.sort_by_key(&values, Order::Ascending)?;
    /// assert_eq!(keys.to_vec()?, [1, 2, 3, 3]);
    /// assert_eq!(values.to_vec()?, [1.5, 3.5, 0.5, 2.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] unless both have one axis of the same length; as [`Expr::eval`].
    pub fn sort_by_key<V: Data>(
        &self,
        values: impl Into<Expr<V>>,
        order: Order,
    ) -> Result<(GpuArray<T>, GpuArray<V>)> {
        let (values, shape) = (values.into(), self.shape()?);
        if shape.len() != 1 {
            let (operation, expected) =
                ("a sort by key, whose keys have one axis", vec![self.count()?]);
            return Err(Error::Shape { operation, expected, found: shape });
        }
        let found = values.shape()?;
        if found != shape {
            let operation = "a sort by key, which has a value for each key";
            return Err(Error::Shape { operation, expected: shape, found });
        }
        let rows = Rows::of(self)?;
        if rank::is_worth_it(&rows) {
            return both(rank::sort(self, Some(&values), &rows, order)?);
        }
        let radix = Radix::new(self, order)?;
        if V::DTYPE.bytes <= LARGEST_VALUE {
            return radix.pairs(self, &values);
        }
        let (keys, places) = radix.pairs(self, &Expr::<u64>::linear_index())?;
        Ok((keys, fetch(&values.eval()?, &places)?))
    }

    /// All elements sorted, with one axis.
    pub(in crate::array) fn sort_all(&self, order: Order) -> Result<GpuArray<T>> {
        Radix::new(self, order)?.keys(self)
    }

    fn count(&self) -> Result<usize> {
        Ok(Layout::contiguous(&self.shape()?)?.count())
    }
}

impl<T: Sortable> GpuArray<T> {
    /// As [`Expr::sort`].
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, Order}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[9, 1, 5, 2, 8, 4])?;
    /// assert_eq!(a.sort(Order::Ascending)?.to_vec()?, [1, 5, 9, 2, 4, 8]);
    /// let columns = a.transpose().sort(Order::Ascending)?.transpose();
    /// assert_eq!(columns.to_vec()?, [2, 1, 4, 9, 8, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::sort`].
    pub fn sort(&self, order: Order) -> Result<Self> {
        Expr::from(self).sort(order)
    }

    /// Sorts it along its last axis, in place. (Memory for a copy is needed meanwhile.)
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, Order}, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[5, 0, 3, 0, 4, 0])?;
    /// a.slice(&index![..;2])?.sort_in_place(Order::Ascending)?; // a view: the others stay
    /// assert_eq!(a.to_vec()?, [3, 0, 4, 0, 5, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::sort`], and [`Error::NotWritable`].
    pub fn sort_in_place(&mut self, order: Order) -> Result<()> {
        let sorted = self.sort(order)?;
        self.assign(&sorted)
    }

    /// As [`Expr::argsort`].
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, Order}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let heights = GpuArray::from_slice(&context, &[1.5f32, 2.5, 0.5])?;
    /// let names = GpuArray::from_slice(&context, &[10, 11, 12])?;
    /// let order = heights.argsort(Order::Descending)?;
    /// assert_eq!(names.take(&order, 0)?.to_vec()?, [11, 10, 12]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::argsort`].
    pub fn argsort(&self, order: Order) -> Result<GpuArray<i64>> {
        Expr::from(self).argsort(order)
    }

    /// As [`Expr::sort_by_key`].
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, Order}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let keys = GpuArray::from_slice(&context, &[2u8, 1, 2])?;
    /// let values = GpuArray::<i32>::arange(&context, 3)?;
    /// let (keys, squares) = keys.sort_by_key(&values * &values, Order::Descending)?;
    /// assert_eq!((keys.to_vec()?, squares.to_vec()?), (vec![2, 2, 1], vec![0, 4, 1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::sort_by_key`].
    pub fn sort_by_key<V: Data>(
        &self,
        values: impl Into<Expr<V>>,
        order: Order,
    ) -> Result<(Self, GpuArray<V>)> {
        Expr::from(self).sort_by_key(values, order)
    }
}

/// `values` at `places`.
#[expect(unsafe_code, reason = "a kernel from an expression")]
fn fetch<V: Data>(values: &GpuArray<V>, places: &GpuArray<u64>) -> Result<GpuArray<V>> {
    let name = V::DTYPE.name;
    let parameters = format!("{name} *out, const {name} *values, const unsigned long long *places");
    // SAFETY: the places are those of the values, in another order.
    let kernel = unsafe { ElementwiseKernel::new(&parameters, "out[i] = values[places[i]]")? };
    let out = GpuArray::empty(values.context(), values.shape())?;
    kernel.call(&[(&out).into(), values.into(), places.into()])?;
    Ok(out)
}

/// What has values.
fn both<K, V: Data>((keys, values): Sorted<K, V>) -> Result<(GpuArray<K>, GpuArray<V>)> {
    let values = values.map_or_else(|| GpuArray::empty(keys.context(), &[0]), Ok)?;
    Ok((keys, values))
}

/// The rows along the last axis.
pub(in crate::array) struct Rows {
    pub(in crate::array) count: usize,
    pub(in crate::array) length: usize,
}

impl Rows {
    fn of<T: Sortable>(expr: &Expr<T>) -> Result<Self> {
        let (count, shape) = (expr.count()?, expr.shape()?);
        let length = shape.last().copied().unwrap_or(1);
        let rows = Self { count: count.checked_div(length).unwrap_or(0), length };
        // Rows are told apart by numbers of 32 bits.
        if rows.count > 1 << 32 { Err(Error::TooLarge { shape }) } else { Ok(rows) }
    }

    /// The row that each element is in.
    fn row(&self) -> Expr<u32> {
        (Expr::<u64>::linear_index() / self.length as u64).cast()
    }

    /// `values` by the rows that they are in, with as many digits as those need.
    fn sort<V: Data>(&self, row: &Expr<u32>, values: &Expr<V>) -> Result<GpuArray<V>> {
        let bits = usize::BITS - (self.count - 1).leading_zeros();
        let radix =
            Radix { digits: bits.div_ceil(8) as usize, ..Radix::new(row, Order::Ascending)? };
        Ok(radix.pairs(row, values)?.1)
    }
}

//! Stable sorts: of keys alone, of values by keys, and of indices. Few keys are ranked, many take a radix sort.
//!
//! A kernel counts the digits of all keys, then each of their bytes is a pass over memory, from the lowest. Keys and
//! values may be expressions: the first pass evaluates them.

use std::sync::Arc;

use crate::array::{
    DType, Data, ElementwiseKernel, Error, Expr, GpuArray, Layout, Real, Result,
    elementwise::counting_blocks,
    elementwise::is_serial,
    layout::Places,
    node::{Node, Operand},
    rank,
    source::Code,
};
use crate::{
    device::{Arguments, Fill, Function, LaunchConfig, PoolBlock},
    kernel::Context,
};

/// The algorithm.
const SORT: &str = concat!(
    include_str!("lanes.cuh"),
    include_str!("scan.cuh"),
    include_str!("order.cuh"),
    include_str!("sort.cuh")
);

/// Values of a digit.
const DIGITS: usize = 256;
/// Threads of a block that counts digits, and blocks for each multiprocessor.
const BLOCK: usize = 256;
/// Bytes of keys, or of values, that a thread of a GPU holds, and elements at most.
const BYTES_PER_THREAD: usize = 80;
const MOST_ITEMS: usize = 20;
/// Larger values are not moved with each digit, but fetched in the end.
const LARGEST_VALUE: usize = 32;

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

/// A sort of so many keys.
struct Radix {
    context: Context,
    shape: Vec<usize>,
    order: Order,
    /// How many bytes of the keys are looked at, from the lowest.
    digits: usize,
}

/// One compiled source: keys and values of some expressions.
struct Stage<'a> {
    radix: &'a Radix,
    code: Code<'a>,
    /// The types of keys and values.
    dtypes: (DType, Option<DType>),
    /// The number of the values' result.
    value: Option<usize>,
    places: Places,
    block: usize,
    items: usize,
}

impl Radix {
    fn new<T: Sortable>(keys: &Expr<T>, order: Order) -> Result<Self> {
        let (context, shape) = (keys.context()?.clone(), keys.shape()?);
        Layout::contiguous(&shape)?;
        Ok(Self { context, shape, order, digits: T::DTYPE.bytes })
    }

    fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes of what tiles count keys in: two bits of it say what a count means.
    fn tally_bytes(&self) -> usize {
        if self.count() < 1 << 30 { 4 } else { 8 }
    }

    /// Keys alone, with one axis.
    fn keys<K: Sortable>(&self, keys: &Expr<K>) -> Result<GpuArray<K>> {
        Ok(self.sort::<K, K>(keys, None)?.0)
    }

    /// Keys and values, with one axis.
    fn pairs<K: Sortable, V: Data>(
        &self,
        keys: &Expr<K>,
        values: &Expr<V>,
    ) -> Result<(GpuArray<K>, GpuArray<V>)> {
        both(self.sort(keys, Some(values))?)
    }

    fn sort<K: Sortable, V: Data>(
        &self,
        keys: &Expr<K>,
        values: Option<&Expr<V>>,
    ) -> Result<Sorted<K, V>> {
        let make = || Buffers::<K, V>::new(self, values.is_some());
        let mut to = make()?;
        if self.count() == 0 {
            return Ok((to.keys, to.values));
        }
        let stage = Stage::new(self, &keys.node, values.map(|values| &values.node))?;
        let begins = stage.begins(K::DTYPE)?;
        stage.sort_digit(0, &begins, &to.keys.operand(), to.operand())?;
        let mut from = if self.digits > 1 { Some(make()?) } else { None };
        for digit in 1..self.digits {
            let Some(other) = &mut from else { break };
            std::mem::swap(&mut to, other);
            let (keys, values) = (Expr::from(&other.keys), other.values.as_ref().map(Expr::from));
            let stage = Stage::new(self, &keys.node, values.as_ref().map(|values| &values.node))?;
            stage.sort_digit(digit, &begins, &to.keys.operand(), to.operand())?;
        }
        Ok((to.keys, to.values))
    }
}

/// Where a pass writes, and the next reads.
struct Buffers<K, V> {
    keys: GpuArray<K>,
    values: Option<GpuArray<V>>,
}

impl<K: Data, V: Data> Buffers<K, V> {
    fn new(radix: &Radix, has_values: bool) -> Result<Self> {
        let shape = [radix.count()];
        let values = has_values.then(|| GpuArray::empty(&radix.context, &shape)).transpose()?;
        Ok(Self { keys: GpuArray::empty(&radix.context, &shape)?, values })
    }

    fn operand(&self) -> Option<Operand> {
        self.values.as_ref().map(GpuArray::operand)
    }
}

impl<'a> Stage<'a> {
    fn new(radix: &'a Radix, keys: &'a Arc<Node>, values: Option<&'a Arc<Node>>) -> Result<Self> {
        let mut code = Code::new(keys)?;
        let value = values.map(|values| code.include(values)).transpose()?;
        code.library = SORT;
        code.use_on(&radix.context, "a sort")?;
        // Buffers between passes have one axis.
        let shape = code.shape()?;
        let places = Places::new(&shape, &code.layouts())?;
        let dtypes = (keys.dtype(), values.map(|values| values.dtype()));
        let widest = dtypes.0.bytes.max(dtypes.1.map_or(0, |value| value.bytes));
        let items = (BYTES_PER_THREAD / widest).clamp(1, MOST_ITEMS);
        let serial = is_serial(&radix.context);
        let (block, items) = if serial { (32, items * BLOCK / 32) } else { (BLOCK, items) };
        Ok(Self { radix, code, dtypes, value, places, block, items })
    }

    /// The type that counts elements.
    fn index(&self) -> &'static str {
        if self.radix.tally_bytes() == 4 { "unsigned" } else { "unsigned long long" }
    }

    fn types(&self) -> String {
        let (key, value) = self.dtypes;
        let value = value.map_or("warpaint::Nothing", |value| value.name);
        let (index, key) = (self.index(), key.name);
        format!("using Index = {index};\nusing Key = {key};\nusing Value = {value};\n")
    }

    fn source(&self) -> String {
        let Self { code, places, block, items, .. } = self;
        let serial = is_serial(&self.radix.context);
        // Three blocks at once: what is computed from keys shall be computed again rather than kept in registers.
        let bounds = if serial { "32" } else { "256, 3" };
        let evaluate = places.evaluate(code);
        format!(
            "{types}{definition}extern \"C\" __global__ void __launch_bounds__({BLOCK}) count_digits({parameters}
    unsigned long long *begins_, const unsigned long long flip_, const unsigned long long n_)
{{
    const auto load_ = [&](const Index i) -> Key {{ {evaluate}return {key}; }};
    warpaint::count_digits<{BLOCK}, Key, Index>(begins_, n_, flip_, load_);
}}
extern \"C\" __global__ void begin_digits(unsigned long long *begins_) {{ warpaint::begin_digits(begins_); }}
extern \"C\" __global__ void __launch_bounds__({bounds}) sort_digit({parameters}
    unsigned long long *memory_, const unsigned long long *begins_, const unsigned shift_,
    const unsigned long long flip_, const unsigned long long n_, Key *keys_, Value *values_)
{{
    const auto key_ = [&](const Index i) -> Key {{ {evaluate}return {key}; }};
    const auto value_ = [&](const Index i) -> Value {{ {evaluate}return {value}; }};
    warpaint::sort_digit<{serial}, {block}, {items}, Key, Value, Index>(memory_, begins_, n_, shift_, flip_, key_,
        value_, keys_, values_);
}}
",
            types = self.types(),
            definition = places.definition(),
            parameters = code.parameters() + places.parameter(),
            key = code.result(),
            value = self.value.map_or("Value()".to_owned(), |value| code.name(value)),
        )
    }

    fn kernel(&self, name: &'static str) -> Result<Function> {
        let types = (self.dtypes.0.name, self.dtypes.1.map(|value| value.name));
        let tile = (self.block, self.items, self.index());
        let facts = ("sort", types, self.value, tile, &self.places);
        self.code.compile_kernel(&self.radix.context, facts, name, || self.source())
    }

    fn arguments(&self) -> Arguments {
        let mut arguments = self.code.arguments();
        self.places.push_to(&mut arguments);
        arguments
    }

    /// Memory that is zero.
    fn zeros(&self, bytes: usize) -> Result<PoolBlock> {
        let stream = self.radix.context.stream();
        let memory = self.radix.context.pool().alloc(stream, bytes)?;
        stream.fill(memory.slice(..)?, Fill::U8(0))?;
        Ok(memory)
    }

    /// For each byte of a key and each value of it, the first place that its keys get.
    #[expect(unsafe_code, reason = "kernel launches")]
    fn begins(&self, key: DType) -> Result<PoolBlock> {
        let context = &self.radix.context;
        let begins = self.zeros(key.bytes * DIGITS * 8)?;
        let n = self.radix.count();
        let blocks = counting_blocks(context, n as u64, (BLOCK * MOST_ITEMS) as u64);
        let mut arguments = self.arguments();
        arguments.push(&begins.address()).push(&self.radix.order.flip()).push(&(n as u64));
        let config = LaunchConfig::new(blocks, BLOCK as u32);
        // SAFETY: it reads the elements of the layouts, which lie within their arrays, and writes a count a digit.
        unsafe { context.stream().launch(&self.kernel("count_digits")?, &config, &arguments)? };
        let mut arguments = Arguments::new();
        arguments.push(&begins.address());
        let config = LaunchConfig::new(key.bytes as u32, 32);
        // SAFETY: a block for each byte of a key changes the counts of that byte.
        unsafe { context.stream().launch(&self.kernel("begin_digits")?, &config, &arguments)? };
        Ok(begins)
    }

    /// The pass of a digit, to `keys` and `values`.
    #[expect(unsafe_code, reason = "a kernel launch")]
    fn sort_digit(
        &self,
        digit: usize,
        begins: &PoolBlock,
        keys: &Operand,
        values: Option<Operand>,
    ) -> Result<()> {
        let (context, n) = (&self.radix.context, self.radix.count());
        let tiles = n.div_ceil(self.block * self.items);
        // A counter, and of each tile a tally of each digit.
        let memory = self.zeros(8 + tiles * DIGITS * self.radix.tally_bytes())?;
        let begins = begins.address() + (digit * DIGITS * 8) as u64;
        let mut arguments = self.arguments();
        arguments.push(&memory.address()).push(&begins).push(&(8 * digit as u32));
        arguments.push(&self.radix.order.flip()).push(&(n as u64)).push(&keys.address());
        arguments.push(&values.map_or(0, |values| values.address()));
        let config = LaunchConfig::new(tiles as u32, self.block as u32);
        // SAFETY: it reads the elements of the layouts, which lie within their arrays, and writes each of the `n`
        // places of `keys` and `values` once; `memory` has room for the tallies of its blocks.
        unsafe { context.stream().launch(&self.kernel("sort_digit")?, &config, &arguments)? };
        Ok(())
    }
}

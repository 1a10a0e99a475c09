//! Sorts by the digits of keys.

use std::sync::Arc;

use super::{Order, Sortable, Sorted, both};
use crate::{
    array::{
        DType, Data, Expr, GpuArray, Layout, Result,
        elementwise::{counting_blocks, is_serial},
        layout::Places,
        node::{Node, Operand},
        source::Code,
    },
    device::{Arguments, Fill, Function, LaunchConfig, PoolBlock},
    kernel::Context,
};

/// The algorithm.
const SORT: &str = concat!(
    include_str!("../lanes.cuh"),
    include_str!("../scan.cuh"),
    include_str!("../order.cuh"),
    include_str!("../sort.cuh")
);

/// Values of a digit.
const DIGITS: usize = 256;

/// Threads of a block that counts digits, and blocks for each multiprocessor.
pub(super) const BLOCK: usize = 256;

/// Bytes of keys, or of values, that a thread of a GPU holds, and elements at most.
pub(super) const BYTES_PER_THREAD: usize = 80;

pub(super) const MOST_ITEMS: usize = 20;

/// Larger values are not moved with each digit, but fetched in the end.
pub(super) const LARGEST_VALUE: usize = 32;

/// A sort of so many keys.
pub(super) struct Radix {
    pub(super) context: Context,
    pub(super) shape: Vec<usize>,
    pub(super) order: Order,
    /// How many bytes of the keys are looked at, from the lowest.
    pub(super) digits: usize,
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
    pub(super) fn new<T: Sortable>(keys: &Expr<T>, order: Order) -> Result<Self> {
        let (context, shape) = (keys.context()?.clone(), keys.shape()?);
        Layout::contiguous(&shape)?;
        Ok(Self { context, shape, order, digits: T::DTYPE.bytes })
    }

    pub(super) fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes of what tiles count keys in: two bits of it say what a count means.
    fn tally_bytes(&self) -> usize {
        if self.count() < 1 << 30 { 4 } else { 8 }
    }

    /// Keys alone, with one axis.
    pub(super) fn keys<K: Sortable>(&self, keys: &Expr<K>) -> Result<GpuArray<K>> {
        Ok(self.sort::<K, K>(keys, None)?.0)
    }

    /// Keys and values, with one axis.
    pub(super) fn pairs<K: Sortable, V: Data>(
        &self,
        keys: &Expr<K>,
        values: &Expr<V>,
    ) -> Result<(GpuArray<K>, GpuArray<V>)> {
        both(self.sort(keys, Some(values))?)
    }

    pub(super) fn sort<K: Sortable, V: Data>(
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
    pub(super) fn new(radix: &Radix, has_values: bool) -> Result<Self> {
        let shape = [radix.count()];
        let values = has_values.then(|| GpuArray::empty(&radix.context, &shape)).transpose()?;
        Ok(Self { keys: GpuArray::empty(&radix.context, &shape)?, values })
    }

    pub(super) fn operand(&self) -> Option<Operand> {
        self.values.as_ref().map(GpuArray::operand)
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        radix: &'a Radix,
        keys: &'a Arc<Node>,
        values: Option<&'a Arc<Node>>,
    ) -> Result<Self> {
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
    pub(super) fn index(&self) -> &'static str {
        if self.radix.tally_bytes() == 4 { "unsigned" } else { "unsigned long long" }
    }

    pub(super) fn types(&self) -> String {
        let (key, value) = self.dtypes;
        let value = value.map_or("warpaint::Nothing", |value| value.name);
        let (index, key) = (self.index(), key.name);
        format!("using Index = {index};\nusing Key = {key};\nusing Value = {value};\n")
    }

    pub(super) fn source(&self) -> String {
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

    pub(super) fn kernel(&self, name: &'static str) -> Result<Function> {
        let types = (self.dtypes.0.name, self.dtypes.1.map(|value| value.name));
        let tile = (self.block, self.items, self.index());
        let facts = ("sort", types, self.value, tile, &self.places);
        self.code.compile_kernel(&self.radix.context, facts, name, || self.source())
    }

    pub(super) fn arguments(&self) -> Arguments {
        let mut arguments = self.code.arguments();
        self.places.push_to(&mut arguments);
        arguments
    }

    /// Memory that is zero.
    pub(super) fn zeros(&self, bytes: usize) -> Result<PoolBlock> {
        let stream = self.radix.context.stream();
        let memory = self.radix.context.pool().alloc(stream, bytes)?;
        stream.fill(memory.slice(..)?, Fill::U8(0))?;
        Ok(memory)
    }

    /// For each byte of a key and each value of it, the first place that its keys get.
    #[expect(unsafe_code, reason = "kernel launches")]
    pub(super) fn begins(&self, key: DType) -> Result<PoolBlock> {
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

//! Scans of columns side by side: along an axis whose elements do not follow each other in memory.

use std::{
    cmp::Reverse,
    hash::{Hash, Hasher},
};

use crate::array::{
    DType, Layout, Result,
    elementwise::index_type,
    elementwise::is_serial,
    layout::Places,
    layout::{Arrays, Axes},
    node::Operand,
    source::Code,
    sweep::THREADS_AT_ONCE,
};
use crate::{
    device::{Fill, LaunchConfig},
    kernel::{Context, GENERATED},
};

/// The algorithm.
const COLUMNS: &str = concat!(include_str!("lanes.cuh"), include_str!("columns.cuh"));

/// Tiles whose totals become one, as columns.cuh has it.
const FAN: usize = 8;
/// Threads of a block of a GPU.
const BLOCK: usize = 256;
/// Neighbouring columns of a tile, where there are as many: whole lines of memory.
const LINE: usize = 32;
/// Bytes of a tile: on the CPU device it stays in a core's nearest cache, a GPU has room for many blocks.
const TILE_BYTES: usize = 16 << 10;
/// Bytes of shared memory that a tile may take where blocks wait for each other, with all that lies beside it: larger
/// ones wait less often.
const SHARED_BYTES: usize = 46 << 10;
/// Elements that lie beside it at most: each thread's total, what comes before a column, and the totals before that.
const BESIDE: usize = BLOCK + LINE + 2 * FAN * LINE;
/// Most elements that a thread of a GPU holds in registers.
const MOST_ITEMS: usize = 32;
/// The largest type of which columns are scanned so.
const MOST_BYTES: usize = 32;

/// Where the elements of arrays, the result last, lie: by column and row.
pub(in crate::array) struct Columns {
    /// Of each column's first element.
    places: Places,
    /// From one row to the next.
    steps: Arrays<isize>,
    rows: usize,
    load: Way,
    store: Way,
    /// What values are collected in.
    accumulator: DType,
}

/// In which order threads read or write a tile, as columns.cuh has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Way {
    Own,
    Across,
    Along,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Own => "OWN",
            Self::Across => "ACROSS",
            Self::Along => "ALONG",
        }
    }
}

/// What happens with elements, in CUDA C++; `row` is an element's place in its column.
pub(in crate::array) struct Steps {
    /// What must stand before the kernel: `Value`, `Result` and `Combine`, too.
    pub(in crate::array) definitions: String,
    /// The value of the element `x_`.
    pub(in crate::array) load: &'static str,
    /// The result of `before` (nothing where `row` is 0) and `after`.
    pub(in crate::array) store: String,
}

impl Columns {
    /// Those along `axis` of arrays of these layouts, broadcast to `shape`, where there are several.
    ///
    /// # Errors
    /// [`Error::Broadcast`](crate::array::Error::Broadcast).
    pub(in crate::array) fn new(
        shape: &[usize],
        layouts: &[&Layout],
        axis: usize,
        accumulator: DType,
    ) -> Result<Option<Self>> {
        let stride = |k: usize, axis: usize| layouts[k].stride_over(shape, axis);
        let result = layouts.len() - 1;
        let mut others: Axes<usize> = (0..shape.len()).filter(|&other| other != axis).collect();
        others.sort_by_key(|&other| Reverse(stride(result, other).unsigned_abs()));
        let places = Places::along(others, shape, layouts)?;
        let steps: Arrays<isize> = (0..layouts.len()).map(|k| stride(k, axis)).collect();

        let beside = |k: usize| places.strides(k).next_back().map_or(0, isize::unsigned_abs);
        let across = |k: usize| beside(k) < steps[k].unsigned_abs();
        let along = |k: usize| steps[k].unsigned_abs() < beside(k);
        let mut read = 0..result;
        let load = if read.clone().any(along) && !read.any(across) { Way::Along } else { Way::Own };
        let store = if along(result) { Way::Along } else { Way::Own };
        let several = places.count() > 1 && shape[axis] > 1 && accumulator.bytes <= MOST_BYTES;
        let columns = Self { places, steps, rows: shape[axis], load, store, accumulator };
        Ok(several.then_some(columns))
    }

    /// Whether to scan them side by side is better than one behind the other: where their elements follow each other in
    /// memory, only if they keep a GPU busy without waiting for each other.
    pub(in crate::array) fn pay_on(&self, context: &Context) -> bool {
        let apart = (self.load, self.store) != (Way::Along, Way::Along);
        let blocks = self.places.count() / LINE as u64;
        apart || !is_serial(context) && blocks >= enough(multiprocessors(context)) as u64
    }

    /// Columns of a tile at least.
    fn width(&self) -> usize {
        (self.places.count() as usize).next_power_of_two().min(LINE)
    }

    /// Puts the scan to `out` on its stream. Where the `facts`, the code and the types are the same, `steps` must be.
    pub(in crate::array) fn run(
        &self,
        code: Code<'_>,
        out: &Operand,
        facts: impl Hash,
        steps: impl Fn() -> Steps,
    ) -> Result<()> {
        let multiprocessors = multiprocessors(&out.context);
        let plan = match is_serial(&out.context) {
            true => Plan::of_cpu(self, multiprocessors),
            false => Plan::of_gpu(self, multiprocessors),
        };
        self.launch(&plan, code, out, facts, steps)
    }

    #[expect(unsafe_code, reason = "a kernel launch")]
    fn launch(
        &self,
        plan: &Plan,
        mut code: Code<'_>,
        out: &Operand,
        facts: impl Hash,
        steps: impl Fn() -> Steps,
    ) -> Result<()> {
        code.library = COLUMNS;
        let (context, accumulator) = (&out.context, self.accumulator);
        let (rows, columns) = (self.rows as u64, self.places.count());
        let index = index_type(rows.saturating_mul(columns));
        let facts = (facts, plan, index, accumulator.name, out.dtype.name, &self.places);
        let source = || self.source(&code, plan, index, &steps());
        let kernel = code.compile(context, ("columns", facts), source)?;

        let memory = match plan.words(accumulator.bytes) {
            0 => None,
            words => {
                let memory = context.pool().alloc(context.stream(), words * 8)?;
                context.stream().fill(memory.slice(..)?, Fill::U8(0))?;
                Some(memory)
            }
        };
        let mut arguments = code.arguments();
        self.places.push_to(&mut arguments);
        let steps: Arrays<i64> = self.steps.iter().map(|&step| step as i64).collect();
        arguments.push_bytes(bytemuck::cast_slice(&steps), 8);
        arguments.push(&out.address()).push(&memory.as_ref().map_or(0, |m| m.address()));
        arguments.push(&rows).push(&columns);
        let config = LaunchConfig::new(plan.blocks() as u32, plan.block() as u32);
        // SAFETY: the kernel reads the elements of the layouts and writes those of `out`, which lie within their
        // arrays' memory, and `memory` has room for the totals of its tiles.
        unsafe { context.stream().launch(&kernel, &config, &arguments)? };
        Ok(())
    }

    fn source(&self, code: &Code<'_>, plan: &Plan, index: &str, steps: &Steps) -> String {
        let arrays = code.arrays.len();
        let at = |k: usize| format!("{} + (long long)row * steps_.at[{k}]", self.places.place(k));
        format!(
            "using Index = {index};
{places}struct Steps {{ long long at[{steps}]; }};
{definitions}
extern \"C\" __global__ void __launch_bounds__({block}, {blocks}) {GENERATED}({parameters}{places_parameter}
    const Steps steps_, Result *out_, unsigned long long *memory_, const unsigned long long rows_,
    const unsigned long long columns_)
{{
    const auto load_ = [&](const Index row, const Index i) -> Value {{
        {locate}{reads}{statements}const auto x_ = {result};
        return {load};
    }};
    const auto store_ = [&](const Index row, const Index i, const Value &before, const Value &after) {{
        {locate}out_[{to}] = static_cast<Result>({store});
    }};
    warpaint::scan_columns<{width}, {parts}, {items}, {unrolled}, warpaint::{way_in}, warpaint::{way_out}, {look_back},
        Value, Index>(memory_, rows_, columns_, Combine(), load_, store_);
}}
",
            places = self.places.definition(),
            steps = self.steps.len(),
            definitions = steps.definitions,
            block = plan.block(),
            blocks = (THREADS_AT_ONCE / plan.block()).clamp(1, 16),
            parameters = code.parameters(),
            places_parameter = self.places.parameter(),
            locate = self.places.locate(),
            reads = code.reads(|k| format!("a{k}[{}]", at(k))),
            statements = code.statements(),
            result = code.result(),
            load = steps.load,
            to = at(arrays),
            store = steps.store,
            width = plan.width,
            parts = plan.parts,
            items = plan.items,
            unrolled = plan.unrolled,
            way_in = plan.load.name(),
            way_out = plan.store.name(),
            look_back = plan.look_back,
        )
    }
}

fn multiprocessors(context: &Context) -> usize {
    context.device().info().multiprocessors as usize
}

/// Blocks that keep a GPU busy: as many as run at once, and as many again.
fn enough(multiprocessors: usize) -> usize {
    multiprocessors * 8
}

/// How the work is shared out.
struct Plan {
    /// Columns of a tile: a power of two.
    width: usize,
    /// Threads of a column.
    parts: usize,
    /// Rows of a thread.
    items: usize,
    /// Of them at a time.
    unrolled: usize,
    load: Way,
    store: Way,
    /// Whether each tile has a block of its own.
    look_back: bool,
    /// Tiles side by side, and below each other.
    tiles: (usize, usize),
}

/// What text depends on.
impl Hash for Plan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { width, parts, items, unrolled, load, store, look_back, .. } = *self;
        (width, parts, items, unrolled, load, store, look_back).hash(state);
    }
}

impl Plan {
    /// Threads of a block take turns on one core: one a column, and what it does to all its rows it does at once.
    fn of_cpu(of: &Columns, cores: usize) -> Self {
        let width = of.width();
        let items = (TILE_BYTES / (width * of.accumulator.bytes.max(1))).max(1);
        let plan = Self { width, items, unrolled: 1, load: of.load, store: of.store, ..Self::ONE };
        plan.shared_out(of, 2 * cores)
    }

    fn of_gpu(of: &Columns, multiprocessors: usize) -> Self {
        let (mut width, columns) = (of.width(), of.places.count() as usize);
        let (bytes, enough) = (of.accumulator.bytes.max(1), enough(multiprocessors));
        let most = match columns.div_ceil(width) < enough {
            true => (SHARED_BYTES / bytes).saturating_sub(BESIDE),
            false => TILE_BYTES / bytes,
        };
        let most = (most / BLOCK).clamp(1, MOST_ITEMS);
        let (few, direct) = (width < LINE, (of.load, of.store) == (Way::Own, Way::Own));
        let (items, parts) = if few || direct {
            // Neighbours of few columns follow each other down the rows; an odd number of rows a thread, so that they
            // lie in different banks of shared memory.
            let items = if few && most.is_multiple_of(2) { most - 1 } else { most };
            // A short axis needs few threads; and many columns are read in wider rows.
            let needed = of.rows.div_ceil(items).next_power_of_two();
            let wide = |width: usize| direct && columns / (2 * width) >= 2 * enough;
            while width < BLOCK && width < columns && (width * needed < BLOCK || wide(width)) {
                width *= 2;
            }
            (items, needed.min(BLOCK / width))
        } else {
            let parts = BLOCK / width;
            (most.min(of.rows.div_ceil(parts).next_power_of_two()), parts)
        };
        let way = |way: Way| if few && way == Way::Own { Way::Across } else { way };
        let (load, store, unrolled) = (way(of.load), way(of.store), items);
        Self { width, parts, items, unrolled, load, store, ..Self::ONE }.shared_out(of, enough)
    }

    /// One column.
    const ONE: Self = Self {
        width: 1,
        parts: 1,
        items: 1,
        unrolled: 1,
        load: Way::Own,
        store: Way::Own,
        look_back: false,
        tiles: (1, 1),
    };

    /// The same with its tiles; each has its block where `enough` blocks are more than there are columns for.
    fn shared_out(self, of: &Columns, enough: usize) -> Self {
        let across = (of.places.count() as usize).div_ceil(self.width);
        let down = of.rows.div_ceil(self.parts * self.items);
        Self { look_back: across < enough && down > 1, tiles: (across, down), ..self }
    }

    fn block(&self) -> usize {
        self.width * self.parts
    }

    fn blocks(&self) -> usize {
        let (across, down) = self.tiles;
        if self.look_back { across * down } else { across }
    }

    /// Words of 8 bytes that blocks leave for each other: a counter, and of each level as many totals as it has, in
    /// words with their flags (see `Mailbox`).
    fn words(&self, bytes: usize) -> usize {
        let (across, down) = self.tiles;
        let levels = down + down.div_ceil(FAN) + down.div_ceil(FAN * FAN);
        if self.look_back { 1 + levels * across * self.width * bytes.div_ceil(4) } else { 0 }
    }
}

#[cfg(test)]
mod tests;

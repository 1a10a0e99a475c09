//! One pass over elements with running totals: what scans and compactions are made of.

use std::hash::Hash;

use smallvec::SmallVec;

use crate::array::{
    DType, Result,
    bound::Declaration,
    elementwise::{index_type, is_serial},
    layout::Places,
    source::Code,
};
use crate::{
    device::{Fill, LaunchConfig},
    kernel::{Context, GENERATED},
};

/// The algorithm.
const SCAN: &str = concat!(include_str!("lanes.cuh"), include_str!("scan.cuh"));

/// Tiles whose totals become one, and such groups that become a step of the chain: the lanes of a warp.
const FAN: usize = 32;
/// Bytes that a thread holds in registers, and elements at most.
const BYTES_PER_THREAD: usize = 124;
const MOST_ITEMS: usize = 31;
/// Threads that a multiprocessor should have room for: it limits the registers that the compiler gives them.
pub(in crate::array) const THREADS_AT_ONCE: usize = 1024;
/// Bytes of shared memory that a block's elements may take.
const SHARED_BYTES: usize = 40 << 10;

/// Parameters of a kernel's own, with addresses and numbers for them.
pub(in crate::array) type SweepParameters = SmallVec<[(Declaration<'static>, u64); 4]>;

/// A pass over the elements of an expression in C order.
///
/// Each gives a total of its own; the kernel combines them in order, and for each element runs statements that see the
/// total before it and with it. The order of combination depends on the number of elements and the kind of device
/// alone.
pub(in crate::array) struct Sweep<'a> {
    /// What the kernel reads; the text of its [`Steps`] may use its results.
    pub(in crate::array) code: Code<'a>,
    /// Where: of the arrays of `code`, and maybe others behind them.
    pub(in crate::array) places: Places,
    /// The type of totals.
    pub(in crate::array) total: DType,
    /// Further parameters of the kernel, with addresses and numbers for them.
    pub(in crate::array) parameters: SweepParameters,
}

/// What a pass does, in CUDA C++.
pub(in crate::array) struct Steps {
    /// What must stand before the kernel.
    pub(in crate::array) definitions: String,
    /// An object that is called with two totals; associative, and needs no neutral element.
    pub(in crate::array) combine: &'static str,
    /// Statements that return the total of element `i` alone.
    pub(in crate::array) load: String,
    /// Statements for element `i`, with the totals `before` (none where `i` is 0) and `after`.
    pub(in crate::array) store: String,
}

impl Sweep<'_> {
    /// Puts it on the stream of `context`. Where the `facts` and the fields of this are the same, `steps` must be.
    #[expect(unsafe_code, reason = "a kernel launch")]
    pub(in crate::array) fn run(
        mut self,
        context: &Context,
        facts: impl Hash,
        steps: impl Fn(&Code<'_>, &Places) -> Steps,
    ) -> Result<()> {
        self.code.library = SCAN;
        let n = self.places.count();
        if n == 0 {
            return Ok(());
        }
        let (block, items) = tile(self.total.bytes, context);
        let unrolled = if is_serial(context) { 1 } else { items };
        let tile = (block, items, unrolled);
        let source = || self.source(&steps(&self.code, &self.places), tile);
        let declarations = self.parameters.iter().map(|(declaration, _)| *declaration);
        let declarations: SmallVec<[_; 4]> = declarations.collect();
        let facts = (facts, tile, index_type(n), self.total.name, &self.places, declarations);
        let kernel = self.code.compile(context, ("sweep", facts), source)?;
        let tiles = n.div_ceil((block * items) as u64) as usize;
        // A counter, and of each level as many totals in words with their flags: see `Mailbox`.
        let totals = tiles + tiles.div_ceil(FAN) + tiles.div_ceil(FAN * FAN);
        let words = 1 + totals * self.total.bytes.div_ceil(4);
        let memory = context.pool().alloc(context.stream(), words * 8)?;
        context.stream().fill(memory.slice(..)?, Fill::U8(0))?;

        let mut arguments = self.code.arguments();
        self.places.push_to(&mut arguments);
        for (_, value) in &self.parameters {
            arguments.push(value);
        }
        arguments.push(&memory.address()).push(&n);
        let config = LaunchConfig::new(tiles as u32, block as u32);
        // SAFETY: the kernel reads the elements of the layouts, which lie within their arrays' memory, and `memory`
        // has room for the totals of its blocks; what `store` writes is its author's to answer for.
        unsafe { context.stream().launch(&kernel, &config, &arguments)? };
        Ok(())
    }

    fn source(&self, steps: &Steps, (block, items, unrolled): (usize, usize, usize)) -> String {
        let own = self.parameters.iter().map(|(declaration, _)| declaration.to_string());
        let evaluate = self.places.evaluate(&self.code);
        format!(
            "using Index = {index};
{places}{definitions}
extern \"C\" __global__ void __launch_bounds__({block}, {blocks}) {GENERATED}({parameters}{places_parameter}{own}
    unsigned long long *memory_, const unsigned long long n_)
{{
    using Total = {total};
    const auto load_ = [&](const Index i) -> Total {{ {evaluate}{load} }};
    const auto store_ = [&](const Index i, const Total &before, const Total &after) {{ {evaluate}{store} }};
    warpaint::scan<{block}, {items}, {unrolled}, Total, Index>(memory_, n_, {combine}, load_, store_);
}}
",
            index = index_type(self.places.count()),
            blocks = THREADS_AT_ONCE / block,
            places = self.places.definition(),
            definitions = steps.definitions,
            parameters = self.code.parameters(),
            places_parameter = self.places.parameter(),
            own = own.collect::<String>(),
            total = self.total.name,
            load = steps.load,
            store = steps.store,
            combine = steps.combine,
        )
    }
}

/// Threads of a block, and elements of `bytes` that each takes: an odd number, so that neighbouring threads' elements
/// lie in different banks of the shared memory. A tile has the same size on all devices.
fn tile(bytes: usize, context: &Context) -> (usize, usize) {
    let items = (BYTES_PER_THREAD / bytes.max(1)).clamp(1, MOST_ITEMS);
    let items = if items.is_multiple_of(2) { items - 1 } else { items };
    let mut block = 256;
    while block > FAN && block * (items + 1) * bytes > SHARED_BYTES {
        block /= 2;
    }
    if is_serial(context) { (FAN, items * block / FAN) } else { (block, items) }
}

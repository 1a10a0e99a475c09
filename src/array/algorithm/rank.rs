//! Sorts of short rows: each key's place is the number of keys before it in its row.
//!
//! One small kernel, which compiles in a fraction of the time that a radix sort's take.

use crate::array::{
    Data, Expr, GpuArray, Order, Result, Sortable,
    elementwise::{Threads, index, run},
    layout::Places,
    node::Node,
    sort::{Rows, Sorted},
    source::Code,
};
use crate::kernel::GENERATED;

/// The algorithm.
const RANK: &str = concat!(include_str!("order.cuh"), include_str!("rank.cuh"));

/// Most comparisons: fewer than a radix sort would take longer for.
const MOST_COMPARISONS: usize = 1 << 20;

/// Whether rows are sorted so: all keys of a row are compared with each other.
pub(in crate::array) fn is_worth_it(rows: &Rows) -> bool {
    let keys = rows.count.checked_mul(rows.length);
    keys.and_then(|keys| keys.checked_mul(rows.length)).is_some_and(|n| n <= MOST_COMPARISONS)
}

/// The keys of each row sorted, and `values` in the order of their keys; with one axis.
pub(in crate::array) fn sort<K: Sortable, V: Data>(
    keys: &Expr<K>,
    values: Option<&Expr<V>>,
    rows: &Rows,
    order: Order,
) -> Result<Sorted<K, V>> {
    let context = keys.context()?.clone();
    let shape = [rows.count * rows.length];
    // They are read again and again, so that it must not be an expression.
    let dense = match &*keys.node {
        Node::Array(operand) if operand.layout.is_contiguous() => operand.clone(),
        _ => keys.eval()?.operand(),
    };
    let sorted = GpuArray::<K>::empty(&context, &shape)?;
    let moved = values.map(|_| GpuArray::<V>::empty(&context, &shape)).transpose()?;
    if shape[0] == 0 {
        return Ok((sorted, moved));
    }
    let (to, to_values) = (sorted.operand(), moved.as_ref().map(GpuArray::operand));

    let read = Node::Array(dense.clone()).into();
    let mut code = Code::new(values.map_or(&read, |values| &values.node))?;
    code.library = RANK;
    let (from, to) = (code.indexed(&dense, true), code.indexed(&to, false));
    let to_values = to_values.as_ref().map(|operand| code.indexed(operand, false));
    code.use_on(&context, "a sort")?;
    let places = Places::new(&code.shape()?, &code.layouts())?;
    let (length, flip, count) = (rows.length as u64, order.flip(), shape[0] as u64);
    let mut arguments = code.arguments();
    places.push_to(&mut arguments);
    arguments.push(&length).push(&flip).push(&count);
    let source = || {
        let put_value = match to_values {
            Some(to) => format!("{}{to}[place] = {};", places.evaluate(&code), code.result()),
            None => String::new(),
        };
        format!(
            "{definition}extern \"C\" __global__ void {GENERATED}({parameters}{places}const unsigned long long length_,
    const unsigned long long flip_, const unsigned long long n)
{{
    {index}
    for (Index i = first_; i < n; i += threads_) {{
        const Index first = i / (Index)length_ * (Index)length_;
        const Index place = first + warpaint::rank<{key}, Index>({from}, first, length_, i, flip_);
        {to}[place] = {from}[i];
        {put_value}
    }}
}}
",
            definition = places.definition(),
            parameters = code.parameters(),
            places = places.parameter(),
            index = index(count),
            key = K::DTYPE.name,
        )
    };
    let facts = ("rank", &places, values.is_some());
    let kernel = code.compile(&context, facts, source)?;
    run(&context, &kernel, (count, Threads::ForEach), &arguments)?;
    Ok((sorted, moved))
}

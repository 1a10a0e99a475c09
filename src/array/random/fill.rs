//! The kernel that fills an array.

use super::{distribution::Distribution, engine::Engine, member::Member};
use crate::{
    array::{
        Error, Result,
        custom::Bound,
        elementwise::{Threads, run},
        expression::Operand,
        source::Code,
    },
    kernel::GENERATED,
};

/// Gives `out` the values that `distribution` makes of `engine`'s sequence from element `first` on.
///
/// # Errors
/// [`Error::NotWritable`], [`Error::WrongDevice`], the device's.
pub(super) fn fill(
    engine: &mut Engine,
    distribution: &Distribution,
    first: u64,
    out: &Operand,
) -> Result<()> {
    if !out.layout.is_injective() {
        return Err(Error::NotWritable { shape: out.layout.shape().to_vec() });
    }
    let n = out.layout.count() as u64;
    if n == 0 {
        return Ok(());
    }
    let values_a_block = 16 / distribution.word;
    let engine_members = engine.members(&out.context, first / values_a_block)?;
    let mut bound = Bound::default();
    let engine_names = declare(&mut bound, "e", &engine_members);
    let distribution_names = declare(&mut bound, "d", &distribution.members);
    bound.add_array("out", false, out);
    let mut code = Code::custom(bound, "", "0");
    code.library = engine.library();
    code.use_on(&out.context, "random numbers")?;
    let mut arguments = code.arguments();
    arguments.push(&first).push(&n);
    let (engine, distribution) = (engine.class(), &distribution.class);
    let source = || {
        format!(
            "extern \"C\" __global__ void {GENERATED}({parameters}const unsigned long long first, const long long n)
{{
    warpaint::fill(warpaint::{engine}{{{engine_names}}}, warpaint::{distribution}{{{distribution_names}}}, out, first, n);
}}
",
            parameters = code.parameters(),
        )
    };
    let facts = ("random numbers", &*engine, distribution, &*engine_names, &*distribution_names);
    let kernel = code.compile(&out.context, facts, source)?;
    let blocks = n.div_ceil(values_a_block) + 1;
    run(&out.context, &kernel, (blocks, Threads::Stride), &arguments)
}

/// Declares a parameter for each member; their names.
fn declare<'a>(bound: &mut Bound<'a>, prefix: &str, members: &'a [Member]) -> String {
    let names: Vec<_> = (0..members.len()).map(|k| format!("{prefix}{k}")).collect();
    for (name, member) in names.iter().zip(members) {
        member.declare(name, bound);
    }
    names.join(", ")
}

//! The kernel that fills an array.

use super::{
    distribution::{Distribution, Members, Value},
    engine::Engine,
};
use crate::{
    array::{Error, Result, custom::Bound, elementwise::run, expression::Operand, source::Code},
    kernel::GENERATED,
};

/// Classes and functions of the kernels.
const FILL: &str = include_str!("fill.cuh");

/// Gives `out` the values that `distribution` makes of `engine`'s sequence from element `first` on.
///
/// # Errors
/// [`Error::NotWritable`], [`Error::WrongDevice`], the device's.
pub(super) fn fill(
    engine: &Engine,
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
    let mut bound = Bound::default();
    let engine_members = declare(&mut bound, "e", &engine.members());
    let distribution_members = match &distribution.members {
        Members::Values(values) => declare(&mut bound, "d", values),
        Members::Array(array) => {
            bound.add_array("d0", true, array);
            "d0".into()
        }
    };
    bound.add_array("out", false, out);
    let code = Code::custom(bound, FILL, "0");
    code.use_on(&out.context, "random numbers")?;
    let source = format!(
        "extern \"C\" __global__ void {GENERATED}({parameters}const unsigned long long first, const long long n)
{{
    warpaint::fill(warpaint::{engine}{{{engine_members}}}, warpaint::{distribution}{{{distribution_members}}}, out, first, n);
}}
",
        parameters = code.parameters(),
        engine = engine.class(),
        distribution = distribution.class,
    );
    let mut arguments = code.arguments();
    arguments.push(&first).push(&n);
    let values_a_block = 16 / distribution.word;
    run(&out.context, &code, &source, n.div_ceil(values_a_block) + 1, &arguments)
}

/// Declares a parameter for each value; their names.
fn declare(bound: &mut Bound, prefix: &str, values: &[Value]) -> String {
    let names: Vec<_> = (0..values.len()).map(|k| format!("{prefix}{k}")).collect();
    for (name, value) in names.iter().zip(values) {
        bound.add_value(value.dtype.name, name, &value.bytes, value.dtype.align);
    }
    names.join(", ")
}

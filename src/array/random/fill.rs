//! The kernel that fills an array.

use super::{class::Class, distribution::Distribution, engine::Engine, member::Member};
use crate::{
    array::{
        Error, Result,
        bound::{Bound, Name},
        elementwise::{Threads, run},
        node::Operand,
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
    declare(&mut bound, "e", &engine_members);
    declare(&mut bound, "d", &distribution.members);
    bound.add_array("out", false, out);
    let mut code = Code::custom(bound, "", "0");
    code.library = engine.library();
    code.use_on(&out.context, "random numbers")?;
    let mut arguments = code.arguments();
    arguments.push(&first).push(&n);
    let engine = ("e", engine.class(), engine_members.len());
    let distribution = ("d", distribution.class, distribution.members.len());
    let facts = ("random numbers", engine, distribution);
    let kernel = code.compile(&out.context, facts, || source(&code, engine, distribution))?;
    let blocks = n.div_ceil(values_a_block) + 1;
    run(&out.context, &kernel, (blocks, Threads::Stride), &arguments)
}

/// Declares a parameter for each member.
fn declare<'a>(bound: &mut Bound<'a>, letter: &'static str, members: &'a [Member]) {
    for (number, member) in members.iter().enumerate() {
        member.declare(Name::Numbered(letter, number), bound);
    }
}

/// A class with the letter of its members' parameters, and how many those are.
type Of = (&'static str, Class, usize);

fn source(code: &Code<'_>, engine: Of, distribution: Of) -> String {
    let object = |(letter, class, members): Of| {
        let members = (0..members).map(|number| format!("{}, ", Name::Numbered(letter, number)));
        format!("{class}{{{}}}", members.collect::<String>())
    };
    format!(
        "extern \"C\" __global__ void {GENERATED}({parameters}const unsigned long long first, const long long n)
{{
    warpaint::fill({engine}, {distribution}, out, first, n);
}}
",
        parameters = code.parameters(),
        engine = object(engine),
        distribution = object(distribution),
    )
}

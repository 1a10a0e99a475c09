//! Sizes that whoever runs a module can rely on: within them no sum of sizes overflows, and what a few lines of text
//! ask for cannot take all memory.

use crate::ptx::ast::{Body, Function, Module, Param, Variable};
use crate::ptx::inst::{Instruction, Op};
use crate::ptx::operand::Operand;
use crate::ptx::outline::LOCAL_BYTES;
use crate::ptx::types::Space;

/// Most bytes of a function's parameters (the PTX ISA allows 32,764 of a kernel), of its results, and of a call's.
const PARAMETER_BYTES: u64 = 64 << 10;
/// Most bytes of shared memory; what a launch may have is less.
const SHARED_BYTES: u64 = 1 << 30;
/// Most bytes of a variable of the module.
const VARIABLE_BYTES: u64 = 1 << 42;
/// Largest alignment.
const ALIGNMENT: u32 = 1 << 16;
/// Most registers times basic blocks of a function: analyses keep a bit for each.
const REGISTERS_BY_BLOCKS: u64 = 1 << 31;
/// Most places that the `brx.idx` of a function can lead to, all together.
const INDEXED_BRANCHES: u64 = 1 << 20;

/// What is too large in `module`, in a sentence.
pub(super) fn exceeded(module: &Module) -> Option<String> {
    let shared = of_space(&module.variables, Space::is_of_block);
    if shared > SHARED_BYTES {
        return Some(format!("its variables take {shared} bytes of shared memory"));
    }
    module
        .variables
        .iter()
        .find_map(variable)
        .or_else(|| module.functions.iter().find_map(function))
}

/// Bytes of all variables in a space, with what alignment may add.
fn of_space(variables: &[Variable], is: impl Fn(Space) -> bool) -> u64 {
    let chosen = variables.iter().filter(|variable| is(variable.space));
    chosen.fold(0, |sum: u64, variable| {
        sum.saturating_add(variable.bytes()).saturating_add(u64::from(variable.alignment()))
    })
}

fn variable(variable: &Variable) -> Option<String> {
    let bytes = variable.bytes();
    let extent =
        variable.dims.iter().fold(1, |extent: u64, dim| extent.saturating_mul((*dim).max(1)));
    let most = if variable.space == Space::Param { PARAMETER_BYTES } else { VARIABLE_BYTES };
    if bytes > most || extent > VARIABLE_BYTES {
        return Some(format!("`{}` is larger than {most} bytes", variable.name));
    }
    let aligned = variable.alignment() <= ALIGNMENT;
    (!aligned).then(|| format!("`{}` is aligned to more than {ALIGNMENT} bytes", variable.name))
}

fn function(function: &Function) -> Option<String> {
    let name = &function.name;
    let prototypes = function.body.iter().flat_map(|body| &body.prototypes);
    let lists = prototypes.flat_map(|p| [&p.params, &p.returns]);
    for list in [&function.params, &function.returns].into_iter().chain(lists) {
        let bytes = parameters(list);
        if bytes > PARAMETER_BYTES {
            return Some(format!("`{name}` has or names {bytes} bytes of parameters"));
        }
    }
    function.body.as_ref().and_then(|body| inside(body, name))
}

fn parameters(list: &[Param]) -> u64 {
    list.iter().fold(0, |sum: u64, param| {
        sum.saturating_add(param.bytes()).saturating_add(u64::from(param.alignment()))
    })
}

fn inside(body: &Body, name: &str) -> Option<String> {
    let local = of_space(&body.locals, |space| matches!(space, Space::Local | Space::Param));
    let shared = of_space(&body.locals, Space::is_of_block);
    if local > LOCAL_BYTES {
        return Some(format!("`{name}` takes {local} bytes of local memory a thread"));
    }
    if shared > SHARED_BYTES {
        return Some(format!("`{name}` takes {shared} bytes of shared memory"));
    }
    // A block begins at a label, and behind what may go elsewhere.
    let ends = body.instructions().filter(|i| i.is_terminator()).count();
    let blocks = (body.labels.len() + ends) as u64;
    if (body.registers.len() as u64).saturating_mul(blocks) > REGISTERS_BY_BLOCKS {
        return Some(format!("`{name}` has too many registers and basic blocks"));
    }
    if body.instructions().map(|i| indexed_branches(body, i)).sum::<u64>() > INDEXED_BRANCHES {
        return Some(format!("`{name}` has too many `brx.idx` of too many labels"));
    }
    body.locals.iter().find_map(variable)
}

/// The labels that `brx.idx` chooses from.
fn indexed_branches(body: &Body, instruction: &Instruction) -> u64 {
    let (Op::BrxIdx { .. }, [_, Operand::Table(table), ..]) =
        (&instruction.op, instruction.src.as_slice())
    else {
        return 0;
    };
    body.tables.get(*table as usize).map_or(0, |table| table.labels.len() as u64)
}

//! Instructions that end the launch: `trap`, and failed assertions.

use crate::ptx::ast::{Body, Init, Module, Statement, Value};
use crate::ptx::inst::{Instruction, Op};
use crate::ptx::op::Next;
use crate::ptx::operand::{Address, Base, Operand, Reg, Symbol};

/// The function that a failed `assert` calls.
const ASSERT: &str = "__assertfail";

/// Why an instruction ends the launch; none where it does not.
pub(super) fn reason(module: &Module, body: &Body, at: usize, i: &Instruction) -> Option<Reason> {
    if i.op.facts().next == Next::Traps {
        return Some(Reason::Trap);
    }
    calls(module, i, ASSERT).then(|| {
        let text = |argument: usize| text(module, body, at, i.src.get(argument));
        let line = number(body, at, i.src.get(3));
        let line = line.map_or_else(|| "?".to_owned(), |line| line.to_string());
        Reason::Assert(format!("`{}` in {} ({}:{line})", text(1), text(4), text(2)))
    })
}

/// Whether an instruction calls a function of the driver's with this name.
pub(super) fn calls(module: &Module, i: &Instruction, name: &str) -> bool {
    let callee = i.callee().and_then(|callee| module.functions.get(callee as usize));
    callee.is_some_and(|callee| callee.name == name && callee.body.is_none())
}

/// Why a launch ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Trap,
    /// With the condition, the function and the place.
    Assert(String),
}

/// What was stored last to a parameter of a call at `at`, and by which statement.
pub(super) fn stored<'a>(
    body: &'a Body,
    at: usize,
    argument: Option<&Operand>,
) -> Option<(usize, &'a Operand)> {
    let Some(Operand::Symbol(local @ Symbol::Local(_), 0)) = argument else { return None };
    let before = body.statements.get(..at)?.iter().enumerate().rev();
    let mut instructions = before.take_while(|(_, one)| !matches!(one, Statement::Label(_)));
    instructions.find_map(|(place, statement)| match statement {
        Statement::Instruction(Instruction { op: Op::St(_), src, .. }) => match src.as_slice() {
            [Operand::Address(Address { base: Base::Symbol(symbol), offset: 0 }), value, ..]
                if symbol == local =>
            {
                Some((place, value))
            }
            _ => None,
        },
        Statement::Instruction(_) | Statement::Label(_) | Statement::Pragma(_) => None,
    })
}

/// The only instruction that writes a register.
fn written(body: &Body, reg: Reg) -> Option<&Instruction> {
    let mut writes = body.instructions().filter(|i| {
        let mut is = false;
        i.for_each_def(|written| is |= written == reg);
        is
    });
    writes.next().filter(|_| writes.next().is_none())
}

/// What was stored to a parameter of a call at `at`, followed back through the registers that it was in.
fn followed<'a>(body: &'a Body, at: usize, argument: Option<&Operand>) -> Option<&'a Operand> {
    let (_, mut value) = stored(body, at, argument)?;
    let mut steps = 0;
    while let (Operand::Reg(reg), 0..8) = (value, steps) {
        value = written(body, *reg)?.src.first()?;
        steps += 1;
    }
    Some(value)
}

fn number(body: &Body, at: usize, argument: Option<&Operand>) -> Option<i64> {
    let Operand::Int(number) = followed(body, at, argument)? else { return None };
    Some(*number)
}

/// The text that an argument points to.
fn text(module: &Module, body: &Body, at: usize, argument: Option<&Operand>) -> String {
    let bytes = || {
        let Operand::Symbol(Symbol::Variable(index), 0) = followed(body, at, argument)? else {
            return None;
        };
        bytes(module.variables.get(*index as usize)?.init.as_ref()?)
    };
    let bytes = bytes().unwrap_or_else(|| b"?".to_vec());
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn bytes(init: &Init) -> Option<Vec<u8>> {
    match init {
        Init::Text(bytes) => Some(bytes.clone()),
        Init::List(list) => list.iter().map(byte).collect(),
        Init::Value(_) => None,
    }
}

fn byte(init: &Init) -> Option<u8> {
    match init {
        Init::Value(Value::Int(value)) => Some(*value as u8),
        Init::Value(_) | Init::List(_) | Init::Text(_) => None,
    }
}

//! Calls of `printf` are counted, and those beyond a number print nothing.
//!
//! The driver prints what kernels have put into a buffer when they are waited for. A kernel that finds it full is
//! slower by orders of magnitude (1,048,576 threads that print a number each: not done after a minute, driver 580), and
//! cannot be stopped there. So the buffer is never full: the calls between two waits are counted, and those that
//! are too many get no format, which CUDA documents to print nothing.

use std::collections::HashSet;

use super::code::{Code, at, when};
use super::plan::instruction;
use super::record::{MOST_PRINTS, Recorder, control, prints};
use super::stop;
use crate::ptx::ast::{Body, Module};
use crate::ptx::inst::Instruction;
use crate::ptx::operand::Operand;
use crate::ptx::types::Type;

/// The function that `printf` calls.
const PRINTF: &str = "vprintf";

/// The statements that hand a format to `printf`.
pub(super) fn formats(module: &Module, body: &Body) -> HashSet<usize> {
    let calls = (0..body.statements.len()).filter_map(|at| {
        let call = instruction(body, at).filter(|i| stop::calls(module, i, PRINTF))?;
        // Behind the function's name.
        stop::stored(body, at, call.src.get(1)).map(|(place, _)| place)
    });
    calls.collect()
}

/// Counts a call, and hands it no format where there were enough: `i` is what stores the format.
pub(super) fn count(code: &mut Code, recorder: Recorder, i: &mut Instruction) {
    let Some(format) = i.src.get_mut(1) else { return };
    let all = code.give("ld.global.u64", Type::B64, [recorder.control(control::PRINTS)]);
    let counted = [at(all, prints::COUNT), Operand::Int(1)];
    let number = Operand::Reg(code.give("atom.global.add.u32", Type::B32, counted));
    let given = code.give("mov.b64", Type::B64, [format.clone()]);
    let fits = [number.clone(), Operand::Int(MOST_PRINTS.into())];
    let fits = code.give("setp.lo.u32", Type::Pred, fits);
    let chosen = [Operand::Reg(given), Operand::Int(0), Operand::Reg(fits)];
    *format = Operand::Reg(code.give("selp.b64", Type::B64, chosen));
    let first = code.give("setp.eq.u32", Type::Pred, [number, Operand::Int(0)]);
    let told = code.give("ld.global.u64", Type::B64, [at(all, prints::TOLD)]);
    let told = [at(told, 0), Operand::Int(1)];
    code.put_if(when(first), "st.volatile.global.u32", [], told);
}

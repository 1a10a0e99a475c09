//! Functions that reach themselves look how much of the stack is left, and whether they are to end.
//!
//! A call that finds no room ends CUDA for the process. Where the compiler of the driver sees all calls it reserves
//! what they need; where a function calls itself, or others through pointers, a thread has as many bytes as the host
//! has asked for. So the host asks for what a module needs at least ([`Stack::needed`]), writes the lowest address of
//! the stack into the control block, and each function that reaches itself compares its stack pointer with that: what
//! it calls before the next such comparison has to find room, too.

use super::code::when;
use super::poll::stop_at;
use super::record::{AccessRecord, control};
use super::search::stack_pointer;
use super::weaver::Weaver;
use super::{CheckKind, LocalMemory};
use crate::ptx::ast::{Function, Module};
use crate::ptx::inst::Op;
use crate::ptx::operand::{Operand, Scalar, Special};
use crate::ptx::pass::calls::CallGraph;
use crate::ptx::types::{Space, Type};

/// What a frame may take beside the variables of its function, in bytes: registers that are kept, arguments.
const FRAME: u64 = 256;
/// What is left free for functions of the driver, whose frames are not known.
const SPARE: u64 = 1024;
/// What a thread needs beside one frame of each function, where functions reach themselves.
const RECURSION: u64 = 4096;
/// More of it is asked for by no module.
const MOST: u64 = 256 << 10;
/// One call of 1,024 looks at the host's wish, far away: where the clock has none of these bits.
const CHANCE: i64 = 0x3ff0;

/// What calls need of the stack, function by function.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    /// Of functions that reach themselves: how many bytes have to be left where they begin.
    reserves: Vec<Option<u64>>,
    /// Bytes that each thread needs for calls; 0 where the driver's compiler sees them all.
    pub(super) needed: u64,
}

impl Stack {
    /// Of a module for a device with this local memory: where the stack lies elsewhere nothing is compared.
    pub(super) fn of(module: &Module, local: LocalMemory) -> Self {
        let graph = CallGraph::new(module);
        let all = 0..graph.len();
        let recursive: Vec<bool> = all.clone().map(|one| graph.reaches_itself(one)).collect();
        let is_recursive = recursive.contains(&true);
        let is_seen = !is_recursive && !module.functions.iter().any(calls_pointers);
        let order = graph.inner_first();
        // Whether what a callee calls is counted with it.
        let below = |goes_on: &dyn Fn(usize) -> bool| {
            let mut below = vec![0; graph.len()];
            for one in &order {
                let needs = graph.callees(*one).iter().map(|callee| {
                    let further = if goes_on(*callee) { below[*callee] } else { 0 };
                    frame(&module.functions[*callee]) + further
                });
                below[*one] = needs.max().unwrap_or(0);
            }
            below
        };
        let until_checked = below(&|callee| !recursive[callee]);
        let is_compared =
            |one: &usize| recursive[*one] && local.of(module) == LocalMemory::FromStackPointer;
        let reserves =
            all.map(|one| is_compared(&one).then(|| SPARE + until_checked[one])).collect();
        let deepest = below(&|_| true).into_iter().max().unwrap_or(0);
        let again = if is_recursive { RECURSION } else { 0 };
        let needed = if is_seen { 0 } else { (SPARE + deepest + again).min(MOST) };
        Self { reserves, needed }
    }

    /// How many bytes have to be left where a function begins; none of one that does not reach itself.
    pub(super) fn reserve(&self, function: usize) -> Option<u64> {
        self.reserves.get(function).copied().flatten()
    }
}

/// At most so many bytes of the stack a call of the function takes before it calls others.
fn frame(function: &Function) -> u64 {
    let locals = function.body.iter().flat_map(|body| &body.locals);
    let own = locals.filter(|variable| variable.space == Space::Local);
    own.map(|variable| variable.bytes()).fold(FRAME, u64::saturating_add).min(MOST)
}

fn calls_pointers(function: &Function) -> bool {
    let mut all = function.body.iter().flat_map(|body| body.instructions());
    all.any(|i| matches!(i.op, Op::Call { .. }) && i.callee().is_none())
}

impl Weaver<'_> {
    /// At the beginning of a function that reaches itself: the thread ends where less than `reserve` bytes are left,
    /// and where the flag is up.
    pub(super) fn look_at_stack(&mut self, reserve: u64) {
        let first = self.body.instructions().next();
        let (location, line) = first.map_or((None, 0), |i| (i.location, i.line));
        let deep = self.push_check(CheckKind::TooDeep { location, line });
        let stop = self.push_check(CheckKind::Stop { location, line });
        let (code, recorder) = (&mut self.code, self.recorder);
        code.location = location;
        let [too_deep, stopped] = [deep, stop].map(|check| {
            code.aside(|code| {
                let label = code.label();
                code.place(label);
                recorder.record(code, Operand::Int(check.into()), &AccessRecord::NONE);
                code.put("exit", [], []);
                label
            })
        });
        let pointer = stack_pointer(code);
        let lowest = code.give("ld.global.u64", Type::B64, [recorder.control(control::STACK)]);
        let room = [Operand::Reg(lowest), Operand::Int(reserve.cast_signed())];
        let room = code.give("add.s64", Type::B64, room);
        let below = [Operand::Reg(pointer), Operand::Reg(room)];
        let below = code.give("setp.lo.u64", Type::Pred, below);
        code.jump(when(below), too_deep);
        let flag = recorder.control(control::STOP);
        let flag = code.give("ld.volatile.global.u32", Type::B32, [flag]);
        stop_at(code, flag, stopped);
        // There is no register that counts all calls; the clock is at a multiple of a power of two by chance.
        let clock = code.special(Special::Scalar(Scalar::Clock));
        code.once_in_a_while(clock, CHANCE, |code, _| {
            let wish = recorder.wish(code);
            stop_at(code, wish, stopped);
        });
    }
}

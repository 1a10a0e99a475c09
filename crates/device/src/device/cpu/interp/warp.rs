//! Operations of a warp: PTX ISA 9.7.13. Lanes wait until all that the mask names are at the same operation.

use super::{
    env::{Env, WARP},
    machine::Machine,
    program::{Action, Dst},
    thread::{State, Thread, Waiting},
};
use crate::{
    device::Fault,
    ptx::{
        modifier::{AtomOp, ShflMode, VoteMode},
        op::WarpOp,
        types::Type,
    },
};

/// Lets lanes go on whose operation is complete; whether there were any. While others run, `activemask` is patient.
///
/// # Errors
/// The fault of a lane.
pub(super) fn resolve(
    machine: &mut Machine,
    env: &Env,
    lanes: &mut [Thread],
    patient: bool,
) -> Result<bool, Box<Fault>> {
    let mut resolved = false;
    for lane in 0..lanes.len() {
        let State::Warp(waiting) = lanes[lane].state else { continue };
        let Some(group) = group(lanes, lane, waiting, patient) else { continue };
        if let WarpOp::Matrix(op) = waiting.op {
            machine.matrix(env, lanes, &op)?;
        } else {
            perform(machine, lanes, group, waiting.op);
        }
        if let Some(watch) = &mut machine.watch
            && waiting.op != WarpOp::Activemask
        {
            let threads: Vec<u32> = members(group).map(|lane| lanes[lane].index).collect();
            watch.joined(env, &threads, false, None);
        }
        for member in members(group) {
            lanes[member].state = State::Ready;
            lanes[member].pc += 1;
        }
        resolved = true;
    }
    Ok(resolved)
}

/// The lanes that do the operation together with `lane`, once all are there.
fn group(lanes: &[Thread], lane: usize, waiting: Waiting, patient: bool) -> Option<u32> {
    let those = |holds: &dyn Fn(&Thread) -> bool| {
        let lanes = lanes.iter().enumerate().filter(|(_, thread)| holds(thread));
        lanes.fold(0u32, |mask, (lane, _)| mask | 1 << lane)
    };
    // The same instruction, with the same calls behind it.
    let own = &lanes[lane];
    let is_here = |thread: &Thread| {
        (thread.function, thread.pc, thread.frames.len())
            == (own.function, own.pc, own.frames.len())
    };
    if waiting.op == WarpOp::Activemask {
        let same = |thread: &Thread| {
            matches!(thread.state, State::Warp(w) if w.op == WarpOp::Activemask) && is_here(thread)
        };
        let running = those(&Thread::is_ready) != 0;
        return (!patient || !running).then(|| those(&same));
    }
    let same = |thread: &Thread| match thread.state {
        State::Warp(other) => {
            let is_same = other.op == waiting.op && other.mask == waiting.mask;
            is_same && (!waiting.op.is_of_one_instruction() || is_here(thread))
        }
        State::Ready | State::Barrier(_) | State::Done => false,
    };
    let (ready, gone) = (those(&same), those(&Thread::is_done));
    let absent = u32::MAX.checked_shl(lanes.len() as u32).unwrap_or(0);
    // Lanes that have ended, or never were, are not waited for. A lane that its own mask leaves out waits for ever:
    // what it would get is undefined.
    let gone = gone | absent;
    // But where each holds a part of a matrix.
    let needed = if let WarpOp::Matrix(_) = waiting.op { u32::MAX } else { waiting.mask & !gone };
    let missing = needed & !ready;
    let is_named = waiting.mask >> lane & 1 != 0;
    (missing == 0 && is_named).then_some(waiting.mask & ready)
}

fn members(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP).filter(move |lane| mask >> lane & 1 != 0)
}

fn perform(machine: &Machine, lanes: &mut [Thread], group: u32, op: WarpOp) {
    let mut given = [None; WARP];
    for lane in members(group) {
        if let State::Warp(waiting) = lanes[lane].state {
            given[lane] = Some(waiting);
        }
    }
    let leader = group.trailing_zeros();
    for lane in members(group) {
        let Some(own) = given[lane] else { continue };
        let values = || members(group).filter_map(|member| Some((member, given[member]?.value)));
        let (result, predicate) = match op {
            WarpOp::Sync | WarpOp::Matrix(_) => continue,
            WarpOp::Activemask => (group.into(), true),
            WarpOp::Elect => (leader.into(), lane as u32 == leader),
            WarpOp::Shfl(mode) => {
                let (source, valid) =
                    source_lane(mode, lane as i32, own.lane as i32, own.clamp as i32);
                let source = given.get(source).copied().flatten();
                (source.map_or(own.value, |source| source.value), valid)
            }
            WarpOp::Vote(mode) => {
                let trues = values().filter(|(_, value)| value & 1 != 0);
                let trues = trues.fold(0u32, |mask, (lane, _)| mask | 1 << lane);
                let result = match mode {
                    VoteMode::All => u32::from(trues == group),
                    VoteMode::Any => u32::from(trues != 0),
                    VoteMode::Uni => u32::from(trues == group || trues == 0),
                    VoteMode::Ballot => trues,
                };
                (result.into(), result != 0)
            }
            WarpOp::Match { all } => {
                let same = values().filter(|(_, value)| *value == own.value);
                let same = same.fold(0u32, |mask, (lane, _)| mask | 1 << lane);
                let agreed = same == group;
                (if all && !agreed { 0 } else { same.into() }, agreed)
            }
            WarpOp::Redux(op, ty) => {
                let words = values().map(|(_, value)| value as u32);
                (words.reduce(|a, b| reduced(op, ty, a, b)).unwrap_or(0).into(), true)
            }
        };
        if let Some([first, second]) = destinations(machine, &lanes[lane]) {
            Machine::write(&mut lanes[lane], second, predicate.into());
            Machine::write(&mut lanes[lane], first, result);
        }
    }
}

/// `shfl`: which lane is read, and whether it is in range; out of range, a lane reads itself.
fn source_lane(mode: ShflMode, lane: i32, b: i32, c: i32) -> (usize, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let max = (lane & segment) | (clamp & !segment);
    let min = lane & segment;
    let (source, valid) = match mode {
        ShflMode::Up => (lane - b, lane - b >= max),
        ShflMode::Down => (lane + b, lane + b <= max),
        ShflMode::Bfly => (lane ^ b, lane ^ b <= max),
        ShflMode::Idx => {
            let source = min | (b & !segment);
            (source, source <= max)
        }
    };
    (if valid { source as usize } else { lane as usize }, valid)
}

fn reduced(op: AtomOp, ty: Type, a: u32, b: u32) -> u32 {
    let signed = ty.is_signed();
    match op {
        AtomOp::Add => a.wrapping_add(b),
        AtomOp::And => a & b,
        AtomOp::Or => a | b,
        AtomOp::Xor => a ^ b,
        AtomOp::Min if signed => (a as i32).min(b as i32) as u32,
        AtomOp::Max if signed => (a as i32).max(b as i32) as u32,
        AtomOp::Min => a.min(b),
        AtomOp::Max => a.max(b),
        AtomOp::Cas | AtomOp::Exch | AtomOp::Inc | AtomOp::Dec => b,
    }
}

/// The destinations of the instruction at which a thread waits.
fn destinations(machine: &Machine, thread: &Thread) -> Option<[Dst; 2]> {
    let insts = &Machine::code(&machine.program, thread.function).insts;
    let inst = insts.get(thread.pc as usize)?;
    matches!(inst.action, Action::Warp(_)).then_some(inst.dst)
}

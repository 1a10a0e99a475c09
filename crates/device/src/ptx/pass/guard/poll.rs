//! Loops look at the flag that stops them.

use std::collections::HashMap;

use super::code::{Code, plain, when};
use super::noted::Noted;
use super::record::{AccessRecord, Recorder, control};
use crate::ptx::ast::Body;
use crate::ptx::cfg::{BlockId, Cfg};
use crate::ptx::inst::Instruction;
use crate::ptx::modifier::Cmp;
use crate::ptx::op::{Integer, Predicate, Semantics};
use crate::ptx::operand::{Label, Operand, Reg};
use crate::ptx::types::Type;

/// A loop looks at the flag so many times round once; a power of two.
const EVERY: i64 = 256;
/// And at the host's wish, far away, so many times round once; a multiple of it.
const FAR: i64 = 64 * EVERY;
/// A loop that never goes round more often than this looks never.
const SHORT: i128 = 4096;

/// The blocks at whose end the flag is looked at: where loops go back, but short ones.
pub(super) fn places(body: &Body, cfg: &Cfg) -> Vec<BlockId> {
    let mut writes: HashMap<Reg, Vec<&Instruction>> = HashMap::new();
    for i in body.instructions() {
        i.for_each_def(|reg| writes.entry(reg).or_default().push(i));
    }
    let long = cfg.back_edges.iter().filter(|(from, to)| !is_short(body, cfg, *from, *to, &writes));
    let mut places: Vec<BlockId> = long.map(|(from, _)| *from).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Whether a loop counts from a constant to a constant, and not far: its last block compares the counter with the end,
/// and adds to it as often as it goes back.
fn is_short(
    body: &Body,
    cfg: &Cfg,
    from: BlockId,
    to: BlockId,
    writes: &HashMap<Reg, Vec<&Instruction>>,
) -> bool {
    let inside = cfg.loop_blocks(to);
    // A loop within this one may be where the counter is set again.
    let is_inner = inside.iter().all(|block| *block == to || !cfg.block(*block).is_loop_header);
    let is_in = |blocks: &[BlockId], i: &Instruction| {
        let mut all = blocks.iter().flat_map(|block| cfg.instructions(body, *block));
        all.any(|(_, other)| std::ptr::eq(other, i))
    };
    let rounds = || {
        let last = cfg.instructions(body, from).next_back()?.1;
        let goes_back = last.branch_target().and_then(|label| cfg.target(label)) == Some(to);
        let guard = last.guard.filter(|guard| goes_back && !guard.negated)?;
        let [compared] = writes.get(&guard.reg)?.as_slice() else { return None };
        let (
            Semantics::Predicate(Predicate::Compare(cmp, None, ty)),
            [Operand::Reg(counter), Operand::Int(end)],
            None,
        ) = (Semantics::of(&compared.op)?, compared.src.as_slice(), compared.guard)
        else {
            return None;
        };
        // The second result is the contrary.
        writes_first(compared, guard.reg)?;
        let (mut start, mut step) = (None, None);
        for i in writes.get(counter)? {
            // A number that is unpacked gives each register but a part of it.
            writes_first(i, *counter).filter(|()| i.guard.is_none())?;
            let before = match Semantics::of(&i.op)? {
                Semantics::Move(_) if !is_in(&inside, i) => {
                    let [Operand::Int(value)] = i.src.as_slice() else { return None };
                    start.replace(*value)
                }
                Semantics::Integer(Integer::Sum, _) if is_in(&[from], i) => {
                    let [Operand::Reg(reg), Operand::Int(by)] = i.src.as_slice() else {
                        return None;
                    };
                    (reg == counter).then(|| step.replace(*by))?
                }
                // It counts in another way, or not at all.
                Semantics::Move(_) | Semantics::Integer(..) | Semantics::Address { .. } => {
                    return None;
                }
                Semantics::Convert(_) | Semantics::Choice(_) | Semantics::Load(_) => return None,
                Semantics::Real(_) | Semantics::Predicate(_) => return None,
            };
            if before.is_some() {
                return None;
            }
        }
        let (start, step) = (i128::from(start?), i128::from(step?));
        let distance = i128::from(*end) - start;
        let comes_there =
            step != 0 && distance / step >= 0 && distance % step == 0 && distance != 0;
        let behind = i128::from(*end) + step;
        let ends = is_in(&[from], compared) && comes_there && ends_there(cmp, ty, step > 0, behind);
        ends.then_some(distance / step)
    };
    is_inner && is_simple(cfg, to) && rounds().is_some_and(|rounds| rounds <= SHORT)
}

/// Something where an instruction writes a register whole, and first.
fn writes_first(i: &Instruction, reg: Reg) -> Option<()> {
    (i.dst.first().and_then(Operand::reg) == Some(reg)).then_some(())
}

/// Whether a loop that goes on while the counter compares so ends where the counter comes to the end, or to the number
/// `behind` it, which is none where the end is the last number of its type.
fn ends_there(cmp: Cmp, ty: Type, upwards: bool, behind: i128) -> bool {
    let (bits, signed) = (ty.bits(), matches!(ty, Type::S16 | Type::S32 | Type::S64));
    let [least, most] = match signed {
        true => [-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1],
        false => [0, (1_i128 << bits) - 1],
    };
    let is_behind = (least..=most).contains(&behind);
    match cmp {
        Cmp::Ne => true,
        Cmp::Lt | Cmp::Lo => upwards,
        Cmp::Le | Cmp::Ls => upwards && is_behind,
        Cmp::Gt | Cmp::Hi => !upwards,
        Cmp::Ge | Cmp::Hs => !upwards && is_behind,
        Cmp::Eq | Cmp::Equ | Cmp::Neu | Cmp::Ltu | Cmp::Leu | Cmp::Gtu | Cmp::Geu => false,
        Cmp::Num | Cmp::Nan => false,
    }
}

/// Whether a loop has one way back only.
fn is_simple(cfg: &Cfg, header: BlockId) -> bool {
    cfg.back_edges.iter().filter(|(_, to)| *to == header).count() == 1
}

/// Counts rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Poll {
    /// Times round until it looks at the wish.
    left: Reg,
    /// The number of the check at which a thread is stopped, and where it goes then.
    check: Reg,
    stop: Label,
}

impl Poll {
    /// To be written at the beginning of the function.
    pub(super) fn new(code: &mut Code) -> Self {
        let left = code.give("mov.u32", Type::B32, [Operand::Int(FAR)]);
        Self { left, check: code.reg(Type::B32), stop: code.label() }
    }

    /// Goes to where the thread ends, where the flag is up, once in a while.
    pub(super) fn put(
        self,
        code: &mut Code,
        recorder: Recorder,
        check: u32,
        noted: Option<&Noted>,
    ) {
        let left = Operand::Reg(self.left);
        code.put("add.s32", [left.clone()], [left.clone(), Operand::Int(-1)]);
        code.once_in_a_while(self.left, EVERY - 1, |code, back| {
            if let Some(noted) = noted {
                let is_some = noted.is_some(code, None);
                code.jump(when(is_some), self.stop);
            }
            let flag = recorder.control(control::STOP);
            let flag = code.give("ld.volatile.global.u32", Type::B32, [flag]);
            code.put("mov.u32", [Operand::Reg(self.check)], [Operand::Int(check.into())]);
            stop_at(code, flag, self.stop);
            let near = code.give("setp.gt.s32", Type::Pred, [left.clone(), Operand::Int(0)]);
            code.jump(when(near), back);
            code.put("mov.u32", [left], [Operand::Int(FAR)]);
            let wish = recorder.wish(code);
            stop_at(code, wish, self.stop);
        });
    }

    /// The end of a thread that is stopped: it writes down what it has noted, or where it was, unless a fault is
    /// written down already.
    pub(super) fn end(self, code: &mut Code, recorder: Recorder, noted: Option<&mut Noted>) {
        code.aside(|code| {
            code.place(self.stop);
            if let Some(noted) = noted {
                let is_some = noted.is_some(code, None);
                let end = noted.end(code, &plain("exit"));
                code.jump(when(is_some), end);
            }
            recorder.record(code, Operand::Reg(self.check), &AccessRecord::NONE);
            code.put("exit", [], []);
        });
    }
}

/// Goes to where the thread ends, where the flag or the wish is up.
pub(super) fn stop_at(code: &mut Code, flag: Reg, end: Label) {
    let up = code.give("setp.ne.u32", Type::Pred, [Operand::Reg(flag), Operand::Int(0)]);
    code.jump(when(up), end);
}

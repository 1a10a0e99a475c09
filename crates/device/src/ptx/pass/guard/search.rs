//! Addresses of which nobody knows where they come from: the memory that they lie in is searched.
//!
//! A thread keeps the range that it found last, in two registers, and looks there first.

use super::code::{Code, at, unless, when};
use super::globals::Globals;
use super::record::{Recorder, control, table};
use super::windows::{LocalMemory, Windows};
use crate::ptx::operand::{Label, Operand, Reg, Scalar, Special};
use crate::ptx::types::Type;

/// Bytes of shared memory that the system keeps for itself at most; variables may lie behind them.
pub(super) const RESERVED_SHARED: i64 = 1024;
/// The span of the addresses of local memory.
pub const LOCAL_WINDOW: i64 = 1 << 24;
/// The span of the addresses of constant memory.
const CONSTANT_WINDOW: i64 = 1 << 16;

/// The range that a thread found last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    start: Reg,
    bytes: Reg,
}

impl Found {
    /// None found yet; to be written at the beginning of the function.
    pub(super) fn new(code: &mut Code) -> Self {
        let nothing = |code: &mut Code| code.give("mov.u64", Type::B64, [Operand::Int(0)]);
        Self { start: nothing(code), bytes: nothing(code) }
    }

    /// Whether `span` bytes from `address` on lie in it, to `inside`.
    fn test(self, code: &mut Code, address: Reg, span: u32, inside: Reg) {
        let [start, bytes] = [self.start, self.bytes].map(Operand::Reg);
        let first = code.give("sub.s64", Type::B64, [Operand::Reg(address), start]);
        let last = [Operand::Reg(first), Operand::Int(i64::from(span.max(1)) - 1)];
        let last = code.give("add.s64", Type::B64, last);
        let inside = Operand::Reg(inside);
        code.put("setp.lo.u64", [inside.clone()], [Operand::Reg(first), bytes.clone()]);
        code.put("setp.lo.and.u64", [inside.clone()], [Operand::Reg(last), bytes, inside]);
    }

    /// Gives a predicate: whether `span` bytes from `address` on lie in one range. A `generic` address may be one of
    /// shared, local or constant memory.
    pub(super) fn search(
        self,
        code: &mut Code,
        recorder: Recorder,
        address: Reg,
        span: u32,
        generic: bool,
    ) -> Reg {
        let inside = code.reg(Type::Pred);
        self.test(code, address, span, inside);
        let (elsewhere, back) = (code.label(), code.label());
        code.jump(unless(inside), elsewhere);
        code.place(back);
        code.aside(|code| {
            code.place(elsewhere);
            self.find(code, recorder, address);
            if generic {
                let Windows { shared, local, constant, grid: _ } = recorder.windows;
                if shared {
                    self.find_shared(code, address);
                }
                if let Some(local) = local {
                    let lowest = match local {
                        LocalMemory::FromStackPointer => Some(stack_pointer(code)),
                        LocalMemory::Window => None,
                    };
                    self.find_window(code, address, "local", LOCAL_WINDOW, lowest);
                }
                if constant {
                    self.find_window(code, address, "const", CONSTANT_WINDOW, None);
                }
            }
            self.test(code, address, span, inside);
            code.jump(None, back);
        });
        inside
    }

    /// Looks for the range of an address in the table, by halves.
    fn find(self, code: &mut Code, recorder: Recorder, address: Reg) {
        let (again, nowhere, done) = (code.label(), code.label(), code.label());
        let ranges = code.give("ld.global.u64", Type::B64, [recorder.control(control::TABLE)]);
        let none = code.give("setp.eq.u64", Type::Pred, [Operand::Reg(ranges), Operand::Int(0)]);
        code.jump(when(none), nowhere);
        let low = code.give("mov.u32", Type::B32, [Operand::Int(0)]);
        let high = code.give("ld.global.u32", Type::B32, [at(ranges, table::COUNT)]);
        let [low, high] = [low, high].map(Operand::Reg);
        code.place(again);
        let empty = code.give("setp.hs.u32", Type::Pred, [low.clone(), high.clone()]);
        code.jump(when(empty), nowhere);
        let middle = code.give("add.u32", Type::B32, [low.clone(), high.clone()]);
        code.put("shr.u32", [Operand::Reg(middle)], [Operand::Reg(middle), Operand::Int(1)]);
        let entry = [Operand::Reg(middle), Operand::Int(table::BYTES as i64), Operand::Reg(ranges)];
        let entry = code.give("mad.wide.u32", Type::B64, entry);
        let start = code.give("ld.global.u64", Type::B64, [at(entry, table::FIRST)]);
        let bytes = code.give("ld.global.u64", Type::B64, [at(entry, table::FIRST + 8)]);
        let below = [Operand::Reg(address), Operand::Reg(start)];
        let below = code.give("setp.lo.u64", Type::Pred, below);
        code.put_if(when(below), "mov.u32", [high], [Operand::Reg(middle)]);
        code.jump(when(below), again);
        self.take(code, address, start, bytes, done);
        code.put("add.u32", [low], [Operand::Reg(middle), Operand::Int(1)]);
        code.jump(None, again);
        code.place(nowhere);
        if let Some(globals) = recorder.globals {
            self.find_global(code, globals, address, done);
        }
        if recorder.heap {
            let start = code.give("ld.global.u64", Type::B64, [recorder.control(control::HEAP)]);
            let bytes =
                code.give("ld.global.u64", Type::B64, [recorder.control(control::HEAP_BYTES)]);
            self.take(code, address, start, bytes, done);
        }
        if recorder.windows.grid {
            let (start, bytes) = grid_workspace(code);
            self.take(code, address, start, bytes, done);
        }
        code.place(done);
    }

    /// Takes a range, where it has the address, and goes to `done`.
    fn take(self, code: &mut Code, address: Reg, start: Reg, bytes: Reg, done: Label) {
        let distance = [Operand::Reg(address), Operand::Reg(start)];
        let distance = code.give("sub.s64", Type::B64, distance);
        let here = [Operand::Reg(distance), Operand::Reg(bytes)];
        let here = code.give("setp.lo.u64", Type::Pred, here);
        code.put_if(when(here), "mov.u64", [Operand::Reg(self.start)], [Operand::Reg(start)]);
        code.put_if(when(here), "mov.u64", [Operand::Reg(self.bytes)], [Operand::Reg(bytes)]);
        code.jump(when(here), done);
    }

    /// Looks for the address among the module's variables, one after the other.
    fn find_global(self, code: &mut Code, globals: Globals, address: Reg, done: Label) {
        let next = code.give("mov.u64", Type::B64, [Operand::Symbol(globals.table, 0)]);
        let end = [Operand::Reg(next), Operand::Int(16 * i64::from(globals.count))];
        let end = code.give("add.s64", Type::B64, end);
        let (again, nowhere) = (code.label(), code.label());
        code.place(again);
        let over = [Operand::Reg(next), Operand::Reg(end)];
        let over = code.give("setp.hs.u64", Type::Pred, over);
        code.jump(when(over), nowhere);
        let start = code.give("ld.global.u64", Type::B64, [at(next, 0)]);
        let bytes = code.give("ld.global.u64", Type::B64, [at(next, 8)]);
        self.take(code, address, start, bytes, done);
        code.put("add.s64", [Operand::Reg(next)], [Operand::Reg(next), Operand::Int(16)]);
        code.jump(None, again);
        code.place(nowhere);
    }

    /// Takes what of a space's addresses is not below the generic `address` as the range, where that is one of them,
    /// and not below the `lowest` address in the space.
    fn find_window(
        self,
        code: &mut Code,
        address: Reg,
        space: &str,
        window: i64,
        lowest: Option<Reg>,
    ) {
        let operand = Operand::Reg(address);
        let here = code.give(&format!("isspacep.{space}"), Type::Pred, [operand.clone()]);
        let own = code.reg(Type::B64);
        let convert = format!("cvta.to.{space}.u64");
        code.put_if(when(here), &convert, [Operand::Reg(own)], [operand.clone()]);
        let below = [Operand::Reg(own), Operand::Int(window - 1)];
        let below = code.give("and.b64", Type::B64, below);
        if let Some(lowest) = lowest {
            let sides = [Operand::Reg(below), Operand::Reg(lowest), Operand::Reg(here)];
            code.put("setp.hs.and.u64", [Operand::Reg(here)], sides);
        }
        let (start, bytes) = (Operand::Reg(self.start), Operand::Reg(self.bytes));
        let rest = [Operand::Int(window), Operand::Reg(below)];
        code.put_if(when(here), "sub.s64", [bytes], rest);
        code.put_if(when(here), "mov.u64", [start], [operand]);
    }

    /// Takes the block's shared memory as the range, where the generic `address` is one of it.
    fn find_shared(self, code: &mut Code, address: Reg) {
        let operand = Operand::Reg(address);
        let here = code.give("isspacep.shared", Type::Pred, [operand.clone()]);
        let own = code.reg(Type::B64);
        code.put_if(when(here), "cvta.to.shared.u64", [Operand::Reg(own)], [operand.clone()]);
        let (start, bytes) = (Operand::Reg(self.start), Operand::Reg(self.bytes));
        code.put_if(when(here), "sub.s64", [start], [operand, Operand::Reg(own)]);
        let total = code.special(Special::Scalar(Scalar::TotalSmemSize));
        let all = [Operand::Reg(total), Operand::Int(RESERVED_SHARED)];
        let all = code.give("add.u32", Type::B32, all);
        code.put_if(when(here), "cvt.u64.u32", [bytes], [Operand::Reg(all)]);
    }
}

/// Where the blocks of a cooperative launch wait for one another: the driver gives the address in two registers, 0 in
/// other launches (`cooperative_groups/details/driver_abi.h`: a number of bytes, and the barrier).
fn grid_workspace(code: &mut Code) -> (Reg, Reg) {
    let [high, low] = [1, 2].map(|number| {
        let half = code.special(Special::Envreg(number));
        code.give("cvt.u64.u32", Type::B64, [Operand::Reg(half)])
    });
    let high = code.give("shl.b64", Type::B64, [Operand::Reg(high), Operand::Int(32)]);
    let start = code.give("or.b64", Type::B64, [Operand::Reg(high), Operand::Reg(low)]);
    let is_there = code.give("setp.ne.u64", Type::Pred, [Operand::Reg(start), Operand::Int(0)]);
    let bytes = [Operand::Int(8), Operand::Int(0), Operand::Reg(is_there)];
    (start, code.give("selp.b64", Type::B64, bytes))
}

/// The thread's stack pointer, an address of local memory: its frames lie there and above, up to the window's end.
pub(super) fn stack_pointer(code: &mut Code) -> Reg {
    let saved = code.reg(Type::B64);
    code.put("stacksave.u64", [Operand::Reg(saved)], []);
    let low = [Operand::Reg(saved), Operand::Int(LOCAL_WINDOW - 1)];
    code.give("and.b64", Type::B64, low)
}

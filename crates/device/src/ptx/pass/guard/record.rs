//! What a guarded kernel writes down of the first thing that it does wrong, and the flag that stops it.
//!
//! Each guarded module has a *control block*, a variable of its own ([`VARIABLE`]). The host writes there where the
//! table of ranges is, and raises the flag; a thread that does something wrong claims the *record*, where nobody did
//! before, fills it, and raises the flag, too. The record lies where the host can read it at any time, such as in
//! mapped memory; the flag does not, for it is looked at often. The host's wish to end, which lies with the record, is
//! looked at rarely: to write there takes no call of the driver, which may wait in another thread for the very kernel
//! that is to end.

use super::code::{Code, at, of, when};
use super::globals::Globals;
use super::windows::Windows;
use crate::ptx::operand::{Axis, Grid, Operand, Reg, Special, Symbol};
use crate::ptx::types::Type;

/// The variable of a guarded module that is its control block. The host writes it before the first launch.
pub const VARIABLE: &str = "__warpaint_guard";

/// Where the fields of the control block lie, in bytes. It begins as zeros.
pub mod control {
    /// Not 0: loops end. 32 bits.
    pub const STOP: i64 = 0;
    /// How many records are claimed. 32 bits.
    pub const CLAIMED: i64 = 4;
    /// Address of the first record; others lie behind it. 64 bits.
    pub const RECORD: i64 = 8;
    /// Address of the table of ranges (`table`); 0: there is none. 64 bits.
    pub const TABLE: i64 = 16;
    /// Address of the count of calls of `printf` (`prints`). 64 bits.
    pub const PRINTS: i64 = 24;
    /// Address of the heap of `malloc`, which is no memory to kernels of modules that have no `malloc`. 64 bits.
    pub const HEAP: i64 = 32;
    /// Its length in bytes; 0 where there is none yet. 64 bits.
    pub const HEAP_BYTES: i64 = 40;
    /// The lowest address of a thread's stack in the window of local memory; 0 where it is not known. 64 bits.
    pub const STACK: i64 = 48;
    /// Its size in bytes.
    pub const BYTES: usize = 56;
}

/// Where the fields of a table of ranges lie, in bytes. One that a control block has is never written to.
pub mod table {
    /// How many ranges there are. 32 bits.
    pub const COUNT: i64 = 0;
    /// The first one; the others lie behind it, by ascending address.
    pub const FIRST: i64 = 16;
    /// The bytes of a range: its address and its length, of 64 bits each.
    pub const BYTES: usize = 16;
}

/// Where the fields of the record lie, in bytes. It begins as zeros.
pub mod field {
    /// Not 0: all else is written. 32 bits.
    pub const WRITTEN: i64 = 0;
    /// Number of the kernel in its module; all ones in a function. 32 bits.
    pub const KERNEL: i64 = 4;
    /// Number of the check. 32 bits.
    pub const CHECK: i64 = 8;
    /// The block's index: three times 32 bits.
    pub const BLOCK: i64 = 12;
    /// The thread's index in the block: three times 32 bits.
    pub const THREAD: i64 = 24;
    /// The address of the check's lowest access. 64 bits.
    pub const ADDRESS: i64 = 40;
    /// What that was compared with: the first byte of the memory. 64 bits; 0 with `LIMIT` where it is not known.
    pub const START: i64 = 48;
    /// And how many addresses from there on would have been right. 64 bits.
    pub const LIMIT: i64 = 56;
    /// Not 0: the host wants loops to end. 32 bits, which the host writes.
    pub const WISH: i64 = 64;
    /// Its size in bytes.
    pub const BYTES: usize = 72;
}

/// Where the fields of the count of calls of `printf` lie, in bytes. All modules share it as they do the driver's
/// buffer.
pub mod prints {
    /// How many there were since the host looked. 32 bits.
    pub const COUNT: i64 = 0;
    /// Address of 32 bits in memory of the host, which the first call makes 1. 64 bits.
    pub const TOLD: i64 = 8;
    /// Its size in bytes.
    pub const BYTES: usize = 16;
}

/// Most records: of a module that tells of the first fault alone, one.
pub const MOST: usize = 1000;

/// Most calls of `printf` that print between two looks of the host.
pub const MOST_PRINTS: u32 = 32_768;

/// The name of the table of the places that were told of.
pub(super) const SEEN: &str = "__warpaint_guard_seen";

/// The number of the kernel in a record of a function's.
pub const NO_KERNEL: u32 = u32::MAX;

/// Who writes a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorder {
    /// The module's variable.
    pub(super) variable: Symbol,
    /// The number of the kernel, or [`NO_KERNEL`].
    pub(super) kernel: u32,
    /// Where each check has been told of, 32 bits: where all are told.
    pub(super) seen: Option<Symbol>,
    /// The module's own memory.
    pub(super) globals: Option<Globals>,
    /// Whether the heap of `malloc` is memory to it.
    pub(super) heap: bool,
    /// Where generic addresses may lead beside that.
    pub(super) windows: Windows,
}

/// What a record says of an access, in registers or constants of 64 bits.
#[derive(Clone, Debug)]
pub(super) struct AccessRecord {
    pub(super) address: Operand,
    pub(super) start: Operand,
    pub(super) limit: Operand,
}

impl AccessRecord {
    /// Of what is no access.
    pub(super) const NONE: Self =
        Self { address: Operand::Int(0), start: Operand::Int(0), limit: Operand::Int(0) };

    /// What a record says of an access to a surface: the place in the address, and what it was compared with; in the
    /// limit the slice and how many there are, if it says which.
    pub(super) fn of_surface(
        code: &mut Code,
        at: [Operand; 2],
        limits: [Operand; 2],
        slice: Option<[Operand; 2]>,
    ) -> Self {
        let mut packed = |halves: [Operand; 2]| {
            let halves = halves.map(|half| match half.reg() {
                Some(_) => half,
                None => Operand::Reg(code.give("mov.u32", Type::B32, [half])),
            });
            Operand::Reg(code.give("mov.b64", Type::B64, [Operand::Vector(Box::new(halves))]))
        };
        let (address, start) = (packed(at), packed(limits));
        let limit = slice.map_or(Operand::Int(0), packed);
        Self { address, start, limit }
    }
}

impl Recorder {
    /// A field of the control block.
    pub(super) fn control(self, field: i64) -> Operand {
        of(self.variable, field)
    }

    /// The host's wish.
    pub(super) fn wish(self, code: &mut Code) -> Reg {
        let record = code.give("ld.global.u64", Type::B64, [self.control(control::RECORD)]);
        code.give("ld.volatile.global.u32", Type::B32, [at(record, field::WISH)])
    }

    /// Gives the address of a record that is still to be written, and a predicate: whether there is one.
    fn claim(self, code: &mut Code, check: &Operand) -> (Reg, Reg) {
        let record = code.give("ld.global.u64", Type::B64, [self.control(control::RECORD)]);
        let claimed = self.control(control::CLAIMED);
        let is_zero = |code: &mut Code, reg: Reg| {
            code.give("setp.eq.u32", Type::Pred, [Operand::Reg(reg), Operand::Int(0)])
        };
        let Some(seen) = self.seen else {
            let swapped = [claimed, Operand::Int(0), Operand::Int(1)];
            let before = code.give("atom.global.cas.b32", Type::B32, swapped);
            return (record, is_zero(code, before));
        };
        let place = code.give("mov.u64", Type::B64, [Operand::Symbol(seen, 0)]);
        let place = [check.clone(), Operand::Int(4), Operand::Reg(place)];
        let place = code.give("mad.wide.u32", Type::B64, place);
        let before = [at(place, 0), Operand::Int(1)];
        let before = code.give("atom.global.exch.b32", Type::B32, before);
        let first = is_zero(code, before);
        let number = code.give("mov.u32", Type::B32, [Operand::Int(MOST as i64)]);
        let next = [claimed, Operand::Int(1)];
        code.put_if(when(first), "atom.global.add.u32", [Operand::Reg(number)], next);
        let room = [Operand::Reg(number), Operand::Int(MOST as i64)];
        let room = code.give("setp.lo.u32", Type::Pred, room);
        let record =
            [Operand::Reg(number), Operand::Int(field::BYTES as i64), Operand::Reg(record)];
        (code.give("mad.wide.u32", Type::B64, record), room)
    }

    /// Writes the record, where it is the first, and raises the flag.
    pub(super) fn record(self, code: &mut Code, check: Operand, access: &AccessRecord) {
        let (record, first) = self.claim(code, &check);
        let store = |code: &mut Code, field: i64, value: Operand, mnemonic: &str| {
            code.put_if(when(first), mnemonic, [], [at(record, field), value]);
        };
        store(code, field::KERNEL, Operand::Int(self.kernel.into()), "st.global.u32");
        store(code, field::CHECK, check, "st.global.u32");
        for (from, grid) in [(field::BLOCK, Grid::Ctaid), (field::THREAD, Grid::Tid)] {
            for (axis, to) in
                [Axis::X, Axis::Y, Axis::Z].into_iter().zip([from, from + 4, from + 8])
            {
                let index = code.special(Special::Axis(grid, axis));
                store(code, to, Operand::Reg(index), "st.global.u32");
            }
        }
        store(code, field::ADDRESS, access.address.clone(), "st.global.u64");
        store(code, field::START, access.start.clone(), "st.global.u64");
        store(code, field::LIMIT, access.limit.clone(), "st.global.u64");
        code.put("membar.sys", [], []);
        store(code, field::WRITTEN, Operand::Int(1), "st.volatile.global.u32");
        if self.seen.is_none() {
            code.put("st.volatile.global.u32", [], [self.control(control::STOP), Operand::Int(1)]);
        }
    }
}

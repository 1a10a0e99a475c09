//! Loads, stores and atomics: where an address leads, and whether it may.

use super::{
    env::Env,
    machine::{Machine, Step, Trouble},
    program::{Inst, MemoryOperand, Ordering},
    shadow::Full,
    thread::Thread,
    value,
    watch::{Region, Touch},
};
use crate::{
    device::{FaultKind, cpu::mbarrier},
    ptx::{
        inst::Op,
        modifier::{AtomOp, Atomic, Mbarrier, MbarrierOp, MinMax},
        types::{Space, Type},
    },
};

/// An access that is about to happen.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    pub(super) space: Option<Space>,
    pub(super) bytes: u32,
    pub(super) write: bool,
}

impl Checked {
    pub(super) fn refused(self, address: u64) -> Trouble {
        let kind = if !address.is_multiple_of(self.bytes.into()) {
            FaultKind::Misaligned
        } else if self.write {
            FaultKind::InvalidWrite
        } else {
            FaultKind::InvalidRead
        };
        let space = self.space.map_or("generic", Space::text);
        Trouble { kind, access: Some((address, self.bytes, Some(space))) }
    }
}

/// A memory operand's address: base and offset, in 32 bits where the base is such a register.
pub(super) fn address(base: u64, offset: i64, narrow: bool) -> u64 {
    let sum = base.wrapping_add_signed(offset);
    if narrow { sum & 0xffff_ffff } else { sum }
}

impl Machine {
    /// The arena's address of an access that may happen.
    fn locate(&self, env: &Env, thread: &Thread, address: u64, access: Checked) -> Step<u64> {
        let bytes = u64::from(access.bytes);
        let within = |start: u64, end: u64| {
            address >= start && address.checked_add(bytes).is_some_and(|last| last <= end)
        };
        let aligned = address.is_multiple_of(bytes);
        let found = match access.space {
            Some(Space::Shared | Space::SharedCta) => {
                (aligned && within(0, env.shared.bytes)).then(|| env.shared.address + address)
            }
            Some(Space::Local) => {
                (aligned && thread.local.used().holds(address, bytes)).then_some(address)
            }
            Some(Space::Global | Space::Const) => {
                let allowed = aligned && self.shared.arena.allows(address, bytes, access.write);
                allowed.then_some(address)
            }
            // A kernel's own parameters, or the arguments of its calls, which lie in local memory.
            Some(Space::Param | Space::ParamEntry) if thread.frames.is_empty() => {
                let is_argument = thread.local.used().holds(address, bytes);
                let is_parameter = !access.write && self.params.holds(address, bytes);
                (aligned && (is_argument || is_parameter)).then_some(address)
            }
            None
            | Some(
                Space::Param
                | Space::ParamEntry
                | Space::ParamFunc
                | Space::SharedCluster
                | Space::Reg
                | Space::Sreg
                | Space::Tex,
            ) => (aligned && self.reaches(env, thread, address, bytes, access.write))
                .then_some(address),
        };
        found.ok_or_else(|| access.refused(address))
    }

    /// Whether a thread reaches so many bytes at a generic address: in an allocation, or in the memory of blocks that
    /// is its own.
    pub(super) fn reaches(
        &self,
        env: &Env,
        thread: &Thread,
        address: u64,
        bytes: u64,
        write: bool,
    ) -> bool {
        self.shared.arena.allows(address, bytes, write)
            || env.shared.holds(address, bytes)
            || thread.local.used().holds(address, bytes)
            || !write && self.params.holds(address, bytes)
    }

    pub(super) fn load(
        &mut self,
        env: &Env,
        thread: &mut Thread,
        inst: &Inst,
        operand: &MemoryOperand,
        base: u64,
    ) -> Step {
        let (address, bytes) = (address(base, operand.offset, operand.narrow), operand.ty.bytes());
        let access = Checked { space: operand.space, bytes: operand.bytes(), write: false };
        let at = self.locate(env, thread, address, access)?;
        self.touch(
            env,
            thread,
            inst,
            operand.how(),
            (at, access.bytes),
            Touch::read(operand.strong),
        )?;
        thread.strong |= operand.strong;
        for (lane, dst) in (0..).zip(&operand.into) {
            let value = self.shared.arena.load(at + lane * u64::from(bytes), bytes);
            let value = value.ok_or_else(|| access.refused(address))?;
            Self::write(thread, *dst, extended(value, operand.ty));
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        env: &Env,
        thread: &mut Thread,
        inst: &Inst,
        operand: &MemoryOperand,
        base: u64,
    ) -> Step {
        let (address, bytes) = (address(base, operand.offset, operand.narrow), operand.ty.bytes());
        let access = Checked { space: operand.space, bytes: operand.bytes(), write: true };
        let at = self.locate(env, thread, address, access)?;
        self.touch(
            env,
            thread,
            inst,
            operand.how(),
            (at, access.bytes),
            Touch::write(operand.strong),
        )?;
        for (lane, slot) in (0..).zip(&operand.from) {
            let value = thread.slot(*slot);
            if !self.shared.arena.store(at + lane * u64::from(bytes), bytes, value) {
                return Err(access.refused(address));
            }
        }
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        env: &Env,
        thread: &mut Thread,
        inst: &Inst,
        operand: &MemoryOperand,
        atomic: &Atomic,
        s: &[u64; 5],
    ) -> Step {
        let (address, bytes) = (address(s[0], operand.offset, operand.narrow), operand.ty.bytes());
        let access = Checked { space: operand.space, bytes: operand.bytes(), write: true };
        let at = self.locate(env, thread, address, access)?;
        self.touch(env, thread, inst, operand.how(), (at, access.bytes), Touch::Atomic)?;
        thread.strong = true;
        if atomic.ty == Type::B128 {
            let new = [0, 1].map(|half| thread.slot(inst.src[1] + half));
            let compares = atomic.op == AtomOp::Cas;
            let done = self.atomic128(thread, (at, operand), compares, new);
            return done.ok_or_else(|| access.refused(address));
        }
        let in_shared = env.is_shared(at);
        let given: Vec<u64> = operand.from.iter().map(|slot| thread.slot(*slot)).collect();
        for (lane, b) in (0u64..).zip(given) {
            let change = |old| changed(atomic, in_shared, old, b, s[1]);
            let old = self.shared.arena.update(at + lane * u64::from(bytes), bytes, change);
            let old = old.ok_or_else(|| access.refused(address))?;
            if let Some(dst) = operand.into.get(lane as usize) {
                Self::write(thread, *dst, extended(old, operand.ty));
            }
        }
        Ok(())
    }

    /// Of 128 bits. Only other streams could come between, and they cannot rely on anything here.
    fn atomic128(
        &mut self,
        thread: &mut Thread,
        (at, operand): (u64, &MemoryOperand),
        compares: bool,
        new: [u64; 2],
    ) -> Option<()> {
        let arena = &self.shared.arena;
        let old = [arena.load(at, 8)?, arena.load(at + 8, 8)?];
        let given = [0, 1].map(|lane| operand.from.get(lane).map_or(0, |slot| thread.slot(*slot)));
        let new = if compares { new } else { given };
        if !compares || old == given {
            let stored = arena.store(at, 8, new[0]) && arena.store(at + 8, 8, new[1]);
            stored.then_some(())?;
        }
        operand.into.iter().zip(old).for_each(|(dst, value)| Self::write(thread, *dst, value));
        Some(())
    }

    /// A barrier in shared memory: one word, changed as for compiled code.
    pub(super) fn mbarrier(
        &mut self,
        env: &Env,
        thread: &mut Thread,
        inst: &Inst,
        (operand, m): (&MemoryOperand, &Mbarrier),
        s: &[u64; 5],
    ) -> Step {
        if m.op == MbarrierOp::PendingCount {
            Self::write(thread, inst.dst[0], s[0] >> 20 & 0xf_ffff);
            return Ok(());
        }
        let waits = matches!(m.op, MbarrierOp::TestWait | MbarrierOp::TryWait);
        let shown = address(s[0], operand.offset, operand.narrow);
        let access = Checked { space: operand.space, bytes: 8, write: !waits };
        let at = self.locate(env, thread, shown, access)?;
        thread.strong = true;
        let word = self.shared.arena.load(at, 8).ok_or_else(|| access.refused(shown))?;
        if waits {
            let asked = if m.parity { s[1] & 1 } else { s[1] >> 63 };
            Self::write(thread, inst.dst[0], u64::from(word >> 63 != asked));
            return Ok(());
        }
        let count = s[1] as u32;
        let changed = match (m.op == MbarrierOp::CopyArrive, m.expect_tx) {
            // One arrival more is waited for, and comes at once: copies are done.
            (true, _) if !m.no_increment => word,
            (true, _) => mbarrier::step(word, MbarrierOp::Arrive, 1),
            (false, true) => {
                let expecting = mbarrier::step(word, MbarrierOp::ExpectTx, count);
                mbarrier::step(expecting, m.op, 1)
            }
            (false, false) => mbarrier::step(word, m.op, count),
        };
        if !self.shared.arena.store(at, 8, changed) {
            return Err(access.refused(shown));
        }
        Self::write(thread, inst.dst[0], word);
        Ok(())
    }

    /// `cp.async`: done at once; what is not read is zero.
    pub(super) fn copy_to_shared(
        &mut self,
        env: &Env,
        thread: &mut Thread,
        inst: &Inst,
        s: &[u64; 5],
        (offsets, narrow, ignore): ([i64; 2], [bool; 2], bool),
    ) -> Step {
        let bytes = s[2] as u32;
        let read = match (ignore, s[3] & 1 != 0) {
            (true, true) => 0,
            (true, false) => bytes,
            _ => (s[3] as u32).min(bytes),
        };
        let [to, from] = [0, 1].map(|at| address(s[at], offsets[at], narrow[at]));
        let shared = Checked { space: Some(Space::Shared), bytes, write: true };
        let to_at = self.locate(env, thread, to, shared)?;
        let mut content = vec![0; bytes as usize];
        if read > 0 {
            let global = Checked { space: Some(Space::Global), bytes, write: false };
            // Aligned as the whole is, of which only a part is read.
            let is_aligned = from.is_multiple_of(bytes.into());
            let fine = is_aligned && self.shared.arena.allows(from, read.into(), false);
            let from_at = fine.then_some(from).ok_or_else(|| global.refused(from))?;
            self.touch(env, thread, inst, (global.space, None), (from_at, read), Touch::Read)?;
            for (at, byte) in (from_at..).zip(&mut content[..read as usize]) {
                *byte = self.shared.arena.load(at, 1).ok_or_else(|| global.refused(from))? as u8;
            }
        }
        self.touch(env, thread, inst, (shared.space, None), (to_at, bytes), Touch::Write)?;
        for (at, byte) in (to_at..).zip(content) {
            if !self.shared.arena.store(at, 1, byte.into()) {
                return Err(shared.refused(to));
            }
        }
        Ok(())
    }

    /// Tells the checker.
    pub(super) fn touch(
        &mut self,
        env: &Env,
        thread: &Thread,
        inst: &Inst,
        (space, ordering): (Option<Space>, Option<Ordering>),
        (at, bytes): (u64, u32),
        touch: Touch,
    ) -> Step {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        match space {
            Some(Space::ParamEntry | Space::Const) => return Ok(()),
            // The arguments of a call lie in the caller's local memory, where the function may read them by their
            // address, too.
            Some(Space::Param | Space::ParamFunc) => {
                if matches!(touch, Touch::Write | Touch::StrongWrite) && env.is_local(at) {
                    watch.wrote(at, bytes);
                }
                return Ok(());
            }
            Some(
                Space::Global
                | Space::Local
                | Space::Shared
                | Space::SharedCta
                | Space::SharedCluster
                | Space::Reg
                | Space::Sreg
                | Space::Tex,
            )
            | None => {}
        }
        let region = if env.is_shared(at) {
            Region::Shared
        } else if env.is_local(at) {
            Region::Local
        } else {
            Region::Global
        };
        let touched = watch.touch(env, thread.index, inst.site, region, (at, bytes), touch);
        touched.map_err(|Full| FaultKind::TooMuchToCheck)?;
        if let Some(ordering) = ordering {
            watch.strong(env, thread.index, at, touch, ordering);
        }
        Ok(())
    }

    // Memory that the caller has laid out itself ---------------------------------------------------

    /// A value of up to 8 bytes in local memory.
    pub(super) fn load_bytes(&self, address: u64, bytes: u32) -> Step<u64> {
        let access = Checked { space: Some(Space::Param), bytes, write: false };
        self.shared.arena.load(address, bytes).ok_or_else(|| access.refused(address))
    }

    pub(super) fn store_bytes(&self, address: u64, bytes: u32, value: u64) -> Step {
        let access = Checked { space: Some(Space::Param), bytes, write: true };
        let stored = self.shared.arena.store(address, bytes, value);
        if stored { Ok(()) } else { Err(access.refused(address)) }
    }

    /// Whether a generic address lies in a state space's window (PTX ISA, `isspacep`).
    pub(super) fn lies_in(&self, env: &Env, address: u64, space: Space) -> bool {
        let arena = &self.shared.arena;
        let param = address.wrapping_sub(self.params.address) < self.params.bytes;
        let constant = arena.allows(address, 1, false) && !arena.allows(address, 1, true);
        match space {
            Space::Shared | Space::SharedCta | Space::SharedCluster => env.is_shared(address),
            Space::Local => env.is_local(address),
            Space::Const => constant,
            Space::Param | Space::ParamEntry => param,
            Space::Reg | Space::Sreg | Space::Global | Space::ParamFunc | Space::Tex => {
                !env.is_shared(address) && !env.is_local(address) && !constant
            }
        }
    }
}

/// A loaded value in a register that may be wider.
pub(super) fn extended(value: u64, ty: Type) -> u64 {
    match (ty.is_signed(), ty.bits()) {
        (true, bits @ (8 | 16 | 32)) => ((value << (64 - bits)) as i64 >> (64 - bits)) as u64,
        _ => value,
    }
}

/// What an atomic operation makes of the old value.
fn changed(atomic: &Atomic, in_shared: bool, old: u64, b: u64, c: u64) -> u64 {
    let ty = atomic.ty;
    let mask = u64::MAX >> (64 - ty.bits());
    let b = b & mask;
    let pure = |op: &Op| {
        let results = value::evaluate(op, &[old, b, 0, 0, 0], &mut false);
        results.map_or(old, |[result, _]| result)
    };
    let min_max = MinMax::of(ty);
    let new = match atomic.op {
        AtomOp::And => old & b,
        AtomOp::Or => old | b,
        AtomOp::Xor => old ^ b,
        AtomOp::Exch => b,
        AtomOp::Cas if old == b => c,
        AtomOp::Cas => old,
        AtomOp::Add if ty.is_float() => value::atomic_sum(ty, in_shared, old, b).unwrap_or(old),
        AtomOp::Add => old.wrapping_add(b),
        AtomOp::Inc if old >= b => 0,
        AtomOp::Inc => old + 1,
        AtomOp::Dec if old == 0 || old > b => b,
        AtomOp::Dec => old - 1,
        AtomOp::Min => pure(&Op::Min(min_max)),
        AtomOp::Max => pure(&Op::Max(min_max)),
    };
    new & mask
}

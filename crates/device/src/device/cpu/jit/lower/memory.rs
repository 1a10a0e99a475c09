//! Loads and stores. Every access that is not known to be good when compiling is checked: that it is aligned
//! and within bounds is one comparison, since rotating an offset right by the logarithm of the access's width
//! makes a misaligned one huge.

use std::mem::offset_of;

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};

use super::{Lower, Runs, Step, Unsupported, clif_type, int_type};
use crate::{
    device::cpu::{
        abi::BlockContext,
        jit::{kernel::SiteKind, span::MemorySpan},
        layout::{SymbolPlace, function_handle},
        memory::{CHUNK_BITS, Tables},
    },
    ptx::{
        inst::Instruction,
        modifier::Access,
        operand::{Address, Base, Operand, Symbol},
        types::{Space, Type},
    },
};

/// An access to be checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::device::cpu::jit) struct Checked {
    pub(in crate::device::cpu::jit) space: Option<Space>,
    pub(in crate::device::cpu::jit) bytes: u32,
    pub(in crate::device::cpu::jit) write: bool,
}

impl Checked {
    fn site(self) -> SiteKind {
        let space = self.space.map_or("generic", Space::text);
        SiteKind::Access { space, write: self.write, bytes: self.bytes }
    }

    pub(in crate::device::cpu::jit) fn is_shared(self) -> bool {
        self.space.is_some_and(Space::is_of_block)
    }

    /// Whether it may be to the memory of the block as well as to allocations. A `.param` access of a device function
    /// is to local memory, of its own or of who called it.
    pub(in crate::device::cpu::jit) fn is_generic(self) -> bool {
        match self.space {
            None | Some(Space::Param | Space::ParamEntry | Space::ParamFunc) => true,
            Some(Space::Global | Space::Const | Space::Local) => false,
            Some(Space::Shared | Space::SharedCta | Space::SharedCluster) => false,
            Some(Space::Reg | Space::Sreg | Space::Tex) => false,
        }
    }
}

impl Lower<'_, '_> {
    pub(super) fn load_access(&mut self, i: &Instruction, access: &Access) -> Step {
        let address = address_operand(i, 0)?;
        let write = false;
        let checked = Checked { space: access.space, bytes: access.bytes(), write };
        let memory = self.locate(&address, checked)?;
        let destination = i.dst.first().ok_or(Unsupported::Part("no destination"))?;
        if access.lanes > 1 && access.is_strong() && access.bytes() <= 16 {
            return self.load_whole(memory, access, destination);
        }
        for (lane, operand) in destination.lanes().iter().enumerate() {
            let value = self.load_lane(memory, lane, access);
            if !matches!(operand, Operand::Sink) {
                self.set_extended(operand, value, access.ty)?;
            }
        }
        Ok(())
    }

    fn load_lane(&mut self, memory: MemorySpan, lane: usize, access: &Access) -> Value {
        let ty = clif_type(access.ty);
        let at = lane as i64 * i64::from(access.ty.bytes());
        if !access.is_strong() || access.ty.bytes() > 8 {
            return self.load(ty, memory, at);
        }
        // A plain load may be merged with an earlier one of the same place.
        let value = self.load_atomic(int_type(ty.bytes()), memory, at);
        self.fit(value, ty)
    }

    /// A strong load of a vector: in one piece, as GPUs do it, since code relies on that.
    fn load_whole(&mut self, memory: MemorySpan, access: &Access, to: &Operand) -> Step {
        let words = if access.bytes() <= 8 {
            vec![self.load_atomic(int_type(access.bytes()), memory, 0)]
        } else {
            self.forget_loads();
            let pair = self.load(types::I64X2, memory, 0);
            [0, 1].map(|half| self.b.ins().extractlane(pair, half)).to_vec()
        };
        let (ty, bytes) = (clif_type(access.ty), access.ty.bytes());
        for (lane, operand) in to.lanes().iter().enumerate() {
            let at = lane as u32 * bytes;
            let word = words[at as usize / 8];
            let value = self.b.ins().ushr_imm_u(word, i64::from(at % 8 * 8));
            let value = self.fit(value, ty);
            if !matches!(operand, Operand::Sink) {
                self.set_extended(operand, value, access.ty)?;
            }
        }
        Ok(())
    }

    /// The counterpart of [`Lower::load_whole`].
    fn store_whole(&mut self, values: &[Value], memory: MemorySpan, access: &Access) {
        let bytes = access.ty.bytes();
        let word = int_type(access.bytes().min(8));
        let lanes = (8 / bytes) as usize;
        let words: Vec<Value> = values
            .chunks(lanes)
            .map(|values| {
                let mut all = self.fit(values[0], word);
                for (lane, value) in values.iter().enumerate().skip(1) {
                    let wide = self.fit(*value, word);
                    let moved = self.b.ins().ishl_imm_u(wide, i64::from(bytes * 8) * lane as i64);
                    all = self.b.ins().bor(all, moved);
                }
                all
            })
            .collect();
        match words[..] {
            [low, high] => {
                let pair = self.b.ins().scalar_to_vector(types::I64X2, low);
                let pair = self.b.ins().insertlane(pair, high, 1);
                self.store(pair, memory, 0);
            }
            [word, ..] => self.store_lane(word, memory, 0, access.is_strong()),
            [] => {}
        }
    }

    pub(super) fn store_access(&mut self, i: &Instruction, access: &Access) -> Step {
        let address = address_operand(i, 0)?;
        let write = true;
        let checked = Checked { space: access.space, bytes: access.bytes(), write };
        let operand = i.src.get(1).ok_or(Unsupported::Part("too few operands"))?;
        let values: Vec<Value> =
            operand.lanes().iter().map(|lane| self.value(lane, access.ty)).collect::<Step<_>>()?;
        let memory = self.locate(&address, checked)?;
        if access.lanes > 1 && access.is_strong() && access.bytes() <= 16 {
            self.store_whole(&values, memory, access);
            return Ok(());
        }
        for (lane, value) in values.into_iter().enumerate() {
            let at = lane as i64 * i64::from(access.ty.bytes());
            self.store_lane(value, memory, at, access.is_strong());
        }
        Ok(())
    }

    fn store_lane(&mut self, value: Value, memory: MemorySpan, at: i64, strong: bool) {
        // Stores of x86-64 are releases already.
        let plain = !strong || cfg!(target_arch = "x86_64");
        let ty = self.b.func.dfg.value_type(value);
        if plain || ty.bytes() > 8 {
            self.store(value, memory, at);
        } else {
            let value = self.fit(value, int_type(ty.bytes()));
            self.store_atomic(value, memory, at);
        }
    }

    /// `cp.async`: words of global to shared memory, those from `source bytes` on zero.
    pub(super) fn copy_to_shared(&mut self, i: &Instruction, ignore: bool) -> Step {
        let bytes = match i.src.get(2) {
            Some(Operand::Int(bytes @ (4 | 8 | 16))) => *bytes as u32,
            _ => return Err(Unsupported::Part("a copy of this size")),
        };
        let (to, from) = (address_operand(i, 0)?, address_operand(i, 1)?);
        let size = match i.copied() {
            None => self.b.ins().iconst(types::I32, i64::from(bytes)),
            Some(_) if ignore => {
                let ignored = self.source(i, 3, Type::Pred)?;
                let [none, all] = [0, bytes].map(|n| self.int(i64::from(n), types::I32));
                self.b.ins().select(ignored, none, all)
            }
            Some(_) => self.source(i, 3, Type::U32)?,
        };
        let shared = Checked { space: Some(Space::Shared), bytes, write: true };
        let to = self.locate(&to, shared)?;
        let words = i64::from(bytes / 4);
        let [copy, done] = [(); 2].map(|()| self.b.create_block());
        let zero = self.b.ins().iconst(types::I32, 0);
        for word in 0..words {
            self.store(zero, to, 4 * word);
        }
        self.b.ins().brif(size, copy, &[], done, &[]);
        self.b.switch_to_block(copy);
        let global = Checked { space: Some(Space::Global), bytes, write: false };
        let from = match i.copied() {
            None => self.locate(&from, global)?,
            Some(_) => self.locate_part(&from, size, global)?,
        };
        for word in 0..words {
            let value = self.load(types::I32, from, 4 * word);
            let value = self.low_bytes(value, size, 4 * word);
            self.store(value, to, 4 * word);
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        Ok(())
    }

    /// Where the source of a copy lies of which the first `size` bytes are read, if that is less than all. It is
    /// aligned as the whole is, so that the rest lies in the arena, too: loading it harms nobody.
    fn locate_part(&mut self, from: &Address, size: Value, checked: Checked) -> Step<MemorySpan> {
        let at = self.address_value(from)?;
        let at = self.fit(at, types::I64);
        let size = self.b.ins().uextend(types::I64, size);
        let all = self.b.ins().iconst(types::I64, i64::from(checked.bytes));
        let size = self.b.ins().umin(size, all);
        let (offset, end) = self.end_of_allocation(at, checked.write);
        // Off the end, as no offset is known to be small.
        let least = self.b.ins().umin(end, size);
        let last = self.b.ins().isub(end, least);
        let is_within = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, offset, last);
        let is_long_enough = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, end, size);
        let rest = self.b.ins().band_imm_u(at, u64::from(checked.bytes - 1) as i64);
        let is_aligned = self.b.ins().icmp_imm_u(IntCC::Equal, rest, 0);
        let fine = self.b.ins().band(is_within, is_long_enough);
        let fine = self.b.ins().band(fine, is_aligned);
        self.stop_unless(fine, checked.site(), at);
        Ok(MemorySpan::new(at, 0, checked.bytes.into()))
    }

    /// A word's bytes below `size - start`, zeros above.
    fn low_bytes(&mut self, word: Value, size: Value, start: i64) -> Value {
        let left = self.b.ins().iadd_imm_s(size, -start);
        let left = self.clamp_signed(left, 0, 4);
        let bits = self.b.ins().ishl_imm_u(left, 3);
        let one = self.b.ins().iconst(types::I64, 1);
        let mask = self.b.ins().ishl(one, bits);
        let mask = self.b.ins().iadd_imm_s(mask, -1);
        let mask = self.b.ins().ireduce(types::I32, mask);
        self.b.ins().band(word, mask)
    }

    /// Where an access goes, once it is known to be good.
    pub(super) fn locate(&mut self, address: &Address, checked: Checked) -> Step<MemorySpan> {
        if let Some((symbol, offset)) = self.source.known.resolve(address)
            && let Some(memory) = self.locate_known(symbol, offset, checked)?
        {
            return Ok(memory);
        }
        match checked.space {
            Some(Space::Shared | Space::SharedCta) => self.locate_shared(address, checked),
            Some(Space::SharedCluster) => Err(Unsupported::Part("clusters")),
            Some(Space::Param | Space::ParamEntry) if self.is_kernel() => {
                self.locate_in_parameters(address, checked)
            }
            Some(Space::Reg | Space::Sreg | Space::Tex) => {
                Err(Unsupported::Part("this state space"))
            }
            Some(Space::Const | Space::Global | Space::Local) | None => {
                self.locate_in_arena(address, checked)
            }
            Some(Space::Param | Space::ParamEntry | Space::ParamFunc) => {
                self.locate_in_arena(address, checked)
            }
        }
    }

    /// An access whose place is known when compiling, where it is good for sure.
    fn locate_known(
        &mut self,
        symbol: Symbol,
        offset: i64,
        checked: Checked,
    ) -> Step<Option<MemorySpan>> {
        let Some(place) = self.place(symbol).filter(|place| is_reached(*place, checked.space))
        else {
            return Ok(None);
        };
        let fits = |start: u64, bytes: u64| {
            let end = offset.checked_add(i64::from(checked.bytes));
            let within = offset >= 0 && end.is_some_and(|end| end as u64 <= bytes);
            let at = start.wrapping_add(offset as u64);
            (within && at.is_multiple_of(u64::from(checked.bytes))).then_some(at)
        };
        let (base, at) = match place {
            SymbolPlace::Fixed { address, bytes }
                if !(checked.write && self.is_constant(symbol)) =>
            {
                (fits(address, bytes).map(|at| self.b.ins().iconst(types::I64, at as i64)), Some(0))
            }
            SymbolPlace::Shared { offset: start, bytes } => {
                (Some(self.context_u64(offset_of!(BlockContext, shared_base))), fits(start, bytes))
            }
            SymbolPlace::Local { offset: start, bytes } => {
                (Some(self.b.use_var(self.thread.local)), fits(start, bytes))
            }
            SymbolPlace::KernelParam { offset: start, bytes } if !checked.write => {
                let at = fits(start, bytes)
                    .ok_or(Unsupported::Part("a parameter is read outside its bounds"))?;
                (Some(self.context_u64(offset_of!(BlockContext, param_base))), Some(at))
            }
            SymbolPlace::FunctionParam { position, bytes } => {
                let at = fits(0, bytes)
                    .ok_or(Unsupported::Part("a parameter is accessed outside its bounds"))?;
                (Some(self.argument(position)), Some(at))
            }
            SymbolPlace::Fixed { .. }
            | SymbolPlace::KernelParam { .. }
            | SymbolPlace::DynamicShared
            | SymbolPlace::Function(_) => (None, None),
        };
        let memory = |(base, at)| MemorySpan::new(base, at as i64, checked.bytes.into());
        Ok(base.zip(at).map(memory))
    }

    fn is_constant(&self, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Variable(index) => {
                let variable = self.source.unit.module.variables.get(index as usize);
                variable.is_some_and(|v| v.space == Space::Const)
            }
            Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) | Symbol::Function(_) => false,
        }
    }

    /// The generic address or, in shared memory, the offset that an operand gives, 32 or 64 bits wide.
    pub(in crate::device::cpu::jit) fn address_value(&mut self, address: &Address) -> Step<Value> {
        Ok(match address.base {
            Base::Reg(reg) => {
                let value = self.b.use_var(self.variable(reg));
                let ty = self.b.func.dfg.value_type(value);
                if !matches!(ty, types::I32 | types::I64) {
                    return Err(Unsupported::Part("an address of this type"));
                }
                if address.offset == 0 {
                    value
                } else {
                    self.b.ins().iadd_imm_s(value, address.offset)
                }
            }
            Base::Symbol(symbol) => self.symbol_address(symbol, address.offset)?,
            Base::Absolute => self.b.ins().iconst(types::I64, address.offset),
        })
    }

    fn locate_shared(&mut self, address: &Address, checked: Checked) -> Step<MemorySpan> {
        let offset = self.address_value(address)?;
        let wide = self.fit(offset, types::I64);
        if !self.is_checked() {
            let ty = self.b.func.dfg.value_type(offset);
            let bytes = self.context_field(ty, offset_of!(BlockContext, shared_bytes));
            self.check(offset, bytes, checked, wide);
        }
        let base = self.context_u64(offset_of!(BlockContext, shared_base));
        let at = self.b.ins().iadd(base, wide);
        Ok(MemorySpan::new(at, 0, checked.bytes.into()))
    }

    /// A kernel's parameter at a computed address: only what is a parameter, so that it is known to stay what it is
    /// as long as the launch runs.
    fn locate_in_parameters(&mut self, address: &Address, checked: Checked) -> Step<MemorySpan> {
        if checked.write {
            return Err(Unsupported::Part("a kernel's parameter is written"));
        }
        let at = self.address_value(address)?;
        let at = self.fit(at, types::I64);
        let base = self.context_u64(offset_of!(BlockContext, param_base));
        let offset = self.b.ins().isub(at, base);
        let bytes = self.context_u64(offset_of!(BlockContext, param_bytes));
        self.check(offset, bytes, checked, at);
        Ok(MemorySpan::new(at, 0, checked.bytes.into()))
    }

    fn locate_in_arena(&mut self, address: &Address, checked: Checked) -> Step<MemorySpan> {
        let at = self.address_value(address)?;
        let at = self.fit(at, types::I64);
        let memory = MemorySpan::new(at, 0, checked.bytes.into());
        if self.is_checked() {
            return Ok(memory);
        }
        if checked.space == Some(Space::Local) {
            let window = self.own_frames();
            let fine = match self.runs {
                Runs::OnceForAll { .. } => self.b.ins().iconst(types::I8, 0),
                Runs::ForEach => self.lies_between(at, window, checked),
            };
            self.stop_unless_reached(fine, at, checked);
            return Ok(memory);
        }
        if let Some(fine) = self.is_in_window(address, at, 0, checked) {
            self.stop_unless_placed(fine, at, 0, checked)?;
            return Ok(memory);
        }
        if checked.is_generic() {
            self.check_generic(at, checked);
        } else {
            let (offset, end) = self.end_of_allocation(at, checked.write);
            self.check(offset, end, checked, at);
        }
        Ok(memory)
    }

    /// What the thread uses of local memory: the frame of its kernel, and those of the functions that were called up to
    /// this one. The first byte, and how many there are.
    fn own_frames(&mut self) -> (Value, Value) {
        let frame = self.b.use_var(self.thread.local);
        let bytes = self.source.frame.used_bytes as i64;
        if self.is_kernel() {
            return (frame, self.b.ins().iconst(types::I64, bytes));
        }
        let start = self.b.use_var(self.thread.start);
        let top = self.b.ins().iadd_imm_s(frame, bytes);
        (start, self.b.ins().isub(top, start))
    }

    /// As [`Lower::check`] of a generic access, which is to an allocation, or to the memory of the thread and of its
    /// block of which the module takes addresses. Pointers of functions are often to locals of their callers: what may
    /// be is looked at first. One address is no local of all the threads of a group.
    fn check_generic(&mut self, at: Value, checked: Checked) {
        let taken = self.source.unit.layout.taken();
        let on = self.b.create_block();
        let has_locals = !self.is_kernel() || self.source.frame.local_bytes > 0;
        if taken.locals && has_locals && !self.is_for_all() {
            let window = self.own_frames();
            let fine = self.lies_between(at, window, checked);
            let elsewhere = self.b.create_block();
            self.b.ins().brif(fine, on, &[], elsewhere, &[]);
            self.b.switch_to_block(elsewhere);
        }
        let (offset, end) = self.end_of_allocation(at, checked.write);
        let mut fine = self.ends_before(offset, end, 0, checked);
        if taken.shared {
            self.go_on_elsewhere(fine, on);
            let window = self.cold_window(Window::Shared);
            fine = self.lies_between(at, window, checked);
        }
        if taken.params && !checked.write {
            self.go_on_elsewhere(fine, on);
            let window = self.cold_window(Window::Param);
            fine = self.lies_between(at, window, checked);
        }
        self.stop_unless_reached(fine, at, checked);
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
    }

    /// Stops the thread unless `fine` holds. Of the threads of a group that access one address it is the first to which
    /// it is none of its locals.
    fn stop_unless_reached(&mut self, fine: Value, at: Value, checked: Checked) {
        let [on, stop] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(stop);
        self.b.ins().brif(fine, on, &[], stop, &[]);
        self.b.switch_to_block(stop);
        let first = self.is_for_all().then(|| self.current_index());
        if let Some(first) = first {
            let window = self.own_frames();
            let is_firsts = self.lies_between(at, window, checked);
            let is_firsts = self.b.ins().uextend(types::I32, is_firsts);
            let at_fault = self.b.ins().iadd(first, is_firsts);
            self.set_current_index(at_fault);
        }
        let site = self.site(checked.site());
        self.stop_at(site, at);
        self.b.switch_to_block(on);
        if let Some(first) = first {
            self.set_current_index(first);
        }
    }

    /// Goes to `on` where `fine` holds, else goes on in a cold block.
    fn go_on_elsewhere(&mut self, fine: Value, on: Block) {
        let elsewhere = self.b.create_block();
        self.b.set_cold_block(elsewhere);
        self.b.ins().brif(fine, on, &[], elsewhere, &[]);
        self.b.switch_to_block(elsewhere);
    }

    fn lies_between(&mut self, at: Value, (start, bytes): (Value, Value), c: Checked) -> Value {
        let offset = self.b.ins().isub(at, start);
        self.ends_before(offset, bytes, 0, c)
    }

    /// As [`Lower::context_window`], loaded where it is asked for: nothing of it is to be kept in registers elsewhere.
    fn cold_window(&mut self, window: Window) -> (Value, Value) {
        let (base, bytes) = window.fields();
        let context = self.context_memory();
        let start = self.load(types::I64, context, base as i64);
        (start, self.load(types::I64, context, bytes as i64))
    }

    /// Where an address lies in the arena, and where the allocation ends that begins at its chunk or before.
    pub(in crate::device::cpu::jit) fn end_of_allocation(
        &mut self,
        at: Value,
        write: bool,
    ) -> (Value, Value) {
        let tables = offset_of!(BlockContext, arena);
        let base = self.context_u64(tables + offset_of!(Tables, base));
        let ends = match write {
            true => offset_of!(Tables, write_ends),
            false => offset_of!(Tables, read_ends),
        };
        let ends = self.context_u64(tables + ends);
        let offset = self.b.ins().isub(at, base);
        // Bits above the arena are cut off here; the comparison finds them.
        let entry = self.b.ins().ushr_imm_u(offset, i64::from(CHUNK_BITS));
        let entry = self.b.ins().band_imm_u(entry, self.source.unit.tables.chunk_mask as i64);
        let entry = self.b.ins().ishl_imm_u(entry, 3);
        let entry = self.b.ins().iadd(ends, entry);
        (offset, self.load(types::I64, MemorySpan::new(entry, 0, 8), 0))
    }

    /// That an access at `offset`, aligned, ends at or before `end`; `shown` is the address for the message.
    fn check(&mut self, offset: Value, end: Value, checked: Checked, shown: Value) {
        let fine = self.ends_before(offset, end, 0, checked);
        self.stop_unless(fine, checked.site(), shown);
    }

    /// Whether the access `span` behind the first one, which is at `offset`, ends at or before `end`, and is aligned.
    pub(in crate::device::cpu::jit) fn ends_before(
        &mut self,
        offset: Value,
        end: Value,
        span: i64,
        checked: Checked,
    ) -> Value {
        // Off the end, since nothing says that the last one's offset does not wrap round zero.
        let end = if span == 0 {
            end
        } else {
            let span = self.b.ins().iconst(types::I64, span);
            let least = self.b.ins().umin(end, span);
            self.b.ins().isub(end, least)
        };
        let end = match checked.bytes.trailing_zeros() {
            0 => end,
            shift => self.b.ins().ushr_imm_u(end, i64::from(shift)),
        };
        self.is_before(offset, end, checked.bytes)
    }

    /// Where a symbol lies.
    pub(super) fn place(&self, symbol: Symbol) -> Option<SymbolPlace> {
        self.source.unit.layout.place(self.source.index, symbol)
    }

    /// The address of a symbol in its own space.
    pub(super) fn symbol_address(&mut self, symbol: Symbol, offset: i64) -> Step<Value> {
        let place = self.place(symbol);
        let place = place.ok_or(Unsupported::Part("a variable in this state space"))?;
        let add = |lower: &mut Self, base: Value, start: u64| {
            lower.b.ins().iadd_imm_s(base, (start as i64).wrapping_add(offset))
        };
        Ok(match place {
            SymbolPlace::Fixed { address, .. } => {
                self.b.ins().iconst(types::I64, (address as i64).wrapping_add(offset))
            }
            SymbolPlace::Shared { offset: start, .. } => {
                self.b.ins().iconst(types::I64, (start as i64).wrapping_add(offset))
            }
            SymbolPlace::DynamicShared if self.is_kernel() => {
                let start = self.source.frame.shared_bytes as i64;
                self.b.ins().iconst(types::I64, start.wrapping_add(offset))
            }
            SymbolPlace::DynamicShared => {
                let start = self.context_u64(offset_of!(BlockContext, dynamic_shared_offset));
                add(self, start, 0)
            }
            SymbolPlace::Local { offset: start, .. } => {
                let base = self.b.use_var(self.thread.local);
                add(self, base, start)
            }
            SymbolPlace::KernelParam { offset: start, .. } => {
                let base = self.context_u64(offset_of!(BlockContext, param_base));
                add(self, base, start)
            }
            SymbolPlace::FunctionParam { position, .. } => {
                let base = self.argument(position);
                add(self, base, 0)
            }
            SymbolPlace::Function(index) => {
                let handle = function_handle(index);
                self.b.ins().iconst(types::I64, handle as i64)
            }
        })
    }

    /// Whether generic addresses of `space` are its own addresses plus a base, and that base.
    pub(super) fn generic_base(&mut self, space: Space) -> Option<Value> {
        match space {
            Space::Shared | Space::SharedCta => {
                Some(self.context_u64(offset_of!(BlockContext, shared_base)))
            }
            Space::Const | Space::Global | Space::Local => None,
            Space::Param | Space::ParamEntry | Space::ParamFunc => None,
            Space::Reg | Space::Sreg | Space::SharedCluster | Space::Tex => None,
        }
    }

    /// Whether a generic address lies in a window of the context.
    pub(super) fn lies_in(&mut self, address: Value, window: Window) -> Value {
        let (start, length) = self.context_window(window);
        let offset = self.b.ins().isub(address, start);
        self.b.ins().icmp(IntCC::UnsignedLessThan, offset, length)
    }

    /// The first byte of a window of the context, and how many there are.
    fn context_window(&mut self, window: Window) -> (Value, Value) {
        let (base, bytes) = window.fields();
        (self.context_u64(base), self.context_u64(bytes))
    }
}

/// Memory of which the context says where it lies.
#[derive(Clone, Copy)]
pub(super) enum Window {
    /// The block's.
    Shared,
    /// That of all threads of the block.
    Local,
    /// The kernel's arguments.
    Param,
}

impl Window {
    /// The context's fields that say where it begins and how many bytes it has.
    fn fields(self) -> (usize, usize) {
        match self {
            Self::Shared => {
                (offset_of!(BlockContext, shared_base), offset_of!(BlockContext, shared_bytes))
            }
            Self::Local => {
                (offset_of!(BlockContext, local_base), offset_of!(BlockContext, all_local_bytes))
            }
            Self::Param => {
                (offset_of!(BlockContext, param_base), offset_of!(BlockContext, param_bytes))
            }
        }
    }
}

/// Whether accesses of a state space reach a place by its address: what is not in allocations by generic addresses, by
/// those of its own space alone.
fn is_reached(place: SymbolPlace, space: Option<Space>) -> bool {
    let is_param = matches!(space, Some(Space::Param | Space::ParamEntry | Space::ParamFunc));
    match place {
        SymbolPlace::Fixed { .. } => {
            !space.is_some_and(|space| space.is_of_block() || space == Space::Local)
        }
        SymbolPlace::Shared { .. } | SymbolPlace::DynamicShared => {
            space.is_some_and(Space::is_of_block)
        }
        SymbolPlace::Local { .. } | SymbolPlace::FunctionParam { .. } => {
            is_param || matches!(space, None | Some(Space::Local))
        }
        SymbolPlace::KernelParam { .. } => is_param || space.is_none(),
        SymbolPlace::Function(_) => false,
    }
}

pub(super) fn address_operand(i: &Instruction, at: usize) -> Step<Address> {
    match i.src.get(at) {
        Some(Operand::Address(address)) => Ok(*address),
        _ => Err(Unsupported::Part("no address")),
    }
}

// `Checked::is_shared` is what tells atomics of a block's own memory from those of all.
impl Checked {
    /// Whether only threads of one block, which run on one core, can reach it.
    pub(super) fn is_private(self) -> bool {
        self.is_shared() || self.space == Some(Space::Local)
    }
}

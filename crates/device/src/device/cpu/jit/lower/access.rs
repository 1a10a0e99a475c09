//! Loads and stores, each within a [`MemorySpan`].

use cranelift_codegen::{
    cursor::{Cursor, FuncCursor},
    ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Type, Value},
};

use super::Lower;
use crate::device::cpu::jit::span::MemorySpan;

/// Whether an access may rely on its address being a multiple of its width.
fn flags(aligned: bool) -> MemFlagsData {
    if aligned { MemFlagsData::trusted() } else { MemFlagsData::new().with_notrap() }
}

impl Lower<'_, '_> {
    /// As [`Lower::load`], in the entry: once, before all else.
    pub(in crate::device::cpu::jit) fn load_at_entry(
        &mut self,
        ty: Type,
        memory: MemorySpan,
        at: i64,
    ) -> Value {
        let (base, at) = self.part(memory, at, ty.bytes());
        self.at_entry().ins().load(ty, flags(true), base, at)
    }

    /// Writes instructions into the entry, which has its end already.
    pub(in crate::device::cpu::jit) fn at_entry(&mut self) -> FuncCursor<'_> {
        let mut cursor = FuncCursor::new(self.b.func);
        let layout = &cursor.func.layout;
        let end = layout.entry_block().and_then(|entry| layout.last_inst(entry));
        if let Some(end) = end {
            cursor.goto_inst(end);
        }
        cursor
    }

    /// Where the bytes lie; an access outside its span is a mistake of the compiler, and fails the compilation.
    fn part(&mut self, memory: MemorySpan, at: i64, bytes: u32) -> (Value, i32) {
        self.require_inside(memory.holds(at, bytes));
        let offset = memory.offset.wrapping_add(at);
        match i32::try_from(offset) {
            Ok(offset) => (memory.base, offset),
            // Further than an instruction of the machine can say.
            Err(_) => (self.b.ins().iadd_imm_s(memory.base, offset), 0),
        }
    }

    /// The value at an offset in a span, naturally aligned.
    pub(in crate::device::cpu::jit) fn load(
        &mut self,
        ty: Type,
        memory: MemorySpan,
        at: i64,
    ) -> Value {
        self.load_with(flags(true), ty, memory, at)
    }

    /// As [`Lower::load`], of any alignment.
    pub(in crate::device::cpu::jit) fn load_unaligned(
        &mut self,
        ty: Type,
        memory: MemorySpan,
        at: i64,
    ) -> Value {
        self.load_with(flags(false), ty, memory, at)
    }

    /// As [`Lower::load`], of what stays as it is while the code runs.
    pub(in crate::device::cpu::jit) fn load_constant(
        &mut self,
        ty: Type,
        memory: MemorySpan,
        at: i64,
    ) -> Value {
        self.load_with(flags(true).with_readonly().with_can_move(), ty, memory, at)
    }

    fn load_with(&mut self, flags: MemFlagsData, ty: Type, memory: MemorySpan, at: i64) -> Value {
        let (base, at) = self.part(memory, at, ty.bytes());
        self.b.ins().load(ty, flags, base, at)
    }

    /// Stores at an offset in a span, naturally aligned.
    pub(in crate::device::cpu::jit) fn store(&mut self, value: Value, memory: MemorySpan, at: i64) {
        self.store_with(flags(true), value, memory, at);
    }

    /// As [`Lower::store`], of any alignment.
    pub(in crate::device::cpu::jit) fn store_unaligned(
        &mut self,
        value: Value,
        memory: MemorySpan,
        at: i64,
    ) {
        self.store_with(flags(false), value, memory, at);
    }

    fn store_with(&mut self, flags: MemFlagsData, value: Value, memory: MemorySpan, at: i64) {
        let bytes = self.b.func.dfg.value_type(value).bytes();
        let (base, at) = self.part(memory, at, bytes);
        self.b.ins().store(flags, value, base, at);
    }

    /// The address of a span, for code that is called with it.
    pub(in crate::device::cpu::jit) fn address_of(&mut self, memory: MemorySpan) -> Value {
        match memory.offset {
            0 => memory.base,
            offset => self.b.ins().iadd_imm_s(memory.base, offset),
        }
    }

    /// The address of `bytes` at an offset in a span, for an atomic operation.
    fn address_in(&mut self, memory: MemorySpan, at: i64, bytes: u32) -> Value {
        let (base, at) = self.part(memory, at, bytes);
        if at == 0 { base } else { self.b.ins().iadd_imm_s(base, i64::from(at)) }
    }

    /// An atomic load, which is never merged with another one.
    pub(in crate::device::cpu::jit) fn load_atomic(
        &mut self,
        int: Type,
        memory: MemorySpan,
        at: i64,
    ) -> Value {
        let address = self.address_in(memory, at, int.bytes());
        self.b.ins().atomic_load(int, flags(true), address)
    }

    /// An atomic store of an integer.
    pub(in crate::device::cpu::jit) fn store_atomic(
        &mut self,
        value: Value,
        memory: MemorySpan,
        at: i64,
    ) {
        let bytes = self.b.func.dfg.value_type(value).bytes();
        let address = self.address_in(memory, at, bytes);
        self.b.ins().atomic_store(flags(true), value, address);
    }

    /// An atomic operation of the machine's own; the value before.
    pub(in crate::device::cpu::jit) fn update_atomic(
        &mut self,
        op: AtomicRmwOp,
        operand: Value,
        memory: MemorySpan,
        at: i64,
    ) -> Value {
        let int = self.b.func.dfg.value_type(operand);
        let address = self.address_in(memory, at, int.bytes());
        self.b.ins().atomic_rmw(int, flags(true), op, address, operand)
    }

    /// An atomic compare and swap of an integer; the value before.
    pub(in crate::device::cpu::jit) fn compare_and_swap(
        &mut self,
        [expected, new]: [Value; 2],
        memory: MemorySpan,
        at: i64,
    ) -> Value {
        let bytes = self.b.func.dfg.value_type(new).bytes();
        let address = self.address_in(memory, at, bytes);
        self.b.ins().atomic_cas(flags(true), address, expected, new)
    }
}

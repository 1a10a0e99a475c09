//! Accesses compared with [`Windows`](crate::device::cpu::jit::windows::Windows).

use std::mem::offset_of;

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};

use super::{Checked, Lower, Step};
use crate::{
    device::cpu::{
        abi::BlockContext,
        jit::{
            fault::{GENERIC, OF_EACH, PADDING, SHARED, THREADS, WRITES},
            kernel::SiteKind,
            span::MemorySpan,
            windows::{ALIGNMENT, Kind},
        },
        memory::{CHUNK_BITS, Tables},
    },
    ptx::{operand::Address, types::Space},
};

impl Lower<'_, '_> {
    /// Whether accesses through a pointer among the arguments are good: the one at `at`, and those behind it to the
    /// one `span` bytes further. None, with nothing done, where the address was made from anything else.
    pub(in crate::device::cpu::jit) fn is_in_window(
        &mut self,
        address: &Address,
        at: Value,
        span: i64,
        checked: Checked,
    ) -> Option<Value> {
        let (distance, end) = self.in_window(address, at, span, checked)?;
        Some(self.is_before(distance, end, checked.bytes))
    }

    /// How far behind a pointer among the arguments an access is, and before how many times its bytes it has to be so
    /// that it is good, and those behind it to the one `span` bytes further.
    pub(in crate::device::cpu::jit) fn in_window(
        &mut self,
        address: &Address,
        at: Value,
        span: i64,
        checked: Checked,
    ) -> Option<(Value, Value)> {
        let Checked { bytes, write, .. } = checked;
        let is_global = matches!(checked.space, Some(Space::Global) | None);
        let argument = self.windows().argument(address.base).filter(|_| is_global)?;
        if !bytes.is_power_of_two() || i64::from(bytes) > ALIGNMENT {
            return None;
        }
        let kind = (argument, write, bytes.trailing_zeros(), span);
        let (pointer, end) = self.window(kind);
        Some((self.b.ins().isub(at, pointer), end))
    }

    /// Whether an offset is aligned for an access of so many bytes, and below `end` times that.
    pub(in crate::device::cpu::jit) fn is_before(
        &mut self,
        offset: Value,
        end: Value,
        bytes: u32,
    ) -> Value {
        let offset = match bytes.trailing_zeros() {
            0 => offset,
            shift => self.b.ins().rotr_imm_u(offset, i64::from(shift)),
        };
        self.b.ins().icmp(IntCC::UnsignedLessThan, offset, end)
    }

    fn window(&mut self, kind: Kind) -> (Value, Value) {
        if let Some(made) = self.windows().made.get(&kind) {
            return *made;
        }
        let (argument, write, shift, span) = kind;
        let mask = self.unit().tables.chunk_mask as i64;
        let tables = offset_of!(BlockContext, arena);
        let ends = match write {
            true => offset_of!(Tables, write_ends),
            false => offset_of!(Tables, read_ends),
        };
        let context = self.context_memory();
        let [params, base, ends] = [
            offset_of!(BlockContext, param_base),
            tables + offset_of!(Tables, base),
            tables + ends,
        ]
        .map(|at| self.load_at_entry(types::I64, context, at as i64));
        let argument = MemorySpan::new(params, argument as i64, 8);
        let pointer = self.load_at_entry(types::I64, argument, 0);
        let mut cursor = self.at_entry();
        let offset = cursor.ins().isub(pointer, base);
        let entry = cursor.ins().ushr_imm_u(offset, i64::from(CHUNK_BITS));
        let entry = cursor.ins().band_imm_u(entry, mask);
        let entry = cursor.ins().ishl_imm_u(entry, 3);
        let entry = cursor.ins().iadd(ends, entry);
        let end = self.load_at_entry(types::I64, MemorySpan::new(entry, 0, 8), 0);
        let mut cursor = self.at_entry();
        // Rotated, the low bits of a pointer that is not aligned make it lie beyond any end.
        let reach = cursor.ins().iadd_imm_s(offset, span);
        let bits = i64::from(ALIGNMENT.trailing_zeros());
        let rotated = cursor.ins().rotr_imm_u(offset, bits);
        let limit = cursor.ins().ushr_imm_u(reach, bits);
        let aligned = cursor.ins().icmp(IntCC::UnsignedLessThanOrEqual, rotated, limit);
        let inside = cursor.ins().icmp(IntCC::UnsignedLessThan, reach, end);
        let fine = cursor.ins().band(aligned, inside);
        let length = cursor.ins().isub(end, reach);
        let none = cursor.ins().iconst(types::I64, 0);
        let end = cursor.ins().ushr_imm_u(length, i64::from(shift));
        // A plain selection would be computed again, with all that it is made of, in each block that asks for it.
        let end = cursor.ins().select_spectre_guard(fine, end, none);
        self.windows().made.insert(kind, (pointer, end));
        (pointer, end)
    }

    /// Goes to `on` where the generic accesses of a group are all to shared memory.
    fn go_on_in_shared(&mut self, first: Value, stride: i64, checked: Checked, on: Block) {
        let base = self.context_u64(offset_of!(BlockContext, shared_base));
        let end = self.context_u64(offset_of!(BlockContext, shared_bytes));
        let offset = self.b.ins().isub(first, base);
        let fine = self.ends_before(offset, end, stride * (self.width() - 1), checked);
        let elsewhere = self.b.create_block();
        self.b.set_cold_block(elsewhere);
        self.b.ins().brif(fine, on, &[], elsewhere, &[]);
        self.b.switch_to_block(elsewhere);
    }

    /// Goes on where `fine` holds. Else the host looks at one access after the other: all may be good all the same,
    /// or one is at fault.
    pub(in crate::device::cpu::jit) fn stop_unless_placed(
        &mut self,
        fine: Value,
        first: Value,
        stride: i64,
        checked: Checked,
    ) -> Step {
        let [on, slow, stop] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        self.b.set_cold_block(stop);
        self.b.ins().brif(fine, on, &[], slow, &[]);
        self.b.switch_to_block(slow);
        if checked.is_generic() && stride != 0 {
            self.go_on_in_shared(first, stride, checked, on);
        }
        let how = [
            (checked.write, WRITES),
            (checked.is_shared(), SHARED),
            (checked.is_generic(), GENERIC),
            (self.is_for_all() || stride != 0, OF_EACH),
        ];
        let how = how.into_iter().filter_map(|(holds, bit)| holds.then_some(bit)).sum::<u32>();
        let threads = match self.present {
            None => {
                let threads = self.width();
                self.b.ins().iconst(types::I32, threads)
            }
            Some([_, others]) => {
                let others = self.b.use_var(others);
                let others = self.b.ins().ireduce(types::I32, others);
                self.b.ins().iadd_imm_u(others, 1)
            }
        };
        let [bytes, how] =
            [checked.bytes, how].map(|v| self.b.ins().iconst(types::I32, i64::from(v)));
        let shifted = self.b.ins().ishl_imm_u(threads, i64::from(THREADS));
        let how = self.b.ins().bor(how, shifted);
        let distance = self.b.ins().iconst(types::I64, stride);
        let frame = self.source.frame;
        let padding = (frame.local_bytes - frame.used_bytes) << PADDING;
        let how = self.b.ins().bor_imm_u(how, padding as i64);
        let local = self.b.use_var(self.thread.local);
        let frame_bytes = self.b.ins().iconst(types::I64, frame.local_bytes as i64);
        let arguments = [self.context(), first, distance, bytes, how, local, frame_bytes];
        let lane = self.host("warpaint_misplaced_lane", &arguments, types::I32)?;
        let fine = self.b.ins().icmp(IntCC::Equal, lane, threads);
        self.b.ins().brif(fine, on, &[], stop, &[]);

        self.b.switch_to_block(stop);
        let index = self.current_index();
        let at_fault = self.b.ins().iadd(index, lane);
        self.set_current_index(at_fault);
        let wide = self.b.ins().uextend(types::I64, lane);
        let step = self.b.ins().imul_imm_s(wide, stride);
        let address = self.b.ins().iadd(first, step);
        let space = checked.space.map_or("generic", Space::text);
        let kind = SiteKind::Access { space, write: checked.write, bytes: checked.bytes };
        let site = self.site(kind);
        self.stop_at(site, address);
        self.b.switch_to_block(on);
        self.set_current_index(index);
        Ok(())
    }
}

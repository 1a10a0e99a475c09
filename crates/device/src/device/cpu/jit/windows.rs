//! What is checked once a block instead of at each access: how far the allocation reaches that a pointer among the
//! kernel's arguments points into. An access whose address was made from that pointer is good where it lies
//! between both; the table of all allocations is asked only where it does not.
//!
//! Enters: a function, and the addresses of its accesses. Leaves: code that checks them. Must not know:
//! `device::cpu::jit::lanes`.

use std::{collections::HashMap, mem::offset_of};

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};

use super::{
    Unit,
    fault::{GENERIC, OF_EACH, SHARED, THREADS, WRITES},
    kernel::SiteKind,
    lower::{Checked, Lower, Step},
    span::MemorySpan,
};
use crate::{
    device::cpu::{
        abi::BlockContext,
        layout::SymbolPlace,
        memory::{CHUNK_BITS, Tables},
    },
    ptx::{
        ast::{Body, Function, FunctionKind},
        inst::{Instruction, Op},
        modifier::Half,
        op::{Integer, Semantics},
        operand::{Address, Base, Operand, Reg},
        types::Space,
    },
};

/// Pointers among arguments that are not so aligned have no window.
const ALIGNMENT: i64 = 16;

/// With more accesses than this the calls of the host where a check fails are too much for the compiler.
const MOST_ACCESSES: usize = 500;

/// Passes over a kernel after which the origins of its addresses are known, unless its text stands on its head.
const MOST_PASSES: usize = 16;

/// What an address was made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Origin {
    /// Nothing that writes it was seen yet.
    #[default]
    Unknown,
    /// The argument at this offset.
    Argument(u64),
    /// This and that.
    Mixed,
}

impl Origin {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, known) | (known, Self::Unknown) => known,
            (Self::Argument(a), Self::Argument(b)) if a == b => self,
            (Self::Argument(_) | Self::Mixed, Self::Argument(_) | Self::Mixed) => Self::Mixed,
        }
    }
}

/// Accesses of one kind: the argument, whether they write, log2 of their bytes, and how far behind the first one
/// (of a group's or a row's) the last one lies.
type Kind = (u64, bool, u32, i64);

/// The windows of a kernel.
#[derive(Debug, Default)]
pub(super) struct Windows {
    origins: Vec<Origin>,
    /// The pointer, and the end for rotated distances from it.
    made: HashMap<Kind, (Value, Value)>,
}

impl Windows {
    pub(super) fn new(unit: &Unit<'_>, index: usize, function: &Function, body: &Body) -> Self {
        let accesses =
            body.instructions().filter(|i| matches!(i.op, Op::Ld(_) | Op::St(_))).count();
        if function.kind != FunctionKind::Entry || accesses > MOST_ACCESSES {
            return Self::default();
        }
        let argument = |address: &Address| {
            let Base::Symbol(symbol) = address.base else { return None };
            let SymbolPlace::KernelParam { offset, bytes } = unit.layout.place(index, symbol)?
            else {
                return None;
            };
            let at = u64::try_from(address.offset).ok()?;
            (at + 8 <= bytes && (offset + at) % 8 == 0).then_some(offset + at)
        };
        let mut origins = vec![Origin::Unknown; body.registers.len()];
        let (mut changed, mut passes) = (true, 0);
        while changed {
            (changed, passes) = (false, passes + 1);
            if passes > MOST_PASSES {
                return Self::default();
            }
            for i in body.instructions() {
                let origin = origin(&origins, i, &argument);
                i.for_each_def(|reg| {
                    let entry = &mut origins[reg.0 as usize];
                    let new = entry.join(origin);
                    changed |= new != *entry;
                    *entry = new;
                });
            }
        }
        Self { origins, made: HashMap::new() }
    }

    fn argument(&self, base: Base) -> Option<u64> {
        let Base::Reg(reg) = base else { return None };
        match self.origins.get(reg.0 as usize)? {
            Origin::Argument(at) => Some(*at),
            Origin::Unknown | Origin::Mixed => None,
        }
    }
}

/// What the result of an instruction was made from.
fn origin(
    origins: &[Origin],
    i: &Instruction,
    argument: &impl Fn(&Address) -> Option<u64>,
) -> Origin {
    let of = |at: usize| {
        let reg = i.src.get(at).and_then(Operand::reg);
        reg.map_or(Origin::Mixed, |Reg(reg)| origins[reg as usize])
    };
    // A sum is made from whichever part is a pointer.
    let sum = |a: Origin, b: Origin| match (a, b) {
        (Origin::Argument(at), Origin::Mixed) | (Origin::Mixed, Origin::Argument(at)) => {
            Origin::Argument(at)
        }
        (Origin::Unknown, _) | (_, Origin::Unknown) => Origin::Unknown,
        (Origin::Argument(_), Origin::Argument(_)) | (Origin::Mixed, Origin::Mixed) => {
            Origin::Mixed
        }
    };
    // Made from nothing that is known, it is mixed: its accesses are looked up one by one.
    match Semantics::of(&i.op) {
        Some(Semantics::Load(access)) if access.ty.bytes() == 8 && access.lanes == 1 => {
            let address = i.src.first().and_then(Operand::address);
            address.and_then(argument).map_or(Origin::Mixed, Origin::Argument)
        }
        Some(Semantics::Address { space: Space::Global, .. }) => of(0),
        Some(Semantics::Move(ty)) if ty.bytes() == 8 => of(0),
        Some(Semantics::Choice(ty)) if ty.bytes() == 8 => of(0).join(of(1)),
        Some(Semantics::Integer(Integer::Mad(Half::Wide), _)) => of(2),
        Some(Semantics::Integer(operation, ty)) if ty.bytes() == 8 => match operation {
            Integer::Sum => sum(of(0), of(1)),
            Integer::Difference => match of(1) {
                Origin::Argument(_) => Origin::Mixed,
                Origin::Unknown | Origin::Mixed => of(0),
            },
            Integer::Product(_) | Integer::Mad(_) => Origin::Mixed,
            Integer::Quotient | Integer::Remainder | Integer::Count => Origin::Mixed,
            Integer::Negative | Integer::Magnitude | Integer::Complement => Origin::Mixed,
            Integer::Least | Integer::Greatest | Integer::Bitwise(_) => Origin::Mixed,
            Integer::ShiftLeft | Integer::ShiftRight | Integer::Bytes => Origin::Mixed,
            Integer::Extract | Integer::Insert => Origin::Mixed,
        },
        Some(Semantics::Load(_) | Semantics::Address { .. } | Semantics::Move(_)) => Origin::Mixed,
        Some(Semantics::Choice(_) | Semantics::Integer(..) | Semantics::Convert(_)) => {
            Origin::Mixed
        }
        Some(Semantics::Real(_) | Semantics::Predicate(_)) | None => Origin::Mixed,
    }
}

impl Lower<'_, '_> {
    /// Whether accesses through a pointer among the arguments are good: the one at `at`, and those behind it to the
    /// one `span` bytes further. None, with nothing done, where the address was made from anything else.
    pub(super) fn is_in_window(
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
    pub(super) fn in_window(
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
    pub(super) fn is_before(&mut self, offset: Value, end: Value, bytes: u32) -> Value {
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
    pub(super) fn stop_unless_placed(
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
        let (local, frame_bytes) = self.kernel_frame();
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

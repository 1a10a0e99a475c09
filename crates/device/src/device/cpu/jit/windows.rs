//! What is checked once a block instead of at each access: how far the allocation reaches that a pointer among the
//! kernel's arguments points into. An access whose address was made from that pointer is good where it lies
//! between both; the table of all allocations is asked only where it does not.
//!
//! Enters: a function. Leaves: for each register the argument that an address in it was made from; the code that
//! compares with a window is made in `lower/window.rs`. Must not know: `device::cpu::jit::lanes`.

use std::collections::HashMap;

use cranelift_codegen::ir::Value;

use super::Unit;
use crate::{
    device::cpu::layout::SymbolPlace,
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
pub(super) const ALIGNMENT: i64 = 16;

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
pub(super) type Kind = (u64, bool, u32, i64);

/// The windows of a kernel.
#[derive(Debug, Default)]
pub(super) struct Windows {
    origins: Vec<Origin>,
    /// The pointer, and the end for rotated distances from it.
    pub(super) made: HashMap<Kind, (Value, Value)>,
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

    pub(super) fn argument(&self, base: Base) -> Option<u64> {
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

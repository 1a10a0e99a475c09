//! Addresses that are a pointer of the kernel's plus a multiple of an index of 32 bits: to compare the index takes half
//! the instructions that it takes to compare the address.

use super::values::{Value, Values};
use crate::ptx::ast::{Body, Function};
use crate::ptx::cfg::Cfg;
use crate::ptx::inst::Instruction;
use crate::ptx::modifier::Half;
use crate::ptx::op::{Integer, Semantics, is_integer};
use crate::ptx::operand::{Operand, Reg};
use crate::ptx::pass::guard::group::{Bounds, Group, Index, Root};
use crate::ptx::pass::guard::surface::SurfaceAccess;
use crate::ptx::pass::origin::{Origins, Source};
use crate::ptx::types::{Kind, Space, Type};

/// Most steps from an address to the pointer that it was made of.
const MOST_STEPS: u32 = 12;

/// Finds the indices of groups.
pub(in crate::ptx::pass::guard) fn find(
    function: &Function,
    body: &Body,
    cfg: &Cfg,
    origins: &Origins<'_>,
    groups: &mut [Group],
) {
    let values = Values::new(function, body, cfg);
    for group in groups {
        let (Root::Reg(root), Bounds::Sources { sources, .. }) = (group.root, &group.bounds) else {
            continue;
        };
        let [Source::Argument(argument)] = sources.as_slice() else { continue };
        let at = group.first();
        let index = Finder { values: &values, origins }.index(values.before(at, root));
        group.index = index
            // It still holds what it held when the address was made of it.
            .filter(|(index, of)| values.before(at, index.reg) == *of)
            .map(|(index, _)| index)
            .filter(|index| index.argument == *argument && group.tested_align == 1);
    }
}

/// The accesses to surfaces whose handles are among the arguments.
pub(in crate::ptx::pass::guard) fn surfaces(
    function: &Function,
    body: &Body,
    cfg: &Cfg,
    origins: &Origins<'_>,
) -> Vec<SurfaceAccess> {
    let values = Values::new(function, body, cfg);
    let finder = Finder { values: &values, origins };
    let all = cfg.ids().flat_map(|id| cfg.instructions(body, id));
    let found = all.filter_map(|(at, i)| {
        i.op.surface()?;
        let handle = i.src.first().and_then(Operand::reg)?;
        let (argument, 0) = finder.pointer(values.before(at, handle))? else { return None };
        SurfaceAccess::of(at, i, argument, |reg| origins.of(reg).zeros)
    });
    found.collect()
}

struct Finder<'a> {
    values: &'a Values<'a>,
    origins: &'a Origins<'a>,
}

impl<'a> Finder<'a> {
    /// The only instruction that an address or index was made by.
    fn made(&self, value: Value) -> Option<(usize, &'a Instruction)> {
        let (at, i) = self.values.instruction(value).filter(|(_, i)| i.guard.is_none())?;
        (i.dst.len() == 1 && i.dst[0].reg() == Some(value.reg())).then_some((at, i))
    }

    /// What a value of 64 bits is a copy of, but for a constant that was added to it.
    fn step(&self, value: Value) -> Option<(Value, i64)> {
        let (at, i) = self.made(value)?;
        let from = || Some(self.values.before(at, i.src.first()?.reg()?));
        match Semantics::of(&i.op)? {
            Semantics::Move(ty) if ty.bits() == 64 => Some((from()?, 0)),
            Semantics::Address { space: Space::Global, .. } => Some((from()?, 0)),
            Semantics::Integer(Integer::Sum, ty) if ty.bits() == 64 => {
                let Operand::Int(by) = i.src.get(1)? else { return None };
                Some((from()?, *by))
            }
            Semantics::Move(_) | Semantics::Address { .. } | Semantics::Integer(..) => None,
            Semantics::Convert(_) | Semantics::Choice(_) | Semantics::Load(_) => None,
            Semantics::Real(_) | Semantics::Predicate(_) => None,
        }
    }

    /// What a value goes back to by copies and constants, and the sum of these.
    fn root(&self, mut value: Value) -> Option<(Value, i64)> {
        let mut offset = 0_i64;
        for _ in 0..MOST_STEPS {
            let Some((from, by)) = self.step(value) else { return Some((value, offset)) };
            (value, offset) = (from, offset.checked_add(by)?);
        }
        None
    }

    /// The index of an address, and its value then.
    fn index(&self, address: Value) -> Option<(Index, Value)> {
        let (address, offset) = self.root(address)?;
        let (at, i) = self.made(address)?;
        let before = |reg: &Reg| self.values.before(at, *reg);
        let Semantics::Integer(operation, ty) = Semantics::of(&i.op)? else { return None };
        // A pointer to which a multiple of an index is added, in one instruction or in two.
        if let (Integer::Sum, 64, [Operand::Reg(a), Operand::Reg(b)]) =
            (operation, ty.bits(), i.src.as_slice())
        {
            let [a, b] = [a, b].map(before);
            let (pointer, product) = match (self.pointer(a), self.pointer(b)) {
                (Some(pointer), None) => (pointer, self.product(b)?),
                (None, Some(pointer)) => (pointer, self.product(a)?),
                (Some(_), Some(_)) | (None, None) => return None,
            };
            return indexed(pointer, offset, product);
        }
        let (
            Integer::Mad(Half::Wide),
            32,
            [Operand::Reg(index), Operand::Int(by), Operand::Reg(base)],
        ) = (operation, ty.bits(), i.src.as_slice())
        else {
            return None;
        };
        let product = (before(index), ty.kind() == Kind::Signed, *by);
        indexed(self.pointer(before(base))?, offset, product)
    }

    /// The argument that a value is, but for a constant.
    fn pointer(&self, value: Value) -> Option<(u32, i64)> {
        let (value, offset) = self.root(value)?;
        let (_, i) = self.made(value)?;
        match self.origins.argument(i, 0)? {
            Source::Argument(place) => Some((place, offset)),
            Source::Symbol(_) | Source::Null => None,
        }
    }

    /// A number of 64 bits as an index, whether that is signed, and how much it counts.
    fn product(&self, value: Value) -> Option<(Value, bool, i64)> {
        let (at, i) = self.made(value)?;
        let scaled = |by: i64| {
            let wide = self.values.before(at, i.src.first()?.reg()?);
            self.widened(wide).map(|(index, signed)| (index, signed, by))
        };
        let constant = || if let Operand::Int(by) = i.src.get(1)? { Some(*by) } else { None };
        match Semantics::of(&i.op)? {
            Semantics::Convert(_) => self.widened(value).map(|(index, signed)| (index, signed, 1)),
            Semantics::Integer(operation, ty) => match operation {
                Integer::Product(Half::Wide) if ty.bits() == 32 => {
                    let index = self.values.before(at, i.src.first()?.reg()?);
                    Some((index, ty.kind() == Kind::Signed, constant()?))
                }
                Integer::Product(Half::Lo) if ty.bits() == 64 => scaled(constant()?),
                Integer::ShiftLeft if ty.bits() == 64 => {
                    scaled(1 << constant().filter(|by| (0..31).contains(by))?)
                }
                Integer::Product(_) | Integer::ShiftLeft => None,
                // No multiples by constants.
                Integer::Sum | Integer::Difference | Integer::Mad(_) | Integer::Quotient => None,
                Integer::Remainder | Integer::Negative | Integer::Magnitude => None,
                Integer::Complement | Integer::Least | Integer::Greatest => None,
                Integer::Bitwise(_) | Integer::ShiftRight | Integer::Extract => None,
                Integer::Insert | Integer::Bytes | Integer::Count => None,
            },
            Semantics::Move(_) | Semantics::Address { .. } | Semantics::Choice(_) => None,
            Semantics::Load(_) | Semantics::Real(_) | Semantics::Predicate(_) => None,
        }
    }

    /// What a number of 32 bits was before it was made one of 64.
    fn widened(&self, value: Value) -> Option<(Value, bool)> {
        let (at, i) = self.made(value)?;
        let Semantics::Convert(cvt) = Semantics::of(&i.op)? else { return None };
        let is = |ty: Type, bits: u32| is_integer(ty) && ty.bits() == bits;
        let widens = is(cvt.from, 32) && is(cvt.to, 64) && !cvt.sat;
        let index = i.src.first().and_then(Operand::reg).filter(|_| widens)?;
        Some((self.values.before(at, index), cvt.from.kind() == Kind::Signed))
    }
}

fn indexed(
    (argument, base): (u32, i64),
    offset: i64,
    (of, signed, stride): (Value, bool, i64),
) -> Option<(Index, Value)> {
    let stride = u32::try_from(stride).ok().filter(|stride| (1..1 << 31).contains(stride))?;
    let offset = offset.checked_add(base)?;
    Some((Index { reg: of.reg(), signed, stride, argument, offset }, of))
}

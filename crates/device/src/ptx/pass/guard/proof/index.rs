//! Addresses that are a pointer of the kernel's plus a multiple of an index of 32 bits: to compare the index takes half
//! the instructions that it takes to compare the address.

use super::semantics::{Integer, Semantics, is_integer};
use super::values::{Value, Values};
use crate::ptx::ast::{Body, Function};
use crate::ptx::cfg::Cfg;
use crate::ptx::inst::Instruction;
use crate::ptx::modifier::Half;
use crate::ptx::operand::{Operand, Reg};
use crate::ptx::pass::guard::plan::{Bounds, Group, Root};
use crate::ptx::pass::guard::surface::SurfaceAccess;
use crate::ptx::pass::origin::{Origins, Source};
use crate::ptx::types::{Kind, Space, Type};

/// Most steps from an address to the pointer that it was made of.
const MOST_STEPS: u32 = 12;

/// How an address is made of a pointer among the kernel's arguments and an index of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx::pass::guard) struct Index {
    pub(in crate::ptx::pass::guard) reg: Reg,
    pub(in crate::ptx::pass::guard) signed: bool,
    /// What is added to the pointer: so many bytes for each of the index, and these.
    pub(in crate::ptx::pass::guard) stride: u32,
    pub(in crate::ptx::pass::guard) offset: i64,
    /// Where the pointer lies among the arguments.
    pub(in crate::ptx::pass::guard) argument: u32,
}

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

    /// The index of an address, and its value then.
    fn index(&self, mut address: Value) -> Option<(Index, Value)> {
        let mut offset = 0_i64;
        for _ in 0..MOST_STEPS {
            let (at, i) = self.made(address)?;
            let before = |reg: Reg| self.values.before(at, reg);
            match (Semantics::of(&i.op)?, i.src.as_slice()) {
                (Semantics::Move(ty), [Operand::Reg(from)]) if ty.bits() == 64 => {
                    address = before(*from);
                }
                (Semantics::Address(Space::Global), [Operand::Reg(from)]) => {
                    address = before(*from)
                }
                (Semantics::Integer(Integer::Sum, ty), [Operand::Reg(from), Operand::Int(by)])
                    if ty.bits() == 64 =>
                {
                    (address, offset) = (before(*from), offset.checked_add(*by)?);
                }
                (Semantics::Integer(Integer::Sum, ty), [Operand::Reg(a), Operand::Reg(b)])
                    if ty.bits() == 64 =>
                {
                    let [a, b] = [*a, *b].map(before);
                    let (pointer, product) = match (self.pointer(a), self.pointer(b)) {
                        (Some(pointer), None) => (pointer, self.product(b)?),
                        (None, Some(pointer)) => (pointer, self.product(a)?),
                        (Some(_), Some(_)) | (None, None) => return None,
                    };
                    return indexed(pointer, offset, product);
                }
                (
                    Semantics::Integer(Integer::Mad(Half::Wide), ty),
                    [Operand::Reg(index), Operand::Int(by), Operand::Reg(base)],
                ) if ty.bits() == 32 => {
                    let product = (before(*index), ty.kind() == Kind::Signed, *by);
                    return indexed(self.pointer(before(*base))?, offset, product);
                }
                (_, _) => return None,
            }
        }
        None
    }

    /// The argument that a value is, but for a constant.
    fn pointer(&self, mut value: Value) -> Option<(u32, i64)> {
        let mut offset = 0_i64;
        for _ in 0..MOST_STEPS {
            let (at, i) = self.made(value)?;
            let before = |reg: Reg| self.values.before(at, reg);
            match (Semantics::of(&i.op)?, i.src.as_slice()) {
                (Semantics::Load(_), _) => {
                    let Some(Source::Argument(place)) = self.origins.argument(i, 0) else {
                        return None;
                    };
                    return Some((place, offset));
                }
                (Semantics::Move(ty), [Operand::Reg(from)]) if ty.bits() == 64 => {
                    value = before(*from)
                }
                (Semantics::Address(Space::Global), [Operand::Reg(from)]) => value = before(*from),
                (Semantics::Integer(Integer::Sum, ty), [Operand::Reg(from), Operand::Int(by)])
                    if ty.bits() == 64 =>
                {
                    (value, offset) = (before(*from), offset.checked_add(*by)?);
                }
                (_, _) => return None,
            }
        }
        None
    }

    /// A number of 64 bits as an index, whether that is signed, and how much it counts.
    fn product(&self, value: Value) -> Option<(Value, bool, i64)> {
        let (at, i) = self.made(value)?;
        let before = |reg: Reg| self.values.before(at, reg);
        match (Semantics::of(&i.op)?, i.src.as_slice()) {
            (
                Semantics::Integer(Integer::Product(Half::Wide), ty),
                [Operand::Reg(index), Operand::Int(by)],
            ) if ty.bits() == 32 => Some((before(*index), ty.kind() == Kind::Signed, *by)),
            (
                Semantics::Integer(Integer::ShiftLeft, ty),
                [Operand::Reg(wide), Operand::Int(by)],
            ) if ty.bits() == 64 && (0..31).contains(by) => {
                let (index, signed) = self.widened(before(*wide))?;
                Some((index, signed, 1 << by))
            }
            (
                Semantics::Integer(Integer::Product(Half::Lo), ty),
                [Operand::Reg(wide), Operand::Int(by)],
            ) if ty.bits() == 64 => {
                let (index, signed) = self.widened(before(*wide))?;
                Some((index, signed, *by))
            }
            (Semantics::Convert(_), _) => {
                let (index, signed) = self.widened(value)?;
                Some((index, signed, 1))
            }
            (_, _) => None,
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

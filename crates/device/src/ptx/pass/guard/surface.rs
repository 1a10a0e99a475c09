//! Surfaces: an access with `.trap` outside the surface, which would end the launch, is left out and told.

use super::code::{Code, when};
use super::record::AccessRecord;
use super::weave::Weaver;
use super::words::Word;
use super::{CheckKind, Counts};
use crate::ptx::inst::{Guard, Instruction};
use crate::ptx::modifier::{Clamp, Geometry, Surface};
use crate::ptx::operand::{Address, Operand, Reg};
use crate::ptx::types::Type;

/// An access to a surface whose handle is among the kernel's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SurfaceAccess {
    /// Its instruction: an index into the statements.
    pub(super) statement: usize,
    /// Where the handle lies among the arguments.
    pub(super) argument: u32,
    /// The byte in the row, and the row.
    pub(super) x: Operand,
    pub(super) y: Operand,
    /// The slice or the layer, of a surface that has some.
    pub(super) z: Option<Operand>,
    pub(super) bytes: u32,
    /// Whether the byte in the row is a multiple of them in any launch.
    pub(super) is_aligned: bool,
    /// Whether it traps outside the surface.
    traps: bool,
    pub(super) guard: Option<Guard>,
}

impl SurfaceAccess {
    /// Of an instruction; `argument` is where its handle lies among the arguments. None of one that can do nothing
    /// wrong: that does not trap outside, and is aligned. Registers have as many `zeros` in their lowest bits.
    pub(super) fn of(
        statement: usize,
        i: &Instruction,
        argument: u32,
        zeros: impl Fn(Reg) -> u32,
    ) -> Option<Self> {
        let surface = i.op.surface()?;
        let traps = matches!(surface.clamp, None | Some(Clamp::Trap));
        let at = i.src.get(1)?.lanes();
        let row = &Operand::Int(0);
        let (x, y, z) = match (surface.geometry, at) {
            (Geometry::D1, [x, ..]) => (x, row, None),
            (Geometry::D2, [x, y, ..]) => (x, y, None),
            (Geometry::D3, [x, y, z, ..]) | (Geometry::A2d, [z, x, y, ..]) => (x, y, Some(z)),
            (Geometry::A1d, [z, x, ..]) => (x, row, Some(z)),
            // The other geometries are those of textures.
            (Geometry::D1 | Geometry::D2 | Geometry::D3 | Geometry::A1d | Geometry::A2d, _)
            | (Geometry::Cube | Geometry::Acube | Geometry::D2ms | Geometry::A2dms, _) => {
                return None;
            }
        };
        let bytes = width(surface);
        let is_aligned = is_multiple(x, bytes, zeros);
        let (x, y, z, guard) = (x.clone(), y.clone(), z.cloned(), i.guard);
        let can_fail = !surface.formatted && (traps || !is_aligned);
        can_fail.then_some(Self { statement, argument, x, y, z, bytes, is_aligned, traps, guard })
    }

    /// The word with the places in a slice where it may begin.
    pub(super) fn word(&self) -> Word {
        Word::Surface { argument: self.argument, bytes: self.bytes }
    }

    /// The word with the slices, where it says which one.
    pub(super) fn slices(&self) -> Option<(&Operand, Word)> {
        self.z.as_ref().map(|z| (z, Word::Slices { argument: self.argument }))
    }
}

/// Bytes that are accessed together.
fn width(surface: &Surface) -> u32 {
    surface.ty.bytes() * u32::from(surface.lanes.max(1))
}

/// Whether a coordinate is a multiple of so many bytes, a power of two, where registers have so many `zeros`.
fn is_multiple(x: &Operand, bytes: u32, zeros: impl Fn(Reg) -> u32) -> bool {
    let zeros = match x {
        Operand::Int(value) => value.trailing_zeros(),
        Operand::Reg(reg) => zeros(*reg),
        // No coordinate is one of these.
        Operand::Not(_) | Operand::F32(_) | Operand::F64(_) | Operand::Symbol(..) => 0,
        Operand::Special(_) | Operand::Address(_) | Operand::Vector(_) => 0,
        Operand::Bracket(_) | Operand::Label(_) | Operand::Table(_) | Operand::Sink => 0,
    };
    zeros >= bytes.trailing_zeros()
}

impl Weaver<'_> {
    /// Compares an access with its surface, and writes or notes that it is outside. Gives the predicate that it is.
    pub(super) fn check_surface(&mut self, access: &SurfaceAccess, i: &Instruction) -> Reg {
        let [first, rows] = self.halves(access.word());
        let slice = access.slices().map(|(z, word)| [z.clone(), self.halves(word)[0].clone()]);
        let mut pairs = Vec::new();
        if access.traps {
            pairs.push(("hs", [access.x.clone(), first.clone()]));
            pairs.push(("hs", [access.y.clone(), rows.clone()]));
            pairs.extend(slice.clone().map(|pair| ("hs", pair)));
        }
        if !access.is_aligned {
            let low = [access.x.clone(), Operand::Int((access.bytes - 1).into())];
            let low = self.code.give("and.b32", Type::B32, low);
            pairs.push(("ne", [Operand::Reg(low), Operand::Int(0)]));
        }
        let mut fail = self.any(pairs);
        if let Some(guard) = i.guard {
            let both = [Operand::Reg(fail), self.predicate(guard)];
            fail = self.code.give("and.pred", Type::Pred, both);
        }
        let check = self.push_check(CheckKind::Surface {
            write: i.op.facts().changes,
            bytes: access.bytes,
            location: i.location,
            line: i.line,
        });
        if self.noted.is_some() {
            self.note_surface(access, check, fail);
            return fail;
        }
        let (write, back) = (self.code.label(), self.code.label());
        self.code.jump(when(fail), write);
        self.code.place(back);
        let recorder = self.recorder;
        let [x, y] = [access.x.clone(), access.y.clone()];
        self.code.aside(|code| {
            code.place(write);
            let record = surface_record(code, [x, y], [first, rows], slice);
            recorder.record(code, Operand::Int(check.into()), &record);
            code.jump(None, back);
        });
        fail
    }

    /// Gives a predicate: whether a comparison of one of the pairs holds, of which there are some.
    fn any(&mut self, pairs: Vec<(&str, [Operand; 2])>) -> Reg {
        let mut any: Option<Reg> = None;
        for (order, [a, b]) in pairs {
            any = Some(match any {
                None => self.code.give(&format!("setp.{order}.u32"), Type::Pred, [a, b]),
                Some(others) => {
                    let operands = [a, b, Operand::Reg(others)];
                    self.code.give(&format!("setp.{order}.or.u32"), Type::Pred, operands)
                }
            });
        }
        any.unwrap_or_else(|| self.code.reg(Type::Pred))
    }

    /// An access outside a surface reads zero or is left out, instead of ending the launch, whichever surface it is.
    /// One that is not aligned would end it all the same: it is made at the place before.
    pub(super) fn untrap(&mut self, i: &mut Instruction) {
        let Some(surface) = i.op.surface_mut() else { return };
        if matches!(surface.clamp, None | Some(Clamp::Trap)) {
            surface.clamp = Some(Clamp::Zero);
        }
        let bytes = width(surface);
        let lane = match surface.geometry {
            Geometry::A1d | Geometry::A2d => 1,
            Geometry::D1 | Geometry::D2 | Geometry::D3 | Geometry::Cube => 0,
            Geometry::Acube | Geometry::D2ms | Geometry::A2dms => 0,
        };
        if surface.formatted || bytes <= 1 {
            return;
        }
        let x = match i.src.get_mut(1) {
            Some(Operand::Vector(lanes)) => lanes.get_mut(lane),
            x => x,
        };
        let Some(x) = x.filter(|x| !is_multiple(x, bytes, |reg| self.origins.of(reg).zeros)) else {
            return;
        };
        let before = [x.clone(), Operand::Int(-i64::from(bytes))];
        *x = Operand::Reg(self.code.give("and.b32", Type::B32, before));
    }

    /// Both halves of a word.
    pub(super) fn halves(&mut self, word: Word) -> [Operand; 2] {
        let Operand::Address(Address { base, offset }) = self.words.operand(word) else {
            return [Operand::Int(0), Operand::Int(0)];
        };
        [offset, offset + 4].map(|offset| {
            let half = Operand::Address(Address { base, offset });
            Operand::Reg(self.code.give("ld.param.u32", Type::B32, [half]))
        })
    }
}

/// What a record says of an access to a surface: the place in the address, and what it was compared with; in the limit
/// the slice and how many there are, if it says which.
pub(super) fn surface_record(
    code: &mut Code,
    at: [Operand; 2],
    limits: [Operand; 2],
    slice: Option<[Operand; 2]>,
) -> AccessRecord {
    let mut packed = |halves: [Operand; 2]| {
        let halves = halves.map(|half| match half.reg() {
            Some(_) => half,
            None => Operand::Reg(code.give("mov.u32", Type::B32, [half])),
        });
        Operand::Reg(code.give("mov.b64", Type::B64, [Operand::Vector(Box::new(halves))]))
    };
    let (address, start) = (packed(at), packed(limits));
    let limit = slice.map_or(Operand::Int(0), packed);
    AccessRecord { address, start, limit }
}

impl Counts {
    /// Beside accesses to memory, so many to surfaces.
    pub(super) const fn add_surfaces(&mut self, count: u32) {
        self.accesses += count;
        self.checked += count;
    }
}

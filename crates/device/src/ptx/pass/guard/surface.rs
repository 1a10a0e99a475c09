//! Accesses to surfaces, and what can be wrong with them.

use super::Counts;
use super::words::Word;
use crate::ptx::inst::{Guard, Instruction};
use crate::ptx::modifier::{Clamp, Geometry, Surface};
use crate::ptx::operand::{Operand, Reg};

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
    pub(super) traps: bool,
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
pub(super) fn width(surface: &Surface) -> u32 {
    surface.ty.bytes() * u32::from(surface.lanes.max(1))
}

/// Whether a coordinate is a multiple of so many bytes, a power of two, where registers have so many `zeros`.
pub(super) fn is_multiple(x: &Operand, bytes: u32, zeros: impl Fn(Reg) -> u32) -> bool {
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

impl Counts {
    /// Beside accesses to memory, so many to surfaces.
    pub(super) const fn add_surfaces(&mut self, count: u32) {
        self.accesses += count;
        self.checked += count;
    }
}

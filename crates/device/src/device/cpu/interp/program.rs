//! A module made ready to be interpreted: registers, constants and special registers are slots of one frame, labels
//! are indices, and every operand is the number of a slot.

use std::sync::Arc;

pub(super) use super::release::Ordering;
use crate::{
    device::cpu::texture::{Fetch, SurfaceAccess},
    ptx::{
        ast::{LocationId, Module},
        inst::Op,
        matrix::MatrixOp,
        modifier::{Atomic, BarKind, Mbarrier, Query},
        op::WarpOp,
        operand::Special,
        types::{Space, Type},
    },
};

/// A slot of a frame.
pub(super) type Slot = u32;

/// A decoded module.
#[derive(Debug)]
pub(in crate::device::cpu) struct Program {
    pub(super) ptx: Arc<Module>,
    /// Decoded functions, by their index in the module.
    pub(super) functions: Vec<Option<Code>>,
    /// Where each instruction came from, by [`Inst::site`].
    pub(super) sites: Vec<Origin>,
    /// Whether it asks for shared memory that is kept for the system.
    pub(super) reserves: bool,
}

/// Where an instruction came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) function: u32,
    /// Index in the function's decoded code.
    pub(super) at: u32,
    pub(super) line: u32,
    pub(super) location: Option<LocationId>,
}

/// A decoded function.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) insts: Vec<Inst>,
    /// What the slots hold at first.
    pub(super) template: Vec<u64>,
    /// Slots whose first value depends on launch, thread or call.
    pub(super) fills: Vec<(Slot, Fill)>,
    /// Memory of the frame in local memory: `.local` variables, and `.param` variables of its calls.
    pub(super) local_bytes: u64,
    /// What frames are aligned to.
    pub(super) alignment: u64,
    /// Memory behind the frame for those of the functions that it calls, and for what it allocates.
    pub(super) stack_bytes: u64,
    /// Parameters, then results.
    pub(super) arguments: Vec<Argument>,
    pub(super) params: usize,
    /// Slots of the registers, by their number.
    pub(super) registers: Vec<Slot>,
    /// Static shared memory in bytes (kernels).
    pub(super) shared_bytes: u64,
    /// Whether a pointer may lead to it.
    pub(super) is_addressed: bool,
}

impl Code {
    /// No code at all.
    pub(super) const fn nothing() -> Self {
        Self {
            insts: Vec::new(),
            template: Vec::new(),
            fills: Vec::new(),
            local_bytes: 0,
            alignment: 1,
            stack_bytes: 0,
            arguments: Vec::new(),
            params: 0,
            registers: Vec::new(),
            shared_bytes: 0,
            is_addressed: false,
        }
    }
}

/// A parameter or result of a device function, which lies in memory of the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument {
    pub(super) bytes: u32,
    /// The register that holds it in the function, where one does.
    pub(super) reg: Option<Slot>,
}

/// A value that is known when a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fill {
    /// An address in the frame's local memory.
    Local(u64),
    /// An address in the kernel's parameters.
    KernelParam(u64),
    /// The address of a parameter or result.
    Argument(u32),
    /// Where dynamic shared memory starts, plus bytes.
    DynamicShared(i64),
    Special(Special),
}

/// One instruction.
#[derive(Debug)]
pub(super) struct Inst {
    /// The predicate's slot, and the value with which it does not run.
    pub(super) guard: Option<(Slot, u64)>,
    pub(super) action: Action,
    pub(super) dst: [Dst; 2],
    pub(super) src: [Slot; 5],
    /// Sources, by bit, that are complemented predicates.
    pub(super) inverted: u8,
    pub(super) site: u32,
}

/// A destination: a slot, and which bits of it there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dst {
    pub(super) slot: Slot,
    pub(super) mask: u64,
}

/// What an instruction does.
#[derive(Debug)]
pub(super) enum Action {
    /// A value computed from values.
    Value(Op),
    /// A special register that changes.
    Read(Special),
    /// Each slot to a destination.
    Spread(Box<[Slot]>, Box<[Dst]>),
    /// 128 bits from one pair of slots to another.
    Copy128,
    /// Parts of so many bits, the first lowest, as one value.
    Pack(Box<[Slot]>, u32),
    /// The reverse.
    Unpack(Box<[Dst]>, u32),
    Cvta {
        to_generic: bool,
        space: Space,
    },
    Isspacep(Space),
    Load(Box<MemoryOperand>),
    Store(Box<MemoryOperand>),
    Atomic(Box<MemoryOperand>, Box<Atomic>),
    /// The two addresses are the first two sources, plus these offsets; then bytes and source bytes.
    CopyToShared {
        offsets: [i64; 2],
        narrow: [bool; 2],
        ignore: bool,
    },
    Image(Box<Image>),
    Mbarrier(Box<MemoryOperand>, Box<Mbarrier>),
    Alloca,
    Stacksave,
    Stackrestore,
    Nothing,
    /// Lets others go on.
    Yield,
    Fence,
    Barrier(BarKind),
    Warp(WarpOp),
    Matrix(Box<Matrix>),
    Jump(u32),
    Table(Box<[u32]>),
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
}

/// A memory operand: the first source plus an offset.
#[derive(Debug)]
pub(super) struct MemoryOperand {
    pub(super) space: Option<Space>,
    pub(super) offset: i64,
    /// The base is a register of 32 bits: the sum wraps there.
    pub(super) narrow: bool,
    pub(super) ty: Type,
    /// What is loaded to.
    pub(super) into: Box<[Dst]>,
    /// What is stored.
    pub(super) from: Box<[Slot]>,
    /// Volatile, relaxed or stronger: two such accesses do not race.
    pub(super) strong: bool,
    pub(super) ordering: Ordering,
}

impl MemoryOperand {
    /// One value without offset.
    pub(super) fn of(space: Option<Space>, ty: Type) -> Self {
        Self {
            space,
            offset: 0,
            narrow: false,
            ty,
            into: Box::default(),
            from: Box::default(),
            strong: false,
            ordering: Ordering::default(),
        }
    }

    /// The space, and how a strong access orders others.
    pub(super) fn how(&self) -> (Option<Space>, Option<Ordering>) {
        (self.space, self.strong.then_some(self.ordering))
    }

    pub(super) fn lanes(&self) -> u32 {
        self.into.len().max(self.from.len()).max(1) as u32
    }

    pub(super) fn bytes(&self) -> u32 {
        self.ty.bytes() * self.lanes()
    }
}

/// What a texture or surface instruction asks for; the handle is the first source.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) call: ImageCall,
    pub(super) at: Box<[Slot]>,
    pub(super) offset: Box<[Slot]>,
    pub(super) data: Box<[Slot]>,
    pub(super) into: Box<[Dst]>,
    pub(super) resident: Option<Dst>,
    /// Type of a lane.
    pub(super) ty: Type,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ImageCall {
    Fetch(Fetch),
    Read(SurfaceAccess),
    Write(SurfaceAccess),
    QueryTexture(Query),
    QuerySurface(Query),
}

/// An operation of the warp on matrices.
#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) op: MatrixOp,
    /// Where the memory lies that it accesses: the first source plus an offset, in a sum of 32 bits or not.
    pub(super) offset: Option<(i64, bool)>,
    /// What a thread brings, behind the address.
    pub(super) from: Box<[Slot]>,
    pub(super) into: Box<[Dst]>,
}

/// A call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) target: Target,
    /// Slots that hold the addresses of arguments, then of results.
    pub(super) addresses: Box<[Slot]>,
    /// Values to be stored at some of these addresses first: index, slot, bytes.
    pub(super) stored: Box<[(u32, Slot, u32)]>,
    /// Values to be loaded from them afterwards.
    pub(super) loaded: Box<[(u32, Dst, u32)]>,
    /// Sizes of arguments and results that are expected, for calls by pointer.
    pub(super) sizes: Box<[u32]>,
    pub(super) params: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Function(u32),
    /// By the handle in the first source.
    Pointer,
    Host(Host),
}

/// What CUDA itself provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Printf,
    Assert,
    Malloc,
    Free,
}

//! What memory an instruction accesses.

use crate::ptx::inst::{Instruction, Op};
use crate::ptx::matrix::{MatrixAccess, Tiles};
use crate::ptx::modifier::MbarrierOp;
use crate::ptx::operand::{Operand, Reg};
use crate::ptx::types::Space;

/// What is done with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is read.
    Read,
    /// It is written, perhaps after it was read.
    Write,
}

/// When an instruction that runs makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Always.
    Always,
    /// Where this register, a number of bytes, is not zero.
    NotZero(Reg),
    /// Where this predicate is false.
    Unless(Reg),
    /// Where this predicate is true.
    If(Reg),
    /// By the first threads of the warp, so many.
    First(u32),
}

/// One access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryAccess {
    /// Which source is the address.
    pub(super) source: usize,
    /// State space; none of a generic address.
    pub(super) space: Option<Space>,
    /// Bytes that have to be there.
    pub(super) bytes: u32,
    /// What the address has to be a multiple of.
    pub(super) align: u32,
    pub(super) action: Action,
    pub(super) when: When,
}

impl MemoryAccess {
    fn new(source: usize, space: Option<Space>, bytes: u32, action: Action) -> Self {
        Self { source, space, bytes, align: bytes, action, when: When::Always }
    }
}

/// Instructions that are kept as written and access no memory, or whose address can do no harm.
const HARMLESS: [&str; 13] = [
    "mma.",
    "wmma.mma.",
    "mapa.",
    "getctarank.",
    "istypep.",
    // What orders copies, matrices, clusters and grids.
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group",
    "wgmma.fence.",
    "wgmma.commit_group.",
    "wgmma.wait_group.",
    "barrier.cluster.",
    "griddepcontrol.",
    "setmaxnreg.",
];

/// The accesses of `i`, but those of parameters by their name, which the verifier has checked.
///
/// # Errors
/// The mnemonic, where it accesses memory in a way that is not known.
pub(super) fn accesses(i: &Instruction) -> Result<Vec<MemoryAccess>, String> {
    let (one, none) = (|access| Ok(vec![access]), Ok(Vec::new()));
    match &i.op {
        Op::Ld(access) | Op::Ldu(access) => {
            one(MemoryAccess::new(0, access.space, access.bytes(), Action::Read))
        }
        Op::St(access) => one(MemoryAccess::new(0, access.space, access.bytes(), Action::Write)),
        Op::Atom(atomic) | Op::Red(atomic) => {
            let bytes = atomic.ty.bytes() * u32::from(atomic.lanes.max(1));
            one(MemoryAccess::new(0, atomic.space, bytes, Action::Write))
        }
        Op::Mbarrier(mbarrier) => match mbarrier.op {
            MbarrierOp::PendingCount => none,
            MbarrierOp::Init | MbarrierOp::Inval | MbarrierOp::Arrive => {
                one(MemoryAccess::new(0, mbarrier.space, 8, Action::Write))
            }
            MbarrierOp::ArriveDrop | MbarrierOp::ExpectTx | MbarrierOp::CompleteTx => {
                one(MemoryAccess::new(0, mbarrier.space, 8, Action::Write))
            }
            MbarrierOp::CopyArrive => one(MemoryAccess::new(0, mbarrier.space, 8, Action::Write)),
            MbarrierOp::TestWait | MbarrierOp::TryWait => {
                one(MemoryAccess::new(0, mbarrier.space, 8, Action::Read))
            }
        },
        Op::CpAsync { .. } => copies(i),
        Op::Discard { mnemonic } => Err(mnemonic.to_string()),
        Op::Unsupported { mnemonic } => match HARMLESS.iter().any(|m| mnemonic.starts_with(m)) {
            true => none,
            false => Err(mnemonic.to_string()),
        },
        Op::Alloca { .. } | Op::Stacksave { .. } | Op::Stackrestore { .. } => Err(i.op.mnemonic()),
        // Registers, other threads, control flow; a texture reads within its bounds, and a surface is told to: of each
        // operation that has one (`Op::surface`).
        Op::Mov { .. } | Op::Cvta { .. } | Op::Isspacep { .. } | Op::Cvt(_) => none,
        Op::CvtPack { .. } | Op::Szext { .. } | Op::Add { .. } | Op::Sub { .. } => none,
        Op::Mul { .. } | Op::Mad { .. } | Op::Mul24 { .. } | Op::Mad24 { .. } => none,
        Op::Fma { .. } | Op::Div { .. } | Op::Rem { .. } | Op::Abs { .. } | Op::Neg { .. } => none,
        Op::Min(_) | Op::Max(_) | Op::Sad { .. } | Op::Rcp { .. } | Op::Sqrt { .. } => none,
        Op::Approx { .. } | Op::Copysign { .. } | Op::Testp { .. } | Op::Dp4a { .. } => none,
        Op::Dp2a { .. } | Op::Simd(_) | Op::Video(_) | Op::Setp { .. } | Op::Set { .. } => none,
        Op::Selp { .. } | Op::Slct { .. } | Op::Logic { .. } | Op::Not { .. } => none,
        Op::Cnot { .. } | Op::Lop3 { .. } | Op::Shl { .. } | Op::Shr { .. } | Op::Shf { .. } => {
            none
        }
        Op::Popc { .. } | Op::Clz { .. } | Op::Bfind { .. } | Op::Fns | Op::Brev { .. } => none,
        Op::Bfe { .. } | Op::Bfi { .. } | Op::Bmsk { .. } | Op::Prmt { .. } => none,
        Op::Prefetch { .. } | Op::Hint { .. } | Op::Createpolicy { .. } => none,
        Op::CpAsyncCommit | Op::CpAsyncWaitGroup => none,
        Op::CpAsyncWaitAll | Op::Bar { .. } | Op::BarWarpSync | Op::Shfl { .. } => none,
        Op::Vote { .. } | Op::Match { .. } | Op::Activemask | Op::Redux { .. } | Op::Elect => none,
        Op::Ldmatrix(tiles) => Ok(rows(tiles, Action::Read)),
        Op::Stmatrix(tiles) => Ok(rows(tiles, Action::Write)),
        Op::WmmaLoad(access) => matrix(i, access, i.src.get(1), Action::Read),
        Op::WmmaStore(access) => matrix(i, access, i.src.get(2), Action::Write),
        Op::Movmatrix | Op::Mma(_) => none,
        Op::Membar { .. } | Op::Fence { .. } => none,
        Op::Bra { .. } | Op::BrxIdx { .. } | Op::Call { .. } | Op::Ret { .. } | Op::Exit => none,
        Op::Trap | Op::Brkpt | Op::Nanosleep | Op::Pmevent { .. } => none,
        Op::Tex(_) | Op::Tld4 { .. } | Op::Txq { .. } | Op::Suq { .. } | Op::Suld(_) => none,
        Op::Sust(_) | Op::Sured(_) => none,
    }
}

/// The row of a tile that each of the first threads gives the address of.
fn rows(tiles: &Tiles, action: Action) -> Vec<MemoryAccess> {
    let threads = 8 * u32::from(tiles.count);
    let when = if threads < 32 { When::First(threads) } else { When::Always };
    vec![MemoryAccess { when, ..MemoryAccess::new(0, tiles.space, 16, action) }]
}

/// A whole matrix, from the first element of its first line to the last one of its last: where that is, is known where
/// the stride is a constant.
fn matrix(
    i: &Instruction,
    access: &MatrixAccess,
    stride: Option<&Operand>,
    action: Action,
) -> Result<Vec<MemoryAccess>, String> {
    let stride = match stride {
        None => Some(access.default_stride()),
        Some(Operand::Int(stride)) => u32::try_from(*stride).ok(),
        Some(_) => None,
    };
    let bytes = stride.and_then(|stride| access.span(stride));
    let bytes =
        bytes.ok_or_else(|| format!("{} with a stride that is no constant", i.op.mnemonic()))?;
    let align = access.alignment();
    Ok(vec![MemoryAccess { align, ..MemoryAccess::new(0, access.space, bytes, action) }])
}

/// Both sides of `cp.async`, whose source may be shorter than its destination, or not read at all.
fn copies(i: &Instruction) -> Result<Vec<MemoryAccess>, String> {
    let Some(Operand::Int(bytes)) = i.src.get(2) else { return Err(i.op.mnemonic()) };
    let bytes = u32::try_from(*bytes).map_err(|_| i.op.mnemonic())?;
    let to = MemoryAccess::new(0, Some(Space::Shared), bytes, Action::Write);
    let mut from = MemoryAccess::new(1, Some(Space::Global), bytes, Action::Read);
    let ignores = matches!(i.op, Op::CpAsync { ignore: true, cache: _, hint: _ });
    match i.copied() {
        None => {}
        Some(Operand::Int(0)) => return Ok(vec![to]),
        Some(Operand::Int(read)) => from.bytes = u32::try_from(*read).unwrap_or(bytes).min(bytes),
        Some(Operand::Reg(reg)) if ignores => from.when = When::Unless(*reg),
        Some(Operand::Not(reg)) => from.when = When::If(*reg),
        // How much of the chunk is read is known when it runs. A chunk is aligned, so the first byte decides whether
        // the memory is there at all.
        Some(Operand::Reg(reg)) => (from.when, from.bytes) = (When::NotZero(*reg), 1),
        Some(_) => return Err(i.op.mnemonic()),
    }
    Ok(vec![to, from])
}

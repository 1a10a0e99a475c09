//! What operands each instruction takes.

use super::super::inst::Op;
use super::super::modifier::*;
use super::super::types::{Space, Type};
use super::super::video::{Video, VideoOp};

/// What one operand must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slot {
    /// A value of exactly this width.
    Value(Type),
    /// A value in a register that may be wider (PTX ISA, section 9.4.1).
    Loose(Type),
    /// So many values, in a vector where there are several; registers may be wider.
    Lanes(Type, u8),
    /// A value, or a vector that together has its width.
    Packed(Type),
    /// The four values of a special register.
    Whole(Type, u8),
    /// A memory operand, of memory that is not accessed.
    Address,
    /// A memory operand in a state space, or a generic one, of memory that is read, or written, too.
    Memory { space: Option<Space>, written: bool },
    /// An address or a handle as a value.
    Pointer,
    /// A branch target.
    Label,
    /// A list of branch targets.
    Table,
    /// A predicate or a 32-bit number.
    SizeOrPredicate,
    /// Coordinates, gradients and offsets of images: 32-bit values, in vectors or not.
    Coordinates,
}

/// Destinations and sources; the last `optional_…` of each may be missing.
#[derive(Default)]
pub(super) struct Signature {
    pub(super) dst: Vec<Slot>,
    pub(super) src: Vec<Slot>,
    pub(super) optional_dst: usize,
    pub(super) optional_src: usize,
}

const WORD: Slot = Slot::Value(Type::U32);
const B32: Slot = Slot::Value(Type::B32);
const PRED: Slot = Slot::Value(Type::Pred);

fn of(dst: &[Slot], src: &[Slot]) -> Signature {
    Signature { dst: dst.to_vec(), src: src.to_vec(), ..Signature::default() }
}

impl Signature {
    fn optional(mut self, dst: usize, src: usize) -> Self {
        (self.optional_dst, self.optional_src) = (dst, src);
        self
    }

    fn and(mut self, condition: bool, slots: &[Slot]) -> Self {
        if condition {
            self.src.extend(slots);
        }
        self
    }
}

/// `cp.async` copies from global to shared memory.
const COPY_FROM: Slot = read(Some(Space::Global));
const COPY_TO: Slot = write(Some(Space::Shared));

const fn read(space: Option<Space>) -> Slot {
    Slot::Memory { space, written: false }
}

const fn write(space: Option<Space>) -> Slot {
    Slot::Memory { space, written: true }
}

const fn product(ty: Type, half: Option<Half>) -> Type {
    if matches!(half, Some(Half::Wide)) { ty.wide() } else { ty }
}

/// What `op` takes; `None`: not known, anything goes.
pub(super) fn signature(op: &Op, sources: usize) -> Option<Signature> {
    arithmetic(op)
        .or_else(|| bits(op))
        .or_else(|| memory(op, sources))
        .or_else(|| threads(op, sources))
        .or_else(|| control(op))
        .or_else(|| image(op))
}

fn arithmetic(op: &Op) -> Option<Signature> {
    let value = Slot::Value;
    Some(match op {
        Op::Add { ty, .. } | Op::Sub { ty, .. } | Op::Div { ty, .. } | Op::Rem { ty } => {
            of(&[value(*ty)], &[value(*ty); 2])
        }
        Op::Mul { ty, half, .. } => of(&[value(product(*ty, *half))], &[value(*ty); 2]),
        Op::Mad { ty, half, .. } => {
            let sum = value(product(*ty, *half));
            of(&[sum], &[value(*ty), value(*ty), sum])
        }
        Op::Mul24 { ty, .. } => of(&[value(*ty)], &[value(*ty); 2]),
        Op::Mad24 { ty, .. } | Op::Fma { ty, .. } | Op::Sad { ty } => {
            of(&[value(*ty)], &[value(*ty); 3])
        }
        Op::Abs { ty, .. } | Op::Neg { ty, .. } | Op::Rcp { ty, .. } | Op::Sqrt { ty, .. } => {
            of(&[value(*ty)], &[value(*ty)])
        }
        Op::Approx { ty, .. } => of(&[value(*ty)], &[value(*ty)]),
        Op::Min(MinMax { ty, .. }) | Op::Max(MinMax { ty, .. }) | Op::Copysign { ty } => {
            of(&[value(*ty)], &[value(*ty); 2])
        }
        Op::Testp { ty, .. } => of(&[PRED], &[value(*ty)]),
        Op::Dp4a { .. } | Op::Dp2a { .. } | Op::Simd(_) => of(&[B32], &[B32; 3]),
        Op::Video(video) => of(&[B32], &[B32; 3]).optional(0, usize::from(!needs_third(video))),
        Op::Setp { ty, combine, .. } => of(&[PRED, PRED], &[value(*ty); 2])
            .and(combine.is_some(), &[PRED])
            .optional(usize::from(!ty.is_packed()), 0),
        Op::Set { to, ty, combine, .. } => {
            of(&[value(*to)], &[value(*ty); 2]).and(combine.is_some(), &[PRED])
        }
        Op::Selp { ty } => of(&[value(*ty)], &[value(*ty), value(*ty), PRED]),
        Op::Slct { ty, by, .. } => of(&[value(*ty)], &[value(*ty), value(*ty), value(*by)]),
        Op::Cvt(Cvt { to, from, .. }) => {
            let two = to.is_packed() && !from.is_packed();
            of(&[Slot::Loose(*to)], &[Slot::Loose(*from)]).and(two, &[Slot::Loose(*from)])
        }
        Op::CvtPack { from, merge, .. } => {
            of(&[B32], &[value(*from); 2]).and(merge.is_some(), &[B32])
        }
        _ => return None,
    })
}

/// Whether a video instruction has a third operand.
fn needs_third(video: &Video) -> bool {
    let merges = video.d_part.is_some() || video.second.is_some();
    video.lanes > 1 || merges || video.op == VideoOp::Mad
}

fn bits(op: &Op) -> Option<Signature> {
    let value = Slot::Value;
    Some(match op {
        Op::Mov { ty, lanes: 1 } => of(&[Slot::Packed(*ty)], &[Slot::Packed(*ty)]),
        Op::Mov { ty, lanes } => of(&[Slot::Lanes(*ty, *lanes)], &[Slot::Whole(*ty, *lanes)]),
        Op::Cvta { .. } => of(&[Slot::Pointer], &[Slot::Pointer]),
        Op::Isspacep { .. } => of(&[PRED], &[Slot::Pointer]),
        Op::Logic { ty, .. } => of(&[value(*ty)], &[value(*ty); 2]),
        Op::Not { ty } | Op::Cnot { ty } | Op::Brev { ty } => of(&[value(*ty)], &[value(*ty)]),
        Op::Lop3 { combine: None } => of(&[B32], &[B32; 4]),
        Op::Lop3 { combine: Some(_) } => of(&[B32, PRED], &[B32, B32, B32, B32, PRED]),
        Op::Shl { ty } | Op::Shr { ty } | Op::Szext { ty, .. } => {
            of(&[value(*ty)], &[value(*ty), WORD])
        }
        Op::Shf { .. } | Op::Prmt { .. } | Op::Fns => of(&[B32], &[B32; 3]),
        Op::Popc { ty } | Op::Clz { ty } | Op::Bfind { ty, .. } => of(&[WORD], &[value(*ty)]),
        Op::Bfe { ty } => of(&[value(*ty)], &[value(*ty), WORD, WORD]),
        Op::Bfi { ty } => of(&[value(*ty)], &[value(*ty), value(*ty), WORD, WORD]),
        Op::Bmsk { .. } => of(&[B32], &[B32; 2]),
        _ => return None,
    })
}

fn memory(op: &Op, sources: usize) -> Option<Signature> {
    let policy = |cache: &CacheHints| cache.has_policy();
    let b64 = [Slot::Value(Type::B64)];
    Some(match op {
        Op::Ld(a) | Op::Ldu(a) => {
            of(&[Slot::Lanes(a.ty, a.lanes)], &[read(a.space)]).and(policy(&a.cache), &b64)
        }
        Op::St(a) => {
            of(&[], &[write(a.space), Slot::Lanes(a.ty, a.lanes)]).and(policy(&a.cache), &b64)
        }
        Op::Atom(a) => {
            let lanes = Slot::Lanes(a.ty, a.lanes);
            of(&[lanes], &[write(a.space), lanes])
                .and(a.op == AtomOp::Cas, &[lanes])
                .and(policy(&a.cache), &b64)
        }
        Op::Red(a) => {
            of(&[], &[write(a.space), Slot::Lanes(a.ty, a.lanes)]).and(policy(&a.cache), &b64)
        }
        Op::Prefetch { .. } => of(&[], &[Slot::Address, WORD]).optional(0, 1),
        Op::Hint { .. } => of(&[], &[WORD]).optional(0, 1),
        Op::Mbarrier(mbarrier) => mbarrier_signature(mbarrier, sources),
        Op::CpAsync { hint, .. } if hint.contains("cache_hint") => {
            let known = [COPY_TO, COPY_FROM, WORD];
            of(&[], &known).and(true, &[Slot::Coordinates, b64[0]]).optional(0, 1)
        }
        Op::CpAsync { .. } => {
            of(&[], &[COPY_TO, COPY_FROM, WORD, Slot::SizeOrPredicate]).optional(0, 1)
        }
        Op::CpAsyncCommit | Op::CpAsyncWaitAll => of(&[], &[]),
        Op::CpAsyncWaitGroup => of(&[], &[WORD]),
        Op::Alloca { ty } => of(&[Slot::Value(*ty)], &[Slot::Value(*ty), WORD]).optional(0, 1),
        Op::Stacksave { ty } => of(&[Slot::Value(*ty)], &[]),
        Op::Stackrestore { ty } => of(&[], &[Slot::Value(*ty)]),
        _ => return None,
    })
}

fn mbarrier_signature(mbarrier: &Mbarrier, sources: usize) -> Signature {
    let state = Slot::Value(Type::B64);
    let phase = if mbarrier.parity { WORD } else { state };
    let (asked, changed) = (read(mbarrier.space), write(mbarrier.space));
    match mbarrier.op {
        MbarrierOp::Inval | MbarrierOp::CopyArrive => of(&[], &[changed]),
        MbarrierOp::Init | MbarrierOp::ExpectTx | MbarrierOp::CompleteTx => {
            of(&[], &[changed, WORD])
        }
        MbarrierOp::Arrive | MbarrierOp::ArriveDrop => {
            of(&[state], &[changed]).and(sources > 1, &[WORD]).optional(1, 0)
        }
        MbarrierOp::TestWait => of(&[PRED], &[asked, phase]),
        MbarrierOp::TryWait => of(&[PRED], &[asked, phase, WORD]).optional(0, 1),
        MbarrierOp::PendingCount => of(&[WORD], &[state]),
    }
}

fn threads(op: &Op, sources: usize) -> Option<Signature> {
    Some(match op {
        Op::Bar { kind: BarKind::Sync, .. } => of(&[], &[WORD, WORD]).optional(0, 1),
        Op::Bar { kind: BarKind::Arrive, .. } => of(&[], &[WORD, WORD]),
        Op::Bar { kind, .. } => {
            let result = if *kind == BarKind::RedPopc { WORD } else { PRED };
            of(&[result], &[WORD]).and(sources > 2, &[WORD]).and(true, &[PRED])
        }
        Op::BarWarpSync => of(&[], &[WORD]),
        Op::Shfl { sync, .. } => of(&[B32, PRED], &[B32; 3]).and(*sync, &[WORD]).optional(1, 0),
        Op::Vote { mode, sync } => {
            let result = if *mode == VoteMode::Ballot { B32 } else { PRED };
            of(&[result], &[PRED]).and(*sync, &[WORD])
        }
        Op::Match { ty, all } => {
            let signature = of(&[B32, PRED], &[Slot::Value(*ty), WORD]).optional(1, 0);
            if *all { signature } else { of(&[B32], &signature.src) }
        }
        Op::Activemask => of(&[B32], &[]),
        Op::Redux { ty, .. } => of(&[Slot::Value(*ty)], &[Slot::Value(*ty), WORD]),
        Op::Elect => of(&[B32, PRED], &[WORD]).optional(1, 0),
        Op::Membar { .. } | Op::Fence { .. } => of(&[], &[]),
        _ => return None,
    })
}

fn control(op: &Op) -> Option<Signature> {
    Some(match op {
        Op::Bra { .. } => of(&[], &[Slot::Label]),
        Op::BrxIdx { .. } => of(&[], &[WORD, Slot::Table]),
        Op::Ret { .. } | Op::Exit | Op::Trap | Op::Brkpt => of(&[], &[]),
        Op::Nanosleep | Op::Pmevent { .. } => of(&[], &[WORD]),
        _ => return None,
    })
}

fn image(op: &Op) -> Option<Signature> {
    Some(match op {
        Op::Tex(tex) | Op::Tld4 { tex, .. } => {
            let lods = match tex.mip {
                Mip::Default | Mip::Base => 0,
                Mip::Level => 1,
                Mip::Grad => 2,
            };
            of(&[Slot::Lanes(tex.to, tex.lanes), PRED], &[Slot::Pointer])
                .and(tex.sampler, &[Slot::Pointer])
                .and(true, &[Slot::Coordinates])
                .and(lods > 0, &[Slot::Coordinates; 2][..lods.min(2)])
                .and(true, &[Slot::Coordinates; 2])
                .optional(1, 2)
        }
        Op::Txq { ty, level, .. } => of(&[Slot::Loose(*ty)], &[Slot::Pointer]).and(*level, &[WORD]),
        Op::Suq { ty, .. } => of(&[Slot::Loose(*ty)], &[Slot::Pointer]),
        Op::Suld(s) => of(&[Slot::Lanes(s.ty, s.lanes)], &[Slot::Pointer, Slot::Coordinates]),
        Op::Sust(s) | Op::Sured { surface: s, .. } => {
            of(&[], &[Slot::Pointer, Slot::Coordinates, Slot::Lanes(s.ty, s.lanes)])
        }
        _ => return None,
    })
}

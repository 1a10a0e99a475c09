//! Instructions with their exact meaning: what the verifier, the JIT and the interpreter match on.
//!
//! An [`Instruction`] is an [`Op`] plus operands in PTX order, destinations apart from sources. Each
//! variant of [`Op`] says what stands where: `d` are destinations, then `<-`, then sources; `[d|p]` means
//! that the second destination may be missing (it is never a sink for "missing": `d.len()` tells).
//! Sections are those of the PTX ISA 9.0, chapter 9.7.

use super::ast::LocationId;
use super::modifier::*;
use super::operand::{Label, Operand, Reg, Symbol};
use super::types::{Scope, Space, Type};
use super::video::Video;

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The predicate.
    pub reg: Reg,
    /// Runs where the predicate is false.
    pub negated: bool,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Runs only in threads in which this holds.
    pub guard: Option<Guard>,
    /// What it does.
    pub op: Op,
    /// What it writes.
    pub dst: Vec<Operand>,
    /// What it reads. The address of a store or atomic is a source.
    pub src: Vec<Operand>,
    /// The line of the PTX text, from 1; 0 for one that a pass inserted.
    pub line: u32,
    /// The source line it came from (`.loc`).
    pub location: Option<LocationId>,
}

/// Instructions are equal when they mean the same; their place in the PTX text does not matter.
impl PartialEq for Instruction {
    fn eq(&self, other: &Self) -> bool {
        (self.guard, &self.op, &self.dst, &self.src, self.location)
            == (other.guard, &other.op, &other.dst, &other.src, other.location)
    }
}

impl Instruction {
    /// An unguarded instruction without a place.
    pub fn new(op: Op, dst: Vec<Operand>, src: Vec<Operand>) -> Self {
        Self { guard: None, op, dst, src, line: 0, location: None }
    }

    /// Calls `visit` for every register that it writes.
    ///
    /// Under a guard the old value survives in threads where the guard does not hold.
    pub fn for_each_def(&self, mut visit: impl FnMut(Reg)) {
        self.dst.iter().for_each(|operand| operand.for_each_reg(&mut visit));
    }

    /// Calls `visit` for every register that it reads, its guard included.
    pub fn for_each_use(&self, mut visit: impl FnMut(Reg)) {
        if let Some(guard) = self.guard {
            visit(guard.reg);
        }
        self.src.iter().for_each(|operand| operand.for_each_reg(&mut visit));
    }

    /// Calls `change` for every operand, destinations first.
    pub fn for_each_operand_mut(&mut self, change: impl FnMut(&mut Operand)) {
        self.dst.iter_mut().chain(&mut self.src).for_each(change);
    }

    /// Calls `change` for every register, to renumber them.
    pub fn for_each_reg_mut(&mut self, mut change: impl FnMut(&mut Reg)) {
        if let Some(guard) = &mut self.guard {
            change(&mut guard.reg);
        }
        self.for_each_operand_mut(|operand| operand.for_each_reg_mut(&mut change));
    }

    /// Where a `bra` goes.
    pub fn branch_target(&self) -> Option<Label> {
        match (&self.op, self.src.first()) {
            (Op::Bra { .. }, Some(Operand::Label(label))) => Some(*label),
            _ => None,
        }
    }

    /// The function that a direct `call` calls.
    pub fn callee(&self) -> Option<u32> {
        match (&self.op, self.src.first()) {
            (Op::Call { .. }, Some(Operand::Symbol(Symbol::Function(id), _))) => Some(*id),
            _ => None,
        }
    }

    /// Whether control never reaches the next instruction (where the guard, if any, holds).
    pub fn is_terminator(&self) -> bool {
        matches!(self.op, Op::Bra { .. } | Op::BrxIdx { .. } | Op::Ret { .. } | Op::Exit | Op::Trap)
    }
}

/// What an instruction does.
///
/// In sources `a`, `b`, `c` are values of the type named, registers or immediates. An immediate is cut to
/// the type's width. A register may be wider than the type where the PTX ISA allows it (`ld`, `st`, `cvt`
/// and untyped copies): then the low bits count; `ld` and `cvt` extend by the sign of the type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // Copies ------------------------------------------------------------------------------------
    /// `mov d <- a`. `a` may be a register, an immediate, a special register, a symbol (its address *in its
    /// own space*), or a vector to pack (`mov.b64 d <- {a, b}`, low part first); `d` may be a vector to unpack.
    Mov {
        /// Type.
        ty: Type,
        /// `.v2` or `.v4`: a whole special register.
        lanes: u8,
    },
    /// `cvta d <- a`: between an address in `space` and a generic one.
    Cvta {
        /// `cvta.space` (true) or `cvta.to.space` (false).
        to_generic: bool,
        /// The space.
        space: Space,
        /// `u32` or `u64`.
        ty: Type,
    },
    /// `isspacep p <- a`: whether the generic address `a` lies in `space`.
    Isspacep {
        /// The space.
        space: Space,
    },
    /// `cvt d <- a`, or `d <- a, b` packing two (`a` in the upper half) where `to` is a packed type of two `from`.
    Cvt(Cvt),
    /// `cvt.pack d <- a, b [, c]`: `a` and `b` saturated to `to` and packed over `c`'s upper bits.
    CvtPack {
        /// Type of each packed part.
        to: Type,
        /// Type of `a` and `b`.
        from: Type,
        /// Type of `c` (`b32`), where there is one.
        merge: Option<Type>,
    },
    /// `szext d <- a, b`: sign- or zero-extends the low `b` bits of `a`.
    Szext {
        /// What happens to `b` above 32: wrap (true) or clamp.
        wrap: bool,
        /// `u32` or `s32`.
        ty: Type,
    },

    // Arithmetic --------------------------------------------------------------------------------
    /// `add d <- a, b`; with carries `addc`, `add.cc`, `addc.cc`.
    Add {
        /// Type.
        ty: Type,
        /// Rounding, flushing, saturation.
        mode: Mode,
        /// Carries read and written.
        carry: Carry,
    },
    /// `sub d <- a, b`; with borrows.
    Sub {
        /// Type.
        ty: Type,
        /// Rounding, flushing, saturation.
        mode: Mode,
        /// Borrows read and written.
        carry: Carry,
    },
    /// `mul d <- a, b`.
    Mul {
        /// Type of `a` and `b`; with [`Half::Wide`] `d` has twice its width.
        ty: Type,
        /// Which half of the product; integers only.
        half: Option<Half>,
        /// Rounding, flushing, saturation.
        mode: Mode,
    },
    /// `mad d <- a, b, c`: the half of `a * b` plus `c`; `mad.f32` and `mad.f64` are [`Op::Fma`] in effect.
    Mad {
        /// Type of `a` and `b`; with [`Half::Wide`] `c` and `d` have twice its width.
        ty: Type,
        /// Which half of the product; integers only.
        half: Option<Half>,
        /// Rounding, flushing, saturation.
        mode: Mode,
        /// Carries read and written.
        carry: Carry,
    },
    /// `mul24 d <- a, b`: of the low 24 bits; `Lo`: low 32 of the 48-bit product, `Hi`: high 32.
    Mul24 {
        /// `u32` or `s32`.
        ty: Type,
        /// Which half.
        half: Half,
    },
    /// `mad24 d <- a, b, c`.
    Mad24 {
        /// `u32` or `s32`.
        ty: Type,
        /// Which half.
        half: Half,
        /// `mad24.hi.sat`.
        sat: bool,
    },
    /// `fma d <- a, b, c`: rounded once.
    Fma {
        /// Type.
        ty: Type,
        /// Rounding, flushing, saturation.
        mode: Mode,
        /// Negative results (and NaN) become 0.
        relu: bool,
    },
    /// `div d <- a, b`.
    Div {
        /// Type.
        ty: Type,
        /// How exact; floats only.
        accuracy: Accuracy,
        /// Rounding and flushing.
        mode: Mode,
    },
    /// `rem d <- a, b`: the sign is that of `a`.
    Rem {
        /// Type.
        ty: Type,
    },
    /// `abs d <- a`.
    Abs {
        /// Type.
        ty: Type,
        /// Flush subnormals.
        ftz: bool,
    },
    /// `neg d <- a`.
    Neg {
        /// Type.
        ty: Type,
        /// Flush subnormals.
        ftz: bool,
    },
    /// `min d <- a, b`: of two numbers; a NaN loses unless `nan`.
    Min(MinMax),
    /// `max d <- a, b`.
    Max(MinMax),
    /// `sad d <- a, b, c`: `|a - b| + c`.
    Sad {
        /// Type.
        ty: Type,
    },
    /// `rcp d <- a`.
    Rcp {
        /// Type.
        ty: Type,
        /// How exact.
        accuracy: Accuracy,
        /// Rounding and flushing.
        mode: Mode,
    },
    /// `sqrt d <- a`.
    Sqrt {
        /// Type.
        ty: Type,
        /// How exact.
        accuracy: Accuracy,
        /// Rounding and flushing.
        mode: Mode,
    },
    /// `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`: `d <- a`, approximate.
    Approx {
        /// Which.
        function: Function,
        /// Type.
        ty: Type,
        /// Flush subnormals.
        ftz: bool,
    },
    /// `copysign d <- a, b`: the sign of **`a`**, the rest of `b`.
    Copysign {
        /// Type.
        ty: Type,
    },
    /// `testp p <- a`.
    Testp {
        /// What is asked.
        test: Test,
        /// Type.
        ty: Type,
    },
    /// `dp4a d <- a, b, c`: four bytes of each, multiplied, summed, plus `c`.
    Dp4a {
        /// Type of `a`'s bytes, `u32` or `s32`.
        a: Type,
        /// Type of `b`'s bytes.
        b: Type,
    },
    /// `dp2a d <- a, b, c`: two halves of `a` by two bytes of `b`.
    Dp2a {
        /// Type of `a`'s halves.
        a: Type,
        /// Type of `b`'s bytes.
        b: Type,
        /// `.hi`: the upper two bytes of `b`.
        high: bool,
    },

    /// `vadd2`, `vabsdiff4`, …: `d <- a, b, c` on two halves or four bytes; `c` is added to the sum of the
    /// lanes' results with `.add`, else it gives the lanes of `d` that no mask selects (here: none).
    Simd(Simd),
    /// All other video instructions: `vadd` to `vset4`, with parts of operands.
    Video(Video),

    // Comparison and selection --------------------------------------------------------------------
    /// `setp p|q <- a, b [, c]`: `p = (a cmp b) op c`, `q = !(a cmp b) op c`; `c` may be [`Operand::Not`].
    Setp {
        /// Comparison.
        cmp: Cmp,
        /// How the result is combined with `c`.
        combine: Option<BoolOp>,
        /// Type of `a` and `b`; with a packed type `p` is of the lower, `q` of the upper half.
        ty: Type,
        /// Flush subnormals.
        ftz: bool,
    },
    /// `set d <- a, b [, c]`: 1.0 (float `to`) or all ones (integer `to`) where true, else 0.
    Set {
        /// Comparison.
        cmp: Cmp,
        /// How the result is combined with `c`.
        combine: Option<BoolOp>,
        /// Type of `d`.
        to: Type,
        /// Type of `a` and `b`.
        ty: Type,
        /// Flush subnormals.
        ftz: bool,
    },
    /// `selp d <- a, b, p`: `a` where `p` holds.
    Selp {
        /// Type.
        ty: Type,
    },
    /// `slct d <- a, b, c`: `a` where `c >= 0`.
    Slct {
        /// Type of `d`, `a`, `b`.
        ty: Type,
        /// Type of `c`, `s32` or `f32`.
        by: Type,
        /// Flush subnormals of `c`.
        ftz: bool,
    },

    // Bits --------------------------------------------------------------------------------------
    /// `and`, `or`, `xor`: `d <- a, b`.
    Logic {
        /// Which.
        op: BoolOp,
        /// Type, `pred` too.
        ty: Type,
    },
    /// `not d <- a`.
    Not {
        /// Type, `pred` too.
        ty: Type,
    },
    /// `cnot d <- a`: 1 where `a` is 0, else 0.
    Cnot {
        /// Type.
        ty: Type,
    },
    /// `lop3 d[|p] <- a, b, c, table [, q]`: any function of three bits; `p = (d != 0) op q`.
    Lop3 {
        /// `lop3.or`/`lop3.and`: with `p` and `q`.
        combine: Option<BoolOp>,
    },
    /// `shl d <- a, b`: `b` is unsigned 32 bits and clamped to the width.
    Shl {
        /// Type.
        ty: Type,
    },
    /// `shr d <- a, b`: arithmetic where `ty` is signed; `b` is clamped to the width.
    Shr {
        /// Type.
        ty: Type,
    },
    /// `shf d <- a, b, c`: the 64 bits `b:a` shifted; the high (left) or low (right) word of that.
    Shf {
        /// Left (true) or right.
        left: bool,
        /// `c` is taken modulo 32 (true) or clamped to 32.
        wrap: bool,
    },
    /// `popc d <- a`; `d` is 32 bits.
    Popc {
        /// Type of `a`.
        ty: Type,
    },
    /// `clz d <- a`; `d` is 32 bits.
    Clz {
        /// Type of `a`.
        ty: Type,
    },
    /// `bfind d <- a`: the highest set bit (of a negative signed value, the highest clear one), or all ones.
    Bfind {
        /// Type of `a`.
        ty: Type,
        /// The shift that would bring it to the top instead.
        shiftamt: bool,
    },
    /// `fns d <- mask, base, offset`: the `offset`-th set bit from `base`.
    Fns,
    /// `brev d <- a`.
    Brev {
        /// Type.
        ty: Type,
    },
    /// `bfe d <- a, position, length`.
    Bfe {
        /// Type.
        ty: Type,
    },
    /// `bfi d <- a, b, position, length`: the low bits of `a` inserted in `b`.
    Bfi {
        /// Type.
        ty: Type,
    },
    /// `bmsk d <- position, length`.
    Bmsk {
        /// Both are taken modulo 32 (true) or clamped to 32.
        wrap: bool,
    },
    /// `prmt d <- a, b, selectors`.
    Prmt {
        /// How bytes are picked.
        mode: Option<PrmtMode>,
    },

    // Memory ------------------------------------------------------------------------------------
    /// `ld d <- [address] [, cache policy]`; `d` is a vector where `lanes > 1`.
    Ld(Access),
    /// `st [address], a [, cache policy]`: sources `address, a`.
    St(Access),
    /// `ldu d <- [address]`: read-only for all threads of the warp.
    Ldu(Access),
    /// `atom d <- [address], b [, c] [, cache policy]`: for `cas`, `b` is compared and `c` stored.
    Atom(Atomic),
    /// `red [address], b [, cache policy]`: sources `address, b`.
    Red(Atomic),
    /// `prefetch [address]`, `prefetchu`, `applypriority`, `discard [address], bytes`: a hint.
    Prefetch {
        /// The opcode with its modifiers, such as `prefetch.global.L2`.
        mnemonic: Box<str>,
    },
    /// What orders nothing that this machine could reorder: `fence.proxy`, `griddepcontrol`, `setmaxnreg`, ….
    Hint {
        /// The opcode with its modifiers, such as `fence.proxy.async`.
        mnemonic: Box<str>,
    },
    /// `createpolicy d <- …`: how a cache is to treat an access; a value that other instructions only pass on.
    Createpolicy {
        /// The opcode with its modifiers.
        mnemonic: Box<str>,
    },
    /// `mbarrier`: a barrier that lies in shared memory.
    Mbarrier(Mbarrier),
    /// `cp.async [shared], [global], bytes [, source bytes]`: copies `bytes`; those after `source bytes` are zero.
    CpAsync {
        /// `.ca` or `.cg`.
        cache: CacheOp,
        /// An instruction without effect on the result: the words after `.global`, such as `L2::128B`.
        hint: Box<str>,
        /// The last source is a predicate "ignore the source: write zeros" instead of a size.
        ignore: bool,
    },
    /// `cp.async.commit_group`.
    CpAsyncCommit,
    /// `cp.async.wait_group n`: waits until at most `n` groups are pending.
    CpAsyncWaitGroup,
    /// `cp.async.wait_all`.
    CpAsyncWaitAll,
    /// `alloca d <- size [, alignment]`: memory of the stack; `d` is an address in local space.
    Alloca {
        /// `u32` or `u64`.
        ty: Type,
    },
    /// `stacksave d`.
    Stacksave {
        /// `u32` or `u64`.
        ty: Type,
    },
    /// `stackrestore a`.
    Stackrestore {
        /// `u32` or `u64`.
        ty: Type,
    },

    // Threads together --------------------------------------------------------------------------
    /// `bar.sync id [, threads]`, `bar.arrive id, threads`, `bar.red d <- id [, threads], predicate`.
    Bar {
        /// Which.
        kind: BarKind,
        /// All threads of a warp run it together (`bar`, `barrier.….aligned`).
        aligned: bool,
    },
    /// `bar.warp.sync mask`.
    BarWarpSync,
    /// `shfl.sync d[|p] <- a, b, c [, mask]`; without `mask` the old `shfl`.
    Shfl {
        /// Which lane is read.
        mode: ShflMode,
        /// `.sync`, with `mask`.
        sync: bool,
    },
    /// `vote.sync d <- predicate [, mask]`; the predicate may be [`Operand::Not`].
    Vote {
        /// Which.
        mode: VoteMode,
        /// `.sync`, with `mask`.
        sync: bool,
    },
    /// `match.any.sync d <- a, mask`, `match.all.sync d[|p] <- a, mask`.
    Match {
        /// `.all` (true) or `.any`.
        all: bool,
        /// `b32` or `b64`.
        ty: Type,
    },
    /// `activemask d`.
    Activemask,
    /// `redux.sync d <- a, mask`.
    Redux {
        /// What is computed.
        op: AtomOp,
        /// Type.
        ty: Type,
        /// `f32`: of absolute values.
        abs: bool,
        /// `f32`: NaN wins.
        nan: bool,
    },
    /// `elect.sync d|p <- mask`.
    Elect,
    /// `membar`.
    Membar {
        /// Whose view.
        level: MembarLevel,
    },
    /// `fence`.
    Fence {
        /// What it orders; none: `.acq_rel`.
        order: Option<Order>,
        /// Whose view.
        scope: Scope,
    },

    // Control -----------------------------------------------------------------------------------
    /// `bra label`.
    Bra {
        /// All threads of the warp agree.
        uni: bool,
    },
    /// `brx.idx index, table`.
    BrxIdx {
        /// All threads of the warp agree.
        uni: bool,
    },
    /// `call (returns) <- target, arguments`: the first source is a function or a register with its
    /// address; returns and arguments are `.param` locals (as [`Operand::Symbol`]), registers or constants.
    Call {
        /// All threads of the warp agree.
        uni: bool,
        /// For an indirect call, an index into [`Body::prototypes`](super::ast::Body::prototypes).
        prototype: Option<u32>,
    },
    /// `ret`.
    Ret {
        /// All threads of the warp agree.
        uni: bool,
    },
    /// `exit`.
    Exit,
    /// `trap`.
    Trap,
    /// `brkpt`.
    Brkpt,
    /// `nanosleep a`.
    Nanosleep,
    /// `pmevent a`.
    Pmevent {
        /// `a` is a mask.
        mask: bool,
    },

    // Images ------------------------------------------------------------------------------------
    /// `tex d[|p] <- handle [, sampler], coordinates [, lod | dx, dy] [, offset] [, depth]`; `d` is a vector,
    /// coordinates are a vector or one register, offsets a vector, depth an `f32`.
    Tex(Tex),
    /// `tld4 d[|p] <- handle [, sampler], coordinates [, offset] [, depth]`: one component of the four texels.
    Tld4 {
        /// Which component, 0 to 3.
        component: u8,
        /// The texture and the types.
        tex: Tex,
    },
    /// `txq d <- handle [, level]`.
    Txq {
        /// What is asked.
        query: Box<str>,
        /// With a level.
        level: bool,
        /// Type.
        ty: Type,
    },
    /// `suq d <- handle`.
    Suq {
        /// What is asked.
        query: Box<str>,
        /// Type.
        ty: Type,
    },
    /// `suld.b d <- handle, coordinates`: `x` in bytes.
    Suld(Surface),
    /// `sust handle, coordinates, a`: with `.b`, `x` in bytes.
    Sust(Surface),
    /// `sured handle, coordinates, a`.
    Sured {
        /// What is computed.
        op: AtomOp,
        /// The surface and the type.
        surface: Surface,
    },

    // The rest ----------------------------------------------------------------------------------
    /// PTX that is not interpreted: tensor cores, clusters, bulk copies, mbarriers, video instructions, …
    /// The operands are kept as written (all in `src`, except a first register or vector of registers,
    /// which is taken as the destination), so that it prints back.
    Unsupported {
        /// The opcode with its modifiers.
        mnemonic: Box<str>,
    },
}

impl Op {
    /// How many destinations it has, a second one behind `|` not counted. Those of `call` are its returns.
    pub const fn destinations(&self) -> usize {
        match self {
            Self::St(_) | Self::Red(_) | Self::Prefetch { .. } | Self::Stackrestore { .. } => 0,
            Self::Hint { .. } => 0,
            Self::Mbarrier(mbarrier) => mbarrier.op.destinations(),
            Self::CpAsync { .. } | Self::CpAsyncCommit => 0,
            Self::CpAsyncWaitGroup | Self::CpAsyncWaitAll => 0,
            Self::Bar { kind: BarKind::Sync | BarKind::Arrive, .. } | Self::BarWarpSync => 0,
            Self::Membar { .. } | Self::Fence { .. } => 0,
            Self::Bra { .. } | Self::BrxIdx { .. } | Self::Call { .. } | Self::Ret { .. } => 0,
            Self::Exit | Self::Trap | Self::Brkpt | Self::Nanosleep | Self::Pmevent { .. } => 0,
            Self::Sust(_) | Self::Sured { .. } | Self::Unsupported { .. } => 0,
            _ => 1,
        }
    }
}

impl Op {
    /// The type of a floating-point operation.
    pub fn float_type(&self) -> Option<Type> {
        let ty = match self {
            Self::Add { ty, .. }
            | Self::Sub { ty, .. }
            | Self::Mul { ty, .. }
            | Self::Mad { ty, .. }
            | Self::Fma { ty, .. }
            | Self::Div { ty, .. }
            | Self::Abs { ty, .. }
            | Self::Neg { ty, .. }
            | Self::Rcp { ty, .. }
            | Self::Sqrt { ty, .. }
            | Self::Approx { ty, .. }
            | Self::Copysign { ty }
            | Self::Testp { ty, .. } => *ty,
            Self::Min(m) | Self::Max(m) => m.ty,
            _ => return None,
        };
        ty.is_float().then_some(ty)
    }
}

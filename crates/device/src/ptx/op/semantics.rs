//! What operations make of numbers, as far as analyses follow them.
//!
//! Here alone an analysis of addresses, ranges or differences between threads meets the operations: each is named, with
//! all its modifiers. The analyses name each kind of [`Semantics`], so that nothing new is passed over in silence.

use super::Op;
use crate::ptx::{
    modifier::{Access, Accuracy, BoolOp, Carry, Cmp, Cvt, Half, MinMax, Mode, Rounding, wraps},
    types::{Kind, Space, Type},
};

/// What an operation makes of its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics<'a> {
    /// The bits of its one source; it may be packed of several, or unpacked to several.
    Move(Type),
    /// An address of `space` as a generic one, or back.
    Address {
        /// The state space.
        space: Space,
        /// From the space to a generic address (true), or back.
        to_generic: bool,
        /// The type of both addresses.
        ty: Type,
    },
    /// An integer of such a type.
    Integer(Integer, Type),
    /// A number of another type.
    Convert(Cvt),
    /// One of two sources of such a type, as the third one says.
    Choice(Type),
    /// What is in memory.
    Load(&'a Access),
    /// A single-precision number, rounded to the nearest.
    Real(Real),
    /// A truth value.
    Predicate(Predicate),
}

/// What is made of integers, without saturation or carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// `a + b`.
    Sum,
    /// `a - b`.
    Difference,
    /// This part of `a * b`.
    Product(Half),
    /// A product and a sum.
    Mad(Half),
    /// `a / b`.
    Quotient,
    /// What `a / b` leaves.
    Remainder,
    /// `-a`.
    Negative,
    /// Without its sign.
    Magnitude,
    /// All bits turned.
    Complement,
    /// The lesser of two.
    Least,
    /// The greater of two.
    Greatest,
    /// Each bit of two.
    Bitwise(BoolOp),
    /// `a << b`.
    ShiftLeft,
    /// `a >> b`, with copies of the sign where the type has one.
    ShiftRight,
    /// Some bits, unsigned.
    Extract,
    /// Some bits within others.
    Insert,
    /// Bytes of two words.
    Bytes,
    /// How many bits there are of a kind.
    Count,
}

/// What is made of single-precision numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Real {
    /// `a + b`.
    Sum,
    /// `a * b`.
    Product,
    /// The lesser of two; what is no number loses.
    Least,
    /// The greater of two; what is no number loses.
    Greatest,
}

/// What is made of truth values and comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// Of two.
    Of(BoolOp),
    /// The complement.
    Not,
    /// Integers compared, and combined with a truth value.
    Compare(Cmp, Option<BoolOp>, Type),
}

impl<'a> Semantics<'a> {
    /// What `op` makes of its sources; none where that is not followed: then it may be anything.
    pub fn of(op: &'a Op) -> Option<Self> {
        let integer =
            |operation: Integer, ty: Type| is_integer(ty).then_some(Self::Integer(operation, ty));
        let real = |operation: Real, ty: Type| (ty == Type::F32).then_some(Self::Real(operation));
        let whole = |mode: &Mode| wraps(*mode, Carry::default());
        match op {
            Op::Mov { lanes: 0 | 1, ty } => Some(Self::Move(*ty)),
            Op::Cvta { space, to_generic, ty } => {
                Some(Self::Address { space: *space, to_generic: *to_generic, ty: *ty })
            }
            Op::Cvt(cvt) => Some(Self::Convert(*cvt)),
            Op::Selp { ty } => Some(Self::Choice(*ty)),
            Op::Ld(access) => Some(Self::Load(access)),
            Op::Add { mode, carry, ty: _ } | Op::Sub { mode, carry, ty: _ }
                if !wraps(*mode, *carry) =>
            {
                None
            }
            Op::Add { mode, carry: _, ty: Type::F32 } => {
                is_nearest(*mode).then_some(Self::Real(Real::Sum))
            }
            Op::Add { ty, mode: _, carry: _ } => integer(Integer::Sum, *ty),
            Op::Sub { ty, mode: _, carry: _ } => integer(Integer::Difference, *ty),
            Op::Mul { half: Some(half), ty, mode } if whole(mode) => {
                integer(Integer::Product(*half), *ty)
            }
            Op::Mul { mode, ty, half: None } if is_nearest(*mode) => real(Real::Product, *ty),
            Op::Mad { half: Some(half), carry, mode, ty } if wraps(*mode, *carry) => {
                integer(Integer::Mad(*half), *ty)
            }
            Op::Div { ty, mode, accuracy: Accuracy::Exact } if whole(mode) => {
                integer(Integer::Quotient, *ty)
            }
            Op::Rem { ty } => integer(Integer::Remainder, *ty),
            Op::Neg { ty, ftz: _ } => integer(Integer::Negative, *ty),
            Op::Abs { ty, ftz: _ } => integer(Integer::Magnitude, *ty),
            Op::Min(m) if is_plain(m) => {
                real(Real::Least, m.ty).or_else(|| integer(Integer::Least, m.ty))
            }
            Op::Max(m) if is_plain(m) => {
                real(Real::Greatest, m.ty).or_else(|| integer(Integer::Greatest, m.ty))
            }
            Op::Logic { op, ty: Type::Pred } => Some(Self::Predicate(Predicate::Of(*op))),
            Op::Logic { op, ty } => integer(Integer::Bitwise(*op), *ty),
            Op::Not { ty: Type::Pred } => Some(Self::Predicate(Predicate::Not)),
            Op::Not { ty } => integer(Integer::Complement, *ty),
            Op::Shl { ty } => integer(Integer::ShiftLeft, *ty),
            Op::Shr { ty } => integer(Integer::ShiftRight, *ty),
            Op::Bfe { ty } if ty.kind() == Kind::Unsigned => integer(Integer::Extract, *ty),
            Op::Bfi { ty } => integer(Integer::Insert, *ty),
            Op::Prmt { mode: None } => integer(Integer::Bytes, Type::B32),
            Op::Popc { ty } | Op::Clz { ty } => integer(Integer::Count, *ty),
            Op::Setp { cmp, combine, ty, ftz: _ } if is_integer(*ty) => {
                Some(Self::Predicate(Predicate::Compare(*cmp, *combine, *ty)))
            }
            // Forms of these with other modifiers.
            Op::Mov { .. } | Op::Mul { .. } | Op::Mad { .. } | Op::Min(_) | Op::Max(_) => None,
            Op::Div { .. } | Op::Bfe { .. } | Op::Prmt { .. } | Op::Setp { .. } => None,
            // Numbers that no index is made of so often that following them would pay.
            Op::Isspacep { .. } | Op::CvtPack { .. } | Op::Szext { .. } | Op::Mul24 { .. } => None,
            Op::Mad24 { .. } | Op::Fma { .. } | Op::Sad { .. } => None,
            Op::Rcp { .. } | Op::Sqrt { .. } | Op::Approx { .. } | Op::Copysign { .. } => None,
            Op::Testp { .. } | Op::Dp4a { .. } | Op::Dp2a { .. } | Op::Simd(_) => None,
            Op::Video(_) | Op::Set { .. } | Op::Slct { .. } | Op::Cnot { .. } => None,
            Op::Lop3 { .. } | Op::Shf { .. } | Op::Bfind { .. } | Op::Fns | Op::Brev { .. } => None,
            Op::Bmsk { .. } | Op::Mma(_) => None,
            // What comes from memory and from other threads.
            Op::Ldu(_) | Op::Atom(_) | Op::Shfl { .. } | Op::Vote { .. } | Op::Match { .. } => None,
            Op::Activemask | Op::Redux { .. } | Op::Elect | Op::Mbarrier(_) => None,
            Op::Ldmatrix(_) | Op::Movmatrix | Op::WmmaLoad(_) | Op::Alloca { .. } => None,
            Op::Tex(_) | Op::Tld4 { .. } | Op::Txq { .. } | Op::Suq { .. } | Op::Suld(_) => None,
            Op::Call { .. } | Op::Stacksave { .. } | Op::Createpolicy { .. } => None,
            Op::Unsupported { .. } => None,
            // What gives no number.
            Op::St(_) | Op::Red(_) | Op::Stmatrix(_) | Op::WmmaStore(_) | Op::Sust(_) => None,
            Op::Sured(_) | Op::CpAsync { .. } | Op::CpAsyncCommit | Op::CpAsyncWaitGroup => None,
            Op::CpAsyncWaitAll | Op::Prefetch { .. } | Op::Discard { .. } => None,
            Op::Hint { .. } | Op::Bar { .. } => None,
            Op::BarWarpSync | Op::Membar { .. } | Op::Fence { .. } | Op::Stackrestore { .. } => {
                None
            }
            Op::Bra { .. } | Op::BrxIdx { .. } | Op::Ret { .. } | Op::Exit | Op::Trap => None,
            Op::Brkpt | Op::Nanosleep | Op::Pmevent { .. } => None,
        }
    }
}

/// Whether a sum or a product of floats is rounded to the nearest, and not clamped. What may have been flushed is
/// thought of wherever a number is read.
fn is_nearest(mode: Mode) -> bool {
    let Mode { rounding, ftz: _, sat } = mode;
    matches!(rounding, None | Some(Rounding::Nearest)) && !sat
}

/// Whether it is the lesser or the greater of two numbers, a NaN losing.
fn is_plain(m: &MinMax) -> bool {
    let MinMax { ty: _, ftz: _, nan, xorsign_abs, abs, relu, three } = *m;
    !(nan || xorsign_abs || abs || relu || three)
}

/// Whether a type is one integer of 8, 16, 32 or 64 bits.
pub const fn is_integer(ty: Type) -> bool {
    let kind = matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed);
    kind && !ty.is_packed() && matches!(ty.bits(), 8 | 16 | 32 | 64)
}

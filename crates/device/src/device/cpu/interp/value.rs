//! What instructions make of values: bits in, bits out. Nothing here knows threads or memory, and nothing is shared
//! with the compiler.
//!
//! Enters: an operation, and its operands as bits. Leaves: its result as bits. Must not know: `device::cpu::memory`,
//! `device::cpu::interp::thread`, `device::cpu::jit`.
//!
//! Values lie in the low bits of a `u64`. Results may have anything above their width: the destination cuts it off.

mod bits;
mod convert;
mod float;
mod integer;

pub(super) use float::atomic_sum;

use crate::{
    device::cpu::exact::Format,
    ptx::{
        inst::Op,
        modifier::{BoolOp, Cmp},
        types::Type,
        video::Video,
    },
};

/// Two destinations; the second counts where the instruction has one.
pub(super) type Results = [u64; 2];

/// The results of an operation; `None` where it is not known, which the sources do not change.
pub(super) fn evaluate(op: &Op, s: &[u64; 5], carry: &mut bool) -> Option<Results> {
    if let Some((float, ty)) = op.float() {
        return Some([float::evaluate(float, ty, s)?, 0]);
    }
    let [a, b, c, ..] = *s;
    let value = match op {
        Op::Mov { ty: _, lanes: _ } => a,
        Op::Cvt(cvt) => convert::convert(cvt, s)?,
        Op::CvtPack { to, from, merge } => convert::pack(*to, *from, merge.is_some(), s)?,
        // Integers.
        Op::Add { ty, mode, carry: flags } => integer::sum(*ty, (*mode, *flags), s, carry, true)?,
        Op::Sub { ty, mode, carry: flags } => integer::sum(*ty, (*mode, *flags), s, carry, false)?,
        Op::Mul { ty, half, mode: _ } => integer::product(*ty, (*half)?, a, b),
        Op::Mad { ty, half, mode, carry: flags } => {
            integer::mad(*ty, (*half)?, *mode, *flags, s, carry)
        }
        Op::Mul24 { ty, half } => integer::product24(*ty, *half, a, b),
        Op::Mad24 { ty, half, sat } => integer::mad24(*ty, *half, *sat, s),
        Op::Div { ty, accuracy: _, mode: _ } => integer::divide(*ty, a, b),
        Op::Rem { ty } => integer::remainder(*ty, a, b),
        Op::Abs { ty, ftz: _ } => number(a, *ty).unsigned_abs() as u64,
        Op::Neg { ty, ftz: _ } => number(a, *ty).wrapping_neg() as u64,
        Op::Min(m) => integer::min_max(*m, s, Ord::min)?,
        Op::Max(m) => integer::min_max(*m, s, Ord::max)?,
        Op::Sad { ty } => integer::sum_of_difference(*ty, s),
        Op::Dp4a { a: x, b: y } => integer::dot(s, [*x, *y], 4, false),
        Op::Dp2a { a: x, b: y, high } => integer::dot(s, [*x, *y], 2, *high),
        Op::Simd(simd) => Video::from(*simd).evaluate(a as u32, b as u32, c as u32).into(),
        Op::Video(video) => video.evaluate(a as u32, b as u32, c as u32).into(),
        // Nothing asks what a policy is.
        Op::Createpolicy { .. } => 0,
        // Floating-point numbers only.
        Op::Fma { .. } | Op::Rcp { .. } | Op::Sqrt { .. } | Op::Approx { .. } => return None,
        Op::Copysign { .. } | Op::Testp { .. } => return None,
        // Comparison and selection.
        Op::Setp { cmp, combine, ty, ftz } => return setp(*cmp, *combine, *ty, *ftz, s),
        Op::Set { cmp, combine, to, ty, ftz } => set(*cmp, *combine, *to, *ty, *ftz, s)?,
        Op::Selp { ty: _ } => {
            if c & 1 != 0 {
                a
            } else {
                b
            }
        }
        Op::Slct { ty: _, by, ftz } => {
            let positive = if by.is_float() {
                float::compare(Cmp::Ge, *by, *ftz, c, 0)?
            } else {
                signed(c, 32) >= 0
            };
            if positive { a } else { b }
        }
        // Bits.
        Op::Logic { op, ty: _ } => logic(*op, a, b),
        Op::Not { ty: _ } => !a,
        Op::Cnot { ty } => u64::from(unsigned(a, ty.bits()) == 0),
        Op::Lop3 { combine } => return Some(bits::lop3(*combine, s)),
        Op::Shl { ty } => bits::shift_left(*ty, a, b as u32),
        Op::Shr { ty } => bits::shift_right(*ty, a, b as u32),
        Op::Shf { left, wrap } => bits::funnel(*left, *wrap, s),
        Op::Popc { ty } => unsigned(a, ty.bits()).count_ones().into(),
        Op::Clz { ty } => (unsigned(a, ty.bits()).leading_zeros() - (64 - ty.bits())).into(),
        Op::Bfind { ty, shiftamt } => bits::find(*ty, a, *shiftamt),
        Op::Fns => bits::nth_set(a as u32, b as u32 & 31, c as u32 as i32).into(),
        Op::Brev { ty } => unsigned(a, ty.bits()).reverse_bits() >> (64 - ty.bits()),
        Op::Bfe { ty } => bits::extract(*ty, a, b as u32 & 255, c as u32 & 255),
        Op::Bfi { ty } => bits::insert(*ty, a, b, c as u32 & 255, s[3] as u32 & 255),
        Op::Bmsk { wrap } => bits::mask(a, b, *wrap),
        Op::Prmt { mode } => bits::permute(*mode, s),
        Op::Szext { wrap, ty } => bits::extend(*ty, a, b, *wrap),
        // What is more than values, or something else.
        Op::Cvta { .. } | Op::Isspacep { .. } | Op::Ld(_) | Op::St(_) | Op::Ldu(_) => return None,
        Op::Atom(_) | Op::Red(_) | Op::Hint { .. } => return None,
        Op::Prefetch { .. } | Op::Discard { .. } => return None,
        Op::Mbarrier(_) | Op::CpAsync { .. } | Op::CpAsyncCommit => return None,
        Op::CpAsyncWaitGroup | Op::CpAsyncWaitAll => return None,
        Op::Alloca { .. } | Op::Stacksave { .. } | Op::Stackrestore { .. } => return None,
        Op::Bar { .. } | Op::BarWarpSync | Op::Shfl { .. } | Op::Vote { .. } => return None,
        Op::Match { .. } | Op::Activemask | Op::Redux { .. } | Op::Elect => return None,
        Op::Ldmatrix(_) | Op::Stmatrix(_) | Op::Movmatrix | Op::Mma(_) => return None,
        Op::WmmaLoad(_) | Op::WmmaStore(_) => return None,
        Op::Membar { .. } | Op::Fence { .. } | Op::Nanosleep | Op::Pmevent { .. } => return None,
        Op::Bra { .. } | Op::BrxIdx { .. } | Op::Call { .. } | Op::Ret { .. } => return None,
        Op::Exit | Op::Trap | Op::Brkpt | Op::Unsupported { .. } => return None,
        Op::Tex(_) | Op::Tld4 { .. } | Op::Txq { .. } | Op::Suq { .. } => return None,
        Op::Suld(_) | Op::Sust(_) | Op::Sured(_) => return None,
    };
    Some([value, 0])
}

/// The low `bits` of a value, as an unsigned number.
fn unsigned(value: u64, bits: u32) -> u64 {
    value & u64::MAX >> (64 - bits)
}

/// The low `bits` of a value, as a signed number.
fn signed(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)) as i64 >> (64 - bits)
}

/// A value of an integer type as a number.
fn number(value: u64, ty: Type) -> i128 {
    if ty.is_signed() { signed(value, ty.bits()).into() } else { unsigned(value, ty.bits()).into() }
}

/// The least and the greatest number of an integer type.
fn range(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn clamped(value: i128, ty: Type) -> u64 {
    let (least, most) = range(ty);
    value.clamp(least, most) as u64
}

/// The same operation on each of a packed type's two values.
fn each_lane(
    ty: Type,
    s: &[u64; 5],
    operation: impl Fn(Type, &[u64; 5]) -> Option<u64>,
) -> Option<u64> {
    if !ty.is_packed() {
        return operation(ty, s);
    }
    let (lane, width) = (ty.element(), ty.element().bits());
    let mut result = 0;
    for shift in [0, width] {
        let value = operation(lane, &s.map(|value| unsigned(value >> shift, width)))?;
        result |= unsigned(value, width) << shift;
    }
    Some(result)
}

fn logic(op: BoolOp, a: u64, b: u64) -> u64 {
    match op {
        BoolOp::And => a & b,
        BoolOp::Or => a | b,
        BoolOp::Xor => a ^ b,
    }
}

fn compare(cmp: Cmp, ty: Type, ftz: bool, a: u64, b: u64) -> Option<bool> {
    if ty.is_float() { float::compare(cmp, ty, ftz, a, b) } else { integer::compare(cmp, ty, a, b) }
}

/// The comparisons of the lower and upper halves of a packed type; of any other type twice the same.
fn compare_lanes(cmp: Cmp, ty: Type, ftz: bool, s: &[u64; 5]) -> Option<[bool; 2]> {
    if !ty.is_packed() {
        return Some([compare(cmp, ty, ftz, s[0], s[1])?; 2]);
    }
    let (lane, width) = (ty.element(), ty.element().bits());
    let at = |shift: u32| {
        let [a, b] = [s[0], s[1]].map(|value| unsigned(value >> shift, width));
        compare(cmp, lane, ftz, a, b)
    };
    Some([at(0)?, at(width)?])
}

fn combined(combine: Option<BoolOp>, holds: bool, c: u64) -> u64 {
    combine.map_or(u64::from(holds), |op| logic(op, u64::from(holds), c & 1))
}

fn setp(cmp: Cmp, combine: Option<BoolOp>, ty: Type, ftz: bool, s: &[u64; 5]) -> Option<Results> {
    let [low, high] = compare_lanes(cmp, ty, ftz, s)?;
    let second = if ty.is_packed() { high } else { !low };
    Some([low, second].map(|holds| combined(combine, holds, s[2])))
}

fn set(
    cmp: Cmp,
    combine: Option<BoolOp>,
    to: Type,
    ty: Type,
    ftz: bool,
    s: &[u64; 5],
) -> Option<u64> {
    let lanes = compare_lanes(cmp, ty, ftz, s)?;
    let [low, high] = lanes.map(|holds| combined(combine, holds, s[2]) != 0);
    if !ty.is_packed() {
        let yes = if to.is_float() { Format::of(to)?.one() } else { u64::MAX };
        return Some(if low { yes } else { 0 });
    }
    // With packed sources, an integer destination has a half for each, too.
    let yes = if to.is_float() { Format::of(to)?.one() } else { 0xffff };
    let lane = |holds: bool| if holds { yes } else { 0 };
    Some(lane(low) | lane(high) << 16)
}

//! What instructions make of values: bits in, bits out. Nothing here knows threads or memory, and nothing is shared
//! with the compiler.
//!
//! Values lie in the low bits of a `u64`. Results may have anything above their width: the destination cuts it off.

mod bits;
mod convert;
mod float;
mod integer;

pub(super) use float::atomic_sum;

use crate::ptx::{
    inst::Op,
    modifier::{BoolOp, Cmp, Cvt, Half},
    types::Type,
};

use super::exact::Format;

/// Two destinations; the second counts where the instruction has one.
pub(super) type Results = [u64; 2];

/// The types of the sources in order; the last counts for all further ones.
pub(super) fn source_types(op: &Op) -> Vec<Type> {
    use Type::{B32, Pred, U32};
    match op {
        Op::Mov { ty, .. } | Op::Rem { ty } | Op::Sad { ty } | Op::Copysign { ty } => vec![*ty],
        Op::Add { ty, .. } | Op::Sub { ty, .. } | Op::Mul { ty, .. } | Op::Div { ty, .. } => {
            vec![*ty]
        }
        Op::Mad { ty, half, .. } => {
            let sum = if *half == Some(Half::Wide) { ty.wide() } else { *ty };
            vec![*ty, *ty, sum]
        }
        Op::Mul24 { ty, .. } | Op::Mad24 { ty, .. } | Op::Fma { ty, .. } => vec![*ty],
        Op::Abs { ty, .. } | Op::Neg { ty, .. } | Op::Rcp { ty, .. } | Op::Sqrt { ty, .. } => {
            vec![*ty]
        }
        Op::Approx { ty, .. } | Op::Testp { ty, .. } => vec![*ty],
        Op::Min(m) | Op::Max(m) => vec![m.ty],
        Op::Cvt(Cvt { from, .. }) | Op::CvtPack { from, merge: None, .. } => vec![*from],
        Op::CvtPack { from, .. } => vec![*from, *from, B32],
        Op::Setp { ty, .. } | Op::Set { ty, .. } | Op::Selp { ty } => vec![*ty, *ty, Pred],
        Op::Slct { ty, by, .. } => vec![*ty, *ty, *by],
        Op::Logic { ty, .. } | Op::Not { ty } | Op::Cnot { ty } | Op::Brev { ty } => vec![*ty],
        Op::Popc { ty } | Op::Clz { ty } | Op::Bfind { ty, .. } => vec![*ty],
        Op::Shl { ty } | Op::Shr { ty } | Op::Szext { ty, .. } | Op::Bfe { ty } => vec![*ty, U32],
        Op::Bfi { ty } => vec![*ty, *ty, U32],
        Op::Lop3 { .. } => vec![B32, B32, B32, B32, Pred],
        _ => vec![B32],
    }
}

/// The results of an operation; `None` where it is not known, which the sources do not change.
pub(super) fn evaluate(op: &Op, s: &[u64; 5], carry: &mut bool) -> Option<Results> {
    Some([
        match op {
            Op::Mov { .. } => s[0],
            Op::Selp { .. } => {
                if s[2] & 1 != 0 {
                    s[0]
                } else {
                    s[1]
                }
            }
            Op::Setp { cmp, combine, ty, ftz } => return setp(*cmp, *combine, *ty, *ftz, s),
            Op::Set { cmp, combine, to, ty, ftz } => set(*cmp, *combine, *to, *ty, *ftz, s)?,
            Op::Slct { by, ftz, .. } => {
                let positive = if by.is_float() {
                    float::compare(Cmp::Ge, *by, *ftz, s[2], 0)?
                } else {
                    signed(s[2], 32) >= 0
                };
                if positive { s[0] } else { s[1] }
            }
            Op::Cvt(cvt) => convert::convert(cvt, s)?,
            Op::CvtPack { to, from, merge } => convert::pack(*to, *from, merge.is_some(), s)?,
            Op::Lop3 { combine } => return Some(bits::lop3(*combine, s)),
            op => match op.float_type() {
                Some(ty) => float::evaluate(op, ty, s)?,
                None => match integer::evaluate(op, s, carry) {
                    Some(value) => value,
                    None => bits::evaluate(op, s)?,
                },
            },
        },
        0,
    ])
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

//! Which types and modifiers each instruction may have (PTX ISA 9.0, chapter 9.7). Whoever runs a module relies on
//! it: what is refused here has no meaning.

use super::super::inst::Op;
use super::super::modifier::*;
use super::super::types::{Kind, Type};

/// 16, 32 or 64 bits, signed or unsigned.
const fn is_integer(ty: Type) -> bool {
    matches!(ty, Type::U16 | Type::S16 | Type::U32 | Type::S32 | Type::U64 | Type::S64)
}

const fn is_pair_of_integers(ty: Type) -> bool {
    matches!(ty, Type::U16x2 | Type::S16x2)
}

const fn is_half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

const fn is_single_or_double(ty: Type) -> bool {
    matches!(ty, Type::F32 | Type::F64)
}

const fn is_arithmetic(ty: Type) -> bool {
    is_integer(ty) || is_single_or_double(ty)
}

/// 32 or 64 bits, as carries are.
const fn is_word(ty: Type) -> bool {
    matches!(ty, Type::U32 | Type::S32 | Type::U64 | Type::S64)
}

const fn is_u32_or_s32(ty: Type) -> bool {
    matches!(ty, Type::U32 | Type::S32)
}

const fn is_b32_or_b64(ty: Type) -> bool {
    matches!(ty, Type::B32 | Type::B64)
}

const fn is_bits(ty: Type) -> bool {
    matches!(ty, Type::B16 | Type::B32 | Type::B64)
}

/// What memory and registers of 16 to 64 bits hold.
const fn is_value(ty: Type) -> bool {
    !matches!(ty.kind(), Kind::Opaque | Kind::Predicate) && matches!(ty.bytes(), 2 | 4 | 8)
}

/// Whether `op` is an instruction with its types and modifiers.
pub(super) fn are_known(op: &Op) -> bool {
    arithmetic(op) && selection(op) && bits(op) && memory(op) && threads(op)
}

fn sum(ty: Type, mode: Mode, carry: Carry) -> bool {
    let fine = is_arithmetic(ty) || is_half(ty) || is_pair_of_integers(ty) || ty == Type::F32x2;
    let carries = carry.read || carry.write;
    fine && (!carries || is_word(ty)) && saturates(ty, mode) && rounds(ty, mode)
}

/// `.sat` is for `s32` and floats up to single precision.
fn saturates(ty: Type, mode: Mode) -> bool {
    !mode.sat || ty == Type::S32 || (ty.is_float() && ty != Type::F64)
}

/// Integers are neither rounded nor flushed.
fn rounds(ty: Type, mode: Mode) -> bool {
    ty.is_float() || (mode.rounding.is_none() && !mode.ftz)
}

fn product(ty: Type, half: Option<Half>, mode: Mode) -> bool {
    let fine = match half {
        Some(Half::Wide) => is_integer(ty) && ty.bytes() < 8,
        Some(_) => is_integer(ty),
        None => is_single_or_double(ty) || is_half(ty) || ty == Type::F32x2,
    };
    fine && rounds(ty, mode)
}

fn arithmetic(op: &Op) -> bool {
    match op {
        Op::Add { ty, mode, carry } | Op::Sub { ty, mode, carry } => sum(*ty, *mode, *carry),
        Op::Mul { ty, half, mode } => {
            product(*ty, *half, *mode) && (!mode.sat || ty.is_float() && *ty != Type::F64)
        }
        Op::Mad { ty, half, mode, carry } => {
            let carries = carry.read || carry.write;
            let carried = is_word(*ty) && matches!(half, Some(Half::Lo | Half::Hi)) && !mode.sat;
            let saturated = *ty == Type::S32 && *half == Some(Half::Hi) || *ty == Type::F32;
            let fine = is_arithmetic(*ty) && product(*ty, *half, *mode);
            fine && (!carries || carried) && (!mode.sat || saturated)
        }
        Op::Mul24 { ty, half } => is_u32_or_s32(*ty) && *half != Half::Wide,
        Op::Mad24 { ty, half, sat } => {
            let saturated = *ty == Type::S32 && *half == Half::Hi;
            is_u32_or_s32(*ty) && *half != Half::Wide && (!sat || saturated)
        }
        Op::Fma { ty, mode, .. } => product(*ty, None, *mode) && saturates(*ty, *mode),
        Op::Div { ty, accuracy, mode } => {
            let exact = *accuracy == Accuracy::Exact || ty.is_float();
            is_arithmetic(*ty) && exact && rounds(*ty, *mode) && !mode.sat
        }
        Op::Rem { ty } | Op::Sad { ty } => is_integer(*ty),
        Op::Abs { ty, .. } | Op::Neg { ty, .. } => {
            let signed = is_integer(*ty) && ty.is_signed();
            signed || is_single_or_double(*ty) || is_half(*ty)
        }
        Op::Min(m) | Op::Max(m) => {
            let float = is_single_or_double(m.ty) || is_half(m.ty);
            let integer = is_integer(m.ty) || is_pair_of_integers(m.ty);
            let signs = !m.xorsign_abs || m.ty != Type::F64;
            float && !m.relu && signs || integer && !m.nan && !m.ftz && !m.xorsign_abs
        }
        Op::Rcp { ty, .. } | Op::Sqrt { ty, .. } => is_single_or_double(*ty),
        Op::Copysign { ty } | Op::Testp { ty, .. } => is_single_or_double(*ty),
        Op::Approx { function, ty, .. } => match function {
            Function::Rsqrt => is_single_or_double(*ty),
            Function::Sin | Function::Cos | Function::Lg2 => *ty == Type::F32,
            Function::Ex2 | Function::Tanh => *ty == Type::F32 || is_half(*ty),
        },
        Op::Dp4a { a, b } | Op::Dp2a { a, b, .. } => is_u32_or_s32(*a) && is_u32_or_s32(*b),
        Op::Simd(s) => [s.to, s.a, s.b].into_iter().all(is_u32_or_s32),
        Op::Video(v) => [v.to, v.a, v.b].into_iter().all(is_u32_or_s32),
        _ => true,
    }
}

fn compares(cmp: Cmp, ty: Type) -> bool {
    let ordered = matches!(cmp, Cmp::Eq | Cmp::Ne | Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge);
    let unsigned = matches!(cmp, Cmp::Lo | Cmp::Ls | Cmp::Hi | Cmp::Hs);
    match ty.kind() {
        Kind::Float => (is_single_or_double(ty) || is_half(ty)) && !unsigned,
        Kind::Unsigned => is_integer(ty) && (ordered || unsigned),
        Kind::Signed => is_integer(ty) && ordered,
        Kind::Bits => is_bits(ty) && matches!(cmp, Cmp::Eq | Cmp::Ne),
        Kind::Predicate | Kind::Opaque => false,
    }
}

fn selection(op: &Op) -> bool {
    match op {
        Op::Setp { cmp, ty, ftz, .. } => compares(*cmp, *ty) && (!ftz || ty.is_float()),
        Op::Set { cmp, to, ty, ftz, .. } => {
            let pair = ty.is_packed();
            let fine = match to {
                Type::U32 | Type::S32 => true,
                Type::F32 => !is_half(*ty),
                Type::U16 | Type::S16 => is_half(*ty) && !pair,
                Type::F16 | Type::Bf16 => is_half(*ty) && !pair,
                Type::F16x2 | Type::Bf16x2 => pair,
                _ => false,
            };
            fine && compares(*cmp, *ty) && (!ftz || ty.is_float())
        }
        Op::Selp { ty } => is_value(*ty),
        Op::Slct { ty, by, ftz } => {
            is_value(*ty) && matches!(by, Type::S32 | Type::F32) && (!ftz || *by == Type::F32)
        }
        _ => true,
    }
}

/// A type of `cvt`.
const fn converts(ty: Type) -> bool {
    is_integer(ty)
        || is_single_or_double(ty)
        || is_half(ty)
        || matches!(ty, Type::U8 | Type::S8 | Type::Tf32)
}

/// A pair of 8-bit floating-point numbers.
const fn is_pair_of_bytes(ty: Type) -> bool {
    matches!(ty, Type::E4m3x2 | Type::E5m2x2)
}

/// From and to 8-bit numbers: always rounded to nearest, and clamped on the way down.
fn byte_conversion(c: &Cvt) -> bool {
    let plain = c.integer.is_none() && !c.ftz && !c.sat && c.rounding == Some(Rounding::Nearest);
    let fine = match is_pair_of_bytes(c.to) {
        true => matches!(c.from, Type::F32 | Type::F16x2) && c.satfinite,
        false => c.to == Type::F16x2 && !c.satfinite,
    };
    plain && fine
}

fn conversion(c: &Cvt) -> bool {
    if is_pair_of_bytes(c.to) || is_pair_of_bytes(c.from) {
        return byte_conversion(c);
    }
    let (to, from) = (c.to.is_float(), c.from.is_float());
    let rounding = match (to, from) {
        (false, _) => c.rounding.is_none(),
        (true, false) => c.integer.is_none(),
        (true, true) => c.rounding.is_none() || c.integer.is_none(),
    };
    // From integers to integers nothing is rounded; from floats to integers always.
    let integer = to || c.integer.is_some() == from;
    let pair = !c.from.is_packed() && (!c.to.is_packed() || c.from == Type::F32);
    let tf32 = c.from != Type::Tf32 && (c.to != Type::Tf32 || c.from == Type::F32);
    let flushed = !c.ftz || to || from;
    converts(c.to) && converts(c.from) && rounding && integer && pair && tf32 && flushed
}

fn bits(op: &Op) -> bool {
    match op {
        Op::Mov { ty, lanes } => {
            ty.kind() != Kind::Opaque && (*lanes <= 1 || matches!(ty, Type::U32 | Type::B32))
        }
        Op::Cvta { ty, .. } => matches!(ty, Type::U32 | Type::U64),
        Op::Cvt(cvt) => conversion(cvt),
        Op::CvtPack { to, from, merge } => {
            let narrow = matches!(to, Type::U16 | Type::S16 | Type::U8 | Type::S8);
            // Two halves fill the word; of bytes the upper half comes from another operand.
            let merges = merge.is_some() == (to.bytes() == 1);
            narrow && merges && *from == Type::S32 && merge.is_none_or(|ty| ty == Type::B32)
        }
        Op::Szext { ty, .. } => is_u32_or_s32(*ty),
        Op::Logic { ty, .. } | Op::Not { ty } => is_bits(*ty) || *ty == Type::Pred,
        Op::Cnot { ty } | Op::Shl { ty } => is_bits(*ty),
        Op::Shr { ty } => is_bits(*ty) || is_integer(*ty),
        Op::Popc { ty } | Op::Clz { ty } => is_b32_or_b64(*ty),
        Op::Brev { ty } | Op::Bfi { ty } => is_b32_or_b64(*ty),
        Op::Bfind { ty, .. } | Op::Bfe { ty } => is_word(*ty),
        _ => true,
    }
}

/// A type of a load or a store, and how many.
fn moves(access: &Access) -> bool {
    let fine =
        !matches!(access.ty.kind(), Kind::Opaque | Kind::Predicate) && !is_packed_float(access.ty);
    fine && (access.ty != Type::B128 || access.lanes == 1) && access.bytes() <= 32
}

const fn is_packed_float(ty: Type) -> bool {
    matches!(ty, Type::F32x2 | Type::Tf32)
}

fn atomic(a: &Atomic) -> bool {
    let float = is_half(a.ty) || is_single_or_double(a.ty);
    let b128 = a.ty == Type::B128;
    match a.op {
        AtomOp::And | AtomOp::Or | AtomOp::Xor => is_b32_or_b64(a.ty),
        AtomOp::Exch => is_b32_or_b64(a.ty) || b128 || (is_value(a.ty) && a.ty.bytes() > 2),
        AtomOp::Cas => is_bits(a.ty) || b128 || is_word(a.ty),
        AtomOp::Add => float || is_word(a.ty),
        AtomOp::Min | AtomOp::Max => float || is_word(a.ty),
        AtomOp::Inc | AtomOp::Dec => a.ty == Type::U32,
    }
}

fn memory(op: &Op) -> bool {
    match op {
        Op::Ld(access) | Op::Ldu(access) | Op::St(access) => moves(access),
        Op::Atom(a) => atomic(a),
        Op::Red(a) => atomic(a) && !matches!(a.op, AtomOp::Exch | AtomOp::Cas),
        Op::Alloca { ty } | Op::Stacksave { ty } | Op::Stackrestore { ty } => {
            matches!(ty, Type::U32 | Type::U64)
        }
        _ => true,
    }
}

fn threads(op: &Op) -> bool {
    match op {
        Op::Match { ty, .. } => is_b32_or_b64(*ty),
        Op::Redux { op, ty, abs, nan } => match op {
            AtomOp::Add => is_u32_or_s32(*ty),
            AtomOp::Min | AtomOp::Max if *ty == Type::F32 => true,
            AtomOp::Min | AtomOp::Max => is_u32_or_s32(*ty) && !abs && !nan,
            AtomOp::And | AtomOp::Or | AtomOp::Xor => *ty == Type::B32,
            _ => false,
        },
        _ => true,
    }
}

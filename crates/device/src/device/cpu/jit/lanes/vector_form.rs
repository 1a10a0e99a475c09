//! Which operations vectors can do, by what the table says of them.

use crate::ptx::{inst::Op, types::Type};

/// Whether values of the type are held in vectors.
pub(super) fn has_form(ty: Type) -> bool {
    matches!(ty.bytes(), 4 | 8) && !ty.is_packed() && ty != Type::Tf32
}

/// Whether it does nothing but compute, and can on vectors.
pub(super) fn computes(op: &Op) -> bool {
    vector_width(op).is_some()
}

/// How many vectors hold the result, where there is a vector form.
pub(super) fn vector_width(op: &Op) -> Option<f64> {
    if let Op::Cvt(cvt) = op
        && !has_form(cvt.from)
    {
        return None;
    }
    let ty = op.facts().vector?;
    if ty == Type::Pred {
        return Some(1.0);
    }
    has_form(ty).then(|| f64::from(ty.bytes() / 4))
}

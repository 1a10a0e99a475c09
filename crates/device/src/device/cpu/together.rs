//! What threads of a warp do together by an instruction, as both engines have it.

use crate::ptx::{
    inst::Op,
    op::{Waits, WarpOp},
    types::Type,
};

/// The operation of the warp that it is, if this device has it.
pub(super) fn warp_operation(op: &Op) -> Option<WarpOp> {
    match op.facts().waits {
        Waits::No | Waits::Block(_) => None,
        // Rarely written, and never made of CUDA C++.
        Waits::Warp(WarpOp::Redux(_, ty)) if ty.is_float() => None,
        Waits::Warp(op) => Some(op),
    }
}

/// The type of the value that a thread brings to an operation of the warp, its first source; that of a mask where it
/// brings none.
pub(super) fn warp_value(op: &Op, what: WarpOp) -> Type {
    match what {
        WarpOp::Sync | WarpOp::Activemask | WarpOp::Elect | WarpOp::Matrix(_) => Type::B32,
        WarpOp::Shfl(_) => Type::B32,
        WarpOp::Vote(_) => Type::Pred,
        WarpOp::Redux(_, ty) => ty,
        WarpOp::Match { .. } => {
            if let Op::Match { ty, .. } = op {
                *ty
            } else {
                Type::B32
            }
        }
    }
}

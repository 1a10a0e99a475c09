//! Cranelift's types for those of PTX.

use cranelift_codegen::ir::{self, types};

use crate::ptx::types::Type;

/// The CLIF type of a register of this type.
pub(super) fn clif_type(ty: Type) -> ir::Type {
    match ty {
        Type::Pred | Type::B8 | Type::U8 | Type::S8 => types::I8,
        Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => types::I16,
        Type::E4m3x2 | Type::E5m2x2 => types::I16,
        Type::F32 => types::F32,
        Type::F64 => types::F64,
        Type::B128 => types::I128,
        Type::B64 | Type::U64 | Type::S64 | Type::F32x2 => types::I64,
        Type::Texref | Type::Samplerref | Type::Surfref => types::I64,
        Type::B32 | Type::U32 | Type::S32 | Type::Tf32 => types::I32,
        Type::F16x2 | Type::Bf16x2 | Type::U16x2 | Type::S16x2 => types::I32,
    }
}

/// The CLIF integer of so many bytes.
pub(super) fn int_type(bytes: u32) -> ir::Type {
    match bytes {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        8 => types::I64,
        _ => types::I128,
    }
}

//! What the kernel's classes are given.

use crate::array::{DType, Data, GpuArray, custom::Bound, expression::Operand};

/// What a kernel gets for a member of one of its classes.
#[derive(Clone, Debug)]
pub(super) enum Member {
    /// A value.
    Value { dtype: DType, bytes: Box<[u8]> },
    /// An array to read.
    Array(Operand),
}

impl Member {
    pub(super) fn value<T: Data>(value: T) -> Self {
        Self::Value { dtype: T::DTYPE, bytes: bytemuck::bytes_of(&value).into() }
    }

    pub(super) fn array<T: Data>(array: &GpuArray<T>) -> Self {
        Self::Array(array.operand())
    }

    /// Declares a parameter for it.
    pub(super) fn declare<'a>(&'a self, name: &str, bound: &mut Bound<'a>) {
        let name = name.to_owned();
        match self {
            Self::Value { dtype, bytes } => bound.add_value(dtype.name, name, bytes, dtype.align),
            Self::Array(array) => bound.add_array(name, true, array),
        }
    }
}

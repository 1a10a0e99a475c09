//! What the kernel's classes are given.

use smallvec::SmallVec;

use crate::array::{
    Data, GpuArray,
    bound::{Bound, Name},
    node::{Constant, Operand},
};

/// What a kernel gets for a member of one of its classes.
#[derive(Clone, Debug)]
pub(super) enum Member {
    /// A value.
    Value(Constant),
    /// An array to read.
    Array(Operand),
}

/// Those of a class.
pub(super) type Members = SmallVec<[Member; 3]>;

impl Member {
    pub(super) fn value<T: Data>(value: T) -> Self {
        Self::Value(Constant::new(value))
    }

    pub(super) fn array<T: Data>(array: &GpuArray<T>) -> Self {
        Self::Array(array.operand())
    }

    /// Declares a parameter for it.
    pub(super) fn declare<'a>(&'a self, name: Name<'static>, bound: &mut Bound<'a>) {
        match self {
            Self::Value(Constant { dtype, bytes }) => {
                bound.add_value(dtype.name, name, bytes, dtype.align);
            }
            Self::Array(array) => bound.add_array(name, true, array),
        }
    }
}

//! From what is to be computed to CUDA C++: the text of a kernel, and where its arguments find their elements. Nothing
//! here launches anything.
//!
//! Enters: what a kernel is to compute, and where the elements of its arrays lie. Leaves: CUDA C++, and the arguments
//! of its launch. Must not know: `compile`, `array::algorithm`, `array::random`.

pub(in crate::array) mod bound;
pub(in crate::array) mod places;
pub(in crate::array) mod source;

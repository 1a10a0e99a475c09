//! From what is to be computed to CUDA C++: the text of a kernel, and where its arguments find their elements. Nothing
//! here knows an algorithm, or launches anything.

pub(in crate::array) mod places;
pub(in crate::array) mod source;

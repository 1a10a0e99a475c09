//! Kernels that users write as expressions in C, in PyCUDA's manner: a list of parameters, and what is done for each
//! element. Texts and arrays enter, launched kernels leave; what an array is, they know from its layout alone.

pub(in crate::array) mod custom;
pub(in crate::array) mod elementwise_kernel;
pub(in crate::array) mod reduction_kernel;
pub(in crate::array) mod scan_kernel;

//! Kernels that users write as expressions in C, in PyCUDA's manner: a list of parameters, and what is done for each
//! element.
//!
//! Enters: lists of parameters and expressions in CUDA C++. Leaves: kernels that take arrays and values. Must not know:
//! `compile`, `array::random`.

pub(in crate::array) mod custom;
pub(in crate::array) mod elementwise_kernel;
pub(in crate::array) mod reduction_kernel;
pub(in crate::array) mod scan_kernel;

//! Arrays on a device and the algorithms over them.
//!
//! Enters: a context, values, expressions. Leaves: arrays, views, and what was computed of them. Must not know:
//! `scene`, `ptx`, `gl`, `session`.
//!
//! [`GpuArray`] is numpy's array on a device: any number of dimensions, views that share memory, broadcasting. What is
//! to be computed is written as an expression ([`Expr`]) and becomes one kernel, compiled the first time and kept.
//!
//! ```
//! use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
//!
//! let context = Context::new(Device::cpu()?)?;
//! let samples = GpuArray::from_shape(&context, &[2, 3], &[1.0f32, 10.0, -4.0, 3.0, 30.0, 4.0])?;
//! // Each column less its mean, in units of its deviation: one kernel that broadcasts both.
//! let (mean, deviation) = (samples.mean_along(&[0])?, samples.std_along(&[0], 0)?);
//! let scaled = ((&samples - &mean) / &deviation).eval()?;
//! assert_eq!(scaled.to_vec()?, [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
//!
//! let mut last = samples.slice(&index![.., -1])?; // a view
//! last.fill(0.0)?;
//! assert_eq!(samples.to_vec()?, [1.0, 10.0, 0.0, 3.0, 30.0, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accumulator;
mod algorithm;
mod creation;
mod data;
mod dtype;
mod error;
mod example;
mod exchange;
mod expression;
mod generate;
mod gpu_array;
mod index;
mod layout;
mod node;
mod placed;
pub mod random;
mod user_kernel;
pub mod vector;

use algorithm::{
    columns, compact, gather, join, rank, reduce, reduction, scan, sort, summary, sweep,
};
pub(crate) use exchange::npy;
use exchange::{interface, readback};
use expression::{elementwise, functions, operators, scalar};
use generate::{bound, places, source};
use user_kernel::{custom, elementwise_kernel, reduction_kernel, scan_kernel};

#[cfg(feature = "gl")]
pub(crate) use algorithm::{
    bins::{Binning, Counts, PendingCounts},
    checksum::{Checksum, PendingChecksum},
};
pub use compact::Chosen;
pub use custom::KernelArgument;
pub use data::{Additive, Arithmetic, Bits, Data, Float, Inexact, Integer, Number, Promote, Real};
pub use dtype::DType;
pub use elementwise_kernel::ElementwiseKernel;
pub use error::{Error, Result};
pub use expression::Expr;
pub use functions::Equal;
pub use gather::Bounds;
pub use gpu_array::GpuArray;
pub use index::Index;
pub use interface::ArrayInterface;
pub use join::{concatenate, stack};
pub use layout::{Layout, broadcast};
pub use operators::Beside;
pub use readback::Readback;
pub use reduce::{Reduce, Reduced};
pub use reduction_kernel::ReductionKernel;
pub use scalar::{BesideScalar, Scalar, WeakPromote};
pub use scan_kernel::{ExclusiveScanKernel, InclusiveScanKernel};
pub use sort::{Order, Sortable};
pub use summary::{Error as SummaryError, Pending, Statistics, Summary, Values};

#[doc(no_inline)]
pub use half::{bf16, f16};
#[doc(no_inline)]
pub use num_complex::Complex;

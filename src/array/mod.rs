//! Arrays on a device and the algorithms over them.
//!
//! [`GpuArray`] is numpy's array on a device: any number of dimensions, views that share memory, broadcasting. What is
//! to be computed is written as an expression ([`Expr`]) and becomes one kernel, compiled the first time and kept.
//! Knows no scene, no OpenGL and no window.

mod dtype;
mod elementwise;
mod error;
mod expression;
mod gpu_array;
mod index;
mod layout;
mod reduction;
mod source;
mod summary;

pub use dtype::{Bits, DType, Data, Float, Number, Promote, Real};
pub use error::{Error, Result};
pub use expression::Expr;
pub use gpu_array::GpuArray;
pub use index::Index;
pub use layout::{Layout, broadcast};
pub use summary::{Error as SummaryError, Pending, Statistics, Summary};

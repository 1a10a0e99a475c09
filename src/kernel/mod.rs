//! Kernels from source at run time: CUDA C++ becomes a module, a module gives kernels, and a kernel knows its
//! parameters, so that a wrong argument is an error that names it.
//!
//! Enters: CUDA C++ and a device. Leaves: kernels that check their arguments, and the context that arrays share. Must
//! not know: `scene`, `ptx::ast`, `ptx::parser`, `array`, `gl`.
//!
//! A [`Context`] holds what that needs on a device; arrays share it.

mod argument;
mod context;
mod error;
mod function;
pub(crate) mod guarding;
mod host_argument;
mod key;
mod module;
mod prepared;
mod source;

pub use argument::{Argument, Kind};
pub(crate) use context::GENERATED;
pub use context::{Context, GeneratedStatistics};
pub use error::{Error, Result};
pub use function::Kernel;
pub use host_argument::{HostArgument, In, InOut, Out};
pub(crate) use key::Key;
pub use module::SourceModule;
pub use prepared::{PreparedKernel, Timing};
pub use source::Source;

//! What can go wrong between a source and its launch.

use crate::{
    compile,
    device::{self, argument_counts},
    diagnostic::{Diagnostic, Severity},
};

/// `Result`, with this module's [`enum@Error`] where no other one is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a kernel cannot be made or launched.
///
/// ```
/// use warpaint::{device::Device, kernel::{Context, Error, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("__global__ void k() {\n    int x = y;\n    z = 1;\n}").named("k.cu");
/// match context.module(&source) {
///     Err(Error::Rejected { name, diagnostics, .. }) => {
///         assert_eq!(name, "k.cu");
///         assert_eq!(diagnostics.iter().filter_map(|error| error.line).collect::<Vec<_>>(), [2, 3]);
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The compiler could not run.
    #[error(transparent)]
    Compile(#[from] compile::Error),
    /// The device refused.
    #[error(transparent)]
    Device(#[from] device::Error),
    /// What was to be kept cannot be written.
    #[error("the source cannot be kept: {0}")]
    Keep(std::io::Error),
    /// The source does not compile.
    #[error("{name} does not compile: {}", first(.diagnostics, .log))]
    Rejected {
        /// The source's name.
        name: String,
        /// What is wrong, in the compiler's order.
        diagnostics: Vec<Diagnostic>,
        /// All that the compiler said.
        log: String,
    },
    /// A kernel was given more or fewer arguments than it has parameters.
    #[error("kernel `{kernel}` takes {}", argument_counts(*.expected, *.found))]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// How many parameters it has.
        expected: usize,
        /// How many arguments were given.
        found: usize,
    },
    /// An argument does not fit its parameter.
    #[error("kernel `{kernel}`: parameter `{parameter}` is {expected}, the argument is {found}")]
    Argument {
        /// The kernel.
        kernel: String,
        /// The parameter's name, or its number from 0 where the source does not show it.
        parameter: String,
        /// The parameter's type.
        expected: String,
        /// The argument's type.
        found: String,
    },
}

/// The first error; a warning before it does not say why there is no kernel.
fn first(diagnostics: &[Diagnostic], log: &str) -> String {
    let error = diagnostics.iter().find(|diagnostic| diagnostic.severity >= Severity::Error);
    error.or(diagnostics.first()).map_or_else(|| log.trim().to_owned(), ToString::to_string)
}

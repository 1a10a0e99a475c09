//! What stops a compilation.

use std::path::PathBuf;

use super::request::Target;

/// What stops a compilation that the user's source has no part in.
///
/// ```
/// use warpaint::compile::{Cache, Compiler, Error, Request, Target};
///
/// let compiler = Compiler::new(Cache::memory());
/// let for_fermi = Request::new("k.cu", "__global__ void k() {}", Target(2, 0));
/// match compiler.compile(&for_fermi) {
///     Err(Error::Target { oldest, .. }) => assert!(oldest >= 50),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No NVRTC on this machine.
    #[error(
        "no NVRTC library found: run `scripts/setup` or `pip install nvidia-cuda-nvrtc`, or point \
         WARPAINT_NVRTC at libnvrtc.so (searched: {})",
        searched.join("; ")
    )]
    NvrtcNotFound {
        /// Each place that was looked at, with what was wrong there where there was something.
        searched: Vec<String>,
    },
    /// `WARPAINT_NVRTC` is set, and names nothing usable.
    #[error("WARPAINT_NVRTC is {}: {problem}; correct it or unset it", path.display())]
    NvrtcVariable {
        /// The variable's value.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A call into NVRTC failed for a reason that is not in the source.
    #[error("{call} failed with {code} ({number}) while compiling {name}")]
    Nvrtc {
        /// The NVRTC function.
        call: String,
        /// The error's name as NVRTC tells it.
        code: String,
        /// The error's number (`nvrtcResult`).
        number: i32,
        /// The file that was compiled, as the user named it.
        name: String,
    },
    /// NVRTC was there, and is not any more: its process has ended, and another one cannot load it.
    #[error("NVRTC {problem}")]
    NvrtcLost {
        /// What is wrong with it now.
        problem: String,
    },
    /// It was cancelled; see [`Cancel`](super::Cancel).
    #[error("the compilation was cancelled")]
    Cancelled,
    /// The target is older than anything that this NVRTC compiles for.
    #[error(
        "NVRTC {}.{} compiles for compute_{oldest} and newer, not for {target}: install an older NVRTC, \
         for instance `pip install nvidia-cuda-nvrtc-cu12`",
        version.0,
        version.1
    )]
    Target {
        /// What was asked for.
        target: Target,
        /// The oldest architecture that the library knows, as in `compute_75`.
        oldest: u32,
        /// The library's version.
        version: (u32, u32),
    },
}

/// A [`Result`](std::result::Result) with this module's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

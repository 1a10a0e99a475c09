//! What is to be compiled.

use std::fmt;
use std::path::{Path, PathBuf};

use super::reach::Reach;
use crate::diagnostic::Diagnostic;

/// The file name under which diagnostics speak of [`Request::prelude`].
///
/// ```
/// use warpaint::compile::{Cache, Compiler, Outcome, PRELUDE_NAME, Request, Target};
///
/// let mut request = Request::new("k.cu", "__global__ void k() {}", Target::CPU);
/// request.prelude = "typedef flaot Real;".into();
/// match Compiler::new(Cache::memory()).compile(&request)? {
///     Outcome::Rejected { diagnostics, .. } => assert_eq!(diagnostics[0].file, PRELUDE_NAME),
///     Outcome::Compiled(compiled) => panic!("{}", compiled.ptx),
/// }
/// # Ok::<(), warpaint::compile::Error>(())
/// ```
pub const PRELUDE_NAME: &str = "<prelude>";

/// A header that exists only in memory.
///
/// ```
/// use warpaint::compile::{Cache, Compiler, Header, Outcome, Request, Target};
///
/// let source = "#include <size.h>\n__global__ void k(int *x) { *x = SIZE; }";
/// let mut request = Request::new("k.cu", source, Target::CPU);
/// request.headers.push(Header { name: "size.h".into(), text: "constexpr int SIZE = 64;".into() });
/// let Outcome::Compiled(compiled) = Compiler::new(Cache::memory()).compile(&request)? else { panic!() };
/// assert!(compiled.ptx.contains(", 64;"));
/// # Ok::<(), warpaint::compile::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name that `#include` asks for, for instance `warpaint/noise.cuh`.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// A virtual architecture: `Target(8, 0)` is `compute_80`.
///
/// ```
/// use warpaint::compile::Target;
///
/// assert_eq!(Target(7, 5).to_string(), "compute_75");
/// assert!(Target(7, 5) < Target(8, 0));
/// assert_eq!(Target(12, 0).to_string(), "compute_90"); // as NEWEST
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target(
    /// Major compute capability.
    pub u32,
    /// Minor compute capability.
    pub u32,
);

impl Target {
    /// What the CPU device compiles for: bf16 arithmetic is there from compute_80 on, clusters are not.
    pub const CPU: Self = Self(8, 0);

    /// The newest target that is ever asked for: above it NVRTC emits a PTX dialect that we do not read.
    pub const NEWEST: Self = Self(9, 0);

    /// The target for a device of this compute capability: its own, but at most [`Target::NEWEST`].
    ///
    /// ```
    /// use warpaint::compile::Target;
    /// assert_eq!(Target::of_device(8, 6), Target(8, 6));
    /// assert_eq!(Target::of_device(12, 0), Target(9, 0));
    /// ```
    pub fn of_device(major: u32, minor: u32) -> Self {
        Self(major, minor).min(Self::NEWEST)
    }

    /// As NVRTC counts: `80` for compute_80.
    pub(super) fn number(self) -> u32 {
        let Self(major, minor) = self.min(Self::NEWEST);
        major * 10 + minor
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compute_{}", self.number())
    }
}

/// One translation unit and everything that it may use.
///
/// Beside what stands here, the compiler always passes `-lineinfo`, the include folders that came with
/// NVRTC (last), headers of C such as `<stdio.h>` where the request has none of their names, and `--std=c++17` (nvcc's
/// default) unless `options` name another standard. The folder of `name` is searched for `#include "..."`, as compilers
/// do.
///
/// The source may be a file for nvcc, with host code. Functions and variables without `__device__` and the like are
/// left out, in the headers beside it, too. Headers of the host are empty. Types and constants that do not compile
/// are left out where no kernel needs them, with a note. What nvcc includes by itself is there (`uint`, `int64_t`,
/// `INFINITY`, `M_PI`, ...); so is what kernels name of `std::`, as far as libcu++ has it, and of `cub::` for blocks
/// and warps.
///
/// ```
/// use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
///
/// let source = "__global__ void fill(Real *x) { x[threadIdx.x] = VALUE; }";
/// let request = Request {
///     prelude: "using Real = double;".into(),
///     options: vec!["-DVALUE=2.5".into()],
///     name_expressions: vec!["fill".into()],
///     ..Request::new("fill.cu", source, Target::CPU)
/// };
/// let Outcome::Compiled(compiled) = Compiler::new(Cache::memory()).compile(&request)? else { panic!() };
/// assert_eq!(compiled.names["fill"], "_Z4fillPd");
/// # Ok::<(), warpaint::compile::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The source's file name as the user named it; diagnostics and line tables use it.
    pub name: String,
    /// The file that the source is, where its name does not lead there: what it includes is looked for beside this
    /// one. `__FILE__` is this one, too.
    pub path: Option<PathBuf>,
    /// The CUDA C++ text.
    pub source: String,
    /// What to compile for; above [`Target::NEWEST`] counts as that.
    pub target: Target,
    /// Text compiled before the first line of `source`, as a file [`PRELUDE_NAME`]; shifts no line numbers.
    pub prelude: String,
    /// Headers in memory.
    pub headers: Vec<Header>,
    /// Folders searched for `#include`, in order.
    pub include_dirs: Vec<PathBuf>,
    /// Further NVRTC options, one argument each.
    pub options: Vec<String>,
    /// Kernels whose lowered names are wanted, as C++ names them: `advance`, `blur<4>`.
    pub name_expressions: Vec<String>,
    /// Which files may be included.
    pub reach: Reach,
}

impl Request {
    /// A request for `source` alone.
    pub fn new(name: impl Into<String>, source: impl Into<String>, target: Target) -> Self {
        Self {
            name: name.into(),
            path: None,
            source: source.into(),
            target,
            prelude: String::new(),
            headers: Vec::new(),
            include_dirs: Vec::new(),
            options: Vec::new(),
            name_expressions: Vec::new(),
            reach: Reach::Anywhere,
        }
    }

    /// What the compiler is told that the source's file is called.
    pub(super) fn file_name(&self) -> &str {
        self.path.as_deref().and_then(Path::to_str).unwrap_or(&self.name)
    }

    /// The source without a byte order mark, which NVRTC takes for unknown tokens.
    pub(super) fn text(&self) -> &str {
        self.source.strip_prefix('\u{feff}').unwrap_or(&self.source)
    }

    /// C strings end at a NUL byte, so whatever holds one cannot be compiled.
    pub(super) fn nul_diagnostics(&self) -> Vec<Diagnostic> {
        let texts = [(self.name.as_str(), self.text()), (PRELUDE_NAME, &self.prelude)];
        let headers =
            self.headers.iter().map(|header| (header.name.as_str(), header.text.as_str()));
        let in_text = texts.into_iter().chain(headers).filter_map(|(file, text)| {
            let (line, column) = position_of_nul(text)?;
            let error = Diagnostic::error(file, "the file holds a NUL byte; remove it");
            Some(error.at(line, column))
        });
        let dirs = self.include_dirs.iter().map(|dir| dir.to_string_lossy());
        let words =
            self.options.iter().chain(&self.name_expressions).map(|word| word.as_str().into());
        let names =
            std::iter::once(&self.name).chain(self.headers.iter().map(|header| &header.name));
        let in_words = words.chain(dirs).chain(names.map(|name| name.as_str().into()));
        let in_words = in_words.filter(|word: &std::borrow::Cow<'_, str>| word.contains('\0'));
        let in_words = in_words.map(|word| {
            Diagnostic::error(&self.name, format!("`{}` holds a NUL byte", word.escape_debug()))
        });
        in_text.chain(in_words).collect()
    }
}

/// Line and column, both from 1, of the first NUL in `text`.
fn position_of_nul(text: &str) -> Option<(u32, u32)> {
    let before = &text[..text.find('\0')?];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some((u32::try_from(line).ok()?, u32::try_from(column).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_bytes_are_placed() {
        let mut request = Request::new("a.cu", "int x;\nü\0y", Target::CPU);
        request.options.push("-D\0".into());
        let texts: Vec<String> =
            request.nul_diagnostics().iter().map(ToString::to_string).collect();
        let expected = [
            "a.cu:2:2: error: the file holds a NUL byte; remove it",
            "a.cu: error: `-D\\0` holds a NUL byte",
        ];
        assert_eq!(texts, expected);
        assert!(Request::new("a.cu", "", Target::CPU).nul_diagnostics().is_empty());
    }

    #[test]
    fn newer_targets_are_capped() {
        assert_eq!(Target(12, 1).to_string(), "compute_90");
        assert_eq!(Target(7, 5).to_string(), "compute_75");
    }
}

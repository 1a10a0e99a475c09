//! What became of a request.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;

/// What became of a [`Request`](super::Request).
///
/// ```
/// use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
///
/// let compiler = Compiler::new(Cache::memory());
/// let request = Request::new("k.cu", "__global__ void k() {\n    int x = y;\n}", Target::CPU);
/// match compiler.compile(&request)? {
///     Outcome::Rejected { diagnostics, .. } => {
///         let [error] = &diagnostics[..] else { panic!("`y` alone is wrong") };
///         assert_eq!((error.file.as_str(), error.line, error.column), ("k.cu", Some(2), Some(13)));
///     }
///     Outcome::Compiled(compiled) => panic!("{}", compiled.ptx),
/// }
/// # Ok::<(), warpaint::compile::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It compiled, perhaps with warnings.
    Compiled(Compiled),
    /// The source (or an option) is wrong.
    Rejected {
        /// What is wrong, in the compiler's order; at least one error.
        diagnostics: Vec<Diagnostic>,
        /// All that the compiler said.
        log: String,
        /// Files that it wants to include and [may not](super::Request::reach), which then is all that is wrong.
        untrusted: Vec<String>,
    },
}

impl Outcome {
    /// A source about which the compiler itself has nothing to say.
    pub(super) fn rejected(name: &str, text: String) -> Self {
        let diagnostics = vec![Diagnostic::error(name, text)];
        Self::Rejected { diagnostics, log: String::new(), untrusted: Vec::new() }
    }
}

/// PTX and what belongs to it.
///
/// ```
/// use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
///
/// let source = "template<class T> __global__ void fill(T *x, T v) { x[threadIdx.x] = v; }";
/// let mut request = Request::new("fill.cu", source, Target::CPU);
/// request.name_expressions.push("fill<float>".into());
/// let Outcome::Compiled(compiled) = Compiler::new(Cache::memory()).compile(&request)? else { panic!() };
/// assert_eq!(compiled.names["fill<float>"], "_Z4fillIfEvPT_S0_");
/// assert!(compiled.ptx.contains(".entry _Z4fillIfEvPT_S0_("));
/// # Ok::<(), warpaint::compile::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The PTX; its `.file` entries name files as the request did.
    pub ptx: Arc<str>,
    /// The lowered (mangled) name of each name expression.
    pub names: std::collections::BTreeMap<String, String>,
    /// All that the compiler said, warnings among it.
    pub log: String,
    /// The warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether it came from the cache.
    pub cached: bool,
    /// The version of the NVRTC that made it.
    pub nvrtc: (u32, u32),
}

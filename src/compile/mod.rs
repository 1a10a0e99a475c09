//! Turns CUDA C++ into PTX with NVRTC.
//!
//! Enters: CUDA C++, the headers and folders that it may include, a target. Leaves: PTX, lowered names of kernels,
//! diagnostics. Must not know: `scene`, `device`.
//!
//! What a [`Request`] leads to is PTX, or [`Diagnostic`](crate::diagnostic::Diagnostic)s with file, line and column.
//! NVRTC is found and loaded at run time, never linked; a [`Cache`] answers what was compiled before without loading it
//! at all. No CUDA driver is called.
//!
//! NVRTC's options and functions: *NVRTC, CUDA C++ Runtime Compilation*, NVIDIA.

mod attempt;
mod budget;
mod c_headers;
mod cache;
mod cancel;
mod confinement;
#[cfg(feature = "gl")]
pub(crate) mod debug_info;
mod diagnostics;
mod discovery;
mod disk;
mod entry;
mod error;
mod extensions;
mod host_headers;
mod includes;
mod job;
mod library;
mod limits;
mod mentions;
mod nvrtc;
mod options;
mod outcome;
mod precompiled;
mod promoted;
mod reach;
mod recent;
mod request;
mod seed;
mod server;
mod sources;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[cfg(feature = "gl")]
pub(crate) use budget::Budget;
pub use cache::Cache;
pub use cancel::Cancel;
#[cfg(feature = "gl")]
pub(crate) use diagnostics::remark_of_name;
pub use error::{Error, Result};
#[cfg(feature = "gl")]
pub(crate) use includes::TRUST;
pub use limits::Limits;
#[cfg(feature = "gl")]
pub(crate) use mentions::included_names;
pub use outcome::{Compiled, Outcome};
pub use reach::Reach;
pub use request::{Header, PRELUDE_NAME, Request, Target};
pub use seed::{has_seed, write_seed};

use attempt::Attempt;
use discovery::{Places, Toolchain};
use entry::{Entry, Identity};
use job::Facts;
use precompiled::Precompiled;
use server::{Lease, Problem};
use sources::Sources;

/// The NVRTC library in use.
///
/// ```
/// use warpaint::compile::{Cache, Compiler};
///
/// let nvrtc = Compiler::new(Cache::memory()).nvrtc()?;
/// assert!(nvrtc.version >= (12, 0));
/// assert!(nvrtc.path.to_string_lossy().contains("libnvrtc"));
/// # Ok::<(), warpaint::compile::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvrtcInfo {
    /// Major and minor version, as CUDA counts them: `(13, 5)`.
    pub version: (u32, u32),
    /// The library file.
    pub path: PathBuf,
}

/// Compiles CUDA C++; cheap to clone, usable from any thread, several at once.
///
/// On Linux NVRTC runs in a process of its own, which is the running executable, started anew: a source that makes
/// NVRTC crash, or take more than its [`Limits`], is an [`Outcome::Rejected`], and a compilation can be
/// [cancelled](Cancel). The process is kept for the next compilation, by whichever compiler, and ends with the program.
/// Where none can be had, or this library is a part of a library that was loaded, NVRTC runs in the program itself,
/// without limits.
///
/// NVRTC is looked for at the first call and loaded by the first compilation that the cache cannot answer.
/// A search that found nothing is repeated at the next call, so a library installed meanwhile is found.
///
/// ```
/// use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
///
/// let compiler = Compiler::new(Cache::memory());
/// let compile = |n| {
///     let source = format!("__global__ void k(int *x) {{ *x = {n}; }}");
///     compiler.compile(&Request::new("k.cu", source, Target::CPU))
/// };
/// let compile = &compile;
/// std::thread::scope(|scope| {
///     let threads: Vec<_> = (0..3).map(|n| scope.spawn(move || compile(n))).collect();
///     for (n, thread) in threads.into_iter().enumerate() {
///         let Ok(Ok(Outcome::Compiled(compiled))) = thread.join() else { panic!("it is correct") };
///         assert!(compiled.ptx.contains(&format!(", {n};")));
///     }
/// });
/// ```
#[derive(Clone, Debug)]
pub struct Compiler {
    shared: Arc<Shared>,
    limits: Limits,
    cancels: Vec<Cancel>,
}

#[derive(Debug)]
struct Shared {
    cache: Cache,
    places: Places,
    precompiled: Precompiled,
    state: Mutex<State>,
}

/// The library is not looked at again for so long: that takes longer than an answer from memory.
const CHECKED_FOR: Duration = Duration::from_secs(1);

/// What is known of the library so far.
#[derive(Debug, Default)]
struct State {
    /// Found, perhaps not loaded yet.
    toolchain: Option<Arc<Toolchain>>,
    /// When it was last seen to be there, unchanged.
    checked: Option<Instant>,
    /// What there is to know of it, once it was loaded.
    facts: Option<Facts>,
    /// Libraries that were found and could not be loaded, with the reason.
    unusable: Vec<(PathBuf, String)>,
}

impl Compiler {
    /// A compiler that keeps its results in `cache`.
    pub fn new(cache: Cache) -> Self {
        Self::with_places(cache, Places::from_environment())
    }

    fn with_places(cache: Cache, places: Places) -> Self {
        let precompiled = Precompiled::new(cache.path().map(Path::to_owned));
        let shared = Shared { cache, places, precompiled, state: Mutex::default() };
        Self { shared: Arc::new(shared), limits: Limits::of_user(), cancels: Vec::new() }
    }

    /// The same compiler with other limits than [the user's](Limits::of_user).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use warpaint::compile::{Cache, Compiler, Limits};
    /// let quick = Limits { time: Duration::from_secs(5), ..Limits::default() };
    /// let compiler = Compiler::new(Cache::memory()).with_limits(quick);
    /// ```
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// What a compilation may take.
    #[cfg(feature = "gl")]
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether what is compiled now is to end.
    #[cfg(feature = "gl")]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancels.iter().any(Cancel::is_cancelled)
    }

    /// The same compiler, whose compilations `cancel` ends.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: &Cancel) -> Self {
        self.cancels.push(cancel.clone());
        self
    }

    /// The cache it works with.
    pub fn cache(&self) -> &Cache {
        &self.shared.cache
    }

    /// The NVRTC library in use; loads it.
    ///
    /// ```
    /// # use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
    /// # let compiler = Compiler::new(Cache::memory());
    /// let request = Request::new("k.cu", "__global__ void k() {}", Target::CPU);
    /// let Outcome::Compiled(compiled) = compiler.compile(&request)? else { panic!("it is correct") };
    /// assert_eq!(compiled.nvrtc, compiler.nvrtc()?.version);
    /// # Ok::<(), warpaint::compile::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NvrtcNotFound`] or [`Error::NvrtcVariable`] where there is none.
    pub fn nvrtc(&self) -> Result<NvrtcInfo> {
        let toolchain = self.locate()?;
        let facts = self.state().facts.clone();
        let (toolchain, facts) = match facts {
            Some(facts) => (toolchain, facts),
            None => {
                let (toolchain, facts, _) = self.load(None)?;
                (toolchain, facts)
            }
        };
        Ok(NvrtcInfo { version: facts.version, path: toolchain.library.clone() })
    }

    /// Sees to it that NVRTC is loaded, so that the next compilation need not wait for that.
    ///
    /// ```
    /// # use warpaint::compile::{Cache, Compiler};
    /// let compiler = Compiler::new(Cache::memory());
    /// std::thread::spawn({ let compiler = compiler.clone(); move || compiler.warm() });
    /// ```
    pub fn warm(&self) {
        if let Err(error) = self.load(None) {
            tracing::debug!("the compiler is not loaded ahead: {error}");
        }
    }

    /// Compiles `request`, or takes the result from the cache.
    ///
    /// ```
    /// # use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
    /// # let compiler = Compiler::new(Cache::memory());
    /// let mut request = Request::new("k.cu", "__global__ void k(float *x) { *x = 1.0f / *x; }", Target::CPU);
    /// let Outcome::Compiled(exact) = compiler.compile(&request)? else { panic!("it is correct") };
    /// assert!(exact.ptx.contains("rcp.rn.f32"));
    /// request.options.push("--use_fast_math".into());
    /// let Outcome::Compiled(fast) = compiler.compile(&request)? else { panic!("it is correct") };
    /// assert!(fast.ptx.contains("rcp.approx.ftz.f32") && !fast.cached);
    ///
    /// request.options.push("--fastest".into());
    /// let Outcome::Rejected { diagnostics, .. } = compiler.compile(&request)? else { panic!("no such option") };
    /// assert_eq!(diagnostics[0].line, None); // an option is wrong, and no line of the file
    /// # Ok::<(), warpaint::compile::Error>(())
    /// ```
    ///
    /// # Errors
    /// Only for what is not the source's fault: NVRTC is missing, or failed inside. Mistakes in the source
    /// and its options, a NUL byte among them, are [`Outcome::Rejected`].
    pub fn compile(&self, request: &Request) -> Result<Outcome> {
        let located = self.locate();
        if let Ok(located) = &located
            && let Some(entry) = self.shared.cache.recall(request, located)
        {
            return Ok(Outcome::Compiled(entry.compiled()));
        }
        let nuls = request.nul_diagnostics();
        if !nuls.is_empty() {
            let (log, untrusted) = (String::new(), Vec::new());
            return Ok(Outcome::Rejected { diagnostics: nuls, log, untrusted });
        }
        let located = match located {
            Err(missing @ Error::NvrtcNotFound { .. }) => {
                return seed::find(request).map(Outcome::Compiled).ok_or(missing);
            }
            located => located?,
        };
        let scan = includes::scan(request, &located);
        if !scan.refused.is_empty() {
            let (diagnostics, untrusted) = (scan.refused, scan.untrusted);
            return Ok(Outcome::Rejected { diagnostics, log: String::new(), untrusted });
        }
        let sources = Sources::of(request, &scan, &located);
        let inputs = scan.inputs.as_ref();
        let identity =
            inputs.map(|inputs| Identity::with_inputs(request, &located, inputs, &sources));
        if let Some(hit) = self.look_up(request, &located, identity) {
            return Ok(hit);
        }
        // Loading may move on to another library than the one located, so both come from one call.
        let (toolchain, facts, lease) = self.load(identity)?;
        if toolchain == located {
            return self.compile_anew(request, sources, &toolchain, facts, lease, identity);
        }
        let identity = Identity::of(request, &toolchain);
        match self.look_up(request, &toolchain, identity) {
            Some(hit) => Ok(hit),
            None => self.compile_anew(request, sources, &toolchain, facts, lease, identity),
        }
    }

    /// What the cache has.
    fn look_up(
        &self,
        request: &Request,
        toolchain: &Arc<Toolchain>,
        identity: Option<Identity>,
    ) -> Option<Outcome> {
        let identity = identity?;
        let entry = self.shared.cache.get(identity.key)?;
        if identity.is_self_contained {
            self.shared.cache.keep_for_recall(request, toolchain, &entry);
        }
        Some(Outcome::Compiled(entry.compiled()))
    }

    fn compile_anew(
        &self,
        request: &Request,
        mut sources: Sources,
        toolchain: &Arc<Toolchain>,
        facts: Facts,
        lease: Lease,
        identity: Option<Identity>,
    ) -> Result<Outcome> {
        let (limits, cancels) = (self.limits, &self.cancels);
        let mut attempt =
            Attempt::new(request, &sources, toolchain, facts, lease, limits, cancels)?;
        let slow = identity.filter(|identity| !identity.is_self_contained && attempt.precompiles());
        let end = match slow {
            Some(identity) => {
                let token = attempt.token();
                let run = |headers: Option<&Path>| attempt.run(headers);
                self.shared.precompiled.compile(identity.domain, &token, run)?
            }
            None => attempt.run(None)?,
        };
        let first = attempt.outcome(end)?;
        let outcome = sources.settle(first, |sources| {
            attempt.give(sources)?;
            // What was precompiled has the declarations that went.
            let end = attempt.run(None)?;
            attempt.outcome(end)
        })?;
        let outcome = sources.explain(outcome);
        if let (Outcome::Compiled(compiled), Some(identity)) = (&outcome, identity) {
            // A header may have been saved while the compiler was reading it: such a result has no key.
            let inputs = includes::scan(request, toolchain).inputs;
            let now =
                inputs.map(|inputs| Identity::with_inputs(request, toolchain, &inputs, &sources));
            if now.is_some_and(|now| now.key == identity.key) {
                let entry = self.shared.cache.insert(identity.key, Entry::from(compiled));
                if identity.is_self_contained {
                    self.shared.cache.keep_for_recall(request, toolchain, &entry);
                }
            }
        }
        Ok(outcome)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The library that would be loaded, without loading it.
    fn locate(&self) -> Result<Arc<Toolchain>> {
        self.locate_in(&mut self.state())
    }

    fn locate_in(&self, state: &mut State) -> Result<Arc<Toolchain>> {
        if let Some(toolchain) = &state.toolchain {
            let fresh = state.checked.is_some_and(|at| at.elapsed() < CHECKED_FOR);
            if fresh || toolchain.is_unchanged() {
                if !fresh {
                    state.checked = Some(Instant::now());
                }
                return Ok(toolchain.clone());
            }
        }
        state.facts = None;
        let toolchain = Arc::new(self.shared.places.find(&state.unusable)?);
        state.checked = Some(Instant::now());
        Ok(state.toolchain.insert(toolchain).clone())
    }

    /// Loads the first library found that can be loaded; preferably where the headers of what is to be compiled were
    /// precompiled.
    fn load(&self, identity: Option<Identity>) -> Result<(Arc<Toolchain>, Facts, Lease)> {
        let owner = identity.and_then(|identity| self.shared.precompiled.owner(identity.domain));
        loop {
            let toolchain = self.locate()?;
            match server::take(&toolchain, owner.as_ref(), &self.cancels) {
                Ok(lease) => {
                    let facts = lease.facts();
                    self.state().facts = Some(facts.clone());
                    return Ok((toolchain, facts, lease));
                }
                Err(Problem::Cancelled) => return Err(Error::Cancelled),
                Err(Problem::Unusable(problem)) => {
                    tracing::warn!(library = %toolchain.library.display(), problem, "NVRTC cannot be loaded");
                    let mut state = self.state();
                    state.toolchain = None;
                    state.unusable.push((toolchain.library.clone(), problem));
                }
            }
        }
    }
}

/// The file that `path` leads to, or `path` itself where that cannot be told.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests;

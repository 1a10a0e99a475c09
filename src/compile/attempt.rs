//! One compilation: within its limits, again where it was not the source's fault, and what to say when it ends badly.

use std::{path::Path, time::Instant};

use libc::{SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGKILL, SIGSEGV, SIGTERM};

use super::{
    Cancel, Error, Limits, Outcome, Result, diagnostics,
    discovery::Toolchain,
    job::{Answer, Facts, Job},
    limits::{MEMORY_VARIABLE, SECONDS_VARIABLE},
    nvrtc::OUT_OF_MEMORY,
    request::Request,
    server::{Bounds, Ended, Lease, Problem, Token},
    sources::Sources,
};

/// How one run of NVRTC ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With an answer.
    Answer(Answer),
    /// It had no more time.
    TimedOut,
    /// It wanted more memory than it may have.
    OutOfMemory,
    /// With a crash; of what kind.
    Crashed(String),
    /// Somebody ended its process, twice; by what.
    Killed(String),
}

/// A compilation of `request`.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    request: &'a Request,
    toolchain: &'a Toolchain,
    job: Job,
    facts: Facts,
    lease: Lease,
    limits: Limits,
    bounds: Bounds<'a>,
}

impl<'a> Attempt<'a> {
    /// Its time begins now.
    ///
    /// # Errors
    /// [`Error::Target`].
    pub(super) fn new(
        request: &'a Request,
        sources: &Sources,
        toolchain: &'a Toolchain,
        facts: Facts,
        lease: Lease,
        limits: Limits,
        cancels: &'a [Cancel],
    ) -> Result<Self> {
        let job = Job::of(request, sources, toolchain, &facts)?;
        let now = Instant::now();
        // A time that no clock can tell is as good as none.
        let until = now.checked_add(limits.time).unwrap_or(now + super::limits::FOREVER);
        let bounds = Bounds { until, memory_bytes: limits.memory_bytes, cancels };
        Ok(Self { request, toolchain, job, facts, lease, limits, bounds })
    }

    /// Goes on with other texts, in the time that is left.
    ///
    /// # Errors
    /// [`Error::Target`].
    pub(super) fn give(&mut self, sources: &Sources) -> Result<()> {
        self.job = Job::of(self.request, sources, self.toolchain, &self.facts)?;
        Ok(())
    }

    /// Whether headers can be precompiled.
    pub(super) fn precompiles(&self) -> bool {
        self.facts.precompiles()
    }

    /// Stands for the process that will compile.
    pub(super) fn token(&self) -> Token {
        self.lease.token()
    }

    /// Runs NVRTC, with precompiled headers in a folder where there is one.
    ///
    /// # Errors
    /// [`Error::Cancelled`], and [`Error::NvrtcVariable`] where the library does not load any more.
    pub(super) fn run(&mut self, precompiled: Option<&Path>) -> Result<End> {
        match precompiled {
            Some(folder) => {
                let job = self.job.clone().with_precompiled(folder);
                let reserved = super::nvrtc::PRECOMPILED_BYTES as u64;
                let memory_bytes = self.bounds.memory_bytes.saturating_add(reserved);
                self.run_job(&job, Bounds { memory_bytes, ..self.bounds })
            }
            None => self.run_job(&self.job.clone(), self.bounds),
        }
    }

    fn run_job(&mut self, job: &Job, bounds: Bounds<'_>) -> Result<End> {
        let mut killed = 0;
        loop {
            let answer = self.lease.run(job, bounds).map_err(|problem| match problem {
                Problem::Cancelled => Error::Cancelled,
                Problem::Unusable(problem) => Error::NvrtcLost { problem },
            })?;
            return Ok(match answer {
                Ok(answer) => self.end_with(answer),
                Err(Ended::Cancelled) => return Err(Error::Cancelled),
                Err(Ended::TimedOut) => End::TimedOut,
                Err(Ended::Crashed { signal, .. }) if is_from_outside(signal) && killed == 0 => {
                    killed += 1;
                    continue;
                }
                Err(Ended::Crashed { signal, .. }) if is_from_outside(signal) => {
                    End::Killed(name_of(signal))
                }
                // A crash for want of memory has much of it at last; one for another reason comes early.
                Err(Ended::Crashed { grown_bytes, .. })
                    if grown_bytes >= self.limits.memory_bytes / 4 =>
                {
                    End::OutOfMemory
                }
                Err(Ended::Crashed { signal, .. }) => End::Crashed(name_of(signal)),
                Err(Ended::Died) => End::Crashed(name_of(None)),
            });
        }
    }

    fn end_with(&self, mut answer: Answer) -> End {
        if let Answer::Compiled { log, .. } | Answer::Rejected { log } = &mut answer {
            *log = diagnostics::without_warnings_below(
                log,
                &self.job.name,
                &self.toolchain.include_dirs,
            );
        }
        match &answer {
            Answer::Failed { number: OUT_OF_MEMORY, .. } => End::OutOfMemory,
            Answer::Rejected { log } if log.contains("catastrophic error: out of memory") => {
                End::OutOfMemory
            }
            Answer::Rejected { .. }
            | Answer::Failed { .. }
            | Answer::Compiled { .. }
            | Answer::TooLong { .. } => End::Answer(answer),
        }
    }

    /// What to make of an end.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), and [`Error::Nvrtc`].
    pub(super) fn outcome(&mut self, end: End) -> Result<Outcome> {
        let text = match end {
            End::Answer(answer) => return self.job.outcome(answer, self.request, &self.facts),
            End::TimedOut => format!(
                "the compiler was stopped after {:?} on this source, the longest time that it may take; \
                 {SECONDS_VARIABLE} sets another one, in seconds",
                self.limits.time
            ),
            // What looks like a want of memory may be a crash of another cause, which is found without names.
            End::OutOfMemory => {
                let text = format!(
                    "the compiler needs more than the {} MiB of memory that it may take for this source; \
                     {MEMORY_VARIABLE} sets another limit, in MiB",
                    self.limits.memory_bytes >> 20
                );
                return self.explain(text);
            }
            End::Killed(how) => format!(
                "the compiler's process was ended twice on this source ({how}), by someone else or for want of memory"
            ),
            End::Crashed(how) => {
                return self.explain(format!("the compiler itself crashes on this source ({how})"));
            }
        };
        Ok(Outcome::rejected(&self.request.name, text))
    }

    /// NVRTC crashes where it looks up a kernel whose parameters have a mistake. Without the kernels' names it tells
    /// the mistake; else `text` tells what there is to tell.
    fn explain(&mut self, mut text: String) -> Result<Outcome> {
        if !self.job.name_expressions.is_empty() {
            let mut job = self.job.clone();
            let names = std::mem::take(&mut job.name_expressions);
            match self.run_job(&job, self.bounds)? {
                End::Answer(answer @ Answer::Rejected { .. }) => {
                    return job.outcome(answer, self.request, &self.facts);
                }
                End::Answer(Answer::Compiled { .. }) => {
                    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                    text = format!("{text}, where it looks up {}", names.join(", "));
                }
                End::Answer(Answer::Failed { .. } | Answer::TooLong { .. })
                | End::TimedOut
                | End::OutOfMemory
                | End::Crashed(_)
                | End::Killed(_) => {}
            }
        }
        Ok(Outcome::rejected(&self.request.name, text))
    }
}

/// Whether somebody else ended the process: no mistake of a program has these signals, nor ends it without one.
fn is_from_outside(signal: Option<i32>) -> bool {
    signal.is_none_or(|signal| [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains(&signal))
}

/// What a signal is called.
fn name_of(signal: Option<i32>) -> String {
    let name = match signal {
        Some(SIGHUP) => "SIGHUP",
        Some(SIGINT) => "SIGINT",
        Some(SIGILL) => "SIGILL",
        Some(SIGABRT) => "SIGABRT",
        Some(SIGBUS) => "SIGBUS",
        Some(SIGFPE) => "SIGFPE",
        Some(SIGKILL) => "SIGKILL",
        Some(SIGSEGV) => "SIGSEGV",
        Some(SIGTERM) => "SIGTERM",
        Some(number) => return format!("signal {number}"),
        None => "without a signal",
    };
    name.to_owned()
}

//! What becomes of the newest text until it runs.

use std::{sync::Arc, time::Instant};

use super::{
    Session,
    compile_state::{CompileState, Phase},
    effort::Effort,
    migration::Migration,
    program::Program,
    rename::Rename,
    source::Source,
    worker::Job,
};

/// The newest text on its way.
pub(super) struct Edit {
    /// How far the compiler is with it.
    pub(super) compile: CompileState,
    /// When it came.
    pub(super) submitted: Instant,
    /// Compiled, and waiting for the running step to end.
    pub(super) candidate: Option<Arc<Program>>,
    /// What it carries over to other layouts.
    pub(super) migration: Option<Migration>,
    /// What it may have given another name.
    pub(super) rename: Option<Rename>,
}

impl Edit {
    /// Of no text as yet.
    pub(super) fn new() -> Self {
        Self {
            compile: CompileState::default(),
            submitted: Instant::now(),
            candidate: None,
            migration: None,
            rename: None,
        }
    }
}

impl Session {
    /// Compiles new text on the worker; the running program goes on until it is ready. Returns its generation.
    pub fn set_source(&mut self, text: String) -> u64 {
        self.submit(Source::Text(text.into()), None)
    }

    /// As [`Session::set_source`], compiled with this effort alone.
    pub fn set_source_with(&mut self, text: String, effort: Effort) -> u64 {
        self.submit(Source::Text(text.into()), Some(effort))
    }

    pub(super) fn submit(&mut self, source: Source, effort: Option<Effort>) -> u64 {
        self.edit.compile.generation += 1;
        self.edit.compile.phase = Phase::Compiling;
        self.edit.submitted = Instant::now();
        let (generation, trusted) = (self.edit.compile.generation, self.options.trust);
        self.worker.submit(Job { generation, source, trusted, effort });
        self.edit.compile.generation
    }
}

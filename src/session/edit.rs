//! What becomes of the newest text until it runs.

use std::{sync::Arc, time::Instant};

use super::{migration::Migration, program::Program, rename::Rename, snapshot::CompileState};

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

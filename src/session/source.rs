//! What a program is made of: a text of the user, or all that was made of one before.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Instant};

use super::{
    Session, builder::Effort, contents::Contents, program::Program, run_files::UsedFile,
    snapshot::Phase, worker::Job,
};
use crate::scene::{Plan, Scene};

/// What the worker makes a program of.
#[derive(Clone)]
pub(super) enum Source {
    /// A text, which is compiled with the files that it includes as they are now.
    Text(Arc<str>),
    /// What became of a text once: it gives the same program, whatever became of its files.
    Made(Arc<Made>),
}

/// All of a program that lies with the host. It is loaded once for each program that is made of it.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) scene: Scene,
    pub(super) plan: Plan,
    pub(super) ptx: Arc<str>,
    /// The name in the PTX of each of the plan's kernels.
    pub(super) names: Arc<BTreeMap<String, String>>,
    /// What everything holds at the start.
    pub(super) contents: Contents,
    /// The files beside that of the scene that it was made of.
    pub(super) files: Arc<[UsedFile]>,
    /// How much its compiler optimised.
    pub(super) effort: Effort,
}

impl Made {
    /// A file of it that is not as it was.
    pub(super) fn changed_file(&self) -> Option<&Path> {
        self.files.iter().find(|file| file.has_changed()).map(UsedFile::path)
    }
}

impl Program {
    /// Whether both were made of the same text, headers and data. A file that was only written again is the same.
    pub(super) fn has_origin_of(&self, other: &Self) -> bool {
        let (own, others) = (&self.scene, &other.scene);
        own.source == others.source
            && own.headers == others.headers
            && self.contents == other.contents
    }

    /// What it was loaded from.
    pub(super) fn made(&self) -> Made {
        let passes = self.passes.iter().map(|pass| pass.plan.clone()).collect();
        Made {
            scene: self.scene.clone(),
            plan: Plan { passes },
            ptx: self.ptx.clone(),
            names: self.names.clone(),
            contents: self.contents.clone(),
            files: self.files.clone(),
            effort: self.effort,
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

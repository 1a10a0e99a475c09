//! What the compiler made of a text, from which a program is loaded.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use super::{contents::Contents, effort::Effort, program::Program, run_files::UsedFile};
use crate::scene::{Plan, Scene};

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

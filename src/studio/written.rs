//! Files of the scene's state, and of the run that led to it, beside the scene's own file.

use std::path::{Path, PathBuf};

use super::document::Document;
use crate::{
    diagnostic::Severity,
    file,
    session::{Content, Written},
};

/// A new file beside the scene's own one, or in `folder` where it has none.
pub fn path(document: &Document, content: Content, step: u64, folder: &Path) -> PathBuf {
    let beside = document.path.as_deref().and_then(Path::parent);
    let name = document.file_name();
    let stem = name.strip_suffix(".cu").unwrap_or(name);
    let ending = match content {
        Content::State => "npz",
        Content::Run => "run.json",
    };
    file::free_name(beside.unwrap_or(folder), &format!("{stem}-{step}"), ending)
}

/// What became of it, and what the file is for.
pub fn told(written: &Written) -> (Severity, String) {
    let path = written.path.display();
    match (&written.problem, written.content) {
        (None, Content::State) => (
            Severity::Note,
            format!(
                "Wrote {path}. `warpaint render SCENE --from FILE` starts there, and numpy opens it."
            ),
        ),
        (None, Content::Run) => (
            Severity::Note,
            format!("Wrote {path}. `warpaint replay FILE` shows the same on any machine."),
        ),
        (Some(problem), Content::State) => {
            (Severity::Error, format!("The state was not written: {problem}."))
        }
        (Some(problem), Content::Run) => {
            (Severity::Error, format!("The run was not written: {problem}."))
        }
    }
}

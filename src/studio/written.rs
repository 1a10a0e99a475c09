//! Files of the scene's state, and of the run that led to it, beside the scene's own file.

use std::path::{Path, PathBuf};

use super::document::Document;
use crate::{
    diagnostic::Severity,
    file,
    session::{Content, Written},
};

/// A new file beside the scene's own one, or in `folder` where it has none.
pub fn path(document: &Document, content: Content, folder: &Path) -> PathBuf {
    let beside = document.path.as_deref().and_then(Path::parent);
    let name = document.file_name();
    let stem = name.strip_suffix(".cu").unwrap_or(name);
    let ending = match content {
        Content::State => "npz",
        Content::Run => "run.json",
    };
    file::free_name(beside.unwrap_or(folder), stem, ending)
}

/// What became of it, and what the file is for.
pub fn told(written: &Written) -> (Severity, String) {
    let path = written.path.display();
    match (&written.problem, written.content) {
        (None, Content::State) => (
            Severity::Note,
            format!("Wrote {path}. `warpaint render SCENE --from` goes on from it."),
        ),
        (None, Content::Run) => {
            (Severity::Note, format!("Wrote {path}. `warpaint replay` repeats it."))
        }
        (Some(problem), Content::State) => {
            (Severity::Error, format!("The state was not exported: {problem}."))
        }
        (Some(problem), Content::Run) => {
            (Severity::Error, format!("The run was not exported: {problem}."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_beside_the_scene_and_replace_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let scene = folder.path().join("waves.cu");
        let document = Document::new("waves.cu", Some(scene), "");
        let next = |content| path(&document, content, elsewhere.path());
        assert_eq!(next(Content::Run), folder.path().join("waves.run.json"));
        assert_eq!(next(Content::State), folder.path().join("waves.npz"));
        std::fs::write(next(Content::State), "").unwrap();
        assert_eq!(next(Content::State), folder.path().join("waves-2.npz"));
        let built_in = Document::new("waves", None, "");
        assert_eq!(
            path(&built_in, Content::State, elsewhere.path()),
            elsewhere.path().join("waves.npz")
        );
    }
}

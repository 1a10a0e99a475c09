//! Where new files of the scene go, beside its own one: its state, the run that led to it, pictures.

use std::path::{Path, PathBuf};

use super::document::Document;
use crate::{
    diagnostic::Severity,
    file,
    session::{Exportable, Exported},
};

/// A new file beside the scene's own one, or in `folder` where it has none.
pub fn path(document: &Document, what: Exportable, folder: &Path) -> PathBuf {
    let (folder, stem) = place(document, folder);
    let ending = match what {
        Exportable::State => "npz",
        Exportable::Run => "run.json",
    };
    file::free_name(folder, stem, ending)
}

/// The folder of the scene's own file, `folder` where it has none, and what names of files begin with there.
pub fn place<'a>(document: &'a Document, folder: &'a Path) -> (&'a Path, &'a str) {
    let beside = document.path.as_deref().and_then(Path::parent);
    let name = document.file_name();
    (beside.unwrap_or(folder), name.strip_suffix(".cu").unwrap_or(name))
}

/// What became of it, and what the file is for.
pub fn told(exported: &Exported) -> (Severity, String) {
    let path = exported.path.display();
    match (&exported.problem, exported.content) {
        (None, Exportable::State) => (
            Severity::Note,
            format!(
                "Wrote {path}. Drop it here, or `warpaint render SCENE --from`, to go on from it."
            ),
        ),
        (None, Exportable::Run) => {
            (Severity::Note, format!("Wrote {path}. `warpaint replay` repeats it."))
        }
        (Some(problem), Exportable::State) => {
            (Severity::Error, format!("The state was not exported: {problem}."))
        }
        (Some(problem), Exportable::Run) => {
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
        let next = |what| path(&document, what, elsewhere.path());
        assert_eq!(next(Exportable::Run), folder.path().join("waves.run.json"));
        assert_eq!(next(Exportable::State), folder.path().join("waves.npz"));
        std::fs::write(next(Exportable::State), "").unwrap();
        assert_eq!(next(Exportable::State), folder.path().join("waves-2.npz"));
        let built_in = Document::new("waves", None, "");
        assert_eq!(
            path(&built_in, Exportable::State, elsewhere.path()),
            elsewhere.path().join("waves.npz")
        );
    }
}

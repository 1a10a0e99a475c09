//! `warpaint new`: a manifest for a file that has none.

use std::path::{Path, PathBuf};

use super::{Error, Result};
use crate::{file, scene::Scene, session::draft_of};

/// A manifest for the file at `path`, which may include files of its folder and of `folders`.
///
/// # Errors
/// [`Error::File`] where it cannot be read, [`Error::Usage`] where it has a manifest.
pub fn draft(path: &Path, folders: &[PathBuf]) -> Result<String> {
    read(path).map(|source| draft_of(path, &source, folders))
}

/// Writes the file at `path`, with a manifest before it, to `out`.
///
/// # Errors
/// As for [`draft`]; also [`Error::File`] where `out` cannot be written, or is there already: what somebody has
/// changed would be lost.
pub fn write_draft(path: &Path, out: &Path, folders: &[PathBuf]) -> Result<()> {
    let source = read(path)?;
    let text = draft_of(path, &source, folders) + &source;
    let failed = |source| Error::File { action: "write", path: out.to_owned(), source };
    file::create(out, text).map_err(failed)
}

fn read(path: &Path) -> Result<String> {
    let source = file::read_regular_text(path, file::SOURCE_LIMIT);
    let source = source.map_err(Error::reading(path))?;
    if Scene::has_manifest(&source) {
        return Err(Error::Usage(format!("{} has a manifest already", path.display())));
    }
    Ok(source)
}

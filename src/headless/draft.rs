//! `warpaint new`: a manifest for a file that has none.

use std::path::Path;

use super::{Error, Result};
use crate::{
    file,
    scene::{self, Scene},
};

/// A manifest for the file at `path`.
///
/// # Errors
/// [`Error::File`] where it cannot be read, [`Error::Usage`] where it has a manifest.
pub fn draft(path: &Path) -> Result<String> {
    read(path).map(|source| manifest(path, &source))
}

/// Writes the file at `path`, with a manifest before it, to `out`.
///
/// # Errors
/// As for [`draft`]; also [`Error::File`] where `out` cannot be written, or is there already: what somebody has
/// changed would be lost.
pub fn write_draft(path: &Path, out: &Path) -> Result<()> {
    let source = read(path)?;
    let text = manifest(path, &source) + &source;
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

fn manifest(path: &Path, source: &str) -> String {
    scene::draft(&path.display().to_string(), source)
}

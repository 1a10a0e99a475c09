//! `warpaint new --template`: a short scene to begin with.

use std::path::Path;

use super::{Error, Result};
use crate::{file, scene};

/// The text of a template.
///
/// # Errors
/// [`Error::Usage`] where there is none of this name.
pub fn template(name: &str) -> Result<&'static str> {
    scene::find_template(name).map(|template| template.source).map_err(Error::Usage)
}

/// Writes it to `out`.
///
/// # Errors
/// As for [`template`]; also [`Error::File`] where `out` cannot be written, or is there already.
pub fn write_template(name: &str, out: &Path) -> Result<()> {
    let failed = |source| Error::File { action: "write", path: out.to_owned(), source };
    file::create(out, template(name)?).map_err(failed)
}

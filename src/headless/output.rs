//! Files that are written whole or not at all.

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::Path,
};

use super::{Error, Result};

/// Writes a file through `fill`, so that a failure leaves what was there before.
///
/// The content goes to a temporary file in the same folder, which then takes the file's place. What is no
/// regular file (a pipe, `/dev/stdout`) is written straight away.
///
/// # Errors
/// [`Error::File`].
pub(super) fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let special = fs::metadata(path).is_ok_and(|data| !data.is_file());
    let written = if special { write_through(path, fill) } else { write_beside(path, fill) };
    written.map_err(Error::writing(path))
}

fn write_through(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
    fill(&mut file)?;
    file.flush()
}

fn write_beside(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What an ordinary new file gets, less what the user's mask takes away.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = BufWriter::new(builder.tempfile_in(folder)?);
    fill(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Ok(data) = fs::metadata(path) {
        file.as_file().set_permissions(data.permissions())?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

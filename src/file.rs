//! Files that are written whole or not at all, so that neither a full disk nor a crash loses what was there.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// Replaces the file at `path` by `content`, or leaves it as it was.
///
/// The content goes to a temporary file in the same folder, which then takes the old file's place and
/// permissions. A symbolic link stays one. What is no regular file (a pipe, `/dev/stdout`) is written straight
/// away.
///
/// # Errors
/// Whatever the system says about writing, and `PermissionDenied` for a read-only file.
pub(crate) fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(content.as_ref());
    }
    let (target, _) = replaceable(path)?;
    let mut file = temporary(&target, ".tmp")?;
    file.write_all(content.as_ref())?;
    persist(file, path)
}

/// The file that `path` means, behind symbolic links, and its permissions where it is there.
fn replaceable(path: &Path) -> io::Result<(PathBuf, Option<fs::Permissions>)> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(metadata) if metadata.permissions().readonly() => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"))
        }
        Ok(metadata) => Ok((target, Some(metadata.permissions()))),
        Err(_) => Ok((target, None)),
    }
}

/// A new file beside `path`, with its ending, for content that comes bit by bit; gone when it is dropped before
/// [`persist`].
///
/// # Errors
/// Whatever the system says about writing there, `IsADirectory`, and `PermissionDenied` for a read-only file.
#[cfg(feature = "gl")]
pub(crate) fn draft(path: &Path) -> io::Result<NamedTempFile> {
    let (target, _) = replaceable(path)?;
    let ending = target.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    temporary(&target, ending.as_deref().unwrap_or(".tmp"))
}

/// Puts a file whose content is complete in the place of `path`, with the permissions of what was there.
///
/// # Errors
/// Whatever the system says about it; what was there is there still.
pub(crate) fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let (target, permissions) = replaceable(path)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(target).map(drop).map_err(|error| error.error)
}

/// Writes `content` to a new file at `path`.
///
/// # Errors
/// Whatever the system says about writing, and `AlreadyExists` where there is something at `path`.
#[cfg(feature = "studio")]
pub(crate) fn create(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = temporary(path, ".tmp")?;
    file.write_all(content.as_ref())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// The first of `stem.cu`, `stem-2.cu`, `stem-3.cu` ... that `folder` does not have.
#[cfg(feature = "studio")]
pub(crate) fn free_name(folder: &Path, stem: &str) -> PathBuf {
    let name = |n: u32| match n {
        1 => folder.join(format!("{stem}.cu")),
        n => folder.join(format!("{stem}-{n}.cu")),
    };
    let mut n = 1;
    while name(n).exists() {
        n += 1;
    }
    name(n)
}

/// A new file in the folder of `path`.
fn temporary(path: &Path, ending: &str) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".warpaint-").suffix(ending);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = folder();
        let path = folder.path().join("a.cu");
        fs::write(&path, "old").unwrap();
        replace(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_survive() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder();
        let (file, link) = (folder.path().join("a.cu"), folder.path().join("b.cu"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_read_only_file_and_a_missing_folder_are_errors_and_change_nothing() {
        let folder = folder();
        let path = folder.path().join("a.cu");
        fs::write(&path, "old").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert_eq!(replace(&path, "new").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let nowhere = folder.path().join("no/such/a.cu");
        assert_eq!(replace(&nowhere, "new").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(feature = "studio")]
    #[test]
    fn a_new_file_never_replaces_one() {
        let folder = folder();
        let path = free_name(folder.path(), "particles");
        create(&path, "one").unwrap();
        assert_eq!(create(&path, "two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(free_name(folder.path(), "particles"), folder.path().join("particles-2.cu"));
    }
}

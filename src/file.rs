//! Files that are written whole or not at all, so that neither a full disk nor a crash loses what was there.

#[cfg(feature = "studio")]
use std::path::PathBuf;
use std::{fs, io, io::Write, path::Path};

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
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let permissions = match fs::metadata(&target) {
        Ok(metadata) if !metadata.is_file() => {
            return fs::OpenOptions::new().write(true).open(&target)?.write_all(content.as_ref());
        }
        Ok(metadata) if metadata.permissions().readonly() => {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        Ok(metadata) => Some(metadata.permissions()),
        Err(_) => None,
    };
    let file = written(&target, content.as_ref())?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// A new file beside `path`, with its ending, for content that comes bit by bit; gone when it is dropped before
/// [`persist`].
///
/// # Errors
/// Whatever the system says about writing there.
#[cfg(feature = "gl")]
pub(crate) fn draft(path: &Path) -> io::Result<NamedTempFile> {
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    temporary(path, ending.as_deref().unwrap_or(".tmp"))
}

/// Puts a draft whose content is complete in the place of `path`.
///
/// # Errors
/// Whatever the system says about it; what was there is there still.
#[cfg(feature = "gl")]
pub(crate) fn persist(draft: NamedTempFile, path: &Path) -> io::Result<()> {
    draft.as_file().sync_all()?;
    draft.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes `content` to a new file at `path`.
///
/// # Errors
/// Whatever the system says about writing, and `AlreadyExists` where there is something at `path`.
#[cfg(feature = "studio")]
pub(crate) fn create(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    written(path, content.as_ref())?.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
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

fn written(path: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = temporary(path, ".tmp")?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    Ok(file)
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

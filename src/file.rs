//! Files that are written whole or not at all, so that neither a full disk nor a crash loses what was there; and
//! files that are read only where they are files: a pipe would be waited for, and a device has no end.
//!
//! Enters: paths, bytes. Leaves: files that are whole, and what regular files hold. Must not know: `diagnostic`,
//! `scene`, `device`.

#[cfg(feature = "gl")]
pub(crate) mod any_path;
#[cfg(feature = "cli")]
mod below;
#[cfg(feature = "cli")]
mod claim;
mod draft;
#[cfg(feature = "gl")]
mod own_folder;
#[cfg(feature = "gl")]
mod stamp;
#[cfg(feature = "gl")]
mod temporary_folder;

use std::{
    fs, io,
    io::{Read, Write},
    path::{Path, PathBuf},
    time::Duration,
};

#[cfg(feature = "cli")]
pub(crate) use below::{find_below, place_below};
#[cfg(feature = "cli")]
pub(crate) use claim::Claim;
pub(crate) use draft::Draft;
#[cfg(feature = "cli")]
pub use draft::clear_drafts;
#[cfg(feature = "gl")]
pub(crate) use own_folder::OwnFolder;
#[cfg(feature = "cli")]
pub(crate) use own_folder::Owner;
#[cfg(feature = "gl")]
pub(crate) use stamp::Stamp;
#[cfg(feature = "gl")]
pub(crate) use temporary_folder::TemporaryFolder;

/// More than any source, header or scene has, in bytes.
pub(crate) const SOURCE_LIMIT: u64 = 64 << 20;

/// Whether `name` can lie below a folder: it is neither absolute nor does it have a `..` in it.
#[cfg(feature = "gl")]
pub(crate) fn stays_below(name: &Path) -> bool {
    let mut components = name.components();
    components
        .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir))
        && name.file_name().is_some()
}

/// Opens the file at `path`, behind symbolic links, for reading; never waits.
///
/// # Errors
/// Whatever the system says about opening, `IsADirectory`, and `InvalidInput` for what is no regular file: a pipe, a
/// socket, a device.
pub(crate) fn open_regular(path: &Path) -> io::Result<fs::File> {
    // Opening a device may already do something, so it is asked for before. It may be another file by the time that
    // it is open, so what is open is asked again; a pipe that came between is not waited for.
    must_be_regular(&fs::metadata(path)?)?;
    let file = open_at_once(path, fs::OpenOptions::new().read(true))?;
    must_be_regular(&file.metadata()?)?;
    Ok(file)
}

/// Opens what is at `path`, and never waits for whoever else would have to open it, too.
fn open_at_once(path: &Path, options: &mut fs::OpenOptions) -> io::Result<fs::File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NONBLOCK | libc::O_NOCTTY);
    options.open(path)
}

fn must_be_regular(metadata: &fs::Metadata) -> io::Result<()> {
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe or a device, not a file"))
        }
    }
}

/// The content of the regular file at `path`, of at most `limit` bytes; never waits, and never reads more than that,
/// whatever happens to the file meanwhile.
///
/// # Errors
/// Those of [`open_regular`] and of reading, and `FileTooLarge`.
pub(crate) fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let told = file.metadata()?.len();
    let mut content = Vec::new();
    if told <= limit {
        content.reserve_exact(usize::try_from(told).unwrap_or(0));
        file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    }
    if told.max(content.len() as u64) > limit {
        let text = format!("it has more than {limit} bytes, the most that is read of such a file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(content)
}

/// How long ago a file was changed. What is so far in the future is as old: the clock was set back since.
pub(crate) fn age(metadata: &fs::Metadata) -> Option<Duration> {
    let modified = metadata.modified().ok()?;
    Some(modified.elapsed().unwrap_or_else(|ahead| ahead.duration()))
}

/// [`read_regular`] for text.
///
/// # Errors
/// Those of [`read_regular`], and `InvalidData` for what is not UTF-8.
pub(crate) fn read_regular_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read_regular(path, limit)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Replaces the file at `path` by `content`, or leaves it as it was.
///
/// The content goes to a [`Draft`] in the same folder, which then takes the old file's place and permissions. A
/// symbolic link stays one, and its target is replaced. What is no regular file (a pipe, `/dev/stdout`) is written
/// straight away.
///
/// # Errors
/// Whatever the system says about writing, `PermissionDenied` for a read-only file, and `NotFound` for a link to
/// nothing.
#[cfg(feature = "gl")]
pub(crate) fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    replace_with(path, |to| to.write_all(content.as_ref()))
}

/// [`replace`] by what `write` writes, which need not be in memory as a whole.
///
/// # Errors
/// As [`replace`].
pub(crate) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if is_written_through(path) {
        return write(&mut fs::OpenOptions::new().write(true).open(path)?);
    }
    let (target, _) = replaceable(path)?;
    let mut draft = Draft::beside(&target, ".tmp")?;
    write(&mut draft)?;
    draft.persist(path)
}

/// Whether `path` is neither a file nor a folder, but a pipe or a device: whoever writes writes into that.
pub(crate) fn is_written_through(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The file that `path` means, behind symbolic links, and its permissions where it is there.
///
/// # Errors
/// `IsADirectory`, `InvalidInput` for a pipe or a device, `PermissionDenied` for a read-only file and for one that this
/// user may not write, and `NotFound` for a link to nothing.
pub(crate) fn replaceable(path: &Path) -> io::Result<(PathBuf, Option<fs::Permissions>)> {
    if is_written_through(path) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a pipe or a device, not a file",
        ));
    }
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        // Where the link leads to may not be a place to write at all, and to replace the link is not what it is for.
        Err(_) if path.is_symlink() => {
            let text = "it is a symbolic link to a file that is not there";
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        Err(_) => path.to_owned(),
    };
    match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(metadata) if metadata.permissions().readonly() => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"))
        }
        Ok(metadata) => {
            // Another user's file, or one that an access list protects, says so only when it is opened.
            open_at_once(&target, fs::OpenOptions::new().write(true))?;
            Ok((target, Some(metadata.permissions())))
        }
        Err(_) => Ok((target, None)),
    }
}

/// Writes `content` to a new file at `path`.
///
/// # Errors
/// Whatever the system says about writing, and `AlreadyExists` where there is something at `path`.
#[cfg(feature = "cli")]
pub(crate) fn create(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    create_with(path, |to| to.write_all(content.as_ref()))
}

/// [`create`] by what `write` writes, which need not be in memory as a whole.
///
/// # Errors
/// As [`create`].
#[cfg(feature = "cli")]
pub(crate) fn create_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut draft = Draft::beside(path, ".tmp")?;
    write(&mut draft)?;
    draft.persist_new(path)
}

/// The first of `stem.cu`, `stem-2.cu`, `stem-3.cu` ... that `folder` does not have, where `cu` is the `ending`.
#[cfg(feature = "cli")]
pub(crate) fn free_name(folder: &Path, stem: &str, ending: &str) -> PathBuf {
    let name = |n: u32| match n {
        1 => folder.join(format!("{stem}.{ending}")),
        n => folder.join(format!("{stem}-{n}.{ending}")),
    };
    let mut n = 1;
    // A link that leads nowhere has the name, too.
    while name(n).symlink_metadata().is_ok() {
        n += 1;
    }
    name(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn names_that_stay_below_a_folder() {
        for name in ["a.npy", "./a.npy", "kept/a.npy"] {
            assert!(stays_below(Path::new(name)), "{name}");
        }
        for name in ["/a.npy", "../a.npy", "kept/../../a.npy", "", ".", ".."] {
            assert!(!stays_below(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn regular_files_of_a_sane_size_are_read() {
        let folder = folder();
        let path = folder.path().join("a.h");
        fs::write(&path, "ten bytes.").unwrap();
        assert_eq!(read_regular(&path, 10).unwrap(), b"ten bytes.");
        assert_eq!(read_regular(&path, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_regular(folder.path(), 9).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let missing = read_regular(&folder.path().join("b.h"), 9).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(feature = "cli")]
    #[test]
    fn text_is_utf_8() {
        let folder = folder();
        let path = folder.path().join("a.h");
        fs::write(&path, "ten bytes.").unwrap();
        assert_eq!(read_regular_text(&path, 10).unwrap(), "ten bytes.");
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_regular_text(&path, 9).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn neither_a_pipe_nor_a_device_is_opened() {
        let folder = folder();
        let [pipe, link] = ["pipe", "link"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [&pipe, &link, Path::new("/dev/zero"), Path::new("/dev/null")] {
            let error = read_regular(path, SOURCE_LIMIT).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}: {error}", path.display());
        }
        // Its length is told as none, and it has more.
        let endless = read_regular(Path::new("/proc/self/status"), 16).unwrap_err();
        assert_eq!(endless.kind(), io::ErrorKind::FileTooLarge);
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

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_neither_followed_nor_replaced() {
        let folder = folder();
        let link = folder.path().join("a.npy");
        std::os::unix::fs::symlink("nowhere.npy", &link).unwrap();
        let error = replace(&link, "new").unwrap_err();
        assert_eq!(error.to_string(), "it is a symbolic link to a file that is not there");
        assert!(link.is_symlink() && fs::read_dir(folder.path()).unwrap().count() == 1);
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

    #[cfg(target_os = "linux")]
    #[test]
    fn what_only_the_system_forbids_to_write_is_not_replaced() {
        // A program that runs may not be written, whoever asks, although its permissions allow it.
        let program = std::env::current_exe().unwrap();
        assert!(!fs::metadata(&program).unwrap().permissions().readonly());
        let error = replaceable(&program).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ExecutableFileBusy);
    }

    #[cfg(feature = "cli")]
    #[test]
    fn a_new_file_never_replaces_one() {
        let folder = folder();
        let path = free_name(folder.path(), "particles", "cu");
        create(&path, "one").unwrap();
        assert_eq!(create(&path, "two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(
            free_name(folder.path(), "particles", "cu"),
            folder.path().join("particles-2.cu")
        );
        #[cfg(unix)]
        {
            let nowhere = folder.path().join("nowhere");
            std::os::unix::fs::symlink(nowhere, folder.path().join("particles-2.cu")).unwrap();
            let next = free_name(folder.path(), "particles", "cu");
            assert_eq!(next, folder.path().join("particles-3.cu"));
        }
    }
}

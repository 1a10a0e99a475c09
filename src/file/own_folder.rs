//! Folders that belong to one process as long as it lives.
//!
//! Beside each lies a file that its process keeps locked, and that the system unlocks even after a crash: so what an
//! ended process has left is told from what a running one is at. The file names its folder, so that nothing else is
//! taken for one of these.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::open_regular;

/// The ending of the files that are locked.
const LOCK: &str = "lock";

/// A folder of this process.
#[derive(Debug)]
pub(crate) struct OwnFolder {
    path: PathBuf,
    /// Locked as long as this lives.
    _lock: File,
}

/// What is known of the process to which a folder belongs.
#[derive(Debug)]
pub(crate) enum Owner {
    /// It runs.
    Running,
    /// It has ended; nobody else holds the folder while this lives.
    Ended {
        /// The lock, taken over.
        _lock: File,
    },
    /// There is nothing to be locked: the folder belongs to no process.
    Nobody,
    /// The system does not tell.
    Unknown,
}

impl OwnFolder {
    /// A new folder in `parent`, whose name begins with `prefix`; only this user may look into it.
    ///
    /// # Errors
    /// Whatever the system says about making it.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<Self> {
        let ending = format!(".{LOCK}");
        let mut named =
            tempfile::Builder::new().prefix(prefix).suffix(&ending).tempfile_in(parent)?;
        // Where the file system knows no locks, ended and running processes cannot be told apart: all are `Unknown`.
        if let Err(error) = named.as_file().try_lock() {
            tracing::debug!("{}: not locked: {error}", named.path().display());
        }
        let path = named.path().with_extension("");
        named.write_all(&mark_of(&path))?;
        // Folders come after their locks, so one that is not locked is not one of a running process.
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        match named.keep() {
            Ok((lock, _)) => Ok(Self { path, _lock: lock }),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                Err(error.error)
            }
        }
    }

    /// The one that an ended process has left at `path`.
    #[cfg(feature = "cli")]
    pub fn take_over(path: &Path) -> Option<Self> {
        match Self::owner(path) {
            Owner::Ended { _lock } if has_mark(path, &_lock) => {
                Some(Self { path: path.to_owned(), _lock })
            }
            Owner::Ended { .. } | Owner::Running | Owner::Nobody | Owner::Unknown => None,
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it with all that lies in it. What cannot be removed is left to [`OwnFolder::remove_left`].
    pub fn remove(&self) {
        remove(&self.path);
    }

    /// Removes those in `parent` whose names begin with `prefix` and whose processes have ended. Many files may take a
    /// disk minutes.
    pub fn remove_left(parent: &Path, prefix: &str) {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let is_one = entry.file_name().to_string_lossy().starts_with(prefix)
                && entry.file_type().is_ok_and(|kind| kind.is_dir());
            let path = entry.path();
            if is_one
                && let Owner::Ended { _lock } = Self::owner(&path)
                && has_mark(&path, &_lock)
            {
                remove(&path);
            }
        }
    }

    /// Whose `folder` is.
    pub fn owner(folder: &Path) -> Owner {
        let lock = match open_regular(&lock_of(folder)) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Owner::Nobody,
            Err(_) => return Owner::Unknown,
        };
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Owner::Running,
            Err(TryLockError::Error(_)) => Owner::Unknown,
            Ok(()) if has_same_user(folder, &lock) => Owner::Ended { _lock: lock },
            // A lock that somebody else has put beside a folder says nothing of it.
            Ok(()) => Owner::Unknown,
        }
    }

    /// Removes `folder` and its lock where nothing is in it any more.
    #[cfg(feature = "cli")]
    pub fn remove_empty(folder: &Path) {
        if fs::remove_dir(folder).is_ok() {
            let _ = fs::remove_file(lock_of(folder));
        }
    }
}

/// Removes a folder and its lock. What cannot be removed is looked at again next time, and is known by its lock.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_ok() {
        let _ = fs::remove_file(lock_of(folder));
    }
}

fn lock_of(folder: &Path) -> PathBuf {
    let mut path = folder.as_os_str().to_owned();
    path.push(".");
    path.push(LOCK);
    path.into()
}

/// What stands in the file beside `folder`.
fn mark_of(folder: &Path) -> Vec<u8> {
    let name = folder.file_name().unwrap_or_default().as_encoded_bytes();
    [b"warpaint's folder ", name, b" belongs to the process that locks this file.\n"].concat()
}

/// Whether `folder` is one of these for sure, and not one of somebody else with a file of that name beside it.
fn has_mark(folder: &Path, lock: &File) -> bool {
    let (mark, mut found) = (mark_of(folder), Vec::new());
    let is_read = lock.take(mark.len() as u64 + 1).read_to_end(&mut found).is_ok();
    is_read && found == mark
}

#[cfg(unix)]
fn has_same_user(folder: &Path, lock: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|metadata| metadata.uid());
    let of_lock = user(lock.metadata());
    of_lock.is_some() && of_lock == user(fs::symlink_metadata(folder))
}

#[cfg(not(unix))]
fn has_same_user(_: &Path, _: &File) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = "warpaint-test-";

    fn names(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn what_ended_processes_left_goes_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let [running, ended] = [(); 2].map(|()| OwnFolder::new(parent.path(), PREFIX).unwrap());
        for folder in [&running, &ended] {
            fs::create_dir(folder.path().join("below")).unwrap();
            fs::write(folder.path().join("below/file"), "").unwrap();
        }
        let others =
            ["other", "warpaint-test-build", "warpaint-test-notes", "warpaint-test-x.2026"];
        let others = others.map(|name| parent.path().join(name));
        for folder in &others {
            fs::create_dir(folder).unwrap();
        }
        // Locks of other programs: as `flock` leaves them, and one that names another folder.
        let locks = [parent.path().join("warpaint-test-build.lock"), lock_of(&others[3])];
        fs::write(&locks[0], "").unwrap();
        fs::write(&locks[1], mark_of(&others[2])).unwrap();
        let left = ended.path().to_owned();
        // As after a crash: the system unlocks, and nothing is removed.
        drop(ended);
        OwnFolder::remove_left(parent.path(), PREFIX);
        assert!(!left.exists() && !lock_of(&left).exists());
        assert!(running.path().join("below/file").exists() && others.iter().all(|o| o.exists()));
        running.remove();
        let (mut rest, mut expected) = (names(parent.path()), [&others[..], &locks[..]].concat());
        rest.sort();
        expected.sort();
        assert_eq!(rest, expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let (parent, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(other.path().join("file"), "").unwrap();
        let ended = OwnFolder::new(parent.path(), PREFIX).unwrap();
        fs::remove_dir(ended.path()).unwrap();
        std::os::unix::fs::symlink(other.path(), ended.path()).unwrap();
        drop(ended);
        OwnFolder::remove_left(parent.path(), PREFIX);
        assert!(other.path().join("file").exists());
    }
}

//! Files beside their targets for as long as their content is not complete.
//!
//! None is left behind: one that is given up goes when it is dropped, all of them go before the process is ended in a
//! hurry, and those of processes that were killed go when the next file is written in their folder. A process holds a
//! lock on each of its own, by which others know that it is alive: a number of a process would mean another one in
//! another container.

use std::{
    collections::BTreeSet,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tempfile::NamedTempFile;

use super::{age, open_regular, replaceable};

/// How the names of all drafts begin.
const PREFIX: &str = ".warpaint-draft-";
/// A draft is locked at once after it was made: one without a lock that is older has lost its process.
const UNLOCKED: Duration = Duration::from_secs(2);

/// A new file beside its target. It is gone when it is dropped before [`Draft::persist`].
#[derive(Debug)]
pub(crate) struct Draft {
    file: NamedTempFile,
    /// Dropped behind the file.
    _living: Living,
}

/// What the system says without the draft's path, which nobody asked for.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((said, _)) => io::Error::new(error.kind(), said.to_owned()),
        None => error,
    }
}

impl Draft {
    /// A draft beside `path`, with its ending, for content that comes bit by bit.
    ///
    /// # Errors
    /// Whatever the system says about writing there; those of what cannot be replaced.
    #[cfg(feature = "gl")]
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let (target, _) = replaceable(path)?;
        let ending = target.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
        Self::beside(&target, ending.as_deref().unwrap_or(".tmp"))
    }

    /// A draft in the folder of `path`, with this ending.
    pub(super) fn beside(path: &Path, ending: &str) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        clear_abandoned(folder);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(ending);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut living = living();
        let file = builder.tempfile_in(folder).map_err(without_path)?;
        if let Err(error) = file.as_file().try_lock() {
            // Then nobody else can lock it, either: it stays if this process is killed, and that is all.
            tracing::debug!("{} cannot be locked: {error}", file.path().display());
        }
        let path = file.path().to_owned();
        living.insert(path.clone());
        Ok(Self { file, _living: Living(path) })
    }

    /// Where it is.
    #[cfg(feature = "gl")]
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The open file.
    #[cfg(feature = "gl")]
    pub(crate) fn as_file(&self) -> &fs::File {
        self.file.as_file()
    }

    /// Puts the file, whose content is complete, in the place of `path`, with the permissions of what was there.
    ///
    /// # Errors
    /// Whatever the system says about it; what was there is there still.
    pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
        let (target, permissions) = replaceable(path)?;
        if let Some(permissions) = permissions {
            self.file.as_file().set_permissions(permissions)?;
        }
        self.file.as_file().sync_all()?;
        self.file.persist(target).map(drop).map_err(|error| error.error)
    }

    /// The same, where there is nothing at `path`.
    ///
    /// # Errors
    /// Whatever the system says about it, and `AlreadyExists`.
    #[cfg(feature = "cli")]
    pub(super) fn persist_new(self, path: &Path) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist_noclobber(path).map(drop).map_err(|error| error.error)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// That a draft of this process is there.
#[derive(Debug)]
struct Living(PathBuf);

impl Drop for Living {
    fn drop(&mut self) {
        living().remove(&self.0);
    }
}

/// The drafts of this process.
fn living() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static LIVING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the unfinished files of this process, which ends now: whoever makes another or gives one up waits for that
/// end. For a process that is ended without its values being dropped.
#[cfg(feature = "cli")]
pub fn clear_drafts() {
    super::claim::release_all();
    let living = living();
    for path in &*living {
        // What is not there any more was put in its place.
        let _ = fs::remove_file(path);
    }
    std::mem::forget(living);
}

/// Removes what killed processes left in `folder`; looked for once.
fn clear_abandoned(folder: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if !SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_draft = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_draft && is_abandoned(&entry.path()) {
            let removed = fs::remove_file(entry.path());
            tracing::debug!(
                "{}, of a process that was killed: {removed:?}",
                entry.path().display()
            );
        }
    }
}

fn is_abandoned(draft: &Path) -> bool {
    let Ok(file) = open_regular(draft) else { return false };
    let age = file.metadata().ok().and_then(|metadata| age(&metadata));
    age.is_some_and(|age| age > UNLOCKED) && file.try_lock().is_ok()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::file::replace;

    #[test]
    fn what_killed_processes_left_goes_and_what_living_ones_write_stays() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, age| {
            let path = folder.path().join(format!("{PREFIX}{name}"));
            let file = fs::File::create(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
            (path, file)
        };
        let ((killed, _), (young, _)) = (make("killed.gif", 60), make("young.gif", 0));
        // The clock was set back since.
        let (future, file) = make("future.gif", 0);
        file.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
        drop(file);
        let (living, lock) = make("living.gif", 60);
        lock.lock().unwrap();
        replace(&folder.path().join("a.png"), "content").unwrap();
        let there = [&killed, &future, &young, &living].map(|path| path.exists());
        assert_eq!(there, [false, false, true, true]);
    }

    #[test]
    fn a_draft_has_a_lock_and_goes_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let draft = Draft::beside(&folder.path().join("a.gif"), ".gif").unwrap();
        let path = draft.file.path().to_owned();
        assert!(fs::File::open(&path).unwrap().try_lock().is_err());
        assert!(living().contains(&path));
        drop(draft);
        assert!(!path.exists() && !living().contains(&path));
    }
}

//! Folders among the system's temporary files, each gone when it is no longer needed.

#[cfg(feature = "cli")]
use std::path::PathBuf;
use std::{env, io, path::Path, thread};

use super::OwnFolder;

/// How their names begin.
const PREFIX: &str = "warpaint-";

/// A folder whose name nobody can foresee, and into which nobody else may look. It is removed when this is dropped; at
/// the latest, where the process is killed, when a process makes another one.
#[derive(Debug)]
pub(crate) struct TemporaryFolder(OwnFolder);

impl TemporaryFolder {
    /// A new one; its name says `what` is in it. Others that processes have left behind are removed beside.
    ///
    /// # Errors
    /// Whatever the system says about making it.
    pub fn new(what: &str) -> io::Result<Self> {
        let temporary = env::temp_dir();
        let own = OwnFolder::new(&temporary, &format!("{PREFIX}{what}-"))?;
        // Many files may take a disk minutes. What it does not come to, or all without a thread, is there the next
        // time.
        let sweep = move || OwnFolder::remove_left(&temporary, PREFIX);
        _ = thread::Builder::new().name("left files".into()).spawn(sweep);
        Ok(Self(own))
    }

    /// The one that an ended process has [left](Self::leave) at `path`.
    #[cfg(feature = "cli")]
    pub fn take_over(path: &Path) -> Option<Self> {
        OwnFolder::take_over(path).map(Self)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Leaves it to the process that comes after this one. It is this one's until that ends.
    #[cfg(feature = "cli")]
    pub fn leave(self) -> PathBuf {
        let path = self.path().to_owned();
        std::mem::forget(self);
        path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        self.0.remove();
    }
}

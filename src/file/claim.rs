//! Names that are taken before there is content for them.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::create;

/// A name that is taken by an empty file, whose place the content takes, or by an empty folder. It is free again when
/// nothing has come of it: when this is dropped, or before the process is ended in a hurry.
#[derive(Debug)]
pub(crate) struct Claim(Kind);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    File(PathBuf),
    Folder(PathBuf),
}

impl Claim {
    /// Takes the name of a file.
    ///
    /// # Errors
    /// As those of [`create`].
    pub(crate) fn file(path: PathBuf) -> io::Result<Self> {
        let mut claimed = claimed();
        create(&path, "")?;
        Ok(Self::note(&mut claimed, Kind::File(path)))
    }

    /// Takes the name of a folder.
    ///
    /// # Errors
    /// Whatever the system says about making it, and `AlreadyExists`.
    pub(crate) fn folder(path: PathBuf) -> io::Result<Self> {
        let mut claimed = claimed();
        fs::create_dir(&path)?;
        Ok(Self::note(&mut claimed, Kind::Folder(path)))
    }

    fn note(claimed: &mut BTreeSet<Kind>, kind: Kind) -> Self {
        claimed.insert(kind.clone());
        Self(kind)
    }

    /// What has the name.
    pub(crate) fn path(&self) -> &Path {
        match &self.0 {
            Kind::File(path) | Kind::Folder(path) => path,
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claimed = claimed();
        claimed.remove(&self.0);
        self.0.release();
    }
}

impl Kind {
    /// Gives the name back, where nothing has come of it.
    fn release(&self) {
        let released = match self {
            Self::File(path) => match fs::metadata(path) {
                Ok(there) if there.len() == 0 => fs::remove_file(path),
                Ok(_) | Err(_) => Ok(()),
            },
            // Only an empty folder goes.
            Self::Folder(path) => match fs::remove_dir(path) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
                removed => removed,
            },
        };
        if let Err(error) = released {
            tracing::debug!("{self:?} stays: {error}");
        }
    }
}

/// The names that this process has taken.
fn claimed() -> MutexGuard<'static, BTreeSet<Kind>> {
    static CLAIMED: Mutex<BTreeSet<Kind>> = Mutex::new(BTreeSet::new());
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives back the names of which nothing has come. For a process that ends now: whoever takes another waits for that.
pub(super) fn release_all() {
    let claimed = claimed();
    claimed.iter().for_each(Kind::release);
    std::mem::forget(claimed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_free_again_where_nothing_came_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let claims = [
            Claim::file(at("a")).unwrap(),
            Claim::file(at("b")).unwrap(),
            Claim::folder(at("c")).unwrap(),
            Claim::folder(at("d")).unwrap(),
        ];
        assert_eq!(Claim::file(at("a")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(Claim::folder(at("d")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        fs::write(claims[1].path(), "content").unwrap();
        fs::write(claims[3].path().join("1.png"), "content").unwrap();
        drop(claims);
        let there = ["a", "b", "c", "d"].map(|name| at(name).exists());
        assert_eq!(there, [false, true, false, true]);
    }
}

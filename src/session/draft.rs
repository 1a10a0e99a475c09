//! A manifest for a file that has none, with the files that it includes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::Session;
use crate::{file, scene};

impl Session {
    /// A manifest for `source`, the text of the file at `path`, which has none: it may include files of its folder and
    /// of those that the session was [opened](super::Options::overrides) with. Any thread may make it: a long text
    /// takes its time.
    pub fn draft(&self, path: &Path, source: String) -> impl FnOnce() -> String + Send + use<> {
        let (path, folders) = (path.to_owned(), self.options.overrides.include_dirs.clone());
        move || draft_of(&path, &source, &folders)
    }
}

/// A manifest for `source`, the text of the file at `path`, which may include files of its folder and of `folders`.
pub(crate) fn draft_of(path: &Path, source: &str, folders: &[PathBuf]) -> String {
    scene::draft_beside(&path.display().to_string(), source, &mut includes(path, folders))
}

/// The instances of templates that the host code of such a file launches.
pub(super) fn instances_of(path: &Path, source: &str, folders: &[PathBuf]) -> Vec<String> {
    scene::instances_beside(&path.display().to_string(), source, &mut includes(path, folders))
}

/// Finds the files that one at `path` includes.
fn includes(
    path: &Path,
    folders: &[PathBuf],
) -> impl FnMut(&str, &str) -> Option<(String, String)> + use<> {
    let own = path.parent().map(Path::to_owned).into_iter();
    let folders: Vec<PathBuf> = own.chain(folders.iter().cloned()).collect();
    // Where the files are that others are included from: a name may not tell it.
    let mut paths = BTreeMap::from([(path.display().to_string(), path.to_owned())]);
    move |from, included| {
        let (path, text) = find(paths.get(from)?, included, &folders)?;
        let name = path.display().to_string();
        paths.insert(name.clone(), path);
        Some((name, text))
    }
}

/// The file that one at `from` includes, if it lies below one of `folders`.
fn find(from: &Path, included: &str, folders: &[PathBuf]) -> Option<(PathBuf, String)> {
    let real = |path: &Path| {
        // The empty path is the folder in which the program runs.
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        path.canonicalize().ok()
    };
    let allowed: Vec<PathBuf> = folders.iter().filter_map(|folder| real(folder)).collect();
    let beside = from.parent().into_iter().chain(folders.iter().map(PathBuf::as_path));
    let mut found = beside.filter_map(|folder| real(&folder.join(included)));
    let path = found.find(|path| allowed.iter().any(|folder| path.starts_with(folder)))?;
    let bytes = file::read_regular(&path, file::SOURCE_LIMIT).ok()?;
    Some((path, String::from_utf8_lossy(&bytes).into_owned()))
}

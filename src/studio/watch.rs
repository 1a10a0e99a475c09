//! Changes that another program makes to the open file, and to those that it includes.
//!
//! Editors replace a file by renaming another one over it, so folders are watched and not files; what a change of the
//! open file means is [`super::document::Document::on_disk`]'s decision.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::document::Document;
use crate::file;

/// Watches one file, and those that it includes.
pub struct FileWatch {
    path: PathBuf,
    folders: BTreeSet<PathBuf>,
    /// As they were named, and where they are.
    included: (Vec<PathBuf>, Arc<Mutex<BTreeSet<PathBuf>>>),
    changes: Receiver<()>,
    changes_of_included: Receiver<()>,
    watcher: RecommendedWatcher,
}

impl FileWatch {
    /// Watches `path`; `wake` is called, on another thread, at each change.
    ///
    /// # Errors
    /// When the folder does not exist, or the system has no watch left.
    pub fn new(path: &Path, wake: impl Fn() + Send + 'static) -> notify::Result<Self> {
        let path = std::fs::canonicalize(path)?;
        let folder = path.parent().unwrap_or(&path).to_owned();
        let (sender, changes) = mpsc::channel();
        let (sender_of_included, changes_of_included) = mpsc::channel();
        let included = Arc::<Mutex<BTreeSet<PathBuf>>>::default();
        let (scene, others) = (path.clone(), included.clone());
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let Some(event) = event.ok().filter(|event| !event.kind.is_access()) else {
                    return;
                };
                let others = others.lock().unwrap_or_else(PoisonError::into_inner);
                let ours = event.paths.contains(&scene) && sender.send(()).is_ok();
                let theirs = event.paths.iter().any(|path| others.contains(path))
                    && sender_of_included.send(()).is_ok();
                if ours || theirs {
                    wake();
                }
            })?;
        watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        let (folders, included) = (BTreeSet::from([folder]), (Vec::new(), included));
        Ok(Self { path, folders, included, changes, changes_of_included, watcher })
    }

    /// From now on watches `included`, too, instead of those named before. Files in folders that are not there, or that
    /// cannot be watched, are left out.
    pub fn follow(&mut self, included: &[PathBuf]) {
        if self.included.0 == included {
            return;
        }
        let places: BTreeSet<PathBuf> = included.iter().filter_map(|path| place(path)).collect();
        for folder in places.iter().filter_map(|place| place.parent()) {
            if !self.folders.contains(folder) {
                match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                    Ok(()) => _ = self.folders.insert(folder.to_owned()),
                    Err(error) => tracing::warn!("{}: not watched: {error}", folder.display()),
                }
            }
        }
        self.included.0 = included.to_vec();
        *self.included.1.lock().unwrap_or_else(PoisonError::into_inner) = places;
    }

    /// The file's text, or why it cannot be read, if it may have changed since the last call.
    ///
    /// A file may be gone for a moment, as between an editor's two renames; its return is a change of its own.
    pub fn poll(&self) -> Option<io::Result<String>> {
        self.changes.try_iter().last()?;
        Some(file::read_regular_text(&self.path, Document::LARGEST))
    }

    /// Whether the file is gone from the disk.
    pub fn is_gone(&self) -> bool {
        let found = self.path.symlink_metadata();
        found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Whether a file that it includes may have changed since the last call.
    pub fn poll_included(&self) -> bool {
        self.changes_of_included.try_iter().last().is_some()
    }
}

/// Where events say that a file is, be it there or not; `None` where not even its folder is.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
    Some(folder.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, sync::mpsc::Sender, time::Duration};

    /// A watched file, and a receiver that hears every wake.
    fn watched(folder: &Path) -> (PathBuf, FileWatch, Receiver<()>) {
        let path = folder.join("a.cu");
        fs::write(&path, "old").unwrap();
        let (sender, woken): (Sender<()>, _) = mpsc::channel();
        let watch = FileWatch::new(&path, move || sender.send(()).unwrap_or(())).unwrap();
        (path, watch, woken)
    }

    /// Polls until the file's text is `expected`.
    fn wait_for(watch: &FileWatch, woken: &Receiver<()>, expected: &str) {
        loop {
            woken.recv_timeout(Duration::from_secs(20)).expect("a wake for each change");
            if watch.poll().and_then(io::Result::ok).as_deref() == Some(expected) {
                return;
            }
        }
    }

    #[test]
    fn a_write_in_place_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (path, watch, woken) = watched(folder.path());
        assert!(watch.poll().is_none());
        fs::write(&path, "new").unwrap();
        wait_for(&watch, &woken, "new");
    }

    #[test]
    fn a_rename_over_the_file_is_seen_and_so_is_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let (path, watch, woken) = watched(folder.path());
        for text in ["first", "second"] {
            let other = folder.path().join("other");
            fs::write(&other, text).unwrap();
            fs::rename(&other, &path).unwrap();
            wait_for(&watch, &woken, text);
        }
    }

    #[test]
    fn other_files_in_the_folder_are_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let (path, watch, woken) = watched(folder.path());
        fs::write(folder.path().join("b.cu"), "other").unwrap();
        fs::write(&path, "new").unwrap();
        wait_for(&watch, &woken, "new");
    }

    #[test]
    fn files_that_are_included_are_watched_wherever_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (_, mut watch, woken) = watched(folder.path());
        fs::create_dir(folder.path().join("lib")).unwrap();
        let beside = folder.path().join("beside.cuh");
        let below = folder.path().join("lib/below.cuh");
        let nowhere = folder.path().join("nowhere/x.cuh");
        watch.follow(&[beside.clone(), below.clone(), nowhere]);
        for path in [beside, below] {
            fs::write(&path, "anything").unwrap();
            woken.recv_timeout(Duration::from_secs(20)).expect("a wake for each change");
            assert!(watch.poll_included());
            assert!(watch.poll().is_none(), "the scene itself is as it was");
            // Creating and writing may be several changes.
            std::thread::sleep(Duration::from_millis(50));
            while woken.try_recv().is_ok() {}
            watch.poll_included();
        }
        watch.follow(&[]);
        fs::write(folder.path().join("beside.cuh"), "no longer included").unwrap();
        fs::write(folder.path().join("a.cu"), "new").unwrap();
        wait_for(&watch, &woken, "new");
        assert!(!watch.poll_included());
    }
}

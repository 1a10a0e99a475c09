//! Changes that another program makes to the open file.
//!
//! Editors replace a file by renaming another one over it, so the folder is watched and not the file; what
//! the change means is [`super::document::Document::on_disk`]'s decision.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver},
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

/// Watches one file.
pub struct FileWatch {
    path: PathBuf,
    changes: Receiver<()>,
    _watcher: RecommendedWatcher,
}

impl FileWatch {
    /// Watches `path`; `wake` is called, on another thread, at each change.
    ///
    /// # Errors
    /// When the folder does not exist, or the system has no watch left.
    pub fn new(path: &Path, wake: impl Fn() + Send + 'static) -> notify::Result<Self> {
        let path = std::fs::canonicalize(path)?;
        let folder = path.parent().unwrap_or(&path).to_owned();
        let name = path.file_name().map(ToOwned::to_owned);
        let (sender, changes) = mpsc::channel();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let ours = event.is_ok_and(|event| {
                    !event.kind.is_access()
                        && event.paths.iter().any(|path| path.file_name() == name.as_deref())
                });
                if ours && sender.send(()).is_ok() {
                    wake();
                }
            })?;
        watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        Ok(Self { path, changes, _watcher: watcher })
    }

    /// The file's text, if it may have changed since the last call and can be read.
    ///
    /// A file that is gone for a moment, as between an editor's two renames, is none; its return is a
    /// change of its own.
    pub fn poll(&self) -> Option<String> {
        self.changes.try_iter().last()?;
        std::fs::read_to_string(&self.path).ok()
    }
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
            if watch.poll().as_deref() == Some(expected) {
                return;
            }
        }
    }

    #[test]
    fn a_write_in_place_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (path, watch, woken) = watched(folder.path());
        assert_eq!(watch.poll(), None);
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
}

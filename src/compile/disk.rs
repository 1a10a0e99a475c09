//! The cache's folder: one file an entry, shared by all processes of a user.
//!
//! A file appears whole or not at all (written beside and renamed), and is checked when it is read. The
//! least recently used files go when all together are too large: a hit sets its file's time.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::entry::{Entry, Key};
use crate::file;

/// What entries' names end with.
const EXTENSION: &str = "ptxc";

/// What names of unfinished files start with.
const UNFINISHED: &str = ".unfinished-";

/// No entry has more, in bytes: a larger file is not read.
const ENTRY_LIMIT: u64 = 256 << 20;

/// An unfinished file of this age was left by a process that is no more.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// A folder of entries.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    limit_bytes: u64,
    /// Written since the folder was last measured; enough at first for the first write to measure.
    unmeasured_bytes: AtomicU64,
    warned: AtomicBool,
    problem: std::sync::Mutex<Option<String>>,
}

impl Folder {
    pub(super) fn new(path: PathBuf, limit_bytes: u64) -> Self {
        Self {
            path,
            limit_bytes,
            unmeasured_bytes: AtomicU64::new(limit_bytes / 16),
            warned: AtomicBool::new(false),
            problem: std::sync::Mutex::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Why the folder could not be written to, if ever it could not.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    fn file(&self, key: Key) -> PathBuf {
        self.path.join(format!("{key}.{EXTENSION}"))
    }

    /// The entry, if it is there and whole; a damaged file is removed.
    pub(super) fn read(&self, key: Key) -> Option<Entry> {
        let path = self.file(key);
        let bytes = match file::read_regular(&path, ENTRY_LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            // What is no file of ours is damaged like any other.
            Err(_) => Vec::new(),
        };
        let Some(entry) = Entry::decode(&bytes, key) else {
            tracing::debug!(file = %path.display(), "a damaged cache entry is ignored");
            // Where it cannot be removed, the next write replaces it.
            drop(fs::remove_file(&path));
            return None;
        };
        // Its place in the queue; where the time cannot be set it goes earlier than it might.
        drop(File::open(&path).and_then(|file| file.set_modified(SystemTime::now())));
        Some(entry)
    }

    /// Writes the entry, or warns once and goes on without.
    pub(super) fn write(&self, key: Key, entry: &Entry) {
        self.write_with(key, &entry.encode(key), &mut |file, bytes| file.write_all(bytes));
    }

    /// [`Folder::write`], with the step that a full disk makes fail as an argument.
    fn write_with(
        &self,
        key: Key,
        bytes: &[u8],
        write: &mut dyn FnMut(&mut File, &[u8]) -> io::Result<()>,
    ) {
        match self.try_write(key, bytes, write) {
            Ok(()) => self.account(bytes.len() as u64),
            Err(error) => self.warn(&error),
        }
    }

    fn try_write(
        &self,
        key: Key,
        bytes: &[u8],
        write: &mut dyn FnMut(&mut File, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        let mut unfinished = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.path)?;
        write(unfinished.as_file_mut(), bytes)?;
        unfinished.persist(self.file(key)).map_err(|error| error.error)?;
        Ok(())
    }

    fn warn(&self, error: &io::Error) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            let path = self.path.display();
            let problem =
                format!("the compile cache {path} cannot be written ({error}); working without it");
            tracing::warn!("{problem}");
            *self.problem.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(problem);
        }
    }

    /// Measures the folder after every sixteenth of the limit written.
    fn account(&self, bytes: u64) {
        let unmeasured = self.unmeasured_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if unmeasured >= self.limit_bytes / 16 {
            self.unmeasured_bytes.store(0, Ordering::Relaxed);
            self.trim();
        }
    }

    /// Removes what is too much, and what crashed processes left.
    fn trim(&self) {
        let mut files = self.files();
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        if total > self.limit_bytes {
            files.sort_by_key(|file| file.modified);
            // A little more than needed, so that the next write need not trim again.
            for file in files {
                if total <= self.limit_bytes / 8 * 7 {
                    break;
                }
                if fs::remove_file(&file.path).is_ok() {
                    total -= file.bytes;
                }
            }
        }
        for path in self.named(|name| name.starts_with(UNFINISHED)) {
            let age = fs::metadata(&path).ok().and_then(|metadata| file::age(&metadata));
            if age.is_some_and(|age| age > ABANDONED_AFTER) {
                drop(fs::remove_file(path));
            }
        }
    }

    /// All entries together, in bytes.
    pub(super) fn size(&self) -> u64 {
        self.files().iter().map(|file| file.bytes).sum()
    }

    /// Removes all entries, and nothing else that may lie there.
    pub(super) fn clear(&self) -> io::Result<()> {
        for path in self.named(|name| is_entry(name) || name.starts_with(UNFINISHED)) {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => (),
            }
        }
        Ok(())
    }

    fn files(&self) -> Vec<EntryFile> {
        let paths = self.named(is_entry).into_iter();
        let found = paths.filter_map(|path| {
            let metadata = fs::metadata(&path).ok()?;
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            Some(EntryFile { path, bytes: metadata.len(), modified })
        });
        found.collect()
    }

    fn named(&self, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().filter_map(Result::ok);
        let entries = entries.filter(|entry| entry.file_name().to_str().is_some_and(&wanted));
        entries.map(|entry| entry.path()).collect()
    }
}

/// Whether a file of this name is ours: 64 hexadecimal digits and our extension.
fn is_entry(name: &str) -> bool {
    let stem = name.strip_suffix(EXTENSION).and_then(|stem| stem.strip_suffix('.'));
    stem.is_some_and(|stem| stem.len() == 64 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

struct EntryFile {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::entry::example;

    fn key(number: u8) -> Key {
        Key([number; 32])
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_damaged_entry_is_ignored_removed_and_rewritten() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::new(temp.path().join("deep/cache"), 1 << 20);
        let entry = example("ptx");
        folder.write(key(1), &entry);
        assert_eq!(folder.read(key(1)), Some(entry.clone()));
        let file = folder.file(key(1));
        for damage in [&b""[..], b"WARPTX", &[0; 500]] {
            fs::write(&file, damage).unwrap();
            assert_eq!(folder.read(key(1)), None);
            assert!(!file.exists());
            folder.write(key(1), &entry);
            assert_eq!(folder.read(key(1)), Some(entry.clone()));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_entry_that_is_a_pipe_or_a_device_is_a_damaged_one() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::new(temp.path().to_owned(), 1 << 20);
        let (file, entry) = (folder.file(key(1)), example("ptx"));
        let pipe = |path: &Path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        };
        let link = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        let make: [&dyn Fn(&Path); 2] = [&pipe, &link];
        for make in make {
            make(&file);
            assert_eq!(folder.read(key(1)), None);
            assert!(!file.exists());
            folder.write(key(1), &entry);
            assert_eq!(folder.read(key(1)), Some(entry.clone()));
            fs::remove_file(&file).unwrap();
        }
    }

    #[test]
    fn a_full_disk_leaves_no_trace_and_one_warning() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::new(temp.path().to_owned(), 1 << 20);
        let bytes = example("ptx").encode(key(1));
        let mut writes = 0;
        for _ in 0..2 {
            folder.write_with(key(1), &bytes, &mut |file, bytes| {
                writes += 1;
                file.write_all(&bytes[..20])?;
                Err(io::Error::from(io::ErrorKind::StorageFull))
            });
        }
        assert_eq!(writes, 2);
        assert!(names(temp.path()).is_empty());
        let problem = folder.problem().unwrap();
        assert!(problem.contains("no storage space"), "{problem}");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_done_without() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        let folder = Folder::new(file.join("cache"), 1 << 20);
        folder.write(key(1), &example("ptx"));
        assert_eq!(folder.read(key(1)), None);
        assert!(folder.problem().unwrap().contains("working without it"));
        assert_eq!(folder.size(), 0);
        folder.clear().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_read_only_folder_still_answers() {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::new(temp.path().to_owned(), 1 << 20);
        folder.write(key(1), &example("one"));
        fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o555)).unwrap();
        // To root nothing is read-only.
        let is_enforced = File::create(temp.path().join("probe")).is_err();
        folder.write(key(2), &example("two"));
        assert!(folder.read(key(1)).is_some());
        assert_eq!(folder.problem().is_some(), is_enforced);
        fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let temp = tempfile::tempdir().unwrap();
        let bytes = example(&"x".repeat(1000)).encode(key(0)).len() as u64;
        let folder = Folder::new(temp.path().to_owned(), 8 * bytes);
        let now = SystemTime::now();
        for number in 0..8 {
            folder.write(key(number), &example(&"x".repeat(1000)));
            let file = File::open(folder.file(key(number))).unwrap();
            let age = Duration::from_secs(1000 - u64::from(number));
            file.set_modified(now - age).unwrap();
        }
        assert!(folder.read(key(0)).is_some(), "used: now the youngest");
        fs::write(temp.path().join("someone-else's"), "x").unwrap();
        folder.write(key(8), &example(&"x".repeat(1000)));
        let left: Vec<u8> = (0..9).filter(|number| folder.file(key(*number)).exists()).collect();
        assert_eq!(left, [0, 3, 4, 5, 6, 7, 8]);
        assert_eq!(folder.size(), 7 * bytes);
        folder.clear().unwrap();
        assert_eq!(names(temp.path()), ["someone-else's"]);
    }

    #[test]
    fn a_limit_may_be_as_large_as_a_number_can_be() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::new(temp.path().to_owned(), u64::MAX);
        folder.write(key(1), &example("x"));
        folder.write(key(2), &example("x"));
        assert_eq!(names(temp.path()).len(), 2);
    }

    #[test]
    fn abandoned_files_are_swept() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::new(temp.path().to_owned(), 1 << 20);
        let [old, new] = ["old", "new"].map(|name| temp.path().join(format!("{UNFINISHED}{name}")));
        for path in [&old, &new] {
            fs::write(path, "x").unwrap();
        }
        let day_ago = SystemTime::now() - Duration::from_secs(86400);
        File::options().write(true).open(&old).unwrap().set_modified(day_ago).unwrap();
        folder.write(key(1), &example("x"));
        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn writers_and_readers_never_see_half_an_entry() {
        let temp = tempfile::tempdir().unwrap();
        let entry = example(&"y".repeat(100_000));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    // Each its own folder value, as each process has.
                    let folder = Folder::new(temp.path().to_owned(), 1 << 20);
                    for _ in 0..50 {
                        folder.write(key(3), &entry);
                        assert_eq!(folder.read(key(3)).as_ref(), Some(&entry));
                    }
                });
            }
        });
        assert_eq!(names(temp.path()).len(), 1);
    }
}

//! What was compiled before: in memory, and in a folder that all processes of a user share.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::discovery::Toolchain;
use super::disk::Folder;
use super::entry::{Entry, Key};
use super::precompiled;
use super::recent::Recent;
use super::request::Request;

/// The folder's size where nothing else is said, in bytes.
const FOLDER_LIMIT_BYTES: u64 = 256 << 20;

/// The memory layer's size, in bytes.
const MEMORY_LIMIT_BYTES: usize = 64 << 20;

/// A cache of compiled kernels; clones share it.
///
/// Nothing that goes wrong with the folder (read-only, full, damaged) stops a compilation: it is then done
/// without, and [`Cache::problem`] says so.
///
/// ```
/// use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
///
/// let compiler = Compiler::new(Cache::memory());
/// let request = Request::new("k.cu", "__global__ void k() {}", Target::CPU);
/// for known in [false, true] {
///     let Outcome::Compiled(compiled) = compiler.compile(&request)? else { panic!("it is correct") };
///     assert_eq!(compiled.cached, known);
/// }
/// # Ok::<(), warpaint::compile::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cache {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: Option<Folder>,
    /// `None` for a cache that keeps nothing at all.
    memory: Option<Mutex<Memory>>,
}

impl Cache {
    /// The user's cache: the folder in `WARPAINT_CACHE` (memory alone where that is set and empty), else
    /// `warpaint/ptx` in the XDG cache folder.
    pub fn user() -> Self {
        match std::env::var_os("WARPAINT_CACHE") {
            Some(value) if value.is_empty() => Self::memory(),
            Some(value) => Self::open(value),
            None => match directories::ProjectDirs::from("", "", "warpaint") {
                Some(dirs) => Self::open(dirs.cache_dir().join("ptx")),
                None => Self::memory(),
            },
        }
    }

    /// A cache in `folder`, which need not exist yet, of at most 256 MiB.
    ///
    /// ```
    /// # use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path().join("cache");
    /// let request = Request::new("k.cu", "__global__ void k() {}", Target::CPU);
    /// Compiler::new(Cache::open(&folder)).compile(&request)?;
    /// // Another compiler, as of another process, finds it there.
    /// let Outcome::Compiled(found) = Compiler::new(Cache::open(&folder)).compile(&request)? else { panic!() };
    /// assert!(found.cached);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        Self::with_limit(folder, FOLDER_LIMIT_BYTES)
    }

    /// A cache in `folder` of at most about `limit_bytes`: the least recently used entries go first.
    ///
    /// ```
    /// # use warpaint::compile::{Cache, Compiler, Request, Target};
    /// # let folder = tempfile::tempdir()?;
    /// let compiler = Compiler::new(Cache::with_limit(folder.path(), 3_000));
    /// for n in 0..5 {
    ///     let source = format!("__global__ void k(int *x) {{ *x = {n}; }}");
    ///     compiler.compile(&Request::new("k.cu", source, Target::CPU))?;
    /// }
    /// assert!((1..=3_000).contains(&compiler.cache().size()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_limit(folder: impl Into<PathBuf>, limit_bytes: u64) -> Self {
        Self::from_layers(Some(Folder::new(folder.into(), limit_bytes)), true)
    }

    /// A cache that ends with the process.
    ///
    /// ```
    /// # use warpaint::compile::{Cache, Compiler, Request, Target};
    /// let compiler = Compiler::new(Cache::memory());
    /// compiler.compile(&Request::new("k.cu", "__global__ void k() {}", Target::CPU))?;
    /// assert_eq!((compiler.cache().path(), compiler.cache().size()), (None, 0)); // no files
    /// # Ok::<(), warpaint::compile::Error>(())
    /// ```
    pub fn memory() -> Self {
        Self::from_layers(None, true)
    }

    /// A cache that keeps nothing.
    ///
    /// ```
    /// # use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
    /// let compiler = Compiler::new(Cache::disabled());
    /// let request = Request::new("k.cu", "__global__ void k() {}", Target::CPU);
    /// compiler.compile(&request)?;
    /// let Outcome::Compiled(again) = compiler.compile(&request)? else { panic!("it is correct") };
    /// assert!(!again.cached);
    /// # Ok::<(), warpaint::compile::Error>(())
    /// ```
    pub fn disabled() -> Self {
        Self::from_layers(None, false)
    }

    fn from_layers(folder: Option<Folder>, with_memory: bool) -> Self {
        let memory = with_memory.then(Mutex::default);
        Self { shared: Arc::new(Shared { folder, memory }) }
    }

    /// The folder, where there is one.
    pub fn path(&self) -> Option<&Path> {
        self.shared.folder.as_ref().map(Folder::path)
    }

    /// The size of all entries and precompiled headers in the folder, in bytes.
    pub fn size(&self) -> u64 {
        self.shared.folder.as_ref().map_or(0, |f| f.size() + precompiled::size(f.path()))
    }

    /// Forgets everything, in memory and in the folder; files that are not ours stay, and precompiled headers of
    /// processes that run.
    ///
    /// ```
    /// # use warpaint::compile::{Cache, Compiler, Request, Target};
    /// # let folder = tempfile::tempdir()?;
    /// let cache = Cache::open(folder.path());
    /// let compiler = Compiler::new(cache.clone());
    /// compiler.compile(&Request::new("k.cu", "__global__ void k() {}", Target::CPU))?;
    /// std::fs::write(folder.path().join("notes.txt"), "not the cache's")?;
    /// assert!(cache.size() > 0);
    /// cache.clear()?;
    /// assert_eq!(cache.size(), 0);
    /// assert!(folder.path().join("notes.txt").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where a file in the folder cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        if let Some(mut memory) = self.lock_memory() {
            *memory = Memory::default();
        }
        let Some(folder) = &self.shared.folder else { return Ok(()) };
        folder.clear()?;
        precompiled::clear(folder.path())
    }

    /// Why the folder could not be written to, in one sentence, if ever it could not.
    ///
    /// ```
    /// # use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
    /// # let file = tempfile::NamedTempFile::new()?;
    /// let cache = Cache::open(file.path().join("below-a-file"));
    /// let compiler = Compiler::new(cache.clone());
    /// let outcome = compiler.compile(&Request::new("k.cu", "__global__ void k() {}", Target::CPU))?;
    /// assert!(matches!(outcome, Outcome::Compiled(_)));
    /// assert!(cache.problem().is_some_and(|problem| problem.ends_with("working without it")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn problem(&self) -> Option<String> {
        self.shared.folder.as_ref().and_then(Folder::problem)
    }

    /// The entry for a request that was [kept for recall](Self::keep_for_recall), without a look at any file.
    pub(super) fn recall(
        &self,
        request: &Request,
        toolchain: &Arc<Toolchain>,
    ) -> Option<Arc<Entry>> {
        self.lock_memory()?.recent.find(request, toolchain)
    }

    /// Keeps the entry for [`recall`](Self::recall): the request alone must decide what it is.
    pub(super) fn keep_for_recall(
        &self,
        request: &Request,
        toolchain: &Arc<Toolchain>,
        entry: &Arc<Entry>,
    ) {
        if let Some(mut memory) = self.lock_memory() {
            memory.recent.keep(request, toolchain, entry);
        }
    }

    pub(super) fn get(&self, key: Key) -> Option<Arc<Entry>> {
        if let Some(entry) = self.lock_memory().and_then(|mut memory| memory.get(key)) {
            return Some(entry);
        }
        let entry = Arc::new(self.shared.folder.as_ref()?.read(key)?);
        self.remember(key, entry.clone());
        Some(entry)
    }

    pub(super) fn insert(&self, key: Key, entry: Entry) -> Arc<Entry> {
        if let Some(folder) = &self.shared.folder {
            folder.write(key, &entry);
        }
        let entry = Arc::new(entry);
        self.remember(key, entry.clone());
        entry
    }

    fn remember(&self, key: Key, entry: Arc<Entry>) {
        if let Some(mut memory) = self.lock_memory() {
            memory.insert(key, entry, MEMORY_LIMIT_BYTES);
        }
    }

    fn lock_memory(&self) -> Option<MutexGuard<'_, Memory>> {
        Some(self.shared.memory.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Entries by key, each with the turn of its last use.
#[derive(Debug, Default)]
struct Memory {
    entries: HashMap<Key, (Arc<Entry>, u64)>,
    bytes: usize,
    turn: u64,
    recent: Recent,
}

impl Memory {
    fn get(&mut self, key: Key) -> Option<Arc<Entry>> {
        let (entry, last_used) = self.entries.get_mut(&key)?;
        self.turn += 1;
        *last_used = self.turn;
        Some(entry.clone())
    }

    fn insert(&mut self, key: Key, entry: Arc<Entry>, limit_bytes: usize) {
        self.turn += 1;
        self.bytes += entry.bytes();
        if let Some((old, _)) = self.entries.insert(key, (entry, self.turn)) {
            self.bytes -= old.bytes();
        }
        while self.bytes > limit_bytes && self.entries.len() > 1 {
            self.remove_oldest();
        }
    }

    fn remove_oldest(&mut self) {
        let oldest = self.entries.iter().min_by_key(|(_, (_, last_used))| *last_used);
        if let Some(key) = oldest.map(|(key, _)| *key)
            && let Some((entry, _)) = self.entries.remove(&key)
        {
            self.bytes -= entry.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::entry::example;

    const KEY: Key = Key([1; 32]);

    #[test]
    fn a_second_process_finds_what_the_first_wrote() {
        let temp = tempfile::tempdir().unwrap();
        let first = Cache::open(temp.path());
        first.insert(KEY, example("ptx"));
        assert!(first.size() > 0);
        let second = Cache::open(temp.path());
        assert_eq!(*second.get(KEY).unwrap(), example("ptx"));
        second.clear().unwrap();
        assert_eq!((second.get(KEY), second.size()), (None, 0));
        assert!(first.get(KEY).is_some(), "still in the first one's memory");
    }

    #[test]
    fn disabled_keeps_nothing_and_memory_no_files() {
        let disabled = Cache::disabled();
        disabled.insert(KEY, example("ptx"));
        assert_eq!(disabled.get(KEY), None);
        let memory = Cache::memory();
        memory.insert(KEY, example("ptx"));
        assert!(memory.get(KEY).is_some());
        assert_eq!((memory.path(), memory.size(), memory.problem()), (None, 0, None));
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_only_the_disk_layer() {
        let temp = tempfile::NamedTempFile::new().unwrap();
        let cache = Cache::open(temp.path().join("below-a-file"));
        cache.insert(KEY, example("ptx"));
        assert!(cache.get(KEY).is_some());
        assert!(cache.problem().is_some());
    }

    #[test]
    fn memory_forgets_the_least_recently_used() {
        let mut memory = Memory::default();
        let entry = Arc::new(example(&"x".repeat(1000)));
        let limit = 3 * entry.bytes();
        let keys = [1, 2, 3, 4].map(|number| Key([number; 32]));
        for key in &keys[..3] {
            memory.insert(*key, entry.clone(), limit);
        }
        memory.get(keys[0]);
        memory.insert(keys[3], entry.clone(), limit);
        let kept = keys.map(|key| memory.get(key).is_some());
        assert_eq!(kept, [true, false, true, true]);
        memory.insert(keys[0], entry.clone(), limit);
        assert_eq!(memory.bytes, limit);
    }
}

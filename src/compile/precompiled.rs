//! Precompiled headers: what NVRTC made of a source's first lines, for the next compilation in this process.
//!
//! `cooperative_groups.h` and cub cost NVRTC more than a second a compilation. Since version 12.8 it can write what
//! it made of them into a file and take it from there ("Precompiled Headers" in *NVRTC*), a third of the time
//! later. Four things that it does are minded here:
//!
//! - Such a file can only be used by the process that wrote it (its content is mapped to where it was), so a
//!   folder belongs to one of the compiler's processes and is replaced with it. Files have hundreds of megabytes: there
//!   are at most [`MOST_FOLDERS`], with one each.
//! - NVRTC compares neither a header in memory nor the prelude with what they were, and files by their times alone.
//!   So each [`Domain`] (all that can change what headers mean) has a folder of its own.
//! - Writing one takes longer than not writing it. A domain gets one when it comes a second time, and took
//!   [`WORTHWHILE`] the first time.
//! - A damaged file, or a full disk, is an error of the compilation. So what fails is compiled again without, and
//!   where that helps the domain does without from then on.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{Result, attempt::End, job::Answer, server::Token};
use crate::file;

/// A compilation that takes less gains nothing.
const WORTHWHILE: Duration = Duration::from_millis(400);

/// Folders kept: those used last.
const MOST_FOLDERS: usize = 2;

/// Domains remembered; beyond that all are forgotten.
const MOST_DOMAINS: usize = 64;

/// A folder of this age whose process is not to be seen was left by one that is no more.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// What the names of our folders start with; the process's number follows.
const PREFIX: &str = "pch-";

/// A digest of everything but the source that can change what its headers mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Domain(pub [u8; 32]);

/// The precompiled headers of this process.
#[derive(Debug, Default)]
pub(super) struct Precompiled {
    /// Where folders are made; `None`: there is no place for files.
    place: Option<PathBuf>,
    domains: Mutex<Domains>,
}

#[derive(Debug, Default)]
struct Domains {
    known: HashMap<Domain, State>,
    turn: u64,
}

/// What is known of a domain.
#[derive(Debug)]
enum State {
    /// Not worth it, or it cannot be.
    Without,
    /// A compilation took long.
    Slow,
    /// It has a precompiled header.
    Ready(Ready),
}

/// A precompiled header.
#[derive(Debug)]
struct Ready {
    folder: TempDir,
    /// The process that can use it.
    owner: Weak<()>,
    /// The turn of its last use.
    used: u64,
}

impl Precompiled {
    /// Keeps folders in `place`, which is made when the first one comes.
    pub(super) fn new(place: Option<PathBuf>) -> Self {
        Self { place, ..Self::default() }
    }

    /// The process that has the precompiled header of a domain.
    pub(super) fn owner(&self, domain: Domain) -> Option<Weak<()>> {
        match self.domains().known.get(&domain)? {
            State::Ready(ready) => Some(ready.owner.clone()),
            State::Without | State::Slow => None,
        }
    }

    /// Compiles by `run` in the process of `token`; `run` is given the folder of a precompiled header where one is
    /// worth it.
    pub(super) fn compile(
        &self,
        domain: Domain,
        token: &Token,
        mut run: impl FnMut(Option<&Path>) -> Result<End>,
    ) -> Result<End> {
        let Some(folder) = self.folder(domain, token) else {
            let start = Instant::now();
            let end = run(None)?;
            self.note(domain, start.elapsed());
            return Ok(end);
        };
        let end = run(Some(&folder))?;
        if !doubtful(&end) {
            keep_newest(&folder);
            return Ok(end);
        }
        let end = run(None)?;
        if matches!(end, End::Answer(Answer::Compiled { .. })) {
            tracing::debug!("a precompiled header cannot be used; working without it");
            self.domains().known.insert(domain, State::Without);
        }
        Ok(end)
    }

    fn domains(&self) -> MutexGuard<'_, Domains> {
        self.domains.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how long a domain took without a precompiled header.
    fn note(&self, domain: Domain, took: Duration) {
        let mut domains = self.domains();
        if domains.known.len() >= MOST_DOMAINS {
            domains.known.clear();
        }
        if took >= WORTHWHILE && self.place.is_some() {
            domains.known.entry(domain).or_insert(State::Slow);
        }
    }

    /// The folder for a domain that is known to take long, made when the process of `token` first asks for it.
    fn folder(&self, domain: Domain, token: &Token) -> Option<PathBuf> {
        let mut domains = self.domains();
        domains.turn += 1;
        let turn = domains.turn;
        match domains.known.get_mut(&domain)? {
            State::Without => return None,
            State::Ready(ready) if ready.owner.as_ptr() == Arc::as_ptr(token) => {
                ready.used = turn;
                return Some(ready.folder.path().to_owned());
            }
            // Whoever comes while its process works does without: nobody waits.
            State::Ready(ready) if ready.owner.strong_count() > 0 => return None,
            // That of a process that is no more is replaced.
            State::Ready(_) | State::Slow => {}
        }
        let state = match self.make_folder() {
            Ok(folder) => State::Ready(Ready { folder, owner: Arc::downgrade(token), used: turn }),
            Err(error) => {
                tracing::debug!("no folder for precompiled headers: {error}");
                State::Without
            }
        };
        domains.known.insert(domain, state);
        domains.forget_oldest();
        match domains.known.get(&domain) {
            Some(State::Ready(ready)) => Some(ready.folder.path().to_owned()),
            _ => None,
        }
    }

    fn make_folder(&self) -> io::Result<TempDir> {
        let place = self.place.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        fs::create_dir_all(place)?;
        sweep(place);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        tempfile::Builder::new().prefix(&prefix).tempdir_in(place)
    }
}

impl Domains {
    /// Lets go of the folder that was not used for longest, where there are too many.
    fn forget_oldest(&mut self) {
        let ready = |state: &State| match state {
            State::Ready(ready) => Some(ready.used),
            State::Without | State::Slow => None,
        };
        let folders =
            self.known.iter().filter_map(|(domain, state)| Some((ready(state)?, *domain)));
        let folders: Vec<_> = folders.collect();
        if let Some((_, oldest)) = folders.iter().min_by_key(|(used, _)| *used)
            && folders.len() > MOST_FOLDERS
        {
            // It still is a slow one, should it come again.
            self.known.insert(*oldest, State::Slow);
        }
    }
}

/// Whether a result may be the precompiled header's fault, going by what NVRTC 13.5 says of damaged files,
/// missing folders, full disks and heaps that are too small.
fn doubtful(end: &End) -> bool {
    let (log, failed) = match end {
        End::Answer(Answer::Compiled { log, .. }) => (log, false),
        End::Answer(Answer::Rejected { log }) => (log, true),
        End::Answer(Answer::Failed { .. }) | End::Crashed(_) | End::OutOfMemory => return true,
        // There is no time left to do it again, or it would be the same.
        End::Answer(Answer::TooLong { .. }) | End::TimedOut | End::Killed(_) => return false,
    };
    let log = log.to_lowercase();
    // The last says that none can be made of this source.
    let of_headers = ["precompiled header", "pch directory", "pch creation disabled"];
    let of_headers = of_headers.iter().any(|words| log.contains(words));
    let fatal =
        ["catastrophic error", "command-line error", "unrecognized option", "internal error"];
    of_headers || (failed && fatal.iter().any(|words| log.contains(words)))
}

/// Removes all precompiled headers of `folder` but the newest: a source whose first lines change leaves one for each
/// change.
fn keep_newest(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(io::Result::ok);
    let modified = |path: &PathBuf| fs::metadata(path).and_then(|about| about.modified()).ok();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort_by_key(modified);
    files.pop();
    for file in files {
        // What cannot be removed goes with the folder.
        drop(fs::remove_file(file));
    }
}

/// Our folders in `place`, of this process and others, and whether each one's process lives.
fn folders(place: &Path) -> Vec<(PathBuf, bool)> {
    let entries = fs::read_dir(place).into_iter().flatten().filter_map(io::Result::ok);
    let ours = entries.filter_map(|entry| {
        let name = entry.file_name();
        let process: u32 = name.to_str()?.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()?;
        let processes = Path::new("/proc");
        let lives = !processes.is_dir() || processes.join(process.to_string()).exists();
        Some((entry.path(), lives))
    });
    ours.collect()
}

/// Removes what processes that were killed have left. One that cannot be seen from here, in a container say, loses
/// its folder only if it has not touched it for long, and then does without.
fn sweep(place: &Path) {
    for (folder, lives) in folders(place) {
        let age = fs::metadata(&folder).ok().and_then(|about| file::age(&about));
        if !lives && age.is_some_and(|age| age > ABANDONED_AFTER) {
            drop(fs::remove_dir_all(folder));
        }
    }
}

/// Removes the folders of processes that are no more.
///
/// # Errors
/// Where one cannot be removed.
pub(super) fn clear(place: &Path) -> io::Result<()> {
    let left = folders(place).into_iter().filter(|(_, lives)| !lives);
    left.into_iter().try_for_each(|(folder, _)| fs::remove_dir_all(folder))
}

/// The size of all precompiled headers in `place`, in bytes.
pub(super) fn size(place: &Path) -> u64 {
    let files = folders(place).into_iter().flat_map(|(folder, _)| fs::read_dir(folder));
    let files = files.flatten().filter_map(io::Result::ok);
    files.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum()
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, thread::sleep};

    use super::*;

    const DOMAIN: Domain = Domain([1; 32]);

    fn good() -> Result<End> {
        let (ptx, log) = ("ptx".into(), String::new());
        Ok(End::Answer(Answer::Compiled { ptx, log, names: [].into() }))
    }

    fn bad(log: &str) -> Result<End> {
        Ok(End::Answer(Answer::Rejected { log: log.into() }))
    }

    /// Compiles often; gives for each call of the compiler whether it had a folder.
    fn calls(
        precompiled: &Precompiled,
        token: &Token,
        rounds: usize,
        answer: impl Fn(Option<&Path>) -> Result<End>,
    ) -> Vec<bool> {
        let calls = RefCell::new(Vec::new());
        for _ in 0..rounds {
            let end = precompiled.compile(DOMAIN, token, |folder| {
                calls.borrow_mut().push(folder.is_some());
                if folder.is_none() {
                    sleep(WORTHWHILE);
                }
                answer(folder)
            });
            assert!(matches!(end, Ok(End::Answer(Answer::Compiled { .. }))));
        }
        calls.into_inner()
    }

    #[test]
    fn the_second_of_slow_ones_has_a_folder_of_its_own() {
        let temp = tempfile::tempdir().unwrap();
        let precompiled = Precompiled::new(Some(temp.path().join("cache")));
        let made = calls(&precompiled, &Token::default(), 3, |folder| {
            if let Some(folder) = folder {
                for number in 0..3 {
                    fs::write(folder.join(format!("a_{number}.pch")), "x").unwrap();
                }
            }
            good()
        });
        assert_eq!(made, [false, true, true]);
        assert_eq!(size(&temp.path().join("cache")), 1, "one file is kept");
        drop(precompiled);
        assert_eq!(fs::read_dir(temp.path().join("cache")).unwrap().count(), 0);
    }

    #[test]
    fn what_is_quick_has_none_nor_has_anything_without_a_place() {
        let temp = tempfile::tempdir().unwrap();
        let precompiled = Precompiled::new(Some(temp.path().to_owned()));
        for _ in 0..3 {
            let outcome = precompiled.compile(DOMAIN, &Token::default(), |folder| {
                assert!(folder.is_none());
                good()
            });
            assert!(outcome.is_ok());
        }
        assert_eq!(
            calls(&Precompiled::new(None), &Token::default(), 2, |_| good()),
            [false, false]
        );
    }

    #[test]
    fn a_header_that_fails_costs_one_compilation() {
        let temp = tempfile::tempdir().unwrap();
        for log in [
            "Catastrophic error: invalid precompiled header file",
            "a.h(9): catastrophic error: unable to obtain mapped memory",
            "Command-line error: invalid PCH directory: x",
            "a.cu(1): warning: PCH creation disabled because #line directive encountered",
        ] {
            let precompiled = Precompiled::new(Some(temp.path().to_owned()));
            let made = calls(&precompiled, &Token::default(), 3, |folder| {
                if folder.is_some() { bad(log) } else { good() }
            });
            assert_eq!(made, [false, true, false, false], "{log}");
        }
    }

    #[test]
    fn a_mistake_in_the_source_is_no_fault_of_the_header() {
        let (temp, token) = (tempfile::tempdir().unwrap(), Token::default());
        let precompiled = Precompiled::new(Some(temp.path().to_owned()));
        calls(&precompiled, &token, 2, |_| good());
        for log in ["a.cu(3): error: x", "a.cu(1): catastrophic error: cannot open \"x\""] {
            let outcome = precompiled.compile(DOMAIN, &token, |_| bad(log));
            assert!(matches!(outcome, Ok(End::Answer(Answer::Rejected { .. }))), "{log}");
        }
        assert_eq!(calls(&precompiled, &token, 1, |_| good()), [true], "it is still used");
    }

    #[test]
    fn a_header_belongs_to_the_process_that_made_it() {
        let temp = tempfile::tempdir().unwrap();
        let precompiled = Precompiled::new(Some(temp.path().to_owned()));
        let [first, second] = [Token::default(), Token::default()];
        precompiled.note(DOMAIN, WORTHWHILE);
        let of_first = precompiled.folder(DOMAIN, &first).unwrap();
        assert_eq!(precompiled.folder(DOMAIN, &second), None, "the first one lives");
        assert_eq!(precompiled.owner(DOMAIN).unwrap().as_ptr(), Arc::as_ptr(&first));
        drop(first);
        let of_second = precompiled.folder(DOMAIN, &second).unwrap();
        assert_ne!(of_first, of_second);
        assert!(!of_first.exists());
    }

    #[test]
    fn only_the_domains_used_last_keep_folders() {
        let (temp, token) = (tempfile::tempdir().unwrap(), Token::default());
        let precompiled = Precompiled::new(Some(temp.path().to_owned()));
        for number in 0..4 {
            precompiled.note(Domain([number; 32]), WORTHWHILE);
            assert!(precompiled.folder(Domain([number; 32]), &token).is_some());
            assert!(fs::read_dir(temp.path()).unwrap().count() <= MOST_FOLDERS);
        }
    }

    #[test]
    fn folders_of_dead_processes_are_swept() {
        let temp = tempfile::tempdir().unwrap();
        // No process has this number: Linux ends at 2^22.
        let [old, other] = ["pch-99999999-a", "notes"].map(|name| temp.path().join(name));
        for folder in [&old, &other] {
            fs::create_dir(folder).unwrap();
        }
        sweep(temp.path());
        assert!(old.exists(), "it is young, and its process may be out of sight");
        clear(temp.path()).unwrap();
        assert!(!old.exists() && other.exists());
    }
}

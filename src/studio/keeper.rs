//! Writes what is to survive the studio, on a thread of its own: a file that is safe on the disk may take long, and
//! drawing must not wait for it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

use super::wake::Wake;
use crate::file;

/// From a change until it is written: long enough for a few keys, short enough that a crash takes little.
const AFTER: Duration = Duration::from_millis(400);
/// From a failed attempt to the next one.
const AGAIN: Duration = Duration::from_secs(5);

/// Does what it is told, in order. Dropping it waits until all is done.
pub struct Keeper {
    jobs: Option<Sender<Job>>,
    failures: Receiver<Failure>,
    thread: Option<thread::JoinHandle<()>>,
}

/// A file that could not be written.
#[derive(Debug)]
pub struct Failure {
    /// Which one.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

enum Job {
    Write { path: PathBuf, content: String },
    Remove { path: PathBuf },
    Tell { done: Sender<()> },
}

impl Job {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Write { path, .. } | Self::Remove { path } => Some(path),
            Self::Tell { .. } => None,
        }
    }
}

impl Keeper {
    /// Starts the thread; `wake` is called on it after each failure.
    pub fn new(wake: Wake) -> Self {
        let (jobs, incoming) = mpsc::channel();
        let (failed, failures) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("keep".to_owned())
            .spawn(move || work(&incoming, &failed, &wake))
            .inspect_err(|error| tracing::warn!("nothing is kept: no thread: {error}"));
        Self { jobs: Some(jobs), failures, thread: thread.ok() }
    }

    /// Replaces the file at `path` by `content`; its folder is made where there is none.
    pub fn write(&self, path: PathBuf, content: String) {
        self.send(Job::Write { path, content });
    }

    /// Takes the file at `path` away.
    pub fn remove(&self, path: PathBuf) {
        self.send(Job::Remove { path });
    }

    /// Waits until all that was told so far is done.
    pub fn flush(&self) {
        let (done, all_done) = mpsc::channel();
        self.send(Job::Tell { done });
        // Without a thread there is nothing to wait for.
        let _ = all_done.recv();
    }

    /// What has failed since the last call.
    pub fn failures(&self) -> impl Iterator<Item = Failure> {
        self.failures.try_iter()
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that keeps files panicked");
        }
    }
}

fn work(incoming: &Receiver<Job>, failed: &Sender<Failure>, wake: &Wake) {
    while let Ok(first) = incoming.recv() {
        // Where the disk is slower than the changes, only the last one of a file matters.
        let jobs: Vec<Job> = std::iter::once(first).chain(incoming.try_iter()).collect();
        for (index, job) in jobs.iter().enumerate() {
            let later = &jobs[index + 1..];
            if job.path().is_some_and(|path| later.iter().any(|job| job.path() == Some(path))) {
                continue;
            }
            if let Err(failure) = job.carry_out() {
                let _ = failed.send(failure);
                wake();
            }
        }
    }
}

impl Job {
    fn carry_out(&self) -> Result<(), Failure> {
        match self {
            Self::Write { path, content } => {
                let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
                let written = folder.and_then(|()| file::replace(path, content));
                written.map_err(|error| Failure { path: path.clone(), error })
            }
            Self::Remove { path } => match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(Failure { path: path.clone(), error })
                }
                Ok(()) | Err(_) => Ok(()),
            },
            Self::Tell { done } => {
                // Nobody may be waiting any more.
                let _ = done.send(());
                Ok(())
            }
        }
    }
}

/// When something that has changed is to be written: a while after the first change that is not written yet, however
/// many come behind it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Due(Option<Instant>);

impl Due {
    /// Whether the time has come; `differs` is whether the disk has something else.
    pub fn has_come(&mut self, differs: bool, now: Instant) -> bool {
        if !differs {
            self.0 = None;
            return false;
        }
        let come = *self.0.get_or_insert(now + AFTER) <= now;
        if come {
            self.0 = None;
        }
        come
    }

    /// Tries again after a while: it could not be written.
    pub fn failed(&mut self, now: Instant) {
        self.0 = Some(now + AGAIN);
    }

    /// When to ask again, if there is something to write.
    pub fn at(self) -> Option<Instant> {
        self.0
    }
}

/// A wake that wakes nobody.
#[cfg(test)]
pub fn no_wake() -> Wake {
    std::sync::Arc::new(|| {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_done_in_order_before_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join("new").join(name);
        let keeper = Keeper::new(no_wake());
        for n in 0..50 {
            keeper.write(path("a"), n.to_string());
        }
        keeper.write(path("b"), "b".into());
        keeper.remove(path("b"));
        keeper.remove(path("never there"));
        keeper.flush();
        assert_eq!(fs::read_to_string(path("a")).unwrap(), "49");
        assert!(!path("b").exists());
        keeper.write(path("a"), "last".into());
        assert_eq!(keeper.failures().count(), 0);
        drop(keeper);
        assert_eq!(fs::read_to_string(path("a")).unwrap(), "last");
    }

    #[test]
    fn what_cannot_be_written_is_told_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let path = folder.path().join("file/below/it");
        let keeper = Keeper::new(no_wake());
        keeper.write(path.clone(), String::new());
        keeper.flush();
        let failures: Vec<Failure> = keeper.failures().collect();
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert_eq!(failures[0].path, path);
    }

    #[test]
    fn a_change_is_due_within_a_second_however_many_come_behind_it() {
        let (mut due, start) = (Due::default(), Instant::now());
        assert!(!due.has_come(false, start));
        assert_eq!(due.at(), None);
        let come = (0..20_u32).find(|n| due.has_come(true, start + *n * Duration::from_millis(50)));
        assert_eq!(come, Some(8), "while changes come every 50 ms");
        assert_eq!(due.at(), None);
        assert!(!due.has_come(true, start), "the next one waits again");
        assert!(!due.has_come(false, start + AFTER), "what was taken back need not be written");
    }
}

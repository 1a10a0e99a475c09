//! Work that the window does not wait for, on a thread of its own.

use std::{
    sync::mpsc::{self, Receiver, TryRecvError},
    thread::{self, JoinHandle},
};

use super::wake::Wake;
use crate::interrupt::Interrupt;

/// Work that is being done. It is given up when this is dropped, which waits until it has heard of that.
pub struct Background<T> {
    result: Receiver<T>,
    interrupt: Interrupt,
    thread: Option<JoinHandle<()>>,
}

/// What is said of work that has panicked.
pub const PANICKED: &str = "the program has a mistake; please report it";

/// How far it is.
pub enum Progress<T> {
    /// It is being done.
    Pending,
    /// This came of it.
    Done(T),
    /// Nothing came of it: it has panicked.
    Failed,
}

impl<T: Send + 'static> Background<T> {
    /// Begins `work`, which gives up early when the interrupt is raised, and calls `wake` when it is done.
    ///
    /// # Errors
    /// Whatever the system says where it has no thread for it.
    pub fn begin(
        name: &str,
        wake: Wake,
        work: impl FnOnce(&Interrupt) -> T + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, result) = mpsc::channel();
        let interrupt = Interrupt::default();
        let raised = interrupt.clone();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Nobody may be there any more who wants it.
            let _ = sender.send(work(&raised));
            drop(sender);
            wake();
        })?;
        Ok(Self { result, interrupt, thread: Some(thread) })
    }

    /// As [`Background::begin`], of work that nothing interrupts: whoever drops this does not wait for it.
    ///
    /// # Errors
    /// Those of [`Background::begin`].
    pub fn begin_apart(
        name: &str,
        wake: Wake,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut begun = Self::begin(name, wake, |_| work())?;
        begun.thread = None;
        Ok(begun)
    }

    /// What has come of it; a second time it has failed.
    pub fn progress(&self) -> Progress<T> {
        match self.result.try_recv() {
            Ok(result) => Progress::Done(result),
            Err(TryRecvError::Empty) => Progress::Pending,
            Err(TryRecvError::Disconnected) => Progress::Failed,
        }
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.interrupt.raise();
        if let Some(thread) = self.thread.take() {
            // Its panic was told where it happened.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use super::*;

    #[test]
    fn what_is_not_wanted_any_more_is_given_up() {
        let gave_up = Arc::new(AtomicBool::new(false));
        let told = gave_up.clone();
        let work = move |interrupt: &Interrupt| {
            while !interrupt.is_raised() {
                thread::yield_now();
            }
            told.store(true, Ordering::Release);
        };
        let background = Background::begin("test", Arc::new(|| ()), work).unwrap();
        assert!(matches!(background.progress(), Progress::Pending));
        drop(background);
        assert!(gave_up.load(Ordering::Acquire));
    }

    #[test]
    fn the_result_comes_once_and_wakes() {
        let (wakes, woken) = mpsc::channel();
        let wake = move || wakes.send(()).unwrap_or_default();
        let background = Background::begin("test", Arc::new(wake), |_| 7).unwrap();
        woken.recv().unwrap();
        assert!(matches!(background.progress(), Progress::Done(7)));
        assert!(matches!(background.progress(), Progress::Failed));
    }
}

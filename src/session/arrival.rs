//! What comes to the host of a session's resources, and what a thread makes of it there.

use std::thread::{self, JoinHandle};

use super::{Error, Session};
use crate::{
    device::Pool,
    state::{Download, HostCopy},
};

/// Something that is made of what a session's resources hold, by a thread and once that has come to the host: the
/// session waits for neither. What is not wanted any more is dropped.
#[derive(Debug)]
pub struct Arrival<T>(JoinHandle<Result<T, Error>>);

impl<T: Send + 'static> Arrival<T> {
    /// Lets a thread make it of what comes with `download`.
    ///
    /// # Errors
    /// [`Error::Thread`] where the system has none to spare.
    pub(super) fn begin(
        download: Download,
        make: impl FnOnce(HostCopy) -> Result<T, Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let work = move || make(download.wait()?);
        let thread = thread::Builder::new().name("arrival".to_owned()).spawn(work);
        thread.map(Self).map_err(Error::Thread)
    }

    /// Whether [`Arrival::wait`] returns at once.
    pub fn is_here(&self) -> bool {
        self.0.is_finished()
    }

    /// What was made.
    ///
    /// # Errors
    /// The device's; [`Error::WorkerLost`] where the thread has panicked.
    pub fn wait(self) -> Result<T, Error> {
        self.0.join().unwrap_or(Err(Error::WorkerLost))
    }
}

impl Session {
    /// Puts the copying of the resources with these names to the host on the stream; `None` while the state is being
    /// changed.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn start_download(&mut self, names: &[&str]) -> Result<Option<Download>, Error> {
        match self.in_flight.is_some() || self.is_migrating() {
            true => Ok(None),
            false => self.download(names, &Pool::passing(&self.device)).map(Some),
        }
    }
}

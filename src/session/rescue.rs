//! A copy of the state with the host, for when the device is lost with what its memory holds.
//!
//! Nothing that a kernel does under the guard ends CUDA for the process. But passes may be without it, a barrier may
//! wait for ever, a driver may fail. So the newest copy is never much older than a second, and whoever starts the
//! program anew goes on from there.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::{Error, Session, files::write_state, variables::Addresses};
use crate::{
    machine::memory_bytes,
    state::{Checkpoint, Download, HostCopy, archive::About},
};

/// From the beginning of a copy to that of the next one, at least.
const EVERY: Duration = Duration::from_secs(1);
/// And so many times what the copy before took to come: beside it the device copies nothing else to the host.
const REST: u32 = 20;
/// No copy takes more than this part of the machine's memory, as the past does not.
const SHARE: u64 = 8;
/// After this long it is looked at again whether there is room for a copy.
const NO_ROOM: Duration = Duration::from_secs(60);

/// The state of a past step, with the host.
pub struct Rescued {
    about: About,
    addresses: Addresses,
    copy: HostCopy,
}

/// The newest copy, and the one that is on its way.
#[derive(Default)]
pub(super) struct Rescue {
    newest: Option<Rescued>,
    coming: Option<Coming>,
    /// When the next one may begin.
    due: Option<Instant>,
}

struct Coming {
    about: About,
    addresses: Addresses,
    download: Download,
    begun: Instant,
}

impl Rescued {
    /// The step that it is the state behind.
    pub fn step(&self) -> u64 {
        self.copy.inputs.step
    }

    /// Writes it to a file as [`Session::save`] does.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_state(path, self.about.clone(), &self.addresses, &self.copy)
    }
}

impl Session {
    /// The newest state that has come to the host, where the session [keeps one](super::Options::rescue). It is there
    /// when the device is lost.
    pub fn take_rescued(&mut self) -> Option<Rescued> {
        self.rescue.newest.take()
    }

    /// Takes over a copy that has come, and begins the next one. Never waits.
    pub(super) fn go_on_rescuing(&mut self) -> Result<(), Error> {
        if !self.options.rescue {
            return Ok(());
        }
        if let Some(coming) = self.rescue.coming.take() {
            if !coming.download.is_ready()? {
                self.rescue.coming = Some(coming);
                return Ok(());
            }
            let Coming { about, addresses, download, begun } = coming;
            match download.wait().map_err(Error::from) {
                Ok(copy) => {
                    self.rescue.due = Some(begun + EVERY.max(begun.elapsed() * REST));
                    self.rescue.newest = Some(Rescued { about, addresses, copy });
                }
                Err(error) if error.is_for_want_of_memory() => {
                    self.rescue.due = Some(begun + NO_ROOM);
                }
                Err(error) => return Err(error),
            }
        }
        let is_due = self.rescue.due.is_none_or(|due| Instant::now() >= due);
        if is_due && !self.is_changing() && self.is_unrescued() {
            self.rescue.coming = self.begin_rescue()?;
        }
        Ok(())
    }

    /// Whether the present state is another one than the copy's, and one that a file can have.
    fn is_unrescued(&self) -> bool {
        let step = self.state.inputs.step;
        self.program.is_some() && self.rescue.newest.as_ref().is_none_or(|of| of.step() != step)
    }

    fn begin_rescue(&mut self) -> Result<Option<Coming>, Error> {
        self.rescue.due = Some(Instant::now() + EVERY);
        let begun = Instant::now();
        // What no file can have, and what there is no memory for, is not copied.
        let Ok(about) = self.about(&self.state.inputs) else { return Ok(None) };
        let has_room = |copy: &Checkpoint| copy.bytes() as u64 <= memory_bytes() / SHARE;
        let copied = match self.copy_state() {
            Ok(copy) => copy.filter(has_room),
            Err(error) if error.is_for_want_of_memory() => None,
            Err(error) => return Err(error),
        };
        let Some(copy) = copied else {
            self.rescue.due = Some(begun + NO_ROOM);
            return Ok(None);
        };
        let download = copy.download(&self.stream)?;
        Ok(Some(Coming { about, addresses: self.addresses(), download, begun }))
    }
}

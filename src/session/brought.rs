//! A copy of the past that lies with the host, on its way back to the device.
//!
//! A thread brings it there, in parts, so that whoever goes to a past moment waits for none of them.

use std::thread::{self, JoinHandle};

use super::{Error, Session, snapshot::Moment};
use crate::{
    device::Device,
    interop,
    state::{Checkpoint, HostCopy},
};

/// A copy that is needed on the device.
pub(super) struct Brought {
    of: HostCopy,
    way: Way,
}

/// The way of a copy from the host to a device, on a thread.
pub(super) enum Way {
    Coming(JoinHandle<interop::Result<Option<Checkpoint>>>),
    /// `None` where there is no room for it, or no thread: then it is put on the stream from where it is.
    Here(Option<Box<Checkpoint>>),
}

impl Way {
    pub(super) fn begin(copy: HostCopy, device: &Device) -> Self {
        let device = device.clone();
        let thread = thread::Builder::new().name("copy to the device".to_owned());
        thread.spawn(move || copy.bring_to(&device)).map_or(Self::Here(None), Self::Coming)
    }

    /// Whether [`Way::end`] returns at once.
    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::Coming(thread) => thread.is_finished(),
            Self::Here(_) => true,
        }
    }

    /// What has come to the device, once it is there.
    pub(super) fn end(self) -> Result<Option<Box<Checkpoint>>, Error> {
        match self {
            Self::Coming(thread) => {
                Ok(thread.join().map_err(|_| Error::WorkerLost)??.map(Box::new))
            }
            Self::Here(copy) => Ok(copy),
        }
    }
}

impl Session {
    /// Whether the copy from which this moment is had again is where that can begin. One that lies with the host is put
    /// on its way first. Never waits.
    pub(super) fn is_at_hand(&mut self, sought: Moment) -> Result<bool, Error> {
        let Some(of) = self.source_with_host(sought) else {
            self.brought = None;
            return Ok(true);
        };
        let way = match self.brought.take_if(|brought| brought.of.is(&of)).map(|known| known.way) {
            Some(way) if way.has_ended() => Way::Here(way.end()?),
            Some(way) => way,
            None => Way::begin(of.clone(), &self.device),
        };
        let is_here = matches!(way, Way::Here(_));
        self.brought = Some(Brought { of, way });
        Ok(is_here)
    }

    /// Whether the copy for that moment has come to the device; `None` where it was not put on its way.
    pub(super) fn has_arrived(&self, sought: Moment) -> Option<bool> {
        let brought = self.brought.as_ref()?;
        let is_for_it = self.source_with_host(sought).is_some_and(|of| brought.of.is(&of));
        is_for_it.then(|| brought.way.has_ended())
    }

    fn source_with_host(&self, sought: Moment) -> Option<HostCopy> {
        self.history.as_ref()?.source(sought)?.checkpoint.with_host()
    }

    /// The copy that has been brought, to begin with.
    pub(super) fn take_brought(&mut self) -> Option<Box<Checkpoint>> {
        match self.brought.take()?.way {
            Way::Here(copy) => copy,
            Way::Coming(_) => None,
        }
    }

    /// Waits until the copy that is on its way is there.
    pub(super) fn finish_bringing(&mut self) -> Result<(), Error> {
        if let Some(Brought { way, .. }) = &mut self.brought {
            *way = Way::Here(std::mem::replace(way, Way::Here(None)).end()?);
        }
        Ok(())
    }
}

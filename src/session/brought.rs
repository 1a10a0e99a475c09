//! What lies with the host, on its way to the device: a copy of the past, or what a scene begins with.
//!
//! A thread brings it there, in parts, so that whoever goes to a past moment, or begins anew, waits for none of them.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
};

use super::{Error, Reset, Session, contents::bytes_of, moment::Moment, program::Program};
use crate::{
    device::Device,
    interop,
    scene::Inputs,
    state::{Checkpoint, HostCopy},
};

/// What is needed on the device.
pub(super) struct Brought {
    of: Needed,
    way: Way,
}

/// What lies with the host and is needed on the device.
#[derive(Clone)]
enum Needed {
    /// A copy of the past.
    Copy(HostCopy),
    /// What this reset begins with, as the program has it.
    Contents(Arc<Program>, Reset),
}

impl Needed {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Copy(one), Self::Copy(other)) => one.is(other),
            (Self::Contents(program, reset), Self::Contents(other, of_other)) => {
                Arc::ptr_eq(program, other) && reset == of_other
            }
            (Self::Copy(_), Self::Contents(..)) | (Self::Contents(..), Self::Copy(_)) => false,
        }
    }

    /// It as a copy with the host, for the thread that brings it.
    fn into_copy(self) -> Option<HostCopy> {
        match self {
            Self::Copy(copy) => Some(copy),
            Self::Contents(program, reset) => {
                let wanted = program.contents.wanted(&reset, &program.scene.manifest);
                Checkpoint::of_bytes(Inputs::default(), wanted, |found| bytes_of(found)).with_host()
            }
        }
    }
}

/// The way of a copy from the host to a device, on a thread.
pub(super) enum Way {
    Coming(JoinHandle<interop::Result<Option<Checkpoint>>>),
    /// `None` where there is no room for it, or no thread: then it is put on the stream from where it is.
    Here(Option<Box<Checkpoint>>),
}

impl Way {
    pub(super) fn begin(copy: HostCopy, device: &Device) -> Self {
        Self::begin_with(move || Some(copy), device)
    }

    /// The way of a copy that the thread makes first, where it does.
    fn begin_with(
        copy: impl FnOnce() -> Option<HostCopy> + Send + 'static,
        device: &Device,
    ) -> Self {
        let device = device.clone();
        let bring = move || match copy() {
            Some(copy) => Checkpoint::bring(&copy, &device),
            None => Ok(None),
        };
        let thread = thread::Builder::new().name("copy to the device".to_owned());
        thread.spawn(bring).map_or(Self::Here(None), Self::Coming)
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
            self.seek.brought = None;
            return Ok(true);
        };
        self.bring(Needed::Copy(of))
    }

    /// The same of the contents that the reset begins with which is due, here and where B does it, too.
    pub(super) fn has_contents_at_hand(&mut self) -> Result<bool, Error> {
        let reset = self.resets.next.clone();
        let of_other = match &mut self.variants.companion {
            Some(companion) => companion.other_in_reset(&reset),
            None => None,
        };
        let of_other = of_other.map_or(Ok(true), |other| other.bring_contents(&reset))?;
        Ok(self.bring_contents(&reset)? && of_other)
    }

    fn bring_contents(&mut self, reset: &Reset) -> Result<bool, Error> {
        let needs = |of: &&Arc<Program>| !of.contents.wanted(reset, &of.scene.manifest).is_empty();
        match self.program.as_ref().filter(needs) {
            Some(program) => self.bring(Needed::Contents(program.clone(), reset.clone())),
            None => {
                self.seek.brought = None;
                Ok(true)
            }
        }
    }

    /// Whether this is on the device, or cannot be; else it is put on its way, or is there already.
    fn bring(&mut self, of: Needed) -> Result<bool, Error> {
        let way =
            match self.seek.brought.take_if(|brought| brought.of.is(&of)).map(|known| known.way) {
                Some(way) if way.has_ended() => Way::Here(way.end()?),
                Some(way) => way,
                None => {
                    let needed = of.clone();
                    Way::begin_with(move || needed.into_copy(), &self.device)
                }
            };
        let is_here = matches!(way, Way::Here(_));
        self.seek.brought = Some(Brought { of, way });
        Ok(is_here)
    }

    /// Whether the copy for that moment has come to the device; `None` where it was not put on its way.
    pub(super) fn has_arrived(&self, sought: Moment) -> Option<bool> {
        let brought = self.seek.brought.as_ref()?;
        let of = self.source_with_host(sought).map(Needed::Copy);
        let is_for_it = of.is_some_and(|of| brought.of.is(&of));
        is_for_it.then(|| brought.way.has_ended())
    }

    fn source_with_host(&self, sought: Moment) -> Option<HostCopy> {
        self.history.as_ref()?.source(sought)?.checkpoint.with_host()
    }

    /// The copy that has been brought, to begin with.
    pub(super) fn take_brought(&mut self) -> Option<Box<Checkpoint>> {
        match self.seek.brought.take()?.way {
            Way::Here(copy) => copy,
            Way::Coming(_) => None,
        }
    }

    /// Waits until what is on its way is there, here and for B.
    pub(super) fn finish_bringing(&mut self) -> Result<(), Error> {
        if let Some(companion) = &mut self.variants.companion {
            companion.other.finish_bringing()?;
        }
        if let Some(Brought { way, .. }) = &mut self.seek.brought {
            *way = Way::Here(std::mem::replace(way, Way::Here(None)).end()?);
        }
        Ok(())
    }
}

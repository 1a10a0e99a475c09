//! Writes a state, or a run, to a file while the scene goes on.
//!
//! What the file has is copied on the device between two steps, comes to the host beside the next ones, on a stream of
//! its own, and is written by a thread: nobody waits.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::mpsc::{self, Receiver, SyncSender, TrySendError},
    thread::{self, JoinHandle},
};

use super::{
    Error, Session, digests::Digests, files::write_state, moment::Moment, run::Run,
    run_files::Reading, variables::Addresses,
};
use crate::state::{Download, HostCopy, archive::About};

/// A file that was written, or could not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// What it has.
    pub content: Exportable,
    /// The file.
    pub path: PathBuf,
    /// What was in the way; the file is as it was before.
    pub problem: Option<String>,
}

/// What a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Exportable {
    /// The present state: see [`Session::save`].
    State,
    /// All that led to it: see [`Session::run`].
    Run,
}

/// Files that are to be written, one after the other.
#[derive(Default)]
pub(super) struct Exports {
    wishes: VecDeque<(Exportable, PathBuf)>,
    under_way: Option<Export>,
    exported: VecDeque<Exported>,
}

/// A file that is being written.
struct Export {
    content: Exportable,
    path: PathBuf,
    /// On its way to the host.
    coming: Option<Download>,
    /// With the host, and waiting for the writer.
    here: Option<HostCopy>,
    /// The moments of which copies follow.
    wanted: Vec<Moment>,
    /// Where the writer gets them from; `None` once it has all.
    copies: Option<SyncSender<HostCopy>>,
    writer: JoinHandle<Result<(), Error>>,
}

impl Session {
    /// Writes a file while the scene goes on, with the state that is shown next; [`Session::take_exported`] says what
    /// became of it.
    pub fn start_export(&mut self, content: Exportable, path: PathBuf) {
        self.exports.wishes.push_back((content, path));
    }

    /// Whether files are being written.
    pub fn is_exporting(&self) -> bool {
        self.exports.under_way.is_some() || !self.exports.wishes.is_empty()
    }

    /// The next file that was written, or could not be.
    pub fn take_exported(&mut self) -> Option<Exported> {
        self.exports.exported.pop_front()
    }

    /// Does the next part of what is to be written. Never waits.
    pub(super) fn go_on_exporting(&mut self) -> Result<(), Error> {
        let Some(mut export) = self.exports.under_way.take() else { return self.begin_export() };
        match (self.feed(&mut export), export.content) {
            (Ok(()), _) => {}
            (Err(error), Exportable::State) if is_told(&error) => {
                self.end_export(export.content, export.path, Some(error));
                return Ok(());
            }
            // It has no digest of that copy.
            (Err(error), Exportable::Run) if is_told(&error) => {}
            (Err(error), Exportable::State | Exportable::Run) => return Err(error),
        }
        if export.writer.is_finished() {
            let ended = export.writer.join().unwrap_or(Err(Error::WorkerLost));
            self.end_export(export.content, export.path, ended.err());
        } else {
            self.exports.under_way = Some(export);
        }
        Ok(())
    }

    /// Hands over what has come, and puts the next copy on its way.
    fn feed(&mut self, export: &mut Export) -> Result<(), Error> {
        if export.hand_over()? && export.coming.is_none() {
            export.coming = self.next_copy(&mut export.wanted)?;
            if export.coming.is_none() {
                export.copies = None;
            }
        }
        Ok(())
    }

    /// Puts a copy of the present state on its way, when there is one and something is to be written.
    fn begin_export(&mut self) -> Result<(), Error> {
        if self.is_changing() {
            return Ok(());
        }
        let Some((content, path)) = self.exports.wishes.pop_front() else { return Ok(()) };
        match self.export(content, path.clone()) {
            Ok(export) => self.exports.under_way = Some(export),
            Err(error) if is_told(&error) => self.end_export(content, path, Some(error)),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether the present state is about to be another one, of which no copy can be taken yet.
    pub(super) fn is_changing(&self) -> bool {
        self.in_flight.is_some()
            || self.is_migrating()
            || self.seek.sought.is_some()
            || self.is_reset_due()
    }

    fn export(&mut self, content: Exportable, path: PathBuf) -> Result<Export, Error> {
        let (wanted, write) = match content {
            Exportable::State => {
                let about = self.about(&self.state.inputs)?;
                (Vec::new(), Write::State(Box::new(about), self.addresses()))
            }
            Exportable::Run => {
                let (run, reading) = (self.undigested_run()?, self.reading()?);
                (self.digested_moments(), Write::Run(Box::new(run), reading))
            }
        };
        let copy = self.copy_state()?.ok_or(Error::NothingRuns)?;
        let coming = Some(copy.download(&self.stream)?);
        let (copies, received) = mpsc::sync_channel(1);
        let to = path.clone();
        let writer = thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || write.write(to, &received))
            .map_err(Error::Thread)?;
        Ok(Export { content, path, coming, here: None, wanted, copies: Some(copies), writer })
    }

    /// The download of the next wanted copy that is still kept.
    fn next_copy(&self, wanted: &mut Vec<Moment>) -> Result<Option<Download>, Error> {
        let Some(history) = &self.history else { return Ok(None) };
        let kept =
            std::iter::from_fn(|| wanted.pop()).find_map(|moment| history.checkpoint(moment));
        Ok(kept.map(|checkpoint| checkpoint.download(&self.stream)).transpose()?)
    }

    fn end_export(&mut self, content: Exportable, path: PathBuf, error: Option<Error>) {
        let problem = error.map(|error| error.to_string());
        self.exports.exported.push_back(Exported { content, path, problem });
    }
}

impl Export {
    /// Hands over what has come. Returns whether nothing waits to be handed over.
    fn hand_over(&mut self) -> Result<bool, Error> {
        if let Some(download) = self.coming.take() {
            match download.is_ready()? {
                true => self.here = Some(download.wait()?),
                false => self.coming = Some(download),
            }
        }
        let (Some(copy), Some(copies)) = (self.here.take(), &self.copies) else {
            return Ok(self.coming.is_none());
        };
        match copies.try_send(copy) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(copy)) => {
                self.here = Some(copy);
                Ok(false)
            }
            // The writer has ended, and says why.
            Err(TrySendError::Disconnected(_)) => {
                self.copies = None;
                Ok(false)
            }
        }
    }
}

/// Whether an error says why there is no file, and nothing else is wrong.
fn is_told(error: &Error) -> bool {
    let is_ours =
        matches!(error, Error::NoRun(_) | Error::NoState | Error::NothingRuns | Error::Thread(_));
    is_ours || error.is_for_want_of_memory()
}

/// What the writing thread does.
enum Write {
    /// What the file says of it, and the variables that it does not have.
    State(Box<About>, Addresses),
    Run(Box<Run>, Reading),
}

impl Write {
    fn write(self, path: PathBuf, copies: &Receiver<HostCopy>) -> Result<(), Error> {
        match self {
            Self::State(about, addresses) => match copies.recv() {
                Ok(copy) => write_state(&path, *about, &addresses, &copy),
                // The session has ended first.
                Err(_) => Ok(()),
            },
            Self::Run(mut run, reading) => {
                run.files = Some(reading.read()?);
                let mut digests = BTreeMap::new();
                for copy in copies {
                    // The present state comes first; a copy of that step may be of the text before.
                    digests.entry(copy.inputs.step).or_insert_with(|| Digests::of(&copy));
                }
                run.digests = digests.into_values().collect();
                run.write(&path)
            }
        }
    }
}

//! The studio starts anew, as another process that goes on where this one was: where CUDA is lost to this process, or
//! a kernel runs that nothing can stop.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::{Studio, replaying::Replaying, switching::Switch};
use crate::{
    device::{self, Device},
    diagnostic::Severity,
    file::TemporaryFolder,
    interrupt::Interrupt,
    session::{self, Exportable, Exported, Replay, Session},
    studio::{
        Options,
        handover::{Handover, state_in},
        runners::Runner,
        workspace::Recovered,
    },
};

/// What is in the folders that processes leave.
const FOLDER: &str = "studio";
/// Why the studio starts anew where the user wants it.
const ASKED_FOR: &str = "As you wished.";

/// So long the GPU is left alone before OpenGL is used again, for each time that it was reset since the first.
const REST: Duration = Duration::from_secs(4);
/// And so many times as long at most.
const MOST_RESTS: u32 = 5;

/// What a process before has left, and the folder that it lies in.
pub(super) struct Left {
    pub(super) handover: Handover,
    folder: TemporaryFolder,
    /// The run that the document comes from, or why it is not to be had.
    run: Option<Result<Replay, session::Error>>,
    /// Open since before there was a window.
    _device: Option<Device>,
}

impl Left {
    /// What lies in `folder`; with its device, its trust and its limit in `options`.
    pub(super) fn take(folder: &Path, options: &mut Options) -> io::Result<Self> {
        let gone = || io::Error::new(io::ErrorKind::NotFound, "it belongs to no ended process");
        let handover = Handover::read(folder)?;
        let run = handover.run.as_deref().map(|run| Replay::read(run, &Interrupt::default()));
        let folder = TemporaryFolder::take_over(folder).ok_or_else(gone)?;
        let left = Self { handover, folder, run, _device: None };
        let Handover { device, trusts_all, step_timeout, seed, overrides, meant_for, .. } =
            &left.handover;
        options.device = device.parse().unwrap_or(options.device);
        options.trust |= *trusts_all;
        options.step_timeout = *step_timeout;
        options.seed = *seed;
        (options.overrides, options.meant_for) = (overrides.clone(), meant_for.clone());
        // The driver may reset the GPU several times in the minute after what ended the process before (driver 580),
        // and what OpenGL got before, such as the letters, is lost. A device that does not work yet is sure to be
        // reset.
        thread::sleep(REST * left.handover.resets.min(MOST_RESTS));
        let device =
            Device::open(options.device).and_then(|device| works(&device).map(|()| device));
        match device {
            Ok(device) => Ok(Self { _device: Some(device), ..left }),
            // It is opened again, and said what is in the way.
            Err(_) => Ok(left),
        }
    }

    /// The run that the document comes from.
    pub(super) fn run(&self) -> Option<&Replay> {
        self.run.as_ref().and_then(|run| run.as_ref().ok())
    }
}

/// That a device can be written to.
fn works(device: &Device) -> device::Result<()> {
    let (stream, memory) = (device.stream()?, device.alloc(4)?);
    stream.upload(memory.slice(..)?, &[0; 4])?;
    stream.synchronize()
}

impl Studio {
    /// Starts anew because the user wants it: with the state as it is now, where there is one.
    pub(super) fn begin_anew(&mut self) {
        self.stop_replaying();
        let Some(session) = self.session.as_mut().filter(|session| session.has_program()) else {
            self.start_anew(ASKED_FOR);
            return;
        };
        match TemporaryFolder::new(FOLDER) {
            Ok(folder) => {
                let plays = session.clock().playing;
                session.pause();
                session.start_export(Exportable::State, state_in(folder.path()));
                self.parting = Some((folder, plays));
            }
            Err(error) => self.tell_not_anew(&error),
        }
    }

    /// Whether the file is the state for the next process; then this one ends.
    pub(super) fn take_parting(&mut self, exported: &Exported) -> bool {
        let is_state =
            |(folder, _): &mut (TemporaryFolder, bool)| state_in(folder.path()) == exported.path;
        let Some((folder, plays)) = self.parting.take_if(is_state) else { return false };
        match &exported.problem {
            None => self.leave(ASKED_FOR, folder),
            Some(problem) => self.tell_not_anew(problem),
        }
        if self.anew.is_none() {
            self.play_again(plays);
        }
        true
    }

    /// Where the driver has taken away what OpenGL holds, because the GPU was reset: for the device of the kernels that
    /// need not mean anything.
    pub(super) fn start_anew_where_reset(&mut self) {
        if self.anew.is_none() && self.context.is_reset() {
            self.resets += 1;
            self.start_anew("The GPU was reset, and with it what OpenGL held.");
        }
    }

    /// Leaves all that another process needs to go on here, with the newest state that is to be had, and ends. Returns
    /// whether it could be left; else it is said why not.
    pub(super) fn start_anew(&mut self, why: &str) -> bool {
        match TemporaryFolder::new(FOLDER) {
            Ok(folder) => {
                if let Err(problem) = self.leave_state(&state_in(folder.path())) {
                    tracing::warn!("the state goes: {problem}");
                }
                self.leave(why, folder);
            }
            Err(error) => self.tell_not_anew(&error),
        }
        self.anew.is_some()
    }

    /// Writes the state: what has come to the host, where a device may be lost; what is still on its way into the
    /// session; or else what the device has.
    fn leave_state(&mut self, to: &Path) -> Result<(), String> {
        let session = self.session.as_mut().or(self.stuck.last_mut());
        if let Some(rescued) = session.and_then(Session::take_rescued) {
            return rescued.write(to).map_err(|error| error.to_string());
        }
        if let Some(switch) = self.switch.as_ref().filter(|switch| switch.file().exists()) {
            return fs::copy(switch.file(), to).map(drop).map_err(|error| error.to_string());
        }
        match self.session.as_mut().filter(|session| session.has_program() && !session.is_stuck()) {
            Some(session) => session.save(to).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    /// Leaves a folder that has the state, where there is one, and ends.
    fn leave(&mut self, why: &str, folder: TemporaryFolder) {
        match self.handover(why).write(folder.path()) {
            Ok(()) => self.anew = Some(folder.leave()),
            Err(error) => self.tell_not_anew(&error),
        }
    }

    fn handover(&mut self, why: &str) -> Handover {
        self.workspace.keep();
        let document = &self.workspace.document;
        let parameters = self.snapshot.parameters.iter();
        let parameters = parameters.map(|of| (of.name.clone(), of.value.clone()));
        let on_their_way = self.switch.as_ref().map(|switch| switch.parameters.clone());
        Handover {
            why: why.to_owned(),
            device: self.device.info().selector.clone(),
            engine: self.engine,
            trusts_all: self.options.trust,
            trusted: self.trusted.iter().cloned().collect(),
            step_timeout: self.options.step_timeout,
            seed: self.options.seed,
            overrides: self.options.overrides.clone(),
            meant_for: self.options.meant_for.clone(),
            run: self.replaying.as_ref().map(|of| of.replay().path().to_owned()),
            document: document.origin().clone(),
            text: document.text.to_string(),
            unsaved: self.workspace.kept_in().map(PathBuf::from),
            history: document.text.history().clone(),
            selections: document.text.selections().clone(),
            parameters: on_their_way.filter(|of| !of.is_empty()).unwrap_or(parameters.collect()),
            runs: !self.is_fresh || !self.device.is_lost(),
            resets: self.resets,
        }
    }

    fn tell_not_anew(&mut self, problem: &dyn fmt::Display) {
        let text = format!("The studio cannot start anew: {problem}. Save the text, and start it.");
        self.workspace.tell(Severity::Error, text);
    }

    /// Goes on where a process before was; nothing has run yet.
    pub(super) fn resume(&mut self, Left { handover, folder, run, .. }: Left) {
        let Handover { why, text, unsaved, history, selections, parameters, runs, resets, .. } =
            handover;
        if let Some(file) = &unsaved {
            match self.workspace.recover(file) {
                Recovered::InPlace | Recovered::Opened => {}
                Recovered::Not => tracing::warn!("{}: not recovered", file.display()),
            }
        }
        if self.workspace.document.text.rope() != text.as_str() {
            self.workspace.document.restore(&text);
        }
        if !self.workspace.document.text.take_over(history, &selections) {
            tracing::warn!("what could be undone belongs to another text");
        }
        match run {
            Some(Ok(replay)) => self.replaying = Some(Replaying::over(replay)),
            Some(Err(error)) => self.workspace.tell(
                Severity::Error,
                format!("The files of the run that this text comes from are gone: {error}."),
            ),
            None => {}
        }
        self.is_fresh = true;
        self.resets = resets;
        self.redraws.want(Instant::now());
        if !runs {
            self.session = None;
            let text = format!(
                "{why} The studio has started anew once more, without the scene, which ends it by being loaded. Reset \
                 runs the text as it is then."
            );
            return self.workspace.tell(Severity::Error, text);
        }
        self.workspace.tell(Severity::Note, format!("{why} The studio has started anew."));
        if let Some(session) = &mut self.session {
            session.pause();
            session.set_source(text);
            let to = Runner::of(self.device.info(), self.engine);
            self.switch = Some(Switch::arriving(to, folder, parameters));
        }
    }
}

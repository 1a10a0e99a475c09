//! Another device: the state goes there as a file, and the scene goes on with it.

use std::{path::PathBuf, time::Instant};

use super::{Studio, opening};
use crate::{
    device::{self, Device},
    diagnostic::Severity,
    file::TemporaryFolder,
    scene::Value,
    session::{self, Command, Exportable, Exported, LoadedState},
    studio::{
        background::{Background, PANICKED, Progress},
        handover::state_in,
        runners::Runner,
    },
};

/// On the way to another device.
pub(super) struct Switch {
    to: Runner,
    /// Holds the state, and is gone with this.
    folder: TemporaryFolder,
    /// Whether the scene played.
    plays: bool,
    /// What the scene's parameters are set to at last, where the state says something else.
    pub(super) parameters: Vec<(String, Value)>,
    stage: Stage,
}

enum Stage {
    /// The old session writes the state.
    Leaving,
    /// The device is being opened.
    Opening(Background<device::Result<Device>>),
    /// The new one is being compiled.
    Arriving,
    /// It runs, and is about to get the state.
    Loading,
}

impl Switch {
    /// One whose session was told to compile the scene and to pause, and whose folder has the state, where there is
    /// one.
    pub(super) fn arriving(
        to: Runner,
        folder: TemporaryFolder,
        parameters: Vec<(String, Value)>,
    ) -> Self {
        Self { to, folder, plays: false, parameters, stage: Stage::Arriving }
    }

    /// Where the state lies, once it does.
    pub(super) fn file(&self) -> PathBuf {
        state_in(self.folder.path())
    }
}

impl Studio {
    /// Lets another device run the scene, from its present state on.
    pub(super) fn run_on(&mut self, to: Runner) {
        self.stop_replaying();
        match self.switch.take() {
            Some(switch) if matches!(switch.stage, Stage::Leaving | Stage::Opening(_)) => {
                self.switch = Some(switch);
                return self
                    .workspace
                    .tell(Severity::Note, "Another device is on its way already.");
            }
            // It has not come to run there, and may never: the state is still to be had.
            Some(switch) => return self.arrive(Switch { to, ..switch }),
            None => {}
        }
        let folder = match TemporaryFolder::new("state") {
            Ok(folder) => folder,
            Err(error) => return self.tell_stays(&to, &error),
        };
        let runs = self.snapshot.compile.running > 0;
        let plays = self.session.as_ref().is_none_or(|_| self.snapshot.clock.playing);
        let parameters = Vec::new();
        let switch = Switch { to, folder, plays, parameters, stage: Stage::Leaving };
        match self.session.as_mut().filter(|_| runs) {
            Some(session) => {
                session.apply(&Command::StopComparison);
                session.pause();
                session.start_export(Exportable::State, switch.file());
                self.switch = Some(switch);
            }
            // There is no state to take along.
            None => self.arrive(switch),
        }
    }

    /// Whether the file is the state that goes to another device; then it goes on with it.
    pub(super) fn take_left(&mut self, exported: &Exported) -> bool {
        let is_left =
            |of: &mut Switch| matches!(of.stage, Stage::Leaving) && of.file() == exported.path;
        let Some(switch) = self.switch.take_if(is_left) else { return false };
        match &exported.problem {
            None => self.arrive(switch),
            Some(problem) => self.stay(&switch, problem),
        }
        true
    }

    /// Opens the other device, on a thread: the driver may take a second.
    fn arrive(&mut self, mut switch: Switch) {
        let (choice, wake) = (switch.to.choice, opening::wake(&self.proxy));
        match Background::begin_apart("open device", wake, move || Device::open(choice)) {
            Ok(opening) => {
                switch.stage = Stage::Opening(opening);
                self.switch = Some(switch);
            }
            Err(error) => self.stay(&switch, &error),
        }
    }

    /// The scene does not go to the other device.
    fn stay(&mut self, switch: &Switch, why: &dyn std::fmt::Display) {
        self.tell_stays(&switch.to, why);
        self.play_again(switch.plays);
    }

    fn tell_stays(&mut self, to: &Runner, why: &dyn std::fmt::Display) {
        let text = format!("The scene does not go to {to}: {why}.");
        self.workspace.tell(Severity::Error, text);
    }

    /// Opens a session on the other device, once that has been opened.
    fn follow_opening_of_device(&mut self) {
        let Some(Switch { stage: Stage::Opening(opening), .. }) = &self.switch else { return };
        let opened = match opening.progress() {
            Progress::Done(opened) => opened.map_err(|error| error.to_string()),
            Progress::Pending => return,
            Progress::Failed => Err(PANICKED.to_owned()),
        };
        let Some(switch) = self.switch.take() else { return };
        match opened {
            Ok(device) => self.begin_there(switch, device),
            Err(problem) => self.stay(&switch, &problem),
        }
    }

    fn begin_there(&mut self, mut switch: Switch, device: Device) {
        let views = self.state.views.clone();
        (self.device, self.engine) = (device, switch.to.engine);
        if let Err(error) = self.console.listen(&self.device, opening::wake(&self.proxy)) {
            let text = format!("What kernels print is in the terminal alone: {error}.");
            self.workspace.tell(Severity::Warning, text);
        }
        self.restart();
        self.state.views = views;
        switch.stage = Stage::Arriving;
        if switch.file().exists()
            && let Some(session) = &mut self.session
        {
            session.pause();
            self.switch = Some(switch);
        }
    }

    /// Gives a session that has come to run what the old one held.
    pub(super) fn follow_switch(&mut self) {
        self.follow_opening_of_device();
        let (Some(switch), Some(session)) = (&mut self.switch, &mut self.session) else { return };
        match switch.stage {
            Stage::Arriving if session.has_program() && session.is_idle() => {}
            Stage::Leaving | Stage::Opening(_) | Stage::Arriving | Stage::Loading => return,
        }
        if switch.file().exists() {
            session.start_loading(switch.file());
            switch.stage = Stage::Loading;
        } else {
            self.go_on_there(Ok(Vec::new()));
        }
    }

    /// Gives the state back, unless it is the one that has come to another device; then the scene goes on with it.
    pub(super) fn take_arrived(&mut self, loaded: LoadedState) -> Option<LoadedState> {
        let is_of_it = |of: &Switch| matches!(of.stage, Stage::Loading) && of.file() == loaded.path;
        if !self.switch.as_ref().is_some_and(is_of_it) {
            return Some(loaded);
        }
        self.go_on_there(loaded.outcome);
        None
    }

    /// The other device has the state, or does not get it.
    fn go_on_there(&mut self, outcome: Result<Vec<String>, session::Error>) {
        let (Some(switch), Some(session)) = (self.switch.take(), &mut self.session) else { return };
        for (name, value) in &switch.parameters {
            session.apply(&Command::SetParameter(name.clone(), value.clone()));
        }
        self.redraws.want(Instant::now());
        let why = match outcome {
            Ok(remarks) => {
                let (to, step) = (&switch.to, self.step());
                let but = match remarks.is_empty() {
                    true => String::new(),
                    false => format!(", with {}", remarks.join("; ")),
                };
                let text = format!("The scene goes on from step {step} on {to}{but}.");
                self.workspace.tell(Severity::Note, text);
                return self.play_again(switch.plays);
            }
            // The usual reason: `[constant.cpu]` makes arrays smaller there.
            Err(session::Error::File { problem, .. }) => {
                format!("what it held does not fit there: {problem}")
            }
            Err(error) => error.to_string(),
        };
        let text = format!("The scene begins anew on {}: {why}.", switch.to);
        self.workspace.tell(Severity::Warning, text);
        self.play_again(switch.plays);
    }

    pub(super) fn play_again(&mut self, plays: bool) {
        if let Some(session) = self.session.as_mut().filter(|_| plays) {
            session.play();
        }
    }
}

//! What a session can be told to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Keeping, Session, Variant, export::Exportable, moment::Moment};
use crate::scene::{Parameter, Value};

/// What a session can be told, as a plain value.
///
/// Parameters go by their names: one that a text lacks, which was compiled meanwhile, and one that takes no such value
/// there, is left alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Give a parameter a value, from the next step on.
    SetParameter(String, Value),
    /// Give a parameter the manifest's value again.
    ResetParameter(String),
    /// Start steps by themselves.
    Play,
    /// Stop that.
    Pause,
    /// Stop that, and do one step.
    Step,
    /// Stop that, and do so many steps, one behind the other.
    Steps(u32),
    /// Stop that, and do steps until so many are finished since the reset; none where there are more.
    RunTo(u64),
    /// Steps in a second of the scene's own time, as a part of those at its usual speed.
    Speed(f64),
    /// Back to step 0, with this seed.
    Seed(u64),
    /// Back to step 0.
    Reset,
    /// End the work under way, where the device can: it is a fault, and the step is undone.
    Stop,
    /// Stop behind the first step that makes a NaN, from now on, or no more.
    PauseAtNan(bool),
    /// Go to a past moment.
    Seek(Moment),
    /// Keep the past so from now on.
    KeepPast(Keeping),
    /// Write a file: see [`Session::start_export`].
    Export(Exportable, PathBuf),
    /// Let a variant do the same steps: see [`Session::start_comparison`].
    StartComparison(Variant),
    /// End that.
    StopComparison,
    /// What an edit brought is no other name for what it took away: see [`Renamed`](super::Renamed).
    ForgetRename,
}

impl Command {
    /// Whether it brings the scene elsewhere than to its next step.
    pub const fn jumps(&self) -> bool {
        match self {
            Self::Steps(_) | Self::RunTo(_) | Self::Seed(_) | Self::Reset | Self::Seek(_) => true,
            Self::SetParameter(..)
            | Self::ResetParameter(_)
            | Self::Play
            | Self::Pause
            | Self::Step
            | Self::Speed(_)
            | Self::Stop
            | Self::PauseAtNan(_)
            | Self::KeepPast(_)
            | Self::Export(..)
            | Self::StartComparison(_)
            | Self::StopComparison
            | Self::ForgetRename => false,
        }
    }
}

impl Session {
    /// Does what a command says.
    pub fn apply(&mut self, command: &Command) {
        match command {
            Command::SetParameter(name, value) => _ = self.set_parameter(name, value.clone()),
            Command::ResetParameter(name) => self.reset_parameter(name),
            Command::Play => self.play(),
            Command::Pause => {
                self.pause();
                self.playback.single_steps = 0;
            }
            Command::Step => {
                self.pause();
                self.step_once();
            }
            Command::Steps(count) => {
                self.pause();
                self.step_often(*count);
            }
            Command::RunTo(step) => {
                self.pause();
                self.run_to(*step);
            }
            Command::Speed(speed) => self.set_speed(*speed),
            Command::Seed(seed) => self.reset_with(*seed),
            Command::Reset => {
                self.playback.single_steps = 0;
                self.reset();
            }
            Command::Stop => {
                self.pause();
                if let Some(in_flight) = &mut self.in_flight {
                    in_flight.is_unwanted = true;
                }
            }
            Command::PauseAtNan(wanted) => self.pause_at_nan(*wanted),
            Command::Seek(moment) => self.seek(*moment),
            Command::KeepPast(keeping) => self.keep_past(*keeping),
            Command::Export(what, path) => self.start_export(*what, path.clone()),
            Command::StartComparison(variant) => self.start_comparison(variant.clone()),
            Command::StopComparison => self.stop_comparison(),
            Command::ForgetRename => self.forget_rename(),
        }
    }

    /// Sets a parameter from the next step on, and says whether it did: not where the program that runs has none of
    /// that name, or one that takes no such value (see [`Parameter::accepts`]).
    pub fn set_parameter(&mut self, name: &str, value: Value) -> bool {
        let Some((index, declared)) = self.declared(name) else { return false };
        let fits = declared.accepts(&value);
        let slot = self.state.inputs.parameters.get_mut(index).filter(|_| fits);
        slot.map(|slot| *slot = value).is_some()
    }

    fn reset_parameter(&mut self, name: &str) {
        let Some((index, declared)) = self.declared(name) else { return };
        let default = declared.default.clone();
        if let Some(slot) = self.state.inputs.parameters.get_mut(index) {
            *slot = default;
        }
    }

    /// A parameter of the program that runs, and its place.
    fn declared(&self, name: &str) -> Option<(usize, &Parameter)> {
        let mut all = self.program.as_ref()?.scene.manifest.parameters.iter().enumerate();
        all.find(|(_, parameter)| parameter.name == name)
    }
}

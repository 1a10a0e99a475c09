//! What a session can be told to do.

use std::path::PathBuf;

use super::{
    Session, Variant,
    export::Exportable,
    snapshot::{Moment, ParameterId},
};
use crate::scene::{Control, Parameter, Value};

/// What a session can be told, as a plain value.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Give a parameter a value, from the next step on.
    SetParameter(ParameterId, Value),
    /// Give a parameter the manifest's value again.
    ResetParameter(ParameterId),
    /// Start steps by themselves.
    Play,
    /// Stop that.
    Pause,
    /// Stop that, and do one step.
    Step,
    /// Back to step 0.
    Reset,
    /// Go to a past moment.
    Seek(Moment),
    /// Write a file: see [`Session::start_export`].
    Export(Exportable, PathBuf),
    /// Let a variant do the same steps: see [`Session::start_comparison`].
    StartComparison(Variant),
    /// End that.
    StopComparison,
}

impl Session {
    /// Does what a command says.
    pub fn apply(&mut self, command: &Command) {
        match command {
            Command::SetParameter(id, value) => _ = self.set_parameter(id, value.clone()),
            Command::ResetParameter(id) => self.reset_parameter(id),
            Command::Play => self.play(),
            Command::Pause => self.pause(),
            Command::Step => {
                self.pause();
                self.step_once();
            }
            Command::Reset => self.reset(),
            Command::Seek(moment) => self.seek(*moment),
            Command::Export(what, path) => self.start_export(*what, path.clone()),
            Command::StartComparison(variant) => _ = self.start_comparison(variant.clone()),
            Command::StopComparison => self.stop_comparison(),
        }
    }

    /// The parameter of the program that runs with this name, for [`Session::set_parameter`].
    pub fn parameter(&self, name: &str) -> Option<ParameterId> {
        let generation = self.compile.running;
        self.declared(name).map(|_| ParameterId { name: name.to_owned(), generation })
    }

    /// Sets a parameter from the next step on, and says whether it did: not where the program that runs has none of
    /// that name, or one of another kind. A value for an older program's parameter must lie between the ends of the
    /// present one; that of the one that runs is not checked.
    pub fn set_parameter(&mut self, id: &ParameterId, value: Value) -> bool {
        let Some((index, declared)) = self.declared(&id.name) else { return false };
        let is_present = id.generation == self.compile.running;
        let fits = value.kind() == declared.default.kind()
            && (is_present || is_within(&declared.control, &value));
        let slot = self.state.inputs.parameters.get_mut(index).filter(|_| fits);
        slot.map(|slot| *slot = value).is_some()
    }

    fn reset_parameter(&mut self, id: &ParameterId) {
        let Some((index, declared)) = self.declared(&id.name) else { return };
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

/// Whether a control can show the value.
fn is_within(control: &Control, value: &Value) -> bool {
    match (control, value) {
        (Control::Slider { min, max, .. }, Value::Float(value)) => (*min..=*max).contains(value),
        (Control::Slider { min, max, .. }, Value::Int(value)) => {
            (*min..=*max).contains(&(*value as f64))
        }
        (Control::Choice(choices), Value::Int(value)) => {
            usize::try_from(*value).is_ok_and(|value| value < choices.len())
        }
        (Control::Slider { .. } | Control::Choice(_), _) => false,
        (Control::Toggle | Control::Color(_), _) => true,
    }
}

//! States from files, which the session goes on from.

use std::{path::Path, time::Instant};

use super::Studio;
use crate::{
    diagnostic::Severity,
    session::{LoadedState, Session},
};

impl Studio {
    /// Goes on from a state of the open scene that is in a file.
    pub(super) fn load_state(&mut self, path: &Path) {
        self.stop_replaying();
        if let Some(session) = &mut self.session {
            session.start_loading(path.to_owned());
        }
    }

    /// Tells from which states the scene goes on, and why it does not from others.
    pub(super) fn tell_loaded(&mut self) {
        while let Some(loaded) = self.session.as_mut().and_then(Session::take_loaded) {
            self.redraws.want(Instant::now());
            if let Some(loaded) = self.take_arrived(loaded) {
                let (severity, text) = told(&loaded, self.step());
                self.workspace.tell(severity, text);
            }
        }
    }

    /// Where the scene stands.
    pub(super) fn step(&self) -> u64 {
        self.session.as_ref().map_or(0, |session| session.clock().step)
    }
}

fn told(loaded: &LoadedState, step: u64) -> (Severity, String) {
    let path = loaded.path.display();
    match &loaded.outcome {
        Ok(remarks) if remarks.is_empty() => {
            (Severity::Note, format!("The scene goes on from {path}, step {step}."))
        }
        Ok(remarks) => {
            let remarks = remarks.join("; ");
            let text = format!("The scene goes on from {path}, step {step}, which has {remarks}.");
            (Severity::Warning, text)
        }
        Err(error) => (Severity::Error, format!("The scene does not go on from {path}: {error}.")),
    }
}

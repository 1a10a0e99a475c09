//! States from files: read on a thread, taken over by the session when they are there.

use std::path::{Path, PathBuf};

use super::{Studio, opening};
use crate::{
    diagnostic::Severity,
    session::{self, Session, StateContent},
    studio::{
        background::{Background, PANICKED, Progress},
        workspace::Wake,
    },
};

/// A state on the way from its file.
pub(super) struct Loading {
    path: PathBuf,
    reading: Background<Result<StateContent, session::Error>>,
}

impl Loading {
    /// Begins to read the state in `path` for what `session` runs; `None` where nothing runs.
    pub(super) fn begin(
        session: &Session,
        path: &Path,
        wake: Wake,
    ) -> Result<Option<Self>, session::Error> {
        let Some(request) = session.state_request(path)? else { return Ok(None) };
        let reading = Background::begin("state", wake, move |_| request.read())
            .map_err(|error| unread(path, error.to_string()))?;
        Ok(Some(Self { path: path.to_owned(), reading }))
    }

    /// Lets `session` go on from it, and gives its remarks, once it is there.
    pub(super) fn take(
        &self,
        session: &mut Session,
    ) -> Option<Result<Vec<String>, session::Error>> {
        match self.reading.progress() {
            Progress::Pending => None,
            Progress::Done(content) => Some(content.and_then(|of| session.take_state(of))),
            Progress::Failed => Some(Err(unread(&self.path, PANICKED.into()))),
        }
    }
}

fn unread(path: &Path, problem: String) -> session::Error {
    session::Error::File { action: "read", path: path.to_owned(), problem }
}

impl Studio {
    /// Goes on from a state of the open scene that is in a file.
    pub(super) fn load_state(&mut self, path: &Path) {
        self.stop_replaying();
        let Some(session) = &self.session else { return };
        match Loading::begin(session, path, opening::wake(&self.proxy)) {
            Ok(loading) => self.loading = loading,
            Err(error) => self.tell_not_loaded(path, &error),
        }
    }

    /// Goes on from a state that has been read.
    pub(super) fn follow_loading(&mut self) {
        let (Some(loading), Some(session)) = (&self.loading, &mut self.session) else { return };
        let Some(loaded) = loading.take(session) else { return };
        let step = session.clock().step;
        let Some(Loading { path, .. }) = self.loading.take() else { return };
        let name = path.display();
        match loaded {
            Ok(remarks) if remarks.is_empty() => {
                let text = format!("The scene goes on from {name}, step {step}.");
                self.workspace.tell(Severity::Note, text);
            }
            Ok(remarks) => {
                let remarks = remarks.join("; ");
                let text =
                    format!("The scene goes on from {name}, step {step}, which has {remarks}.");
                self.workspace.tell(Severity::Warning, text);
            }
            Err(error @ (session::Error::File { .. } | session::Error::NoState)) => {
                self.tell_not_loaded(&path, &error);
            }
            Err(error) => self.end_session(&error),
        }
    }

    fn tell_not_loaded(&mut self, path: &Path, error: &session::Error) {
        let text = format!("The scene does not go on from {}: {error}.", path.display());
        self.workspace.tell(Severity::Error, text);
    }
}

//! The system's dialogs for files, through the desktop's portal. They wait for the user on a thread of their own.

use std::{
    env,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

use super::wake::Wake;

/// Nobody cancels a dialog so quickly: there was none.
const QUICKEST: Duration = Duration::from_millis(500);

/// What a file is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be opened.
    Open,
    /// To be written to.
    SaveAs,
}

/// What came of a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This file.
    Chosen(Purpose, PathBuf),
    /// None.
    Cancelled,
    /// The system has no dialog for files.
    NoDialog(Purpose),
}

/// The dialogs.
pub struct Dialogs {
    sender: Sender<Answer>,
    answers: Receiver<Answer>,
    is_open: bool,
}

impl Default for Dialogs {
    fn default() -> Self {
        let (sender, answers) = mpsc::channel();
        Self { sender, answers, is_open: false }
    }
}

impl Dialogs {
    /// Opens one, unless one is open, that begins in `folder`; of a file to be written it proposes `name`.
    pub fn ask(&mut self, purpose: Purpose, folder: &Path, name: &str, wake: Wake) {
        if std::mem::replace(&mut self.is_open, true) {
            return;
        }
        let (sender, folder, name) = (self.sender.clone(), folder.to_owned(), name.to_owned());
        let begun = thread::Builder::new().name("dialog".into()).spawn(move || {
            let begun = Instant::now();
            let answer = match has_bus() {
                true => system::ask(purpose, &folder, &name),
                false => None,
            };
            // The window may be gone.
            let _ = sender.send(answer_of(purpose, answer, begun.elapsed()));
            wake();
        });
        if begun.is_err() {
            let _ = self.sender.send(Answer::NoDialog(purpose));
        }
    }

    /// What came of one that has ended.
    pub fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.try_recv().ok()?;
        self.is_open = false;
        Some(answer)
    }
}

/// The same answer, and none at once, mean a cancelled dialog and none.
fn answer_of(purpose: Purpose, chosen: Option<PathBuf>, after: Duration) -> Answer {
    match chosen {
        Some(path) => Answer::Chosen(purpose, path),
        None if after < QUICKEST => Answer::NoDialog(purpose),
        None => Answer::Cancelled,
    }
}

/// Whether there is a session in which a portal could be asked: without one, libdbus would start one.
fn has_bus() -> bool {
    let is_set = env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let socket = env::var_os("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join("bus"));
    is_set || socket.is_some_and(|socket| socket.exists())
}

#[cfg(target_os = "linux")]
mod system {
    use std::path::{Path, PathBuf};

    use super::Purpose;

    pub(super) fn ask(purpose: Purpose, folder: &Path, name: &str) -> Option<PathBuf> {
        let dialog = rfd::FileDialog::new().set_directory(folder);
        match purpose {
            Purpose::Open => dialog
                .set_title("Open a scene")
                .add_filter("CUDA scenes, states and runs", &["cu", "npz", "json"])
                .add_filter("All files", &["*"])
                .pick_file(),
            Purpose::SaveAs => {
                dialog.set_title("Save the scene as").set_file_name(name).save_file()
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::{Path, PathBuf};

    use super::Purpose;

    /// Other systems want their dialogs on the window's own thread.
    pub(super) fn ask(_: Purpose, _: &Path, _: &str) -> Option<PathBuf> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_at_once_is_no_dialog() {
        let path = PathBuf::from("a.cu");
        let soon = Duration::from_millis(20);
        assert_eq!(answer_of(Purpose::Open, None, soon), Answer::NoDialog(Purpose::Open));
        assert_eq!(answer_of(Purpose::Open, None, Duration::from_secs(2)), Answer::Cancelled);
        let chosen = Answer::Chosen(Purpose::SaveAs, path.clone());
        assert_eq!(answer_of(Purpose::SaveAs, Some(path), soon), chosen);
    }
}

//! Keys of the user's own.

use std::process::{Command, Stdio};

use super::Studio;
use crate::{
    diagnostic::Severity,
    studio::{plainly, typing::Typing},
};

/// What opens a file with the user's program for it.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

impl Studio {
    /// Binds keys as their file says, where that is another one.
    pub(super) fn follow_own_keys(&mut self) {
        let Some(own) = &mut self.own_keys else { return };
        let (editor, snapshot) = (&self.locals.editor, &self.snapshot);
        let Some(outcome) = own.follow(|| editor.bindable(snapshot)) else { return };
        Typing::bind(&self.egui.egui_ctx, outcome.keymap);
        if let Some(text) = outcome.take_back {
            self.workspace.take_back(&text);
        }
        if let Some(text) = outcome.tell {
            self.workspace.tell(Severity::Warning, text);
        }
    }

    /// Opens that file with the user's program for it, and says where it is.
    pub(super) fn open_shortcuts(&mut self) {
        let Some(own) = &self.own_keys else { return };
        let path = own.path().to_owned();
        if let Err(error) = own.write(&self.locals.editor.bindable(&self.snapshot)) {
            let why = plainly::told_of_writing(&error);
            let text = format!("{} was not written: {why}.", path.display());
            return self.workspace.tell(Severity::Error, text);
        }
        let text = format!("Keys of your own are in {}.", path.display());
        self.workspace.tell(Severity::Note, text);
        let mut opener = Command::new(OPENER);
        opener.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // It is waited for, so that nothing of it stays behind.
        std::thread::spawn(move || match opener.status() {
            Ok(_) => {}
            Err(error) => tracing::warn!("{}: not opened: {error}", path.display()),
        });
    }
}

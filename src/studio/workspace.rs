//! The document in the workspace: opening, saving, outside changes, and what becomes of unsaved text.
//!
//! All that the studio does to the user's files is here, and none of it needs a window.

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ropey::Rope;

use super::{
    action::Action,
    document::{DiskChange, Document},
    keeper::{Due, Failure, Keeper},
    notice::Notice,
    notices::Notices,
    plainly,
    recovery::{Recovery, Version},
    wake::Wake,
    watch::FileWatch,
};
use crate::{diagnostic::Severity, file};

/// A file that has been missing for so long is gone: other programs take it away for a moment as they write it.
const GONE_AFTER: Duration = Duration::from_millis(500);

/// The open document and everything that keeps it safe.
pub struct Workspace {
    /// The text and its file.
    pub document: Document,
    notices: Notices,
    watch: Option<FileWatch>,
    /// Since when the file cannot be read; `None` once that has been looked into.
    unreadable_since: Option<Instant>,
    /// What the disk has, while the user has not decided between it and the editor's text.
    conflict: Option<String>,
    /// Writes everything that is kept; it has ended before the recovery folder is tidied.
    pub keeper: Keeper,
    recovery: Option<Recovery>,
    /// Where the open document's unsaved text is kept.
    kept: Option<Kept>,
    due: Due,
    /// Unsaved texts that are not in the editor, oldest first.
    unsaved: Vec<Version>,
    /// Whether the user is to be asked about them.
    asks: bool,
    wake: Wake,
}

/// The open document's unsaved text as the disk has it.
struct Kept {
    file: PathBuf,
    /// `None`: not what it should be.
    text: Option<Rope>,
}

/// What became of a text that the user wanted back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// It is in the open document.
    InPlace,
    /// Its document was opened for it.
    Opened,
    /// It cannot be read; the user has been told.
    Not,
}

impl Workspace {
    /// Puts `document` into the workspace; unsaved text goes to `recovery` where there is such a place.
    pub fn new(document: Document, recovery: Option<Recovery>, wake: Wake) -> Self {
        let mut workspace = Self {
            document,
            notices: Notices::default(),
            watch: None,
            unreadable_since: None,
            conflict: None,
            recovery,
            keeper: Keeper::new(wake.clone()),
            kept: None,
            due: Due::default(),
            unsaved: Vec::new(),
            asks: false,
            wake,
        };
        workspace.look_for_unsaved();
        workspace.watch_file();
        workspace
    }

    /// Finds what was left unsaved, and whether anything can be kept at all.
    fn look_for_unsaved(&mut self) {
        let Some(recovery) = &mut self.recovery else {
            let text = "Nothing is kept: the system knows no home folder. Save often.";
            return self.notices.tell_lasting(text, Vec::new());
        };
        let prepared = recovery.prepare();
        self.unsaved = recovery.left();
        self.asks = !self.unsaved.is_empty();
        if let Err(error) = prepared {
            self.tell_not_kept(&error);
        }
    }

    /// Puts another document into the workspace; the unsaved text of the one before is kept.
    pub fn open(&mut self, document: Document) {
        self.lay_aside();
        self.document = document;
        self.notices.forget_document();
        self.conflict = None;
        self.unreadable_since = None;
        self.watch_file();
        self.asks |= self.unsaved.iter().any(|version| version.is_of(&self.document));
    }

    /// Keeps the document's unsaved text as one that is not in the editor any more.
    fn lay_aside(&mut self) {
        self.keep();
        if let Some(kept) = self.kept.take() {
            self.unsaved.push(Recovery::version(kept.file, &self.document));
        }
    }

    fn watch_file(&mut self) {
        let wake = self.wake.clone();
        let watch = self.document.path.as_deref().map(|path| FileWatch::new(path, move || wake()));
        self.watch = match watch {
            Some(Ok(watch)) => Some(watch),
            Some(Err(error)) => {
                tracing::warn!("{}: not watched: {error}", self.document.name);
                None
            }
            None => None,
        };
    }

    /// What there is to tell and ask.
    pub fn notices(&self) -> &[Notice] {
        self.notices.all()
    }

    /// Tells `text` until the user closes it; the same text once.
    pub fn tell(&mut self, severity: Severity, text: impl Into<String>) {
        self.notices.ask(severity, text, Vec::new());
    }

    /// Takes `text` back, which was told.
    pub fn take_back(&mut self, text: &str) {
        self.notices.take_back(text);
    }

    fn tell_not_kept(&mut self, error: &io::Error) {
        let folder = self.recovery.as_ref().map(|r| r.folder().display().to_string());
        let folder = folder.unwrap_or_default();
        let why = plainly::told_of_writing(error);
        let text = format!(
            "Unsaved text cannot be kept in {folder}: {why}. Save often: a crash would take it."
        );
        self.notices.tell_lasting(&text, save_as());
    }

    /// Says that the file at `path`, which is not about text, could not be written.
    fn tell_not_remembered(&mut self, path: &Path, error: &io::Error) {
        let (path, why) = (path.display(), plainly::told_of_writing(error));
        let text = format!("Layout and last scene are not remembered in {path}: {why}.");
        self.notices.tell_lasting(&text, Vec::new());
    }

    /// Takes away the notice `number`.
    pub fn dismiss(&mut self, number: u64) {
        self.notices.dismiss(number);
    }

    /// Looks whether another program has changed the file, or one of those that it includes: `included`. Gives the text
    /// that is to be compiled anew for their sake.
    pub fn poll(&mut self, included: &[PathBuf]) -> Option<String> {
        let watch = self.watch.as_mut()?;
        watch.follow(included);
        let (disk, stale) = (watch.poll(), watch.poll_included());
        match disk {
            Some(Ok(disk)) => _ = self.on_disk(disk),
            Some(Err(_)) => self.unreadable_since = Some(Instant::now()),
            None => {}
        }
        stale.then(|| self.document.submit())
    }

    /// Notes that the file is gone, once it has been for a while. Gives when to call this again.
    fn look_for_file(&mut self, now: Instant) -> Option<Instant> {
        let again = self.unreadable_since? + GONE_AFTER;
        if now < again {
            return Some(again);
        }
        self.unreadable_since = None;
        if self.watch.as_ref().is_some_and(FileWatch::is_gone) {
            self.document.file_is_gone();
            let text = self.gone_text();
            self.tell(Severity::Warning, text);
        }
        None
    }

    fn gone_text(&self) -> String {
        format!("{} is gone from the disk. Save writes it anew.", self.document.file_name())
    }

    fn on_disk(&mut self, disk: String) -> DiskChange {
        self.unreadable_since = None;
        let text = self.gone_text();
        self.notices.take_back(&text);
        let change = self.document.on_disk(&disk);
        match change {
            DiskChange::Reloaded => {
                tracing::info!("{}: changed on disk, reloaded", self.document.name);
            }
            DiskChange::Conflict => self.ask_about(disk),
            DiskChange::None => {
                self.conflict = None;
                self.notices.dismiss_question(&Action::ReloadFromDisk);
            }
        }
        change
    }

    fn ask_about(&mut self, disk: String) {
        self.conflict = Some(disk);
        self.notices.dismiss_question(&Action::ReloadFromDisk);
        let text = format!(
            "{} was changed by another program, and you have changed it here.",
            self.document.file_name()
        );
        let answers =
            vec![("Reload from disk", Action::ReloadFromDisk), ("Keep mine", Action::KeepMine)];
        self.notices.ask(Severity::Warning, text, answers);
    }

    /// Takes the disk's text, where the two differ. The editor's stays in the recovery folder.
    pub fn reload_from_disk(&mut self) {
        if let Some(disk) = self.conflict.take() {
            self.lay_aside();
            self.document.reload(&disk);
        }
        self.notices.dismiss_question(&Action::ReloadFromDisk);
    }

    /// Keeps the editor's text, where the two differ.
    pub fn keep_mine(&mut self) {
        if let Some(disk) = self.conflict.take() {
            self.document.keep(&disk);
        }
        self.notices.dismiss_question(&Action::ReloadFromDisk);
    }

    /// The unsaved texts that the user is asked about.
    pub fn unsaved(&self) -> &[Version] {
        if self.asks { &self.unsaved } else { &[] }
    }

    /// The file that keeps the open document's unsaved text, where it has some.
    pub fn kept_in(&self) -> Option<&Path> {
        self.kept.as_ref().map(|kept| kept.file.as_path())
    }

    /// Asks no more about unsaved texts; they stay where they are.
    pub fn ask_later(&mut self) {
        self.asks = false;
    }

    /// Puts the unsaved text in `file` into the editor, and its document where another one is open. The text that it
    /// takes the place of is kept, and undo has it, too.
    pub fn recover(&mut self, file: &Path) -> Recovered {
        // It may be one of this process, and on its way to the disk.
        self.keeper.flush();
        let Some(version) = self.take_unsaved(file) else { return Recovered::Not };
        let text = match version.text() {
            Ok(text) => text,
            Err(error) => {
                let text = format!("The unsaved text of {} is gone: {error}.", version.name());
                self.tell(Severity::Error, text);
                return Recovered::Not;
            }
        };
        let in_place = version.is_of(&self.document);
        if in_place {
            self.lay_aside();
        } else {
            self.open(version.document());
        }
        let taken_over = self.recovery.as_mut().map(|r| r.adopt(&version, &self.document));
        match taken_over {
            Some(Ok(file)) => self.kept = Some(Kept { file, text: Some(Rope::from_str(&text)) }),
            // The file stays, and the text is kept anew as if it had been typed.
            Some(Err(error)) => tracing::warn!("{}: not taken over: {error}", file.display()),
            None => {}
        }
        self.document.restore(&text);
        if in_place { Recovered::InPlace } else { Recovered::Opened }
    }

    /// Forgets the unsaved text in `file`.
    pub fn discard(&mut self, file: &Path) {
        if let Some(version) = self.take_unsaved(file) {
            self.keeper.remove(version.file);
        }
    }

    fn take_unsaved(&mut self, file: &Path) -> Option<Version> {
        let at = self.unsaved.iter().position(|version| version.file == file)?;
        Some(self.unsaved.remove(at))
    }

    /// Writes the text to its file, or to a new one in `folder` where it has none. What goes wrong is told.
    pub fn save(&mut self, folder: &Path) {
        let saved = match self.document.path.clone() {
            Some(path) => self.save_to(path),
            None => self.save_new(folder),
        };
        match saved {
            Ok(()) => {
                let text = self.gone_text();
                self.notices.take_back(&text);
                self.forget_saved();
            }
            Err(error) => {
                let (name, why) = (self.document.file_name(), plainly::told_of_writing(&error));
                let text = format!("{name} was not saved: {why}. Your text is still here.");
                let cure = if self.conflict.is_some() { Vec::new() } else { save_as() };
                self.notices.ask(Severity::Error, text, cure);
            }
        }
    }

    /// Writes the text to the file at `path`, which is the document's from now on.
    ///
    /// # Errors
    /// Why it did not, in plain words.
    pub fn save_as(&mut self, path: PathBuf) -> Result<(), String> {
        let written = file::replace(&path, self.document.to_disk());
        written.map_err(|error| plainly::told_of_writing(&error))?;
        let text = self.gone_text();
        self.notices.take_back(&text);
        self.conflict = None;
        self.notices.dismiss_question(&Action::ReloadFromDisk);
        self.document.saved_as(path.clone());
        self.watch_file();
        self.forget_saved();
        self.tell(Severity::Note, format!("Saved as {}.", path.display()));
        Ok(())
    }

    fn save_to(&mut self, path: PathBuf) -> io::Result<()> {
        // A text that has grown in the window is saved as any other; only one that would be taken over has the limit.
        let limit = match self.document.is_modified() {
            true => file::SOURCE_LIMIT,
            false => Document::LARGEST,
        };
        let disk = match file::read_regular_text(&path, limit) {
            Ok(disk) => self.on_disk(disk),
            Err(error) if error.kind() == io::ErrorKind::NotFound => DiskChange::None,
            // Another program has put something else in its place, which may be a pipe.
            Err(error) => return Err(error),
        };
        if disk == DiskChange::Conflict {
            return Err(io::Error::other("first choose between the disk's text and yours"));
        }
        file::replace(&path, self.document.to_disk())?;
        self.document.saved_as(path);
        Ok(())
    }

    fn save_new(&mut self, folder: &Path) -> io::Result<()> {
        let name = self.document.file_name();
        let path = file::free_name(folder, name.strip_suffix(".cu").unwrap_or(name), "cu");
        file::create(&path, self.document.to_disk())?;
        self.document.saved_as(path.clone());
        self.watch_file();
        self.tell(Severity::Note, format!("Saved as {}.", path.display()));
        Ok(())
    }

    fn forget_saved(&mut self) {
        self.notices.forget_errors();
        self.keep();
    }

    /// Keeps unsaved text in the recovery folder soon after it has changed. Gives when to call this again.
    pub fn keep_soon(&mut self, now: Instant) -> Option<Instant> {
        self.look_at_failures(now);
        let look = self.look_for_file(now);
        let differs = self.recovery.is_some() && self.differs_from_kept();
        if self.due.has_come(differs, now) {
            self.keep();
        }
        self.due.at().into_iter().chain(look).chain(self.notices.forget_read(now)).min()
    }

    /// Whether the recovery folder has something else than it should.
    fn differs_from_kept(&self) -> bool {
        match &self.kept {
            Some(kept) => {
                !self.document.is_modified()
                    || kept.text.as_ref() != Some(self.document.text.rope())
            }
            None => self.document.is_modified(),
        }
    }

    /// Keeps unsaved text in the recovery folder; forgets it there when all is on the disk.
    pub fn keep(&mut self) {
        let Some(recovery) = self.recovery.as_mut() else { return };
        if !self.document.is_modified() {
            if let Some(kept) = self.kept.take() {
                self.keeper.remove(kept.file);
            }
            return;
        }
        let file = match self.kept.take() {
            Some(Kept { file, text }) if text.as_ref() == Some(self.document.text.rope()) => {
                self.kept = Some(Kept { file, text });
                return;
            }
            Some(Kept { file, .. }) => Ok(file),
            None => recovery.place(&self.document),
        };
        match file {
            Ok(file) => {
                self.keeper.write(file.clone(), Recovery::content(&self.document));
                self.kept = Some(Kept { file, text: Some(self.document.text.rope().clone()) });
            }
            Err(error) => {
                self.due.failed(Instant::now());
                self.tell_not_kept(&error);
            }
        }
    }

    /// Tells what could not be written, and tries again later where it is text.
    fn look_at_failures(&mut self, now: Instant) {
        let failures: Vec<Failure> = self.keeper.failures().collect();
        for Failure { path, error } in failures {
            match self.kept.as_mut().filter(|kept| kept.file == path) {
                Some(kept) => {
                    kept.text = None;
                    self.due.failed(now);
                    self.tell_not_kept(&error);
                }
                None if self.recovery.as_ref().is_some_and(|r| path.starts_with(r.folder())) => {
                    tracing::warn!("{}: {error}", path.display());
                }
                None => self.tell_not_remembered(&path, &error),
            }
        }
    }

    /// Keeps everything and waits for it; what cannot be kept is said on the terminal, as the window is about to close.
    pub fn close(&mut self) {
        self.keep();
        self.keeper.flush();
        self.look_at_failures(Instant::now());
    }
}

/// The cure where something cannot be written.
fn save_as() -> Vec<(&'static str, Action)> {
    vec![("Save as \u{2026}", Action::SaveAs)]
}

#[cfg(test)]
mod tests;

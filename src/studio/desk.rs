//! The document on the desk: opening, saving, outside changes, and what becomes of unsaved text.
//!
//! All that the studio does to the user's files is here, and none of it needs a window.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    document::{DiskChange, Document},
    panels::{Action, banner::Notice},
    recovery::Recovery,
    watch::FileWatch,
};
use crate::{diagnostic::Severity, file};

/// Called, on any thread, when the window should look at the desk again.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The open document and everything that keeps it safe.
pub struct Desk {
    /// The text and its file.
    pub document: Document,
    notices: Vec<Notice>,
    next_notice: u64,
    watch: Option<FileWatch>,
    /// What the disk has, while the user has not decided between it and the editor's text.
    conflict: Option<String>,
    /// Unsaved text from last time, while the user has not decided about it.
    recovered: Option<String>,
    recovery: Option<Recovery>,
    wake: Wake,
}

impl Desk {
    /// Puts `document` on the desk; unsaved text goes to `recovery` where there is such a place.
    pub fn new(document: Document, recovery: Option<Recovery>, wake: Wake) -> Self {
        let mut desk = Self {
            document,
            notices: Vec::new(),
            next_notice: 0,
            watch: None,
            conflict: None,
            recovered: None,
            recovery,
            wake,
        };
        desk.opened();
        desk
    }

    /// Puts another document on the desk; the unsaved text of the one before is kept.
    pub fn open(&mut self, document: Document) {
        self.keep();
        self.document = document;
        self.notices.clear();
        self.opened();
    }

    /// Reads the file at `path`, named as the user named it.
    ///
    /// # Errors
    /// Whatever the system says about reading; text that is not UTF-8 is `InvalidData`.
    pub fn read(path: &Path) -> io::Result<Document> {
        let text = fs::read_to_string(path)?;
        Ok(Document::new(path.display().to_string(), Some(path.to_owned()), &text))
    }

    fn opened(&mut self) {
        self.conflict = None;
        self.watch_file();
        self.recovered = self.recovery.as_ref().and_then(|r| r.find(&self.document));
        if self.recovered.is_some() {
            self.ask(
                Severity::Note,
                "There is unsaved text of this scene from last time.",
                vec![("Restore", Action::Recover), ("Discard", Action::Discard)],
            );
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
        &self.notices
    }

    /// Tells `text` until the user closes it; the same text once.
    pub fn tell(&mut self, severity: Severity, text: impl Into<String>) {
        self.ask(severity, text, Vec::new());
    }

    fn ask(
        &mut self,
        severity: Severity,
        text: impl Into<String>,
        answers: Vec<(&'static str, Action)>,
    ) {
        let text = text.into();
        self.notices.retain(|notice| notice.text != text);
        self.notices.push(Notice { number: self.next_notice, severity, text, answers });
        self.next_notice += 1;
    }

    /// Takes away the notice `number`.
    pub fn dismiss(&mut self, number: u64) {
        self.notices.retain(|notice| notice.number != number);
    }

    fn dismiss_question(&mut self, answer: &Action) {
        self.notices.retain(|notice| notice.answers.iter().all(|(_, action)| action != answer));
    }

    /// Looks whether another program has changed the file, or one of those that it includes: `included`. Gives the text
    /// that is to be compiled anew for their sake.
    pub fn poll(&mut self, included: &[PathBuf]) -> Option<String> {
        let watch = self.watch.as_mut()?;
        watch.follow(included);
        let (disk, stale) = (watch.poll(), watch.poll_included());
        if let Some(disk) = disk {
            self.on_disk(disk);
        }
        stale.then(|| self.document.submit())
    }

    fn on_disk(&mut self, disk: String) -> DiskChange {
        let change = self.document.on_disk(&disk);
        match change {
            DiskChange::Reloaded => {
                tracing::info!("{}: changed on disk, reloaded", self.document.name);
            }
            DiskChange::Conflict => self.ask_about(disk),
            DiskChange::None => {
                self.conflict = None;
                self.dismiss_question(&Action::ReloadFromDisk);
            }
        }
        change
    }

    fn ask_about(&mut self, disk: String) {
        self.conflict = Some(disk);
        self.dismiss_question(&Action::ReloadFromDisk);
        let text = format!(
            "{} was changed by another program, and you have changed it here.",
            self.document.file_name()
        );
        let answers =
            vec![("Reload from disk", Action::ReloadFromDisk), ("Keep mine", Action::KeepMine)];
        self.ask(Severity::Warning, text, answers);
    }

    /// Takes the disk's text, where the two differ. The editor's stays in the recovery folder.
    pub fn reload_from_disk(&mut self) {
        if let Some(disk) = self.conflict.take() {
            self.keep();
            self.document.reload(&disk);
        }
        self.dismiss_question(&Action::ReloadFromDisk);
    }

    /// Keeps the editor's text, where the two differ.
    pub fn keep_mine(&mut self) {
        if let Some(disk) = self.conflict.take() {
            self.document.keep(&disk);
        }
        self.dismiss_question(&Action::ReloadFromDisk);
    }

    /// Takes the unsaved text from last time. What is in the editor can be had back with undo.
    pub fn recover(&mut self) {
        if let Some(text) = self.recovered.take() {
            self.document.restore(text);
        }
        self.dismiss_question(&Action::Recover);
    }

    /// Forgets the unsaved text from last time.
    pub fn discard(&mut self) {
        self.recovered = None;
        if let Some(recovery) = &self.recovery {
            recovery.forget(&self.document);
        }
        self.dismiss_question(&Action::Recover);
    }

    /// Writes the text to its file, or to a new one in `folder` where it has none. What goes wrong is told.
    pub fn save(&mut self, folder: &Path) {
        let saved = match self.document.path.clone() {
            Some(path) => self.save_to(path),
            None => self.save_new(folder),
        };
        match saved {
            Ok(()) => self.forget_saved(),
            Err(error) => {
                let name = self.document.file_name();
                let text = format!("{name} was not saved: {error}. Your text is still here.");
                self.tell(Severity::Error, text);
            }
        }
    }

    fn save_to(&mut self, path: PathBuf) -> io::Result<()> {
        let disk = fs::read_to_string(&path).ok();
        if let Some(disk) = disk
            && (self.on_disk(disk) == DiskChange::Conflict)
        {
            return Err(io::Error::other("first choose between the disk's text and yours"));
        }
        file::replace(&path, self.document.to_disk())?;
        self.document.saved_as(path);
        Ok(())
    }

    fn save_new(&mut self, folder: &Path) -> io::Result<()> {
        let name = self.document.file_name();
        let path = file::free_name(folder, name.strip_suffix(".cu").unwrap_or(name));
        file::create(&path, self.document.to_disk())?;
        if let Some(recovery) = &self.recovery {
            recovery.forget(&self.document);
        }
        self.document.saved_as(path.clone());
        self.watch_file();
        self.tell(Severity::Note, format!("Saved as {}.", path.display()));
        Ok(())
    }

    fn forget_saved(&mut self) {
        self.notices.retain(|notice| notice.severity < Severity::Error);
        self.keep();
    }

    /// Keeps unsaved text in the recovery folder; forgets it there when all is on the disk.
    pub fn keep(&mut self) {
        if self.recovered.is_some() && !self.document.is_modified() {
            // The text from last time is neither restored nor discarded yet: it stays.
            return;
        }
        let kept = self.recovery.as_ref().map(|recovery| recovery.keep(&self.document));
        if let Some(Err(error)) = kept {
            tracing::warn!("{}: unsaved text not kept: {error}", self.document.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bench {
        folder: tempfile::TempDir,
        path: PathBuf,
        desk: Desk,
    }

    fn bench() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cu");
        fs::write(&path, "old").unwrap();
        let recovery = Recovery::new(folder.path().join("recovery"));
        let desk = Desk::new(Desk::read(&path).unwrap(), Some(recovery), Arc::new(|| {}));
        Bench { folder, path, desk }
    }

    fn answers(desk: &Desk) -> Vec<&str> {
        desk.notices().iter().flat_map(|n| &n.answers).map(|(label, _)| *label).collect()
    }

    #[test]
    fn saving_writes_the_file() {
        let mut bench = bench();
        bench.desk.document.text = "new".into();
        bench.desk.save(bench.folder.path());
        assert_eq!(fs::read_to_string(&bench.path).unwrap(), "new");
        assert!(!bench.desk.document.is_modified());
        assert!(bench.desk.notices().is_empty());
    }

    #[test]
    fn a_failed_save_is_told_and_loses_nothing() {
        let mut bench = bench();
        bench.desk.document.text = "typed".into();
        let mut permissions = fs::metadata(&bench.path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&bench.path, permissions).unwrap();
        bench.desk.save(bench.folder.path());
        assert_eq!(bench.desk.document.text, "typed");
        assert!(bench.desk.document.is_modified());
        assert!(bench.desk.notices()[0].text.contains("read-only"), "{:?}", bench.desk.notices());
        assert_eq!(fs::read_to_string(&bench.path).unwrap(), "old");
    }

    #[test]
    fn a_save_over_anothers_change_asks_first() {
        let mut bench = bench();
        bench.desk.document.text = "mine".into();
        fs::write(&bench.path, "theirs").unwrap();
        bench.desk.save(bench.folder.path());
        assert_eq!(fs::read_to_string(&bench.path).unwrap(), "theirs");
        assert_eq!(answers(&bench.desk), ["Reload from disk", "Keep mine"]);
        bench.desk.keep_mine();
        bench.desk.save(bench.folder.path());
        assert_eq!(fs::read_to_string(&bench.path).unwrap(), "mine");
        assert!(bench.desk.notices().is_empty());
    }

    #[test]
    fn reloading_keeps_the_replaced_text_in_the_recovery_folder() {
        let mut bench = bench();
        bench.desk.document.text = "mine".into();
        bench.desk.on_disk("theirs".into());
        bench.desk.reload_from_disk();
        assert_eq!(bench.desk.document.text, "theirs");
        assert!(answers(&bench.desk).is_empty());
        let recovery = Recovery::new(bench.folder.path().join("recovery"));
        assert_eq!(recovery.find(&bench.desk.document).as_deref(), Some("mine"));
    }

    #[test]
    fn closing_with_unsaved_text_offers_it_on_the_next_open() {
        let mut bench = bench();
        bench.desk.document.text = "typed".into();
        bench.desk.keep();
        let recovery = Recovery::new(bench.folder.path().join("recovery"));
        let reopen =
            || Desk::new(Desk::read(&bench.path).unwrap(), Some(recovery.clone()), Arc::new(|| {}));
        let mut again = reopen();
        assert_eq!(answers(&again), ["Restore", "Discard"]);
        assert_eq!(again.document.text, "old", "not without asking");
        again.keep();
        assert_eq!(answers(&reopen()), ["Restore", "Discard"], "still there when not answered");
        again.recover();
        assert_eq!(again.document.text, "typed");
        reopen().discard();
        assert!(answers(&reopen()).is_empty());
    }

    #[test]
    fn a_built_in_is_saved_to_a_new_file() {
        let mut bench = bench();
        bench.desk.open(Document::new("particles", None, "text"));
        bench.desk.save(bench.folder.path());
        let path = bench.folder.path().join("particles.cu");
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        assert_eq!(bench.desk.document.path.as_ref(), Some(&path));
        assert!(bench.desk.notices()[0].text.contains("particles.cu"));
    }

    #[test]
    fn opening_another_scene_keeps_the_unsaved_text_of_the_first() {
        let mut bench = bench();
        bench.desk.document.text = "typed".into();
        bench.desk.open(Document::new("particles", None, "text"));
        assert!(answers(&bench.desk).is_empty());
        bench.desk.open(Desk::read(&bench.path).unwrap());
        assert_eq!(answers(&bench.desk), ["Restore", "Discard"]);
    }

    #[test]
    fn files_that_cannot_be_read_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let kind = |result: io::Result<Document>| result.map(|_| ()).unwrap_err().kind();
        assert_eq!(kind(Desk::read(&folder.path().join("no.cu"))), io::ErrorKind::NotFound);
        fs::write(folder.path().join("b.cu"), [0xff, 0xfe]).unwrap();
        assert_eq!(kind(Desk::read(&folder.path().join("b.cu"))), io::ErrorKind::InvalidData);
    }
}

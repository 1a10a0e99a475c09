//! The document in the workspace: opening, saving, outside changes, and what becomes of unsaved text.
//!
//! All that the studio does to the user's files is here, and none of it needs a window.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use ropey::Rope;

use super::{
    document::{DiskChange, Document},
    keeper::{Due, Failure, Keeper},
    panels::{Action, banner::Notice},
    recovery::{Recovery, Version},
    watch::FileWatch,
};
use crate::{diagnostic::Severity, file};

/// Called, on any thread, when the window should look at the workspace again.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The open document and everything that keeps it safe.
pub struct Workspace {
    /// The text and its file.
    pub document: Document,
    notices: Vec<Notice>,
    next_notice: u64,
    watch: Option<FileWatch>,
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
    /// What was told once and is not told again.
    told: BTreeSet<String>,
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
            notices: Vec::new(),
            next_notice: 0,
            watch: None,
            conflict: None,
            recovery,
            keeper: Keeper::new(wake.clone()),
            kept: None,
            due: Due::default(),
            unsaved: Vec::new(),
            asks: false,
            told: BTreeSet::new(),
            wake,
        };
        workspace.look_for_unsaved();
        workspace.watch_file();
        workspace
    }

    /// Finds what was left unsaved, and whether anything can be kept at all.
    fn look_for_unsaved(&mut self) {
        let Some(recovery) = &mut self.recovery else {
            return self
                .tell_lasting("Nothing is kept: the system knows no home folder. Save often.");
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
        self.notices.retain(|notice| notice.lasting);
        self.conflict = None;
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
        self.notify(severity, text.into(), answers, false);
    }

    fn notify(
        &mut self,
        severity: Severity,
        text: String,
        answers: Vec<(&'static str, Action)>,
        lasting: bool,
    ) {
        self.notices.retain(|notice| notice.text != text);
        let number = self.next_notice;
        self.notices.push(Notice { number, severity, text, answers, lasting });
        self.next_notice += 1;
    }

    /// Tells `text`, which is about more than the open document, once.
    fn tell_lasting(&mut self, text: &str) {
        if self.told.insert(text.to_owned()) {
            tracing::warn!("{text}");
            self.notify(Severity::Error, text.to_owned(), Vec::new(), true);
        }
    }

    fn tell_not_kept(&mut self, error: &io::Error) {
        let folder = self.recovery.as_ref().map(|r| r.folder().display().to_string());
        let folder = folder.unwrap_or_default();
        self.tell_lasting(&format!(
            "Unsaved text cannot be kept in {folder}: {error}. Save often: a crash would take it."
        ));
    }

    /// Says that the file at `path`, which is not about text, could not be written.
    fn tell_not_remembered(&mut self, path: &Path, error: &io::Error) {
        let path = path.display();
        self.tell_lasting(&format!("Layout and last scene are not remembered in {path}: {error}."));
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
            self.lay_aside();
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

    /// The unsaved texts that the user is asked about.
    pub fn unsaved(&self) -> &[Version] {
        if self.asks { &self.unsaved } else { &[] }
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
            Ok(()) => self.forget_saved(),
            Err(error) => {
                let name = self.document.file_name();
                let text = format!("{name} was not saved: {error}. Your text is still here.");
                self.tell(Severity::Error, text);
            }
        }
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
        self.notices.retain(|notice| notice.severity < Severity::Error);
        self.keep();
    }

    /// Keeps unsaved text in the recovery folder soon after it has changed. Gives when to call this again.
    pub fn keep_soon(&mut self, now: Instant) -> Option<Instant> {
        self.look_at_failures(now);
        let differs = self.recovery.is_some() && self.differs_from_kept();
        if self.due.has_come(differs, now) {
            self.keep();
        }
        self.due.at()
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

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use super::*;
    use crate::studio::{keeper::no_wake, text::Command};

    struct Bench {
        folder: tempfile::TempDir,
        path: PathBuf,
        workspace: Workspace,
    }

    impl Bench {
        /// Another studio that opens `document`.
        fn start(&self, document: Document) -> Workspace {
            Workspace::new(
                document,
                Some(Recovery::new(self.folder.path().join("recovery"))),
                no_wake(),
            )
        }

        /// Another studio that opens the file.
        fn reopen(&self) -> Workspace {
            self.start(Document::read(&self.path).unwrap())
        }
    }

    fn bench() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cu");
        fs::write(&path, "old").unwrap();
        let recovery = Recovery::new(folder.path().join("recovery"));
        let workspace = Workspace::new(Document::read(&path).unwrap(), Some(recovery), no_wake());
        Bench { folder, path, workspace }
    }

    /// Types as a user who then pauses, and gives what the window would do meanwhile.
    fn type_and_wait(workspace: &mut Workspace, text: &str) {
        workspace.document.text = text.into();
        let now = Instant::now();
        let due = workspace.keep_soon(now).expect("a changed text is due");
        assert!(due - now < Duration::from_secs(1), "{:?}", due - now);
        assert_eq!(workspace.keep_soon(due), None);
        workspace.keeper.flush();
    }

    fn answers(workspace: &Workspace) -> Vec<&str> {
        workspace.notices().iter().flat_map(|n| &n.answers).map(|(label, _)| *label).collect()
    }

    /// The names and texts of what the user is asked about.
    fn asked(workspace: &Workspace) -> Vec<(String, String)> {
        let told = |version: &Version| (version.name().to_owned(), version.text().unwrap());
        workspace.unsaved().iter().map(told).collect()
    }

    fn texts(workspace: &Workspace) -> Vec<String> {
        asked(workspace).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn saving_writes_the_file() {
        let mut bench = bench();
        bench.workspace.document.text = "new".into();
        bench.workspace.save(bench.folder.path());
        assert_eq!(fs::read_to_string(&bench.path).unwrap(), "new");
        assert!(!bench.workspace.document.is_modified());
        assert!(bench.workspace.notices().is_empty());
    }

    #[test]
    fn a_text_that_has_grown_is_saved_again_and_again() {
        let mut bench = bench();
        for letter in ["a", "b", "c"] {
            bench.workspace.document.text = letter.repeat(Document::LARGEST as usize + 1).into();
            bench.workspace.save(bench.folder.path());
            assert!(!bench.workspace.document.is_modified(), "{:?}", bench.workspace.notices());
            assert!(fs::read_to_string(&bench.path).unwrap().starts_with(letter));
        }
    }

    #[test]
    fn a_failed_save_is_told_and_loses_nothing() {
        let mut bench = bench();
        bench.workspace.document.text = "typed".into();
        let mut permissions = fs::metadata(&bench.path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&bench.path, permissions).unwrap();
        bench.workspace.save(bench.folder.path());
        assert_eq!(bench.workspace.document.text, "typed");
        assert!(bench.workspace.document.is_modified());
        assert!(
            bench.workspace.notices()[0].text.contains("read-only"),
            "{:?}",
            bench.workspace.notices()
        );
        assert_eq!(fs::read_to_string(&bench.path).unwrap(), "old");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_text_any_more_is_not_written_over() {
        let mut bench = bench();
        bench.workspace.document.text = "typed".into();
        fs::remove_file(&bench.path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&bench.path).status();
        assert!(made.unwrap().success());
        bench.workspace.save(bench.folder.path());
        assert!(
            bench.workspace.notices()[0].text.contains("a pipe"),
            "{:?}",
            bench.workspace.notices()
        );
        fs::remove_file(&bench.path).unwrap();
        fs::write(&bench.path, [0xff]).unwrap();
        bench.workspace.save(bench.folder.path());
        assert_eq!(fs::read(&bench.path).unwrap(), [0xff]);
        assert!(bench.workspace.document.is_modified());
        fs::remove_file(&bench.path).unwrap();
        bench.workspace.save(bench.folder.path());
        assert_eq!(
            fs::read_to_string(&bench.path).unwrap(),
            "typed",
            "a file that is gone is made anew"
        );
    }

    #[test]
    fn a_save_over_anothers_change_asks_first() {
        let mut bench = bench();
        bench.workspace.document.text = "mine".into();
        fs::write(&bench.path, "theirs").unwrap();
        bench.workspace.save(bench.folder.path());
        assert_eq!(fs::read_to_string(&bench.path).unwrap(), "theirs");
        assert_eq!(answers(&bench.workspace), ["Reload from disk", "Keep mine"]);
        bench.workspace.keep_mine();
        bench.workspace.save(bench.folder.path());
        assert_eq!(fs::read_to_string(&bench.path).unwrap(), "mine");
        assert!(bench.workspace.notices().is_empty());
    }

    #[test]
    fn reloading_keeps_the_replaced_text_in_the_recovery_folder() {
        let mut bench = bench();
        type_and_wait(&mut bench.workspace, "mine");
        bench.workspace.on_disk("theirs".into());
        bench.workspace.reload_from_disk();
        assert_eq!(bench.workspace.document.text, "theirs");
        assert!(answers(&bench.workspace).is_empty());
        assert!(bench.workspace.unsaved().is_empty(), "the user has just decided about it");
        bench.workspace.close();
        let next = bench.reopen();
        drop(std::mem::replace(&mut bench.workspace, next));
        assert_eq!(texts(&bench.reopen()), ["mine"]);
    }

    #[test]
    fn a_plain_start_offers_all_that_is_unsaved_whatever_it_opens() {
        let bench = bench();
        let other = bench.folder.path().join("other.cu");
        fs::write(&other, "old").unwrap();
        for (path, text) in [(&bench.path, "first"), (&other, "second")] {
            let mut crashed = bench.start(Document::read(path).unwrap());
            type_and_wait(&mut crashed, text);
        }
        let asks = |workspace: &Workspace| {
            let mut asked = asked(workspace);
            asked.sort();
            asked
        };
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let both = [pair("a.cu", "first"), pair("other.cu", "second")];
        let mut next = bench.start(Document::built_in("particles").unwrap());
        assert_eq!(asks(&next), both);
        next.ask_later();
        assert_eq!(asks(&next), []);
        next.open(Document::read(&bench.path).unwrap());
        assert_eq!(asks(&next), both, "one of them is of this document");
        next.close();
        drop(next);
        assert_eq!(asks(&bench.reopen()), both, "not answered, still there");
    }

    #[test]
    fn what_a_crash_left_stays_until_it_is_restored_or_discarded() {
        let bench = bench();
        type_and_wait(&mut bench.reopen(), "crashed");

        let mut second = bench.reopen();
        assert_eq!(second.document.text, "old", "not without asking");
        type_and_wait(&mut second, "typed instead of an answer");
        drop(second);
        let mut third = bench.reopen();
        assert_eq!(texts(&third), ["crashed", "typed instead of an answer"]);

        let crashed = third.unsaved()[0].file.clone();
        third.document.text = "on the way".into();
        assert_eq!(third.recover(&crashed), Recovered::InPlace);
        assert_eq!(third.document.text, "crashed");
        third.keeper.flush();
        assert_eq!(texts(&third), ["typed instead of an answer", "on the way"]);
        assert_eq!(third.recover(&crashed), Recovered::Not, "once");
        let file = third.unsaved()[0].file.clone();
        third.discard(&file);
        drop(third);

        let fourth = bench.reopen();
        let mut left = texts(&fourth);
        left.sort();
        assert_eq!(left, ["crashed", "on the way"], "restored is not saved");
    }

    #[test]
    fn restoring_opens_the_file_that_it_is_of() {
        let bench = bench();
        type_and_wait(&mut bench.reopen(), "crashed");
        let mut next = bench.start(Document::new("particles.cu", None, "text"));
        let file = next.unsaved()[0].file.clone();
        assert_eq!(next.recover(&file), Recovered::Opened);
        assert_eq!(next.document.path.as_ref(), Some(&bench.path));
        assert_eq!(
            (&*next.document.text.to_string(), next.document.is_modified()),
            ("crashed", true)
        );
        assert!(next.unsaved().is_empty());
        next.save(bench.folder.path());
        assert_eq!(fs::read_to_string(&bench.path).unwrap(), "crashed");
        drop(next);
        assert!(bench.reopen().unsaved().is_empty(), "saved in the end");
    }

    #[test]
    fn two_studios_with_one_file_keep_each_their_own() {
        let bench = bench();
        let (mut one, mut two) = (bench.reopen(), bench.reopen());
        type_and_wait(&mut one, "of one");
        type_and_wait(&mut two, "of two");
        assert!(bench.reopen().unsaved().is_empty(), "both are being worked on");
        drop((one, two));
        let mut left = texts(&bench.reopen());
        left.sort();
        assert_eq!(left, ["of one", "of two"]);
    }

    #[test]
    fn text_is_kept_while_somebody_types_without_a_pause() {
        let bench = bench();
        let mut workspace = bench.reopen();
        let start = Instant::now();
        let mut kept_at = Vec::new();
        for key in 1..=60 {
            let now = start + key * Duration::from_millis(50);
            workspace.document.text.run(&Command::Type("x".into()), 0.0);
            let before = workspace.kept.as_ref().and_then(|kept| kept.text.clone());
            workspace.keep_soon(now);
            if workspace.kept.as_ref().and_then(|kept| kept.text.clone()) != before {
                kept_at.push(now - start);
            }
        }
        let gaps = kept_at.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.max().unwrap() < Duration::from_secs(1), "{kept_at:?}");
        assert!(kept_at.len() < 10, "not each key: {kept_at:?}");
    }

    #[test]
    fn a_place_that_cannot_be_written_is_told_once_with_path_and_reason() {
        let bench = bench();
        fs::write(bench.folder.path().join("file"), "").unwrap();
        let folder = bench.folder.path().join("file/recovery");
        let document = || Document::read(&bench.path).unwrap();
        let mut workspace = Workspace::new(document(), Some(Recovery::new(&folder)), no_wake());
        assert_eq!(workspace.notices().len(), 1, "before anything is lost");
        let notice = workspace.notices()[0].clone();
        assert!(notice.text.contains(&folder.display().to_string()), "{notice:?}");
        assert!(notice.text.contains("Not a directory"), "{notice:?}");
        workspace.open(Document::new("particles.cu", None, "text"));
        assert_eq!(workspace.notices().len(), 1, "it is as true for another document");
        workspace.dismiss(notice.number);
        workspace.document.text = "typed".into();
        workspace.keep();
        assert!(workspace.notices().is_empty(), "once");

        workspace.keeper.write(bench.folder.path().join("file/studio.json"), String::new());
        workspace.keeper.flush();
        workspace.keep_soon(Instant::now());
        workspace.keep_soon(Instant::now());
        assert_eq!(workspace.notices().len(), 1, "{:?}", workspace.notices());
    }

    #[test]
    fn a_built_in_is_saved_to_a_new_file() {
        let mut bench = bench();
        bench.workspace.open(Document::new("particles", None, "text"));
        bench.workspace.save(bench.folder.path());
        let path = bench.folder.path().join("particles.cu");
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        assert_eq!(bench.workspace.document.path.as_ref(), Some(&path));
        assert!(bench.workspace.notices()[0].text.contains("particles.cu"));
    }

    #[test]
    fn opening_another_scene_keeps_the_unsaved_text_of_the_first() {
        let mut bench = bench();
        bench.workspace.document.text = "typed".into();
        bench.workspace.open(Document::new("particles", None, "text"));
        assert!(bench.workspace.unsaved().is_empty());
        bench.workspace.keeper.flush();
        bench.workspace.open(Document::read(&bench.path).unwrap());
        assert_eq!(texts(&bench.workspace), ["typed"]);
        let file = bench.workspace.unsaved()[0].file.clone();
        assert_eq!(bench.workspace.recover(&file), Recovered::InPlace);
        assert_eq!(bench.workspace.document.text, "typed");
    }
}

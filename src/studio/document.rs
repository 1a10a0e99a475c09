//! The open scene's text, where it comes from, and which of its states are safe on the disk.

use std::{
    io,
    path::{Path, PathBuf},
};

use ropey::Rope;

use super::{origin::Origin, text::Buffer};
use crate::{
    file::{self, SOURCE_LIMIT},
    scene::Scene,
};

/// Seconds without a key after which a changed text is compiled.
pub const PAUSE_S: f64 = 0.3;

/// A scene's text while it is being edited.
#[derive(Clone, Debug)]
pub struct Document {
    /// The name that diagnostics carry, from opening to closing: the path as the user gave it, or a
    /// built-in's name.
    pub name: String,
    /// The file, if it is one; built-in scenes have none until they are saved.
    pub path: Option<PathBuf>,
    origin: Origin,
    /// The text in the editor. Lines end with `\n` here where all of the file's end with `\r\n`; else as in the file.
    pub text: Buffer,
    saved: Rope,
    /// Whether the file that had it is gone from the disk.
    is_gone: bool,
    submitted: Rope,
    changed_at: Option<f64>,
    carriage_returns: bool,
}

/// What a new text on the disk means for the text in the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskChange {
    /// It is what the editor knows already.
    None,
    /// The editor's text was unmodified and is the disk's now.
    Reloaded,
    /// Both have changed: the user decides.
    Conflict,
}

impl Document {
    /// The largest file that the window opens, in bytes. It is compared, coloured and compiled as it is typed.
    pub const LARGEST: u64 = 2 << 20;

    /// A document whose `text` is what is on the disk, and what is being compiled.
    pub fn new(name: impl Into<String>, path: Option<PathBuf>, text: &str) -> Self {
        let (text, carriage_returns) = edited(text);
        let (name, text) = (name.into(), Buffer::new(&text));
        Self {
            origin: Origin::new(name.clone(), path.as_deref()),
            name,
            path,
            saved: text.rope().clone(),
            is_gone: false,
            submitted: text.rope().clone(),
            text,
            changed_at: None,
            carriage_returns,
        }
    }

    /// Reads the file at `path`, named as the user named it.
    ///
    /// # Errors
    /// Whatever the system says about reading, and `InvalidInput` for a pipe or a device, which is not opened,
    /// `FileTooLarge`, and `InvalidData` for text that is not UTF-8.
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::read_up_to(path, Self::LARGEST)
    }

    /// [`read`](Self::read) with another limit, in bytes.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn read_up_to(path: &Path, limit: u64) -> io::Result<Self> {
        let text = file::read_regular_text(path, limit)?;
        Ok(Self::new(path.display().to_string(), Some(path.to_owned()), &text))
    }

    /// The built-in scene `name`, with or without `.cu`.
    pub fn built_in(name: &str) -> Option<Self> {
        let name = name.strip_suffix(".cu").unwrap_or(name);
        let text = Scene::built_in(name)?;
        Some(Self::new(format!("{name}.cu"), None, text))
    }

    /// That of `origin` as it is on the disk; empty where that is gone.
    pub fn of(origin: &Origin) -> Self {
        let Origin { name, path } = origin;
        let found = match path {
            // It may have grown in the window.
            Some(path) => Self::read_up_to(path, SOURCE_LIMIT).ok(),
            None => Self::built_in(name),
        };
        let found = found.unwrap_or_else(|| Self::new(name.clone(), path.clone(), ""));
        // It is called as it was, which tells what the user allows it.
        Self { name: name.clone(), origin: origin.clone(), ..found }
    }

    /// Whether it goes by the name of a built-in scene, and has no file.
    pub fn is_built_in(&self) -> bool {
        let name = self.name.strip_suffix(".cu").unwrap_or(&self.name);
        self.path.is_none() && Scene::built_in(name).is_some()
    }

    /// Which document this is; asks no disk.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The name to show: without the folders.
    pub fn file_name(&self) -> &str {
        self.path
            .as_deref()
            .and_then(Path::file_name)
            .and_then(|name| name.to_str())
            .unwrap_or(&self.name)
    }

    /// Whether the editor has something that the disk has not.
    pub fn is_modified(&self) -> bool {
        self.is_gone || !is_same(self.text.rope(), &self.saved)
    }

    /// Notes that its file is gone from the disk: the text is nowhere but here.
    pub fn file_is_gone(&mut self) {
        self.is_gone = true;
    }

    /// The text with the file's own line ends.
    pub fn to_disk(&self) -> String {
        let text = self.text.to_string();
        if self.carriage_returns { text.replace('\n', "\r\n") } else { text }
    }

    /// Notes that the text changed at `now`, in seconds of any clock.
    pub fn touch(&mut self, now: f64) {
        self.changed_at = Some(now);
    }

    /// Seconds until [`Document::due`] gives something; `None` when nothing has changed.
    pub fn due_in(&self, now: f64) -> Option<f64> {
        self.changed_at.map(|changed| (changed + PAUSE_S - now).max(0.0))
    }

    /// The text to compile, once a pause has passed since the last change to it.
    pub fn due(&mut self, now: f64) -> Option<String> {
        if self.due_in(now)? > 0.0 {
            return None;
        }
        self.changed_at = None;
        (!is_same(self.text.rope(), &self.submitted)).then(|| self.submit())
    }

    /// The text to compile at once, changed or not.
    pub fn submit(&mut self) -> String {
        self.changed_at = None;
        self.submitted = self.text.rope().clone();
        self.text.to_string()
    }

    /// Notes that the present text is on the disk, in the file `path`.
    pub fn saved_as(&mut self, path: PathBuf) {
        self.origin = Origin::new(self.name.clone(), Some(&path));
        self.path = Some(path);
        self.is_gone = false;
        self.saved = self.text.rope().clone();
    }

    /// Decides what `disk`, the file's new content, means; see `DiskChange`.
    pub fn on_disk(&mut self, disk: &str) -> DiskChange {
        let (text, carriage_returns) = edited(disk);
        self.is_gone = false;
        if self.saved == text {
            // Somebody may have changed how its lines end.
            self.carriage_returns = carriage_returns;
            DiskChange::None
        } else if self.text == text {
            (self.saved, self.carriage_returns) = (self.text.rope().clone(), carriage_returns);
            DiskChange::None
        } else if self.is_modified() {
            DiskChange::Conflict
        } else {
            self.reload(disk);
            DiskChange::Reloaded
        }
    }

    /// Takes `disk` as the text, whatever was in the editor; undo has that still.
    pub fn reload(&mut self, disk: &str) {
        let (text, carriage_returns) = edited(disk);
        self.carriage_returns = carriage_returns;
        self.restore(&text);
        self.saved = self.text.rope().clone();
    }

    /// Keeps the editor's text although the disk has `disk`; the next save replaces it.
    pub fn keep(&mut self, disk: &str) {
        self.saved = Rope::from_str(&edited(disk).0);
    }

    /// Replaces the editor's text by one that is not on the disk; undo has that before still.
    pub fn restore(&mut self, text: &str) {
        self.text.replace_all(text, f64::NEG_INFINITY);
        self.changed_at = Some(f64::NEG_INFINITY);
    }
}

/// Whether two texts are the same; at once where one is the other's copy.
fn is_same(a: &Rope, b: &Rope) -> bool {
    a.is_instance(b) || a.len_bytes() == b.len_bytes() && a == b
}

/// The text of a file as it is edited, and whether `\r` is to stand before each `\n` again when it is saved. Where
/// lines end in different ways they stay as they are.
fn edited(disk: &str) -> (String, bool) {
    let mut lines = disk.split_inclusive('\n').filter(|line| line.ends_with('\n')).peekable();
    let all = lines.peek().is_some() && lines.all(|line| line.ends_with("\r\n"));
    (if all { disk.replace("\r\n", "\n") } else { disk.to_owned() }, all)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::studio::text::Command;

    fn add(document: &mut Document, text: &str) {
        let end = document.text.rope().len_chars();
        document.text.replace(vec![(end..end, text.to_owned())], 0.0);
    }

    fn document() -> Document {
        Document::new("a.cu", Some("a.cu".into()), "one\n")
    }

    #[test]
    fn files_that_cannot_be_read_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let kind = |name: &str| Document::read(&folder.path().join(name)).unwrap_err().kind();
        assert_eq!(kind("no.cu"), io::ErrorKind::NotFound);
        fs::write(folder.path().join("b.cu"), [0xff, 0xfe]).unwrap();
        assert_eq!(kind("b.cu"), io::ErrorKind::InvalidData);
        fs::write(folder.path().join("c.cu"), vec![b' '; Document::LARGEST as usize + 1]).unwrap();
        assert_eq!(kind("c.cu"), io::ErrorKind::FileTooLarge);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless.cu")).unwrap();
            assert_eq!(kind("endless.cu"), io::ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn lines_end_as_they_did() {
        for (disk, text) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\r\nb", "a\nb"),
            ("a\r\nb\n", "a\r\nb\n"),
            ("a\rb", "a\rb"),
            ("a\nb\n", "a\nb\n"),
            ("", ""),
        ] {
            let mut document = Document::new("a.cu", None, disk);
            assert_eq!((&*document.text.to_string(), document.to_disk().as_str()), (text, disk));
            assert_eq!(document.on_disk(disk), DiskChange::None);
            document.reload(disk);
            assert_eq!((&*document.text.to_string(), document.to_disk().as_str()), (text, disk));
        }
    }

    #[test]
    fn lines_end_as_they_do_on_the_disk_now() {
        for (before, now) in [("a\r\nb\r\n", "a\nb\n"), ("a\nb\n", "a\r\nb\r\n")] {
            let mut document = Document::new("a.cu", None, before);
            assert_eq!(document.on_disk(now), DiskChange::None);
            assert_eq!(document.to_disk(), now);
        }
    }

    #[test]
    fn a_change_is_compiled_after_a_pause_and_once() {
        let mut document = document();
        assert_eq!(document.due_in(0.0), None);
        add(&mut document, "two\n");
        document.touch(10.0);
        assert_eq!(document.due(10.2), None);
        document.touch(10.2);
        assert_eq!(document.due(10.4), None, "each key starts the pause again");
        assert_eq!(document.due(10.5).as_deref(), Some("one\ntwo\n"));
        assert_eq!(document.due(99.0), None);
    }

    #[test]
    fn a_change_that_is_taken_back_is_not_compiled() {
        let mut document = document();
        document.touch(0.0);
        assert_eq!(document.due(1.0), None);
    }

    #[test]
    fn an_outside_change_reloads_an_unmodified_text() {
        let mut document = document();
        assert_eq!(document.on_disk("one\n"), DiskChange::None);
        assert_eq!(document.on_disk("new\n"), DiskChange::Reloaded);
        assert_eq!(document.text, "new\n");
        assert_eq!(document.due(0.0).as_deref(), Some("new\n"), "and is compiled at once");
        assert!(!document.is_modified());
    }

    #[test]
    fn an_outside_change_never_replaces_what_the_user_typed() {
        let mut document = document();
        document.text = "mine\n".into();
        assert_eq!(document.on_disk("theirs\n"), DiskChange::Conflict);
        assert_eq!(document.text, "mine\n");
        document.keep("theirs\n");
        assert_eq!(document.on_disk("theirs\n"), DiskChange::None, "asked once");
        assert!(document.is_modified());
        document.reload("theirs\n");
        assert_eq!((&*document.text.to_string(), document.is_modified()), ("theirs\n", false));
        document.text.run(&Command::Undo, 0.0);
        assert_eq!(document.text, "mine\n", "nothing is lost");
    }

    #[test]
    fn the_same_change_on_both_sides_is_no_conflict() {
        let mut document = document();
        document.text = "same\n".into();
        assert_eq!(document.on_disk("same\n"), DiskChange::None);
        assert!(!document.is_modified());
    }

    #[test]
    fn line_ends_of_the_file_survive() {
        let mut document = Document::new("a.cu", None, "a\r\nb\r\n");
        assert_eq!(document.text, "a\nb\n");
        assert!(!document.is_modified());
        add(&mut document, "c\n");
        assert_eq!(document.to_disk(), "a\r\nb\r\nc\r\n");
    }

    #[test]
    fn saving_a_built_in_gives_it_a_file_and_diagnostics_still_find_it() {
        let mut document = Document::new("particles", None, "x");
        add(&mut document, "y");
        document.saved_as("here/mine.cu".into());
        assert_eq!((document.name.as_str(), document.file_name()), ("particles", "mine.cu"));
        assert!(!document.is_modified());
    }
}

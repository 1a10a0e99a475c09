//! Unsaved text, kept where a crash or a closed window cannot take it.
//!
//! Each running studio has an [`OwnFolder`] in the data folder's `recovery/`, so that what a running studio is at is
//! told from what an ended one has left. A text is a file there: its first line says where it belongs, the rest is the
//! text. No studio ever writes into the file of another one, nor into one of an earlier text: that stays until the user
//! restores or discards it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{document::Document, origin::Origin};
use crate::file::{OwnFolder, Owner};

/// What the first line of a text begins with; an origin as JSON follows.
const MARK: &str = "// unsaved text of ";
/// How the names of processes' folders begin.
const PREFIX: &str = "studio-";
/// The ending of texts.
const TEXT: &str = "cu";

/// The folder of unsaved texts.
#[derive(Debug)]
pub struct Recovery {
    folder: PathBuf,
    /// What belongs to this process.
    own: Option<OwnFolder>,
    /// Counts the texts of this process.
    made: u64,
}

/// A text that is not saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The file that has it.
    pub file: PathBuf,
    /// When it was last written.
    pub written: SystemTime,
    origin: Origin,
}

impl Version {
    /// The name to show, without the folders.
    pub fn name(&self) -> &str {
        let file = self.origin.path.as_deref().and_then(Path::file_name);
        file.and_then(|name| name.to_str()).unwrap_or(&self.origin.name)
    }

    /// The file that it would be saved to, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.origin.path.as_deref()
    }

    /// Whether it is a text of `document`.
    pub fn is_of(&self, document: &Document) -> bool {
        let of = document.origin();
        match &self.origin.path {
            Some(_) => self.origin.path == of.path,
            None => of.path.is_none() && self.origin.name == of.name,
        }
    }

    /// The document that it belongs to as it is on the disk; empty where that is gone.
    pub fn document(&self) -> Document {
        Document::of(&self.origin)
    }

    /// The text.
    ///
    /// # Errors
    /// Whatever the system says about reading.
    pub fn text(&self) -> io::Result<String> {
        Ok(split(&fs::read_to_string(&self.file)?).1.to_owned())
    }

    /// The one in `file`, and its text.
    fn read(file: PathBuf) -> io::Result<(Self, String)> {
        let content = fs::read_to_string(&file)?;
        let written = fs::metadata(&file)?.modified()?;
        let (origin, text) = split(&content);
        let origin = origin.unwrap_or_else(|| named(&file));
        Ok((Self { file, written, origin }, text.to_owned()))
    }
}

/// What the file's name tells of a text without a first line of ours: `particles-0123456789abcdef.cu`.
fn named(file: &Path) -> Origin {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name);
    Origin::new(format!("{name}.cu"), None)
}

/// A file's first line, where it is one of ours, and the text behind it.
fn split(content: &str) -> (Option<Origin>, &str) {
    let marked = content.strip_prefix(MARK).and_then(|rest| rest.split_once('\n'));
    match marked.and_then(|(line, text)| Some((serde_json::from_str(line).ok()?, text))) {
        Some((origin, text)) => (Some(origin), text),
        None => (None, content),
    }
}

impl Recovery {
    /// Keeps texts in `folder`, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), own: None, made: 0 }
    }

    /// Where texts are kept.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes this process's own folder, where there is none yet.
    ///
    /// # Errors
    /// Whatever the system says about it: then nothing can be kept.
    pub fn prepare(&mut self) -> io::Result<()> {
        self.own().map(drop)
    }

    fn own(&mut self) -> io::Result<&Path> {
        if self.own.is_none() {
            fs::create_dir_all(&self.folder)?;
            self.own = Some(OwnFolder::new(&self.folder, PREFIX)?);
        }
        self.own.as_ref().map(OwnFolder::path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// A place for the unsaved text of `document` that no other text has.
    ///
    /// # Errors
    /// As [`Recovery::prepare`].
    pub fn place(&mut self, document: &Document) -> io::Result<PathBuf> {
        self.made += 1;
        let name = Path::new(document.file_name()).file_stem().unwrap_or_default();
        let name: String = name.to_string_lossy().chars().take(40).collect();
        let file = format!("{name}-{}.{TEXT}", self.made);
        Ok(self.own()?.join(file))
    }

    /// What is to be written there.
    pub fn content(document: &Document) -> String {
        let mut origin = document.origin().clone();
        // JSON has no bytes that are no text: such a path is kept as a name.
        origin.path = origin.path.filter(|path| path.to_str().is_some());
        let line = serde_json::to_string(&origin).unwrap_or_default();
        format!("{MARK}{line}\n{}", document.text)
    }

    /// The text of `document` that is in `file` now.
    pub fn version(file: PathBuf, document: &Document) -> Version {
        Version { file, written: SystemTime::now(), origin: document.origin().clone() }
    }

    /// Takes over a version: what was another process's file is this one's afterwards.
    ///
    /// # Errors
    /// Whatever the system says about moving the file, which stays where it was.
    pub fn adopt(&mut self, version: &Version, document: &Document) -> io::Result<PathBuf> {
        let place = self.place(document)?;
        fs::rename(&version.file, &place)?;
        Ok(place)
    }

    /// What studios that have ended left unsaved, oldest first. What is of no use to anybody is cleared: unfinished
    /// files, empty folders, texts that are on the disk by now.
    pub fn left(&self) -> Vec<Version> {
        let mut left = Vec::new();
        for path in entries(&self.folder) {
            if path.is_dir() {
                left.extend(left_in(&path));
            } else if has_ending(&path, TEXT) {
                // As the first version of warpaint kept them.
                left.extend(unsaved(path));
            }
        }
        left.sort_by_key(|version| version.written);
        left
    }
}

impl Drop for Recovery {
    fn drop(&mut self) {
        if let Some(own) = self.own.take() {
            clear(own.path());
            // Unlocked only now: another process may look at what is left.
            drop(own);
        }
    }
}

/// The texts in the folder of a process, if it has ended.
fn left_in(folder: &Path) -> Vec<Version> {
    let files = || entries(folder).into_iter().filter(|path| has_ending(path, TEXT));
    match OwnFolder::owner(folder) {
        Owner::Running => Vec::new(),
        // Perhaps it runs: then nothing is cleared.
        Owner::Unknown => files()
            .filter_map(|file| Version::read(file).ok())
            .map(|(version, _)| version)
            .collect(),
        Owner::Nobody | Owner::Ended { .. } => {
            let left = files().filter_map(unsaved).collect();
            clear(folder);
            left
        }
    }
}

/// The version in `file`, unless its text is on the disk: then the file is removed.
fn unsaved(file: PathBuf) -> Option<Version> {
    let (version, text) = Version::read(file)
        .inspect_err(|error| tracing::warn!("an unsaved text cannot be read: {error}"))
        .ok()?;
    let saved =
        version.path().is_some_and(|path| Document::read(path).is_ok_and(|d| d.text == text));
    if saved {
        // What cannot be removed is looked at again next time.
        let _ = fs::remove_file(&version.file);
    }
    (!saved).then_some(version)
}

/// Removes what is no text from the folder of a process that has ended or is about to, and all of it where no text is
/// left.
fn clear(folder: &Path) {
    // What cannot be removed is looked at again next time.
    for path in entries(folder).iter().filter(|path| !has_ending(path, TEXT)) {
        let _ = fs::remove_file(path);
    }
    OwnFolder::remove_empty(folder);
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn particles(text: &str) -> Document {
        let mut document = Document::new("particles.cu", None, "");
        document.text = text.into();
        document
    }

    /// Keeps `document` as the studio would, and gives the file.
    fn keep(recovery: &mut Recovery, document: &Document) -> PathBuf {
        let place = recovery.place(document).unwrap();
        fs::write(&place, Recovery::content(document)).unwrap();
        place
    }

    fn texts(recovery: &Recovery) -> Vec<String> {
        recovery.left().iter().map(|version| version.text().unwrap()).collect()
    }

    #[test]
    fn a_running_studio_and_ended_ones_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let [mut first, mut second, third] = [(); 3].map(|()| Recovery::new(folder.path()));
        keep(&mut first, &particles("first"));
        keep(&mut second, &particles("second"));
        assert_eq!(texts(&third), [""; 0], "both run");
        assert_eq!(texts(&first), [""; 0]);
        drop(first);
        assert_eq!(texts(&third), ["first"]);
        drop(second);
        let mut both = texts(&third);
        both.sort();
        assert_eq!(both, ["first", "second"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_became_a_link_does_not_take_its_text_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["a.cu", "other.cu"].map(|name| folder.path().join(name));
        fs::write(&path, "old").unwrap();
        fs::write(&other, "other").unwrap();
        let mut document = Document::read(&path).unwrap();
        document.text = "new".into();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        let mut ended = Recovery::new(folder.path().join("recovery"));
        keep(&mut ended, &document);
        drop(ended);
        let left = Recovery::new(folder.path().join("recovery")).left();
        assert_eq!(left[0].path(), Some(&*path));
        assert!(left[0].is_of(&document));
    }

    #[test]
    fn texts_know_where_they_belong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a \"b\" \u{fc}.cu");
        fs::write(&path, "old").unwrap();
        let mut document = Document::read(&path).unwrap();
        document.text = "// unsaved text of nothing\nnew\n".into();
        let mut ended = Recovery::new(folder.path().join("recovery"));
        keep(&mut ended, &document);
        drop(ended);

        let left = Recovery::new(folder.path().join("recovery")).left();
        assert_eq!(left.len(), 1);
        assert_eq!((left[0].name(), left[0].path()), ("a \"b\" \u{fc}.cu", Some(&*path)));
        assert_eq!(document.text, left[0].text().unwrap());
        assert!(left[0].is_of(&document) && !left[0].is_of(&particles("")));
        assert_eq!(left[0].document().text, "old");
        fs::remove_file(&path).unwrap();
        assert_eq!(left[0].document().text, "", "its file is gone, its text is not");
    }

    #[test]
    fn what_is_of_no_use_is_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cu");
        fs::write(&path, "old").unwrap();
        let recovery_folder = folder.path().join("recovery");
        let mut document = Document::read(&path).unwrap();
        document.text = "saved in the end".into();
        let mut ended = Recovery::new(&recovery_folder);
        let file = keep(&mut ended, &document);
        fs::write(file.with_file_name(".warpaint-x1Y2z3.tmp"), "half").unwrap();
        // As after a crash: nothing is cleared at the end.
        drop(ended.own.take().unwrap());

        let recovery = Recovery::new(&recovery_folder);
        assert_eq!(texts(&recovery), ["saved in the end"]);
        assert!(!file.with_file_name(".warpaint-x1Y2z3.tmp").exists(), "drafts go at once");
        fs::write(&path, "saved in the end").unwrap();
        assert_eq!(texts(&recovery), [""; 0]);
        assert_eq!(texts(&recovery), [""; 0]);
        assert_eq!(entries(&recovery_folder), Vec::<PathBuf>::new(), "neither folder nor lock");
    }

    #[test]
    fn a_studio_without_unsaved_text_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut recovery = Recovery::new(folder.path());
        recovery.prepare().unwrap();
        assert_eq!(entries(folder.path()).len(), 2);
        drop(recovery);
        assert_eq!(entries(folder.path()).len(), 0);
    }

    #[test]
    fn texts_of_the_first_version_are_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("gray-scott-0123456789abcdef.cu"), "typed").unwrap();
        let left = Recovery::new(folder.path()).left();
        assert_eq!((left.len(), left[0].name()), (1, "gray-scott.cu"));
        assert!(left[0].document().text.to_string().contains("[[pass]]"), "the built-in scene");
        assert_eq!(left[0].text().unwrap(), "typed");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let mut recovery = Recovery::new(folder.path().join("file/recovery"));
        assert!(recovery.prepare().is_err());
        assert!(recovery.place(&particles("")).is_err());
        assert_eq!(texts(&recovery), [""; 0]);
    }
}

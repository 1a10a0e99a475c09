//! Unsaved text, kept where a crash or a closed window cannot take it.
//!
//! One file a scene in the data folder's `recovery/`, written with every compile of a modified text and
//! removed by a save.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::document::Document;
use crate::file;

/// The folder of unsaved texts.
#[derive(Clone, Debug)]
pub struct Recovery {
    folder: PathBuf,
}

impl Recovery {
    /// Keeps texts in `folder`, which is made when the first one comes.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Keeps the text of `document`, or forgets it where it is on the disk.
    ///
    /// # Errors
    /// Whatever the system says about writing.
    pub fn keep(&self, document: &Document) -> io::Result<()> {
        if !document.is_modified() {
            self.forget(document);
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        file::replace(&self.file(document), &document.text)
    }

    /// The unsaved text of `document` from last time, if it differs from the present one.
    pub fn find(&self, document: &Document) -> Option<String> {
        fs::read_to_string(self.file(document)).ok().filter(|text| *text != document.text)
    }

    /// Forgets the unsaved text of `document`.
    pub fn forget(&self, document: &Document) {
        // Absent is what is wanted; anything else shows again when the next text is kept.
        let _ = fs::remove_file(self.file(document));
    }

    fn file(&self, document: &Document) -> PathBuf {
        let path =
            document.path.as_deref().map(|path| fs::canonicalize(path).unwrap_or(path.into()));
        let key = path.as_deref().unwrap_or(Path::new(&document.name));
        let hash = Sha256::digest(key.as_os_str().as_encoded_bytes());
        let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let stem = Path::new(document.file_name()).file_stem().unwrap_or_default();
        self.folder.join(format!("{}-{hash}.cu", stem.to_string_lossy()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsaved_text_is_found_again_until_it_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let recovery = Recovery::new(folder.path().join("recovery"));
        let mut document = Document::new("particles", None, "old");
        assert_eq!(recovery.find(&document), None);
        document.text = "typed".into();
        recovery.keep(&document).unwrap();

        let mut reopened = Document::new("particles", None, "old");
        assert_eq!(recovery.find(&reopened).as_deref(), Some("typed"));
        assert_eq!(recovery.find(&Document::new("other", None, "old")), None);
        reopened.restore("typed".into());
        assert_eq!(recovery.find(&reopened), None);

        document.saved_as(folder.path().join("particles.cu"));
        document.path = None;
        recovery.keep(&document).unwrap();
        assert_eq!(recovery.find(&Document::new("particles", None, "old")), None);
    }
}

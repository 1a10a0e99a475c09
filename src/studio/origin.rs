//! Where an open text comes from: what it is called, and its place on the disk as that was when it was opened.

use std::{
    fs,
    path::{self, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// What tells one document from another, for as long as it is open and in later runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// [`super::document::Document::name`].
    pub name: String,
    /// The absolute path of its file, behind symbolic links, if it has one. A file that becomes a link to another one
    /// while it is open does not change it.
    #[serde(with = "crate::file::any_path")]
    pub path: Option<PathBuf>,
}

impl Origin {
    /// The origin of the document called `name`, with the file `path` as that is on the disk now.
    pub fn new(name: String, path: Option<&Path>) -> Self {
        let place = |path: &Path| fs::canonicalize(path).or_else(|_| path::absolute(path));
        let path = path.map(|path| place(path).unwrap_or(path.to_owned()));
        Self { name, path }
    }
}

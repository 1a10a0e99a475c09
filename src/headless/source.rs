//! Where a scene comes from: a file, or the program itself.

use std::path::{Path, PathBuf};

use super::{Error, Result};
use crate::{
    diagnostic::nearest,
    file,
    scene::{Scene, built_ins},
};

/// A scene's text and where it was found.
#[derive(Clone, Debug)]
pub struct SceneSource {
    /// The name that the user gave: a path, or a built-in's name with `.cu`.
    pub name: String,
    /// The file; `None` for a built-in scene.
    pub path: Option<PathBuf>,
    /// The text.
    pub text: String,
}

impl SceneSource {
    /// Finds `name`: a file of that name first, then a built-in scene. A folder of that name hides none.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is neither, [`Error::File`] when the file cannot be read.
    pub fn find(name: &str) -> Result<Self> {
        Self::find_up_to(name, file::SOURCE_LIMIT)
    }

    /// Where it lies, and what it names is looked for.
    pub(super) fn folder(&self) -> &Path {
        self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }

    /// [`find`](Self::find) for who takes files of so many bytes.
    ///
    /// # Errors
    /// Those of [`find`](Self::find).
    pub fn find_up_to(name: &str, limit: u64) -> Result<Self> {
        let path = PathBuf::from(name);
        if path.exists() && !path.is_dir() {
            let text = file::read_regular_text(&path, limit);
            let text = text.map_err(Error::reading(&path))?;
            return Ok(Self { name: name.to_owned(), path: Some(path), text });
        }
        match Scene::built_in(name) {
            Some(text) => {
                Ok(Self { name: format!("{name}.cu"), path: None, text: text.to_owned() })
            }
            None => Err(Error::Usage(missing(name))),
        }
    }
}

fn missing(name: &str) -> String {
    if PathBuf::from(name).is_dir() {
        return format!("{name} is a folder, and no built-in scene is called so");
    }
    let names: Vec<_> = built_ins().iter().map(|scene| scene.name).collect();
    if name.ends_with(".cu") || name.contains('/') {
        return format!("there is no file {name}");
    }
    let near = nearest(name, names.iter().copied());
    let known = if near.is_empty() { names } else { near };
    format!(
        "there is neither a file nor a built-in scene called {name}; built in: {}",
        known.join(", ")
    )
}

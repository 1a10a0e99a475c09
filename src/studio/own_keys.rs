//! The file with the keys of the user's own: when it is read, and what is told of it.

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use super::keymap::{self, Bindable, Keymap};
use crate::file;

/// How often it is looked whether the file has changed.
const LOOK: Duration = Duration::from_millis(500);
/// The largest such file, in bytes.
const LARGEST: u64 = 1 << 20;
/// So much of what is wrong with it is told.
const MOST: usize = 5;

/// The file.
#[derive(Debug, Default)]
pub struct OwnKeys {
    path: PathBuf,
    looked: Option<Instant>,
    modified: Option<SystemTime>,
    /// What was told of it last.
    told: Option<String>,
}

/// What has become of the keys.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// They.
    pub keymap: Keymap,
    /// What is not true any more of what was told.
    pub take_back: Option<String>,
    /// What is wrong with the file.
    pub tell: Option<String>,
}

impl OwnKeys {
    /// Those of the file at `path`, which need not be there.
    pub fn new(path: PathBuf) -> Self {
        Self { path, ..Self::default() }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file says, where it is another one than at the last call.
    pub fn follow(&mut self, commands: impl FnOnce() -> Vec<Bindable>) -> Option<Outcome> {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return None;
        }
        self.looked = Some(Instant::now());
        let modified = fs::metadata(&self.path).and_then(|file| file.modified()).ok();
        if modified == self.modified {
            return None;
        }
        self.modified = modified;
        let text = match file::read_regular_text(&self.path, LARGEST) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(error),
        };
        let (keymap, tell) = match text {
            Ok(text) => {
                let (keymap, remarks) = Keymap::read(&text, &commands());
                (keymap, self.tell(&remarks))
            }
            Err(error) => {
                let text = format!("{} cannot be read: {error}.", self.path.display());
                (Keymap::default(), Some(text))
            }
        };
        let take_back = std::mem::replace(&mut self.told, tell.clone());
        Some(Outcome { keymap, take_back, tell })
    }

    /// A sentence for each of the first remarks.
    fn tell(&self, remarks: &[keymap::Remark]) -> Option<String> {
        if remarks.is_empty() {
            return None;
        }
        let mut text = format!("{}:", self.path.file_name().unwrap_or_default().display());
        for (n, (line, why)) in remarks.iter().take(MOST).enumerate() {
            let sign = if n == 0 { "" } else { ";" };
            let _ = write!(text, "{sign} line {line}: {why}");
        }
        let more = remarks.len().saturating_sub(MOST);
        let end = if more > 0 { format!("; and {more} more.") } else { ".".to_owned() };
        Some(text + &end)
    }

    /// Writes the file with all commands as comments, where there is none.
    ///
    /// # Errors
    /// What the system says about writing.
    pub fn write(&self, commands: &[Bindable]) -> io::Result<()> {
        if self.path.exists() {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        file::create(&self.path, keymap::template(commands))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::shortcuts::Scope;

    fn commands() -> Vec<Bindable> {
        vec![Bindable { title: "Save".into(), keys: Vec::new(), scope: Scope::Window }]
    }

    #[test]
    fn the_file_is_written_once_and_read_when_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let mut keys = OwnKeys::new(folder.path().join("new/shortcuts.toml"));
        let follow = |keys: &mut OwnKeys| {
            keys.looked = None;
            keys.follow(commands)
        };
        assert_eq!(follow(&mut keys), None, "there is none");
        keys.write(&commands()).unwrap();
        let outcome = follow(&mut keys).unwrap();
        assert_eq!((outcome.keymap, outcome.tell), (Keymap::default(), None));
        fs::write(keys.path(), "Save = \"F9\"\nSav = \"F8\"\n").unwrap();
        keys.write(&commands()).unwrap();
        keys.modified = None;
        let outcome = follow(&mut keys).unwrap();
        assert_eq!(outcome.keymap.keys("Save").map(<[_]>::len), Some(1));
        let told = "shortcuts.toml: line 2: no command is called \u{201c}Sav\u{201d}.".to_owned();
        assert_eq!(outcome.tell.as_ref(), Some(&told));
        fs::remove_file(keys.path()).unwrap();
        let outcome = follow(&mut keys).unwrap();
        let nothing = Outcome { keymap: Keymap::default(), take_back: Some(told), tell: None };
        assert_eq!(outcome, nothing);
    }
}

//! The files of a run file in a folder, for as long as they are read.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use super::{MOST_BYTES, MOST_FILES, RunFile, way};
use crate::{file::TemporaryFolder, interrupt::Interrupt};

/// So much is shown of a name that no run file has.
const LONGEST_SHOWN: usize = 200;

/// The files of a run in a folder of their own, which is gone when this is dropped; at the latest, where the process is
/// killed, when another run is unpacked.
#[derive(Debug)]
pub struct Unpacked {
    root: TemporaryFolder,
    /// How many folders lie above that of the scene.
    depth: usize,
}

impl Unpacked {
    /// Writes `files`, and makes `folders`. Until `interrupt` is raised: then nothing is left of it. `others` are names
    /// of files or folders that [`Unpacked::place`] is asked for.
    ///
    /// # Errors
    /// A sentence.
    pub(in crate::session) fn new(
        files: &[RunFile],
        folders: &BTreeSet<String>,
        others: &[String],
        interrupt: &Interrupt,
    ) -> Result<Self, String> {
        let system = |error| format!("its files cannot be unpacked: {error}");
        let count = files.len() + folders.len();
        if count > MOST_FILES {
            return Err(format!("it is damaged: it has {count} files, and at most {MOST_FILES}"));
        }
        let mut depth = 0;
        for name in files.iter().map(|file| &file.name).chain(folders).chain(others) {
            let (up, _) = way(name).ok_or_else(|| {
                let start: String = name.chars().take(LONGEST_SHOWN).collect();
                format!("it is damaged: it has a file {start:?}")
            })?;
            depth = depth.max(up);
        }
        let bytes: usize = files.iter().map(RunFile::size).sum();
        if bytes as u64 > MOST_BYTES {
            return Err(format!("it is damaged: its files have more than {MOST_BYTES} bytes"));
        }
        let root = TemporaryFolder::new("run").map_err(system)?;
        let unpacked = Self { root, depth };
        unpacked.count_folders(files.iter().map(|file| &file.name).chain(folders))?;
        fs::create_dir_all(unpacked.root().join(unpacked.folder(0))).map_err(system)?;
        let go_on = || match interrupt.is_raised() {
            true => Err("its files were not unpacked to the end".to_owned()),
            false => Ok(()),
        };
        for file in files {
            go_on()?;
            if let Some(bytes) = file.bytes()? {
                write_new(&unpacked.place(&file.name), &bytes).map_err(system)?;
            }
        }
        for folder in folders {
            go_on()?;
            fs::create_dir_all(unpacked.place(folder)).map_err(system)?;
        }
        let own = files.iter().filter(|file| file.same().is_none());
        let own: BTreeSet<&str> = own.map(|file| file.name.as_str()).collect();
        for file in files {
            if let Some(same) = file.same() {
                go_on()?;
                if !own.contains(same) {
                    return Err(format!("it is damaged: it has no file {same:?}"));
                }
                link(&unpacked.place(same), &unpacked.place(&file.name)).map_err(system)?;
            }
        }
        Ok(unpacked)
    }

    /// The folder below which all lies.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Where the file, or the folder, lies that the run file calls so.
    pub fn place(&self, name: &str) -> PathBuf {
        self.root().join(self.below_root(name))
    }

    /// That these names do not need more folders than a run file has files.
    fn count_folders<'n>(&self, names: impl Iterator<Item = &'n String>) -> Result<(), String> {
        let mut known = BTreeSet::new();
        for name in names {
            let place = self.below_root(name);
            // Those above one that is known are known, too.
            let mut folders = place.ancestors().skip(1);
            while folders.next().is_some_and(|folder| known.insert(folder.to_owned())) {}
            if known.len() > MOST_FILES {
                return Err(format!(
                    "it is damaged: its files lie in more than {MOST_FILES} folders"
                ));
            }
        }
        Ok(())
    }

    fn below_root(&self, name: &str) -> PathBuf {
        let (up, down) = way(name).unwrap_or_default();
        self.folder(up).join(down)
    }

    /// The folder so many above that of the scene.
    fn folder(&self, up: usize) -> PathBuf {
        (up..self.depth).rev().map(|level| format!("above-{level}")).collect()
    }
}

/// Lets `place`, where nothing is, be the file `same`, too.
fn link(same: &Path, place: &Path) -> io::Result<()> {
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(same, place);
    #[cfg(not(unix))]
    let made = fs::copy(same, place).map(drop);
    made
}

/// Writes a file in a folder that nobody else writes to: no link leads out of it. A second one of that name is an
/// error.
fn write_new(place: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create_new(place)?.write_all(bytes)
}

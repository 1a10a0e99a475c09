//! The files that a scene reads beside its own one, and their copies in a run file.
//!
//! Enters: which files programs were made of. Leaves: what of them a run file has, and a folder with the files of one.
//! Must not know: `device`, `gl`, `state`.

mod unpacked;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

use super::Error;
use crate::file::{self, Stamp};

pub use unpacked::Unpacked;

/// What the files of a run may have together, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// So many there are at most: a scene includes as many as 10,000, and its manifest names fewer.
const MOST_FILES: usize = 20_000;
/// A file lies at most so many folders deep.
const MOST_DOWN: usize = 100;
/// A file lies at most so many folders above that of its scene.
const MOST_UP: usize = 8;
/// Where files from afar lie that the command line gives resources: in the scene's folder, below one of the resource's
/// name.
const LOADS: &str = "loads";
/// What a folder of `-I` from afar is called, with a number behind it.
const INCLUDES: &str = "include";

/// A file as it was when a program was made of what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsedFile {
    path: PathBuf,
    stamp: Option<Stamp>,
}

impl UsedFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is not as it was then, or gone.
    pub(super) fn has_changed(&self) -> bool {
        let now = fs::metadata(&self.path).ok();
        now.is_none_or(|metadata| Stamp::from(&metadata) != self.stamp)
    }
}

/// The files among `paths` that are there, as they are now.
pub(super) fn used_files(paths: &[PathBuf]) -> Arc<[UsedFile]> {
    let used = |path: &PathBuf| {
        let metadata = fs::metadata(path).ok()?;
        Some(UsedFile { path: path.clone(), stamp: Stamp::from(&metadata) })
    };
    paths.iter().filter_map(used).collect()
}

/// A file that a scene reads, in a run file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// Where it lies, from the folder of the scene on, with `/` between folders. Those above it are `..`.
    pub name: String,
    #[serde(flatten)]
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Content {
    Text(String),
    Base64(String),
    /// It is the file of this name: a link to it, or the same one.
    Same(String),
}

impl RunFile {
    fn of(name: String, bytes: Vec<u8>) -> Self {
        let content = match String::from_utf8(bytes) {
            Ok(text) => Content::Text(text),
            Err(other) => Content::Base64(BASE64_STANDARD.encode(other.as_bytes())),
        };
        Self { name, content }
    }

    /// How many bytes it has, about.
    fn size(&self) -> usize {
        match &self.content {
            Content::Text(text) => text.len(),
            Content::Base64(text) => text.len() / 4 * 3,
            Content::Same(_) => 0,
        }
    }

    /// What it has, where it is none of the others.
    fn bytes(&self) -> Result<Option<Vec<u8>>, String> {
        match &self.content {
            Content::Text(text) => Ok(Some(text.clone().into_bytes())),
            Content::Base64(text) => BASE64_STANDARD
                .decode(text)
                .map(Some)
                .map_err(|error| format!("it is damaged: the file {}: {error}", self.name)),
            Content::Same(_) => Ok(None),
        }
    }

    /// The name of the file that it is.
    fn same(&self) -> Option<&str> {
        match &self.content {
            Content::Text(_) | Content::Base64(_) => None,
            Content::Same(name) => Some(name),
        }
    }
}

/// What is read besides a scene's own file, and where from.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// The scene's file.
    pub(super) scene: Option<PathBuf>,
    /// The folders of `-I`.
    pub(super) include_dirs: Vec<PathBuf>,
    /// The files of `--load`.
    pub(super) loads: BTreeMap<String, PathBuf>,
    /// What the programs of the run were made of.
    pub(super) used: Vec<Arc<[UsedFile]>>,
}

impl Reading {
    /// That the files can be had again: each is as it was for all programs, and they are not too large.
    ///
    /// # Errors
    /// [`Error::NoRun`].
    pub(super) fn check(&self) -> Result<(), Error> {
        let (mut bytes, stamps) = (0, self.stamps()?);
        if stamps.len() > MOST_FILES {
            let text = format!(
                "the scene reads {} files, and a run file has at most {MOST_FILES}",
                stamps.len()
            );
            return Err(Error::NoRun(text));
        }
        for (path, stamp) in stamps {
            let metadata = fs::metadata(path);
            let metadata = metadata.map_err(|error| Error::of_file("read", path, error.into()))?;
            if Stamp::from(&metadata) != stamp {
                return Err(changed(path));
            }
            bytes += metadata.len();
        }
        if bytes > MOST_BYTES {
            let text = format!(
                "the files that the scene reads have {bytes} bytes, and a run file has at most {MOST_BYTES}"
            );
            return Err(Error::NoRun(text));
        }
        Ok(())
    }

    /// The files, each once.
    fn stamps(&self) -> Result<BTreeMap<&Path, Option<Stamp>>, Error> {
        let mut stamps = BTreeMap::new();
        for UsedFile { path, stamp } in self.used.iter().flat_map(|used| used.iter()) {
            if stamps.insert(path.as_path(), *stamp).is_some_and(|before| before != *stamp) {
                return Err(changed(path));
            }
        }
        Ok(stamps)
    }

    /// The files with their contents. Those that are named absolutely are left out: no copy could take their place.
    ///
    /// # Errors
    /// [`Error::NoRun`], [`Error::File`].
    pub(super) fn read(&self) -> Result<Vec<RunFile>, Error> {
        self.check()?;
        let roots = self.roots();
        let named = |path| Some((self.name_of(path, &roots)?, path));
        // A file may be known by several paths.
        let named: BTreeMap<String, &Path> = self.stamps()?.into_keys().filter_map(named).collect();
        let mut files = Vec::new();
        // A compiler tells by the file itself whether it has read it before (`#pragma once`).
        let mut read: BTreeMap<PathBuf, String> = BTreeMap::new();
        for (name, path) in named {
            let itself = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            if let Some(same) = read.get(&itself) {
                files.push(RunFile { name, content: Content::Same(same.clone()) });
                continue;
            }
            read.insert(itself, name.clone());
            let bytes = file::read_regular(path, MOST_BYTES);
            let bytes = bytes.map_err(|error| Error::of_file("read", path, error.into()))?;
            files.push(RunFile::of(name, bytes));
        }
        self.check()?;
        Ok(files)
    }

    /// The names in a run file of what `--load` gives resources, by these.
    pub(super) fn loads(&self) -> BTreeMap<String, String> {
        let roots = self.roots();
        let loads = self.loads.iter();
        loads.filter_map(|(of, path)| Some((of.clone(), self.name_of(path, &roots)?))).collect()
    }

    /// The names in a run file of the folders of `-I`, in their order.
    pub(super) fn include_dirs(&self) -> Vec<String> {
        let roots = self.roots();
        let folders = self.include_dirs.iter();
        folders.filter_map(|folder| self.name_of(folder, &roots)).collect()
    }

    /// The names of folders that are only gone through on the way to a file, as in `folder/../x.h`.
    pub(super) fn passed_folders(&self) -> BTreeSet<String> {
        let roots = self.roots();
        let used = self.used.iter().flat_map(|used| used.iter());
        let passed = used.flat_map(|file| {
            let parts: Vec<Component<'_>> = file.path.components().collect();
            let ups = (1..parts.len()).filter(|at| parts[*at] == Component::ParentDir);
            let folders: Vec<PathBuf> = ups.map(|at| parts[..at].iter().collect()).collect();
            folders
        });
        passed
            .filter_map(|folder| self.name_of(&folder, &roots))
            .filter(|name| !name.is_empty())
            .collect()
    }

    /// What a run file calls the file, or the folder, at `path`: one name, whatever it is reached by.
    fn name_of(&self, path: &Path, roots: &[Root]) -> Option<String> {
        self.way_to(path).or_else(|| roots.iter().find_map(|root| root.name_of(path)))
    }

    /// Where that begins what lies far from the scene: folders of `-I` that lie in no other one, and files of
    /// `--load` that lie in none of them.
    fn roots(&self) -> Vec<Root> {
        let far = self.far();
        let mut folders: Vec<PathBuf> =
            self.include_dirs.iter().map(|path| root_above(plain(path), &far)).collect();
        folders.sort_by_key(|path| path.components().count());
        let mut roots = Vec::new();
        for folder in folders {
            if self.name_of(&folder, &roots).is_none() {
                let name = format!("{INCLUDES}-{}", roots.len());
                roots.push(Root { name: self.free(name), path: folder });
            }
        }
        let loads = self.free(LOADS.to_owned());
        for (resource, path) in &self.loads {
            if self.name_of(path, &roots).is_none() {
                let file = path.file_name().and_then(OsStr::to_str).unwrap_or("file");
                let name = format!("{loads}/{resource}/{file}");
                roots.push(Root { name, path: plain(path) });
            }
        }
        roots
    }

    /// Where files lie that are included by way of `..` from a folder of `-I`, far from the scene.
    fn far(&self) -> Vec<PathBuf> {
        let given: BTreeSet<PathBuf> = self.loads.values().map(|path| plain(path)).collect();
        let folders: Vec<PathBuf> = self.include_dirs.iter().map(|path| plain(path)).collect();
        let used = self.used.iter().flat_map(|used| used.iter()).map(|file| plain(&file.path));
        let is_in_one = |path: &PathBuf| folders.iter().any(|folder| path.starts_with(folder));
        let far = used.filter(|path| !is_in_one(path) && !given.contains(path));
        far.filter(|path| self.way_to(path).is_none()).collect()
    }

    /// A name like `name` that nothing has which lies beside the scene.
    fn free(&self, mut name: String) -> String {
        let near: Vec<String> = self.paths().filter_map(|path| self.way_to(path)).collect();
        while near.iter().any(|way| Path::new(way).starts_with(&name)) {
            name.push('_');
        }
        name
    }

    /// All that is read, or looked into.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let used = self.used.iter().flat_map(|used| used.iter()).map(|file| file.path.as_path());
        used.chain(self.include_dirs.iter().chain(self.loads.values()).map(PathBuf::as_path))
    }

    /// The way to `path` from the folder of the scene, over few folders above it.
    fn way_to(&self, path: &Path) -> Option<String> {
        let folder = self.scene.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let (path, folder) = (plain(path), plain(folder));
        let mut above = folder.ancestors().take(1 + MOST_UP).enumerate();
        let (up, down) = above.find_map(|(up, above)| {
            // At the root everything would be on the way.
            let is_root = above.has_root() && above.parent().is_none();
            Some((up, path.strip_prefix(above).ok().filter(|_| !is_root)?))
        })?;
        Some("../".repeat(up) + &slashed(down)?).filter(|name| way(name).is_some())
    }
}

/// A folder of `-I`, or the nearest above it that has those of the files `far` that share one with it.
fn root_above(folder: PathBuf, far: &[PathBuf]) -> PathBuf {
    let shared = |path: &PathBuf| {
        let mut above = folder.ancestors().take(1 + MOST_UP);
        // At the root everything would be below.
        above.find(|above| path.starts_with(above)).filter(|above| above.parent().is_some())
    };
    let highest = far.iter().filter_map(shared).min_by_key(|above| above.components().count());
    highest.map_or(folder.clone(), Path::to_owned)
}

/// A file, or a folder, that a run file gives a name of its own.
struct Root {
    name: String,
    path: PathBuf,
}

impl Root {
    /// What a run file calls what is, or lies below, this.
    fn name_of(&self, path: &Path) -> Option<String> {
        let below = slashed(plain(path).strip_prefix(&self.path).ok()?)?;
        Some(if below.is_empty() { self.name.clone() } else { format!("{}/{below}", self.name) })
    }
}

fn changed(path: &Path) -> Error {
    let path = path.display();
    Error::NoRun(format!("{path} was changed while the scene ran; reset it to begin another run"))
}

/// `path` without what leads nowhere: `.`, and `..` behind a folder.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => plain.push(part),
        }
    }
    plain
}

fn slashed(path: &Path) -> Option<String> {
    let parts = path.components().map(|part| match part {
        Component::Normal(part) => part.to_str(),
        Component::ParentDir => Some(".."),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    Some(parts.collect::<Option<Vec<&str>>>()?.join("/"))
}

/// How many folders a name in a run file leads up from that of the scene, and how it goes on; `None` where it is none
/// that a run file has.
fn way(name: &str) -> Option<(usize, PathBuf)> {
    let components = Path::new(name).components();
    let up = components.clone().take_while(|part| *part == Component::ParentDir).count();
    let down: PathBuf = components.skip(up).collect();
    let is_plain = down.components().all(|part| matches!(part, Component::Normal(_)));
    let is_near = up <= MOST_UP && down.components().count() <= MOST_DOWN;
    (is_near && is_plain).then_some((up, down))
}

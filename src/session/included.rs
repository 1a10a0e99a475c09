//! The files beside a scene that it includes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{
    compile::{self, Reach},
    cuda::SourceFile,
    scene::Scene,
};

/// The files beside the scene that it includes, directly or by way of one another; they need not be there.
#[cfg(feature = "cli")]
pub(crate) fn included_files(scene: &Scene) -> Vec<PathBuf> {
    let Some(path) = &scene.path else { return Vec::new() };
    let included = included(&scene.source, path, &include_dirs(scene), &reach(scene));
    included.files.into_iter().map(|file| file.path).collect()
}

/// Reads the kernels of the files beside the scene that it includes, directly or by way of one another, and gives these
/// files, sorted. What cannot be read is for the compiler to say.
pub(super) fn read_included(scene: &mut Scene) -> Vec<PathBuf> {
    let Some(path) = scene.path.clone() else { return Vec::new() };
    let included = included(&scene.source, &path, &include_dirs(scene), &reach(scene));
    read_kernels(scene, &included);
    let mut paths: Vec<PathBuf> = included.files.into_iter().map(|file| file.path).collect();
    paths.sort_unstable();
    paths
}

/// Reads the kernels of `scene` again, now with those of the files that it includes.
fn read_kernels(scene: &mut Scene, included: &Included) {
    let texts = included.files.iter().filter_map(|file| Some((file, file.text.as_deref()?)));
    let files: Vec<(&IncludedFile, &str, String)> =
        texts.map(|(file, text)| (file, text, file.path.display().to_string())).collect();
    if files.is_empty() {
        return;
    }
    // The scene itself is the first one.
    let places: BTreeMap<&Path, usize> =
        files.iter().map(|(file, ..)| file.path.as_path()).zip(1..).collect();
    let place = |(name, path): &(String, PathBuf)| Some((name.clone(), *places.get(&**path)?));
    let placed = |names: &[(String, PathBuf)]| names.iter().filter_map(place).collect();
    let (name, text) = (scene.name.clone(), scene.source.clone());
    let own = SourceFile { name: &name, text: &text, includes: placed(&included.names) };
    let others = files.iter().map(|(file, text, name)| {
        let includes = placed(&file.names);
        SourceFile { name, text, includes }
    });
    scene.read_kernels(&[own].into_iter().chain(others).collect::<Vec<_>>());
}

/// The files beside a scene that it includes, directly or by way of one another.
pub(super) struct Included {
    /// The names that the scene itself includes, and which files these are.
    names: Vec<(String, PathBuf)>,
    /// In the order in which they are read.
    pub(super) files: Vec<IncludedFile>,
}

pub(super) struct IncludedFile {
    path: PathBuf,
    /// `None` where it cannot be read.
    pub(super) text: Option<String>,
    /// The names that it includes, and which files these are.
    names: Vec<(String, PathBuf)>,
}

/// The files beside a `source` that it includes.
pub(super) fn included(source: &str, path: &Path, searched: &[PathBuf], reach: &Reach) -> Included {
    let beside = |text: &str, path: &Path| -> Vec<(String, PathBuf)> {
        let own = path.parent().unwrap_or(Path::new("")).to_owned();
        let folders: Vec<PathBuf> = [own].into_iter().chain(searched.iter().cloned()).collect();
        let names = compile::included_names(text.as_bytes()).unwrap_or_default();
        // The first one that is there, or where it would be.
        let placed = names.into_iter().map(|name| {
            let places = folders.iter().map(|folder| folder.join(&name));
            let found = places.clone().find(|path| path.is_file());
            let path = found.unwrap_or_else(|| folders[0].join(&name));
            (name, path)
        });
        placed.collect()
    };
    let mut budget = compile::Budget::new();
    let (mut seen, mut files) = (BTreeSet::new(), Vec::new());
    let names = beside(source, path);
    let mut open: Vec<PathBuf> = names.iter().map(|(_, path)| path.clone()).collect();
    // What is too much is told before it is compiled.
    while let Some(path) = open.pop().filter(|_| budget.follow()) {
        if !seen.insert(path.clone()) {
            continue;
        }
        let text = reach.holds(&path).then(|| budget.read(&path).ok()).flatten();
        let text = text.and_then(|text| String::from_utf8(text).ok());
        let names = text.as_ref().map_or_else(Vec::new, |text| beside(text, &path));
        open.extend(names.iter().map(|(_, path)| path.clone()));
        files.push(IncludedFile { path, text, names });
    }
    Included { names, files }
}

/// Which files a scene may include.
pub(super) fn reach(scene: &Scene) -> Reach {
    reach_from(scene.path.as_deref(), scene.trusted, &scene.include_dirs)
}

pub(super) fn reach_from(path: Option<&Path>, trusted: bool, include_dirs: &[PathBuf]) -> Reach {
    if trusted { Reach::Anywhere } else { Reach::of_file(path).and(include_dirs) }
}

/// The folders in which included files are looked for: the scene's own, those that its manifest names, and those of the
/// command line.
pub(super) fn include_dirs(scene: &Scene) -> Vec<PathBuf> {
    let own = scene.path.as_deref().and_then(Path::parent);
    let named = scene.manifest.compile.include.iter();
    let named = named.map(|folder| own.unwrap_or(Path::new("")).join(folder));
    let own = own.map(Path::to_owned).into_iter();
    own.chain(named).chain(scene.include_dirs.iter().cloned()).collect()
}

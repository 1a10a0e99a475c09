//! The files that a run is to write: that each can be there, and that none takes another's place. Not to be found out
//! after the last step.

use std::path::{Path, PathBuf};

use super::{
    Error, Result, Run, SceneSource,
    render_request::{Out, Render},
};
use crate::{device::DeviceKind, file, record::Target, scene::Initial, session};

/// What a run writes, and what it must not write over.
pub(super) struct Outputs<'a> {
    files: Vec<Output<'a>>,
    scenes: Vec<&'a SceneSource>,
    /// Files that it reads, and what they are to whom.
    read: Vec<(&'a Path, &'static str)>,
}

/// A file, or one for each step.
#[derive(Clone, Copy)]
struct Output<'a> {
    option: &'static str,
    path: &'a Path,
    target: Option<&'a Target>,
}

impl<'a> Outputs<'a> {
    /// Those of `request`, whose pictures go to `targets`.
    pub(super) fn of(request: &'a Render, targets: &'a [Target]) -> Self {
        let outs = request.outs.iter().zip(targets);
        let out = |(out, target): (&'a Out, _)| Output {
            option: "--out",
            path: &out.path,
            target: Some(target),
        };
        let outs = outs.map(out);
        let plain = |option, path| Output { option, path, target: None };
        let dumps = request.dumps.iter().map(|dump| plain("--npy", &dump.path));
        let plots = request.plots.iter().map(|plot| plain("--plot", &plot.path));
        let json = request.json.iter().map(|path| plain("--json", path));
        let save = request.save.iter().map(|save| plain("--save", &save.path));
        let record = request.record.iter().map(|path| plain("--record", path));
        let states = save.chain(record);
        let files = outs.chain(dumps).chain(plots).chain(json).chain(states).collect();
        let read =
            request.from.iter().map(|path| (path.as_path(), "the state that it begins with"));
        Self { files, scenes: vec![&request.scene], read: read.collect() }
    }

    /// The same, of a run that is repeated from the file at `run`.
    pub(super) fn of_run(mut self, run: Option<&'a Path>) -> Self {
        self.read.extend(run.map(|path| (path, "the run file itself")));
        self
    }

    /// The one of `option`, if it is asked for, of a run of `scenes`.
    pub(super) fn one(
        option: &'static str,
        path: Option<&'a Path>,
        scenes: &'a [SceneSource],
    ) -> Self {
        let files = path.map(|path| Output { option, path, target: None });
        let files = files.into_iter().collect();
        Self { files, scenes: scenes.iter().collect(), read: Vec::new() }
    }

    /// # Errors
    /// [`Error::Usage`].
    pub(super) fn check(&self) -> Result<()> {
        for (index, output) in self.files.iter().enumerate() {
            output.check()?;
            let path = output.path.display();
            let mut scenes = self.scenes.iter().filter_map(|scene| scene.path.as_deref());
            if scenes.any(|scene| output.replaces(scene)) {
                let text = format!("{} {path} would replace the scene itself", output.option);
                return Err(Error::Usage(text));
            }
            // A state may take the place of the one that it comes of.
            let mut read = self.read.iter().filter(|_| output.option != "--save");
            if let Some((_, what)) = read.find(|(path, _)| output.replaces(path)) {
                let text = format!("{} {path} would replace {what}", output.option);
                return Err(Error::Usage(text));
            }
            if let Some(other) = self.files[..index].iter().find(|other| other.meets(output)) {
                let (first, second) = (other.option, output.option);
                return Err(Error::Usage(format!(
                    "{first} {} and {second} {path} are the same file: give each a name of its own",
                    other.path.display()
                )));
            }
        }
        Ok(())
    }

    /// That none takes the place of what a scene is made of: what it begins with, what it includes, and what it is
    /// compared with. Who loads a resource by the command line may let another one take its place: a run goes on so
    /// where the last one ended.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub(super) fn check_data(&self, run: &Run, kind: DeviceKind) -> Result<()> {
        for source in &self.scenes {
            // What is wrong with a scene is told when it runs.
            let Ok(scene) = run.parse(source, kind) else { continue };
            let (own, loads): (Vec<_>, Vec<_>) =
                scene.manifest.initials().partition(|initial| initial.at.is_some());
            let files = |initials: Vec<&Initial>| -> Vec<PathBuf> {
                initials.iter().filter_map(|initial| initial.file(source.folder())).collect()
            };
            let (mut own, loads) = (files(own), files(loads));
            own.extend(session::included_files(&scene).into_iter().filter(|file| file.is_file()));
            let goldens = scene.manifest.goldens.iter();
            let goldens: Vec<_> = goldens.map(|of| source.folder().join(&of.file)).collect();
            let replaces = |output: &&Output<'_>| {
                let replaces_one = |files: &[PathBuf]| files.iter().any(|f| output.replaces(f));
                // These are a way to make goldens.
                let is_content = matches!(output.option, "--npy" | "--out");
                replaces_one(&own)
                    || output.option != "--npy" && replaces_one(&loads)
                    || !is_content && replaces_one(&goldens)
            };
            if let Some(Output { option, path, .. }) = self.files.iter().find(replaces) {
                let text =
                    format!("{option} {} would replace what the scene reads", path.display());
                return Err(Error::Usage(text));
            }
        }
        Ok(())
    }
}

impl Output<'_> {
    fn check(&self) -> Result<()> {
        let refused =
            |why: String| Err(Error::Usage(format!("cannot write {}: {why}", self.path.display())));
        if self.path.is_dir() {
            return refused("it is a folder".to_owned());
        }
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // A folder whose name has the step's number in it is seen when the step has come.
        let known = folder.filter(|folder| !folder.to_string_lossy().contains('%'));
        if let Some(folder) = known.filter(|folder| !folder.is_dir()) {
            return refused(format!("there is no folder {}", folder.display()));
        }
        let is_clip = matches!(self.target, Some(Target::Clip(..)));
        if file::is_written_through(self.path) && !is_clip {
            return Ok(());
        }
        file::replaceable(self.path).map(drop).or_else(|error| refused(error.to_string()))
    }

    /// Whether it would be written in the place of `file`, which is one, whatever the pictures are.
    fn replaces(&self, file: &Path) -> bool {
        self.meets(&Output { option: "", path: file, target: None })
    }

    /// Whether both would write one file.
    fn meets(&self, other: &Self) -> bool {
        match (self.target, other.target) {
            (Some(one @ Target::Sequence { .. }), Some(two @ Target::Sequence { .. })) => {
                share_a_name(one, two)
            }
            (Some(target @ Target::Sequence { .. }), _) => is_of(target, other.path),
            (_, Some(target @ Target::Sequence { .. })) => is_of(target, self.path),
            (Some(Target::Picture(_) | Target::Clip(..)) | None, _) => {
                identity(self.path).is_some_and(|file| Some(file) == identity(other.path))
            }
        }
    }
}

/// The file that a path means, however it is spelled; `None` where many may write, such as `/dev/null`.
fn identity(path: &Path) -> Option<PathBuf> {
    if let Ok(file) = path.canonicalize() {
        return file.is_file().then_some(file);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
}

/// The folder that a sequence's pictures go to, and what their names begin with, where that is `before`.
fn folder_of(before: &str) -> (&str, &str) {
    match before.rsplit_once('/') {
        None => (".", before),
        Some(("", start)) => ("/", start),
        Some(parts) => parts,
    }
}

/// Whether a name may be one of both sequences' pictures: their numbers have any number of digits, and some of these
/// may be what the other's names begin or end with.
fn share_a_name(one: &Target, two: &Target) -> bool {
    let (Target::Sequence { before, after, .. }, Target::Sequence { before: b, after: a, .. }) =
        (one, two)
    else {
        return false;
    };
    let ((folder, start), (other_folder, other_start)) = (folder_of(before), folder_of(b));
    let is_number = |rest: &str| rest.bytes().all(|letter| letter.is_ascii_digit());
    let starts = start.strip_prefix(other_start).or_else(|| other_start.strip_prefix(start));
    let ends = after.strip_suffix(a.as_str()).or_else(|| a.strip_suffix(after.as_str()));
    let place = |folder: &str| Path::new(folder).canonicalize().ok();
    starts.is_some_and(is_number)
        && ends.is_some_and(is_number)
        && place(folder).is_some_and(|known| Some(known) == place(other_folder))
}

/// Whether `path` is one of the pictures of a sequence.
fn is_of(target: &Target, path: &Path) -> bool {
    let Target::Sequence { before, digits, after } = target else { return false };
    let (folder, start) = folder_of(before);
    let same_folder = || Some(Path::new(folder).canonicalize().ok()? == identity(path)?.parent()?);
    let number = || {
        let name = path.file_name()?.to_str()?;
        let number = name.strip_prefix(start)?.strip_suffix(after.as_str())?;
        let step: u64 = number.parse().ok()?;
        Some(format!("{step:0digits$}") == number)
    };
    number() == Some(true) && same_folder() == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_by_several_names_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("sub")).unwrap();
        std::fs::write(path("there"), "").unwrap();
        let meets = |first: &str, second: &str| {
            let (first, second) = (path(first), path(second));
            let target = Target::of(&first).ok();
            let pictures = Output { option: "--out", path: &first, target: target.as_ref() };
            let array = Output { option: "--npy", path: &second, target: None };
            assert_eq!(pictures.meets(&array), array.meets(&pictures));
            pictures.meets(&array)
        };
        for (first, second) in [
            ("same", "same"),
            ("same", "./sub/../same"),
            ("there", "sub/../there"),
            ("f%04d.png", "f0012.png"),
            ("sub/%d.png", "sub/../sub/12.png"),
        ] {
            assert!(meets(first, second), "{first} {second}");
        }
        for (first, second) in [
            ("same", "sub/same"),
            ("f%04d.png", "f012.png"),
            ("f%04d.png", "sub/f0012.png"),
            ("f%04d.png", "f0012.npy"),
        ] {
            assert!(!meets(first, second), "{first} {second}");
        }
        let sequences = |first: &str, second: &str| {
            let paths = [path(first), path(second)];
            let targets = paths.each_ref().map(|path| Target::of(path).ok());
            let output = |index: usize| Output {
                option: "--out",
                path: &paths[index],
                target: targets[index].as_ref(),
            };
            output(0).meets(&output(1))
        };
        assert!(sequences("f%d.png", "sub/../f%04d.png"));
        assert!(sequences("%d1.png", "1%d.png") && sequences("f%d.png", "f1%d2.png"));
        assert!(!sequences("f%d.png", "f1_%d.png") && !sequences("f%da.png", "f%db.png"));
        assert!(!sequences("f%d.png", "g%d.png") && !sequences("f%d.png", "sub/f%d.png"));
        let null = Path::new("/dev/null");
        assert_eq!(identity(null), None);
    }
}

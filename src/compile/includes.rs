//! Which files a compilation may read: for the cache's key, and whether it may.
//!
//! NVRTC lists no dependencies, so the sources are scanned for `#include` without preprocessing: block comments and
//! branches not taken count too (`mentions`), and of one name every file that any search folder holds. That is more
//! than the compiler reads, never less. Where it cannot be told (`#include MACRO`), or where the result depends
//! on the clock, the request has no key and is compiled every time.
//!
//! What is found decides, too, whether the compiler is asked at all: not where a source would have it open a pipe or
//! a device, or a file that the request may not [`Reach`].
//!
//! Files in the toolchain's own folders are told apart by path, length and time and not opened: they change
//! only with the toolkit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::budget::{Budget, MOST_MENTIONS};
use super::c_headers;
use super::discovery::{Stamp, Toolchain};
use super::host_headers;
use super::mentions::{Mention, Mentions};
use super::options::Options;
use super::reach::{Reach, is_below};
use super::request::{PRELUDE_NAME, Request};
use crate::diagnostic::Diagnostic;

/// What a file on the search path contributes to the key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The content of a user's file.
    Content(PathBuf, [u8; 32]),
    /// One of CUDA's own headers.
    Toolkit(Stamp),
}

/// What a compilation reads besides its request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Inputs {
    /// Every file that it may read.
    pub files: Vec<Input>,
    /// Whether it includes nothing at all, so that no file which appears or changes can make a difference.
    pub none_asked_for: bool,
}

/// A file of the user's that a request includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Included {
    /// As the first `#include` names it.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// What stands in it.
    pub text: Arc<str>,
}

/// A file that a request includes and that is nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    /// As the `#include` names it.
    pub name: String,
    /// The file that asks for it.
    pub file: String,
    /// Where in that file.
    pub line: u32,
}

impl Missing {
    /// What there is to say about it.
    pub(super) fn remark(&self) -> Diagnostic {
        let text = format!("cannot open source file \"{}\" either", self.name);
        Diagnostic::error(&self.file, text).at(self.line, None)
    }
}

/// What was found out about the files of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// The user's files, each once for each name.
    pub included: Vec<Included>,
    /// Whether one name means several files, included from different folders.
    pub is_ambiguous: bool,
    /// What is asked for and is nowhere, each once.
    pub missing: Vec<Missing>,
    /// Headers of the host that are asked for and of which the user has none.
    pub of_host: BTreeSet<String>,
    /// `None` where it cannot be told.
    pub inputs: Option<Inputs>,
    /// Includes that are not to come to the compiler: of what is no file, or lies where the request may not reach.
    pub refused: Vec<Diagnostic>,
    /// What lies where the request may not reach.
    pub untrusted: Vec<String>,
}

/// Looks for every file that compiling `request` may read.
pub(super) fn scan(request: &Request, toolchain: &Toolchain) -> Scan {
    let options = Options::of(&request.options);
    let is_told = options.is_some();
    let options = options.unwrap_or_default();
    let mut dirs: Vec<&Path> = request.include_dirs.iter().map(PathBuf::as_path).collect();
    dirs.extend(options.dirs.iter().map(PathBuf::as_path));
    dirs.extend(toolchain.include_dirs.iter().map(PathBuf::as_path));
    let inputs = Inputs { files: Vec::new(), none_asked_for: true };
    let mut scanner = Scanner {
        request,
        dirs,
        toolchain,
        seen: BTreeSet::new(),
        inputs,
        is_told,
        refused: Vec::new(),
        untrusted: Vec::new(),
        budget: Budget::new(),
        pending: VecDeque::new(),
        texts: BTreeMap::new(),
        included: Vec::new(),
        is_ambiguous: false,
        missing: Vec::new(),
        of_host: BTreeSet::new(),
    };
    let own_dir = parent(Path::new(request.file_name()));
    for file in options.files {
        scanner.include(&file, &[&own_dir], (&request.name, 1));
    }
    scanner.text(request.text().as_bytes(), &[&own_dir], &request.name);
    scanner.text(request.prelude.as_bytes(), &[&own_dir], PRELUDE_NAME);
    for name in &request.name_expressions {
        // NVRTC compiles these as lines of a file of its own.
        scanner.text(name.as_bytes(), &[&own_dir], &request.name);
    }
    for header in &request.headers {
        let header_dir = parent(Path::new(&header.name));
        scanner.text(header.text.as_bytes(), &[&header_dir, &own_dir], &header.name);
    }
    scanner.follow_files();
    let Scanner {
        inputs,
        is_told,
        refused,
        untrusted,
        included,
        is_ambiguous,
        missing,
        mut of_host,
        ..
    } = scanner;
    // What the user has beside one of the files is not the host's for the others.
    of_host.retain(|name| !included.iter().any(|file| file.name == *name));
    Scan {
        inputs: is_told.then_some(inputs),
        refused,
        untrusted,
        included,
        is_ambiguous,
        missing,
        of_host,
    }
}

/// The folders that `request` names: its source's own, those for `#include`, and those of its options.
pub(super) fn folders(request: &Request) -> Vec<PathBuf> {
    let options = Options::of(&request.options).unwrap_or_default();
    let own_dir = parent(Path::new(request.file_name()));
    [own_dir].into_iter().chain(request.include_dirs.iter().cloned()).chain(options.dirs).collect()
}

fn parent(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).to_owned()
}

struct Scanner<'a> {
    request: &'a Request,
    dirs: Vec<&'a Path>,
    toolchain: &'a Toolchain,
    seen: BTreeSet<PathBuf>,
    inputs: Inputs,
    /// Whether all that may be read is known.
    is_told: bool,
    refused: Vec<Diagnostic>,
    untrusted: Vec<String>,
    budget: Budget,
    /// Files whose own includes are still to be followed, with their texts.
    pending: VecDeque<(PathBuf, Vec<u8>)>,
    /// The texts of the user's files.
    texts: BTreeMap<PathBuf, Arc<str>>,
    included: Vec<Included>,
    is_ambiguous: bool,
    missing: Vec<Missing>,
    of_host: BTreeSet<String>,
}

/// As many are told of one kind; nobody reads more.
const MOST_TOLD: usize = 100;

/// File and line of an include.
type At<'a> = (&'a str, u32);

impl Scanner<'_> {
    /// Follows every include of a text whose file is called `name` and lies in one of `own_dirs`.
    fn text(&mut self, text: &[u8], own_dirs: &[&Path], name: &str) {
        let Mentions { found, asks_for_time } = Mentions::of(text);
        self.is_told &= !asks_for_time;
        for Mention { what, line } in found {
            if !self.budget.follow() {
                self.is_told = false;
                let text = format!("one include too many: {MOST_MENTIONS} are followed at most");
                return self.refuse(text, (name, line));
            }
            match what {
                Some(what) => self.include(&what, own_dirs, (name, line)),
                None => self.computed((name, line)),
            }
        }
    }

    /// Follows the includes of files that are included. They wait in a queue, as a stranger may nest them deeper than
    /// any stack.
    fn follow_files(&mut self) {
        while let Some((file, text)) = self.pending.pop_front() {
            self.text(&text, &[&parent(&file)], &file.to_string_lossy());
        }
    }

    /// An include whose name a macro has, or is no text.
    fn computed(&mut self, at: At<'_>) {
        self.is_told = false;
        self.inputs.none_asked_for = false;
        if self.request.reach != Reach::Anywhere {
            let text = format!(
                "what this includes cannot be told: a macro names it, or its name is no text; {TRUST}"
            );
            self.refuse(text, at);
            self.distrust(format!("what cannot be told, {}:{}", at.0, at.1));
        }
    }

    /// Takes every file that `name` could mean.
    fn include(&mut self, name: &str, own_dirs: &[&Path], at: At<'_>) {
        self.inputs.none_asked_for = false;
        let places = own_dirs.iter().chain(&self.dirs);
        let files: Vec<PathBuf> = places.map(|dir| dir.join(name)).collect();
        let first = files.iter().find(|file| file.is_file()).cloned();
        let is_users = first.as_ref().is_some_and(|file| !self.is_toolkit(file));
        let is_wanted = is_users || first.is_some() && host_headers::yields(name);
        if host_headers::is_one(name) && !is_wanted && !self.is_in_memory(name) {
            self.of_host.insert(name.to_owned());
            return;
        }
        for file in files {
            self.file(file, name, at);
        }
        match first {
            Some(path) => self.take(name, path),
            None => self.miss(name, at),
        }
    }

    /// Says that there is no file of this name.
    fn miss(&mut self, name: &str, (file, line): At<'_>) {
        let is_known = self.missing.iter().any(|missing| missing.name == name);
        let is_there = self.is_in_memory(name) || c_headers::has(name);
        if !is_known && !is_there && self.missing.len() < MOST_TOLD {
            self.missing.push(Missing { name: name.to_owned(), file: file.to_owned(), line });
        }
    }

    /// Keeps the text of the file that the compiler finds first under a name.
    fn take(&mut self, name: &str, path: PathBuf) {
        let Some(text) = self.texts.get(&path).filter(|_| !self.is_in_memory(name)) else { return };
        match self.included.iter().find(|included| included.name == name) {
            Some(known) => self.is_ambiguous |= known.path != path,
            None => {
                let (name, text) = (name.to_owned(), text.clone());
                self.included.push(Included { name, path, text });
            }
        }
    }

    /// Whether the request has a header of this name, which comes before all files.
    fn is_in_memory(&self, name: &str) -> bool {
        self.request.headers.iter().any(|header| header.name == name)
    }

    fn file(&mut self, file: PathBuf, name: &str, at: At<'_>) {
        let Ok(about) = fs::metadata(&file) else { return };
        if about.is_dir() {
            return;
        }
        let in_memory = self.is_in_memory(name);
        if !in_memory && !self.may_include(&file, name, at) {
            return;
        }
        if !self.seen.insert(file.clone()) {
            return;
        }
        if self.is_toolkit(&file) {
            self.inputs.files.push(Input::Toolkit(Stamp::of(&file)));
            return;
        }
        match self.budget.read(&file) {
            Ok(text) => {
                self.inputs.files.push(Input::Content(file.clone(), Sha256::digest(&text).into()));
                self.texts.insert(file.clone(), String::from_utf8_lossy(&text).into());
                self.pending.push_back((file, text));
            }
            Err(_) if in_memory => {}
            Err(error)
                if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::FileTooLarge) =>
            {
                let text = format!("`{name}` cannot be included: {error} ({})", file.display());
                self.refuse(text, at);
            }
            // The compiler cannot read it either, and says so.
            Err(_) => self.is_told = false,
        }
    }

    /// Once, though several folders may lead to the file.
    fn refuse(&mut self, text: String, (file, line): At<'_>) {
        let remark = Diagnostic::error(file, text).at(line, None);
        if self.refused.len() < MOST_TOLD && !self.refused.contains(&remark) {
            self.refused.push(remark);
        }
    }

    fn distrust(&mut self, what: String) {
        if self.untrusted.len() < MOST_TOLD && !self.untrusted.contains(&what) {
            self.untrusted.push(what);
        }
    }

    /// Whether the file is one that the request may reach; if not, says so.
    fn may_include(&mut self, file: &Path, name: &str, at: At<'_>) -> bool {
        if self.request.reach.holds(file) || self.is_toolkit(file) {
            return true;
        }
        let from = match &self.request.reach {
            Reach::Below(folders) => {
                let shown = |folder: &PathBuf| {
                    let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
                    folder.display().to_string()
                };
                let shown: Vec<String> = folders.iter().map(shown).collect();
                format!("below its own folder, {}", shown.join(" or "))
            }
            Reach::Anywhere | Reach::Nowhere => "nowhere else".to_owned(),
        };
        let text = format!(
            "`{name}` may not be included: it leads to {}, and a scene takes files from CUDA's folders and {from}; {TRUST}",
            file.canonicalize().as_deref().unwrap_or(file).display()
        );
        self.distrust(file.display().to_string());
        self.refuse(text, at);
        false
    }

    /// Whether the file is one of CUDA's own. A link among these is their own affair; a name that climbs is not.
    fn is_toolkit(&self, file: &Path) -> bool {
        let climbs = file.components().any(|part| part == std::path::Component::ParentDir);
        let holds = |dir: &PathBuf| match climbs {
            true => is_below(file, dir),
            false => file.starts_with(dir),
        };
        self.toolchain.include_dirs.iter().any(holds)
    }
}

/// How to include something all the same.
pub(crate) const TRUST: &str = "--trust allows it, for scenes of people whom you trust";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::request::{Header, Target};

    #[test]
    fn precompiled_headers_have_no_key() {
        assert!(Options::of(&["--use-pch=a".into()]).is_none());
    }

    #[test]
    fn options_name_folders_and_files() {
        let words = ["-I", "a", "-Ib", "--include-path=c", "-include", "d.h", "--pre-include=e.h"];
        let options = Options::of(&words.map(String::from)).unwrap();
        assert_eq!(options.dirs, ["a", "b", "c"].map(PathBuf::from));
        assert_eq!(options.files, ["d.h", "e.h"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_reach_ends_where_it_should() {
        use std::os::unix::fs::symlink;
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().canonicalize().unwrap();
        let [scene, cuda] = ["scene", "cuda"].map(|name| dir.join(name));
        for folder in [&scene.join("sub"), &cuda] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in ["out.h", "scene/in.h", "scene/sub/deep.h", "cuda/cuda.h"] {
            fs::write(dir.join(file), "").unwrap();
        }
        fs::write(scene.join("leads.h"), "\n#include \"../out.h\"\n").unwrap();
        symlink("../out.h", scene.join("link.h")).unwrap();
        symlink("sub/deep.h", scene.join("stays.h")).unwrap();
        symlink("../out.h", cuda.join("of_cuda.h")).unwrap();
        symlink("/dev/zero", scene.join("zero.h")).unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(scene.join("fifo.h"))
                .status()
                .unwrap()
                .success()
        );
        let toolchain =
            Toolchain { library: dir.join("l"), include_dirs: vec![cuda], stamps: vec![] };
        let refused = |what: &str, reach: &Reach| {
            let name = scene.join("a.cu").to_string_lossy().into_owned();
            let mut request = Request::new(name, format!("\n#include {what}\n"), Target::CPU);
            request.include_dirs = vec![scene.clone()];
            request.reach = reach.clone();
            let scan = scan(&request, &toolchain);
            assert_eq!(
                scan.untrusted.is_empty(),
                !scan.refused.iter().any(|d| d.text.contains("--trust"))
            );
            scan.refused.first().map(ToString::to_string)
        };
        let below = Reach::Below(vec![scene.clone()]);
        for what in [
            "\"in.h\"",
            "\"sub/deep.h\"",
            "\"sub/../in.h\"",
            "\"stays.h\"",
            "<cuda.h>",
            "<of_cuda.h>",
        ] {
            assert_eq!(refused(what, &below), None, "{what}");
        }
        assert_eq!(refused("\"missing.h\"", &below), None, "the compiler says so");
        for what in [
            "\"../out.h\"",
            "\"link.h\"",
            "<../out.h>",
            "\"/etc/passwd\"",
            "\"/proc/self/environ\"",
            "X",
        ] {
            let text = refused(what, &below).unwrap();
            assert!(text.contains("a.cu:2: error: ") && text.contains("--trust"), "{what}: {text}");
            assert_eq!(refused(what, &Reach::Anywhere), None, "{what}");
        }
        let text = refused("\"leads.h\"", &below).unwrap();
        assert!(text.contains("leads.h:2: error: `../out.h`"), "{text}");
        assert!(refused("\"in.h\"", &Reach::Nowhere).is_some());
        assert_eq!(refused("<cuda.h>", &Reach::Nowhere), None);
        for what in ["\"zero.h\"", "\"fifo.h\"", "\"/dev/zero\""] {
            let text = refused(what, &Reach::Anywhere).unwrap();
            assert!(
                text.contains("a.cu:2: error: ") && text.contains("pipe or a device"),
                "{text}"
            );
        }
    }

    #[test]
    fn includes_are_followed_through_files() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        fs::create_dir(dir.join("cuda")).unwrap();
        for (name, text) in [
            ("a.h", "#include \"b.h\"\n#include <missing.h>\n"),
            ("b.h", "#include \"a.h\"\n#include <fp16.h>\n"),
            ("cuda/fp16.h", "#include HIDDEN\n"),
            ("unused.h", ""),
        ] {
            fs::write(dir.join(name), text).unwrap();
        }
        let cuda = dir.join("cuda");
        let toolchain =
            Toolchain { library: dir.join("l"), include_dirs: vec![cuda.clone()], stamps: vec![] };
        let mut request = Request::new("x.cu", "#include <h/in_memory.h>", Target::CPU);
        request.headers =
            vec![Header { name: "h/in_memory.h".into(), text: "#include <a.h>".into() }];
        request.include_dirs = vec![dir.to_owned()];
        let inputs = scan(&request, &toolchain).inputs.unwrap();
        let files = inputs.files.iter().map(|input| match input {
            Input::Content(path, _) => path.strip_prefix(dir).unwrap().to_str().unwrap(),
            Input::Toolkit(stamp) => stamp.path.strip_prefix(dir).unwrap().to_str().unwrap(),
        });
        assert_eq!(files.collect::<Vec<_>>(), ["a.h", "b.h", "cuda/fp16.h"]);
        fs::write(dir.join("b.h"), "int changed;").unwrap();
        assert_ne!(scan(&request, &toolchain).inputs.unwrap(), inputs);
    }
}

//! Which files a compilation may read, for the cache's key.
//!
//! NVRTC lists no dependencies, so the sources are scanned for `#include` without preprocessing: comments and
//! branches not taken count too, and of one name every file that any search folder holds. That is more than
//! the compiler reads, never less. Where it cannot be told (`#include MACRO`), or where the result depends
//! on the clock, the request has no key and is compiled every time.
//!
//! Files in the toolchain's own folders are told apart by path, length and time and not opened: they change
//! only with the toolkit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::discovery::{Stamp, Toolchain};
use super::request::Request;
use crate::file::SOURCE_LIMIT;

/// Macros that make two compilations of one text differ.
const CLOCK_MACROS: [&str; 3] = ["__TIME__", "__DATE__", "__TIMESTAMP__"];

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

/// Every file that compiling `request` may read, or `None` where that cannot be told.
pub(super) fn scan(request: &Request, toolchain: &Toolchain) -> Option<Inputs> {
    let options = Options::of(&request.options)?;
    let mut dirs: Vec<&Path> = request.include_dirs.iter().map(PathBuf::as_path).collect();
    dirs.extend(options.dirs.iter().map(PathBuf::as_path));
    dirs.extend(toolchain.include_dirs.iter().map(PathBuf::as_path));
    let inputs = Inputs { files: Vec::new(), none_asked_for: true };
    let mut scanner = Scanner { dirs, toolchain, seen: BTreeSet::new(), inputs };
    let own_dir = parent(Path::new(&request.name));
    for file in options.files {
        scanner.include(&file, &[&own_dir])?;
    }
    scanner.text(request.text().as_bytes(), &[&own_dir])?;
    scanner.text(request.prelude.as_bytes(), &[&own_dir])?;
    for header in &request.headers {
        let header_dir = parent(Path::new(&header.name));
        scanner.text(header.text.as_bytes(), &[&header_dir, &own_dir])?;
    }
    Some(scanner.inputs)
}

/// The folders that `request` names: its source's own, those for `#include`, and those of its options.
pub(super) fn folders(request: &Request) -> Vec<PathBuf> {
    let options = Options::of(&request.options).unwrap_or_default();
    let own_dir = parent(Path::new(&request.name));
    [own_dir].into_iter().chain(request.include_dirs.iter().cloned()).chain(options.dirs).collect()
}

/// What the user's options say about files.
#[derive(Debug, Default)]
struct Options {
    dirs: Vec<PathBuf>,
    files: Vec<String>,
}

impl Options {
    /// `None` where an option brings in what is not looked at here: precompiled headers, option files, or a
    /// macro that may stand in an `#include`.
    fn of(options: &[String]) -> Option<Self> {
        let mut found = Self::default();
        let mut words = options.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let word = word.trim();
            if word.contains("pch") || word.contains("options-file") || word.starts_with("-optf") {
                return None;
            }
            let mut value_of = |names: &[&str]| {
                let rest = names.iter().find_map(|name| word.strip_prefix(name))?;
                let value = rest.strip_prefix('=').unwrap_or(rest).trim();
                Some(
                    if value.is_empty() { words.next().unwrap_or_default() } else { value }
                        .to_owned(),
                )
            };
            if let Some(file) = value_of(&["--pre-include", "-include"]) {
                found.files.push(file);
            } else if let Some(dir) = value_of(&["--include-path", "-I"]) {
                found.dirs.push(dir.into());
            }
        }
        Some(found)
    }
}

fn parent(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).to_owned()
}

struct Scanner<'a> {
    dirs: Vec<&'a Path>,
    toolchain: &'a Toolchain,
    seen: BTreeSet<PathBuf>,
    inputs: Inputs,
}

impl Scanner<'_> {
    /// Follows every include of a text whose file lies in one of `own_dirs`.
    fn text(&mut self, text: &[u8], own_dirs: &[&Path]) -> Option<()> {
        for name in included_names(text)? {
            self.include(&name, own_dirs)?;
        }
        Some(())
    }

    /// Takes every file that `name` could mean.
    fn include(&mut self, name: &str, own_dirs: &[&Path]) -> Option<()> {
        self.inputs.none_asked_for = false;
        let places = own_dirs.iter().chain(&self.dirs);
        let files: Vec<PathBuf> = places.map(|dir| dir.join(name)).collect();
        files.into_iter().try_for_each(|file| self.file(file))
    }

    fn file(&mut self, file: PathBuf) -> Option<()> {
        if !file.is_file() || !self.seen.insert(file.clone()) {
            return Some(());
        }
        if self.toolchain.include_dirs.iter().any(|dir| file.starts_with(dir)) {
            self.inputs.files.push(Input::Toolkit(Stamp::of(&file)));
            return Some(());
        }
        let text = crate::file::read_regular(&file, SOURCE_LIMIT).ok()?;
        self.inputs.files.push(Input::Content(file.clone(), Sha256::digest(&text).into()));
        self.text(&text, &[&parent(&file)])
    }
}

/// The names in `#include`, `#include_next`, `#import`, `#embed` and `__has_include`, or `None` where a name
/// is computed or the text asks for the time.
pub(crate) fn included_names(text: &[u8]) -> Option<Vec<String>> {
    let text = String::from_utf8_lossy(text);
    // Rarely there, and worth a copy of the text only then.
    let joined = text.contains('\\').then(|| text.replace("\\\r\n", "").replace("\\\n", ""));
    let text = joined.as_deref().unwrap_or(&text);
    if CLOCK_MACROS.iter().any(|name| text.contains(name)) {
        return None;
    }
    let mut names = Vec::new();
    for keyword in ["include", "import", "embed"] {
        for (at, _) in text.match_indices(keyword) {
            let before = &text[..at];
            let after = &text[at + keyword.len()..];
            if before.ends_with("__has_") {
                let after = after.strip_prefix("_next").unwrap_or(after);
                let after = skip_blanks(after).strip_prefix('(');
                names.extend(after.and_then(|after| quoted_name(skip_blanks(after))));
            } else if is_directive(before) {
                let after = skip_blanks(after.strip_prefix("_next").unwrap_or(after));
                names.push(quoted_name(after)?);
            }
        }
    }
    Some(names)
}

/// Whether `#` (or its digraph) and nothing but blanks and comments end `before`.
fn is_directive(before: &str) -> bool {
    let mut rest = before.trim_end_matches([' ', '\t']);
    while let Some(comment) = rest.strip_suffix("*/").and_then(|text| text.rfind("/*")) {
        rest = rest[..comment].trim_end_matches([' ', '\t']);
    }
    rest.ends_with('#') || rest.ends_with("%:") || rest.ends_with("??=")
}

/// `text` without leading blanks and block comments.
fn skip_blanks(text: &str) -> &str {
    let mut rest = text.trim_start_matches([' ', '\t']);
    while let Some(end) = rest.strip_prefix("/*").and_then(|comment| comment.find("*/")) {
        rest = rest[end + 4..].trim_start_matches([' ', '\t']);
    }
    rest
}

/// The name between the quotes or angle brackets that `text` starts with.
fn quoted_name(text: &str) -> Option<String> {
    let close = match text.as_bytes().first()? {
        b'"' => '"',
        b'<' => '>',
        _ => return None,
    };
    let name = text[1..].split(['\n', close]).next()?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::compile::request::{Header, Target};

    fn names(text: &str) -> Option<Vec<String>> {
        included_names(text.as_bytes())
    }

    #[test]
    fn every_spelling_of_include_is_found() {
        let text = "#include <a.h>\n # /* x */ include /* y */ \"b.h\"\n#inc\\\nlude \"c.h\"\n%:include<d.h>\n\
                    // #include \"e.h\"\n#if __has_include( <f.h> )\nint include; // to include things\n\
                    #include_next <g.h>\n#import \"h.h\"\n";
        let mut found = names(text).unwrap();
        found.sort();
        assert_eq!(found, ["a.h", "b.h", "c.h", "d.h", "e.h", "f.h", "g.h", "h.h"]);
    }

    #[test]
    fn what_cannot_be_told_has_no_key() {
        assert_eq!(names("#define H \"a.h\"\n#include H\n"), None);
        assert_eq!(names("const char *t = __TIME__;"), None);
        assert_eq!(names("int x;"), Some(vec![]));
        assert!(Options::of(&["--use-pch=a".into()]).is_none());
    }

    #[test]
    fn options_name_folders_and_files() {
        let words = ["-I", "a", "-Ib", "--include-path=c", "-include", "d.h", "--pre-include=e.h"];
        let options = Options::of(&words.map(String::from)).unwrap();
        assert_eq!(options.dirs, ["a", "b", "c"].map(PathBuf::from));
        assert_eq!(options.files, ["d.h", "e.h"]);
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
        let inputs = scan(&request, &toolchain).unwrap();
        let files = inputs.files.iter().map(|input| match input {
            Input::Content(path, _) => path.strip_prefix(dir).unwrap().to_str().unwrap(),
            Input::Toolkit(stamp) => stamp.path.strip_prefix(dir).unwrap().to_str().unwrap(),
        });
        assert_eq!(files.collect::<Vec<_>>(), ["a.h", "b.h", "cuda/fp16.h"]);
        fs::write(dir.join("b.h"), "int changed;").unwrap();
        assert_ne!(scan(&request, &toolchain).unwrap(), inputs);
    }
}

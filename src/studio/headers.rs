//! The functions of the headers that a scene includes: those beside it, and those that come with the program.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use super::{completion::Candidate, document::Document, highlight::Syntax};
use crate::{
    cuda::{self, BuiltInHeader, SymbolKind},
    file,
};

/// How often it is looked whether a file has changed.
const LOOK: Duration = Duration::from_millis(500);
/// So many files are read.
const MOST: usize = 64;
/// So much is told of a comment, in letters.
const LONGEST: usize = 400;
/// Words of a declaration that say nothing to who calls the function.
const UNTOLD: [&str; 6] =
    ["__host__", "__device__", "__forceinline__", "__noinline__", "static", "inline"];

/// A function of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    name: String,
    /// How it is declared.
    declaration: String,
    /// The comment above it; may be empty.
    comment: String,
}

/// The functions of a scene's headers.
#[derive(Debug, Default)]
pub struct Headers {
    /// What was read of the files beside the scene, and when they were written.
    beside: BTreeMap<PathBuf, (Option<SystemTime>, Vec<Function>)>,
    looked: Option<(Instant, Vec<PathBuf>)>,
    /// What was read of those of the program, by their names.
    own: BTreeMap<&'static str, Vec<Function>>,
    /// Which of these the text of this revision includes, directly or by way of one another.
    included: (Option<u64>, BTreeSet<&'static str>),
}

impl Headers {
    /// Looks at the headers where another text, or others of them, are there: `text` is that of `revision`, and
    /// `files` are those that it includes.
    pub fn follow(&mut self, revision: u64, text: impl FnOnce() -> String, files: &[PathBuf]) {
        if self.included.0 != Some(revision) {
            let mut included = BTreeSet::new();
            include(&text(), &mut included);
            for header in cuda::headers().iter().filter(|header| included.contains(header.name)) {
                self.own.entry(header.name).or_insert_with(|| functions(header.text));
            }
            self.included = (Some(revision), included);
        }
        let is_known =
            |(looked, known): &(Instant, Vec<PathBuf>)| looked.elapsed() < LOOK && known == files;
        if self.looked.as_ref().is_some_and(is_known) {
            return;
        }
        self.looked = Some((Instant::now(), files.to_vec()));
        self.beside.retain(|path, _| files.contains(path));
        for path in files.iter().take(MOST) {
            let modified = path.metadata().and_then(|of| of.modified()).ok();
            if self.beside.get(path).is_none_or(|(known, _)| *known != modified) {
                // What cannot be read is told by the compiler.
                let text = file::read_regular_text(path, Document::LARGEST).unwrap_or_default();
                self.beside.insert(path.clone(), (modified, functions(&text)));
            }
        }
    }

    /// All functions, each with its header's name.
    fn all(&self) -> impl Iterator<Item = (&str, &Function)> {
        let beside = self.beside.iter().flat_map(|(path, (_, functions))| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            functions.iter().map(move |of| (name, of))
        });
        let included = &self.included.1;
        let own = self.own.iter().filter(|(name, _)| included.contains(*name));
        beside.chain(own.flat_map(|(name, all)| all.iter().map(move |of| (*name, of))))
    }

    /// What words may become that are half typed.
    pub fn candidates(&self) -> Vec<Candidate> {
        let candidate = |(_, of): (&str, &Function)| Candidate {
            word: of.name.clone(),
            detail: of.declaration.clone(),
            syntax: Syntax::Function,
            quotes: [false; 2],
        };
        self.all().map(candidate).collect()
    }

    /// What a name means, in lines of which the first one is code.
    pub fn meaning(&self, word: &str) -> Option<String> {
        let mut all = self.all().filter(|(_, of)| of.name == word);
        let (header, first) = all.next()?;
        let others = all.count();
        let mut told = vec![first.declaration.clone()];
        told.extend((!first.comment.is_empty()).then(|| first.comment.clone()));
        told.push(match others {
            0 => format!("In {header}."),
            _ => format!("In {header}; {others} more of this name."),
        });
        Some(told.join("\n"))
    }
}

/// Adds the program's headers that a text includes, and those that these include.
fn include(text: &str, included: &mut BTreeSet<&'static str>) {
    let names = |header: &&BuiltInHeader| text.contains(header.name);
    for header in cuda::headers().iter().filter(names) {
        if included.insert(header.name) {
            include(header.text, included);
        }
    }
}

/// The functions that a header's text defines, but for members.
fn functions(text: &str) -> Vec<Function> {
    let symbols = cuda::symbols(text).into_iter();
    let functions =
        symbols.filter(|symbol| symbol.kind == SymbolKind::Function && !symbol.name.contains("::"));
    functions
        .map(|symbol| {
            let words = text[symbol.head.clone()].split_whitespace();
            let words: Vec<&str> = words.filter(|word| !UNTOLD.contains(word)).collect();
            let comment = comment_above(text, symbol.head.start);
            Function { name: symbol.name, declaration: words.join(" "), comment }
        })
        .collect()
}

/// The comment that ends on the line before byte `at`, in one line.
fn comment_above(text: &str, at: usize) -> String {
    let above = text[..at].trim_end_matches([' ', '\t']);
    let Some(above) = above.strip_suffix('\n') else { return String::new() };
    let lines: Vec<&str> = match above.trim_end_matches([' ', '\t', '\r']).strip_suffix("*/") {
        Some(block) => {
            let start = block.rfind("/*").map_or(block.len(), |start| start + 2);
            block[start..].lines().map(|line| line.trim().trim_start_matches('*')).collect()
        }
        None => {
            let is_comment = |line: &&str| line.trim_start().starts_with("//");
            let mut lines: Vec<&str> = above.rsplit('\n').take_while(is_comment).collect();
            lines.reverse();
            lines.into_iter().map(|line| line.trim_start().trim_start_matches('/')).collect()
        }
    };
    let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    words.join(" ").chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_with_how_they_are_declared_and_the_comment_above() {
        let text = "// The whole file.\n\n// Twice\n//   as much.\ntemplate <typename T>\n\
            __host__ __device__ inline T twice(T x,\n        T y = 1) { return 2 * x; }\n\
            /* A block\n * of lines */\n__device__ int half(int x)\n{ return x / 2; }\n\n\
            // Of nobody.\n\n__device__ void plain() {}\nstruct S { void member() {} };\n";
        let found: Vec<[String; 3]> =
            functions(text).into_iter().map(|of| [of.name, of.declaration, of.comment]).collect();
        let told = [
            ["twice", "template <typename T> T twice(T x, T y = 1)", "Twice as much."],
            ["half", "int half(int x)", "A block of lines"],
            ["plain", "void plain()", ""],
        ];
        assert_eq!(found, told);
    }

    #[test]
    fn headers_of_the_program_are_known_where_they_are_included() {
        let mut headers = Headers::default();
        headers.follow(1, || "int a;\n".into(), &[]);
        assert_eq!(headers.meaning("curl_noise"), None);
        headers.follow(2, || "#include <warpaint/noise.cuh>\n".into(), &[]);
        let told = headers.meaning("curl_noise").unwrap();
        assert!(told.contains("float3 curl_noise(float3 p"), "{told}");
        assert!(told.contains("In warpaint/noise.cuh"), "{told}");
        // By way of it.
        assert!(headers.candidates().iter().any(|of| of.detail.contains("dot(V a")));
        headers.follow(3, String::new, &[]);
        assert!(headers.candidates().is_empty());
    }

    #[test]
    fn files_beside_the_scene_are_read_again_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.cuh");
        std::fs::write(&path, "// One.\n__device__ int one() { return 1; }\n").unwrap();
        let (mut headers, files) = (Headers::default(), [path.clone()]);
        let follow = |headers: &mut Headers| {
            headers.looked = None;
            headers.follow(1, String::new, &files);
        };
        follow(&mut headers);
        assert_eq!(headers.meaning("one").as_deref(), Some("int one()\nOne.\nIn own.cuh."));
        std::fs::write(&path, "int two() { return 2; }\nint two(int a) { return a; }\n").unwrap();
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(9)).unwrap();
        follow(&mut headers);
        assert_eq!(headers.meaning("one"), None);
        let told = headers.meaning("two").unwrap();
        assert_eq!(told, "int two()\nIn own.cuh; 1 more of this name.");
        headers.looked = None;
        headers.follow(1, String::new, &[]);
        assert_eq!(headers.meaning("two"), None);
    }
}

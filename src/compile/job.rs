//! What NVRTC is asked to do and what it answers, all of it text: these cross between processes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Compiled, Error, Outcome, Reach, Result, c_headers,
    confinement::Confinement,
    diagnostics,
    discovery::Toolchain,
    includes::folders,
    library,
    request::{PRELUDE_NAME, Request, Target},
    sources::Sources,
};
use crate::ptx::files::renamed;

/// The first version that precompiles headers.
const FIRST_TO_PRECOMPILE: (u32, u32) = (12, 8);

/// More PTX than this is not taken, in bytes: nobody wrote that by hand, and what comes next would choke on it.
pub(super) const LONGEST_PTX: usize = 256 << 20;

/// What there is to know of a library that was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// Major and minor version.
    pub version: (u32, u32),
    /// The architectures that it compiles for, oldest first: 75 for `compute_75`.
    pub architectures: Vec<u32>,
}

impl Facts {
    /// Whether it can precompile headers.
    pub(super) fn precompiles(&self) -> bool {
        self.version >= FIRST_TO_PRECOMPILE
    }

    /// The newest architecture that the library knows and the target has.
    fn architecture(&self, target: Target) -> Result<u32> {
        let wanted = target.number();
        let newest = self.architectures.iter().rev().find(|arch| **arch <= wanted);
        newest.copied().ok_or_else(|| Error::Target {
            target,
            oldest: self.architectures.first().copied().unwrap_or_default(),
            version: self.version,
        })
    }
}

/// One program for NVRTC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Job {
    /// The source's name.
    pub name: String,
    /// The source.
    pub source: String,
    /// Names and texts of the headers in memory.
    pub headers: Vec<(String, String)>,
    /// The arguments, which name files that need not be text.
    pub options: Vec<Vec<u8>>,
    /// Kernels whose lowered names are wanted.
    pub name_expressions: Vec<String>,
    /// The folder that relative names start from, which need not be text either.
    pub directory: Vec<u8>,
    /// What may be opened; `None`: whatever the user may open.
    pub confinement: Option<Confinement>,
}

/// What became of a [`Job`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// It compiled.
    Compiled {
        /// The PTX.
        ptx: String,
        /// The lowered name of each name expression.
        names: BTreeMap<String, String>,
        /// All that the compiler said.
        log: String,
    },
    /// The source or an option is wrong.
    Rejected {
        /// All that the compiler said.
        log: String,
    },
    /// More PTX than is taken.
    TooLong {
        /// How much, in bytes.
        len: usize,
    },
    /// A call failed for another reason.
    Failed {
        /// The NVRTC function.
        call: String,
        /// The error's name.
        code: String,
        /// Its number.
        number: i32,
    },
}

impl Job {
    /// What the library of `facts` is asked to do for `request`, which has been checked for NUL bytes.
    ///
    /// # Errors
    /// [`Error::Target`].
    pub(super) fn of(
        request: &Request,
        sources: &Sources,
        toolchain: &Toolchain,
        facts: &Facts,
    ) -> Result<Self> {
        let mut headers: Vec<(String, String)> = request
            .headers
            .iter()
            .chain(c_headers::for_request(request, folders(request)))
            .map(|header| (header.name.clone(), header.text.clone()))
            .chain(sources.headers())
            .collect();
        if !request.prelude.is_empty() {
            headers.push((PRELUDE_NAME.to_owned(), request.prelude.clone()));
        }
        Ok(Self {
            name: file_name(request.file_name()),
            source: sources.source(),
            headers,
            options: options(request, sources, toolchain, facts.architecture(request.target)?),
            name_expressions: request.name_expressions.clone(),
            directory: bytes(&std::env::current_dir().unwrap_or_default()),
            confinement: confinement(&request.reach, toolchain),
        })
    }

    /// The same with headers taken from `folder`, and put there where they are not.
    pub(super) fn with_precompiled(mut self, folder: &Path) -> Self {
        // That a precompiled header of another source does not fit (#630) is no news.
        let words = ["--pch", "--pch-messages=false", "--diag-suppress=630"];
        self.options.extend(words.map(|word| word.as_bytes().to_owned()));
        self.options.push(option("--pch-dir=", folder));
        self.confinement.iter_mut().for_each(|held| held.written.push(bytes(folder)));
        self
    }

    /// What became of `request`, going by what the library of `facts` answered.
    ///
    /// # Errors
    /// [`Error::Nvrtc`].
    pub(super) fn outcome(
        &self,
        answer: Answer,
        request: &Request,
        facts: &Facts,
    ) -> Result<Outcome> {
        let lines = request.text().lines().count();
        let remarks = |log: &str, failed| {
            let mut remarks = diagnostics::parse(log, &self.name, lines, failed);
            let of_source = remarks.iter_mut().filter(|remark| remark.file == self.name);
            of_source.for_each(|remark| remark.file.clone_from(&request.name));
            remarks
        };
        match answer {
            Answer::Compiled { ptx, names, log } => Ok(Outcome::Compiled(Compiled {
                ptx: name_files_as_requested(&ptx, request, &self.directory).into(),
                names,
                diagnostics: remarks(&log, false),
                log,
                cached: false,
                nvrtc: facts.version,
            })),
            Answer::Rejected { log } => {
                let diagnostics = remarks(&log, true);
                Ok(Outcome::Rejected { diagnostics, log, untrusted: Vec::new() })
            }
            Answer::TooLong { len } => {
                let text = format!(
                    "this compiles to {} MiB of PTX, and at most {} MiB are taken; large tables belong into arrays",
                    len >> 20,
                    LONGEST_PTX >> 20
                );
                Ok(Outcome::rejected(&request.name, text))
            }
            Answer::Failed { call, code, number } => {
                Err(Error::Nvrtc { call, code, number, name: request.name.clone() })
            }
        }
    }
}

/// What a source of this reach may make the compiler open.
fn confinement(reach: &Reach, toolchain: &Toolchain) -> Option<Confinement> {
    let own: &[PathBuf] = match reach {
        Reach::Anywhere => return None,
        Reach::Below(folders) => folders,
        Reach::Nowhere => &[],
    };
    let all = |folders: &[PathBuf]| folders.iter().map(|folder| bytes(folder)).collect();
    let written = Vec::new();
    Some(Confinement { own: all(own), toolkit: all(&toolchain.include_dirs), written })
}

/// A name that the compiler does not take for an option.
fn file_name(name: &str) -> String {
    if name.starts_with('-') { format!("./{name}") } else { name.to_owned() }
}

/// The compiler's arguments.
fn options(
    request: &Request,
    sources: &Sources,
    toolchain: &Toolchain,
    architecture: u32,
) -> Vec<Vec<u8>> {
    let mut options = vec![format!("--gpu-architecture=compute_{architecture}").into_bytes()];
    let mut add = |option: &str| options.push(option.as_bytes().to_owned());
    // A build for debuggers has the lines anyway, and NVRTC complains of both.
    let debugs = |option: &String| option == "--device-debug" || option == "-G";
    if !request.options.iter().any(debugs) {
        add("-lineinfo");
    }
    let names_standard =
        |option: &String| option.starts_with("--std") || option.starts_with("-std");
    if !request.options.iter().any(names_standard) {
        add("--std=c++17");
    }
    // What kernels have of the host's C++ with nvcc. Each version that is looked for knows the option.
    add("--device-int128");
    add(&format!("--pre-include={}", library::NAME));
    if !request.prelude.is_empty() {
        add(&format!("--pre-include={PRELUDE_NAME}"));
    }
    if sources.is_for_device() {
        add("-default-device");
    }
    request.options.iter().for_each(|option| add(option));
    let folders = request.include_dirs.iter().chain(&toolchain.include_dirs);
    options.extend(folders.map(|folder| option("--include-path=", folder)));
    options
}

fn option(name: &str, value: &Path) -> Vec<u8> {
    [name.as_bytes(), value.as_os_str().as_encoded_bytes()].concat()
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_owned()
}

/// The PTX with its `.file` entries as the request named the files: NVRTC puts the current directory before
/// relative names, which would tie a cached result to the directory that it was compiled in.
fn name_files_as_requested(ptx: &str, request: &Request, directory: &[u8]) -> String {
    let directory = [directory, b"/"].concat();
    let names = request.headers.iter().map(|header| &header.name).chain([&request.name]);
    let paths = names.map(Path::new).chain(request.include_dirs.iter().map(PathBuf::as_path));
    let absolute: Vec<Vec<u8>> = paths.filter(|path| path.is_absolute()).map(bytes).collect();
    let own = request.path.as_ref().map(|_| request.file_name());
    renamed(ptx, |found| {
        let is_absolute = absolute.iter().any(|path| found.starts_with(path));
        let below = found.strip_prefix(&directory[..]).filter(|_| !is_absolute);
        let is_own = |name: &[u8]| own.as_ref().is_some_and(|own| own.as_bytes() == name);
        if is_own(found) || below.is_some_and(is_own) {
            return Some(request.name.as_bytes().to_owned());
        }
        below.map(<[u8]>::to_vec)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_entries_are_named_as_requested() {
        let ptx = "\t.loc\t1 3 0\n\t.file\t1 \"/d\\303\\274/k/a.cu\"\n\t.file\t2 \"/d\\303\\274/i/b.cuh\"\n";
        let named = |name: &str, include: &str| {
            let mut request = Request::new(name, "", Target::CPU);
            request.include_dirs.push(include.into());
            name_files_as_requested(ptx, &request, "/dü".as_bytes())
        };
        let ptx_with = |a: &str, b: &str| {
            ptx.replace("/d\\303\\274/k/a.cu", a).replace("/d\\303\\274/i/b.cuh", b)
        };
        assert_eq!(named("k/a.cu", "i"), ptx_with("k/a.cu", "i/b.cuh"));
        assert_eq!(named("/dü/k/a.cu", "i"), ptx_with("/d\\303\\274/k/a.cu", "i/b.cuh"));
        assert_eq!(named("/dü/k/a.cu", "/dü/i"), ptx);
        let mut elsewhere = Request::new("a.cu", "", Target::CPU);
        elsewhere.path = Some("/dü/k/a.cu".into());
        let named = name_files_as_requested(ptx, &elsewhere, "/dü".as_bytes());
        assert_eq!(named, ptx_with("a.cu", "i/b.cuh"));
        elsewhere.path = Some("k/a.cu".into());
        let named = name_files_as_requested(ptx, &elsewhere, "/dü".as_bytes());
        assert_eq!(named, ptx_with("a.cu", "i/b.cuh"), "NVRTC puts the directory before it");
    }
}

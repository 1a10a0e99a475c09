//! Where NVRTC and CUDA's headers are, told from the file system alone: nothing is loaded and no program run.
//!
//! Searched in this order: `WARPAINT_NVRTC` (a file or a folder; a wrong one is an error, not skipped), the
//! loader's path (`LD_LIBRARY_PATH`, `/etc/ld.so.cache`, the system's library folders), `CUDA_HOME` and
//! `CUDA_PATH`, the usual toolkit folders, Python's site-packages (where the wheels `nvidia-cuda-nvrtc` and
//! `nvidia-cuda-nvrtc-cu12` put it), and our own data folder, which `scripts/setup` fills.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Error, Result, canonical};
use crate::file;

/// The major versions of NVRTC that are looked for; those after 13 are yet to come.
const MAJORS: std::ops::Range<u32> = 12..20;

/// Folders below a toolkit, a wheel or our data folder that may hold the library.
const LIBRARY_DIRS: [&str; 4] =
    ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];

/// Headers by one of which a folder is known to hold CUDA's own.
const TELLTALE_HEADERS: [&str; 4] = ["cuda_fp16.h", "nvrtc.h", "crt/mma.h", "nv/target"];

/// A library that was found, and the include folders that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Toolchain {
    /// The library, with symbolic links resolved: NVRTC finds its builtins beside it.
    pub library: PathBuf,
    /// Folders with CUDA's own headers.
    pub include_dirs: Vec<PathBuf>,
    /// Tells this library and these folders from any other version, without loading it.
    pub stamps: Vec<Stamp>,
}

impl Toolchain {
    fn new(library: &Path) -> Self {
        let library = canonical(library);
        let include_dirs = include_dirs(&library);
        let stamps =
            std::iter::once(&library).chain(&include_dirs).map(|path| Stamp::of(path)).collect();
        Self { library, include_dirs, stamps }
    }

    /// Whether the library file is still the one that was found.
    pub(super) fn is_unchanged(&self) -> bool {
        self.stamps.first() == Some(&Stamp::of(&self.library))
    }
}

/// A file's or folder's identity as far as `stat` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The path.
    pub path: PathBuf,
    /// Its length in bytes.
    pub len: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: u128,
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        let metadata = fs::metadata(path).ok();
        let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
        let since = modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        Self {
            path: path.to_owned(),
            len: metadata.map_or(0, |metadata| metadata.len()),
            modified_ns: since.unwrap_or_default().as_nanos(),
        }
    }
}

/// Where to look.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// `WARPAINT_NVRTC`.
    pub variable: Option<PathBuf>,
    /// Folders that hold libraries, and what each place is called in an error message.
    pub folders: Vec<(&'static str, PathBuf)>,
}

impl Places {
    /// The places of this process.
    pub(super) fn from_environment() -> Self {
        let data = directories::ProjectDirs::from("", "", "warpaint")
            .map(|dirs| dirs.data_dir().to_owned());
        Self::new(&|name| std::env::var_os(name), Path::new("/"), data.as_deref())
    }

    /// The places of a process with these environment variables, file system root and data folder.
    fn new(variable: &dyn Fn(&str) -> Option<OsString>, root: &Path, data: Option<&Path>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut folders = Vec::new();
        let mut add = |what, found: Vec<PathBuf>| {
            folders.extend(found.into_iter().map(|folder| (what, folder)));
        };
        add("LD_LIBRARY_PATH", split(set("LD_LIBRARY_PATH")));
        add("the loader's cache", loader_cache(&root.join("etc/ld.so.cache")));
        add("the system's library folders", system_dirs(root));
        for name in ["CUDA_HOME", "CUDA_PATH"] {
            let toolkit = set(name).map(PathBuf::from);
            add(name, toolkit.iter().flat_map(|dir| library_dirs(dir)).collect());
        }
        let toolkits = toolkits(root);
        add("CUDA toolkits", toolkits.iter().flat_map(|dir| library_dirs(dir)).collect());
        let sites = site_packages(&set, root);
        add("Python site-packages", sites.iter().flat_map(|dir| wheel_dirs(dir)).collect());
        add(
            "conda",
            set("CONDA_PREFIX").iter().flat_map(|dir| library_dirs(dir.as_ref())).collect(),
        );
        add("warpaint's data folder", data.map(wheel_dirs).unwrap_or_default());
        Self { variable: set("WARPAINT_NVRTC").map(PathBuf::from), folders }
    }

    /// The first usable library that is not among `unusable`.
    pub(super) fn find(&self, unusable: &[(PathBuf, String)]) -> Result<Toolchain> {
        if let Some(path) = &self.variable {
            return named_library(path, unusable)
                .map(|library| Toolchain::new(&library))
                .map_err(|problem| Error::NvrtcVariable { path: path.clone(), problem });
        }
        let libraries = self.folders.iter().flat_map(|(_, folder)| libraries_in(folder));
        let mut problems = Vec::new();
        for library in libraries {
            match usable(&library, unusable) {
                Ok(()) => return Ok(Toolchain::new(&library)),
                Err(problem) => problems.push(format!("{}: {problem}", library.display())),
            }
        }
        Err(Error::NvrtcNotFound { searched: self.searched(problems) })
    }

    /// One item for each kind of place, with its folders, then what was found and refused.
    fn searched(&self, problems: Vec<String>) -> Vec<String> {
        let kinds = [
            "the loader's path",
            "CUDA_HOME",
            "CUDA_PATH",
            "CUDA toolkits",
            "Python site-packages",
        ];
        let mut searched: Vec<String> = kinds.map(String::from).into();
        let own = self.folders.iter().filter(|(what, _)| *what == "warpaint's data folder");
        searched.extend(own.map(|(_, folder)| folder.display().to_string()));
        searched.extend(problems);
        searched.dedup();
        searched
    }
}

/// The library that `WARPAINT_NVRTC` names: a file, or a folder with one in it or in its `lib` folders.
fn named_library(
    path: &Path,
    unusable: &[(PathBuf, String)],
) -> std::result::Result<PathBuf, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    let candidates = if metadata.is_dir() {
        let dirs =
            std::iter::once(path.to_owned()).chain(library_dirs(path)).chain(wheel_dirs(path));
        dirs.flat_map(|dir| libraries_in(&dir)).collect()
    } else {
        vec![path.to_owned()]
    };
    let mut problem = "no libnvrtc.so* in that folder".to_owned();
    for library in candidates {
        match usable(&library, unusable) {
            Ok(()) => return Ok(library),
            Err(error) => problem = format!("{} {error}", library.display()),
        }
    }
    Err(problem)
}

/// Whether `library` looks loadable, and did not already refuse to load.
fn usable(library: &Path, unusable: &[(PathBuf, String)]) -> std::result::Result<(), String> {
    let refused = unusable.iter().find(|(path, _)| *path == canonical(library));
    if let Some((_, problem)) = refused {
        return Err(problem.clone());
    }
    if let Some(major) = version_of(&canonical(library)).filter(|major| *major < MAJORS.start) {
        return Err(format!("is version {major}, and {} or newer is needed", MAJORS.start));
    }
    is_native_elf(library)
}

/// Whether the file is an ELF library for this machine's architecture (ELF header, `e_ident`, `e_machine`).
fn is_native_elf(library: &Path) -> std::result::Result<(), String> {
    let mut head = [0; 20];
    let read = file::open_regular(library).and_then(|mut file| file.read_exact(&mut head));
    read.map_err(|error| format!("cannot be read ({error})"))?;
    let machine = u16::from_le_bytes([head[18], head[19]]);
    let ours: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
    if !head.starts_with(b"\x7fELF\x02") {
        Err("is no 64-bit ELF library".into())
    } else if machine != ours {
        Err("is built for another processor".into())
    } else {
        Ok(())
    }
}

/// The NVRTC libraries in `folder`, newest first. Their names are tried, since listing the system's folders
/// would take longer than all the rest of the search.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let versioned = MAJORS.rev().map(|major| format!("libnvrtc.so.{major}"));
    let names = versioned.chain(std::iter::once("libnvrtc.so".to_owned()));
    let paths = names.map(|name| folder.join(name));
    paths.filter(|path| path.is_file()).collect()
}

/// The first number after `.so.` in a library's name.
fn version_of(library: &Path) -> Option<u32> {
    let (_, version) = library.file_name()?.to_str()?.split_once(".so.")?;
    version.split('.').next()?.parse().ok()
}

/// What lies in a folder, sorted by name; nothing where it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().filter_map(std::result::Result::ok);
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The entries of `folder` whose names start with `prefix`, newest version first.
fn versions(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let numbers = |path: &PathBuf| -> Vec<u32> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    let mut found = entries(folder);
    found.retain(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    });
    found.sort_by_key(|path| std::cmp::Reverse(numbers(path)));
    found
}

fn split(paths: Option<OsString>) -> Vec<PathBuf> {
    let paths = paths.unwrap_or_default();
    std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// The folders of NVRTC libraries in the loader's cache: its paths stand there as NUL-terminated strings
/// (glibc, `sysdeps/generic/dl-cache.h`).
fn loader_cache(path: &Path) -> Vec<PathBuf> {
    let bytes = file::read_regular(path, file::SOURCE_LIMIT).unwrap_or_default();
    let strings =
        bytes.split(|byte| *byte == 0).filter_map(|bytes| std::str::from_utf8(bytes).ok());
    let libraries = strings.filter(|text| text.starts_with('/') && text.contains("/libnvrtc.so"));
    let folders: BTreeSet<&Path> = libraries.filter_map(|path| Path::new(path).parent()).collect();
    folders.into_iter().map(Path::to_owned).collect()
}

fn system_dirs(root: &Path) -> Vec<PathBuf> {
    let multiarch =
        if cfg!(target_arch = "x86_64") { "x86_64-linux-gnu" } else { "aarch64-linux-gnu" };
    let names = ["usr/local/lib", "lib", "usr/lib", "lib64", "usr/lib64"].map(|dir| root.join(dir));
    names.into_iter().flat_map(|dir| [dir.join(multiarch), dir]).collect()
}

fn library_dirs(toolkit: &Path) -> Vec<PathBuf> {
    LIBRARY_DIRS.iter().map(|dir| toolkit.join(dir)).collect()
}

fn toolkits(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.join("usr/local/cuda")];
    found.extend(versions(&root.join("usr/local"), "cuda-"));
    found.extend([root.join("opt/cuda"), root.join("usr/lib/cuda")]);
    found
}

/// The library folders of the wheels below `site`: `nvidia/cu13/lib`, `nvidia/cuda_nvrtc/lib`.
fn wheel_dirs(site: &Path) -> Vec<PathBuf> {
    let wheels = versions(&site.join("nvidia"), "cu");
    wheels.into_iter().map(|wheel| wheel.join("lib")).collect()
}

/// The site-packages of the active environment, of the Pythons on `PATH`, of pyenv, of the user, of the system.
fn site_packages(set: &dyn Fn(&str) -> Option<OsString>, root: &Path) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .iter()
        .filter_map(|name| set(name))
        .map(PathBuf::from)
        .collect();
    for dir in split(set("PATH")) {
        let python = dir.join("python3");
        if python.is_file() {
            // A virtual environment's python3 is a link to the one it was made from: both count.
            for python in [python.clone(), canonical(&python)] {
                prefixes.extend(python.ancestors().nth(2).map(Path::to_owned));
            }
        }
    }
    let home = set("HOME").map(PathBuf::from);
    let pyenv =
        set("PYENV_ROOT").map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".pyenv")));
    prefixes.extend(pyenv.into_iter().flat_map(|dir| versions(&dir.join("versions"), "")));
    prefixes.extend(set("PYTHONUSERBASE").map(PathBuf::from));
    prefixes.extend(home.map(|home| home.join(".local")));
    prefixes.extend([root.join("usr/local"), root.join("usr")]);
    let mut sites = split(set("PYTHONPATH"));
    sites.extend(prefixes.iter().flat_map(|prefix| sites_below(prefix)));
    let mut seen = BTreeSet::new();
    sites.retain(|site| seen.insert(site.clone()));
    sites
}

fn sites_below(prefix: &Path) -> Vec<PathBuf> {
    let pythons = ["lib", "lib64"].map(|lib| versions(&prefix.join(lib), "python3"));
    let pythons = pythons.into_iter().flatten();
    pythons.flat_map(|dir| ["site-packages", "dist-packages"].map(|name| dir.join(name))).collect()
}

/// The folders with CUDA's headers that came with `library`.
///
/// A toolkit and the CUDA 13 wheels have them in `include` beside the library's folder, the CUDA 12 wheels
/// in their sibling packages. `/usr/include` is left out: it would bring the host's C library along.
fn include_dirs(library: &Path) -> Vec<PathBuf> {
    let Some(package) = library.ancestors().nth(2) else { return Vec::new() };
    let mut candidates = vec![package.join("include"), package.join("include/cccl")];
    for target in ["x86_64-linux", "sbsa-linux"] {
        let include = package.join("targets").join(target).join("include");
        candidates.extend([include.join("cccl"), include]);
    }
    if let Some(siblings) = package.parent() {
        let wheels = ["cuda_runtime", "cuda_cccl", "cuda_nvcc"];
        candidates.extend(wheels.map(|wheel| siblings.join(wheel).join("include")));
    }
    let is_cuda = |dir: &PathBuf| TELLTALE_HEADERS.iter().any(|name| dir.join(name).is_file());
    let mut found: Vec<PathBuf> =
        candidates.iter().filter(|dir| is_cuda(dir)).map(|dir| canonical(dir)).collect();
    let mut seen = BTreeSet::from([PathBuf::from("/usr/include")]);
    found.retain(|dir| seen.insert(dir.clone()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that passes for a library of this machine.
    fn library(path: &Path) {
        let mut head = b"\x7fELF\x02\x01\x01".to_vec();
        head.resize(64, 0);
        head[18] = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
        write(path, &head);
    }

    fn write(path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn places(root: &Path, variables: &[(&str, &Path)]) -> Places {
        let variable = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.as_os_str().to_owned())
        };
        Places::new(&variable, root, Some(&root.join("data/warpaint")))
    }

    fn found(places: &Places) -> PathBuf {
        places.find(&[]).unwrap().library
    }

    #[test]
    fn places_are_searched_in_order() {
        let temp = tempfile::tempdir().unwrap();
        let root = canonical(temp.path());
        let data = root.join("data/warpaint/nvidia/cu13/lib/libnvrtc.so.13");
        library(&data);
        assert_eq!(found(&places(&root, &[])), data);

        let site = root.join("usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        library(&site);
        assert_eq!(found(&places(&root, &[])), site);
        let venv = root.join("venv");
        let active = venv.join("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
        library(&active);
        assert_eq!(found(&places(&root, &[("VIRTUAL_ENV", &venv)])), active);
        write(&venv.join("bin/python3"), b"");
        assert_eq!(found(&places(&root, &[("PATH", &venv.join("bin"))])), active);

        let toolkit = root.join("usr/local/cuda-12.4/lib64/libnvrtc.so.12");
        let newer = root.join("usr/local/cuda-13.0/targets/x86_64-linux/lib/libnvrtc.so.13");
        library(&toolkit);
        library(&newer);
        assert_eq!(found(&places(&root, &[])), newer);

        let home = root.join("home");
        library(&home.join("lib64/libnvrtc.so"));
        assert_eq!(found(&places(&root, &[("CUDA_PATH", &home)])), home.join("lib64/libnvrtc.so"));

        let loader = root.join("elsewhere/libnvrtc.so.13");
        library(&loader);
        let line = format!("glibc-ld.so.cache1.1\0libnvrtc.so.13\0{}\0", loader.display());
        write(&root.join("etc/ld.so.cache"), line.as_bytes());
        assert_eq!(found(&places(&root, &[("CUDA_PATH", &home)])), loader);
        assert_eq!(found(&places(&root, &[("WARPAINT_NVRTC", &data)])), data);
        let folder = root.join("data/warpaint");
        assert_eq!(found(&places(&root, &[("WARPAINT_NVRTC", &folder)])), data);
    }

    #[test]
    fn a_wrong_variable_is_an_error_and_not_skipped() {
        let temp = tempfile::tempdir().unwrap();
        let root = canonical(temp.path());
        library(&root.join("usr/lib/libnvrtc.so.13"));
        write(&root.join("text.so"), b"this is a text file, not a library");
        fs::create_dir(root.join("empty")).unwrap();
        for (name, problem) in
            [("missing", "No such file"), ("empty", "no libnvrtc"), ("text.so", "ELF")]
        {
            let path = root.join(name);
            let error =
                places(&root, &[("WARPAINT_NVRTC", &path)]).find(&[]).unwrap_err().to_string();
            assert!(error.starts_with("WARPAINT_NVRTC is /") && error.contains(problem), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_loaded_is_passed_over() {
        let temp = tempfile::tempdir().unwrap();
        let root = canonical(temp.path());
        library(&root.join("lib/libnvrtc.so.11.2"));
        #[cfg(unix)]
        std::os::unix::fs::symlink("libnvrtc.so.11.2", root.join("lib/libnvrtc.so")).unwrap();
        write(&root.join("lib/libnvrtc.so.14"), b"short");
        library(&root.join("lib/libnvrtc.so.13"));
        library(&root.join("lib/libnvrtc-builtins.so.13"));
        library(&root.join("usr/lib/libnvrtc.so.12"));
        let places = places(&root, &[]);
        assert_eq!(found(&places), root.join("lib/libnvrtc.so.13"));
        let mut unusable = vec![(root.join("lib/libnvrtc.so.13"), "broken".to_owned())];
        let second = places.find(&unusable).unwrap().library;
        assert_eq!(second, root.join("usr/lib/libnvrtc.so.12"));
        unusable.push((second, "broken too".to_owned()));
        let error = places.find(&unusable).unwrap_err().to_string();
        for part in ["scripts/setup", "libnvrtc.so: is version 11", "broken too", "CUDA_HOME"] {
            assert!(error.contains(part), "{part} is not in: {error}");
        }
    }

    #[test]
    fn headers_come_with_the_library() {
        let temp = tempfile::tempdir().unwrap();
        let root = canonical(temp.path());
        let cu13 = root.join("nvidia/cu13");
        write(&cu13.join("include/cuda_fp16.h"), b"");
        write(&cu13.join("include/cccl/nv/target"), b"");
        let expected = [cu13.join("include"), cu13.join("include/cccl")];
        assert_eq!(include_dirs(&cu13.join("lib/libnvrtc.so.13")), expected);

        let cu12 = root.join("site/nvidia");
        write(&cu12.join("cuda_runtime/include/cuda_fp16.h"), b"");
        write(&cu12.join("cuda_cccl/include/nv/target"), b"");
        let expected = [cu12.join("cuda_runtime/include"), cu12.join("cuda_cccl/include")];
        assert_eq!(include_dirs(&cu12.join("cuda_nvrtc/lib/libnvrtc.so.12")), expected);
        assert!(
            include_dirs(Path::new("/usr/lib/libnvrtc.so.12")).iter().all(|d| d != "/usr/include")
        );
    }
}

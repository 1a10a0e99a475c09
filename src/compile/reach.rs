//! Which files a source may include.

use std::path::{Path, PathBuf};

/// Which files a source may include, beside CUDA's own and the headers of its [`Request`](super::Request).
///
/// ```
/// use warpaint::compile::{Cache, Compiler, Outcome, Reach, Request, Target};
///
/// let mut request = Request::new("k.cu", "#include \"/etc/passwd\"\n__global__ void k() {}", Target::CPU);
/// request.reach = Reach::Nowhere;
/// let Outcome::Rejected { untrusted, .. } = Compiler::new(Cache::memory()).compile(&request)?
/// else { panic!("it must not be opened") };
/// assert_eq!(untrusted, ["/etc/passwd"]);
/// # Ok::<(), warpaint::compile::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All: who wrote the source is trusted.
    #[default]
    Anywhere,
    /// Those in a folder and below it. A link that leads out of it is not followed.
    Below(PathBuf),
    /// None.
    Nowhere,
}

impl Reach {
    /// What a scene may include that nobody vouches for: what lies below the folder of its file.
    #[cfg(feature = "gl")]
    pub(crate) fn of_file(path: Option<&Path>) -> Self {
        match path.map(|path| path.parent().unwrap_or(Path::new(""))) {
            Some(folder) if folder.as_os_str().is_empty() => Self::Below(".".into()),
            Some(folder) => Self::Below(folder.to_owned()),
            None => Self::Nowhere,
        }
    }

    /// Whether `file`, which is there, may be included.
    pub(crate) fn holds(&self, file: &Path) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Below(folder) => is_below(file, folder),
            Self::Nowhere => false,
        }
    }
}

/// Whether `file` lies in `folder` or below it, behind all links.
pub(super) fn is_below(file: &Path, folder: &Path) -> bool {
    let both = file.canonicalize().and_then(|file| Ok((file, folder.canonicalize()?)));
    both.is_ok_and(|(file, folder)| file.starts_with(folder))
}

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
    /// Those in some folders and below them. A link that leads out of them is not followed.
    Below(Vec<PathBuf>),
    /// None.
    Nowhere,
}

impl Reach {
    /// What a scene may include that nobody vouches for: what lies below the folder of its file.
    #[cfg(feature = "gl")]
    pub(crate) fn of_file(path: Option<&Path>) -> Self {
        match path.map(|path| path.parent().unwrap_or(Path::new(""))) {
            Some(folder) if folder.as_os_str().is_empty() => Self::Below(vec![".".into()]),
            Some(folder) => Self::Below(vec![folder.to_owned()]),
            None => Self::Nowhere,
        }
    }

    /// The same, and those below `folders`.
    #[cfg(feature = "gl")]
    pub(crate) fn and(self, folders: &[PathBuf]) -> Self {
        match self {
            Self::Anywhere => Self::Anywhere,
            Self::Nowhere if folders.is_empty() => Self::Nowhere,
            Self::Nowhere => Self::Below(folders.to_vec()),
            Self::Below(mut own) => {
                own.extend_from_slice(folders);
                Self::Below(own)
            }
        }
    }

    /// Whether `file`, which is there, may be included.
    pub(crate) fn holds(&self, file: &Path) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Below(folders) => folders.iter().any(|folder| is_below(file, folder)),
            Self::Nowhere => false,
        }
    }
}

/// Whether `file` lies in `folder` or below it, behind all links.
pub(super) fn is_below(file: &Path, folder: &Path) -> bool {
    let both = file.canonicalize().and_then(|file| Ok((file, folder.canonicalize()?)));
    both.is_ok_and(|(file, folder)| file.starts_with(folder))
}

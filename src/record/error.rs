//! Why pictures could not be recorded.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// `Result` with a recorder's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error of recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file's name asks for something that does not exist.
    #[error("{0}")]
    Name(String),
    /// The format cannot show so many pictures a second.
    #[error("{format} shows {limit} pictures a second, not {asked}: give --every or --fps")]
    Rate {
        /// The format.
        format: &'static str,
        /// What it can do, such as `at most 50`.
        limit: &'static str,
        /// What was asked for.
        asked: f64,
    },
    /// A picture is not as large as was said.
    #[error("a picture of {found} bytes where {expected} were to come")]
    Size {
        /// Bytes expected.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The encoder failed.
    #[error("{} cannot be encoded: {problem}", .path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// ffmpeg is not installed.
    #[error("{} needs ffmpeg, which is not installed; .gif, .apng and frame_%04d.png do not", .path.display())]
    NoFfmpeg {
        /// The file.
        path: PathBuf,
    },
    /// ffmpeg failed.
    #[error("ffmpeg cannot write {}: {problem}", .path.display())]
    Ffmpeg {
        /// The file.
        path: PathBuf,
        /// What it said last.
        problem: String,
    },
}

impl Error {
    /// A file that cannot be written.
    pub(super) fn writing(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }

    /// What an encoder does not want.
    pub(super) fn encoding<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Self {
        move |error| Self::Encode { path: path.to_owned(), problem: error.to_string() }
    }
}

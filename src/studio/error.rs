//! Why the studio cannot open.

use crate::{device, gl, session};

/// `Result` with a studio's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the studio: never one of the user's text.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no display, or no OpenGL on it.
    #[error(transparent)]
    Gl(#[from] gl::Error),
    /// The device cannot be opened.
    #[error(transparent)]
    Device(#[from] device::Error),
    /// The session cannot be opened.
    #[error(transparent)]
    Session(#[from] session::Error),
}

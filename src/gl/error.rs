//! What can go wrong with OpenGL.

use std::fmt;

/// `Result` with this module's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error of OpenGL, or of the way to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no screen to open a window on.
    #[error(
        "no display: {reason}; set DISPLAY or WAYLAND_DISPLAY, or use `warpaint render`, which needs no window"
    )]
    NoDisplay {
        /// What the window system said.
        reason: String,
    },
    /// No EGL library, or an EGL without any driver.
    #[error(
        "no EGL for OpenGL without a window: {reason}; install a driver for it (Debian/Ubuntu: `apt install libegl1 libgl1-mesa-dri`)"
    )]
    NoEgl {
        /// What is missing.
        reason: String,
    },
    /// Every way to a context failed.
    #[error("no OpenGL 3.3 context{}", tried(.attempts))]
    NoContext {
        /// What was tried, in order.
        attempts: Vec<Attempt>,
    },
    /// A window could not be made.
    #[error("the window cannot be opened: {reason}")]
    Window {
        /// What the window system said.
        reason: String,
    },
    /// A shader does not compile, or a program does not link.
    #[error("{name} does not {stage}:\n{log}")]
    Shader {
        /// The shader's file name.
        name: String,
        /// `compile` or `link`.
        stage: &'static str,
        /// The driver's log, each line led by the file's name where it names a line.
        log: String,
    },
    /// OpenGL refused a call.
    #[error("{call} failed: {code} on {renderer}")]
    Call {
        /// The call.
        call: &'static str,
        /// The error's name, such as `GL_OUT_OF_MEMORY`.
        code: String,
        /// The renderer.
        renderer: String,
    },
    /// A byte range does not fit.
    #[error("bytes {start}..{end} do not fit {what} of {bytes} bytes")]
    OutOfRange {
        /// The object.
        what: &'static str,
        /// First byte.
        start: usize,
        /// Byte after the last.
        end: usize,
        /// Length of the object.
        bytes: usize,
    },
    /// A size that OpenGL, or this machine's, does not offer.
    #[error("{what} of {asked} is not possible: {limit}")]
    Size {
        /// The object.
        what: &'static str,
        /// The size asked for.
        asked: String,
        /// What is possible.
        limit: String,
    },
    /// An object of another context.
    #[error("{operation}: the objects belong to different OpenGL contexts")]
    WrongContext {
        /// What was tried.
        operation: &'static str,
    },
    /// The window is gone without having been closed.
    #[error("the window was destroyed by another program")]
    WindowLost,
    /// The window system failed on a context that existed.
    #[error("{call} failed: {reason}")]
    Surface {
        /// The call.
        call: &'static str,
        /// What it said.
        reason: String,
    },
}

impl Error {
    /// Whether something smaller might be possible: a size beyond OpenGL's limits, or too little memory.
    pub fn is_for_want_of_memory(&self) -> bool {
        match self {
            Self::Size { .. } => true,
            Self::Call { code, .. } => code == OUT_OF_MEMORY,
            Self::NoDisplay { .. } | Self::NoEgl { .. } | Self::NoContext { .. } => false,
            Self::Window { .. } | Self::WindowLost | Self::Surface { .. } => false,
            Self::Shader { .. } | Self::OutOfRange { .. } | Self::WrongContext { .. } => false,
        }
    }
}

/// The name of OpenGL's error code for too little memory.
pub(super) const OUT_OF_MEMORY: &str = "GL_OUT_OF_MEMORY";

/// One way to a context that was tried, and why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// What was tried: platform, device, version.
    pub what: String,
    /// Why it failed.
    pub why: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

fn tried(list: &[Attempt]) -> String {
    list.iter().map(|attempt| format!("\n  tried {attempt}")).collect()
}

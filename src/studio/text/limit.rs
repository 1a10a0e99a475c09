//! What is too much for a text in the window.

use std::fmt;

/// The most carets at once.
pub const MOST_CARETS: usize = 100_000;
/// The longest text that an edit may make, in bytes: it is compared, coloured and compiled as it is typed.
pub const LONGEST: usize = 8 << 20;

/// Why a command was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// There would be more than [`MOST_CARETS`].
    Carets,
    /// The text would be longer than [`LONGEST`].
    Length,
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Carets => write!(formatter, "not done: more than {MOST_CARETS} carets"),
            Self::Length => {
                write!(formatter, "not done: longer than {} MiB", LONGEST >> 20)
            }
        }
    }
}

//! A moment of a scene.

use serde::{Deserialize, Serialize};

/// A moment of the past, or the present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Moment {
    /// The line of steps: see [`Timeline::lines`](super::Timeline::lines).
    pub line: u64,
    /// Steps finished since the reset.
    pub step: u64,
}

//! Why the past is not whole.

use serde::Serialize;

/// Why there are no copies of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PastGap {
    /// A copy had no room.
    NoRoom,
    /// Kernels take memory by themselves (`malloc`, `new`), of which there is no copy.
    Heap,
}

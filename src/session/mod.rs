//! A running scene.

mod snapshot;

pub use snapshot::*;

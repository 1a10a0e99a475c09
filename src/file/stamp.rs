//! What tells one state of a file from another without reading it.

use std::{fs::Metadata, time::SystemTime};

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    length: u64,
    modified: SystemTime,
    /// The file's number on its disk, and when that was changed: a file that another one replaced may be as old.
    #[cfg(unix)]
    place: (u64, u64, i64, i64),
}

impl Stamp {
    /// Of a file with `metadata`; `None` where the system does not say when it was changed.
    pub(crate) fn from(metadata: &Metadata) -> Option<Self> {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt as _;
        Some(Self {
            length: metadata.len(),
            modified: metadata.modified().ok()?,
            #[cfg(unix)]
            place: (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

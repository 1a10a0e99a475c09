//! What the parts of a copy of a state are copies of, and where they lie in it.

use std::{ops::Range, sync::Arc};

use crate::{device::Region, scene};

/// Each part of a checkpoint begins at a multiple of so many bytes: no copy is slower for where it begins.
const ALIGNMENT: usize = 256;

/// What one part of a checkpoint is a copy of, and where it lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// What it is a copy of.
    pub(crate) of: Subject,
    offset: usize,
    pub(super) bytes: usize,
}

/// What is copied.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Subject {
    /// A half of a resource: 0 is the last one, 1 the one that is being written.
    Half {
        /// As it was declared.
        resource: scene::Resource,
        /// Which.
        half: usize,
    },
    /// A variable of the module.
    Variable {
        /// Its name there.
        lowered: String,
    },
}

/// Where the next part lies.
#[derive(Default)]
pub(super) struct Layout {
    pub(super) end: usize,
}

impl Subject {
    /// The name of a variable in its module.
    pub(super) fn variable(&self) -> Option<&str> {
        match self {
            Self::Variable { lowered } => Some(lowered),
            Self::Half { .. } => None,
        }
    }

    /// The resource, as it was declared.
    pub(crate) fn resource(&self) -> Option<&scene::Resource> {
        match self {
            Self::Half { resource, .. } => Some(resource),
            Self::Variable { .. } => None,
        }
    }
}

impl Part {
    pub(super) fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.bytes
    }
}

impl Layout {
    pub(super) fn part(&mut self, of: Subject, bytes: usize) -> Part {
        let offset = self.end;
        self.end = (offset + bytes).next_multiple_of(ALIGNMENT);
        Part { of, offset, bytes }
    }
}

/// Where a copy of each of them lies in one of all, and the size of that.
pub(super) fn laid_out(subjects: &[(Subject, Region<'_>)]) -> (Arc<[Part]>, usize) {
    let mut layout = Layout::default();
    let part = |(of, region): &(Subject, Region<'_>)| layout.part(of.clone(), region.bytes());
    (subjects.iter().map(part).collect(), layout.end)
}

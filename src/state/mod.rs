//! The state of a running scene as a value: what its resources hold, and what enters its next step.
//!
//! Enters: the resources of a manifest, a device, how OpenGL shares memory with it. Leaves: memory that kernels write
//! and OpenGL draws, and copies of it. Must not know: `record`, `session`, `headless`, `studio`, `cli`.
//!
//! The memory that kernels write may be OpenGL's own, so a [`State`] also says what OpenGL draws of it. A
//! [`Checkpoint`] is a copy of a state, on the device or with the host: to go back to, to compare with, to write to a
//! file.

pub(crate) mod archive;
mod borrowed;
mod checkpoint;
mod download;
mod fill;
mod free;
pub(crate) mod migrate;
mod parity;
mod part;
mod resample;
mod resources;
mod sending;
mod shared_pair;
mod texture;
mod until_error;

pub(crate) use borrowed::{Borrowed, Extent, extents, linear};
pub(crate) use checkpoint::{Checkpoint, Transfer};
pub(crate) use download::{Download, HostCopy};
pub(crate) use fill::put;
pub(crate) use free::{Aside, free};
pub(crate) use part::Subject;
pub(crate) use resources::{Resources, TooLarge};

use crate::scene::Inputs;

/// More steps no run has; from there on their times as `f64` are not exact, and sums might overflow.
pub(crate) const MOST_STEPS: u64 = 1 << 53;

/// All that a step reads of what was before it, but for the variables of the program's module.
#[derive(Default)]
pub(crate) struct State {
    /// The memory of the scene.
    pub(crate) resources: Resources,
    /// What enters the next step.
    pub(crate) inputs: Inputs,
}

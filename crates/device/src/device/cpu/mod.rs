//! The embedded CPU device: PTX, compiled to machine code, on all cores.
//!
//! Enters: PTX, packed arguments, bytes. Leaves: memory, streams, loaded kernels; faults, and what a check has found.
//! Must not know: `device::nvidia`, `ptx::pass::guard`.
//!
//! Everything that a kernel can reach lies in one arena (`memory`); compiled code (`jit`) checks every
//! access against it, and polls a flag in every loop. What it finds wrong ends the launch with a
//! [`Fault`](super::Fault), never the process. Streams (`stream`) are queues with a thread each; blocks of a
//! launch (`launch`) are shared out among all cores.
//!
//! The modules name each other in one direction, which a test computes. This file defines nothing, or it would stand
//! at both ends:
//!
//! ```text
//! error, exact, location, mbarrier, printf, report, together
//!   -> memory, options, thread    the arena; how a launch is to run; the device's threads
//!   -> matrix, array              what a warp computes with matrices; texels in the arena
//!   -> texture                    what handles stand for
//!   -> abi, layout                what compiled code and the host share while a block runs; where variables,
//!                                 parameters and locals lie
//!   -> shared                     what all handles of a device share
//!   -> allocation, event          handles of memory and of moments
//!   -> jit, interp                the two engines
//!   -> link -> module -> launch   code that is loaded; blocks of it that run
//!   -> device                     the device itself
//!   -> attribute, host, object    its properties, host memory, texture and surface objects
//!   -> copy -> stream -> transfer
//! ```

#![deny(
    clippy::wildcard_enum_match_arm,
    clippy::match_wildcard_for_single_variants,
    reason = "a new operation, operand or type is to be thought of wherever it could be given a wrong meaning"
)]

mod abi;
mod allocation;
mod array;
mod attribute;
mod copy;
mod device;
mod error;
mod event;
mod exact;
mod host;
mod interp;
mod jit;
mod launch;
mod layout;
mod link;
mod location;
mod matrix;
mod mbarrier;
mod memory;
mod module;
mod object;
mod options;
mod printf;
mod report;
mod shared;
mod stream;
mod texture;
mod thread;
mod together;
mod transfer;

pub use allocation::Memory;
pub use array::Array;
pub use device::Device;
pub use event::Event;
pub use host::{HostMemory, MappedMemory};
pub use interp::{Canceller, Debugger, Register, ThreadPosition};
pub use location::unsupported_instructions;
pub use module::{Function, Module};
pub use object::{SurfaceObject, TextureObject};
pub use options::{Check, Engine, Lanes, LaunchOptions};
pub use printf::{Printed, PrintedAt};
pub use report::{Action, Finding, FindingKind, Report, Site};
pub use stream::Stream;
pub use transfer::{Readback, Transfer};

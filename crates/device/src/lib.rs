//! Devices that kernels run on, and the PTX that they run: the lower half of the crate `warpaint`, which hands on all
//! of it.
//!
//! ```text
//! diagnostic, machine -> ptx -> device { nvidia | cpu }
//! ```
//!
//! It is a crate of its own so that a change above it does not compile it, and a change in it is tested without what
//! stands above. Its interface is that of `warpaint::device`, `warpaint::ptx` and `warpaint::diagnostic`: name those.

pub mod device;
pub mod diagnostic;
#[doc(hidden)]
pub mod machine;
pub mod ptx;

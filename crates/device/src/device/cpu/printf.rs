//! What kernels print: text by `printf`'s formats, and where it goes.
//!
//! Enters: a format, and the arguments that a kernel wrote. Leaves: text. Must not know: `ptx`, `device::cpu::jit`,
//! `device::cpu::interp`.

mod format;
mod prints;

pub(super) use format::{MAX_STRING, formatted};
pub(super) use prints::{MOST_BYTES, Printer, Prints};
pub use prints::{Printed, PrintedAt};

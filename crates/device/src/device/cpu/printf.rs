//! What kernels print: text by `printf`'s formats, and where it goes.

mod format;
mod prints;

pub(super) use format::{MAX_STRING, formatted};
pub(super) use prints::{MOST_BYTES, Printer, Prints};

//! The program, which is the command line of the library.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod reserve;

/// Compilations come and go on many threads for as long as a window is open, and the C library's allocator keeps what
/// they leave in parts: a studio grew by a megabyte a second while scenes were opened and edited.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    reserve::limit();
    warpaint::cli::run()
}

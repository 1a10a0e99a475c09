//! The program, which is the command line of the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpaint::cli::run()
}

//! The program: parse, run, print an error once.

mod cli;
mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}

//! The interpreter: executes the typed PTX one instruction after the other, in one fixed order, without
//! `unsafe`. It is what the compiler is compared with, and what watches a kernel for mistakes.
//!
//! Enters: a verified module, where its variables lie, a launch. Leaves: memory as the kernel left it; faults, findings
//! of a check, and the steps of a debugger. Must not know: `device::cpu::jit`, `device::cpu::launch`,
//! `device::cpu::stream`.
//!
//! [`decode`] makes a module ready once; [`machine`] does single instructions, their arithmetic ([`value`], with exact
//! numbers in `exact`) being its own; [`block`] gives threads their turns and lets them meet; [`watch`] is told of
//! every access where a launch is checked.

mod block;
mod clock;
mod debugger;
mod decode;
mod env;
mod host;
mod image;
mod knowledge;
mod launch;
mod machine;
mod matrix;
mod memory;
mod program;
mod release;
mod shadow;
mod thread;
mod value;
mod warp;
mod watch;

use std::{sync::OnceLock, time::Instant};

pub use debugger::{Canceller, Debugger, Register, ThreadPosition};

pub(super) use decode::program;
pub(super) use launch::{Order, run};
pub(super) use program::Program;

/// Nanoseconds since the process first asked.
fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

//! How many addresses the allocator takes in advance.
//!
//! Enters: the process's limit. Leaves: nothing, or a process that begins anew. Must not know: `cli`, `device`.

use std::{env, os::unix::process::CommandExt, process::Command};

use warpaint_device::machine;

/// What mimalloc reads as it begins, which is before `main`.
const VARIABLE: &str = "MIMALLOC_ARENA_RESERVE";
/// Enough for what is small, where addresses are few.
const LIMITED: &str = "64M";

/// Starts the program anew, once, where the process may not have as many addresses as it likes (`ulimit -v`): mimalloc
/// takes a gigabyte of them in advance, which would leave none to the CPU device, and can be told otherwise by the
/// environment alone. Where that cannot be the program goes on as it is.
pub fn limit() {
    if env::var_os(VARIABLE).is_some() || machine::address_limit().is_none() {
        return;
    }
    let (Ok(program), mut arguments) = (env::current_exe(), env::args_os()) else { return };
    let mut again = Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // It comes back only where it failed.
    drop(again.args(arguments).env(VARIABLE, LIMITED).exec());
}

//! How many addresses the allocator takes in advance.
//!
//! Enters: the process's limit. Leaves: nothing, or a process that begins anew. Must not know: `cli`, `device`.

use std::{env, fs, os::unix::process::CommandExt, process::Command};

/// What mimalloc reads as it begins, which is before `main`.
const VARIABLE: &str = "MIMALLOC_ARENA_RESERVE";
/// Enough for what is small, where addresses are few.
const LIMITED: &str = "64M";

/// Starts the program anew, once, where the process may not have as many addresses as it likes (`ulimit -v`): mimalloc
/// takes a gigabyte of them in advance, which would leave none to the CPU device, and can be told otherwise by the
/// environment alone. Where that cannot be the program goes on as it is.
pub fn limit() {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    if env::var_os(VARIABLE).is_some() || !has_few_addresses(&limits) {
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

/// Whether the soft limit of addresses is a number (proc(5)).
fn has_few_addresses(limits: &str) -> bool {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    line.and_then(|line| line.split_whitespace().next()).is_some_and(|soft| soft != "unlimited")
}

#[cfg(test)]
mod tests {
    use super::has_few_addresses;

    #[test]
    fn limits_are_read_as_the_system_writes_them() {
        let limits = "Max processes             95741                95741                processes \n\
                      Max address space         1228800000           unlimited            bytes     \n";
        assert!(has_few_addresses(limits));
        assert!(!has_few_addresses(&limits.replace("1228800000", "unlimited ")));
        assert!(!has_few_addresses(""));
    }
}

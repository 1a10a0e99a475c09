//! How much memory, and how many addresses, the process may have.

use std::fs;

use crate::machine;

/// Bytes that a device may allocate: three quarters of the machine's memory, or of the container's. The rest is for
/// copies of results, for the compiler and for other programs.
pub(in crate::device::cpu) fn device_bytes() -> u64 {
    machine::memory_bytes() / 4 * 3
}

/// Addresses that the process may still reserve, where it may not reserve as many as it likes (`ulimit -v`).
pub(in crate::device::cpu) fn addresses_left() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let used = fs::read_to_string("/proc/self/status").ok()?;
    Some(address_limit(&limits)?.saturating_sub(field(&used, "VmSize:")? << 10))
}

/// The soft limit in bytes (proc(5)).
fn address_limit(limits: &str) -> Option<u64> {
    field(limits, "Max address space")
}

/// The number behind a line's name.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_the_system_writes_them() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max processes             95741                95741                processes \n\
                      Max address space         40960000000          unlimited            bytes     \n";
        assert_eq!(address_limit(limits), Some(40_960_000_000));
        assert_eq!(address_limit(&limits.replace("40960000000", "unlimited  ")), None);
        assert_eq!(field("VmPeak: 9 kB\nVmSize:\t   24689764 kB\n", "VmSize:"), Some(24_689_764));
    }
}

//! What this machine, or the container that the process runs in, has.
//!
//! Enters: what the operating system tells. Leaves: how much memory there is, and how many addresses. Must not know:
//! `ptx`, `device`.

use std::fs;

/// Memory in bytes; 8 GiB where the system does not tell.
pub fn memory_bytes() -> u64 {
    let told = fs::read_to_string("/proc/meminfo").ok();
    let kib = told.and_then(|told| field(&told, "MemTotal:"));
    let machine = kib.map_or(8 << 30, |kib| kib << 10);
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = limit.and_then(|text| text.trim().parse::<u64>().ok());
    limit.map_or(machine, |limit| limit.min(machine)).max(64 << 20)
}

/// Addresses that the process may have, in bytes; `None` where that are as many as it likes, or the system does not
/// tell. It is the soft limit (`ulimit -v`, proc(5)).
pub fn address_limit() -> Option<u64> {
    address_limit_in(&fs::read_to_string("/proc/self/limits").ok()?)
}

/// Those of them that it has not reserved yet.
pub fn addresses_left() -> Option<u64> {
    let used = fs::read_to_string("/proc/self/status").ok()?;
    Some(address_limit()?.saturating_sub(field(&used, "VmSize:")? << 10))
}

fn address_limit_in(limits: &str) -> Option<u64> {
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
        assert_eq!(address_limit_in(limits), Some(40_960_000_000));
        assert_eq!(address_limit_in(&limits.replace("40960000000", "unlimited  ")), None);
        assert_eq!(address_limit_in(""), None);
        assert_eq!(field("VmPeak: 9 kB\nVmSize:\t   24689764 kB\n", "VmSize:"), Some(24_689_764));
        assert_eq!(field("MemTotal:       24676992 kB\n", "MemTotal:"), Some(24_676_992));
    }
}

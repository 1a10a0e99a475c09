//! What this machine, or the container that the process runs in, has.
//!
//! Enters: what the operating system tells. Leaves: how much memory there is. Must not know: `ptx`, `device`.

/// Memory in bytes; 8 GiB where the system does not tell.
pub fn memory_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    let machine = kib.map_or(8 << 30, |kib| kib << 10);
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok());
    limit.map_or(machine, |limit| limit.min(machine)).max(64 << 20)
}

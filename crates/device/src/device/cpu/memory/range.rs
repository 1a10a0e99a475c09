//! A range of the arena, and what kernels may do with it.

/// Chunks are `1 << CHUNK_BITS` bytes.
pub(in crate::device::cpu) const CHUNK_BITS: u32 = 16;
pub(super) const CHUNK: u64 = 1 << CHUNK_BITS;

/// What kernels may do with an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu) enum Permission {
    ReadWrite,
    /// Constants: only the host writes.
    ReadOnly,
    /// Nothing by the tables: memory of a block that runs, which its own threads alone reach, by other checks.
    Scratch,
}

/// A range of the arena: `bytes` from `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu) struct Range {
    pub(in crate::device::cpu) address: u64,
    pub(in crate::device::cpu) bytes: u64,
}

impl Range {
    /// Whether all of `bytes` at `address` lie in it.
    pub(in crate::device::cpu) fn holds(self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.address);
        offset <= self.bytes && bytes <= self.bytes - offset
    }
}

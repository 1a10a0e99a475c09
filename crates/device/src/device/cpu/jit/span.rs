//! Memory that compiled code touches. Every load and every store that the compiler writes is within a [`MemorySpan`]:
//! an address with the number of bytes there that are known to be valid. Whoever makes the span knows it by a check
//! that was compiled before it, or because the memory is our own (the context, a frame, the spilled registers of
//! threads that wait). That an access lies within its span is checked when it is compiled
//! (`lower/access.rs`).

use cranelift_codegen::ir::Value;

/// So many bytes at an address, a value of the compiled code plus a constant, that may be read and, unless they are
/// constants, written.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemorySpan {
    /// The address, less the offset.
    pub(super) base: Value,
    /// Bytes from there to the first one.
    pub(super) offset: i64,
    bytes: u64,
}

impl MemorySpan {
    /// The `bytes` at `base + offset`. The caller answers for them: compiled code goes there without another look.
    pub(super) fn new(base: Value, offset: i64, bytes: u64) -> Self {
        Self { base, offset, bytes }
    }

    /// Whether the `bytes` that begin `offset` behind the span's beginning lie in it.
    pub(super) fn holds(self, offset: i64, bytes: u32) -> bool {
        let end = offset.checked_add(i64::from(bytes)).and_then(|end| u64::try_from(end).ok());
        offset >= 0 && end.is_some_and(|end| end <= self.bytes)
    }
}

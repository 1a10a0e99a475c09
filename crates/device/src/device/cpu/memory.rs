//! Device memory: the arena, and ranges of it.
//!
//! Enters: sizes, addresses, bytes. Leaves: ranges, and whether a kernel may access an address. Must not know:
//! `ptx`, `device::cpu::jit`, `device::cpu::interp`.

mod access;
mod arena;
mod heap;
mod range;
mod ranges;
mod unwritten;

pub(super) use arena::{Arena, Tables};
pub(super) use range::{CHUNK_BITS, Permission, Range};
pub(super) use unwritten::Unwritten;

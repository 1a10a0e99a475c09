//! Matrices that the threads of a warp hold together, for both engines: all threads bring their registers, and each
//! takes its part of what comes out.
//!
//! Enters: the registers that the threads of a warp bring. Leaves: the registers of the result, or accesses to memory.
//! Must not know: `device::cpu::jit`, `device::cpu::interp`.
//!
//! [`fragment`] says which thread holds which element, [`product`] multiplies, [`access`] loads and stores what is in
//! [`reach`]. The engines share this arithmetic; tests compare it with references of their own (`tests/it/matrix.rs`).

mod access;
mod fragment;
mod product;
mod reach;

pub(super) use reach::{Reach, Refused};

use crate::ptx::matrix::MatrixOp;

/// Threads of a warp.
const WARP: usize = 32;

/// Registers that a thread brings at most, an address and a stride among them: three fragments of eight.
pub(super) const REGISTERS: usize = 24;

/// What a thread brings, its sources in their order, and what it takes from there: one word each.
pub(super) type Registers = [u64; REGISTERS];

/// The registers of all threads of a warp.
type Warp = [Registers; WARP];

/// Memory as a warp's threads reach it.
pub(super) trait Memory {
    /// Why a thread does not.
    type Refused;

    /// Where the bytes lie, whose number the address has to be a multiple of, that a thread reads or writes.
    ///
    /// # Errors
    /// Where it may not.
    fn locate(&self, lane: usize, address: u64, bytes: u32) -> Result<u64, Self::Refused>;

    /// Loads so many of the bytes that were located, 1, 2, 4 or 8.
    ///
    /// # Errors
    /// Where they are not there any more.
    fn load(&mut self, lane: usize, at: u64, bytes: u32) -> Result<u64, Self::Refused>;

    /// Stores as many.
    ///
    /// # Errors
    /// Where they are not there any more.
    fn store(&mut self, lane: usize, at: u64, bytes: u32, value: u64) -> Result<(), Self::Refused>;
}

/// Does what an operation says, for all threads of a warp.
///
/// # Errors
/// The access of a thread that is refused; then nothing is stored that comes behind it.
pub(super) fn perform<M: Memory>(
    op: &MatrixOp,
    warp: &mut Warp,
    memory: &mut M,
) -> Result<(), M::Refused> {
    match op {
        MatrixOp::LoadTiles(tiles) => access::load_tiles(tiles, warp, memory)?,
        MatrixOp::StoreTiles(tiles) => access::store_tiles(tiles, warp, memory)?,
        MatrixOp::Transpose => access::transpose(warp),
        MatrixOp::Load(access) => access::load(access, warp, memory)?,
        MatrixOp::Store(access) => access::store(access, warp, memory)?,
        MatrixOp::Multiply(product) => product::multiply(product, warp),
    }
    Ok(())
}

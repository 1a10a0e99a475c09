//! How many blocks of a kernel a multiprocessor holds at once, computed without one.
//!
//! Sources: *CUDA C++ Programming Guide*, "Compute Capabilities", table of technical specifications; the units in which
//! registers and shared memory are handed out are those of NVIDIA's occupancy calculator.
//!
//! ```
//! use warpaint::device::occupancy::{Limiter, Multiprocessor};
//!
//! let hopper = Multiprocessor::of(9, 0).ok_or("unknown")?;
//! let occupancy = hopper.occupancy(256, 40, 0)?;
//! assert_eq!((occupancy.blocks, occupancy.warps, occupancy.fraction), (6, 48, 0.75));
//! assert_eq!(occupancy.limited_by(), [Limiter::Registers]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Error, Result};

/// Threads of a warp, on every GPU so far.
const WARP: u32 = 32;
/// Registers are handed out to warps in this unit.
const REGISTER_UNIT: u32 = 256;
/// Most registers of a thread.
const MAX_THREAD_REGISTERS: u32 = 255;
/// Most threads of a block.
const MAX_BLOCK_THREADS: u32 = 1024;

/// What a multiprocessor has to share out.
///
/// ```
/// use warpaint::device::occupancy::Multiprocessor;
///
/// let (turing, ampere) = (Multiprocessor::of(7, 5), Multiprocessor::of(8, 0));
/// assert_eq!(turing.map(|sm| (sm.warps, sm.blocks)), Some((32, 16)));
/// assert_eq!(ampere.map(|sm| (sm.warps, sm.block_shared_bytes)), Some((64, 163 << 10)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiprocessor {
    /// Warps that can be resident.
    pub warps: u32,
    /// Blocks that can be resident.
    pub blocks: u32,
    /// Registers.
    pub registers: u32,
    /// Most registers of a block.
    pub block_registers: u32,
    /// Parts with registers of their own, among which warps are divided.
    pub partitions: u32,
    /// Shared memory in bytes.
    pub shared_bytes: u32,
    /// Most shared memory of a block, what is reserved not counted.
    pub block_shared_bytes: u32,
    /// Shared memory of each block that the system takes.
    pub reserved_shared_bytes: u32,
    /// Shared memory is handed out in this unit.
    pub shared_unit: u32,
}

impl Multiprocessor {
    /// That of GPUs with this compute capability, from 5.0 on; `None` for one that is not known here.
    ///
    /// ```
    /// # use warpaint::device::{Device, occupancy::Multiprocessor};
    /// let device = Device::cpu()?;
    /// let (major, minor) = device.info().compute_capability;
    /// assert!(Multiprocessor::of(major, minor).is_some());
    /// assert_eq!(Multiprocessor::of(3, 5), None); // Kepler
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn of(major: u32, minor: u32) -> Option<Self> {
        // Resident warps and blocks, KiB of shared memory in all and of a block.
        let (warps, blocks, shared, block_shared) = match (major, minor) {
            (5, 0 | 3) | (6, 0 | 2) => (64, 32, 64, 48),
            (5, 2) | (6, 1) => (64, 32, 96, 48),
            (7, 0 | 2) => (64, 32, 96, 96),
            (7, 5) => (32, 16, 64, 64),
            (8, 0) => (64, 32, 164, 163),
            (8, 6) => (48, 16, 100, 99),
            (8, 7) => (48, 16, 164, 163),
            (8, 9) => (48, 24, 100, 99),
            (9, 0) | (10, 0 | 3) => (64, 32, 228, 227),
            (10, 1) | (11, 0) => (48, 24, 228, 227),
            (12, 0 | 1) => (48, 24, 100, 99),
            _ => return None,
        };
        Some(Self {
            warps,
            blocks,
            registers: 64 << 10,
            block_registers: if matches!((major, minor), (5, 3) | (6, 2)) {
                32 << 10
            } else {
                64 << 10
            },
            partitions: if (major, minor) == (6, 0) { 2 } else { 4 },
            shared_bytes: shared << 10,
            block_shared_bytes: block_shared << 10,
            reserved_shared_bytes: if major >= 8 { 1 << 10 } else { 0 },
            shared_unit: if major >= 8 { 128 } else { 256 },
        })
    }

    /// How full it is with blocks of `threads` threads, of `registers` registers each, and `shared_bytes` of shared
    /// memory for each block, static and dynamic.
    ///
    /// ```
    /// # use warpaint::device::occupancy::Multiprocessor;
    /// let ampere = Multiprocessor::of(8, 0).ok_or("unknown")?;
    /// assert_eq!(ampere.occupancy(256, 32, 0)?.fraction, 1.0);
    /// assert_eq!(ampere.occupancy(256, 33, 0)?.fraction, 0.75); // one register more each
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidExtent`] where not even one block fits, with what it has too much of.
    pub fn occupancy(&self, threads: u32, registers: u32, shared_bytes: u32) -> Result<Occupancy> {
        check("threads", threads, 1, MAX_BLOCK_THREADS)?;
        check("registers of a thread", registers, 0, MAX_THREAD_REGISTERS)?;
        check("bytes of shared memory", shared_bytes, 0, self.block_shared_bytes)?;
        let block_warps = threads.div_ceil(WARP);
        let limits = [
            (Limiter::Warps, self.warps / block_warps),
            (Limiter::Blocks, self.blocks),
            (Limiter::Registers, self.by_registers(block_warps, registers)?),
            (Limiter::SharedMemory, self.by_shared_memory(shared_bytes)),
        ];
        let blocks = limits.iter().map(|(_, blocks)| *blocks).min().unwrap_or(0);
        let warps = blocks * block_warps;
        Ok(Occupancy { blocks, warps, fraction: f64::from(warps) / f64::from(self.warps), limits })
    }

    fn by_registers(&self, block_warps: u32, registers: u32) -> Result<u32> {
        if registers == 0 {
            return Ok(u32::MAX);
        }
        let of_warp = (registers * WARP).next_multiple_of(REGISTER_UNIT);
        // The hardware counts a block's registers as if each partition held as many warps of it.
        let counted = of_warp * block_warps.next_multiple_of(self.partitions);
        check("registers", counted, 0, self.block_registers)?;
        let resident_warps = self.registers / self.partitions / of_warp * self.partitions;
        Ok(resident_warps / block_warps)
    }

    fn by_shared_memory(&self, shared_bytes: u32) -> u32 {
        match (shared_bytes + self.reserved_shared_bytes).next_multiple_of(self.shared_unit) {
            0 => u32::MAX,
            of_block => self.shared_bytes / of_block,
        }
    }

    /// The smallest number of threads of a block, a multiple of a warp's and at most `most`, with which it is fullest.
    ///
    /// ```
    /// # use warpaint::device::occupancy::Multiprocessor;
    /// let ada = Multiprocessor::of(8, 9).ok_or("unknown")?;
    /// let (threads, occupancy) = ada.fullest(1024, 40, 0)?;
    /// assert_eq!((threads, occupancy.fraction), (64, 1.0));
    /// assert!(ada.occupancy(1024, 40, 0)?.fraction < 0.7); // larger blocks leave room
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidExtent`] where no block fits.
    pub fn fullest(
        &self,
        most: u32,
        registers: u32,
        shared_bytes: u32,
    ) -> Result<(u32, Occupancy)> {
        let mut best = (WARP, self.occupancy(WARP, registers, shared_bytes)?);
        for threads in (WARP..=most.min(MAX_BLOCK_THREADS)).step_by(WARP as usize) {
            match self.occupancy(threads, registers, shared_bytes) {
                Ok(occupancy) if occupancy.warps > best.1.warps => best = (threads, occupancy),
                _ => {}
            }
        }
        Ok(best)
    }
}

fn check(limit: &'static str, requested: u32, least: u32, allowed: u32) -> Result<()> {
    if (least..=allowed).contains(&requested) {
        return Ok(());
    }
    let (requested, allowed) = (requested.into(), allowed.into());
    Err(Error::InvalidExtent { object: "block", limit, requested, allowed })
}

/// What limits how many blocks are resident.
///
/// ```
/// use warpaint::device::occupancy::{Limiter, Multiprocessor};
///
/// let ampere = Multiprocessor::of(8, 0).ok_or("unknown")?;
/// assert_eq!(ampere.occupancy(32, 16, 0)?.limited_by(), [Limiter::Blocks]);
/// assert_eq!(ampere.occupancy(256, 16, 64 << 10)?.limited_by(), [Limiter::SharedMemory]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limiter {
    /// Resident warps.
    Warps,
    /// Resident blocks.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
}

/// How full a multiprocessor is.
///
/// ```
/// use warpaint::device::occupancy::{Limiter, Multiprocessor};
///
/// let ampere = Multiprocessor::of(8, 0).ok_or("unknown")?;
/// let occupancy = ampere.occupancy(128, 64, 20 << 10)?;
/// assert_eq!((occupancy.blocks, occupancy.warps, occupancy.fraction), (7, 28, 0.4375));
/// let [.., registers, shared] = occupancy.limits; // how many each would allow
/// assert_eq!((registers, shared), ((Limiter::Registers, 8), (Limiter::SharedMemory, 7)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occupancy {
    /// Resident blocks.
    pub blocks: u32,
    /// Their warps.
    pub warps: u32,
    /// Of the warps that could be resident.
    pub fraction: f64,
    /// How many blocks each resource alone would allow; `u32::MAX` where the kernel uses none of it.
    pub limits: [(Limiter, u32); 4],
}

impl Occupancy {
    /// The resources of which there is no more: one, or several at once.
    ///
    /// ```
    /// # use warpaint::device::occupancy::{Limiter, Multiprocessor};
    /// let ampere = Multiprocessor::of(8, 0).ok_or("unknown")?;
    /// let both = ampere.occupancy(256, 32, 0)?.limited_by();
    /// assert_eq!(both, [Limiter::Warps, Limiter::Registers]); // eight blocks of each
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn limited_by(&self) -> Vec<Limiter> {
        let scarce = self.limits.iter().filter(|(_, blocks)| *blocks == self.blocks);
        scarce.map(|(limiter, _)| *limiter).collect()
    }
}

#[cfg(test)]
mod tests;

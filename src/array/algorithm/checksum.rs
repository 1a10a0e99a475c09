//! A number for the contents of memory, computed on the device.

use super::summary::{Error, compiled};
use crate::{
    compile::{Compiler, Request, Target},
    device::{
        self, Arguments, Device, Fill, Function, LaunchConfig, Pool, PoolBlock, Readback, Slice,
        Stream,
    },
};

/// Threads of a block.
const BLOCK: u32 = 256;
/// Words of eight bytes of a thread, where there are so many.
const EACH: u64 = 8;
const BLOCKS_PER_MULTIPROCESSOR: u32 = 8;
const KERNEL: &str = "add_checksum";
/// Where parts may begin, in bytes.
const ALIGNMENT: u64 = 8;

/// The kernel, loaded on a device.
#[derive(Debug)]
pub(crate) struct Checksum {
    kernel: Function,
    blocks: u32,
}

/// A checksum on its way.
#[derive(Debug)]
pub(crate) struct PendingChecksum {
    readback: Readback,
    /// Kept until the kernels have ended.
    _memory: PoolBlock,
}

impl Checksum {
    /// Compiles (or takes from the cache) and loads the kernel.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn new(compiler: &Compiler, device: &Device, target: Target) -> Result<Self, Error> {
        let compiled = compiled(compiler, &Self::request(target))?;
        let kernel = device.load(&compiled.ptx)?.function(KERNEL)?;
        let blocks = device.info().multiprocessors.max(1) * BLOCKS_PER_MULTIPROCESSOR;
        Ok(Self { kernel, blocks })
    }

    /// What it asks the compiler for.
    pub(crate) fn request(target: Target) -> Request {
        Request::new("checksum.cu", include_str!("checksum.cu"), target)
    }

    /// Puts the checksum of all `parts` together on `stream`. Each begins at a multiple of eight bytes.
    ///
    /// # Errors
    /// The device's.
    #[expect(unsafe_code, reason = "kernel launches")]
    pub(crate) fn enqueue<'a>(
        &self,
        stream: &Stream,
        pool: &Pool,
        parts: impl IntoIterator<Item = Slice<'a>>,
    ) -> device::Result<PendingChecksum> {
        let memory = pool.alloc(stream, size_of::<u64>())?;
        stream.fill(memory.slice(..)?, Fill::U8(0))?;
        let mut first = 0_u64;
        for part in parts {
            let bytes = part.bytes() as u64;
            debug_assert!(part.address().is_multiple_of(ALIGNMENT), "{:#x}", part.address());
            let each = u64::from(BLOCK) * EACH * ALIGNMENT;
            let blocks = bytes.div_ceil(each).clamp(1, self.blocks.into()) as u32;
            let mut arguments = Arguments::new();
            arguments.push(&part.address()).push(&bytes).push(&first).push(&memory.address());
            // SAFETY: it reads `bytes` bytes of `part`, which the caller's borrow keeps, and adds to the sum.
            unsafe { stream.launch(&self.kernel, &LaunchConfig::new(blocks, BLOCK), &arguments)? };
            first += bytes.next_multiple_of(ALIGNMENT);
        }
        Ok(PendingChecksum { readback: stream.download(memory.slice(..)?)?, _memory: memory })
    }
}

impl PendingChecksum {
    /// Whether [`PendingChecksum::wait`] would not wait.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn is_ready(&self) -> device::Result<bool> {
        self.readback.is_ready()
    }

    /// Waits for it.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn wait(self) -> device::Result<u64> {
        let bytes = self.readback.wait()?;
        Ok(u64::from_ne_bytes(bytes.as_slice().try_into().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Context;

    /// The same in the words of the kernel's comments.
    fn expected(parts: &[&[u8]]) -> u64 {
        let mixed = |mut x: u64| {
            x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
            x ^ (x >> 33)
        };
        let (mut sum, mut place) = (0_u64, 0_u64);
        for word in parts.iter().flat_map(|part| part.chunks(8)) {
            let whole = <[u8; 8]>::try_from(word).map(u64::from_le_bytes);
            let rest = || word.iter().fold(0, |rest, byte| rest << 8 | u64::from(*byte));
            let word = whole.unwrap_or_else(|_| rest());
            place += 1;
            let placed = word.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            sum = sum.wrapping_add(mixed(placed));
        }
        sum
    }

    #[test]
    fn a_checksum_is_of_every_byte_in_its_place() {
        let context = Context::new(Device::cpu().unwrap()).unwrap();
        let (stream, pool) = (context.stream(), Pool::new(context.device()));
        let checksum =
            Checksum::new(context.compiler(), context.device(), context.target()).unwrap();
        let of = |parts: &[&[u8]]| {
            let blocks: Vec<PoolBlock> =
                parts.iter().map(|part| pool.alloc(stream, part.len()).unwrap()).collect();
            for (block, part) in blocks.iter().zip(parts) {
                stream.upload(block.slice(..part.len()).unwrap(), part).unwrap();
            }
            let slices = blocks.iter().zip(parts).map(|(of, part)| of.slice(..part.len()).unwrap());
            checksum.enqueue(stream, &pool, slices).unwrap().wait().unwrap()
        };
        let mut random = fastrand::Rng::with_seed(7);
        for lengths in [&[8][..], &[1], &[13, 5, 16], &[100_003, 7], &[300_000]] {
            let mut parts: Vec<Vec<u8>> = lengths.iter().map(|n| vec![0; *n]).collect();
            parts.iter_mut().for_each(|part| random.fill(part));
            let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            assert_eq!(of(&slices), expected(&slices), "{lengths:?}");
        }
        // Zeros have places, too, and two elements that change theirs are told.
        let values = [
            of(&[&[0; 8]]),
            of(&[&[0; 16]]),
            of(&[&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]]),
        ];
        let turned = of(&[&[2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]]);
        assert!(values[0] != values[1] && values[2] != turned);
    }
}

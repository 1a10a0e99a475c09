//! Which thread of a group is at fault: asked only where the check for all together failed.
#![expect(unsafe_code, reason = "compiled code hands over the device's arena")]

use crate::device::cpu::{abi::BlockContext, memory::Range};

/// Bits of [`misplaced_lane`]'s `how`: the access writes.
pub(super) const WRITES: u32 = 1;
/// It is one to shared memory, by its offset there.
pub(super) const SHARED: u32 = 1 << 1;
/// It is one by a generic address.
pub(super) const GENERIC: u32 = 1 << 2;
/// It is each thread's own, not that of one done for all.
pub(super) const OF_EACH: u32 = 1 << 3;
/// Bits below the number of threads.
pub(super) const THREADS: u32 = 8;
/// Bits below the number of bytes that are left free behind each thread's frame of local memory, of which there are
/// fewer than a frame is aligned to.
pub(super) const PADDING: u32 = 16;

/// The first thread of a group whose access (the first at `address`, the others `stride` apart) is misaligned or out of
/// bounds; as many as there are where none is. `how` has the bits above, beyond [`THREADS`] how many threads the group
/// has, and beyond [`PADDING`] how much is free behind a frame. The first thread's frame of local memory begins at
/// `local` and has `frame_bytes`, what is free counted; those of the others follow it.
pub(super) extern "C" fn misplaced_lane(
    context: &BlockContext,
    address: u64,
    stride: u64,
    bytes: u32,
    how: u32,
    local: u64,
    frame_bytes: u64,
) -> u32 {
    // SAFETY: the launch that runs keeps its device, which owns the arena.
    let arena = unsafe { &*context.heap };
    let bytes = u64::from(bytes);
    let (threads, padding) = (how >> THREADS & ((1 << (PADDING - THREADS)) - 1), how >> PADDING);
    let used_bytes = frame_bytes.saturating_sub(padding.into());
    let fine = |lane: &u32| {
        let at = address.wrapping_add(u64::from(*lane).wrapping_mul(stride));
        let write = how & WRITES != 0;
        let own = || {
            let before = if how & OF_EACH != 0 { u64::from(*lane) } else { 0 };
            let frame = Range { address: local + before * frame_bytes, bytes: used_bytes };
            context.reaches(at, bytes, write, frame)
        };
        let within = match how & SHARED != 0 {
            true => at.checked_add(bytes).is_some_and(|end| end <= context.shared_bytes),
            false => arena.allows(at, bytes, write) || how & GENERIC != 0 && own(),
        };
        within && at.is_multiple_of(bytes)
    };
    (0..threads).find(|lane| !fine(lane)).unwrap_or(threads)
}

//! Single loads, stores and exchanges in the arena, each checked: the interpreter's way to memory.
//!
//! All are atomic, since compiled kernels and copies on other streams may be at the same bytes.
#![expect(unsafe_code, reason = "raw memory that kernels and the host share")]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::Arena;

impl Arena {
    /// Whether so many bytes at an address are aligned, and may be read or written or are scratch memory: whose that is
    /// the interpreter looks at itself.
    fn is_open(&self, address: u64, bytes: u32, write: bool) -> bool {
        let bytes = u64::from(bytes);
        let mapped = self.allows(address, bytes, write) || self.is_scratch(address, bytes);
        mapped && address.is_multiple_of(bytes)
    }

    /// The value of 1, 2, 4 or 8 bytes; `None` where they lie outside every allocation or are misaligned.
    pub(in crate::device::cpu) fn load(&self, address: u64, bytes: u32) -> Option<u64> {
        if !self.is_open(address, bytes, false) {
            return None;
        }
        Some(match bytes {
            // SAFETY: the bytes lie in the arena, aligned; its pages stay mapped and nothing in Rust borrows them.
            1 => unsafe { AtomicU8::from_ptr(address as *mut u8) }.load(Ordering::Relaxed).into(),
            // SAFETY: as above.
            2 => unsafe { AtomicU16::from_ptr(address as *mut u16) }.load(Ordering::Relaxed).into(),
            // SAFETY: as above.
            4 => unsafe { AtomicU32::from_ptr(address as *mut u32) }.load(Ordering::Acquire).into(),
            // SAFETY: as above.
            8 => unsafe { AtomicU64::from_ptr(address as *mut u64) }.load(Ordering::Acquire),
            _ => return None,
        })
    }

    /// Stores 1, 2, 4 or 8 bytes; false, and nothing done, where they may not be written or are misaligned.
    #[must_use]
    pub(in crate::device::cpu) fn store(&self, address: u64, bytes: u32, value: u64) -> bool {
        if !self.is_open(address, bytes, true) {
            return false;
        }
        match bytes {
            1 => {
                // SAFETY: the bytes lie in the arena, aligned; its pages stay mapped and nothing in Rust borrows
                // them.
                let place = unsafe { AtomicU8::from_ptr(address as *mut u8) };
                place.store(value as u8, Ordering::Relaxed);
            }
            2 => {
                // SAFETY: as above.
                let place = unsafe { AtomicU16::from_ptr(address as *mut u16) };
                place.store(value as u16, Ordering::Relaxed);
            }
            4 => {
                // SAFETY: as above.
                let place = unsafe { AtomicU32::from_ptr(address as *mut u32) };
                place.store(value as u32, Ordering::Release);
            }
            8 => {
                // SAFETY: as above.
                let place = unsafe { AtomicU64::from_ptr(address as *mut u64) };
                place.store(value, Ordering::Release);
            }
            _ => return false,
        }
        true
    }

    /// Replaces 2, 4 or 8 bytes by what `change` makes of them, in one step; what was there before.
    ///
    /// `None`, and nothing done, where they may not be written or are misaligned.
    pub(in crate::device::cpu) fn update(
        &self,
        address: u64,
        bytes: u32,
        mut change: impl FnMut(u64) -> u64,
    ) -> Option<u64> {
        if !self.is_open(address, bytes, true) {
            return None;
        }
        let (set, fetch) = (Ordering::SeqCst, Ordering::SeqCst);
        match bytes {
            2 => {
                // SAFETY: the bytes lie in the arena, aligned; its pages stay mapped and nothing in Rust borrows
                // them.
                let place = unsafe { AtomicU16::from_ptr(address as *mut u16) };
                let old = place.fetch_update(set, fetch, |old| Some(change(old.into()) as u16));
                old.ok().map(u64::from)
            }
            4 => {
                // SAFETY: as above.
                let place = unsafe { AtomicU32::from_ptr(address as *mut u32) };
                let old = place.fetch_update(set, fetch, |old| Some(change(old.into()) as u32));
                old.ok().map(u64::from)
            }
            8 => {
                // SAFETY: as above.
                let place = unsafe { AtomicU64::from_ptr(address as *mut u64) };
                place.fetch_update(set, fetch, |old| Some(change(old))).ok()
            }
            _ => None,
        }
    }
}

//! Where guarded kernels write down what they do wrong, in memory of the host that they see.

#![expect(unsafe_code, reason = "the CUDA driver is a C library, and kernels write to the memory")]

use std::{ffi::c_void, ptr};

use cudarc::driver::sys;

use crate::{
    device::{
        GuardRecord, Result,
        nvidia::{context::CudaContext, driver::Handle, page_lock::page_lock},
    },
    ptx::pass::guard::record::field,
};

/// Records that are allocated at once: what a page holds.
const AT_ONCE: usize = 56;

/// All records of a context.
#[derive(Debug, Default)]
pub(super) struct RecordPool {
    allocations: Vec<Handle<c_void>>,
    free: Vec<Records>,
}

/// The records of one module.
#[derive(Debug)]
pub(super) struct Records {
    first: Handle<u8>,
    /// The address that kernels see.
    address: u64,
    count: usize,
}

/// Memory of the host, which is zero, and its address for kernels.
pub(super) fn allocate(context: &CudaContext, bytes: usize) -> Result<(Handle<c_void>, u64)> {
    let host = Handle(page_lock(context, bytes, sys::CU_MEMHOSTALLOC_DEVICEMAP)?);
    let mut address = 0;
    // SAFETY: the memory was allocated with `CU_MEMHOSTALLOC_DEVICEMAP`; `address` is written before the call returns.
    context.check(unsafe {
        context.driver().cuMemHostGetDevicePointer_v2(&raw mut address, host.0, 0)
    })?;
    Ok((host, address))
}

impl RecordPool {
    /// So many records, which are empty; the context is current.
    pub(super) fn take(&mut self, context: &CudaContext, count: usize) -> Result<Records> {
        let fits = |records: &Records| records.count == count;
        if let Some(at) = self.free.iter().position(fits) {
            return Ok(self.free.swap_remove(at));
        }
        let (sets, bytes) = (AT_ONCE.div_ceil(count), count * field::BYTES);
        let (host, address) = allocate(context, sets * bytes)?;
        self.allocations.push(host);
        let first = host.0.cast::<u8>();
        for at in 1..sets {
            let (first, address) = (first.wrapping_add(at * bytes), address + (at * bytes) as u64);
            self.free.push(Records { first: Handle(first), address, count });
        }
        Ok(Records { first: Handle(first), address, count })
    }

    /// Takes records back, to which no kernel writes any more.
    pub(super) fn give_back(&mut self, records: &Records) {
        let Records { first, address, count } = *records;
        let records = Records { first, address, count };
        records.take_all();
        self.free.push(records);
    }

    /// Gives the memory back, when the context ends.
    pub(super) fn free(&mut self, context: &CudaContext) {
        for host in self.allocations.drain(..) {
            // SAFETY: allocated by `cuMemHostAlloc`; nothing of the context runs any more.
            if let Err(error) = context.check(unsafe { context.driver().cuMemFreeHost(host.0) }) {
                tracing::debug!("while ending the guard: {error}");
            }
        }
    }
}

impl Records {
    /// The address of the first one for kernels.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// Whether a kernel has written the first one.
    pub(super) fn is_written(&self) -> bool {
        // SAFETY: the memory lives as long as the context's guard does, and a record begins with this word, which
        // kernels write whole.
        unsafe { ptr::read_volatile(self.first.0.cast::<u32>()) != 0 }
    }

    /// Writes the host's wish that loops end.
    pub(super) fn wish(&self, wish: u32) {
        let place = self.first.0.wrapping_add(field::WISH.unsigned_abs() as usize);
        // SAFETY: as above; the first record has these four bytes at a multiple of four, which the host alone writes.
        unsafe { ptr::write_volatile(place.cast::<u32>(), wish) };
    }

    /// Those that are written, which are taken away, as is the wish; no kernel of the module runs.
    pub(super) fn take_all(&self) -> Vec<GuardRecord> {
        let take = |at: usize| {
            let place = self.first.0.cast::<[u8; field::BYTES]>().wrapping_add(at);
            // SAFETY: there are `count` records, of which `at` is one, and no kernel runs that writes it.
            let record = GuardRecord::read(&unsafe { ptr::read_volatile(place) });
            // SAFETY: as above.
            unsafe { ptr::write_volatile(place, [0; field::BYTES]) };
            record
        };
        (0..self.count).map_while(take).collect()
    }
}

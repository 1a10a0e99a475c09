//! Where the heap of kernels' `malloc` lies, which the driver does not tell.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_void, ops::Range, ptr};

use cudarc::driver::sys;

use super::{context::CudaContext, driver::Handle, image::load_image};
use crate::device::Result;

/// A kernel that tells where `malloc` puts two pieces of memory, and gives them back.
const PROBE: &std::ffi::CStr = c"
.version 6.3
.target sm_70
.address_size 64
.extern .func (.param .b64 address) malloc (.param .b64 bytes);
.extern .func free (.param .b64 address);
.visible .entry probe(.param .u64 told)
{
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [told];
    cvta.to.global.u64 %rd2, %rd1;
    { .param .b64 bytes; .param .b64 address; st.param.b64 [bytes], 16;
      call (address), malloc, (bytes); ld.param.b64 %rd3, [address]; }
    { .param .b64 bytes; .param .b64 address; st.param.b64 [bytes], 1048576;
      call (address), malloc, (bytes); ld.param.b64 %rd4, [address]; }
    st.global.u64 [%rd2], %rd3;
    st.global.u64 [%rd2+8], %rd4;
    { .param .b64 address; st.param.b64 [address], %rd3; call free, (address); }
    { .param .b64 address; st.param.b64 [address], %rd4; call free, (address); }
    ret;
}
";
/// Bytes of the second piece, which are at the other end of a heap that nobody has used.
const LARGE: u64 = 1 << 20;
/// The driver gives a heap whole pages.
const PAGE: u64 = 2 << 20;

/// Where the heap lies. From now on its size cannot be changed. Where both pieces do not tell both ends, it is as much
/// as may be heap. The context is current.
pub(super) fn find(context: &CudaContext, stream: sys::CUstream) -> Result<Option<Range<u64>>> {
    let mut bytes = 0;
    let limit = sys::CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE;
    // SAFETY: `bytes` is written before the call returns.
    context.check(unsafe { context.driver().cuCtxGetLimit(&raw mut bytes, limit) })?;
    Ok(around(probe(context, stream)?, bytes as u64))
}

/// The addresses of a heap of so many bytes that has these two pieces; 0 is none.
fn around([small, large]: [u64; 2], bytes: u64) -> Option<Range<u64>> {
    let pieces = [small..small + 16, large..large + LARGE];
    let pieces = pieces.into_iter().filter(|piece| piece.start != 0);
    let ends = pieces.fold(None, |ends: Option<Range<u64>>, piece| match ends {
        None => Some(piece),
        Some(ends) => Some(ends.start.min(piece.start)..ends.end.max(piece.end)),
    })?;
    let (first, last) = (ends.start / PAGE * PAGE, ends.end.next_multiple_of(PAGE));
    Some(last.saturating_sub(bytes)..first.saturating_add(bytes))
}

fn probe(context: &CudaContext, stream: sys::CUstream) -> Result<[u64; 2]> {
    let driver = context.driver();
    // SAFETY: the text ends with a NUL.
    let (module, _) = unsafe { load_image(context, PROBE.as_ptr().cast(), [])? };
    let told = run(context, &module, stream);
    // SAFETY: loaded above; its kernel was waited for, or the context has failed.
    let unloaded = context.check(unsafe { driver.cuModuleUnload(module.0) });
    told.and_then(|told| unloaded.map(|()| told))
}

fn run(
    context: &CudaContext,
    module: &Handle<sys::CUmod_st>,
    stream: sys::CUstream,
) -> Result<[u64; 2]> {
    let driver = context.driver();
    let (mut kernel, mut address, mut told) = (ptr::null_mut(), 0_u64, [0_u64; 2]);
    let name = c"probe".as_ptr();
    // SAFETY: the module has a kernel of this name; `kernel` is written before the call returns.
    context.check(unsafe { driver.cuModuleGetFunction(&raw mut kernel, module.0, name) })?;
    // SAFETY: `address` is written before the call returns.
    context.check(unsafe { driver.cuMemAlloc_v2(&raw mut address, size_of_val(&told)) })?;
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    // SAFETY: the kernel has one parameter of eight bytes, which points to memory for two addresses.
    let launched = context.check(unsafe {
        let arguments = arguments.as_mut_ptr();
        driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, ptr::null_mut())
    });
    let copied = launched.and_then(|()| {
        let (to, bytes) = (told.as_mut_ptr().cast(), size_of_val(&told));
        // SAFETY: both sides have as many bytes, and live until the stream was waited for.
        context.check(unsafe { driver.cuMemcpyDtoHAsync_v2(to, address, bytes, stream) })
    });
    // SAFETY: the stream is alive.
    let ended = context.check(unsafe { driver.cuStreamSynchronize(stream) });
    // SAFETY: allocated above; nothing uses it any more.
    let freed = context.check(unsafe { driver.cuMemFree_v2(address) });
    copied.and(ended).and(freed).map(|()| told)
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn both_ends_are_told_by_pieces_at_both() {
        // As an H200 has them, driver 580.
        let heap = 0x2_0540_0000..0x2_05c0_0000;
        assert_eq!(around([0x2_05bf_f920, 0x2_0540_0120], 8 << 20), Some(heap.clone()));
        // Of one piece, or two at one end, what may be heap has the heap.
        for pieces in [[0x2_05bf_f920, 0], [0, 0x2_0540_0120], [0x2_0540_0050, 0x2_0540_0120]] {
            let all = around(pieces, 8 << 20).unwrap();
            assert!(all.start <= heap.start && heap.end <= all.end, "{all:x?}");
        }
        assert_eq!(around([0, 0], 8 << 20), None);
    }
}

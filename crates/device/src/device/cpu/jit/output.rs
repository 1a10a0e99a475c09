//! `printf`, `assert`, `malloc` and `free`: host functions that work on the arena.
#![expect(unsafe_code, reason = "reads a kernel's memory through the context")]

use crate::device::cpu::{
    abi::BlockContext,
    memory::{Arena, Range},
    printf::{MAX_STRING, PrintedAt, Prints, formatted},
};

pub(super) fn functions() -> [(&'static str, *const u8); 4] {
    type Printf = extern "C" fn(&mut BlockContext, u64, u64) -> i32;
    type Assert = extern "C" fn(&mut BlockContext, u64, u64, u32, u64) -> i32;
    [
        ("warpaint_vprintf", vprintf as Printf as *const u8),
        ("warpaint_assertfail", assertfail as Assert as *const u8),
        ("warpaint_malloc", malloc as extern "C" fn(&mut BlockContext, u64) -> u64 as *const u8),
        ("warpaint_free", free as extern "C" fn(&mut BlockContext, u64) -> i32 as *const u8),
    ]
}

/// `N` bytes at a generic address, where the thread that runs reaches all of them.
fn read<const N: usize>(context: &BlockContext, address: u64) -> Option<[u8; N]> {
    // Who calls a function of the host says in the context which thread runs, and what it uses of local memory.
    let start = context.local_start;
    let local = Range { address: start, bytes: context.local_top - start };
    let bytes = N as u64;
    let allowed = arena(context).allows(address, bytes, false)
        || context.reaches(address, bytes, false, local);
    // SAFETY: the bytes lie in an allocation of the arena or in the memory of the block, which is of the arena, too;
    // its pages stay mapped.
    allowed.then(|| unsafe { (address as *const [u8; N]).read_unaligned() })
}

fn bytes(context: &BlockContext, address: u64) -> Vec<u8> {
    let bytes = (0..MAX_STRING as u64)
        .map_while(|at| read::<1>(context, address.wrapping_add(at)))
        .map(|[byte]| byte);
    bytes.take_while(|byte| *byte != 0).collect()
}

fn string(context: &BlockContext, address: u64) -> String {
    String::from_utf8_lossy(&bytes(context, address)).into_owned()
}

/// Prints for a kernel.
extern "C" fn vprintf(context: &mut BlockContext, format: u64, arguments: u64) -> i32 {
    let load = |at: u64, bytes: u64| match bytes {
        4 => read::<4>(context, at).map_or(0, |b| u64::from(u32::from_le_bytes(b))),
        _ => read::<8>(context, at).map_or(0, u64::from_le_bytes),
    };
    let format = (format != 0).then(|| string(context, format));
    let prints = prints(context);
    let (text, count) =
        formatted(format.as_deref(), prints.too_long(), arguments, load, |at| bytes(context, at));
    prints.print(&text, place(context));
    count
}

/// Which thread runs: that whose local memory is in use.
fn place(context: &BlockContext) -> PrintedAt {
    let offset = context.local_start.saturating_sub(context.local_base);
    let index = offset.checked_div(context.local_stride).map_or(context.thread, |at| at as u32);
    let [width, height, _] = context.ntid.map(|threads| threads.max(1));
    let thread = [index % width, index / width % height, index / (width * height)];
    PrintedAt { block: context.ctaid, thread }
}

fn prints(context: &BlockContext) -> &Prints {
    // SAFETY: the launch that runs keeps it.
    unsafe { &*context.prints }
}

fn arena(context: &BlockContext) -> &Arena {
    // SAFETY: the launch that runs keeps its device, which owns the arena.
    unsafe { &*context.heap }
}

/// Device memory for a kernel; null where there is none left, as in CUDA.
extern "C" fn malloc(context: &mut BlockContext, bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { arena(context).heap_alloc(bytes).unwrap_or(0) }
}

/// Gives memory of `malloc` back, null is none; not 0 where there was nothing to give back.
extern "C" fn free(context: &mut BlockContext, address: u64) -> i32 {
    i32::from(address != 0 && !arena(context).heap_free(address))
}

extern "C" fn assertfail(
    c: &mut BlockContext,
    message: u64,
    file: u64,
    line: u32,
    function: u64,
) -> i32 {
    let [message, file, function] = [message, file, function].map(|at| string(c, at));
    let text = format!("`{message}` in {function} ({file}:{line})");
    c.assertion = Box::into_raw(Box::new(text)) as u64;
    0
}

/// The text of the assertion that failed last in this context, if one did.
pub(in crate::device::cpu) fn take_assertion(context: &mut BlockContext) -> Option<String> {
    let address = std::mem::take(&mut context.assertion);
    if address == 0 {
        return None;
    }
    // SAFETY: only `assertfail` writes the field, with the address of a box that nobody else has.
    Some(*unsafe { Box::from_raw(address as *mut String) })
}

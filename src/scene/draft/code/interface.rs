//! What functions of CUDA's own interface do that a draft has to say.

/// What a call does.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) enum Effect {
    /// Nothing that a scene has, or what the reader takes over where it is written.
    None,
    /// Perhaps something with the memory that it is given.
    OnMemory,
    /// Something with the device, whatever it is given.
    Always,
}

/// Parts of the names of functions that launch, copy or write, or begin to record what is launched. They are given
/// structures or handles, which do not tell what memory that is.
const ACTING: [&str; 20] = [
    "Launch",
    "BeginCapture",
    "GraphAdd",
    "MemsetD",
    "Memset3D",
    "MemcpyPeer",
    "MemcpyBatch",
    "MemcpyDtoD",
    "MemcpyHtoD",
    "MemcpyAtoD",
    "MemcpyDtoA",
    "MemcpyHtoA",
    "MemcpyAtoA",
    "Memcpy2DUnaligned",
    "Memcpy3D",
    "WriteValue",
    "BatchMemOp",
    "GetSymbolAddress",
    "ModuleGetGlobal",
    "LibraryGetGlobal",
];
/// Functions of the driver that are called as those of the run-time library which the reader knows, and take other
/// arguments.
const OF_DRIVER: [&str; 4] = ["cuMemcpy", "cuMemcpyAsync", "cuMemcpy2D", "cuMemcpy2DAsync"];
/// What the others begin with that change no memory of the device: behind `cuda` or `cu`.
const HARMLESS: [&str; 44] = [
    "Array",
    "BindSurface",
    "BindTexture",
    "Choose",
    "Create",
    "Ctx",
    "Destroy",
    "Device",
    "Driver",
    "Event",
    "Free",
    "Func",
    "GL",
    "Get",
    "Graph",
    "Host",
    "Init",
    "Ipc",
    "Kernel",
    "Library",
    "Link",
    "Malloc",
    "MemAdvise",
    "MemAlloc",
    "MemAddress",
    "MemCreate",
    "MemFree",
    "MemGet",
    "MemHost",
    "MemMap",
    "MemPool",
    "MemPrefetch",
    "MemRange",
    "MemSetAccess",
    "Module",
    "Occupancy",
    "Peek",
    "PointerGet",
    "Profiler",
    "Runtime",
    "Set",
    "Tex",
    "Thread",
    "Unbind",
];
/// Those among them that the reader takes over, or that copy to the host or to textures, which are drafted apart.
const READ: &str = " \
    cudaMemcpy cudaMemcpyAsync cudaMemcpy2D cudaMemcpy2DAsync cudaMemcpyToSymbol cudaMemcpyToSymbolAsync \
    cudaMemcpyFromArray cudaMemcpy2DFromArray cudaMemcpyFromSymbol cudaMemset cudaMemsetAsync cudaMemset2D \
    cudaMemset2DAsync cudaMemcpyToArray cudaMemcpy2DToArray cudaMemcpyToArrayAsync cudaMemcpy2DToArrayAsync \
    cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyAtoH cuMemcpyAtoHAsync cudaGraphicsMapResources \
    cudaGraphicsUnmapResources cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority \
    cudaStreamDestroy cudaStreamSynchronize cudaStreamQuery cudaStreamWaitEvent cudaStreamAttachMemAsync \
    cudaStreamEndCapture cudaStreamIsCapturing cudaStreamGetCaptureInfo cudaStreamGetFlags \
    cudaStreamGetPriority cudaStreamSetAttribute cuStreamCreate cuStreamDestroy cuStreamSynchronize \
    cuStreamQuery cuStreamWaitEvent cuStreamEndCapture ";
/// Parts of the names of functions that give memory of the device: a pointer, by its address.
const GIVING: [&str; 7] = [
    "Malloc",
    "MemAlloc",
    "GetSymbolAddress",
    "GetGlobal",
    "GetMappedPointer",
    "OpenMemHandle",
    "GetDevicePointer",
];

/// What a function of CUDA's interface does; `None` of one that is none of it.
pub(in crate::scene::draft) fn effect(name: &str) -> Option<Effect> {
    let rest = of_interface(name)?;
    // One that the reader leaves out says so itself: `cudaLaunchKernel`.
    let is_read = READ.split_ascii_whitespace().any(|own| own == name)
        || matches!(name, "cudaLaunchKernel" | "cudaLaunchCooperativeKernel" | "cudaMemset3D");
    let begins = |start: &&str| rest.starts_with(*start);
    Some(match () {
        () if is_read => Effect::None,
        // A function of the host that calls nothing of CUDA's.
        () if rest == "LaunchHostFunc" => Effect::OnMemory,
        () if ACTING.iter().any(|part| rest.contains(part)) => Effect::Always,
        () if OF_DRIVER.contains(&name) => Effect::Always,
        () if HARMLESS.iter().any(begins) => Effect::None,
        () => Effect::OnMemory,
    })
}

/// Whether a function lets the pointer whose address it is given point to memory of the device.
pub(in crate::scene::draft) fn gives_memory(name: &str) -> bool {
    of_interface(name).is_some_and(|rest| GIVING.iter().any(|part| rest.contains(part)))
}

/// What stands behind `cuda` or `cu` in the name of one of its functions.
fn of_interface(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("cuda").or_else(|| name.strip_prefix("cu"))?;
    rest.starts_with(|c: char| c.is_ascii_uppercase()).then_some(rest)
}

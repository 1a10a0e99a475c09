//! What stands for the CPU device where it is not compiled in: types that have no value, with what the rest of the
//! module calls. `cpu` has the meaning of each.

use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

use super::{
    Allocation, Arguments, ArrayDescriptor, Attribute, CachePreference, DeviceId, DeviceInfo,
    Error, EventOptions, Fill, FunctionInfo, LaunchConfig, Limit, LinkInput, MemoryInfo, Region,
    Result, Rows, Slice, StreamOptions, TextureDescriptor, host_part::HostRows,
    texture::TextureSource,
};

/// What nobody has.
#[derive(Clone, Copy, Debug)]
enum Never {}

/// Types without values, and their methods, which nobody can call.
macro_rules! absent {
    ($($type:ident {
        $(fn $method:ident(&$this:ident $(, $argument:ident: $of:ty)*) -> $result:ty;)*
    })+) => { $(
        #[derive(Clone, Debug)]
        pub struct $type(Never);

        impl $type {
            $(pub fn $method(&$this $(, $argument: $of)*) -> $result {
                $(let _ = $argument;)*
                match $this.0 {}
            })*
        }
    )+ };
}

absent! {
    Device {
        fn address_range(&self, address: u64) -> Result<Option<Allocation>>;
        fn alloc_host(&self, bytes: usize) -> Result<HostMemory>;
        fn alloc_managed(&self, bytes: usize) -> Result<MappedMemory>;
        fn alloc_mapped(&self, bytes: usize) -> Result<MappedMemory>;
        fn alloc_pitch(&self, row_bytes: usize, rows: usize) -> Result<(Memory, usize)>;
        fn alloc_with_capacity(&self, bytes: usize, capacity: usize) -> Result<Memory>;
        fn array(&self, descriptor: &ArrayDescriptor) -> Result<Array>;
        fn attribute(&self, attribute: Attribute) -> Result<Option<i32>>;
        fn event(&self, options: EventOptions) -> Result<Event>;
        fn id(&self) -> DeviceId;
        fn info(&self) -> &DeviceInfo;
        fn largest_array(&self, descriptor: &ArrayDescriptor) -> Result<[usize; 3]>;
        fn largest_linear_texture(&self) -> Result<(usize, [usize; 2])>;
        fn limit(&self, limit: Limit) -> Result<Option<usize>>;
        fn load(&self, text: &str) -> Result<Module>;
        fn memory_info(&self) -> Result<MemoryInfo>;
        fn register_host(&self, vector: Vec<u8>) -> HostMemory;
        fn set_cache_preference(&self, preference: CachePreference) -> Result<()>;
        fn set_limit(&self, limit: Limit, value: usize) -> Result<()>;
        fn stream(&self, options: StreamOptions) -> Result<Stream>;
        fn stream_priorities(&self) -> Result<(i32, i32)>;
        fn surface(&self, array: &Array) -> Result<SurfaceObject>;
        fn synchronize(&self) -> Result<()>;
        fn texture(&self, source: &TextureSource<'_>, descriptor: &TextureDescriptor) -> Result<TextureObject>;
    }
    MappedMemory {
        fn address(&self) -> u64;
        fn bytes(&self) -> usize;
        fn device_id(&self) -> DeviceId;
        fn is_managed(&self) -> bool;
        fn read(&self, offset: usize, to: &mut [u8]) -> bool;
    }
    Stream {
        fn cancel(&self) -> Result<()>;
        fn check(&self) -> Result<()>;
        fn copy(&self, to: &Region<'_>, from: &Region<'_>) -> Result<()>;
        fn copy_from_peer(&self, to: &Region<'_>, peer: &Stream, from: &Region<'_>) -> Result<()>;
        fn device(&self) -> &Device;
        fn download(&self, from: &Region<'_>) -> Result<Readback>;
        fn fill(&self, to: &Rows<'_>, value: Fill) -> Result<()>;
        fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()>;
        fn is(&self, other: &Stream) -> bool;
        fn is_checked(&self) -> bool;
        fn is_idle(&self) -> Result<bool>;
        fn priority(&self) -> Result<i32>;
        fn record(&self, event: &Event) -> Result<()>;
        fn submit(&self, function: &Function, config: &LaunchConfig, arguments: &Arguments) -> Result<()>;
        fn synchronize(&self) -> Result<()>;
        fn upload(&self, to: &Region<'_>, bytes: &[u8]) -> Result<()>;
        fn wait(&self, event: &Event) -> Result<()>;
    }
    Readback {
        fn is_ready(&self) -> Result<bool>;
    }
    Event {
        fn elapsed_ms(&self, earlier: &Event) -> Result<f32>;
        fn is_reached(&self) -> Result<bool>;
        fn synchronize(&self) -> Result<()>;
        fn wait_within(&self, longest: Duration) -> Result<bool>;
    }
    Function {
        fn active_blocks(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<u32>;
        fn device_info(&self) -> &DeviceInfo;
        fn info(&self) -> &FunctionInfo;
        fn max_cooperative_blocks(&self, config: &LaunchConfig) -> Result<u64>;
        fn name(&self) -> &str;
        fn prefer_shared_memory(&self, percent: Option<u32>) -> Result<()>;
        fn set_cache_preference(&self, preference: CachePreference) -> Result<()>;
        fn suggested_block(&self, dynamic_shared_bytes: u32) -> Result<u32>;
    }
    HostMemory {
        fn device_id(&self) -> DeviceId;
    }
    Transfer {
        fn is_ready(&self) -> Result<bool>;
    }
    TextureObject {
        fn device_id(&self) -> DeviceId;
        fn handle(&self) -> u64;
    }
    SurfaceObject {
        fn device_id(&self) -> DeviceId;
        fn handle(&self) -> u64;
    }
    Module {
        fn function(&self, name: &str) -> Result<Function>;
        fn global(&self, name: &str) -> Result<Slice<'_>>;
    }
    Memory {
        fn address(&self) -> u64;
        fn bytes(&self) -> usize;
        fn device_id(&self) -> DeviceId;
    }
    Array {
        fn descriptor(&self) -> &ArrayDescriptor;
        fn device_id(&self) -> DeviceId;
    }
}

impl Device {
    pub fn available() -> Option<DeviceInfo> {
        None
    }

    pub fn new() -> Result<Self> {
        Err(Error::NoCpuDevice)
    }

    pub fn unsupported<T>(&self, _operation: &'static str) -> Result<T> {
        match self.0 {}
    }

    pub fn link(&self, _inputs: &[LinkInput<'_>]) -> Result<Module> {
        match self.0 {}
    }
}

impl MappedMemory {
    pub fn write(&mut self, _offset: usize, _from: &[u8]) -> bool {
        match self.0 {}
    }
}

impl Stream {
    pub(super) fn transfer(
        &self,
        _region: &Region<'_>,
        _memory: HostMemory,
        _rows: HostRows,
        _upload: bool,
    ) -> Result<Transfer> {
        match self.0 {}
    }

    pub fn set_extent(&self, _memory: &Memory, _bytes: usize) {
        match self.0 {}
    }
}

impl Readback {
    pub fn wait(self) -> Result<Vec<u8>> {
        match self.0 {}
    }

    pub fn wait_with<R>(self, _read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        match self.0 {}
    }
}

impl Transfer {
    pub fn end(self, _report: bool) -> (Option<HostMemory>, Result<()>) {
        match self.0 {}
    }
}

impl HostMemory {
    pub fn into_vec(self) -> Vec<u8> {
        match self.0 {}
    }
}

impl Deref for HostMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.0 {}
    }
}

impl DerefMut for HostMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self.0 {}
    }
}

//! Not written yet: the face that the seam expects.
#![allow(missing_docs, unused_variables, reason = "replaced by the backend")]

use std::convert::Infallible;

use super::{
    Arguments, DeviceId, DeviceInfo, Error, Fill, FunctionInfo, LaunchConfig, MemoryInfo, Result,
    Slice,
};

#[derive(Clone, Debug)]
pub struct Device(Infallible);
#[derive(Debug)]
pub struct Memory(Infallible);
#[derive(Debug)]
pub struct Readback(Infallible);
#[derive(Clone, Debug)]
pub struct Stream(Infallible);
#[derive(Debug)]
pub struct Event(Infallible);
#[derive(Clone, Debug)]
pub struct Module(Infallible);
#[derive(Clone, Debug)]
pub struct Function(Infallible);

impl Device {
    pub fn all() -> Result<Vec<DeviceInfo>> {
        Err(Error::NoDriver { reason: "not written".into() })
    }
    pub fn describe() -> DeviceInfo {
        std::process::abort()
    }
    pub fn open(ordinal: u32) -> Result<Self> {
        Err(Error::NoDriver { reason: "not written".into() })
    }
    pub fn new() -> Result<Self> {
        Err(Error::NoDriver { reason: "not written".into() })
    }
    pub fn info(&self) -> &DeviceInfo {
        match self.0 {}
    }
    pub fn id(&self) -> DeviceId {
        match self.0 {}
    }
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        match self.0 {}
    }
    pub fn alloc(&self, bytes: usize) -> Result<Memory> {
        match self.0 {}
    }
    pub fn stream(&self) -> Result<Stream> {
        match self.0 {}
    }
    pub fn event(&self) -> Result<Event> {
        match self.0 {}
    }
    pub fn load(&self, ptx: &str) -> Result<Module> {
        match self.0 {}
    }
    pub fn synchronize(&self) -> Result<()> {
        match self.0 {}
    }
}
impl Memory {
    pub fn bytes(&self) -> usize {
        match self.0 {}
    }
    pub fn address(&self) -> u64 {
        match self.0 {}
    }
    pub fn device_id(&self) -> DeviceId {
        match self.0 {}
    }
}
impl Readback {
    pub fn is_ready(&self) -> Result<bool> {
        match self.0 {}
    }
    pub fn wait(self) -> Result<Vec<u8>> {
        match self.0 {}
    }
}
impl Event {
    pub fn is_reached(&self) -> Result<bool> {
        match self.0 {}
    }
    pub fn synchronize(&self) -> Result<()> {
        match self.0 {}
    }
    pub fn elapsed_ms(&self, earlier: &Self) -> Result<f32> {
        match self.0 {}
    }
}
impl Stream {
    pub fn device(&self) -> &Device {
        match self.0 {}
    }
    pub fn upload(&self, to: Slice<'_>, bytes: &[u8]) -> Result<()> {
        match self.0 {}
    }
    pub fn download(&self, from: Slice<'_>) -> Result<Readback> {
        match self.0 {}
    }
    pub fn copy(&self, to: Slice<'_>, from: Slice<'_>) -> Result<()> {
        match self.0 {}
    }
    pub fn fill(&self, to: Slice<'_>, value: Fill) -> Result<()> {
        match self.0 {}
    }
    #[expect(unsafe_code, reason = "as the seam")]
    pub unsafe fn launch(&self, f: &Function, c: &LaunchConfig, a: &Arguments) -> Result<()> {
        match self.0 {}
    }
    pub fn record(&self, event: &Event) -> Result<()> {
        match self.0 {}
    }
    pub fn wait(&self, event: &Event) -> Result<()> {
        match self.0 {}
    }
    pub fn is_idle(&self) -> Result<bool> {
        match self.0 {}
    }
    pub fn synchronize(&self) -> Result<()> {
        match self.0 {}
    }
    pub fn cancel(&self) -> Result<()> {
        match self.0 {}
    }
}
impl Module {
    pub fn function(&self, name: &str) -> Result<Function> {
        match self.0 {}
    }
    pub fn global(&self, name: &str) -> Result<Slice<'_>> {
        match self.0 {}
    }
}
impl Function {
    pub fn name(&self) -> &str {
        match self.0 {}
    }
    pub fn info(&self) -> &FunctionInfo {
        match self.0 {}
    }
    pub fn suggested_block(&self, dynamic_shared_bytes: u32) -> Result<u32> {
        match self.0 {}
    }
}

//! Streams: queues of work that a device does in order.

use super::{
    Arguments, Array, ArrayRegion, Device, Error, Event, Fill, Function, LaunchConfig, Pitch,
    Readback, Result, Slice, cpu, each, nvidia,
};

/// A queue of work on a device. Calls return at once; errors of the work itself come from a later call.
///
/// Cloning gives the same queue.
#[derive(Clone, Debug)]
pub enum Stream {
    /// Of an NVIDIA GPU.
    Nvidia(nvidia::Stream),
    /// Of the CPU device.
    Cpu(cpu::Stream),
}

impl Stream {
    /// The device that does the work.
    pub fn device(&self) -> Device {
        match self {
            Self::Nvidia(s) => Device::Nvidia(s.device().clone()),
            Self::Cpu(s) => Device::Cpu(s.device().clone()),
        }
    }

    /// Copies `bytes` of the host to `to`. The host's bytes are no longer needed when this returns.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the lengths differ, [`Error::WrongDevice`], [`Error::Call`].
    pub fn upload(&self, to: Slice<'_>, bytes: &[u8]) -> Result<()> {
        expect_length(to.bytes(), bytes.len())?;
        to.expect_device(self.device().id())?;
        each!(self, s => s.upload(to, bytes))
    }

    /// Starts to copy `from` to the host.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::OutOfMemory`] for the host's side, [`Error::Call`].
    pub fn download(&self, from: Slice<'_>) -> Result<Readback> {
        from.expect_device(self.device().id())?;
        Ok(match self {
            Self::Nvidia(s) => Readback::Nvidia(s.download(from)?),
            Self::Cpu(s) => Readback::Cpu(s.download(from)?),
        })
    }

    /// Copies `from` to `to` on the device. The ranges must not overlap.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the lengths differ, [`Error::WrongDevice`], [`Error::Call`].
    pub fn copy(&self, to: Slice<'_>, from: Slice<'_>) -> Result<()> {
        expect_length(to.bytes(), from.bytes())?;
        to.expect_device(self.device().id())?;
        from.expect_device(self.device().id())?;
        each!(self, s => s.copy(to, from))
    }

    /// Fills `to` with a value.
    ///
    /// # Errors
    /// [`Error::Misaligned`] when `to` is no multiple of the value's width, [`Error::WrongDevice`],
    /// [`Error::Call`].
    pub fn fill(&self, to: Slice<'_>, value: Fill) -> Result<()> {
        let width = value.width();
        if !to.bytes().is_multiple_of(width) || !to.address().is_multiple_of(width as u64) {
            return Err(Error::Misaligned { address: to.address(), bytes: to.bytes(), width });
        }
        to.expect_device(self.device().id())?;
        each!(self, s => s.fill(to, value))
    }

    /// Copies `bytes` of the host, rows without gaps, to `to`. They are no longer needed when this returns.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the lengths differ, [`Error::WrongDevice`], [`Error::Call`].
    pub fn upload_array(&self, to: ArrayRegion<'_>, bytes: &[u8]) -> Result<()> {
        expect_length(to.bytes(), bytes.len())?;
        to.expect_device(self.device().id())?;
        match (self, to.array()) {
            (Self::Nvidia(s), Array::Nvidia(a)) => s.upload_array(a, &to, bytes),
            (Self::Cpu(s), Array::Cpu(a)) => s.upload_array(a, &to, bytes),
            _ => Err(Error::WrongDevice { operation: "copy" }),
        }
    }

    /// Starts to copy `from` to the host, rows without gaps.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::OutOfMemory`] for the host's side, [`Error::Call`].
    pub fn download_array(&self, from: ArrayRegion<'_>) -> Result<Readback> {
        from.expect_device(self.device().id())?;
        match (self, from.array()) {
            (Self::Nvidia(s), Array::Nvidia(a)) => {
                Ok(Readback::Nvidia(s.download_array(a, &from)?))
            }
            (Self::Cpu(s), Array::Cpu(a)) => Ok(Readback::Cpu(s.download_array(a, &from)?)),
            _ => Err(Error::WrongDevice { operation: "copy" }),
        }
    }

    /// Copies rows in linear memory to `to`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the rows do not fit `from` or overlap, [`Error::WrongDevice`], [`Error::Call`].
    pub fn copy_to_array(&self, to: ArrayRegion<'_>, from: Slice<'_>, pitch: Pitch) -> Result<()> {
        self.expect_rows(&to, from, pitch)?;
        match (self, to.array()) {
            (Self::Nvidia(s), Array::Nvidia(a)) => s.copy_to_array(a, &to, from, pitch),
            (Self::Cpu(s), Array::Cpu(a)) => s.copy_to_array(a, &to, from, pitch),
            _ => Err(Error::WrongDevice { operation: "copy" }),
        }
    }

    /// Copies `from` to rows in linear memory; what lies between them stays.
    ///
    /// # Errors
    /// As [`Stream::copy_to_array`].
    pub fn copy_from_array(
        &self,
        to: Slice<'_>,
        pitch: Pitch,
        from: ArrayRegion<'_>,
    ) -> Result<()> {
        self.expect_rows(&from, to, pitch)?;
        match (self, from.array()) {
            (Self::Nvidia(s), Array::Nvidia(a)) => s.copy_from_array(to, pitch, a, &from),
            (Self::Cpu(s), Array::Cpu(a)) => s.copy_from_array(to, pitch, a, &from),
            _ => Err(Error::WrongDevice { operation: "copy" }),
        }
    }

    /// Copies texels between arrays, or within one between regions that do not overlap.
    ///
    /// # Errors
    /// [`Error::RegionsDiffer`] in size or bytes of a texel, [`Error::WrongDevice`], [`Error::Call`].
    pub fn copy_array(&self, to: ArrayRegion<'_>, from: ArrayRegion<'_>) -> Result<()> {
        to.expect_device(self.device().id())?;
        from.expect_device(self.device().id())?;
        let texel = |region: &ArrayRegion<'_>| region.array().descriptor().format;
        if to.size() != from.size() || texel(&to).bytes() != texel(&from).bytes() {
            let describe = |r: &ArrayRegion<'_>| format!("{:?} {}", r.size(), texel(r));
            return Err(Error::RegionsDiffer { to: describe(&to), from: describe(&from) });
        }
        match (self, to.array(), from.array()) {
            (Self::Nvidia(s), Array::Nvidia(t), Array::Nvidia(f)) => s.copy_array(t, &to, f, &from),
            (Self::Cpu(s), Array::Cpu(t), Array::Cpu(f)) => s.copy_array(t, &to, f, &from),
            _ => Err(Error::WrongDevice { operation: "copy" }),
        }
    }

    fn expect_rows(&self, region: &ArrayRegion<'_>, memory: Slice<'_>, pitch: Pitch) -> Result<()> {
        let device = self.device().id();
        region.expect_device(device)?;
        memory.expect_device(device)?;
        pitch.check(region, memory.bytes())
    }

    /// Puts a kernel on the stream.
    ///
    /// Shape and the size of `arguments` are checked against the function and the device first.
    ///
    /// # Safety
    /// On an NVIDIA device nothing checks what the kernel does with its arguments: every address in them must
    /// stay valid until the kernel has ended, and the kernel must not access memory outside them, nor memory
    /// that other streams use at the same time. (The CPU device checks every access and faults instead.)
    ///
    /// # Errors
    /// [`Error::InvalidLaunch`] naming the limit that the shape breaks, [`Error::WrongDevice`], [`Error::Call`].
    #[expect(unsafe_code, reason = "a kernel's accesses cannot be proved on an NVIDIA device")]
    pub unsafe fn launch(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<()> {
        config.check(function, self.device().info())?;
        arguments.check(function)?;
        match (self, function) {
            // SAFETY: the caller's duties are passed on unchanged.
            (Self::Nvidia(s), Function::Nvidia(f)) => unsafe { s.launch(f, config, arguments) },
            (Self::Cpu(s), Function::Cpu(f)) => s.launch(f, config, arguments),
            _ => Err(Error::WrongDevice { operation: "launch" }),
        }
    }

    /// Records the moment when all work put on the stream so far has ended.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn record(&self, event: &Event) -> Result<()> {
        match (self, event) {
            (Self::Nvidia(s), Event::Nvidia(e)) => s.record(e),
            (Self::Cpu(s), Event::Cpu(e)) => s.record(e),
            _ => Err(Error::WrongDevice { operation: "record an event" }),
        }
    }

    /// Lets work put on the stream from now on wait until `event` is reached.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn wait(&self, event: &Event) -> Result<()> {
        match (self, event) {
            (Self::Nvidia(s), Event::Nvidia(e)) => s.wait(e),
            (Self::Cpu(s), Event::Cpu(e)) => s.wait(e),
            _ => Err(Error::WrongDevice { operation: "wait for an event" }),
        }
    }

    /// Whether all its work has ended, well or not.
    ///
    /// # Errors
    /// [`Error::Call`] from the driver.
    pub fn is_idle(&self) -> Result<bool> {
        each!(self, s => s.is_idle())
    }

    /// Waits until all its work has ended.
    ///
    /// # Errors
    /// The first error of that work which was not reported yet: [`Error::Fault`] from the CPU device (which goes
    /// on working afterwards), [`Error::Call`] from the driver.
    pub fn synchronize(&self) -> Result<()> {
        each!(self, s => s.synchronize())
    }

    /// Stops the kernels that are on the stream now; they end with a fault of kind `Cancelled`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on an NVIDIA device, whose driver cannot stop a kernel.
    pub fn cancel(&self) -> Result<()> {
        each!(self, s => s.cancel())
    }
}

/// Whether two handles are the same queue.
impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nvidia(a), Self::Nvidia(b)) => a.is(b),
            (Self::Cpu(a), Self::Cpu(b)) => a.is(b),
            _ => false,
        }
    }
}

impl Eq for Stream {}

fn expect_length(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::OutOfRange { start: 0, end: found, bytes: expected })
    }
}

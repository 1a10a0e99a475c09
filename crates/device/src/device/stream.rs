//! Streams: queues of work that a device does in order.

use super::{
    Arguments, Device, DeviceId, Error, Event, Fill, Function, LaunchConfig, Memory, Prepared,
    Readback, Region, Result, Rows, cpu, each, nvidia,
};

/// How a stream is made.
///
/// ```
/// use warpaint::device::{Device, StreamOptions};
///
/// let device = Device::cpu()?;
/// let options = StreamOptions { priority: -5, checked: true };
/// let stream = device.stream_with(options)?;
/// assert!(stream.is_checked());
/// let (least, greatest) = device.stream_priorities()?;
/// assert_eq!(stream.priority()?, options.priority.clamp(greatest, least));
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StreamOptions {
    /// A smaller number is a greater priority: blocks of its kernels are begun before those of others. What lies
    /// outside of [`Device::stream_priorities`] counts as the nearest.
    pub priority: i32,
    /// Whether every launch waits for its kernel, so that an error comes from the launch that caused it. Slow: for
    /// finding mistakes.
    pub checked: bool,
}

/// A queue of work on a device. Calls return at once; errors of the work itself come from a later call.
///
/// Cloning gives the same queue.
///
/// ```
/// use warpaint::device::{Device, Fill};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(8)?);
/// let (left, right) = (memory.slice(..4)?, memory.slice(4..)?);
/// stream.upload(left, &[1, 2, 3, 4])?;
/// stream.copy(right, left)?;
/// stream.fill(left, Fill::U8(0))?; // behind the copy
/// let read = stream.download(memory.slice(..)?)?;
/// assert_eq!(read.wait()?, [0, 0, 0, 0, 1, 2, 3, 4]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
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

    /// Tells the handles of its device from another's.
    #[doc(hidden)]
    pub fn device_id(&self) -> DeviceId {
        each!(self, s => s.device().id())
    }

    /// Copies `bytes` of the host, which have no gaps, to `to`. They are no longer needed when this returns.
    ///
    /// ```
    /// # use warpaint::device::{Device, Pitch};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(6)?);
    /// stream.upload(memory.slice(..)?, &[9; 6])?;
    /// let rows = memory.slice(..)?.rows(Pitch { row_bytes: 3, rows: 2 }, [2, 2, 1])?;
    /// stream.upload(rows, &[1, 2, 3, 4])?; // what lies between the rows stays
    /// assert_eq!(stream.download(memory.slice(..)?)?.wait()?, [1, 2, 9, 3, 4, 9]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the lengths differ, [`Error::WrongDevice`], [`Error::Call`].
    pub fn upload<'a>(&self, to: impl Into<Region<'a>>, bytes: &[u8]) -> Result<()> {
        let to = to.into();
        expect_length(to.bytes(), bytes.len())?;
        to.expect_device(self.device_id())?;
        tracing::trace!(target: "warpaint::copy", bytes = to.bytes(), "to the device");
        each!(self, s => s.upload(&to, bytes))
    }

    /// Starts to copy `from` to the host, without the gaps between its rows.
    ///
    /// ```
    /// # use warpaint::device::{Device, Pitch};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(6)?);
    /// stream.upload(memory.slice(..)?, &[1, 2, 3, 4, 5, 6])?;
    /// let column = memory.slice(..)?.rows(Pitch { row_bytes: 3, rows: 2 }, [1, 2, 1])?;
    /// assert_eq!(stream.download(column)?.wait()?, [1, 4]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::OutOfMemory`] for the host's side, [`Error::Call`].
    pub fn download<'a>(&self, from: impl Into<Region<'a>>) -> Result<Readback> {
        let from = from.into();
        from.expect_device(self.device_id())?;
        tracing::trace!(target: "warpaint::copy", bytes = from.bytes(), "to the host");
        Ok(match self {
            Self::Nvidia(s) => Readback::Nvidia(s.download(&from)?),
            Self::Cpu(s) => Readback::Cpu(s.download(&from)?),
        })
    }

    /// Copies `from` to `to` on the device: memory, rows in it, or texels of arrays, in any combination. What lies
    /// between rows stays. Memory without gaps takes the shape of the other side. They must not overlap.
    ///
    /// ```
    /// # use warpaint::device::{Device, Pitch};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let (packed, padded) = (device.alloc(4)?, device.alloc(8)?);
    /// stream.upload(packed.slice(..)?, &[1, 2, 3, 4])?;
    /// stream.upload(padded.slice(..)?, &[0; 8])?;
    /// let rows = padded.slice(..)?.rows(Pitch { row_bytes: 4, rows: 2 }, [2, 2, 1])?;
    /// stream.copy(rows, packed.slice(..)?)?; // two rows of two bytes
    /// assert_eq!(stream.download(padded.slice(..)?)?.wait()?, [1, 2, 0, 0, 3, 4, 0, 0]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::RegionsDiffer`] when their sizes or the bytes of their texels differ,
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn copy<'a, 'b>(
        &self,
        to: impl Into<Region<'a>>,
        from: impl Into<Region<'b>>,
    ) -> Result<()> {
        let (to, from) = (to.into(), from.into());
        to.expect_device(self.device_id())?;
        from.expect_device(self.device_id())?;
        let (to, from) = to.alike(from)?;
        each!(self, s => s.copy(&to, &from))
    }

    /// Copies `from`, of another device, to `to`, of this one: memory, rows in it, or texels of arrays, as
    /// [`Stream::copy`] does; `peer` is a stream of the other device. The copy waits for what is on `peer`, and what is
    /// put there later waits for the copy.
    ///
    /// ```
    /// # use warpaint::device::{Device, Fill};
    /// let (here, there) = (Device::cpu()?, Device::cpu()?);
    /// let (stream, memory) = (here.stream()?, here.alloc(4)?);
    /// let (peer, other) = (there.stream()?, there.alloc(4)?);
    /// peer.fill(other.slice(..)?, Fill::U8(7))?;
    /// stream.copy_from_peer(memory.slice(..)?, &peer, other.slice(..)?)?;
    /// peer.fill(other.slice(..)?, Fill::U8(0))?; // waits for the copy, as the copy did for the first fill
    /// assert_eq!(stream.download(memory.slice(..)?)?.wait()?, [7; 4]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Stream::copy`]: [`Error::WrongDevice`] for a side that is not its stream's; [`Error::Unsupported`] between
    /// a GPU and the CPU device.
    pub fn copy_from_peer<'a, 'b>(
        &self,
        to: impl Into<Region<'a>>,
        peer: &Self,
        from: impl Into<Region<'b>>,
    ) -> Result<()> {
        let (to, from) = (to.into(), from.into());
        to.expect_device(self.device_id())?;
        from.expect_device(peer.device_id())?;
        let (to, from) = to.alike(from)?;
        match (self, peer) {
            (Self::Nvidia(s), Self::Nvidia(peer)) => s.copy_from_peer(&to, peer, &from),
            (Self::Cpu(s), Self::Cpu(peer)) => s.copy_from_peer(&to, peer, &from),
            (Self::Nvidia(_) | Self::Cpu(_), _) => Err(Error::Unsupported {
                operation: "copying from another kind of device",
                device: self.device().info().to_string(),
            }),
        }
    }

    /// Fills `to`, memory or rows in it, with a value. What lies between rows stays.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error, Fill, Pitch};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(6)?);
    /// stream.fill(memory.slice(..)?, Fill::U16(0x0201))?;
    /// let column = memory.slice(..)?.rows(Pitch { row_bytes: 2, rows: 3 }, [1, 3, 1])?;
    /// stream.fill(column, Fill::U8(9))?;
    /// assert_eq!(stream.download(memory.slice(..)?)?.wait()?, [9, 2, 9, 2, 9, 2]);
    /// let odd = stream.fill(memory.slice(1..)?, Fill::U16(0));
    /// assert!(matches!(odd, Err(Error::Misaligned { bytes: 5, width: 2, .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Misaligned`] when a row is no multiple of the value's width, or does not start at one;
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn fill<'a>(&self, to: impl Into<Rows<'a>>, value: Fill) -> Result<()> {
        let (to, width) = (to.into().walked(), value.width());
        let ([bytes, ..], address) = (to.extent(), to.address());
        let rows_fit = bytes.is_multiple_of(width) && address.is_multiple_of(width as u64);
        let all_alike = to.is_contiguous() || to.pitch().row_bytes.is_multiple_of(width);
        if !rows_fit || !all_alike {
            return Err(Error::Misaligned { address, bytes, width });
        }
        Region::from(to).expect_device(self.device_id())?;
        each!(self, s => s.fill(&to, value))
    }

    /// Puts a kernel on the stream.
    ///
    /// Shape and the size of `arguments` are checked against the function and the device first. On NVIDIA a kernel that
    /// follows itself on a stream often is launched as a CUDA graph of one node, which takes the host less time; to
    /// tools it is a kernel.
    ///
    /// ```
    /// # use warpaint::{device::{Arguments, Device, LaunchConfig}, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let source = Source::new("__global__ void square(int *x) { int i = threadIdx.x; x[i] = i * i; }");
    /// # let square = context.module(&source)?.kernel("square")?.function().clone();
    /// # let (device, stream) = (context.device(), context.stream());
    /// let (x, mut arguments) = (device.alloc(16)?, Arguments::new());
    /// arguments.push(&x.address()); // square(int *x) writes i * i to x[i]
    /// // SAFETY: `x` has an `int` for each of the four threads, and lives until the download has ended.
    /// unsafe { stream.launch(&square, &LaunchConfig::new(1, 4), &arguments)? };
    /// let read = stream.download(x.slice(..)?)?.wait()?;
    /// assert_eq!(bytemuck::pod_collect_to_vec::<u8, i32>(&read), [0, 1, 4, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// On an NVIDIA device nothing checks what the kernel does with its arguments: every address in them must
    /// stay valid until the kernel has ended, and the kernel must not access memory outside them, nor memory
    /// that other streams use at the same time. (The CPU device checks every access and faults instead.)
    ///
    /// # Errors
    /// [`Error::InvalidLaunch`] naming the limit that the shape breaks, [`Error::WrongArguments`],
    /// [`Error::WrongDevice`], [`Error::Call`]. On a checked stream the kernel's own, too.
    #[expect(unsafe_code, reason = "a kernel's accesses cannot be proved on an NVIDIA device")]
    pub unsafe fn launch(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<()> {
        config.check(function, function.device_info())?;
        arguments.check(function)?;
        // SAFETY: the caller's duties are passed on unchanged.
        unsafe { self.submit(function, config, arguments) }
    }

    /// Puts a kernel on the stream whose shape and arguments were checked before.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Device, Error, LaunchConfig, Prepared};
    /// # let device = Device::cpu()?;
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
    /// # let idle = device.load(ptx)?.function("idle")?;
    /// let launch = Prepared::new(&idle, &LaunchConfig::new(1, 32), Arguments::new())?;
    /// // SAFETY: the kernel takes no arguments.
    /// unsafe { device.stream()?.launch_prepared(&launch)? };
    /// // SAFETY: as before.
    /// let elsewhere = unsafe { Device::cpu()?.stream()?.launch_prepared(&launch) };
    /// assert!(matches!(elsewhere, Err(Error::WrongDevice { operation: "launch" })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Safety
    /// As [`Stream::launch`].
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`]; on a checked stream the kernel's own, too.
    #[expect(unsafe_code, reason = "a kernel's accesses cannot be proved on an NVIDIA device")]
    pub unsafe fn launch_prepared(&self, launch: &Prepared) -> Result<()> {
        // SAFETY: the caller's duties are passed on unchanged.
        unsafe { self.submit(launch.function(), launch.config(), launch.arguments()) }
    }

    /// Puts a kernel on the stream; shape and arguments fit it.
    ///
    /// # Safety
    /// As [`Stream::launch`].
    #[expect(unsafe_code, reason = "a kernel's accesses cannot be proved on an NVIDIA device")]
    unsafe fn submit(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<()> {
        match (self, function) {
            // SAFETY: the caller's duties are passed on unchanged.
            (Self::Nvidia(s), Function::Nvidia(f)) => unsafe { s.launch(f, config, arguments)? },
            (Self::Cpu(s), Function::Cpu(f)) => s.submit(f, config, arguments)?,
            (Self::Nvidia(_) | Self::Cpu(_), _) => {
                return Err(Error::WrongDevice { operation: "launch" });
            }
        }
        if self.is_checked() { self.synchronize() } else { Ok(()) }
    }

    /// Records the moment when all work put on the stream so far has ended.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::Device;
    /// # let device = Device::cpu()?;
    /// # let (stream, (go, wait)) = (device.stream()?, mpsc::channel());
    /// let event = device.event()?;
    /// stream.record(&event)?;
    /// stream.host_function(move || wait.recv().unwrap_or(()))?; // takes its time
    /// stream.record(&event)?; // from now on it stands for this moment
    /// assert!(!event.is_reached()?);
    /// go.send(())?;
    /// event.synchronize()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn record(&self, event: &Event) -> Result<()> {
        match (self, event) {
            (Self::Nvidia(s), Event::Nvidia(e)) => s.record(e),
            (Self::Cpu(s), Event::Cpu(e)) => s.record(e),
            (Self::Nvidia(_) | Self::Cpu(_), _) => {
                Err(Error::WrongDevice { operation: "record an event" })
            }
        }
    }

    /// Lets work put on the stream from now on wait until `event` is reached.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::{Device, Fill};
    /// # let device = Device::cpu()?;
    /// # let (memory, (go, wait)) = (device.alloc(4)?, mpsc::channel());
    /// let (first, second, event) = (device.stream()?, device.stream()?, device.event()?);
    /// first.host_function(move || wait.recv().unwrap_or(()))?; // takes its time
    /// first.fill(memory.slice(..)?, Fill::U8(7))?;
    /// first.record(&event)?;
    /// second.wait(&event)?; // this thread does not
    /// let read = second.download(memory.slice(..)?)?;
    /// go.send(())?;
    /// assert_eq!(read.wait()?, [7; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn wait(&self, event: &Event) -> Result<()> {
        match (self, event) {
            (Self::Nvidia(s), Event::Nvidia(e)) => s.wait(e),
            (Self::Cpu(s), Event::Cpu(e)) => s.wait(e),
            (Self::Nvidia(_) | Self::Cpu(_), _) => {
                Err(Error::WrongDevice { operation: "wait for an event" })
            }
        }
    }

    /// Calls a function of the host once all work put on the stream so far has ended; work put on it later waits for
    /// the function. It runs on a thread of the device's and must not use the device: calls that wait for it are
    /// errors there.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use warpaint::device::Device;
    ///
    /// let (stream, (done, is_done)) = (Device::cpu()?.stream()?, mpsc::channel());
    /// stream.host_function(move || done.send("done").unwrap_or_default())?;
    /// assert_eq!(is_done.recv(), Ok("done"));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`]. A panic of the function is [`Error::Panicked`], from [`Stream::synchronize`].
    pub fn host_function(&self, function: impl FnOnce() + Send + 'static) -> Result<()> {
        each!(self, s => s.host_function(Box::new(function)))
    }

    /// Its priority: that asked for, or the nearest that the device has.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn priority(&self) -> Result<i32> {
        each!(self, s => s.priority())
    }

    /// Whether every launch waits for its kernel ([`StreamOptions::checked`]).
    pub fn is_checked(&self) -> bool {
        each!(self, s => s.is_checked())
    }

    /// Whether all its work has ended, well or not.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::Device;
    /// # let (stream, (go, wait)) = (Device::cpu()?.stream()?, mpsc::channel());
    /// stream.host_function(move || wait.recv().unwrap_or(()))?;
    /// assert!(!stream.is_idle()?);
    /// go.send(())?;
    /// stream.synchronize()?;
    /// assert!(stream.is_idle()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`] from the driver.
    pub fn is_idle(&self) -> Result<bool> {
        each!(self, s => s.is_idle())
    }

    /// Lets the kernels of the CPU device, and guarded ones of a GPU, that are put on the stream from now on use the
    /// first `bytes` of a larger allocation.
    pub(super) fn set_extent(&self, memory: &Memory, bytes: usize) {
        match (self, memory) {
            (Self::Cpu(stream), Memory::Cpu(memory)) => stream.set_extent(memory, bytes),
            (Self::Nvidia(stream), Memory::Nvidia(memory)) => stream.set_extent(memory, bytes),
            (Self::Cpu(_), Memory::Nvidia(_)) | (Self::Nvidia(_), Memory::Cpu(_)) => {}
        }
    }

    /// Waits until all its work has ended.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Device, Error, LaunchConfig};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry fail() { trap; }";
    /// # let (fail, none) = (device.load(ptx)?.function("fail")?, Arguments::new());
    /// // SAFETY: the kernel takes no arguments.
    /// unsafe { stream.launch(&fail, &LaunchConfig::new(1, 1), &none)? };
    /// assert!(matches!(stream.synchronize(), Err(Error::Fault(_))));
    /// stream.synchronize()?; // it was reported, and the CPU device goes on
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of that work which was not reported yet: [`Error::Fault`] from the CPU device (which goes
    /// on working afterwards), [`Error::Call`] from the driver.
    pub fn synchronize(&self) -> Result<()> {
        each!(self, s => s.synchronize())
    }

    /// Whether what has ended of its work has ended well, as [`Stream::synchronize`] says it of all of it. Waits for
    /// nothing.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::{Arguments, Device, Error, LaunchConfig};
    /// # let device = Device::cpu()?;
    /// # let (stream, event, (go, wait)) = (device.stream()?, device.event()?, mpsc::channel());
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry fail() { trap; }";
    /// # let (fail, none) = (device.load(ptx)?.function("fail")?, Arguments::new());
    /// // SAFETY: the kernel takes no arguments.
    /// unsafe { stream.launch(&fail, &LaunchConfig::new(1, 1), &none)? };
    /// stream.record(&event)?;
    /// stream.host_function(move || wait.recv().unwrap_or(()))?;
    /// event.synchronize()?;
    /// assert!(matches!(stream.check(), Err(Error::Fault(_)))); // and the function waits for `go`
    /// stream.check()?; // it was reported
    /// go.send(())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn check(&self) -> Result<()> {
        each!(self, s => s.check())
    }

    /// Stops the kernels that are on the stream now; they end with a fault of kind `Cancelled`.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Device, Error, FaultKind, LaunchConfig};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let ptx = ".version 7.0 .target sm_75 .address_size 64
    ///     .visible .entry spin() { again: bra again; }";
    /// let (spin, none) = (device.load(ptx)?.function("spin")?, Arguments::new());
    /// // SAFETY: the kernel takes no arguments.
    /// unsafe { stream.launch(&spin, &LaunchConfig::new(1, 32), &none)? };
    /// stream.cancel()?;
    /// let Err(Error::Fault(fault)) = stream.synchronize() else { panic!("it never ends by itself") };
    /// assert_eq!(fault.kind, FaultKind::Cancelled);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
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
            (Self::Nvidia(_) | Self::Cpu(_), _) => false,
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

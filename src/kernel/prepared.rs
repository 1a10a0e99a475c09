//! Kernels that are checked once and launched many times.

use super::{Argument, Error, Kernel, Result};
use crate::device::{Event, LaunchConfig, Prepared, Stream};

/// A kernel with its shape and arguments, checked against it and against the device's limits.
///
/// To launch it costs little more than the driver's call. Arguments may be replaced one by one.
///
/// ```
/// use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("__global__ void add(float *x, float v) { x[threadIdx.x] += v; }");
/// let x = context.pool().alloc(context.stream(), 8)?;
/// context.stream().upload(x.slice(..)?, bytemuck::cast_slice(&[1.0f32, 2.0]))?;
/// let add = context.module(&source)?.kernel("add")?;
/// let mut add = add.prepare(&LaunchConfig::new(1, 2), &[x.slice(..)?.into(), 0.5f32.into()])?;
/// // SAFETY: two threads, two elements.
/// unsafe { add.launch(context.stream())? };
/// add.set(1, 10.0f32)?;
/// // SAFETY: as above.
/// unsafe { add.launch(context.stream())? };
/// let result = context.stream().download(x.slice(..)?)?.wait()?;
/// assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&result), [11.5, 12.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PreparedKernel {
    kernel: Kernel,
    launch: Prepared,
}

impl Kernel {
    /// Checks shape and arguments for launches to come.
    ///
    /// ```
    /// # use warpaint::{device::{self, Device, LaunchConfig}, kernel::{Context, Error, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let fill = context.module(&Source::new("__global__ void fill(float *x, float v) {}"))?.kernel("fill")?;
    /// let x = context.pool().alloc(context.stream(), 4)?;
    /// let wide = fill.prepare(&LaunchConfig::new(1, 2048), &[x.slice(..)?.into(), 1.0f32.into()]);
    /// assert!(matches!(wide, Err(Error::Device(device::Error::InvalidLaunch { allowed: 1024, .. }))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Kernel::arguments`] and [`Prepared::new`].
    pub fn prepare(&self, config: &LaunchConfig, arguments: &[Argument]) -> Result<PreparedKernel> {
        let launch = Prepared::new(self.function(), config, self.arguments(arguments)?)?;
        Ok(PreparedKernel { kernel: self.clone(), launch })
    }
}

impl PreparedKernel {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Its shape.
    pub fn config(&self) -> &LaunchConfig {
        self.launch.config()
    }

    /// Replaces the argument with this number, counted from 0.
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Error, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let fill = context.module(&Source::new("__global__ void fill(float *x, float v) {}"))?.kernel("fill")?;
    /// let x = context.pool().alloc(context.stream(), 4)?;
    /// let mut fill = fill.prepare(&LaunchConfig::new(1, 1), &[x.slice(..)?.into(), 1.0f32.into()])?;
    /// fill.set(1, 2.0f32)?;
    /// assert!(matches!(fill.set(1, 2), Err(Error::Argument { .. }))); // an `int`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] where it does not fit the parameter, [`Error::ArgumentCount`] where there is none.
    pub fn set(&mut self, index: usize, argument: impl Into<Argument>) -> Result<()> {
        let argument = argument.into();
        let expected = self.kernel.info().parameters.len();
        if index < expected {
            self.kernel.check(index, &argument)?;
        }
        match self.launch.set_bytes(index, argument.bytes()) {
            true => Ok(()),
            false => {
                let (kernel, found) = (self.kernel.name().to_owned(), index.saturating_add(1));
                Err(Error::ArgumentCount { kernel, expected, found })
            }
        }
    }

    /// Puts it on `stream`.
    ///
    /// # Safety
    /// As [`Stream::launch`]: the kernel must stay inside the memory that its arguments give it, which must still be
    /// there.
    ///
    /// # Errors
    /// As [`Stream::launch_prepared`].
    #[expect(unsafe_code, reason = "a kernel's accesses cannot be proved on an NVIDIA device")]
    pub unsafe fn launch(&self, stream: &Stream) -> Result<()> {
        // SAFETY: the caller's duties are passed on unchanged.
        unsafe { stream.launch_prepared(&self.launch)? };
        Ok(())
    }

    /// The same between two events.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::{Device, LaunchConfig}, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let source = Source::new("__global__ void fill(int *x) { x[threadIdx.x] = 7; }");
    /// # let fill = context.module(&source)?.kernel("fill")?;
    /// let x = GpuArray::<i32>::zeros(&context, &[2])?;
    /// let fill = fill.prepare(&LaunchConfig::new(1, 2), &[x.argument()?])?;
    /// // SAFETY: two threads, two elements.
    /// let timing = unsafe { fill.launch_timed(context.stream())? };
    /// assert!(timing.wait_ms()? >= 0.0);
    /// assert_eq!(x.to_vec()?, [7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As [`PreparedKernel::launch`].
    ///
    /// # Errors
    /// As [`Stream::launch_prepared`].
    #[expect(unsafe_code, reason = "a kernel's accesses cannot be proved on an NVIDIA device")]
    pub unsafe fn launch_timed(&self, stream: &Stream) -> Result<Timing> {
        let (start, end) = (stream.device().event()?, stream.device().event()?);
        stream.record(&start)?;
        // SAFETY: the caller's duties are passed on unchanged.
        unsafe { self.launch(stream)? };
        stream.record(&end)?;
        Ok(Timing { start, end })
    }
}

/// A launch whose time is measured.
///
/// ```
/// use warpaint::{array::GpuArray, device::{Device, LaunchConfig}, kernel::{Context, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("__global__ void add(float *x) { x[threadIdx.x] += 1.0f; }");
/// let x = GpuArray::<f32>::zeros(&context, &[256])?;
/// let add = context.module(&source)?.kernel("add")?;
/// let add = add.prepare(&LaunchConfig::new(1, 256), &[x.argument()?])?;
/// // SAFETY: 256 threads, 256 elements.
/// let launch = || unsafe { add.launch_timed(context.stream()) };
/// launch()?.wait_ms()?; // The first time is that of a cold machine.
/// let times: Vec<f32> = (0..5).map(|_| launch()?.wait_ms()).collect::<Result<_, _>>()?;
/// assert!(times.iter().copied().fold(f32::INFINITY, f32::min) < 1000.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Timing {
    start: Event,
    end: Event,
}

impl Timing {
    /// How long it took on the device, in milliseconds, once it has ended.
    ///
    /// # Errors
    /// The device's, where the work before it failed.
    pub fn wait_ms(&self) -> Result<f32> {
        self.end.synchronize()?;
        Ok(self.end.elapsed_ms(&self.start)?)
    }
}

//! Slices of the host as arguments of one launch, copied around it.

use super::{Argument, Context, Kernel, Kind, Result};
use crate::{
    device::{LaunchConfig, PoolBlock, Readback},
    element::Element,
};

/// A slice of the host that a kernel reads (PyCUDA's `In`): uploaded before the launch.
///
/// ```
/// use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Error, In, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("__global__ void look(const float *x) {}");
/// let look = context.module(&source)?.kernel("look")?;
/// // SAFETY: the kernel touches no memory.
/// let wrong = unsafe { look.call(&context, &LaunchConfig::new(1, 1), &mut [In(&[1.0f64]).into()]) };
/// assert!(matches!(wrong, Err(Error::Argument { .. }))); // `double` is no `float`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct In<'a, T>(pub &'a [T]);

/// A slice of the host that a kernel writes all of (PyCUDA's `Out`): downloaded after the launch. What the kernel
/// leaves out holds anything afterwards.
///
/// ```
/// use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Out, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("__global__ void square(int *x) { x[threadIdx.x] = threadIdx.x * threadIdx.x; }");
/// let square = context.module(&source)?.kernel("square")?;
/// let mut x = vec![0; 5];
/// // SAFETY: five threads, five elements.
/// unsafe { square.call(&context, &LaunchConfig::new(1, 5), &mut [Out(&mut x).into()])? };
/// assert_eq!(x, [0, 1, 4, 9, 16]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Out<'a, T>(pub &'a mut [T]);

/// A slice of the host that a kernel changes (PyCUDA's `InOut`): uploaded before the launch, downloaded after it.
///
/// ```
/// use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, InOut, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("__global__ void negate(float *x) { x[threadIdx.x] *= -1.0f; }");
/// let negate = context.module(&source)?.kernel("negate")?;
/// let mut x = [1.5f32, -2.0, 7.0];
/// // SAFETY: two threads, three elements.
/// unsafe { negate.call(&context, &LaunchConfig::new(1, 2), &mut [InOut(&mut x).into()])? };
/// assert_eq!(x, [-1.5, 2.0, 7.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct InOut<'a, T>(pub &'a mut [T]);

/// An argument of [`Kernel::call`]: what any launch takes, or a slice of the host as [`In`], [`Out`] or [`InOut`],
/// whose elements have the type that the kernel's pointer is to. (A structure that becomes an [`Argument`] by itself
/// fits any pointer.)
///
/// ```
/// use warpaint::{array::GpuArray, device::{Device, LaunchConfig}, kernel::{Context, HostArgument, Out, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("__global__ void above(int *out, const float *a, float limit) {
///     out[threadIdx.x] = a[threadIdx.x] > limit;
/// }");
/// let above = context.module(&source)?.kernel("above")?;
/// let a = GpuArray::from_slice(&context, &[1.0f32, 2.0, 3.0])?;
/// let mut out = [0; 3];
/// let arguments: &mut [HostArgument<'_>] =
///     &mut [Out(&mut out).into(), a.argument()?.into(), 1.5f32.into()];
/// // SAFETY: three threads, three elements of each.
/// unsafe { above.call(&context, &LaunchConfig::new(1, 3), arguments)? };
/// assert_eq!(out, [0, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct HostArgument<'a>(Given<'a>);

#[derive(Debug)]
enum Given<'a> {
    Argument(Argument),
    Slice { host: Host<'a>, uploads: bool, element: Option<Element> },
}

#[derive(Debug)]
enum Host<'a> {
    Read(&'a [u8]),
    Written(&'a mut [u8]),
}

impl<A: Into<Argument>> From<A> for HostArgument<'_> {
    fn from(argument: A) -> Self {
        Self(Given::Argument(argument.into()))
    }
}

impl<'a, T: bytemuck::Pod + Into<Argument>> From<In<'a, T>> for HostArgument<'a> {
    fn from(In(values): In<'a, T>) -> Self {
        Self::slice::<T>(Host::Read(bytemuck::cast_slice(values)), true)
    }
}

impl<'a, T: bytemuck::Pod + Into<Argument>> From<Out<'a, T>> for HostArgument<'a> {
    fn from(Out(values): Out<'a, T>) -> Self {
        Self::slice::<T>(Host::Written(bytemuck::cast_slice_mut(values)), false)
    }
}

impl<'a, T: bytemuck::Pod + Into<Argument>> From<InOut<'a, T>> for HostArgument<'a> {
    fn from(InOut(values): InOut<'a, T>) -> Self {
        Self::slice::<T>(Host::Written(bytemuck::cast_slice_mut(values)), true)
    }
}

impl<'a> HostArgument<'a> {
    fn slice<T: bytemuck::Zeroable + Into<Argument>>(host: Host<'a>, uploads: bool) -> Self {
        let element = match T::zeroed().into().kind() {
            Kind::Value(element) => Some(element),
            _ => None,
        };
        Self(Given::Slice { host, uploads, element })
    }

    /// Memory of the device for a slice, with what the kernel reads of it.
    fn upload(&self, context: &Context) -> Result<Option<PoolBlock>> {
        let Given::Slice { host, uploads, .. } = &self.0 else { return Ok(None) };
        let bytes: &[u8] = match host {
            Host::Read(bytes) => bytes,
            Host::Written(bytes) => bytes,
        };
        let memory = context.pool().alloc(context.stream(), bytes.len())?;
        if *uploads {
            context.stream().upload(memory.slice(..)?, bytes)?;
        }
        Ok(Some(memory))
    }

    /// What the kernel gets; `memory` is that of [`HostArgument::upload`].
    fn argument(&self, memory: Option<&PoolBlock>) -> Result<Argument> {
        Ok(match (&self.0, memory) {
            (Given::Argument(argument), _) => argument.clone(),
            (Given::Slice { element, .. }, Some(memory)) => {
                Argument::array(memory.slice(..)?, *element)
            }
            (Given::Slice { .. }, None) => Argument::value(0_u64),
        })
    }

    /// Starts to copy back what the kernel wrote.
    fn download(&self, context: &Context, memory: Option<&PoolBlock>) -> Result<Option<Readback>> {
        match (&self.0, memory) {
            (Given::Slice { host: Host::Written(_), .. }, Some(memory)) => {
                Ok(Some(context.stream().download(memory.slice(..)?)?))
            }
            _ => Ok(None),
        }
    }

    /// Waits for what was copied back, and gives it to the host.
    fn finish(&mut self, read: Option<Readback>) -> Result<()> {
        if let (Given::Slice { host: Host::Written(bytes), .. }, Some(read)) = (&mut self.0, read) {
            bytes.copy_from_slice(&read.wait()?);
        }
        Ok(())
    }
}

impl Kernel {
    /// Runs it on the stream of `context` with slices of the host among its arguments: they get memory of the context's
    /// pool for the time of the launch, and what the kernel wrote has come back when this returns.
    ///
    /// ```
    /// use warpaint::{
    ///     device::{Device, LaunchConfig},
    ///     kernel::{Context, In, Out, Source},
    /// };
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new(
    ///     "__global__ void times(float *out, const float *a, float by) { out[threadIdx.x] = by * a[threadIdx.x]; }",
    /// );
    /// let times = context.module(&source)?.kernel("times")?;
    /// let (a, mut out) = ([1.0f32, 2.5, -3.0], [0.0f32; 3]);
    /// let arguments = &mut [Out(&mut out).into(), In(&a).into(), 2.0f32.into()];
    /// // SAFETY: three threads, three elements of each.
    /// unsafe { times.call(&context, &LaunchConfig::new(1, 3), arguments)? };
    /// assert_eq!(out, [2.0, 5.0, -6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As [`Kernel::launch`].
    ///
    /// # Errors
    /// As [`Kernel::launch`]; [`device::Error::OutOfMemory`](crate::device::Error::OutOfMemory); those of the kernel,
    /// and of work before it on the stream.
    #[expect(unsafe_code, reason = "a kernel's accesses cannot be proved on an NVIDIA device")]
    pub unsafe fn call(
        &self,
        context: &Context,
        config: &LaunchConfig,
        arguments: &mut [HostArgument<'_>],
    ) -> Result<()> {
        let memory = arguments.iter().map(|argument| argument.upload(context));
        let memory = memory.collect::<Result<Vec<_>>>()?;
        let both = || arguments.iter().zip(memory.iter().map(Option::as_ref));
        let given = both().map(|(argument, memory)| argument.argument(memory));
        let given = given.collect::<Result<Vec<_>>>()?;
        // SAFETY: the caller's duties are passed on; the memory of slices is there until what is read of it has come.
        unsafe { self.launch(context.stream(), config, &given)? };
        let reads = both().map(|(argument, memory)| argument.download(context, memory));
        let reads = reads.collect::<Result<Vec<_>>>()?;
        arguments.iter_mut().zip(reads).try_for_each(|(argument, read)| argument.finish(read))
    }
}

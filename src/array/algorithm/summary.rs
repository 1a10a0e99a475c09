//! Statistics of an array by reduction on the device.
//!
//! Enters: memory of a device, and what elements lie there. Leaves: statistics of each component. Must not know:
//! `scene`, `array::expression`.

mod statistics;
mod values;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    compile::{self, Compiled, Compiler, Outcome, Request, Target},
    device::{self, Arguments, Device, Function, LaunchConfig, Memory, Readback, Slice, Stream},
    element::{Element, Part, Scalar, Type},
};
pub(in crate::array) use statistics::Partial;
pub use {statistics::Statistics, values::Values};

/// Threads of a block, as in `summary.cuh`.
const BLOCK: u32 = 256;
/// Values of a thread, where there are so many: to combine those of a block's threads costs as much as some more of
/// them.
const EACH: u64 = 4;
/// Blocks for each multiprocessor: enough to hide memory latency, few enough to combine in one block.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 8;

/// The kernel that combines the blocks' results.
const COMBINE: &str = "warpaint::summary::summarize_partials";

/// Why statistics cannot be taken.
///
/// ```
/// use warpaint::array::{Summary, SummaryError};
/// use warpaint::{compile::Target, device::Device, element::{Element, Scalar}, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let [float, double] = [Scalar::F32, Scalar::F64].map(Element::scalar);
/// let summary = Summary::new(context.compiler(), context.device(), Target::CPU, [float])?;
/// let memory = context.device().alloc(8)?;
/// let refused = summary.enqueue(context.stream(), memory.slice(..)?, double);
/// assert!(matches!(refused, Err(SummaryError::NoKernel { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The compiler could not run.
    #[error(transparent)]
    Compile(#[from] compile::Error),
    /// The device refused.
    #[error(transparent)]
    Device(#[from] device::Error),
    /// The reduction kernels themselves did not compile, which only another compiler version can cause.
    #[error("the statistics kernels do not compile: {log}")]
    Rejected {
        /// The compiler's log.
        log: String,
    },
    /// The kernels were compiled for other element types.
    #[error("no statistics kernel was compiled for `{element}`")]
    NoKernel {
        /// The element type that is missing.
        element: String,
    },
}

/// The reduction kernels for a set of element types, loaded on a device.
///
/// ```
/// use warpaint::{array::{GpuArray, Summary}, device::Device, element::Element, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let Some(float2) = Element::parse("float2") else { panic!("CUDA has it") };
/// let summary = Summary::new(context.compiler(), context.device(), context.target(), [float2])?;
/// let points = GpuArray::from_shape(&context, &[3, 2], &[1.0f32, 10.0, 2.0, f32::NAN, 6.0, 30.0])?;
/// let statistics = summary.enqueue(context.stream(), points.memory()?, float2)?.wait()?;
/// let [x, y] = &statistics[..] else { panic!("two components") };
/// assert_eq!((x.min, x.max, x.mean), (1.0, 6.0, 3.0));
/// assert_eq!((y.mean, y.std, y.nan), (20.0, 10.0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Summary {
    kernels: BTreeMap<Values, Function>,
    combine: Function,
    blocks: u32,
    scratch: ScratchPool,
}

/// Device memory that one reduction needs. Kept, because to free memory waits for the whole device.
#[derive(Debug)]
struct Scratch {
    partials: Memory,
    results: Memory,
}

/// Compiles kernels of ours, or takes them from the cache.
pub(super) fn compiled(compiler: &Compiler, request: &Request) -> Result<Compiled, Error> {
    match compiler.compile(request)? {
        Outcome::Compiled(compiled) => Ok(compiled),
        Outcome::Rejected { log, .. } => Err(Error::Rejected { log }),
    }
}

type ScratchPool = Arc<Mutex<Vec<Scratch>>>;

impl Summary {
    /// Device functions for kernels of the caller's own: see [`Summary::enqueue_kernel`].
    pub const LIBRARY: &str = include_str!("summary.cuh");

    /// What kernels that use [`Summary::LIBRARY`] read `scalar` as: half precision is a structure of the library's.
    ///
    /// ```
    /// # use warpaint::{array::Summary, element::Scalar};
    /// assert_eq!(Summary::scalar_name(Scalar::F64), "double");
    /// assert!(Summary::LIBRARY.contains("struct Half {"));
    /// assert_eq!(Summary::scalar_name(Scalar::F16), "warpaint::summary::Half");
    /// ```
    pub fn scalar_name(scalar: Scalar) -> &'static str {
        match scalar {
            Scalar::F16 => "warpaint::summary::Half",
            Scalar::BF16 => "warpaint::summary::BFloat16",
            other => other.name(),
        }
    }

    /// Compiles (or takes from the cache) and loads the kernels for `elements`.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn new(
        compiler: &Compiler,
        device: &Device,
        target: Target,
        elements: impl IntoIterator<Item = Element>,
    ) -> Result<Self, Error> {
        Self::of_values(compiler, device, target, elements.into_iter().map(Values::Elements))
    }

    /// As [`new`](Self::new), for fields of structures, too: [`enqueue_parts`](Self::enqueue_parts) has an example.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn of_values(
        compiler: &Compiler,
        device: &Device,
        target: Target,
        values: impl IntoIterator<Item = Values>,
    ) -> Result<Self, Error> {
        let named: BTreeMap<Values, String> =
            values.into_iter().map(|values| (values, values.kernel_name())).collect();
        let request = Self::request_of_values(named.keys().copied(), target);
        let compiled = compiled(compiler, &request)?;
        let module = device.load(&compiled.ptx)?;
        let function = |expression: &str| {
            module.function(compiled.names.get(expression).map_or(expression, String::as_str))
        };
        Ok(Self {
            kernels: named
                .iter()
                .map(|(&values, name)| Ok((values, function(name)?)))
                .collect::<Result<_, device::Error>>()?,
            combine: function(COMBINE)?,
            blocks: device.info().multiprocessors.max(1) * BLOCKS_PER_MULTIPROCESSOR,
            scratch: ScratchPool::default(),
        })
    }

    /// What the kernels for `elements` ask the compiler for.
    ///
    /// ```
    /// # use warpaint::{array::Summary, compile::Target, element::{Element, Scalar}};
    /// let request = Summary::request([Element::vector(Scalar::F32, 4)], Target::CPU);
    /// assert_eq!(request.name_expressions[0], "warpaint::summary::summarize<float, 4>");
    /// ```
    pub fn request(elements: impl IntoIterator<Item = Element>, target: Target) -> Request {
        Self::request_of_values(elements.into_iter().map(Values::Elements), target)
    }

    /// As [`request`](Self::request), for fields of structures, too.
    ///
    /// ```
    /// # use warpaint::{array::{Summary, Values}, compile::Target, element::{Element, Scalar}};
    /// let request = Summary::request_of_values([Values::Fields(Element::vector(Scalar::F64, 2))], Target::CPU);
    /// assert_eq!(request.name_expressions[0], "warpaint::summary::summarize_fields<double, 2>");
    /// ```
    pub fn request_of_values(values: impl IntoIterator<Item = Values>, target: Target) -> Request {
        let source = concat!(include_str!("summary.cuh"), include_str!("summary.cu"));
        let mut request = Request::new("summary.cu", source, target);
        request.name_expressions =
            values.into_iter().map(Values::kernel_name).chain([COMBINE.to_owned()]).collect();
        request
    }

    /// Puts the reduction of `data`, `element`s one behind the other, on `stream`.
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, Summary}, device::Device, element::{Element, Scalar}, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let int = Element::scalar(Scalar::I32);
    /// # let summary = Summary::new(context.compiler(), context.device(), context.target(), [int])?;
    /// let a = GpuArray::from_slice(&context, &[1, 2, 3, 6])?;
    /// let whole = summary.enqueue(context.stream(), a.memory()?, int)?;
    /// let front = summary.enqueue(context.stream(), a.memory()?.slice(..8)?, int)?;
    /// assert_eq!((whole.wait()?[0].mean, front.wait()?[0].mean), (3.0, 1.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoKernel`] for an element type that was not asked for; the device's errors.
    #[expect(unsafe_code, reason = "a kernel launch")]
    pub fn enqueue(
        &self,
        stream: &Stream,
        data: Slice<'_>,
        element: Element,
    ) -> Result<Pending, Error> {
        let kernel = self.kernel(Values::Elements(element))?;
        let count = (data.bytes() / element.bytes()) as u64;
        let mut arguments = Arguments::new();
        arguments.push(&data.address());
        // SAFETY: the kernel reads `count` elements of `data`, which the caller's borrow keeps.
        unsafe { self.enqueue_kernel(stream, kernel, arguments, count, element.lanes) }
    }

    /// Puts the reductions of `data`, elements of the type `of` one behind the other, on `stream`: one for each of its
    /// [parts](Type::parts).
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, Summary, Values}, device::Device, kernel::Context};
    /// use warpaint::element::{Element, Part, Scalar, Structure, Type};
    /// # let context = Context::new(Device::cpu()?)?;
    ///
    /// // struct Sample { int id; float value; };
    /// let part = |path: &str, scalar, offset| {
    ///     Part { path: path.into(), element: Element::scalar(scalar), offset, count: 1 }
    /// };
    /// let parts = vec![part("id", Scalar::I32, 0), part("value", Scalar::F32, 4)];
    /// let sample = Type::from(Structure { name: "Sample".into(), bytes: 8, parts });
    /// let summary =
    ///     Summary::of_values(context.compiler(), context.device(), context.target(), Values::of(&sample))?;
    /// let samples = GpuArray::from_slice(&context, &[1, 2.5f32.to_bits() as i32, 2, 3.5f32.to_bits() as i32])?;
    /// let mut statistics = Vec::new();
    /// for pending in summary.enqueue_parts(context.stream(), samples.memory()?, &sample)? {
    ///     statistics.extend(pending.wait()?);
    /// }
    /// assert_eq!((statistics[0].sum, statistics[1].mean), (3.0, 3.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    pub fn enqueue_parts(
        &self,
        stream: &Stream,
        data: Slice<'_>,
        of: &Type,
    ) -> Result<Vec<Pending>, Error> {
        match of {
            Type::Element(element) => Ok(vec![self.enqueue(stream, data, *element)?]),
            Type::Structure(structure) => {
                let fields = structure.parts.iter();
                fields.map(|part| self.enqueue_field(stream, data, part, structure.bytes)).collect()
            }
        }
    }

    /// Puts the reduction of a field on `stream`, of structures of `stride` bytes.
    #[expect(unsafe_code, reason = "a kernel launch")]
    fn enqueue_field(
        &self,
        stream: &Stream,
        data: Slice<'_>,
        part: &Part,
        stride: usize,
    ) -> Result<Pending, Error> {
        let kernel = self.kernel(Values::Fields(part.element))?;
        let structures = data.bytes() / stride.max(1);
        // The field of the last one is the last that is read.
        let all = data.slice(part.offset.min(data.bytes())..)?;
        let is_inside = part.offset + part.bytes() <= stride;
        let count = if is_inside { (structures * part.count) as u64 } else { 0 };
        let mut arguments = Arguments::new();
        arguments.push(&all.address()).push(&(stride as u64)).push(&(part.count.max(1) as u64));
        // SAFETY: the kernel reads the field of each structure that lies in `data` as a whole, and the field lies in
        // its structure; the caller's borrow keeps `data`.
        unsafe { self.enqueue_kernel(stream, kernel, arguments, count, part.element.lanes) }
    }

    fn kernel(&self, values: Values) -> Result<&Function, Error> {
        let missing = || Error::NoKernel { element: values.element().to_string() };
        self.kernels.get(&values).ok_or_else(missing)
    }

    /// Puts a reduction by another kernel on `stream`: one that takes `arguments`, a count (`unsigned long long`) and a
    /// `warpaint::summary::Partial *`, and hands the last two to [`Summary::LIBRARY`]'s `summarize_values` for `lanes`
    /// components.
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, Summary}, device::{Arguments, Device}, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let summary = Summary::new(context.compiler(), context.device(), context.target(), [])?;
    /// let source = String::from(Summary::LIBRARY) + "
    ///     __global__ void squares(const float *x, unsigned long long n, warpaint::summary::Partial *out) {
    ///         warpaint::summary::summarize_values<1>(n, out, [=](unsigned long long i, int) { return x[i] * x[i]; });
    ///     }";
    /// let squares = context.module(&Source::new(source))?.kernel("squares")?;
    /// let x = GpuArray::from_slice(&context, &[1.0f32, -2.0, 3.0])?;
    /// let mut arguments = Arguments::new();
    /// arguments.push(&x.memory()?.address());
    /// // SAFETY: the kernel reads the three elements of `x`, which is kept until they have been read.
    /// let pending = unsafe { summary.enqueue_kernel(context.stream(), squares.function(), arguments, 3, 1)? };
    /// assert_eq!(pending.wait()?[0].sum, 14.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As for [`Stream::launch`]: what the kernel reads through `arguments` must be there until it has ended.
    ///
    /// # Errors
    /// The device's.
    #[expect(unsafe_code, reason = "kernel launches")]
    pub unsafe fn enqueue_kernel(
        &self,
        stream: &Stream,
        kernel: &Function,
        mut arguments: Arguments,
        count: u64,
        lanes: u8,
    ) -> Result<Pending, Error> {
        let blocks = count.div_ceil(u64::from(BLOCK) * EACH).clamp(1, self.blocks.into()) as u32;
        let scratch = self.take_scratch(&stream.device())?;
        let results = scratch.results.slice(..usize::from(lanes) * size_of::<Partial>())?;

        arguments.push(&count).push(&scratch.partials.address());
        // SAFETY: the kernel writes one partial result a block and lane, for which `partials` has room; `Pending` keeps
        // them until it has ended. The caller answers for the rest.
        unsafe { stream.launch(kernel, &LaunchConfig::new(blocks, BLOCK), &arguments)? };

        let lanes = u32::from(lanes);
        let mut arguments = Arguments::new();
        arguments
            .push(&scratch.partials.address())
            .push(&blocks)
            .push(&lanes)
            .push(&results.address());
        // SAFETY: reads what the launch before it wrote and writes one result a lane, the size of `results`.
        unsafe { stream.launch(&self.combine, &LaunchConfig::new(lanes, BLOCK), &arguments)? };

        let readback = stream.download(results)?;
        Ok(Pending { readback, scratch, pool: self.scratch.clone() })
    }

    fn take_scratch(&self, device: &Device) -> Result<Scratch, Error> {
        const LANES: usize = 4;
        let kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(
            || {
                let bytes = LANES * size_of::<Partial>();
                let partials = device.alloc(self.blocks as usize * bytes)?;
                Ok(Scratch { partials, results: device.alloc(bytes)? })
            },
            Ok,
        )
    }
}

/// Statistics on their way.
///
/// ```
/// use warpaint::{array::{GpuArray, Summary}, device::Device, element::{Element, Scalar}, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let float = Element::scalar(Scalar::F32);
/// let summary = Summary::new(context.compiler(), context.device(), context.target(), [float])?;
/// let a = GpuArray::full(&context, &[1000], 0.5f32)?;
/// let pending = summary.enqueue(context.stream(), a.memory()?, float)?;
/// context.stream().synchronize()?; // or whatever else there is to do meanwhile
/// assert!(pending.is_ready()?);
/// assert_eq!(pending.wait()?[0].sum, 500.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Pending {
    readback: Readback,
    scratch: Scratch,
    pool: ScratchPool,
}

impl Pending {
    /// Whether [`Pending::wait`] would return at once.
    ///
    /// # Errors
    /// An error of the stream's earlier work.
    pub fn is_ready(&self) -> device::Result<bool> {
        self.readback.is_ready()
    }

    /// Where they will be on the device, for work that is put on the same stream before they are waited for.
    #[cfg(feature = "gl")]
    pub(super) fn results(&self) -> device::Result<Slice<'_>> {
        self.scratch.results.slice(..)
    }

    /// The statistics of each component.
    ///
    /// # Errors
    /// An error of the stream's earlier work.
    pub fn wait(self) -> device::Result<Vec<Statistics>> {
        let Self { readback, scratch, pool } = self;
        let bytes = readback.wait()?;
        // The kernels have ended: another reduction may use the memory, on whatever stream.
        pool.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        Ok(bytes
            .chunks_exact(size_of::<Partial>())
            .map(|chunk| bytemuck::pod_read_unaligned::<Partial>(chunk).into())
            .collect())
    }
}

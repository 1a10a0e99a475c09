//! A kernel that knows its parameters.

use super::{Argument, Error, Result};
use crate::{
    cuda::{KernelParameter, Signature},
    device::{Arguments, Function, FunctionInfo, LaunchConfig, Stream},
};

/// A kernel of a module, with the parameters that its source declares.
///
/// ```
/// use warpaint::{array::GpuArray, device::{Device, LaunchConfig}, kernel::{Context, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("namespace field {
/// __global__ void scale(float *x, float by, int n) {
///     int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n) x[i] *= by;
/// }}");
/// let scale = context.module(&source)?.kernel("field::scale")?;
/// let x = GpuArray::from_slice(&context, &[1.0f32, 2.5, -3.0])?;
/// let config = LaunchConfig::over(x.len(), 128);
/// // SAFETY: the kernel uses the elements that `n` says.
/// unsafe { scale.launch(context.stream(), &config, &[x.argument()?, 2.0f32.into(), 3.into()])? };
/// assert_eq!(x.to_vec()?, [2.0, 5.0, -6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kernel {
    name: Box<str>,
    function: Function,
    signature: Option<Signature>,
}

impl Kernel {
    pub(super) fn new(name: &str, function: Function, signature: Option<Signature>) -> Self {
        // A declaration whose parameters come from a macro, say, is not what was compiled.
        let compiled = function.info().parameters.len();
        let signature = signature.filter(|signature| signature.parameters.len() == compiled);
        Self { name: name.into(), function, signature }
    }

    /// Its name in the source.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("template<int N> __global__ void fill(int *x) { *x = N; }").instance("fill<3>");
    /// let module = context.module(&source)?;
    /// assert_eq!(module.kernel("fill<3>")?.name(), "fill<3>");
    /// assert!(module.ptx().contains("_Z4fillILi3EEvPi")); // what the device calls it
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it needs and allows.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void run(int n, double x) { __shared__ float s[64]; s[n] = x; }");
    /// let run = context.module(&source)?.kernel("run")?;
    /// assert_eq!(run.info().parameters[1].offset, 8);
    /// assert_eq!(run.info().argument_bytes(), 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn info(&self) -> &FunctionInfo {
        self.function.info()
    }

    /// The loaded function.
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void run(int *x) { x[threadIdx.x] = threadIdx.x; }");
    /// let run = context.module(&source)?.kernel("run")?;
    /// let block = run.function().suggested_block(0)?;
    /// assert_eq!(block % context.device().info().warp_size, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Packs `arguments` once they are known to fit its parameters one by one. Packed arguments can be launched
    /// any number of times.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::{Device, LaunchConfig}, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void add(int *x, int v) { x[threadIdx.x] += v; }");
    /// let add = context.module(&source)?.kernel("add")?;
    /// let x = GpuArray::from_slice(&context, &[1, 2])?;
    /// let packed = add.arguments(&[x.argument()?, 10.into()])?;
    /// for _ in 0..3 {
    ///     // SAFETY: two threads, two elements.
    ///     unsafe { context.stream().launch(add.function(), &LaunchConfig::new(1, 2), &packed)? };
    /// }
    /// assert_eq!(x.to_vec()?, [31, 32]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ArgumentCount`]; [`Error::Argument`] naming the first parameter that does not fit.
    pub fn arguments(&self, arguments: &[Argument]) -> Result<Arguments> {
        let expected = &self.function.info().parameters;
        if expected.len() != arguments.len() {
            let (expected, found) = (expected.len(), arguments.len());
            return Err(Error::ArgumentCount { kernel: self.name().to_owned(), expected, found });
        }
        let mut packed = Arguments::new();
        for (index, argument) in arguments.iter().enumerate() {
            self.check(index, argument)?;
            let ctype = self.declared(index).map(|parameter| &parameter.ctype);
            packed.push_bytes(argument.bytes(), argument.align_as(ctype));
        }
        Ok(packed)
    }

    /// The parameter `index`, where the source shows it.
    fn declared(&self, index: usize) -> Option<&KernelParameter> {
        self.signature.as_ref()?.parameters.get(index)
    }

    /// That `argument` fits the parameter `index`, which there is.
    pub(super) fn check(&self, index: usize, argument: &Argument) -> Result<()> {
        let declared = self.declared(index);
        let bytes = self.function.info().parameters[index].bytes;
        let fits = argument.bytes().len() == bytes
            && declared.is_none_or(|parameter| argument.fits(&parameter.ctype));
        if fits {
            return Ok(());
        }
        Err(Error::Argument {
            kernel: self.name().to_owned(),
            parameter: match declared {
                Some(parameter) if !parameter.name.is_empty() => parameter.name.clone(),
                _ => index.to_string(),
            },
            expected: match declared {
                Some(parameter) if argument.fits(&parameter.ctype) => {
                    format!("{} of {bytes} bytes", parameter.text)
                }
                Some(parameter) => parameter.text.clone(),
                None => format!("{bytes} bytes"),
            },
            found: argument.kind().to_string(),
        })
    }

    /// Puts it on `stream`.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::{Device, LaunchConfig}, index, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let source = Source::new("__global__ void count(int *x) { x[threadIdx.x] = threadIdx.x; }");
    /// # let count = context.module(&source)?.kernel("count")?;
    /// let x = GpuArray::<i32>::zeros(&context, &[6])?;
    /// let behind = x.slice(&index![2..])?;
    /// // SAFETY: four threads, four elements from the third on.
    /// unsafe { count.launch(context.stream(), &LaunchConfig::new(1, 4), &[behind.argument()?])? };
    /// assert_eq!(x.to_vec()?, [0, 0, 0, 1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As [`Stream::launch`]: the kernel must stay inside the memory that its arguments give it.
    ///
    /// # Errors
    /// As [`Kernel::arguments`] and [`Stream::launch`].
    #[expect(unsafe_code, reason = "a kernel's accesses cannot be proved on an NVIDIA device")]
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        config: &LaunchConfig,
        arguments: &[Argument],
    ) -> Result<()> {
        let arguments = self.arguments(arguments)?;
        // SAFETY: the caller's duties are passed on unchanged.
        unsafe { stream.launch(&self.function, config, &arguments)? };
        Ok(())
    }
}

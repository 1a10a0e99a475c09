//! A module compiled from source.

use std::{collections::BTreeMap, sync::Arc};

use super::{Context, Error, Kernel, Result, Source};
use crate::{
    compile::{Compiled, Outcome},
    cuda::{self, Signature},
    device::{self, LinkInput, Module, Slice},
    diagnostic::Diagnostic,
};

/// Compiled source, loaded on a device.
///
/// ```
/// use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Source}};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = Source::new("__global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }");
/// let twice = context.module(&source)?.kernel("twice")?;
/// let x = context.pool().alloc(context.stream(), 12)?;
/// context.stream().upload(x.slice(..)?, bytemuck::cast_slice(&[1.0f32, 2.5, -3.0]))?;
/// // SAFETY: three threads, three elements.
/// unsafe { twice.launch(context.stream(), &LaunchConfig::new(1, 3), &[x.slice(..)?.into()])? };
/// let result = context.stream().download(x.slice(..)?)?.wait()?;
/// assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&result), [2.0, 5.0, -6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SourceModule {
    module: Module,
    ptx: Arc<str>,
    names: Arc<BTreeMap<String, String>>,
    log: Arc<str>,
    warnings: Arc<[Diagnostic]>,
    kernels: Arc<[Signature]>,
    not_guarded: Option<Arc<str>>,
}

/// Compiled source.
struct Piece {
    name: String,
    ptx: Arc<str>,
    names: BTreeMap<String, String>,
    log: String,
    warnings: Vec<Diagnostic>,
    kernels: Vec<Signature>,
}

impl Piece {
    fn compile(context: &Context, source: &Source) -> Result<Self> {
        let kernels = cuda::scan(source.name(), source.text());
        let mut request = source.request(context.target());
        let plain = kernels.iter().filter(|kernel| kernel.defined && !kernel.template);
        request.name_expressions.extend(plain.map(|kernel| kernel.name.clone()));
        request.name_expressions.sort();
        request.name_expressions.dedup();
        let kept = source.write().map_err(Error::Keep)?;
        let keep = |extension: &str, text: &str| match &kept {
            Some(path) => std::fs::write(path.with_extension(extension), text).map_err(Error::Keep),
            None => Ok(()),
        };
        let compiled = match context.compiler().compile(&request)? {
            Outcome::Compiled(compiled) => compiled,
            Outcome::Rejected { diagnostics, log, .. } => {
                keep("log", &log)?;
                return Err(Error::Rejected { name: request.name, diagnostics, log });
            }
        };
        keep("ptx", &compiled.ptx)?;
        keep("log", &compiled.log)?;
        let Compiled { ptx, names, log, diagnostics: warnings, .. } = compiled;
        Ok(Self { name: request.name, ptx, names, log, warnings, kernels })
    }
}

impl Context {
    /// Compiles `source` and loads it.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Error, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void twice(float *x) {\n    x[threadIdx.x] *= two;\n}").named("twice.cu");
    /// let Err(Error::Rejected { diagnostics, .. }) = context.module(&source) else { panic!("there is no `two`") };
    /// assert_eq!((diagnostics[0].line, diagnostics[0].column), (Some(2), Some(23)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rejected`] for mistakes in the source; the compiler's and the device's.
    pub fn module(&self, source: &Source) -> Result<SourceModule> {
        let piece = Piece::compile(self, source)?;
        let (module, not_guarded) = self.load(&piece.ptx)?;
        let not_guarded = not_guarded.map(Arc::from);
        Ok(SourceModule { not_guarded, ..SourceModule::of(module, piece.ptx.clone(), vec![piece]) })
    }

    /// Compiles sources that use each other's functions and variables, and links them, with other code too, to one
    /// module.
    ///
    /// ```
    /// use warpaint::{device::Device, kernel::{Context, Source}};
    ///
    /// let twice = "__device__ int twice(int x) { return 2 * x; }";
    /// let kernel = "__device__ int twice(int x); __global__ void run(int *x) { *x = twice(*x); }";
    /// let sources = [Source::new(twice).named("twice.cu"), Source::new(kernel).named("run.cu")];
    /// let context = Context::new(Device::cpu()?)?;
    /// assert!(context.link(&sources, &[])?.kernel("run").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rejected`] for mistakes in a source; the compiler's; the device's, as of
    /// [`Device::link`](crate::device::Device::link).
    pub fn link(&self, sources: &[Source], code: &[LinkInput<'_>]) -> Result<SourceModule> {
        let compile = |source: &Source| Piece::compile(self, &source.clone().relocatable());
        let pieces: Vec<_> = sources.iter().map(compile).collect::<Result<_>>()?;
        let inputs = pieces.iter().map(|piece| LinkInput::ptx(&piece.name, &piece.ptx));
        let inputs: Vec<_> = inputs.chain(code.iter().copied()).collect();
        let module = self.device().link(&inputs)?;
        let texts: Vec<_> = pieces.iter().map(|piece| &*piece.ptx).collect();
        Ok(SourceModule::of(module, texts.join("\n").into(), pieces))
    }
}

impl SourceModule {
    fn of(module: Module, ptx: Arc<str>, pieces: Vec<Piece>) -> Self {
        let (mut names, mut log) = (BTreeMap::new(), String::new());
        let (mut warnings, mut kernels) = (Vec::new(), Vec::new());
        for piece in pieces {
            names.extend(piece.names);
            log.push_str(&piece.log);
            warnings.extend(piece.warnings);
            kernels.extend(piece.kernels);
        }
        Self {
            module,
            ptx,
            names: Arc::new(names),
            log: log.into(),
            warnings: warnings.into(),
            kernels: kernels.into(),
            not_guarded: None,
        }
    }

    /// The kernel that the source calls so: `advance`, `field::advance`, or the instance of a template that
    /// was announced by [`Source::instance`].
    ///
    /// ```
    /// # use warpaint::{device::{self, Device}, kernel::{Context, Error, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("namespace field { __global__ void advance(float *x) {} }");
    /// let module = context.module(&source)?;
    /// assert!(module.kernel("field::advance").is_ok());
    /// let missing = module.kernel("advance");
    /// assert!(matches!(missing, Err(Error::Device(device::Error::NoSuchFunction { .. }))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`device::Error::NoSuchFunction`] with the names that there are.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let lowered = self.names.get(name).map_or(name, String::as_str);
        let stem = name.split('<').next().unwrap_or(name).trim();
        let of_name = |kernel: &&Signature| kernel.name == stem && kernel.defined;
        let signature = self.kernels.iter().find(of_name).map(|kernel| kernel.instance(name));
        let function =
            self.module.function(lowered).map_err(|error| self.in_words_of_source(error))?;
        Ok(Kernel::new(name, function, signature))
    }

    /// An error that lists kernels, with the names that the source gives them.
    fn in_words_of_source(&self, mut error: device::Error) -> device::Error {
        if let device::Error::NoSuchFunction { available, .. } = &mut error {
            for (name, lowered) in self.names.iter() {
                available
                    .iter_mut()
                    .filter(|found| *found == lowered)
                    .for_each(|found| found.clone_from(name));
            }
        }
        error
    }

    /// The memory of a `__device__` or `__constant__` variable, by its lowered name (that of the source where
    /// it is `extern "C"` or in no namespace).
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Out, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__constant__ float weights[2];
    ///     __global__ void copy(float *x) { x[threadIdx.x] = weights[threadIdx.x]; }");
    /// let module = context.module(&source)?;
    /// context.stream().upload(module.global("weights")?, bytemuck::cast_slice(&[0.25f32, 0.75]))?;
    /// let mut x = [0.0f32; 2];
    /// // SAFETY: two threads, two elements of each.
    /// unsafe { module.kernel("copy")?.call(&context, &LaunchConfig::new(1, 2), &mut [Out(&mut x).into()])? };
    /// assert_eq!(x, [0.25, 0.75]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`device::Error::NoSuchGlobal`].
    pub fn global(&self, name: &str) -> Result<Slice<'_>> {
        Ok(self.module.global(name)?)
    }

    /// The PTX; where several sources were linked, that of all of them.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let module = context.module(&Source::new("__global__ void root(float *x) { *x = sqrtf(*x); }"))?;
    /// assert!(module.ptx().contains("sqrt.rn.f32")); // correctly rounded
    /// let fast = Source::new("__global__ void root(float *x) { *x = sqrtf(*x); }").option("--use_fast_math");
    /// assert!(context.module(&fast)?.ptx().contains("sqrt.approx.ftz.f32"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// All that the compiler said.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The compiler's warnings.
    ///
    /// ```
    /// # use warpaint::{device::Device, diagnostic::Severity, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void k() {\n    int unused;\n}").named("k.cu");
    /// let module = context.module(&source)?;
    /// let [warning] = module.warnings() else { panic!("one variable is not used") };
    /// assert_eq!((warning.severity, warning.line, warning.column), (Severity::Warning, Some(2), Some(9)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Why it, or a function of it, is not guarded, in a context whose modules [are](Context::guarded).
    pub fn not_guarded(&self) -> Option<&str> {
        self.not_guarded.as_deref()
    }
}

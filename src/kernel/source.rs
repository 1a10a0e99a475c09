//! What a module is compiled from.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{
    compile::{Header, Request, Target},
    cuda, file,
};

/// CUDA C++ and how to compile it.
///
/// ```
/// use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Out, Source}};
///
/// let source = Source::new("template<class T> __global__ void fill(T *x, T v) { x[threadIdx.x] = v; }")
///     .named("fill.cu")
///     .instance("fill<float>")
///     .option("--use_fast_math");
/// let context = Context::new(Device::cpu()?)?;
/// let fill = context.module(&source)?.kernel("fill<float>")?;
/// let mut x = [0.0f32; 2];
/// // SAFETY: two threads, two elements.
/// unsafe { fill.call(&context, &LaunchConfig::new(1, 2), &mut [Out(&mut x).into(), 2.5f32.into()])? };
/// assert_eq!(x, [2.5, 2.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    request: Request,
    /// The device's own where there is none.
    target: Option<Target>,
    /// Where source, PTX and log are written.
    kept_in: Option<PathBuf>,
}

impl Source {
    /// CUDA C++ text. `extern "C"` is not needed: kernels are found by the names that the source gives them.
    pub fn new(text: impl Into<String>) -> Self {
        let request = Request::new("module.cu", text, Target::CPU);
        Self { request, target: None, kept_in: None }
    }

    /// The content of a file, which also names it.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Error, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("wave.cu");
    /// std::fs::write(&path, "__global__ void wave() { int x = 1.5 }")?;
    /// let Err(Error::Rejected { name, .. }) = context.module(&Source::read(&path)?) else { panic!("no `;`") };
    /// assert_eq!(name, path.display().to_string());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Whatever reading it gives; `InvalidInput` for a pipe or a device, `FileTooLarge` above 64 MiB.
    pub fn read(path: impl Into<PathBuf>) -> std::io::Result<Self> {
        let path = path.into();
        let text = file::read_regular_text(&path, file::SOURCE_LIMIT)?;
        Ok(Self::new(text).named(path.to_string_lossy()))
    }

    /// The name that diagnostics and faults use; its folder is searched for `#include "..."`.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("size.h"), "constexpr int N = 64;")?;
    /// let source = Source::new("#include \"size.h\"\n__global__ void k() { __shared__ float s[N]; s[0] = 1.0f; }");
    /// assert!(context.module(&source).is_err());
    /// let beside_it = source.named(folder.path().join("k.cu").to_string_lossy());
    /// assert!(context.module(&beside_it).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.request.name = name.into();
        self
    }

    /// A further option of NVRTC, one argument.
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Out, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void width(int *x) { *x = WIDTH; }").option("-DWIDTH=640");
    /// let mut x = [0];
    /// // SAFETY: one thread, one element.
    /// unsafe {
    ///     let width = context.module(&source)?.kernel("width")?;
    ///     width.call(&context, &LaunchConfig::new(1, 1), &mut [Out(&mut x).into()])?;
    /// }
    /// assert_eq!(x, [640]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.request.options.push(option.into());
        self
    }

    /// A further folder for `#include`.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("size.h"), "constexpr int N = 64;")?;
    /// let source = Source::new("#include <size.h>\n__global__ void k() { __shared__ float s[N]; s[0] = 1.0f; }");
    /// assert!(context.module(&source).is_err());
    /// let module = context.module(&source.include_dir(folder.path()))?;
    /// assert!(module.kernel("k").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.request.include_dirs.push(folder.into());
        self
    }

    /// A header that exists only in memory, in place of any before it of that name.
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Out, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("#include <shape.h>\n__global__ void rows(int *x) { *x = ROWS; }")
    ///     .header("shape.h", format!("constexpr int ROWS = {};", 3 * 4));
    /// let rows = context.module(&source)?.kernel("rows")?;
    /// let mut x = [0];
    /// // SAFETY: one thread, one element.
    /// unsafe { rows.call(&context, &LaunchConfig::new(1, 1), &mut [Out(&mut x).into()])? };
    /// assert_eq!(x, [12]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        let header = Header { name: name.into(), text: text.into() };
        self.request.headers.retain(|other| other.name != header.name);
        self.request.headers.push(header);
        self
    }

    /// An instance of a template that will be asked for by this name, as in `fill<float>`.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("template<class T, int N> __global__ void fill(T *x) { x[threadIdx.x] = N; }")
    ///     .instance("fill<double, 4>")
    ///     .instance("fill<int, 2>");
    /// let module = context.module(&source)?;
    /// assert_eq!(module.kernel("fill<int, 2>")?.name(), "fill<int, 2>");
    /// assert!(module.kernel("fill<float, 1>").is_err()); // never compiled
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn instance(mut self, expression: impl Into<String>) -> Self {
        self.request.name_expressions.push(expression.into());
        self
    }

    /// The virtual architecture to compile for, instead of the device's own; a device runs what was compiled for itself
    /// or an older one.
    ///
    /// ```
    /// # use warpaint::{compile::Target, device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("#if __CUDA_ARCH__ >= 800\n#error too new\n#endif\n__global__ void k() {}");
    /// assert!(context.module(&source).is_err());
    /// assert!(context.module(&source.target(Target(7, 5))).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    /// Writes what is compiled, its PTX and what the compiler said to `folder`, as files named after the source.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let folder = tempfile::tempdir()?;
    /// let source = Source::new("__global__ void k() {}").named("k.cu").keep(folder.path());
    /// let module = context.module(&source)?;
    /// assert_eq!(std::fs::read_to_string(folder.path().join("k.ptx"))?, module.ptx());
    /// assert!(folder.path().join("k.cu").is_file() && folder.path().join("k.log").is_file());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn keep(mut self, folder: impl Into<PathBuf>) -> Self {
        self.kept_in = Some(folder.into());
        self
    }

    /// A build for a debugger such as cuda-gdb: not optimised, with all that a debugger asks for, and kept in `folder`,
    /// where the debugger finds the source.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let folder = tempfile::tempdir()?;
    /// let source = Source::new("__global__ void k() {}").named("k.cu").debug(folder.path());
    /// let ptx = context.module(&source)?.ptx().to_owned();
    /// let kept = folder.path().join("k.cu");
    /// assert!(ptx.contains(&format!(".file\t1 \"{}\"", kept.display())), "{ptx}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn debug(self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let exists = Path::new(&self.request.name).is_file();
        let named = if exists { self } else { self.named_in(&folder) };
        named.option("--device-debug").keep(folder)
    }

    fn named_in(self, folder: &Path) -> Self {
        let name = folder.join(self.file_name());
        self.named(name.to_string_lossy())
    }

    fn file_name(&self) -> OsString {
        let name = Path::new(&self.request.name).file_name();
        name.map_or_else(|| "module.cu".into(), OsString::from)
    }

    /// To be linked with others.
    pub(super) fn relocatable(self) -> Self {
        self.option("--relocatable-device-code=true")
    }

    /// Writes the source where it is to be kept; the path without its extension.
    ///
    /// # Errors
    /// Whatever writing it gives.
    pub(super) fn write(&self) -> std::io::Result<Option<PathBuf>> {
        let Some(folder) = &self.kept_in else { return Ok(None) };
        std::fs::create_dir_all(folder)?;
        let path = folder.join(self.file_name());
        std::fs::write(&path, &self.request.source)?;
        Ok(Some(path.with_extension("")))
    }

    /// What the compiler is asked for, for a device of this target.
    pub(super) fn request(&self, target: Target) -> Request {
        let target = self.target.unwrap_or(target);
        let mut request = Request { target, ..self.request.clone() };
        request.headers.extend(built_in_headers());
        request
    }

    pub(super) fn text(&self) -> &str {
        &self.request.source
    }

    pub(super) fn name(&self) -> &str {
        &self.request.name
    }
}

/// `<warpaint/*.cuh>`, for every kernel.
pub(super) fn built_in_headers() -> Vec<Header> {
    let header = |header: &cuda::BuiltInHeader| Header {
        name: header.name.to_owned(),
        text: header.text.to_owned(),
    };
    cuda::headers().iter().map(header).collect()
}

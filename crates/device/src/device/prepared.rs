//! Launches that are checked once and done many times.

use super::{Arguments, Function, LaunchConfig, Result};

/// A kernel with a shape and arguments that were found to fit it.
///
/// [`Stream::launch_prepared`](super::Stream::launch_prepared) does it without looking at them again.
///
/// ```
/// use warpaint::device::{Arguments, Device, LaunchConfig, Prepared};
/// use warpaint::kernel::{Context, Source};
///
/// let context = Context::new(Device::cpu()?)?;
/// let (stream, x) = (context.stream(), context.device().alloc(4)?);
/// stream.upload(x.slice(..)?, &[0; 4])?;
/// let add = context.module(&Source::new("__global__ void add(int *x, int v) { *x += v; }"))?;
/// let mut arguments = Arguments::new();
/// arguments.push(&x.address()).push(&1i32);
/// let one = LaunchConfig::new(1, 1);
/// let mut launch = Prepared::new(add.kernel("add")?.function(), &one, arguments)?;
/// for _ in 0..3 {
///     // SAFETY: `x` has the `int` that the kernel changes, and lives until the download has ended.
///     unsafe { stream.launch_prepared(&launch)? };
/// }
/// assert!(launch.set_bytes(1, &10i32.to_ne_bytes()));
/// // SAFETY: as before.
/// unsafe { stream.launch_prepared(&launch)? };
/// assert_eq!(stream.download(x.slice(..)?)?.wait()?, 13i32.to_le_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prepared {
    function: Function,
    config: LaunchConfig,
    arguments: Arguments,
}

impl Prepared {
    /// Checks shape and arguments.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Device, Error, LaunchConfig, Prepared};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
    /// # let idle = Device::cpu()?.load(ptx)?.function("idle")?;
    /// let wide = Prepared::new(&idle, &LaunchConfig::new(1, 2000), Arguments::new());
    /// assert!(matches!(wide, Err(Error::InvalidLaunch { allowed: 1024, .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidLaunch`](super::Error::InvalidLaunch) naming the limit that the shape breaks,
    /// [`Error::WrongArguments`](super::Error::WrongArguments).
    pub fn new(function: &Function, config: &LaunchConfig, arguments: Arguments) -> Result<Self> {
        config.check(function, function.device_info())?;
        arguments.check(function)?;
        Ok(Self { function: function.clone(), config: *config, arguments })
    }

    /// The kernel.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The shape.
    pub fn config(&self) -> &LaunchConfig {
        &self.config
    }

    /// The arguments.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// Replaces an argument by bytes of the same length; false, and nothing done, where it has another.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Device, LaunchConfig, Prepared};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64
    /// #     .visible .entry scale(.param .u32 n, .param .f32 by) { ret; }";
    /// # let scale = Device::cpu()?.load(ptx)?.function("scale")?;
    /// let mut arguments = Arguments::new();
    /// arguments.push(&100i32).push(&1.5f32);
    /// let mut launch = Prepared::new(&scale, &LaunchConfig::new(1, 1), arguments)?;
    /// assert!(launch.set_bytes(1, &2.5f32.to_ne_bytes()));
    /// assert!(!launch.set_bytes(1, &2.5f64.to_ne_bytes())); // eight bytes
    /// assert!(!launch.set_bytes(2, &2.5f32.to_ne_bytes())); // there is no third
    /// assert_eq!(launch.arguments().bytes()[4..], 2.5f32.to_ne_bytes());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    #[must_use]
    pub fn set_bytes(&mut self, index: usize, value: &[u8]) -> bool {
        self.arguments.replace(index, value)
    }
}

//! Failed calls of the CUDA driver.

use std::fmt;

use super::{LaunchConfig, nvidia::driver::code, spelling::spelled};

/// A failed call of the CUDA driver.
///
/// ```
/// use warpaint::device::{Call, Error, LaunchConfig};
///
/// let call = Call {
///     call: "cuLaunchKernel",
///     code: 1,
///     name: "CUDA_ERROR_INVALID_VALUE".to_owned(),
///     text: "invalid argument".to_owned(),
///     device: "NVIDIA H200 (cuda:0)".to_owned(),
///     launch: Some(("_ZN5field7advanceEPf".to_owned(), LaunchConfig::new(8, 256))),
/// };
/// assert!(matches!(Error::from(Box::new(call)), Error::Call(call) if call.code == 1));
/// ```
#[derive(Clone, Debug)]
pub struct Call {
    /// The function, such as `cuMemAlloc_v2`.
    pub call: &'static str,
    /// Its result as a number.
    pub code: u32,
    /// Its result's name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub name: String,
    /// Its result in words.
    pub text: String,
    /// The device.
    pub device: String,
    /// The kernel and shape, where it was a launch.
    pub launch: Option<(String, LaunchConfig)>,
}

impl Call {
    /// Whether a kernel is to blame: one that failed, whichever call told of it, or one that could not be launched.
    ///
    /// ```
    /// # use warpaint::device::Call;
    /// let call = Call {
    ///     call: "cuStreamSynchronize",
    ///     code: 700,
    ///     name: "CUDA_ERROR_ILLEGAL_ADDRESS".to_owned(),
    ///     text: "an illegal memory access was encountered, by one of the kernels `a`, `b`".to_owned(),
    ///     device: "NVIDIA H200 (cuda:0)".to_owned(),
    ///     launch: None,
    /// };
    /// assert!(call.is_by_kernel());
    /// assert!(!Call { code: 2, text: "out of memory".to_owned(), ..call }.is_by_kernel());
    /// ```
    pub fn is_by_kernel(&self) -> bool {
        self.launch.is_some() || code::is_kernel_error(self.code)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} failed on {}: {} ({}), {}",
            self.call, self.device, self.name, self.code, self.text
        )?;
        match &self.launch {
            Some((kernel, config)) => write!(f, "; kernel `{}`, {config}", spelled(kernel)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Call {}

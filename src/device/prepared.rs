//! Launches that are checked once and done many times.

use super::{Arguments, Function, LaunchConfig, Result};

/// A kernel with a shape and arguments that were found to fit it.
///
/// [`Stream::launch_prepared`](super::Stream::launch_prepared) does it without looking at them again.
#[derive(Clone, Debug)]
pub struct Prepared {
    function: Function,
    config: LaunchConfig,
    arguments: Arguments,
}

impl Prepared {
    /// Checks shape and arguments.
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
    #[must_use]
    pub fn set_bytes(&mut self, index: usize, value: &[u8]) -> bool {
        self.arguments.replace(index, value)
    }
}

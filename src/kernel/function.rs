//! A kernel that knows its parameters.

use super::{Argument, Error, Result};
use crate::{
    device::{Arguments, Function, FunctionInfo, LaunchConfig, Stream},
    scene::signature,
};

/// A kernel of a module, with the parameters that its source declares.
#[derive(Clone, Debug)]
pub struct Kernel {
    name: Box<str>,
    function: Function,
    signature: Option<signature::Kernel>,
}

impl Kernel {
    pub(super) fn new(
        name: &str,
        function: Function,
        signature: Option<signature::Kernel>,
    ) -> Self {
        // A declaration whose parameters come from a macro, say, is not what was compiled.
        let compiled = function.info().parameters.len();
        let signature = signature.filter(|signature| signature.parameters.len() == compiled);
        Self { name: name.into(), function, signature }
    }

    /// Its name in the source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it needs and allows.
    pub fn info(&self) -> &FunctionInfo {
        self.function.info()
    }

    /// The loaded function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Packs `arguments` once they are known to fit its parameters one by one. Packed arguments can be launched
    /// any number of times.
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
            packed.push_bytes(argument.bytes(), argument.align());
        }
        Ok(packed)
    }

    /// That `argument` fits the parameter `index`, which there is.
    pub(super) fn check(&self, index: usize, argument: &Argument) -> Result<()> {
        let declared = self.signature.as_ref().map(|kernel| &kernel.parameters[index]);
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

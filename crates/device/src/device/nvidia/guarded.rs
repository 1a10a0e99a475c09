//! Guarded modules: loading them, and what is different where their kernels are launched.

#[cfg(doc)]
use super::Stream;
use super::{
    Device, Function, Module,
    guard::{Control, Known},
    jit_options::JitOptions,
};
use crate::{
    device::{Arguments, Error, Fault, GuardOptions, GuardedModule, LaunchConfig, Result},
    ptx::pass::guard::{LocalMemory, NotGuarded, record::VARIABLE},
};

impl Device {
    /// Loads PTX so that none of its kernels can harm the context: an access outside its memory does not happen and is
    /// an [`Error::Fault`] of what waits for the kernel, as a failed assertion and `trap` are, and [`Stream::cancel`]
    /// stops kernels that do not end. Where that cannot be, a function stays as it is, or the whole module, and it is
    /// said why. Where modules tell of all faults their kernels go on, and [`Device::take_reported`] gives what they
    /// told.
    ///
    /// ```no_run
    /// use warpaint::device::{GuardOptions, nvidia::{Device, JitOptions}};
    ///
    /// let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry fail() { trap; }";
    /// let (guard, jit) = (GuardOptions::default(), JitOptions::default());
    /// let (module, not_guarded) = Device::open(0)?.load_guarded(ptx, &guard, jit)?;
    /// assert!(not_guarded.is_none() && module.guarded().is_some());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn load_guarded(
        &self,
        ptx: &str,
        options: &GuardOptions<'_>,
        jit: JitOptions,
    ) -> Result<(Module, Option<NotGuarded>)> {
        let options = GuardOptions { local: LocalMemory::FromStackPointer, ..*options };
        let (text, guarded) = match GuardedModule::of(ptx, &options) {
            Ok(guarded) => guarded,
            Err(why) => return Ok((self.load_with(ptx, jit)?, Some(why))),
        };
        let module = match self.load_with(&text, jit) {
            Ok(module) => module,
            Err(Error::Load { log, .. }) => {
                let why = format!("the driver does not take it guarded: {log}");
                return Ok((self.load_with(ptx, jit)?, Some(NotGuarded { why })));
            }
            Err(error) => return Err(error),
        };
        let context = self.context();
        let (guard, block) = (self.start_guard()?, module.global(VARIABLE)?.address());
        let control = Control::new(module.image(), &guard, guarded, block)?;
        let module = module.with_guard(control).ok_or_else(|| Error::Unsupported {
            operation: "guarding a module that is used",
            device: context.info().to_string(),
        })?;
        let guarded = module.guarded();
        if let Some(guarded) = guarded.filter(|guarded| guarded.stack_bytes() > 0) {
            // What a kernel has for itself lies at the top of the same memory.
            let mut own = 0;
            for kernel in guarded.kernels() {
                own = own.max(module.function(&kernel.name)?.info().local_bytes);
            }
            let bytes = guarded.stack_bytes() as usize + own as usize;
            if let Some(control) = module.control() {
                guard.deepen(context, bytes, control)?;
            }
        }
        let not_guarded = module.guarded().and_then(GuardedModule::not_guarded);
        Ok((module, not_guarded))
    }
}

impl Device {
    /// The faults that were told since the last time of modules which go on: one at each place, at most 1,000 at a
    /// time. They come when what was launched is waited for.
    pub fn take_reported(&self) -> Vec<Fault> {
        self.guard().map_or_else(Vec::new, |guard| guard.take_reported())
    }
}

impl Function {
    /// Before a launch: the version of the kernel that is launched, and the arguments with what the guard adds to them;
    /// `None` where it adds nothing. The context is current.
    pub(super) fn guarded(
        &self,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<Option<(&Self, Arguments)>> {
        let context = self.context();
        let Some(control) = self.module().control() else { return Ok(None) };
        control.prepare(context, self.shared_name())?;
        let module = control.module();
        let Some(kernel) = module.kernel(self.name()) else { return Ok(None) };
        // How many blocks of a cooperative launch there may be was asked of the version with all checks.
        let fits = |proved: &&Self| {
            let threads = u64::from(proved.info().max_threads);
            !config.cooperative && config.block.count() <= threads
        };
        let version = module.version(kernel, config, arguments.bytes(), Known(context));
        let proved = version.and_then(|at| self.proved().get(at)).filter(fits);
        if kernel.words.is_empty() {
            return Ok(proved.map(|proved| (proved, arguments.clone())));
        }
        let words = module.words(kernel, arguments.bytes(), Known(context));
        let mut all = arguments.clone();
        all.push_bytes(&words, 8);
        Ok(Some((proved.unwrap_or(self), all)))
    }
}

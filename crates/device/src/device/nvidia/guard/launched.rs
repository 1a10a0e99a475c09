//! The guarded modules that a stream has launched kernels of: their faults are its to tell, and it stops them alone.

use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicBool, Ordering},
};

use super::{
    control::{Control, Taken},
    left::Left,
};
use crate::device::{
    Error, Fault, FaultKind, Result,
    nvidia::{Device, context::CudaContext, lock::lock},
};

/// Of one stream. One that only copies, for another thread maybe, has none, and does not take the fault away from who
/// waits for the kernel; and what a kernel of another stream's modules does wrong is not told here.
#[derive(Debug, Default)]
pub(in crate::device::nvidia) struct Launched {
    /// Whether there ever were any.
    any: AtomicBool,
    modules: Mutex<Vec<Weak<Control>>>,
    /// Of modules that are gone.
    left: Arc<Left>,
}

impl Launched {
    /// A kernel of a guarded module is launched.
    pub(in crate::device::nvidia) fn add(&self, module: &Arc<Control>) {
        let mut modules = lock(&self.modules);
        let same = |known: &Weak<Control>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(module));
        if modules.iter().any(same) {
            return;
        }
        module.launched_by(&self.left);
        modules.retain(|known| known.strong_count() > 0);
        modules.push(Arc::downgrade(module));
        self.any.store(true, Ordering::Release);
    }

    /// The modules of which `is_one` holds, as long as they are loaded.
    fn modules(&self, is_one: impl Fn(&Control) -> bool) -> Vec<Arc<Control>> {
        let modules = lock(&self.modules);
        modules.iter().filter_map(Weak::upgrade).filter(|module| is_one(module)).collect()
    }

    /// The fault of a kernel that came to an end, once; the context is current, and `wait` waits for the stream.
    ///
    /// # Errors
    /// [`Error::Fault`]; those of waiting for other work.
    #[inline]
    pub(in crate::device::nvidia) fn check(
        &self,
        device: &Device,
        wait: impl Fn() -> Result<()>,
    ) -> Result<()> {
        if !self.any.load(Ordering::Acquire) {
            return Ok(());
        }
        let context = device.context();
        if let Some(guard) = device.guard() {
            guard.tell_prints(context)?;
        }
        let with_news = self.modules(Control::has_news);
        let left = self.left.take();
        if with_news.is_empty() && left.is_none() {
            return Ok(());
        }
        let (mut told, mut cancelled) = (left, None);
        for control in with_news {
            let taken: Taken = control.take(context, &wait)?;
            told = told.or(taken.told);
            cancelled = cancelled.or(taken.cancelled);
        }
        // Where it was stopped it has not always said itself.
        let stopped = cancelled.map(|kernel| Fault::new(FaultKind::Cancelled, &kernel));
        match told.or(stopped) {
            Some(fault) => Err(Error::Fault(Box::new(fault))),
            None => Ok(()),
        }
    }

    /// Stops the kernels of its modules. The driver may wait in another thread for a kernel that is to end, and until
    /// then does nothing for this one: so all wishes come before the first call.
    pub(in crate::device::nvidia) fn cancel(&self, context: &CudaContext) -> Result<()> {
        let all = self.modules(|_| true);
        all.iter().for_each(|control| control.wish());
        context.activate()?;
        all.iter().try_for_each(|control| control.raise(context))
    }
}

//! What a generator keeps on devices.

use crate::{
    array::{Data, GpuArray, Result},
    kernel::Context,
};

/// The same array on each device that asked for it. Clones share the arrays.
#[derive(Clone, Debug)]
pub(super) struct Tables<T: Data>(Vec<GpuArray<T>>);

impl<T: Data> Default for Tables<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Data> Tables<T> {
    /// The one on the device of `context`, which is made when it is asked for first.
    ///
    /// # Errors
    /// Those of making it.
    pub(super) fn on(
        &mut self,
        context: &Context,
        make: impl FnOnce() -> Result<GpuArray<T>>,
    ) -> Result<GpuArray<T>> {
        let device = context.device().id();
        if let Some(there) = self.0.iter().find(|array| array.context().device().id() == device) {
            return Ok(there.clone());
        }
        let array = make()?;
        self.0.push(array.clone());
        Ok(array)
    }
}

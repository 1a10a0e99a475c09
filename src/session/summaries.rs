//! The kernels of statistics, made when they are needed first.

use std::{collections::BTreeSet, sync::OnceLock};

use super::Error;
use crate::{
    array::{Binning, Summary, Values},
    compile::{Compiler, Target},
    device::Device,
};

/// The statistics kernels of what some resources hold. To translate them takes as long as a scene, so they are made
/// when they are needed first.
pub(super) struct Summaries {
    device: Device,
    compiler: Compiler,
    target: Target,
    values: BTreeSet<Values>,
    made: OnceLock<Summary>,
    binning: OnceLock<Binning>,
}

impl Summaries {
    /// Those of these `values`, none of which is made as yet.
    pub(super) fn new(
        (compiler, target): (&Compiler, Target),
        device: &Device,
        values: BTreeSet<Values>,
    ) -> Self {
        Self {
            device: device.clone(),
            compiler: compiler.clone(),
            target,
            values,
            made: OnceLock::new(),
            binning: OnceLock::new(),
        }
    }

    /// What they are kernels for.
    pub(super) fn values(&self) -> &BTreeSet<Values> {
        &self.values
    }

    /// The kernels.
    ///
    /// # Errors
    /// The compiler's and the device's, when they are made.
    pub(super) fn get(&self) -> Result<&Summary, Error> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let values = self.values.iter().copied();
        let made = Summary::of_values(&self.compiler, &self.device, self.target, values)?;
        Ok(self.made.get_or_init(|| made))
    }

    /// The kernels of histograms, likewise.
    ///
    /// # Errors
    /// The compiler's and the device's, when they are made.
    pub(super) fn binning(&self) -> Result<&Binning, Error> {
        if let Some(made) = self.binning.get() {
            return Ok(made);
        }
        let scalars = self.values.iter().map(|values| values.element().scalar).collect();
        let made = Binning::new(&self.compiler, &self.device, self.target, &scalars)?;
        Ok(self.binning.get_or_init(|| made))
    }
}

//! What a session says of itself.

use super::{
    Error, Parameter, PassTiming, Resource, Running, Session, Sharing, Snapshot, Stat,
    condition::statistic_of, guarding, shown::Shown,
};
#[cfg(feature = "cli")]
use crate::scene::Overrides;
use crate::{
    diagnostic::Diagnostic,
    interop,
    scene::{self, Entry, Measured, ResourceId, What, When},
};

impl Session {
    /// The state of everything, as plain values.
    pub fn snapshot(&self) -> Snapshot {
        let manifest = self.program.as_ref().map(|p| &p.scene.manifest);
        Snapshot {
            title: manifest.map_or_else(|| self.options.name.clone(), |m| m.title.clone()),
            summary: manifest.map_or_else(String::new, |m| m.summary.clone()),
            device: self.device.info().to_string(),
            renderer: self.interop.renderer().map(str::to_owned),
            sharing: match self.interop.path() {
                interop::Path::None => Sharing::None,
                interop::Path::Registered => Sharing::Registered,
                interop::Path::Copied(reason) => Sharing::Copied(reason.clone()),
            },
            clock: self.clock(),
            seed: self.seed(),
            speed: self.playback.speed,
            steps_left: self.playback.single_steps,
            timeline: self.timeline(),
            comparison: self.comparison(),
            views: self.view_states(),
            parameters: self.parameter_snapshots(),
            presets: manifest.map_or_else(Vec::new, |manifest| manifest.presets.clone()),
            resources: self.resource_snapshots(),
            stats: self.stat_snapshots(),
            plots: self.plots.charts(),
            passes: self.pass_timings(),
            guard: self.program.as_ref().and_then(|program| guarding::of(&program.module)),
            guards: self.program.as_ref().map_or_else(Vec::new, guarding::of_kernels),
            compile: self.edit.compile.clone(),
            fault: self.fault.clone(),
            running: self.running(),
            pauses_at_nan: self.nan.is_wanted,
            first_nan: self.nan.found.clone(),
            reset_is_edited: self.resets.is_edited,
            findings: self.findings(),
            renamed: self.renamed(),
        }
    }

    /// What its texts are read with beside themselves.
    #[cfg(feature = "cli")]
    pub(crate) fn overrides(&self) -> Overrides {
        self.options.overrides_on(&self.device)
    }

    /// What has been under way for a while, where something has.
    pub fn running(&self) -> Option<Running> {
        self.in_flight.as_ref().and_then(|of| of.running(self.options.step_timeout))
    }

    /// Plots take over what has arrived with the latest statistics.
    pub(super) fn collect_plots(&mut self) -> Result<(), Error> {
        let is_present = self.seek.shown == Shown::Present;
        let Self { program: Some(program), statistics, plots, .. } = self else { return Ok(()) };
        let number = |measured| match measured {
            Measured::Stat(index) => {
                let stat = program.stats.get(index).zip(statistics.of_stat(index));
                stat.map(|(stat, values)| stat.value(values))
            }
            Measured::Resource { of, components, statistic } => {
                statistic_of(statistic, components, statistics.of(of))
            }
        };
        let number = |measured| number(measured).unwrap_or(f64::NAN);
        // What a past step was is known already.
        let step = is_present.then(|| statistics.step());
        plots.collect(step, &program.types, number)
    }

    /// What the checker found so far.
    pub(super) fn findings(&self) -> Vec<Diagnostic> {
        self.checker
            .as_ref()
            .map_or_else(Vec::new, |checker| checker.diagnostics(&self.options.name))
    }

    /// Times of the step's entries, and what the manifest says that their launches move and compute.
    pub(super) fn pass_timings(&self) -> Vec<PassTiming> {
        let mut timings = self.timings.timings();
        let Some(program) = &self.program else { return timings };
        let entries = program.scene.manifest.entries(When::Step);
        for (timing, entry) in timings.iter_mut().zip(entries) {
            timing.bytes = self.sum_of_launches(entry, |pass| pass.bytes);
            timing.flops = self.sum_of_launches(entry, |pass| pass.flops);
        }
        timings
    }

    /// What `of` says of a launch, summed over those of the last step; `None` where it says nothing of some pass.
    pub(super) fn sum_of_launches(
        &self,
        entry: &Entry,
        of: fn(&scene::Pass) -> Option<f64>,
    ) -> Option<f64> {
        let program = self.program.as_ref()?;
        match &entry.what {
            What::Launch(index) => {
                let launches = self.launched.get(*index).copied().unwrap_or_default();
                Some(of(&program.passes.get(*index)?.plan.declared)? * launches as f64)
            }
            What::Group { entries, .. } => {
                entries.iter().map(|entry| self.sum_of_launches(entry, of)).sum()
            }
            What::Copy { .. } => None,
        }
    }

    pub(super) fn parameter_snapshots(&self) -> Vec<Parameter> {
        let declared = self.program.iter().flat_map(|p| &p.scene.manifest.parameters);
        declared
            .zip(&self.state.inputs.parameters)
            .map(|(p, value)| Parameter {
                name: p.name.clone(),
                label: p.label.clone(),
                unit: p.unit.clone(),
                value: value.clone(),
                default: p.default.clone(),
                control: p.control.clone(),
            })
            .collect()
    }

    pub(super) fn resource_snapshots(&self) -> Vec<Resource> {
        self.state
            .resources
            .iter()
            .enumerate()
            .map(|(index, r)| Resource {
                name: r.name.clone(),
                element: r.type_name.clone(),
                count: r.count,
                bytes: r.bytes as u64,
                shared: r.is_drawn(),
                step: self.statistics.step(),
                names: r.components.clone(),
                components: self.statistics.of(ResourceId(index)).to_vec(),
            })
            .collect()
    }

    pub(super) fn stat_snapshots(&self) -> Vec<Stat> {
        let resources = self
            .program
            .iter()
            .flat_map(|program| program.stats.iter().map(|stat| (stat, &program.scene.manifest)));
        resources
            .enumerate()
            .map(|(index, (stat, manifest))| {
                let (declared, values) = (stat.declared(), self.statistics.of_stat(index));
                Stat {
                    name: declared.name.clone(),
                    of: manifest.resource(declared.of).name.clone(),
                    map: declared.map.clone(),
                    reduce: declared.reduce.name(),
                    step: self.statistics.step(),
                    value: values.map(|values| stat.value(values)),
                    values: values.copied(),
                }
            })
            .collect()
    }
}

//! How a compiled text becomes the program that runs.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Error, Phase, Reset, Session, checker::Checker, grid_texture::grid_textures, line::Entrance,
    program::Program, worker::CompileResult,
};
use crate::{
    diagnostic::Diagnostic,
    scene::{Manifest, Resource, ResourceId, Value, When},
    state::TooLarge,
};

impl Session {
    /// Notes what the worker found out.
    pub(super) fn apply_result(&mut self, result: CompileResult) -> Result<(), Error> {
        let built = match result.outcome {
            Ok(built) => built,
            Err(error) => {
                self.edit.compile.phase = Phase::Rejected;
                return Err(error);
            }
        };
        if result.generation < self.edit.compile.generation && built.program.is_none() {
            return Ok(()); // an older text's mistakes say nothing about the newest one
        }
        if result.refined {
            if let Some(program) = built.program {
                self.replace_candidate(program);
            }
            return Ok(());
        }
        self.edit.compile.diagnostics = built.diagnostics;
        self.edit.compile.log = about_the_source(&built.log).into();
        self.edit.compile.untrusted = built.untrusted;
        self.edit.compile.lacks_manifest = built.lacks_manifest;
        self.edit.compile.cached = built.cached;
        if let Some(included) = built.included {
            self.edit.compile.included = included;
        }
        self.edit.compile.elapsed = result.elapsed;
        let latest = result.generation == self.edit.compile.generation;
        match built.program {
            Some(program) => {
                self.replace_candidate(program);
                if latest {
                    self.edit.compile.phase = Phase::Running;
                }
            }
            None => self.edit.compile.phase = Phase::Rejected,
        }
        Ok(())
    }

    pub(super) fn replace_candidate(&mut self, program: Program) {
        self.edit.candidate = Some(Arc::new(program));
    }

    /// Lets a compiled program take the running one's place. Not while a step runs.
    pub(super) fn adopt_candidate(&mut self) -> Result<bool, Error> {
        if self.seek.sought.is_some() {
            return Ok(false); // it comes after the past moment
        }
        if self.is_migrating() {
            self.go_on_migrating()?;
            return Ok(true);
        }
        let Some(program) = self.edit.candidate.take() else { return Ok(false) };
        self.leave_layout_for(&program)?;
        if !self.begin_migration(&program)? && self.adopt(&program)? {
            self.begin_moving(program);
        }
        Ok(true)
    }

    /// Lets a program take the running one's place, and says whether it did: not where its resources are too large.
    pub(super) fn adopt(&mut self, program: &Arc<Program>) -> Result<bool, Error> {
        let before = self.program.clone();
        let mut fresh = match self.take_in(program)? {
            Ok(fresh) => fresh,
            Err(TooLarge { text, at }) => {
                let remark = Diagnostic::error(&self.options.name, text).at(at.line, at.column);
                // The version that is optimised asks for the same as the one before it.
                if !self.edit.compile.diagnostics.contains(&remark) {
                    self.edit.compile.diagnostics.push(remark);
                }
                self.edit.compile.phase = Phase::Rejected;
                if let Some(history) = &mut self.history {
                    history.rejoin();
                }
                return Ok(false);
            }
        };
        fresh.extend(before.iter().flat_map(|old| program.changed_contents(old)));
        let entrance = match &before {
            Some(before)
                if fresh.is_empty()
                    && program.has_state_of(before)
                    && !program.contents.sets_variables() =>
            {
                Entrance::Same
            }
            _ => Entrance::Changed,
        };
        if !fresh.is_empty() {
            self.resets.next.add(Reset::Fresh(fresh));
        }
        if let Some(before) = &before {
            // It may have run before: what it had of its own then is not of the state that it takes over.
            program.restart_variables(&self.stream)?;
            program.carry_variables(before, &self.stream)?;
        }
        program.set_variables(&self.stream)?;
        if let Some(before) = before.as_ref().filter(|before| !before.has_origin_of(program)) {
            self.variants.before = Some(Arc::new(before.made()));
        }
        self.latest = Some(program.clone());
        if let Some(history) = &mut self.history {
            history.is_interrupted = true;
            history.newcomers.note(program, self.state.inputs.step, entrance);
        }
        // What a draft ran into stays its text's.
        if before.is_none_or(|before| before.generation != program.generation) {
            self.fault = None;
        }
        Ok(true)
    }

    /// Lets a program of the past take the running one's place, whose state is put back next.
    pub(super) fn install(&mut self, program: &Arc<Program>) -> Result<(), Error> {
        if self.program.as_ref().is_some_and(|running| Arc::ptr_eq(running, program)) {
            return Ok(());
        }
        self.take_in(program)?
            .map(|_| ())
            .map_err(|too_large| Error::NoRoom { reason: too_large.text })
    }

    /// Runs `program` from now on, on the resources of the one before as far as it has the same, which it leaves alone;
    /// the names of the others.
    pub(super) fn take_in(
        &mut self,
        program: &Arc<Program>,
    ) -> Result<Result<BTreeSet<String>, TooLarge>, Error> {
        let manifest = &program.scene.manifest;
        let old = self.program.as_ref().map(|p| &p.scene.manifest);
        let grids = match grid_textures(manifest, &self.interop)? {
            Ok(grids) => grids,
            Err(too_large) => return Ok(Err(too_large)),
        };
        let adopted = self.state.resources.adopt(old, manifest, &self.stream, &self.interop)?;
        let fresh = match adopted {
            Ok(fresh) => fresh,
            Err(too_large) => return Ok(Err(too_large)),
        };
        self.statistics.follow(&same_resources(old, manifest, &fresh));
        self.grids = grids;
        self.refresh_grids()?;
        self.adopt_parameters(manifest);
        self.keep_extents_of(manifest);
        self.timings.follow(manifest.entries(When::Step).map(|entry| manifest.name_of(entry)));
        self.launched = vec![0; program.passes.len()];
        self.plots.follow(manifest);
        self.picture += 1;
        self.edit.compile.ptx = program.ptx.clone();
        self.edit.compile.text = program.scene.source.clone();
        self.edit.compile.running = program.generation;
        self.edit.compile.fast_math = manifest.compile.fast_math;
        // What was found in a text goes with it.
        if self.program.as_ref().is_none_or(|old| old.generation != program.generation) {
            self.checker = Checker::of(self.options.engine);
        }
        self.program = Some(program.clone());
        self.nan.forget();
        let begun_with = self.resets.begun_with.as_ref();
        self.resets.is_edited = begun_with.is_some_and(|begun| *begun != program.beginning);
        Ok(Ok(fresh))
    }

    /// Views of elements take over what these are after the last finished step.
    pub(super) fn refresh_grids(&self) -> Result<(), Error> {
        let mut grids = self.grids.iter().flatten();
        Ok(grids.try_for_each(|grid_texture| grid_texture.refresh(&self.state.resources))?)
    }

    /// Values that a person set survive an edit; the command line's come before the manifest's.
    pub(super) fn adopt_parameters(&mut self, manifest: &Manifest) {
        self.state.inputs.parameters = match &self.program {
            Some(old) => manifest.carry(&old.scene.manifest, &self.state.inputs.parameters),
            None => self.initial_parameters(manifest),
        };
    }

    pub(super) fn initial_parameters(&self, manifest: &Manifest) -> Vec<Value> {
        self.replace_parameters(manifest, manifest.defaults())
    }

    /// `values`, but for those that the command line gives.
    pub(super) fn replace_parameters(
        &self,
        manifest: &Manifest,
        mut values: Vec<Value>,
    ) -> Vec<Value> {
        for (name, text) in &self.options.parameters {
            // What does not fit was refused before the session was opened.
            if let Ok((index, value)) = manifest.parse_parameter(name, text) {
                values[index] = value;
            }
        }
        values
    }
}

/// For each resource of `manifest` the one of `old` whose contents it goes on with, where there is one.
fn same_resources(
    old: Option<&Manifest>,
    manifest: &Manifest,
    fresh: &BTreeSet<String>,
) -> Vec<Option<ResourceId>> {
    let same = |resource: &Resource| {
        let old = old.filter(|_| !fresh.contains(&resource.name))?;
        let id = old.find_resource(&resource.name)?;
        (old.resource(id).of() == resource.of()).then_some(id)
    };
    manifest.resources().iter().map(same).collect()
}

/// A compiler's log without blank lines, and without what NVRTC says of options that it gives to its own parts.
fn about_the_source(log: &str) -> String {
    let is_own = |line: &str| line.starts_with("opt: Unknown command line argument");
    let lines = log.lines().filter(|line| !line.trim().is_empty() && !is_own(line));
    lines.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::about_the_source;

    #[test]
    fn a_log_is_about_the_source() {
        let own =
            "opt: Unknown command line argument '-enable-scalar-pre=false'.  Try: 'opt -help'\n";
        assert_eq!(about_the_source(&format!("{own}\n")), "");
        let told = "a.cu(3): warning: variable `x` is never used\n    int x;\n";
        assert_eq!(about_the_source(&format!("\n{own}{told}\n{own}")), told);
    }
}

//! What a fault was, in the words of the scene.

use super::{
    Session,
    in_flight::{Cause, InFlight},
    launch::Stopped,
    place::{is_in_groups, place, remark},
    program::Pass,
    symbol,
};
use crate::{
    device::{Fault, FaultKind},
    diagnostic::{Diagnostic, Severity},
    ptx::outline::Outline,
    scene::{Number, ResourceId},
    state::Extent,
};

impl Session {
    /// A fault as a remark on the line where it happened, in the manifest's words.
    pub(super) fn fault_diagnostic(&self, fault: &Fault, in_flight: &InFlight) -> Diagnostic {
        let kind = self.kind_of(&fault.kind, in_flight.cause());
        let text = fault.told(&self.subject(fault), &kind, self.element(fault, in_flight))
            + &self.hint(fault);
        let place = place(fault.location.as_ref(), &fault.inlined);
        remark(place, &self.options.name, text).with_severity(Severity::Fault)
    }

    /// Work of which not all launches were put on the stream, as a remark on the manifest.
    pub(super) fn stopped_diagnostic(&self, stopped: &Stopped, in_flight: &InFlight) -> Diagnostic {
        let (text, at) = match stopped {
            Stopped::Fault(fault) => {
                return self.fault_diagnostic(fault, in_flight);
            }
            Stopped::OutOfTime { kernel } => {
                let limit = self.kind_of(&FaultKind::Cancelled, Some(Cause::Limit));
                match kernel {
                    Some((kernel, at)) => (format!("kernel `{kernel}`: {limit}"), Some(at)),
                    None => (format!("a step: {limit}"), None),
                }
            }
            Stopped::NoValue { problem, at } => (problem.clone(), Some(at)),
        };
        let remark = Diagnostic::error(&self.options.name, text).with_severity(Severity::Fault);
        match at {
            Some(at) => remark.at(at.line, at.column),
            None => remark,
        }
    }

    /// What was stopped: a pass's kernel, a statistic of the manifest, or the kernels that every scene has.
    fn subject(&self, fault: &Fault) -> String {
        let stats = self.program.iter().flat_map(|program| &program.stats);
        if let Some(pass) = self.faulty_pass(fault) {
            format!("kernel `{}`", pass.plan.declared.kernel)
        } else if let Some(stat) = stats.into_iter().find(|stat| stat.kernel() == fault.kernel) {
            format!("statistic \"{}\"", stat.declared().name)
        } else {
            "the statistics of the resources".to_owned()
        }
    }

    fn faulty_pass(&self, fault: &Fault) -> Option<&Pass> {
        let mut passes = self.program.iter().flat_map(|program| &program.passes);
        passes.find(|pass| pass.function.name() == fault.kernel)
    }

    /// What it did; where the host stopped it, why.
    fn kind_of(&self, kind: &FaultKind, cancelled: Option<Cause>) -> String {
        let limit = self.options.step_timeout.as_secs_f64();
        let Some(cause) = cancelled.filter(|_| *kind == FaultKind::Cancelled) else {
            return kind.to_string();
        };
        match cause {
            Cause::Limit => {
                format!("stopped after {limit} s (the limit; `--step-timeout` raises it)")
            }
            Cause::Successor => "stopped for the newer text".to_owned(),
            Cause::Wish => "stopped, as you asked".to_owned(),
            Cause::Interrupt => kind.to_string(),
        }
    }

    /// What is usually behind such a fault.
    fn hint(&self, fault: &Fault) -> String {
        let Some(pass) = self.faulty_pass(fault) else { return String::new() };
        if fault.kind == FaultKind::Trap
            && is_in_groups(fault.location.as_ref())
            && !pass.plan.declared.cooperative
        {
            return "; blocks can wait for one another where the pass has `cooperative = true`"
                .to_owned();
        }
        let kernel = self.program.as_ref().is_some_and(|program| program.has_dynamic_shared());
        if fault.space != Some("shared") || !kernel {
            return String::new();
        }
        match pass.plan.declared.shared_bytes.constant() {
            Some(Number::Int(0)) => {
                "; its pass has no `shared = BYTES` for `extern __shared__` arrays".to_owned()
            }
            Some(bytes) => format!("; its pass has `shared = {bytes}`"),
            None => "; its pass has an expression for `shared`".to_owned(),
        }
    }

    /// The element that a faulty access would be of, were the resource large enough. Where the code does not tell which
    /// resource is meant, it is the nearest of those that the kernel takes; a variable, or none, where memory that is
    /// no resource's is nearer still.
    fn element(&self, fault: &Fault, in_flight: &InFlight) -> Option<String> {
        let address = fault.missed()?;
        let Some(base) = fault.base else { return self.nearest_element(fault, address, in_flight) };
        let is_meant = |extent: &&Extent| extent.memory.holds(base);
        match in_flight.extents.iter().find(is_meant) {
            Some(extent) => self.told_element(extent, address),
            None => self.told_variable(base, address),
        }
    }

    fn told_element(&self, extent: &Extent, address: u64) -> Option<String> {
        let manifest = &self.program.as_ref()?.scene.manifest;
        let (element, count) =
            (extent.element_at(address, manifest), manifest.resource(extent.id).count());
        Some(format!("{element}, which has {count} elements"))
    }

    /// The byte of the variable of the source that lies at `base`.
    fn told_variable(&self, base: u64, address: u64) -> Option<String> {
        let program = self.program.as_ref()?;
        let names = Outline::new(&program.ptx).variables.into_iter().map(|of| of.name);
        let mut found = names.filter_map(|name| {
            let place = program.module.global(&name).ok()?;
            (place.address() == base).then(|| (name.clone(), place.bytes()))
        });
        let (name, bytes) = found.next()?;
        let name = symbol::in_source(&name).unwrap_or(name);
        let offset = i128::from(address) - i128::from(base);
        Some(format!("byte {offset} of `{name}`, which has {bytes} bytes"))
    }

    fn nearest_element(&self, fault: &Fault, address: u64, in_flight: &InFlight) -> Option<String> {
        // Shared and local memory, and parameters, have none.
        let nearest = fault.nearest?;
        let taken: Option<Vec<ResourceId>> =
            self.faulty_pass(fault).map(|pass| pass.plan.takes().collect());
        let is_taken = |extent: &&Extent| taken.as_ref().is_none_or(|ids| ids.contains(&extent.id));
        let extents = || in_flight.extents.iter();
        let found = extents().filter(is_taken).min_by_key(|of| of.memory.distance(address));
        let is_foreign = extents().all(|extent| extent.memory != nearest);
        let is_nearer = |of: &&Extent| of.memory.distance(address) <= nearest.distance(address);
        match found.filter(|of| !is_foreign || is_nearer(of)) {
            Some(extent) => self.told_element(extent, address),
            None => self.told_variable(nearest.address, address),
        }
    }
}

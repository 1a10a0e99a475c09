//! Kernels that take the half of a double resource which is being written, and never write it.
//!
//! The halves change places behind such a launch, so that what the next one reads is what was there two launches ago.

use super::program::Pass;
use crate::{
    diagnostic::{Diagnostic, Severity},
    ptx::{self, ast::Module, pass::writes_through},
    scene::{ResourceId, Scene},
};

/// A warning for each of the `passes` of `scene` that does so, where its PTX is known.
pub(super) fn warnings(scene: &Scene, passes: &[Pass], text: &str) -> Vec<Diagnostic> {
    let takes_next = passes.iter().any(|pass| next(pass).next().is_some());
    let module = takes_next.then(|| ptx::parse(text).ok()).flatten();
    let found = |module| passes.iter().flat_map(move |pass| of_pass(pass, scene, module)).collect();
    module.as_ref().map(found).unwrap_or_default()
}

/// The parameters of a pass that are the next half of a resource: which, what they are called, and the resource.
fn next(pass: &Pass) -> impl Iterator<Item = (usize, &str, ResourceId)> {
    pass.plan.arguments.iter().enumerate().flat_map(|(index, argument)| {
        let halves = argument.source.next().into_iter();
        halves.map(move |id| (index, argument.name.as_str(), id))
    })
}

fn of_pass(pass: &Pass, scene: &Scene, module: &Module) -> Vec<Diagnostic> {
    let written = writes_through(module, pass.function.name()).unwrap_or_default();
    let unwritten = next(pass).filter(|(index, ..)| written.get(*index) == Some(&false));
    unwritten
        .map(|(_, name, id)| {
            let declared = &pass.plan.declared;
            let resource = &scene.manifest.resource(id).name;
            let text = format!(
                "kernel `{}` takes `{name}` and never writes it: the halves of `{resource}` change places behind its \
                 launch all the same, so that the next one reads what was there before; take `{resource}` alone",
                declared.kernel
            );
            let at = declared.at;
            let warning = Diagnostic::error(&scene.name, text).at(at.line, at.column);
            warning.with_severity(Severity::Warning)
        })
        .collect()
}

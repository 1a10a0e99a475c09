//! A scene that is looked at and not run.

use std::{collections::BTreeSet, path::Path};

use super::{
    Error,
    builder::{Builder, OwnKernels, refusal, target_of},
    draft::instances_of,
    effort::Effort,
    examine::examine_with,
    request::request,
};
use crate::{
    compile::{self, Compiler, Outcome, Target},
    data::Cache,
    device::{self, Device},
    diagnostic::{Diagnostic, Severity},
    ptx::outline::Outline,
    scene::Scene,
};

/// Binds, compiles and loads `scene` on `device`: all that is to be said about it.
pub(crate) fn examine_on(
    scene: Scene,
    device: &Device,
    compiler: &Compiler,
) -> Result<Vec<Diagnostic>, Error> {
    let mut builder = Builder::new(device.clone(), compiler.clone(), OwnKernels::default(), false);
    Ok(builder.build(scene, Effort::Full, compiler)?.diagnostics)
}

/// Compiles a [plain](Scene::plain) file as it stands, and loads it on `device`: all that is to be said about it, first
/// what it has.
///
/// # Errors
/// Those of the compiler and of the device.
pub(crate) fn examine_plain(
    scene: &Scene,
    device: &Device,
    compiler: &Compiler,
) -> Result<Vec<Diagnostic>, Error> {
    let mut request = request(scene, target_of(device), None);
    // Nothing of ours: it is a file for nvcc.
    request.prelude.clear();
    request.name_expressions = launched_instances(scene);
    let mut outcome = compiler.compile(&request)?;
    if let Outcome::Rejected { diagnostics, .. } = &outcome
        && diagnostics.iter().all(|remark| remark.line.is_none())
        && !request.name_expressions.is_empty()
    {
        // What the host code calls an instance may mean something else than was read.
        request.name_expressions.clear();
        outcome = compiler.compile(&request)?;
    }
    let compiled = match outcome {
        Outcome::Compiled(compiled) => compiled,
        Outcome::Rejected { diagnostics, .. } => return Ok(diagnostics),
    };
    let mut remarks = compiled.diagnostics;
    if let Err(error) = device.load(&compiled.ptx) {
        let is_unsupported = matches!(error, device::Error::UnsupportedPtx { .. });
        let all = match is_unsupported {
            true => device::cpu::unsupported_instructions(&compiled.ptx),
            false => Vec::new(),
        };
        let all = if all.is_empty() { vec![error] } else { all };
        for error in all {
            let remark = refusal(scene, error)?;
            // An instruction comes as often as a loop is unrolled.
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        return Ok(remarks);
    }
    remarks.insert(0, loaded(scene, &request.name_expressions, &compiled.ptx, device));
    Ok(remarks)
}

/// The instances of templates that the host code of a plain file launches.
fn launched_instances(scene: &Scene) -> Vec<String> {
    let path = scene.path.as_deref().unwrap_or_else(|| Path::new(&*scene.name));
    instances_of(path, &scene.source, &scene.include_dirs)
}

/// What of a plain file is on a device now, these `instances` of templates among it.
fn loaded(scene: &Scene, instances: &[String], ptx: &str, device: &Device) -> Diagnostic {
    let count = Outline::new(ptx).entries.len();
    let is_here = |name: &str| instances.iter().any(|of| of.split('<').next() == Some(name));
    let templates = scene.kernels.iter().filter(|kernel| kernel.template);
    let templates: BTreeSet<&str> =
        templates.map(|kernel| &*kernel.name).filter(|name| !is_here(name)).collect();
    let mut text = match count {
        1 => format!("1 kernel compiles and loads on {}", device.info().name),
        count => format!("{count} kernels compile and load on {}", device.info().name),
    };
    if !templates.is_empty() {
        let names: Vec<String> = templates.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!("; of templates, instances alone: {}", names.join(", ")));
    }
    Diagnostic::error(&scene.name, text).with_severity(Severity::Note)
}

/// Binds and compiles `scene` for `target`, and reads the files that it begins with: all that is to be said about it.
pub(crate) fn examine_for(
    scene: &mut Scene,
    target: Target,
    compiler: &Compiler,
) -> compile::Result<Vec<Diagnostic>> {
    let files = &mut Cache::default();
    Ok(examine_with(scene, target, Vec::new(), compiler, files)?.diagnostics)
}

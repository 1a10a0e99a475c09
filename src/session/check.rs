//! A scene that is looked at and not run.

use std::collections::BTreeSet;

use super::{
    Error,
    builder::{Builder, Effort, OwnKernels, refusal, target_of},
    examine::{examine_with, request},
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
    let compiled = match compiler.compile(&request)? {
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
    remarks.insert(0, loaded(scene, &compiled.ptx, device));
    Ok(remarks)
}

/// What of a plain file is on a device now.
fn loaded(scene: &Scene, ptx: &str, device: &Device) -> Diagnostic {
    let count = Outline::new(ptx).entries.len();
    let templates: BTreeSet<&str> =
        scene.kernels.iter().filter(|kernel| kernel.template).map(|kernel| &*kernel.name).collect();
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
pub(crate) fn examine(
    scene: &mut Scene,
    target: Target,
    compiler: &Compiler,
) -> compile::Result<Vec<Diagnostic>> {
    let files = &mut Cache::default();
    Ok(examine_with(scene, target, Vec::new(), compiler, files)?.diagnostics)
}

//! Whether the kernels of scenes are guarded on a GPU.
//!
//! ```text
//! WARPAINT_GUARD=on       an access outside its memory is told and does not happen, and kernels can be stopped
//! WARPAINT_GUARD=report   the same, but kernels go on, and a run without a window tells at its end what they did wrong
//! WARPAINT_GUARD=off      kernels are loaded as they are
//! ```
//!
//! Where the variable says nothing, the session's [options](super::Options::guarded) do.

use std::{
    env,
    sync::{Arc, LazyLock},
};

use super::{Guarding, KernelGuarding, program::Program};
use crate::{
    device::{Device, GuardedModule, Module, Result, Telling},
    diagnostic::{Diagnostic, Severity},
    ptx::pass::guard::{self, Counts},
    scene::Scene,
};

/// What the variable says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    On,
    Report,
    Off,
}

static WISH: LazyLock<Option<Wish>> =
    LazyLock::new(|| match env::var("WARPAINT_GUARD").as_deref() {
        Ok("on") => Some(Wish::On),
        Ok("report") => Some(Wish::Report),
        Ok("off") => Some(Wish::Off),
        Ok(_) | Err(_) => None,
    });

/// Most faults that are kept.
pub(super) const MOST_REPORTED: usize = 1000;

/// Loads the kernels of a scene: guarded where that is wanted and can be, but for those of the module's names in
/// `plain`.
pub(super) fn load(device: &Device, ptx: &str, guarded: bool, plain: &[&str]) -> Result<Loaded> {
    let telling = match (*WISH, guarded) {
        (Some(Wish::Report), _) => Telling::All,
        (Some(Wish::On), _) | (None, true) => Telling::First,
        (Some(Wish::Off), _) | (None, false) => return Ok((device.load(ptx)?, None)),
    };
    let (module, not_guarded) = device.load_telling(ptx, plain, telling)?;
    Ok((module, not_guarded.map(|why| why.to_string())))
}

/// A module, and why it is not guarded, where it should be and is not.
type Loaded = (Module, Option<String>);

/// What is remarked on a scene whose kernels are not guarded, and why.
pub(super) fn remark(scene: &Scene, why: &str) -> Diagnostic {
    let text = format!("{why}; what its kernels do wrong may end CUDA for this process");
    Diagnostic::error(&scene.name, text).with_severity(Severity::Warning)
}

/// What is remarked on a scene of which some accesses are not guarded.
pub(super) fn remark_on_unchecked(scene: &Scene, module: &Module) -> Option<Diagnostic> {
    let of_kernel = |kernel: &guard::GuardedKernel| match kernel.counts.unchecked {
        0 => None,
        1 => Some(format!("1 access of `{}`", kernel.name)),
        count => Some(format!("{count} accesses of `{}`", kernel.name)),
    };
    let which: Vec<String> = guarded(module)?.kernels().iter().filter_map(of_kernel).collect();
    let why = format!(
        "not guarded: {}, by addresses of local or constant memory that are not known",
        which.join(", ")
    );
    (!which.is_empty()).then(|| remark(scene, &why))
}

/// What the guard does in a loaded module; `None` where there is none.
pub(super) fn of(module: &Module) -> Option<Guarding> {
    Some(told(guarded(module)?.counts()))
}

/// What it does in each kernel of the passes.
pub(super) fn of_kernels(program: &Arc<Program>) -> Vec<KernelGuarding> {
    let Some(module) = guarded(&program.module) else { return Vec::new() };
    let mut all: Vec<KernelGuarding> = Vec::new();
    for pass in &program.passes {
        let Some(kernel) = module.kernel(pass.function.name()) else { continue };
        let (name, accesses) = (&pass.plan.declared.kernel, told(kernel.counts));
        if !all.iter().any(|known| known.kernel == *name) {
            all.push(KernelGuarding { kernel: name.clone(), accesses });
        }
    }
    all
}

fn guarded(module: &Module) -> Option<&GuardedModule> {
    match module {
        Module::Nvidia(module) => module.guarded(),
        Module::Cpu(_) => None,
    }
}

fn told(counts: Counts) -> Guarding {
    Guarding {
        accesses: counts.accesses,
        proved: counts.proved,
        checked: counts.checked,
        at_launch: counts.launches,
        unchecked: counts.unchecked,
    }
}

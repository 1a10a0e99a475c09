//! What the guard does in the kernels of a scene, and what is remarked on those that have none.

use std::sync::Arc;

use serde::Serialize;

use super::program::Program;
use crate::{
    device::{GuardedModule, Module},
    diagnostic::{Diagnostic, Severity},
    ptx::pass::guard::{self, Counts},
    scene::Scene,
};

/// Most faults that are kept.
pub(super) const MOST_REPORTED: usize = 1000;

/// The accesses of guarded kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Guarding {
    /// All, but those of parameters by their name.
    pub accesses: u32,
    /// Those that need no check of their own.
    pub proved: u32,
    /// Checks.
    pub checked: u32,
    /// Those of the checks that most launches do without, because the host sees that they need not be.
    pub at_launch: u32,
    /// Those that are not guarded: nothing is known to compare their addresses with.
    pub unchecked: u32,
}

/// The accesses of a guarded kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelGuarding {
    /// Its name, as the manifest gives it.
    pub kernel: String,
    /// What is done with them.
    pub accesses: Guarding,
}

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

//! Whether the kernels of scenes are guarded on a GPU.
//!
//! ```text
//! WARPAINT_GUARD=on    an access outside its memory is told and does not happen, and kernels can be stopped
//! WARPAINT_GUARD=off   kernels are loaded as they are
//! ```
//!
//! Where the variable says nothing, the session's [options](super::Options::guarded) do.

use std::{env, sync::LazyLock};

use super::Guarding;
use crate::{
    device::{Device, Module, Result},
    diagnostic::{Diagnostic, Severity},
    scene::Scene,
};

static WISH: LazyLock<Option<bool>> =
    LazyLock::new(|| match env::var("WARPAINT_GUARD").as_deref() {
        Ok("on") => Some(true),
        Ok("off") => Some(false),
        Ok(_) | Err(_) => None,
    });

/// Loads the kernels of a scene: guarded where that is wanted and can be, but for those of the module's names in
/// `plain`.
pub(super) fn load(device: &Device, ptx: &str, guarded: bool, plain: &[&str]) -> Result<Loaded> {
    if !WISH.unwrap_or(guarded) {
        return Ok((device.load(ptx)?, None));
    }
    let (module, not_guarded) = device.load_guarded(ptx, plain)?;
    Ok((module, not_guarded.map(|why| why.to_string())))
}

/// A module, and why it is not guarded, where it should be and is not.
type Loaded = (Module, Option<String>);

/// What is remarked on a scene whose kernels are not guarded, and why.
pub(super) fn remark(scene: &Scene, why: &str) -> Diagnostic {
    let text = format!("{why}; what its kernels do wrong may end CUDA for this process");
    Diagnostic::error(&scene.name, text).with_severity(Severity::Warning)
}

/// What the guard does in a loaded module; `None` where there is none.
pub(super) fn of(module: &Module) -> Option<Guarding> {
    let counts = match module {
        Module::Nvidia(module) => module.guarded()?.counts(),
        Module::Cpu(_) => return None,
    };
    Some(Guarding {
        accesses: counts.accesses,
        proved: counts.proved,
        checked: counts.checked,
        at_launch: counts.launches,
    })
}

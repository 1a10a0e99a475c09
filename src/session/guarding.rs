//! Whether the kernels of scenes are guarded on a GPU.
//!
//! ```text
//! WARPAINT_GUARD=on    an access outside its memory is told and does not happen, and kernels can be stopped
//! WARPAINT_GUARD=off   kernels are loaded as they are; the default
//! ```

use std::{env, sync::LazyLock};

use crate::device::{Device, Module, Result};

static IS_ON: LazyLock<bool> =
    LazyLock::new(|| env::var_os("WARPAINT_GUARD").is_some_and(|value| value == "on"));

/// Loads the kernels of a scene, guarded where the user wants that and it can be done.
pub(super) fn load(device: &Device, ptx: &str) -> Result<Module> {
    if !*IS_ON {
        return device.load(ptx);
    }
    let (module, not_guarded) = device.load_guarded(ptx)?;
    if let Some(why) = not_guarded {
        tracing::warn!("{why}");
    }
    Ok(module)
}

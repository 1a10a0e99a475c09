//! Whether kernels are guarded on a GPU.
//!
//! ```text
//! WARPAINT_GUARD=on       an access outside its memory is told and does not happen, and kernels can be stopped
//! WARPAINT_GUARD=report   the same, but kernels go on, and Device::take_reported gives what they did wrong
//! WARPAINT_GUARD=off      kernels are loaded as they are
//! ```
//!
//! Where the variable says nothing, who loads them does.

use std::{env, sync::LazyLock};

use crate::device::{Device, GuardOptions, Module, Result, Telling, nvidia::JitOptions};

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
        Err(env::VarError::NotPresent) => None,
        other => {
            tracing::warn!("WARPAINT_GUARD is none of `on`, `report` and `off`: {:?}", other.ok());
            None
        }
    });

/// A module, and why it is not guarded as a whole, where it should be and is not.
pub(crate) type Loaded = (Module, Option<String>);

/// Loads PTX: guarded in the way of `options`, where that is wanted and can be, and assembled as `jit` says. What the
/// module tells of is the variable's to say.
///
/// # Errors
/// As [`Device::load`].
pub(crate) fn load(
    device: &Device,
    ptx: &str,
    guarded: bool,
    options: GuardOptions<'_>,
    jit: JitOptions,
) -> Result<Loaded> {
    let telling = match (*WISH, guarded) {
        (Some(Wish::Report), _) => Telling::All,
        (Some(Wish::On), _) | (None, true) => Telling::First,
        (Some(Wish::Off), _) | (None, false) => return Ok((device.load_with(ptx, jit)?, None)),
    };
    let options = GuardOptions { telling, ..options };
    let (module, not_guarded) = device.load_guarded(ptx, &options, jit)?;
    Ok((module, not_guarded.map(|why| why.to_string())))
}

//! `warpaint check`: compile, and load where a device is named.

use super::{Error, Result, SceneSource};
use crate::{
    compile::{Compiler, Target},
    device::{Choice, Device, DeviceKind},
    diagnostic::Diagnostic,
    interrupt::Interrupt,
    scene::{Overrides, Scene},
    session,
};

/// What to check.
#[derive(Clone, Debug)]
pub struct Check {
    /// The scenes' names.
    pub scenes: Vec<String>,
    /// Constants to replace, macros to define, folders to search.
    pub overrides: Overrides,
    /// Scenes may include files from elsewhere than below their own folder.
    pub trust: bool,
    /// The device on which they are loaded; `None`: they are compiled as for the CPU device, and that is all.
    pub device: Option<Choice>,
    /// They are compiled and loaded as files for nvcc, whatever their manifests say.
    pub load_only: bool,
    /// Once this is raised, no other scene is begun.
    pub interrupt: Interrupt,
}

/// Parses, compiles and binds the scenes, loads them where a device is named, and returns all that is to be said about
/// them. A file without a manifest is compiled as it stands, and loaded. Nothing is run.
///
/// # Errors
/// [`Error::Usage`] and [`Error::File`] for a name that leads nowhere, [`Error::Compile`] without a compiler,
/// [`Error::Device`] without the device, [`Error::Stopped`]; mistakes in a scene are in the result.
pub fn check(request: &Check, compiler: &Compiler) -> Result<Vec<Diagnostic>> {
    let device = request.device.map(Device::open).transpose()?;
    let cpu = device.as_ref().is_none_or(|device| device.info().kind == DeviceKind::Cpu);
    let overrides = Overrides { cpu: Some(cpu), ..request.overrides.clone() };
    let flags = (request.trust, request.load_only);
    let mut remarks = Vec::new();
    for name in &request.scenes {
        if request.interrupt.is_raised() {
            return Err(Error::Stopped);
        }
        let found = SceneSource::find(name)?;
        remarks.extend(check_one(found, &overrides, flags, device.as_ref(), compiler)?);
    }
    Ok(remarks)
}

fn check_one(
    found: SceneSource,
    overrides: &Overrides,
    (trust, load_only): (bool, bool),
    device: Option<&Device>,
    compiler: &Compiler,
) -> Result<Vec<Diagnostic>> {
    if load_only || !Scene::has_manifest(&found.text) {
        let mut scene = Scene::plain(&found.name, &found.text, overrides);
        (scene.path, scene.trusted) = (found.path, trust);
        let cpu = device.is_none().then(Device::cpu).transpose()?;
        let device = device.or(cpu.as_ref());
        return Ok(match device {
            Some(device) => session::examine_plain(&scene, device, compiler)?,
            None => Vec::new(),
        });
    }
    let place = (found.path.as_deref(), trust);
    let mut scene = match session::parse(&found.name, &found.text, place, overrides) {
        Ok(scene) => scene,
        Err(remarks) => return Ok(remarks),
    };
    match device {
        Some(device) => Ok(session::examine_on(scene, device, compiler)?),
        None => Ok(session::examine_for(&mut scene, Target::CPU, compiler)?),
    }
}

//! `warpaint check`: compile only.

use std::collections::BTreeMap;

use super::{Result, SceneSource};
use crate::{
    compile::{Compiler, Target},
    diagnostic::Diagnostic,
    scene::{Overrides, Scene},
    session,
};

/// Parses, compiles and binds the scenes called `names`, and returns all that is to be said about them.
///
/// Nothing is run and no device is opened. With `trust` scenes may include files from elsewhere than below their own
/// folder.
///
/// # Errors
/// [`Error::Usage`](super::Error::Usage) and [`Error::File`](super::Error::File) for a name that leads nowhere,
/// [`Error::Compile`](super::Error::Compile) without a compiler;
/// mistakes in a scene are in the result.
pub fn check(
    names: &[String],
    constants: &BTreeMap<String, String>,
    trust: bool,
    target: Target,
    compiler: &Compiler,
) -> Result<Vec<Diagnostic>> {
    let overrides = Overrides { constants: constants.clone(), cpu: target == Target::CPU };
    let mut remarks = Vec::new();
    for name in names {
        remarks.extend(check_one(SceneSource::find(name)?, &overrides, trust, target, compiler)?);
    }
    Ok(remarks)
}

fn check_one(
    found: SceneSource,
    overrides: &Overrides,
    trust: bool,
    target: Target,
    compiler: &Compiler,
) -> Result<Vec<Diagnostic>> {
    let mut scene = match Scene::parse(&found.name, &found.text, overrides) {
        Ok(scene) => scene,
        Err(remarks) => return Ok(remarks),
    };
    scene.path = found.path;
    scene.trusted = trust;
    Ok(session::examine(&mut scene, target, Vec::new(), compiler)?.diagnostics)
}

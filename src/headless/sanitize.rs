//! `warpaint check --run`: what a scene does on a device, and then a step of it under the CPU device's checker.

use std::env;

use super::{
    Error, Result, Run, SceneSource,
    run::{expect_no_findings, progress_bar, run_to},
};
use crate::{
    compile::Compiler,
    device::{Choice, Device},
    file::TemporaryFolder,
    interop::Interop,
    session::Session,
};

/// Which scenes are run, and how.
#[derive(Clone, Debug)]
pub struct Sanitize {
    /// The scenes' names.
    pub scenes: Vec<String>,
    /// How they run, on which device.
    pub run: Run,
    /// Steps on the device before the one that is watched.
    pub steps: u64,
}

/// Runs each scene on the device, guarded, in the CPU device's sizes, and watches the step that follows on the CPU
/// device, which begins with a copy of the device's state: for races, reads of what nobody wrote, divisions by zero.
///
/// # Errors
/// [`Error::Mistakes`] where the checker found some; what is wrong with a scene, kernels' faults, the device's errors;
/// [`Error::Several`] where that is so with several scenes.
pub fn sanitize(request: &Sanitize, compiler: &Compiler) -> Result<()> {
    let mut run = request.run.clone();
    // The copy has to fit, and the checker takes its time.
    run.overrides.cpu = Some(true);
    let watched = Run { device: Choice::Cpu, checked: true, ..run.clone() };
    let devices = [&run, &watched].map(|run| Device::open(run.device));
    let [device, cpu] = devices;
    let (device, cpu) = (device?, cpu?);
    let mut errors = Vec::new();
    for name in &request.scenes {
        match sanitize_one(name, request.steps, [(&run, &device), (&watched, &cpu)], compiler) {
            Ok(()) => {}
            Err(error) if error.ends_the_run() => return Err(error),
            Err(error) => errors.push(error),
        }
    }
    match errors.pop() {
        None => Ok(()),
        Some(error) if errors.is_empty() => Err(error),
        Some(error) => {
            errors.push(error);
            Err(Error::Several(errors))
        }
    }
}

fn sanitize_one(
    name: &str,
    steps: u64,
    [(run, device), (watched, cpu)]: [(&Run, &Device); 2],
    compiler: &Compiler,
) -> Result<()> {
    let scene = SceneSource::find(name)?;
    let folder = TemporaryFolder::new("check").map_err(Error::writing(env::temp_dir()))?;
    let copy = folder.path().join("state.npz");
    in_session(run, &scene, device, compiler, |session| {
        session.expect_states()?;
        run_to(session, steps, &progress_bar(steps))?;
        Ok(session.save(&copy)?)
    })?;
    in_session(watched, &scene, cpu, compiler, |session| {
        session.load(&copy)?;
        let done = run_to(session, steps + 1, &progress_bar(1));
        expect_no_findings(done, session)
    })
}

fn in_session<T>(
    run: &Run,
    scene: &SceneSource,
    device: &Device,
    compiler: &Compiler,
    work: impl FnOnce(&mut Session) -> Result<T>,
) -> Result<T> {
    run.session(scene, device, compiler, Interop::none(device), |session, _| work(session))
}

//! What every command that runs a scene does: open it, wait for its program, step it.

use std::{io::Write as _, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};

use super::{Error, OnStuck, Result, SceneSource, watchdog::Watchdog};
use crate::{
    compile::Compiler,
    device::{Choice, Device, DeviceKind},
    diagnostic::{Diagnostic, escaped, has_errors},
    interop::Interop,
    interrupt::Interrupt,
    scene::{Overrides, Scene},
    session::{self, Engine, Past, Session},
};

/// What the command line says about how scenes run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The device.
    pub device: Choice,
    /// Whether scenes may include files that lie elsewhere than below their own folder.
    pub trust: bool,
    /// Constants to replace, macros to define, folders to search.
    pub overrides: Overrides,
    /// Parameters to replace.
    pub parameters: Vec<(String, String)>,
    /// The run's seed, where one is asked for.
    pub seed: Option<u64>,
    /// A step that takes longer is stopped, and so is taking statistics; a picture that takes longer is given up.
    pub step_timeout: Duration,
    /// Whether the launches of the passes are watched for mistakes; the device is the CPU's then.
    pub checked: bool,
    /// Whether the interpreter of the CPU device runs the passes, as it does where they are watched.
    pub interpreted: bool,
    /// Whether kernels are guarded on an NVIDIA GPU.
    pub guarded: bool,
    /// Once this is raised, what runs is stopped, and the command ends with [`Error::Stopped`].
    pub interrupt: Interrupt,
    /// What to do when a picture is given up.
    pub on_stuck: OnStuck,
}

impl Run {
    /// Reads `scene` as it will be run on a device of this kind.
    ///
    /// # Errors
    /// [`Error::Rejected`] for its mistakes, [`Error::Usage`] for a parameter that it lacks.
    pub(super) fn parse(&self, scene: &SceneSource, kind: DeviceKind) -> Result<Scene> {
        let place = (scene.path.as_deref(), self.trust);
        let scene = session::parse(&scene.name, &scene.text, place, &self.overrides(kind))
            .map_err(Error::Rejected)?;
        for (name, text) in &self.parameters {
            scene.manifest.parse_parameter(name, text).map_err(Error::Usage)?;
        }
        Ok(scene)
    }

    const fn engine(&self) -> Engine {
        match (self.checked, self.interpreted) {
            (true, _) => Engine::Checker,
            (false, true) => Engine::Interpreter,
            (false, false) => Engine::Device,
        }
    }

    fn overrides(&self, kind: DeviceKind) -> Overrides {
        let cpu = self.overrides.cpu.or(Some(kind == DeviceKind::Cpu));
        Overrides { cpu, ..self.overrides.clone() }
    }

    /// Opens a session for `scene`, waits for its program and does `work` with it, which is told the warnings.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a scene that does not compile; those of the session and of `work`.
    pub(super) fn session<T>(
        &self,
        scene: &SceneSource,
        device: &Device,
        compiler: &Compiler,
        interop: Interop,
        work: impl FnOnce(&mut Session, Vec<Diagnostic>) -> Result<T>,
    ) -> Result<T> {
        self.session_with(scene, device, compiler, interop, Past::Forgotten, work)
    }

    /// As [`Run::session`], with the past kept or not.
    ///
    /// # Errors
    /// As [`Run::session`].
    pub(super) fn session_with<T>(
        &self,
        scene: &SceneSource,
        device: &Device,
        compiler: &Compiler,
        interop: Interop,
        history: Past,
        work: impl FnOnce(&mut Session, Vec<Diagnostic>) -> Result<T>,
    ) -> Result<T> {
        let usual = session::Options::new(&scene.name, &scene.text);
        let options = session::Options {
            path: scene.path.clone(),
            trust: self.trust,
            overrides: self.overrides(device.info().kind),
            parameters: self.parameters.clone(),
            seed: self.seed.unwrap_or(usual.seed),
            seed_is_asked_for: self.seed.is_some(),
            step_timeout: self.step_timeout,
            interrupt: self.interrupt.clone(),
            engine: self.engine(),
            guarded: self.guarded,
            reports: true,
            history,
            ..usual
        };
        self.expect_uninterrupted()?;
        let mut session = Session::open(options, device.clone(), compiler.clone(), interop, || {})?;
        print_escaped(device);
        let done = await_program(&mut session).and_then(|remarks| work(&mut session, remarks));
        let done = expect_none_reported(done, &session);
        if done.as_ref().is_err_and(Error::is_of_stuck_session) && session.is_stuck() {
            // To close it would mean to wait for a kernel or the compiler, which may run forever.
            std::mem::forget(session);
        }
        done
    }

    /// Draws by `work`, within the time of a step.
    pub(super) fn draw<T>(&self, work: impl FnOnce() -> T) -> T {
        let _watchdog = Watchdog::start(self.step_timeout, self.on_stuck.clone());
        work()
    }

    /// That nobody has asked for the end.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn expect_uninterrupted(&self) -> Result<()> {
        if self.interrupt.is_raised() { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// Waits for the first program. Returns the warnings.
fn await_program(session: &mut Session) -> Result<Vec<Diagnostic>> {
    let runs = session.wait_for_program()?;
    let remarks = session.snapshot().compile.diagnostics;
    if !runs || has_errors(&remarks) {
        return Err(Error::Rejected(remarks));
    }
    Ok(remarks)
}

/// Steps until `step` steps have been done since the reset, which comes first where none was done.
///
/// # Errors
/// [`Error::Fault`] for a kernel's fault; the session's.
pub(super) fn run_to(session: &mut Session, step: u64, bar: &ProgressBar) -> Result<()> {
    let done = session.clock().step;
    session.run_steps(step.saturating_sub(done), |step| bar.set_position(step))?;
    expect_no_fault(session)
}

/// Takes statistics of the present state.
///
/// # Errors
/// [`Error::Fault`] for a fault in one; the session's.
pub(super) fn measure(session: &mut Session) -> Result<()> {
    session.measure()?;
    expect_no_fault(session)
}

pub(super) fn expect_no_fault(session: &Session) -> Result<()> {
    match session.fault() {
        Some(fault) => Err(Error::Fault(Box::new(fault.clone()))),
        None => Ok(()),
    }
}

/// That the checker found nothing; what `done` is, where it did not.
///
/// # Errors
/// [`Error::Mistakes`], beside the error that `done` may be.
pub(super) fn expect_no_findings<T>(done: Result<T>, session: &Session) -> Result<T> {
    let findings = session.snapshot().findings;
    match (findings.is_empty(), done) {
        (true, done) => done,
        (false, Err(error)) if error.ends_the_run() => Err(error),
        (false, Ok(_)) => Err(Error::Mistakes(findings)),
        (false, Err(error)) => Err(Error::Several(vec![error, Error::Mistakes(findings)])),
    }
}

/// That kernels that go on have told of no fault; what `done` is, where they have not.
///
/// # Errors
/// [`Error::Faults`], beside the error that `done` may be.
fn expect_none_reported<T>(done: Result<T>, session: &Session) -> Result<T> {
    let reported = session.reported().to_vec();
    match (reported.is_empty(), done) {
        (true, done) => done,
        (false, Err(error)) if error.ends_the_run() => Err(error),
        (false, Ok(_)) => Err(Error::Faults(reported)),
        (false, Err(error)) => Err(Error::Several(vec![Error::Faults(reported), error])),
    }
}

/// What kernels print does not steer the terminal that it may come to.
fn print_escaped(device: &Device) {
    if let Device::Cpu(device) = device {
        device.print_to(|text| {
            // Nobody is left to tell when the standard output is gone.
            let _ = std::io::stdout().write_all(escaped(text).as_bytes());
        });
    }
}

/// A bar on a terminal, nothing elsewhere.
pub(super) fn progress_bar(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} step {pos} of {len}, {per_sec}, {eta} left");
    let bar = ProgressBar::new(steps);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

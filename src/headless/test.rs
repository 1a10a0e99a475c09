//! `warpaint test`: runs scenes and looks whether what their checks demand is so, and whether they look as they did.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Component, Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    Case, Error, ExitStatus, Outcome, Result, Run, SceneSource,
    error::worst,
    golden::{self, Actual, Comparison},
    junit, measured, npy,
    outputs::Outputs,
    run::{measure, progress_bar, run_to},
    stage::{Shot, Stage, measure_for},
};
use crate::{
    compile::Compiler,
    device::Device,
    diagnostic::Diagnostic,
    scene::{Bound, Check, Golden, Kept, Manifest},
    session::Session,
};

/// Steps of a scene that does not say after how many its checks hold.
const DEFAULT_STEPS: u64 = 100;

/// What to test.
#[derive(Clone, Debug)]
pub struct Test {
    /// The scenes.
    pub scenes: Vec<SceneSource>,
    /// How they run.
    pub run: Run,
    /// Steps after which checks without `after` are looked at; by default the last `after` of the scene, or 100.
    pub steps: Option<u64>,
    /// Results as JUnit's XML.
    pub junit: Option<PathBuf>,
    /// Whether what comes out takes the place of what was kept, instead of being compared with it.
    pub update_golden: bool,
    /// The folder for what differs from what was kept.
    pub failed: PathBuf,
}

/// Runs the scenes and hands over what came of each check, scene after scene.
///
/// # Errors
/// [`Error::Tests`] where not all checks held; what is wrong with the request.
pub fn test(request: &Test, compiler: &Compiler, mut tell: impl FnMut(&Case)) -> Result<()> {
    let outputs = Outputs::one("--junit", request.junit.as_deref(), &request.scenes);
    outputs.check()?;
    let device = Device::open(request.run.device)?;
    outputs.check_data(&request.run, device.info().kind)?;
    let mut cases: Vec<Case> = Vec::new();
    let written = RefCell::default();
    for scene in &request.scenes {
        let trial = Trial { request, scene, device: &device, compiler, written: &written };
        let (found, last) = trial.cases();
        found.iter().for_each(&mut tell);
        cases.extend(found);
        if last {
            break;
        }
    }
    if let Some(path) = &request.junit {
        Error::write(path, junit::to_xml(&cases))?;
    }
    request.run.expect_uninterrupted()?;
    match worst(cases.iter().filter_map(Case::status)) {
        None => Ok(()),
        Some(status) => {
            let failed = cases.iter().filter(|case| case.outcome != Outcome::Passed).count();
            Err(Error::Tests { failed, of: cases.len(), status })
        }
    }
}

/// One scene under test.
struct Trial<'a> {
    request: &'a Test,
    scene: &'a SceneSource,
    device: &'a Device,
    compiler: &'a Compiler,
    /// The goldens that were written so far, and by which scene.
    written: &'a RefCell<BTreeMap<PathBuf, String>>,
}

/// What was measured of a check.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// After the first step.
    first: Option<f64>,
    /// When it is to hold.
    value: Option<f64>,
}

impl Trial<'_> {
    /// All cases of the scene, and whether no other may follow: a kernel runs on that cannot be stopped, or somebody
    /// has asked for the end.
    fn cases(&self) -> (Vec<Case>, bool) {
        let start = Instant::now();
        let mut cases = Vec::new();
        let run = &self.request.run;
        let ran = run.parse(self.scene, self.device.info().kind).and_then(|scene| {
            let mut stage = self.stage(&scene.manifest);
            let interop = Stage::interop(stage.as_ref().and_then(|s| s.as_ref().ok()), self.device);
            run.session(self.scene, self.device, self.compiler, interop, |session, _| {
                self.run(&scene.manifest, session, stage.as_mut(), &mut cases)
            })
        });
        let Err(error) = ran else { return (cases, false) };
        if run.interrupt.is_raised() {
            return (cases, true);
        }
        let stuck = error.is_of_stuck_session();
        cases.push(Case {
            scene: self.scene.name.clone(),
            line: None,
            name: "the scene runs".to_owned(),
            outcome: Outcome::Error(error.exit_status()),
            told: error.to_string(),
            elapsed: start.elapsed(),
        });
        (cases, stuck)
    }

    /// Where pictures are drawn, where the scene keeps some.
    fn stage(&self, manifest: &Manifest) -> Option<Result<Stage>> {
        let size = |golden: &Golden| match golden.of {
            Kept::Image { size_px, .. } => Some(size_px),
            Kept::Array { .. } => None,
        };
        let size_px = manifest.goldens.iter().find_map(size)?;
        Some(Stage::new(self.device, size_px))
    }

    /// Steps the scene and measures what its checks ask for on the way.
    fn run(
        &self,
        manifest: &Manifest,
        session: &mut Session,
        mut stage: Option<&mut Result<Stage>>,
        cases: &mut Vec<Case>,
    ) -> Result<()> {
        let (checks, end) = (&manifest.checks, self.end(manifest));
        let mut found = vec![Found::default(); checks.len()];
        let mut clock = Instant::now();
        let bar = progress_bar(end);
        for step in stops(manifest, end) {
            run_to(session, step, &bar)?;
            // Goldens alone need no statistics, whose kernels take their time to be made.
            if !checks.is_empty() {
                measure(session)?;
            }
            let snapshot = session.snapshot();
            for (check, found) in checks.iter().zip(&mut found) {
                let value = measured::value(check.of, &snapshot);
                if step == 1 {
                    found.first = value;
                }
                if step == check.after.unwrap_or(end) {
                    found.value = value;
                    let case = self.case(manifest, check, *found, step, clock.elapsed());
                    cases.push(case);
                    clock = Instant::now();
                }
            }
            let due = |golden: &&Golden| step == golden.after.unwrap_or(end);
            for golden in manifest.goldens.iter().filter(due) {
                let stage = stage.as_deref_mut();
                let kept = self.keep_or_compare(golden, manifest, session, stage);
                self.request.run.expect_uninterrupted()?;
                cases.push(self.golden(golden, manifest, kept, step, clock));
                clock = Instant::now();
            }
        }
        run_to(session, end, &bar)?;
        bar.finish_and_clear();
        let findings = session.snapshot().findings;
        cases.extend(findings.iter().map(|finding| self.mistake(finding, clock.elapsed())));
        if cases.is_empty() {
            cases.push(self.smoke(end, clock.elapsed()));
        }
        cases.sort_by_key(|case| case.line);
        Ok(())
    }

    /// What came of a golden. An error of its file, or of OpenGL, is told on its line: the other checks can be made.
    fn golden(
        &self,
        golden: &Golden,
        manifest: &Manifest,
        kept: Result<Comparison>,
        step: u64,
        start: Instant,
    ) -> Case {
        let name = match golden.of {
            Kept::Image { .. } => "picture",
            Kept::Array { of, .. } => &manifest.resource(of).name,
        };
        let name = format!("{name} as {} after {}", golden.file, steps(step));
        let (outcome, told) = match kept {
            Ok(Comparison { holds: true, told }) => (Outcome::Passed, told),
            Ok(Comparison { holds: false, told }) => (Outcome::Failed, told),
            Err(error) => (Outcome::Error(error.exit_status()), error.to_string()),
        };
        Case {
            scene: self.scene.name.clone(),
            line: Some(golden.at.line),
            told: format!("{name}: {told}"),
            name,
            outcome,
            elapsed: start.elapsed(),
        }
    }

    /// Compares what a golden keeps, or keeps it.
    fn keep_or_compare(
        &self,
        golden: &Golden,
        manifest: &Manifest,
        session: &mut Session,
        stage: Option<&mut Result<Stage>>,
    ) -> Result<Comparison> {
        let actual = actual(golden, manifest, session, &self.request.run, stage)?;
        let folder = self.scene.folder();
        if !self.request.update_golden {
            golden::expect_apart(manifest, folder, &self.failed())?;
            return actual.compare(golden, folder, &self.failed());
        }
        let name = Path::new(&golden.file);
        let path = folder.join(name);
        golden::expect_no_input(manifest, folder, &path)?;
        // Two scenes in one folder may name the same file; one of them would not find again what it wrote.
        if let Ok(known) = path.canonicalize()
            && let Some(scene) = self.written.borrow().get(&known)
        {
            let text = format!("the test of {scene} has just written it");
            let source = io::Error::new(io::ErrorKind::AlreadyExists, text);
            return Err(Error::File { action: "write", path, source });
        }
        actual.write_below(folder, name)?;
        if let Ok(known) = path.canonicalize() {
            self.written.borrow_mut().insert(known, self.scene.name.clone());
        }
        Ok(Comparison { holds: true, told: format!("wrote {}", path.display()) })
    }

    /// The folder for what differs: one for each scene where there are several, since they may keep files of one name.
    /// Below it is the scene's own path, with `__` for `..` and `_` for the root.
    fn failed(&self) -> PathBuf {
        let folder = &self.request.failed;
        if self.request.scenes.len() < 2 {
            return folder.clone();
        }
        let named = Path::new(&self.scene.name).components();
        let below = named.map(|part| match part {
            Component::Normal(name) => Path::new(name),
            Component::ParentDir => Path::new("__"),
            Component::RootDir => Path::new("_"),
            Component::CurDir | Component::Prefix(_) => Path::new(""),
        });
        folder.join(below.collect::<PathBuf>())
    }

    /// The step at which the run ends.
    fn end(&self, manifest: &Manifest) -> u64 {
        let checks = manifest.checks.iter().filter_map(|check| check.after);
        let last = checks.chain(manifest.goldens.iter().filter_map(|golden| golden.after)).max();
        let asked = self.request.steps.or(last).unwrap_or(DEFAULT_STEPS);
        asked.max(last.unwrap_or(0))
    }

    fn case(
        &self,
        manifest: &Manifest,
        check: &Check,
        found: Found,
        step: u64,
        elapsed: Duration,
    ) -> Case {
        let name = measured::name(check.of, manifest);
        let steps = steps(step);
        let (outcome, told) = match found.value {
            Some(value) => {
                let holds = measured::holds(check, value, found.first.unwrap_or(f64::NAN));
                // What fails and would read as what it should be.
                let is_close =
                    check.bounds.iter().any(|bound| measured::reads_as(*bound, value)) && !holds;
                let demand = measured::demand(check, found.value, found.first, is_close);
                let value = measured::told(value, is_close);
                let told = format!("{name} = {value} after {steps} ({demand})");
                (if holds { Outcome::Passed } else { Outcome::Failed }, told)
            }
            None => {
                let told = format!("{name} cannot be measured: such elements have no statistics");
                (Outcome::Error(ExitStatus::Failed), told)
            }
        };
        let demand = measured::demand(check, None, None, false);
        Case {
            scene: self.scene.name.clone(),
            line: Some(check.at.line),
            name: format!("{name} after {steps}: {demand}"),
            told,
            outcome,
            elapsed,
        }
    }

    /// A mistake that the checker found.
    fn mistake(&self, finding: &Diagnostic, elapsed: Duration) -> Case {
        let is_own = finding.file == self.scene.name;
        let place = if is_own { String::new() } else { format!("{}: ", finding.place()) };
        Case {
            scene: self.scene.name.clone(),
            line: finding.line.filter(|_| is_own),
            name: "the checker finds no mistake".to_owned(),
            told: format!("{place}{}", finding.text),
            outcome: Outcome::Failed,
            elapsed,
        }
    }

    /// That a scene without checks has run is something, too.
    fn smoke(&self, end: u64, elapsed: Duration) -> Case {
        Case {
            scene: self.scene.name.clone(),
            line: None,
            name: "the scene runs".to_owned(),
            told: format!("{} without a fault; no checks", steps(end)),
            outcome: Outcome::Passed,
            elapsed,
        }
    }
}

/// The steps after which something is to be measured.
fn stops(manifest: &Manifest, end: u64) -> BTreeSet<u64> {
    let drifts = |check: &Check| check.bounds.iter().any(|b| matches!(b, Bound::Drift(_)));
    let first = manifest.checks.iter().any(drifts).then_some(1);
    let checks = manifest.checks.iter().map(|check| check.after);
    let goldens = manifest.goldens.iter().map(|golden| golden.after);
    checks.chain(goldens).map(|after| after.unwrap_or(end)).chain(first).collect()
}

/// What there is today of what a golden keeps.
fn actual(
    golden: &Golden,
    manifest: &Manifest,
    session: &mut Session,
    run: &Run,
    stage: Option<&mut Result<Stage>>,
) -> Result<Actual> {
    match (golden.of, stage) {
        (Kept::Array { of, .. }, _) => {
            let declared = manifest.resource(of);
            let bytes = session.read(&declared.name)?;
            // That of the session knows where the fields of structures lie.
            let resource = session.resource(&declared.name).unwrap_or(declared);
            Ok(Actual::Array(npy::content_of(resource, &bytes).to_vec()))
        }
        (Kept::Image { view, size_px, legend, .. }, Some(Ok(stage))) => {
            measure_for(session, [view])?;
            let shot = Shot { view, size_px, legend };
            Ok(Actual::Picture { size_px, rgba: stage.picture(session, run, shot)? })
        }
        (Kept::Image { .. }, Some(Err(error))) => Err(Error::NoStage(error.to_string())),
        (Kept::Image { .. }, None) => Err(Error::NoStage("there is no OpenGL".to_owned())),
    }
}

fn steps(step: u64) -> String {
    if step == 1 { "1 step".to_owned() } else { format!("{step} steps") }
}

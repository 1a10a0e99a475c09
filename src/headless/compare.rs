//! `warpaint compare`: two scenes, or one in two ways, step by step, and where their results part.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
    slice,
};

use serde::Serialize;

use super::{
    Error, Result, Run, SceneSource,
    error::grouped,
    measured::Number,
    outputs::Outputs,
    report::write_json,
    run::{progress_bar, run_to},
};
use crate::{
    compile::Compiler,
    device::{Device, DeviceInfo, DeviceKind},
    diagnostic::one_line,
    interop::Interop,
    scene::Resource,
    session::{Compared, Parting, PassRatio, PassTimes, Session, Unlike, in_common},
};

/// Steps whose times count; those before are of the same programs.
const MOST_STEPS: usize = 1 << 20;

/// What to compare.
#[derive(Clone, Debug)]
pub struct Compare {
    /// A and B.
    pub sides: [Side; 2],
    /// Steps to run after the reset.
    pub steps: u64,
    /// Resources are compared after the reset, after every so many steps, and after the last one.
    pub every: u64,
    /// How far a number of B may be from A's: relative to the largest finite magnitude that A's resource has after that
    /// step or, where its elements are structures, that of the field.
    pub tolerance: f64,
    /// Differences and times, as JSON.
    pub json: Option<PathBuf>,
}

/// A scene, and how it runs.
#[derive(Clone, Debug)]
pub struct Side {
    /// The scene.
    pub scene: SceneSource,
    /// How it runs.
    pub run: Run,
}

/// Runs both scenes in turns, each from its own reset, and hands over what came out as lines to read: one a resource,
/// one a pass, and where the two part.
///
/// # Errors
/// [`Error::Differ`] where a resource differs by more than is allowed, or has another shape, or is on one side alone;
/// what is wrong with the scenes, kernels' faults, the devices' errors; [`Error::File`].
pub fn compare(request: &Compare, compiler: &Compiler, mut tell: impl FnMut(&str)) -> Result<()> {
    let scenes = request.sides.each_ref().map(|side| side.scene.clone());
    Outputs::one("--json", request.json.as_deref(), &scenes).check()?;
    let [mut a, mut b] = named_apart(&request.sides);
    let devices = open(&[&a, &b])?;
    // What the CPU device is too slow for is left out on both sides: they are to run the same.
    let is_cpu = devices.iter().any(|device| device.info().kind == DeviceKind::Cpu);
    [&mut a, &mut b].into_iter().for_each(|side| side.run.overrides.cpu = Some(is_cpu));
    for (side, device) in [&a, &b].into_iter().zip(&devices) {
        side.run.parse(&side.scene, device.info().kind)?;
        let scene = slice::from_ref(&side.scene);
        let output = Outputs::one("--json", request.json.as_deref(), scene);
        output.check_data(&side.run, device.info().kind)?;
    }
    let report = in_session(&a, &devices[0], compiler, |first| {
        in_session(&b, &devices[1], compiler, |second| found(request, [first, second]))
    })?;
    for (letter, side) in ["A", "B"].into_iter().zip(&report.sides) {
        tell(&format!("{letter}: {}", side.line()));
    }
    report.lines().iter().for_each(|line| tell(line));
    if let Some(path) = &request.json {
        report.write(path)?;
    }
    match report.failed() {
        names if names.is_empty() => Ok(()),
        names => Err(Error::Differ(names)),
    }
}

/// Both sides, B with a name of its own: what is wrong with a scene is told by its name.
fn named_apart([a, b]: &[Side; 2]) -> [Side; 2] {
    let mut sides = [a.clone(), b.clone()];
    if a.scene.name == b.scene.name {
        sides[1].scene.name += " (B)";
    }
    sides
}

/// The sides' devices, one for both where they ask for the same.
fn open([a, b]: &[&Side; 2]) -> Result<[Device; 2]> {
    let first = Device::open(a.run.device)?;
    let second = match a.run.device == b.run.device {
        true => first.clone(),
        false => Device::open(b.run.device)?,
    };
    Ok([first, second])
}

fn in_session<T>(
    side: &Side,
    device: &Device,
    compiler: &Compiler,
    work: impl FnOnce(&mut Session) -> Result<T>,
) -> Result<T> {
    let interop = Interop::none(device);
    side.run.session(&side.scene, device, compiler, interop, |session, _| work(session))
}

/// Runs both sessions in turns and compares what they hold.
fn found<'a>(request: &'a Compare, mut sessions: [&mut Session; 2]) -> Result<Report<'a>> {
    let [of_a, of_b] = sessions.each_ref().map(|session| resources(session));
    let (mut resources, unlike) = in_common([&of_a, &of_b]);
    let mut times = PassTimes::of_last(MOST_STEPS);
    let bar = progress_bar(request.steps);
    for step in 0..=request.steps {
        // What the first of two leaves in caches, or in the clock of the device, is not always B's advantage.
        let order = if step.is_multiple_of(2) { [0, 1] } else { [1, 0] };
        for side in order {
            run_to(sessions[side], step, &bar)?;
        }
        if step > 0 {
            times.add(&sessions.each_ref().map(|session| session.snapshot().passes));
        }
        if step.is_multiple_of(request.every) || step == request.steps {
            for compared in &mut resources {
                let name = compared.name.clone();
                let [a, b] = sessions.each_mut().map(|session| session.read(&name));
                compared.compare(step, [&a?, &b?], request.tolerance);
            }
        }
    }
    bar.finish_and_clear();
    let [a, b] = [0, 1].map(|side| SideReport::of(&request.sides[side], sessions[side]));
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        sides: [a, b],
        steps: request.steps,
        every: request.every,
        tolerance: request.tolerance,
        resources,
        unlike,
        passes: times.ratios(),
    })
}

fn resources(session: &Session) -> Vec<Resource> {
    let names = session.snapshot().resources.into_iter().map(|resource| resource.name);
    names.filter_map(|name| session.resource(&name).cloned()).collect()
}

/// All that came out.
#[derive(Debug, Serialize)]
struct Report<'a> {
    version: &'static str,
    sides: [SideReport<'a>; 2],
    steps: u64,
    every: u64,
    tolerance: f64,
    resources: Vec<Compared>,
    unlike: Vec<Unlike>,
    passes: Vec<PassRatio>,
}

/// What ran.
#[derive(Debug, Serialize)]
struct SideReport<'a> {
    scene: &'a str,
    device: DeviceInfo,
    seed: u64,
    constants: &'a BTreeMap<String, String>,
    defines: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fast_math: Option<bool>,
    parameters: BTreeMap<&'a str, &'a str>,
}

impl Report<'_> {
    /// The names of what differs by more than is allowed, or cannot be compared.
    fn failed(&self) -> Vec<String> {
        let beyond = self.resources.iter().filter(|resource| resource.beyond.is_some());
        let unlike = self.unlike.iter().map(|unlike| unlike.name.clone());
        beyond.map(|resource| resource.name.clone()).chain(unlike).collect()
    }

    fn lines(&self) -> Vec<String> {
        let resources = self.resources.iter().map(line_of);
        let unlike = self.unlike.iter().map(line_of_unlike);
        let passes = self.passes.iter().map(line_of_pass);
        // Of several after the same step it is that of the resource declared first.
        let beyond = self.resources.iter().filter_map(|resource| resource.beyond.as_ref());
        let parting = beyond.min_by_key(|parting| parting.step);
        let parting = parting.map(|parting| {
            let Parting { at, a, b, .. } = parting;
            format!("they part {} at {at}: {a} in A, {b} in B", when(parting))
        });
        resources.chain(unlike).chain(passes).chain(parting).collect()
    }

    fn write(&self, path: &Path) -> Result<()> {
        write_json(path, self)
    }
}

impl<'a> SideReport<'a> {
    fn of(side: &'a Side, session: &Session) -> Self {
        let Run { overrides, parameters, .. } = &side.run;
        Self {
            scene: &side.scene.name,
            device: session.device().info().clone(),
            seed: session.seed(),
            constants: &overrides.constants,
            defines: &overrides.defines,
            fast_math: overrides.fast_math,
            parameters: parameters.iter().map(|(name, value)| (&**name, &**value)).collect(),
        }
    }

    /// As in `scene.cu on cpu, n = 5`.
    fn line(&self) -> String {
        let mut line = format!("{} on {}", one_line(self.scene), self.device.selector);
        let texts = [self.constants, self.defines].into_iter().flatten();
        let set = texts.map(|(name, value)| (&**name, &**value));
        for (name, value) in set.chain(self.parameters.iter().map(|(name, value)| (*name, *value)))
        {
            let _ = write!(line, ", {} = {}", one_line(name), one_line(value));
        }
        line.push_str(match self.fast_math {
            Some(true) => ", with fast mathematics",
            Some(false) => ", with exact mathematics",
            None => "",
        });
        line
    }
}

fn line_of_unlike(Unlike { name, is }: &Unlike) -> String {
    match is {
        [Some(a), Some(b)] if a == b => {
            format!("{name}: not compared: {a} with other fields in A than in B")
        }
        [Some(a), Some(b)] => format!("{name}: not compared: {a} in A, {b} in B"),
        [a, _] => {
            let side = if a.is_some() { "A" } else { "B" };
            format!("{name}: not compared: in {side} alone")
        }
    }
}

/// As in `position: up to 12 of 4,000 numbers differ, by at most 1.2e-7 (relative 3e-7, 2 ulp), first
/// position[3].y after step 17`.
fn line_of(compared: &Compared) -> String {
    let Compared { name, first, beyond, .. } = compared;
    let Some(first) = first else {
        let same = if compared.same_bits { "bits" } else { "numbers" };
        return format!("{name}: the same {same}");
    };
    let mut line = format!(
        "{name}: up to {} of {} numbers differ, by at most {} (relative {}{}), first {} {}",
        grouped(compared.differing),
        grouped(compared.numbers),
        Number(compared.most.absolute),
        Number(compared.most.relative),
        ulp(compared),
        first.at,
        when(first),
    );
    match beyond {
        None => line += ", within the tolerance",
        Some(beyond) if (beyond.step, &beyond.at) != (first.step, &first.at) => {
            let _ = write!(line, ", beyond the tolerance {} {}", beyond.at, when(beyond));
        }
        Some(_) => {}
    }
    line
}

/// The units in the last place, where some number has such.
fn ulp(compared: &Compared) -> String {
    match compared.most.ulp {
        None => ", NaN against a number".to_owned(),
        Some(ulp) if compared.has_floats() => format!(", {} ulp", grouped(ulp)),
        Some(_) => String::new(),
    }
}

fn when(parting: &Parting) -> String {
    match parting.step {
        0 => "after the reset".to_owned(),
        step => format!("after step {step}"),
    }
}

/// As in `pass advance: B/A 1.02 (0.99 to 1.05), 0.5100 ms and 0.5200 ms`.
fn line_of_pass(PassRatio { name, ratio, median_ms: [a, b] }: &PassRatio) -> String {
    let ratio = ratio.map_or_else(String::new, |[low, median, high]| {
        format!("B/A {median:.2} ({low:.2} to {high:.2}), ")
    });
    format!("pass {}: {ratio}{a:.4} ms and {b:.4} ms", one_line(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_told_in_a_line() {
        let median_ms = [3.0, 4.25];
        let told = |ratio| line_of_pass(&PassRatio { name: "k".to_owned(), ratio, median_ms });
        let line = "pass k: B/A 1.62 (1.44 to 1.81), 3.0000 ms and 4.2500 ms";
        assert_eq!(told(Some([1.4375, 1.625, 1.8125])), line);
        assert_eq!(told(None), "pass k: 3.0000 ms and 4.2500 ms");
    }
}

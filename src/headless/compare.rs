//! `warpaint compare`: two scenes, or one in two ways, step by step, and where their results part.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{
    Error, Result, Run, SceneSource,
    difference::{Difference, Gap, Place, difference, numbers},
    error::grouped,
    measured::Number,
    outputs::Outputs,
    pass_times::{Figure, PassTimes},
    report::write_json,
    run::{progress_bar, run_to},
};
use crate::{
    compile::Compiler,
    device::{Device, DeviceInfo, DeviceKind},
    diagnostic::one_line,
    interop::Interop,
    scene::Resource,
    session::Session,
};

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
    let (mut resources, unlike) = in_common(&sessions);
    let mut times = PassTimes::default();
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
                compared.compare(step, &mut sessions, request.tolerance)?;
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
        passes: times.figures(),
    })
}

/// The resources that can be compared, in A's order, and those that cannot.
fn in_common(sessions: &[&mut Session; 2]) -> (Vec<Compared>, Vec<Unlike>) {
    let [of_a, of_b] = sessions.each_ref().map(|session| resources(session));
    let mut others: BTreeMap<String, Resource> =
        of_b.iter().map(|resource| (resource.name.clone(), resource.clone())).collect();
    let (mut alike, mut unlike) = (Vec::new(), Vec::new());
    for resource in of_a {
        match others.remove(&resource.name) {
            Some(other) if has_same_shape(&resource, &other) => alike.push(Compared::new(resource)),
            other => unlike.push(Unlike::new([Some(&resource), other.as_ref()])),
        }
    }
    let rest = of_b.iter().filter(|resource| others.contains_key(&resource.name));
    unlike.extend(rest.map(|resource| Unlike::new([None, Some(resource)])));
    (alike, unlike)
}

fn resources(session: &Session) -> Vec<Resource> {
    let names = session.snapshot().resources.into_iter().map(|resource| resource.name);
    names.filter_map(|name| session.resource(&name).cloned()).collect()
}

/// Whether what both hold is numbers of one type in the same places.
fn has_same_shape(a: &Resource, b: &Resource) -> bool {
    (a.of(), a.extent()) == (b.of(), b.extent())
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
    passes: Vec<Figure>,
}

/// What ran.
#[derive(Debug, Serialize)]
struct SideReport<'a> {
    scene: &'a str,
    device: DeviceInfo,
    seed: u64,
    constants: &'a BTreeMap<String, String>,
    defines: &'a BTreeMap<String, String>,
    parameters: BTreeMap<&'a str, &'a str>,
}

/// A resource that is on one side alone, or has another shape there.
#[derive(Debug, Serialize)]
struct Unlike {
    name: String,
    /// What it is in A and in B.
    is: [Option<String>; 2],
}

/// A resource of both sides, and how it differs over all steps after which it was compared.
#[derive(Debug, Serialize)]
struct Compared {
    #[serde(skip)]
    resource: Resource,
    name: String,
    /// The type of its elements.
    element: String,
    /// Width, height and depth in elements.
    extent: [u64; 3],
    /// Numbers in all its elements together.
    numbers: u64,
    /// Whether it was the same to the last bit.
    same_bits: bool,
    /// Numbers that differ, at most.
    differing: u64,
    /// How far any are apart, at most.
    #[serde(flatten)]
    most: Gap,
    /// Where and when the first differs, and the first that does so by more than is allowed.
    first: Option<Parting>,
    beyond: Option<Parting>,
    /// How it differs after the last step.
    last: Option<Last>,
}

#[derive(Debug, Serialize)]
struct Last {
    differing: u64,
    #[serde(flatten)]
    most: Gap,
}

/// Two numbers that differ, where, and when.
#[derive(Clone, Debug, Serialize)]
struct Parting {
    /// Steps finished; 0 after the reset.
    step: u64,
    /// As in `position[3].y`.
    at: String,
    /// The numbers as text: NaN is none of JSON's, and large integers are none of every reader's.
    a: String,
    b: String,
}

impl Report<'_> {
    /// The names of what differs by more than is allowed, or cannot be compared.
    fn failed(&self) -> Vec<String> {
        let beyond = self.resources.iter().filter(|resource| resource.beyond.is_some());
        let unlike = self.unlike.iter().map(|unlike| unlike.name.clone());
        beyond.map(|resource| resource.name.clone()).chain(unlike).collect()
    }

    fn lines(&self) -> Vec<String> {
        let resources = self.resources.iter().map(Compared::line);
        let unlike = self.unlike.iter().map(Unlike::line);
        let passes = self.passes.iter().map(Figure::line);
        // Of several after the same step it is that of the resource declared first.
        let beyond = self.resources.iter().filter_map(|resource| resource.beyond.as_ref());
        let parting = beyond.min_by_key(|parting| parting.step);
        let parting = parting.map(|parting| {
            let Parting { at, a, b, .. } = parting;
            format!("they part {} at {at}: {a} in A, {b} in B", parting.when())
        });
        resources.chain(unlike).chain(passes).chain(parting).collect()
    }

    fn write(&self, path: &Path) -> Result<()> {
        write_json(path, self)
    }
}

impl<'a> SideReport<'a> {
    fn of(side: &'a Side, session: &Session) -> Self {
        let Run { overrides, parameters, seed, .. } = &side.run;
        Self {
            scene: &side.scene.name,
            device: session.device().info().clone(),
            seed: *seed,
            constants: &overrides.constants,
            defines: &overrides.defines,
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
        line
    }
}

impl Unlike {
    fn new(sides: [Option<&Resource>; 2]) -> Self {
        let name = sides.iter().flatten().next().map(|resource| resource.name.clone());
        let is = sides.map(|resource| resource.map(Resource::to_string));
        Self { name: name.unwrap_or_default(), is }
    }

    fn line(&self) -> String {
        let name = &self.name;
        match &self.is {
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
}

impl Compared {
    fn new(resource: Resource) -> Self {
        Self {
            name: resource.name.clone(),
            element: resource.of().to_string(),
            extent: resource.extent(),
            numbers: numbers(&resource.of()).saturating_mul(resource.count()),
            same_bits: true,
            differing: 0,
            most: Gap::NONE,
            first: None,
            beyond: None,
            last: None,
            resource,
        }
    }

    /// Compares what the sessions hold after `step`.
    fn compare(&mut self, step: u64, [a, b]: &mut [&mut Session; 2], tolerance: f64) -> Result<()> {
        let (a, b) = (a.read(&self.name)?, b.read(&self.name)?);
        self.add(step, difference(&self.resource.of(), [&a, &b], tolerance));
        Ok(())
    }

    fn add(&mut self, step: u64, found: Difference) {
        let Difference { same_bits, differing, most, first, beyond } = found;
        self.same_bits &= same_bits;
        self.differing = self.differing.max(differing);
        self.most = self.most.max(most);
        self.last = Some(Last { differing, most });
        if self.first.is_none() {
            self.first = first.map(|place| self.parting(step, place));
        }
        if self.beyond.is_none() {
            self.beyond = beyond.map(|place| self.parting(step, place));
        }
    }

    fn parting(&self, step: u64, place: Place) -> Parting {
        let [a, b] = place.values;
        let number = match place.number.as_str() {
            "" => String::new(),
            name => format!(".{name}"),
        };
        let at = format!("{}[{}]{number}", self.name, self.index(place.element as u64));
        Parting { step, at, a, b }
    }

    /// How an element is called: `3`, or `x=12, y=3` of a texture.
    fn index(&self, element: u64) -> String {
        let [width, height, _] = self.extent.map(|side| side.max(1));
        let (x, y) = (element % width, element / width % height);
        match self.resource.texture() {
            None => element.to_string(),
            Some(texture) if texture.dimensions == 3 => {
                format!("x={x}, y={y}, z={}", element / width / height)
            }
            Some(_) => format!("x={x}, y={y}"),
        }
    }

    /// As in `position: up to 12 of 4,000 numbers differ, by at most 1.2e-7 (relative 3e-7, 2 ulp), first
    /// position[3].y after step 17`.
    fn line(&self) -> String {
        let Self { name, first, beyond, .. } = self;
        let Some(first) = first else {
            let same = if self.same_bits { "bits" } else { "numbers" };
            return format!("{name}: the same {same}");
        };
        let mut line = format!(
            "{name}: up to {} of {} numbers differ, by at most {} (relative {}{}), first {} {}",
            grouped(self.differing),
            grouped(self.numbers),
            Number(self.most.absolute),
            Number(self.most.relative),
            self.ulp(),
            first.at,
            first.when(),
        );
        match beyond {
            None => line += ", within the tolerance",
            Some(beyond) if (beyond.step, &beyond.at) != (first.step, &first.at) => {
                let _ = write!(line, ", beyond the tolerance {} {}", beyond.at, beyond.when());
            }
            Some(_) => {}
        }
        line
    }

    /// The units in the last place, where some number has such.
    fn ulp(&self) -> String {
        let has_floats = self.resource.of().parts().iter().any(|p| p.element.scalar.is_float());
        match self.most.ulp {
            None => ", NaN against a number".to_owned(),
            Some(ulp) if has_floats => format!(", {} ulp", grouped(ulp)),
            Some(_) => String::new(),
        }
    }
}

impl Parting {
    fn when(&self) -> String {
        match self.step {
            0 => "after the reset".to_owned(),
            step => format!("after step {step}"),
        }
    }
}

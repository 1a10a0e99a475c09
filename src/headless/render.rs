//! `warpaint render`: runs a scene for some steps and writes down what came out.

use std::path::PathBuf;

use super::{
    Error, Result, Run, SceneSource, npy,
    outputs::Outputs,
    report::{self, Sample},
    run::{expect_no_findings, progress_bar, run_to},
    stage::Stage,
};
use crate::{
    compile::Compiler,
    device::Device,
    diagnostic::Diagnostic,
    record::{Film, Recorder, Target},
    scene::Scene,
    session::{self, Session},
};

/// Pictures a second of a clip, about, where nobody says.
const CLIP_RATE: f64 = 30.0;

/// What to render, and where to.
#[derive(Clone, Debug)]
pub struct Render {
    /// The scene.
    pub scene: SceneSource,
    /// Steps to run after the reset.
    pub steps: u64,
    /// Width and height of the picture in pixels.
    pub size_px: [u32; 2],
    /// Whether pictures have the legend of their colours, where these stand for numbers.
    pub legend: bool,
    /// The pictures: see [`Target`]; `None`: nothing is drawn and no OpenGL is needed.
    pub out: Option<PathBuf>,
    /// A picture, and a sample of the statistics, every so many steps.
    pub every: Option<u64>,
    /// Pictures of a clip that are shown in a second.
    pub per_second: Option<f64>,
    /// Resources to dump.
    pub dumps: Vec<Dump>,
    /// Statistics, timings and device, as JSON.
    pub json: Option<PathBuf>,
    /// How it runs.
    pub run: Run,
}

/// A resource to write as `.npy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The resource.
    pub resource: String,
    /// The file.
    pub path: PathBuf,
}

/// Runs the scene and writes the files. Returns the compiler's warnings.
///
/// # Errors
/// See [`Error`]: everything that is wrong with the request or the source comes before the first step, and
/// each file is written whole or not at all.
pub fn render(request: &Render, compiler: &Compiler) -> Result<Vec<Diagnostic>> {
    let target = request.out.as_deref().map(Target::of).transpose()?;
    check_rhythm(request, target.as_ref())?;
    Outputs::of(request, target.as_ref()).check()?;
    let device = Device::open(request.run.device)?;
    let scene = check_names(request, &device)?;
    let rhythm = Rhythm::new(request, target.as_ref(), scene.manifest.dt)?;
    let mut stage = target.as_ref().map(|_| Stage::new(&device, request.size_px)).transpose()?;
    let mut recorder =
        target.map(|target| Recorder::new(target, rhythm.film(request))).transpose()?;
    let interop = Stage::interop(stage.as_ref(), &device);
    let scene = &request.scene;
    request.run.session(scene, &device, compiler, interop, |session, remarks| {
        let mut samples = Vec::new();
        let bar = progress_bar(request.steps);
        let mut drawn = || {
            for step in rhythm.stops() {
                run_to(session, step, &bar)?;
                if let (Some(recorder), Some(stage), true) =
                    (&mut recorder, &mut stage, rhythm.has_picture(step))
                {
                    let picture =
                        stage.picture(session, &request.run, request.size_px, request.legend)?;
                    recorder.add(step, &picture)?;
                }
                if request.json.is_some() && request.every.is_some() {
                    samples.push(Sample::take(session)?);
                }
            }
            Ok(())
        };
        let written = drawn().and_then(|()| {
            recorder.map(Recorder::finish).transpose()?;
            bar.finish_and_clear();
            write_dumps(request, session)?;
            match &request.json {
                Some(path) => report::write(path, request, compiler, &samples, session),
                None => Ok(()),
            }
        });
        expect_no_findings(written, session).map(|()| remarks)
    })
}

/// When something is written.
struct Rhythm {
    steps: u64,
    every: Option<u64>,
    /// Whether pictures follow one another in equal distances, so that one out of turn is none of them.
    clip: bool,
    /// Pictures shown in a second.
    per_second: f64,
}

impl Rhythm {
    /// A clip shows the scene in its own time, unless it is asked for otherwise.
    fn new(request: &Render, target: Option<&Target>, dt: f64) -> Result<Self> {
        let clip = matches!(target, Some(Target::Clip(..)));
        let usual = || (1.0 / (CLIP_RATE * dt)).round().max(1.0) as u64;
        let every = request.every.or_else(|| clip.then(usual));
        let per_second = request.per_second.unwrap_or(1.0 / (dt * every.unwrap_or(1) as f64));
        if let Some(every) = every.filter(|&every| clip && every > request.steps) {
            let text = format!("{} steps are too few for a picture every {every}", request.steps);
            return Err(Error::Usage(text));
        }
        Ok(Self { steps: request.steps, every, clip, per_second })
    }

    /// The steps after which something is to be written; the last one at the end.
    fn stops(&self) -> impl Iterator<Item = u64> + use<> {
        let (steps, every) = (self.steps, self.every.unwrap_or(u64::MAX));
        let regular = (1..=steps / every).map(move |k| k * every);
        regular.chain((!steps.is_multiple_of(every) || steps == 0).then_some(steps))
    }

    fn has_picture(&self, step: u64) -> bool {
        match self.every {
            Some(every) if self.clip => step.is_multiple_of(every),
            Some(_) => true,
            None => step == self.steps,
        }
    }

    fn film(&self, request: &Render) -> Film {
        let frames = self.steps / self.every.unwrap_or(1);
        let frames = u32::try_from(frames).unwrap_or(u32::MAX);
        Film { size_px: request.size_px, per_second: self.per_second, frames }
    }
}

/// What `--every` and `--fps` can mean for the files that are asked for.
fn check_rhythm(request: &Render, target: Option<&Target>) -> Result<()> {
    let usage = |message: String| Err(Error::Usage(message));
    match (request.every, target) {
        (Some(0), _) => return usage("--every needs a number of steps above 0".to_owned()),
        (Some(_), Some(Target::Picture(path))) => {
            let path = path.display();
            return usage(format!("--every writes many pictures: give {path} a %04d for the step"));
        }
        (Some(_), None) if request.json.is_none() => {
            return usage("--every needs --out or --json: something to write".to_owned());
        }
        _ => {}
    }
    match (request.per_second, target) {
        (None, _) | (Some(_), Some(Target::Clip(..))) => Ok(()),
        (Some(_), _) => usage("--fps is for clips: .gif, .apng, .mp4, .webm".to_owned()),
    }
}

/// What can be known to be wrong before anything runs.
fn check_names(request: &Render, device: &Device) -> Result<Scene> {
    let scene = request.run.parse(&request.scene, device.info().kind)?;
    for dump in &request.dumps {
        if scene.manifest.find_resource(&dump.resource).is_none() {
            let available = scene.manifest.resources().iter().map(|r| r.name.clone()).collect();
            let name = dump.resource.clone();
            return Err(session::Error::NoSuchResource { name, available }.into());
        }
    }
    if request.out.is_some() && scene.manifest.view.is_none() {
        return Err(Error::Usage(format!(
            "{} has nothing to draw: it needs a [view]",
            request.scene.name
        )));
    }
    Ok(scene)
}

fn write_dumps(request: &Render, session: &mut Session) -> Result<()> {
    for dump in &request.dumps {
        let bytes = session.read(&dump.resource)?;
        if let Some(resource) = session.resource(&dump.resource) {
            npy::write(&dump.path, resource, &bytes)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_come_at_equal_distances_and_the_last_step_too() {
        let stops = |steps, every, clip| {
            let rhythm = Rhythm { steps, every, clip, per_second: 30.0 };
            let all: Vec<u64> = rhythm.stops().collect();
            let pictures = all.iter().copied().filter(|&step| rhythm.has_picture(step)).collect();
            (all, pictures)
        };
        let [none, few]: [Vec<u64>; 2] = [vec![0], vec![2, 4, 5]];
        assert_eq!(stops(0, None, false), (none.clone(), none.clone()));
        assert_eq!(stops(0, Some(2), false), (none.clone(), none));
        assert_eq!(stops(5, None, false), (vec![5], vec![5]));
        assert_eq!(stops(5, Some(2), false), (few.clone(), few.clone()));
        assert_eq!(stops(5, Some(2), true), (few, vec![2, 4]));
        assert_eq!(stops(4, Some(2), false), (vec![2, 4], vec![2, 4]));
    }
}

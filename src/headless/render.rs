//! `warpaint render`: runs a scene for some steps and writes down what came out.

use std::sync::atomic::Ordering;

use indicatif::ProgressBar;

use super::{
    Error, Out, Render, Result, npy,
    outputs::Outputs,
    plots::Plots,
    replay::{end, replay_to},
    report::{self, Sample},
    run::{expect_no_fault, expect_no_findings, measure, progress_bar, run_to},
    stage::{Shot, Stage, measure_for},
};
use crate::{
    compile::Compiler,
    device::Device,
    diagnostic::{Diagnostic, Severity},
    record::{self, Film, Recorder, Target},
    scene::{Scene, ViewId},
    session::{self, Past, Replay, Session},
};

/// Pictures a second of a clip, about, where nobody says.
const CLIP_RATE: f64 = 30.0;

/// Runs the scene and writes the files. Returns the compiler's warnings.
///
/// # Errors
/// See [`Error`]: everything that is wrong with the request or the source comes before the first step, and
/// each file is written whole or not at all.
pub fn render(request: &Render, compiler: &Compiler) -> Result<Vec<Diagnostic>> {
    render_with(request, compiler, None)
}

/// As [`render`]; the steps are those of `replay`, where one is given.
///
/// # Errors
/// As [`render`].
pub fn render_with(
    request: &Render,
    compiler: &Compiler,
    mut replay: Option<&mut Replay>,
) -> Result<Vec<Diagnostic>> {
    let targets = request.outs.iter().map(|out| Target::of(&out.path));
    let targets = targets.collect::<record::Result<Vec<Target>>>()?;
    check_rhythm(request, &targets)?;
    if request.record.is_some() && request.from.is_some() {
        let text = "--record does not go with --from: a run file begins with a reset, and has no state to begin with; \
                    record the run that led to that state, or --save where this one ends";
        return Err(Error::Usage(text.to_owned()));
    }
    let run = replay.as_ref().map(|replay| replay.path().to_owned());
    let outputs = Outputs::of(request, &targets).of_run(run.as_deref());
    outputs.check()?;
    let device = Device::open(request.run.device)?;
    outputs.check_data(&request.run, device.info().kind)?;
    let scene = request.run.parse(&request.scene, device.info().kind)?;
    // What a run ends with may have what it did not begin with.
    let end = replay.as_ref().and_then(|replay| end(replay));
    let end = end.map(|end| request.run.parse(&end, device.info().kind)).transpose()?;
    let end = end.as_ref().unwrap_or(&scene);
    check_names(request, end)?;
    let rhythm = Rhythm::new(request, &targets, scene.manifest.dt)?;
    let plots = Plots::of(&request.plots, &end.manifest, &request.scene.name)?;
    let wants_stage = !targets.is_empty() || plots.are_drawn();
    let mut stage = wants_stage.then(|| Stage::new(&device, request.size_px)).transpose()?;
    let reels = request.outs.iter().zip(targets);
    let reels = reels.map(|(out, target)| Reel::new(out, target, rhythm.film(request)));
    let mut reels = reels.collect::<Result<Vec<Reel>>>()?;
    let interop = Stage::interop(stage.as_ref(), &device);
    let scene = &request.scene;
    let history = if request.record.is_some() { Past::Kept } else { Past::Forgotten };
    request.run.session_with(scene, &device, compiler, interop, history, |session, mut remarks| {
        let mut samples = Vec::new();
        let bar = progress_bar(request.steps);
        remarks.extend(begin(session, request)?);
        let first = session.clock().step;
        let mut advance = |session: &mut Session, steps: u64| match &mut replay {
            Some(replay) => replay_to(replay, session, steps, &bar),
            None => go_on(session, first + steps, request, &bar),
        };
        let mut drawn = || {
            let mut last = 0;
            for step in rhythm.stops() {
                for stop in plots.stops(last, step, request.every.unwrap_or(1)) {
                    advance(session, stop)?;
                    measure(session)?;
                }
                last = step;
                advance(session, step)?;
                if let Some(stage) = &mut stage {
                    let due =
                        reels.iter_mut().filter(|reel| rhythm.has_picture(step, &reel.target));
                    film(due.collect(), first + step, stage, session, request)?;
                }
                if request.json.is_some() && request.every.is_some() {
                    samples.push(Sample::take(session)?);
                }
            }
            Ok(())
        };
        let written = drawn().and_then(|()| {
            reels.into_iter().try_for_each(|reel| reel.recorder.finish())?;
            bar.finish_and_clear();
            write_dumps(request, session)?;
            plots.write(session, stage.as_mut(), &request.run, request.size_px)?;
            if let Some(save) = &request.save {
                session.save(&save.path)?;
            }
            if let Some(path) = &request.record {
                session.run()?.write(path)?;
            }
            match &request.json {
                Some(path) => report::write(path, request, compiler, &samples, session),
                None => Ok(()),
            }
        });
        expect_no_findings(written, session).map(|()| remarks)
    })
}

/// Begins with the state that is asked for. Gives what there is to remark.
fn begin(session: &mut Session, request: &Render) -> Result<Option<Diagnostic>> {
    if request.save.is_some() {
        session.expect_states()?;
    }
    if request.record.is_some() {
        session.expect_run()?;
    }
    let Some(path) = &request.from else { return Ok(None) };
    let remarks = session.load(path)?;
    expect_no_fault(session)?;
    let text = format!("{} has {}", path.display(), remarks.join("; "));
    let remark = Diagnostic::error(&request.scene.name, text).with_severity(Severity::Warning);
    Ok((!remarks.is_empty()).then_some(remark))
}

/// Steps until `step` steps have been done, and writes the state on the way when that is asked for.
fn go_on(session: &mut Session, step: u64, request: &Render, bar: &ProgressBar) -> Result<()> {
    let Some(save) = &request.save else { return run_to(session, step, bar) };
    run_to(session, 0, bar)?;
    while session.clock().step < step {
        run_to(session, session.clock().step + 1, bar)?;
        if save.now.swap(false, Ordering::AcqRel) {
            session.save(&save.path)?;
        }
    }
    Ok(())
}

/// Pictures of a view on their way to their files.
struct Reel {
    /// The name of the view; `None`: the first one.
    view: Option<String>,
    target: Target,
    recorder: Recorder,
}

impl Reel {
    fn new(out: &Out, target: Target, film: Film) -> Result<Self> {
        let recorder = Recorder::new(target.clone(), film)?;
        Ok(Self { view: out.view.clone(), target, recorder })
    }

    /// The view, as the text numbers it that runs now.
    fn view(&self, session: &Session, request: &Render) -> Result<ViewId> {
        let found = session.find_view(self.view.as_deref());
        let step = session.clock().step;
        found.map_err(|problem| {
            Error::Usage(format!("{}, after {step} steps: {problem}", request.scene.name))
        })
    }
}

/// Adds the picture after `step` to each of these.
fn film(
    reels: Vec<&mut Reel>,
    step: u64,
    stage: &mut Stage,
    session: &mut Session,
    request: &Render,
) -> Result<()> {
    let views = reels.iter().map(|reel| reel.view(session, request));
    let views = views.collect::<Result<Vec<ViewId>>>()?;
    measure_for(session, views.iter().copied())?;
    for (reel, view) in reels.into_iter().zip(views) {
        let Render { size_px, legend, .. } = *request;
        let shot = Shot { view, size_px, legend };
        reel.recorder.add(step, &stage.picture(session, &request.run, shot)?)?;
    }
    Ok(())
}

/// When something is written.
struct Rhythm {
    steps: u64,
    every: Option<u64>,
    /// Whether somebody asked for `every`, and not only a clip needs it.
    asked: bool,
    /// Pictures shown in a second.
    per_second: f64,
}

impl Rhythm {
    /// A clip shows the scene in its own time, unless it is asked for otherwise.
    fn new(request: &Render, targets: &[Target], dt: f64) -> Result<Self> {
        let clip = targets.iter().any(|target| matches!(target, Target::Clip(..)));
        let usual = || (1.0 / (CLIP_RATE * dt)).round().max(1.0) as u64;
        let every = request.every.or_else(|| clip.then(usual));
        let per_second = request.per_second.unwrap_or(1.0 / (dt * every.unwrap_or(1) as f64));
        if let Some(every) = every.filter(|&every| clip && every > request.steps) {
            let text = format!("{} steps are too few for a picture every {every}", request.steps);
            return Err(Error::Usage(text));
        }
        Ok(Self { steps: request.steps, every, asked: request.every.is_some(), per_second })
    }

    /// The steps after which something is to be written; the last one at the end.
    fn stops(&self) -> impl Iterator<Item = u64> + use<> {
        let (steps, every) = (self.steps, self.every.unwrap_or(u64::MAX));
        let regular = (1..=steps / every).map(move |k| k * every);
        regular.chain((!steps.is_multiple_of(every) || steps == 0).then_some(steps))
    }

    /// Whether the picture after `step` is one of the target's. Those of a clip follow one another in equal distances,
    /// so that one out of turn is none of them.
    fn has_picture(&self, step: u64, target: &Target) -> bool {
        match target {
            Target::Picture(_) => step == self.steps,
            Target::Sequence { .. } => self.asked || step == self.steps,
            Target::Clip(..) => self.every.is_some_and(|every| step.is_multiple_of(every)),
        }
    }

    fn film(&self, request: &Render) -> Film {
        let frames = self.steps / self.every.unwrap_or(1);
        let frames = u32::try_from(frames).unwrap_or(u32::MAX);
        Film { size_px: request.size_px, per_second: self.per_second, frames }
    }
}

/// What `--every` and `--fps` can mean for the files that are asked for.
fn check_rhythm(request: &Render, targets: &[Target]) -> Result<()> {
    let usage = |message: String| Err(Error::Usage(message));
    if request.every == Some(0) {
        return usage("--every needs a number of steps above 0".to_owned());
    }
    if request.every.is_some() {
        for target in targets {
            if let Target::Picture(path) = target {
                let path = path.display();
                let text = format!("--every writes many pictures: give {path} a %04d for the step");
                return usage(text);
            }
        }
        if targets.is_empty() && request.json.is_none() && request.plots.is_empty() {
            return usage("--every needs --out, --json or --plot: something to write".to_owned());
        }
    }
    let has_clip = targets.iter().any(|target| matches!(target, Target::Clip(..)));
    if request.per_second.is_some() && !has_clip {
        return usage("--fps is for clips: .gif, .apng, .mp4, .webm".to_owned());
    }
    Ok(())
}

/// That `scene` has what is to be written.
fn check_names(request: &Render, scene: &Scene) -> Result<()> {
    for dump in &request.dumps {
        if scene.manifest.find_resource(&dump.resource).is_none() {
            let available = scene.manifest.resources().iter().map(|r| r.name.clone()).collect();
            let name = dump.resource.clone();
            return Err(session::Error::NoSuchResource { name, available }.into());
        }
    }
    if let (Some(_), [], [plot, ..]) =
        (request.outs.first(), &scene.manifest.views[..], &scene.manifest.plots[..])
    {
        let (name, plot) = (&request.scene.name, &plot.name);
        let how =
            format!("{name}: there is no [view], but plots: --plot {plot}=FILE.png draws one");
        return Err(Error::Usage(how));
    }
    request.outs.iter().try_for_each(|out| {
        let found = scene.manifest.find_view(out.view.as_deref()).map(|_| ());
        found.map_err(|problem| Error::Usage(format!("{}: {problem}", request.scene.name)))
    })
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
    use std::path::Path;

    use super::*;

    #[test]
    fn pictures_come_at_equal_distances_and_the_last_step_too() {
        let stops = |steps, every: Option<u64>, clip| {
            let rhythm = Rhythm { steps, every, asked: every.is_some(), per_second: 30.0 };
            let target = Target::of(Path::new(if clip { "a.gif" } else { "%d.png" })).unwrap();
            let all: Vec<u64> = rhythm.stops().collect();
            let is_due = |step: &u64| rhythm.has_picture(*step, &target);
            let pictures = all.iter().copied().filter(is_due).collect();
            (all, pictures)
        };
        let [none, few]: [Vec<u64>; 2] = [vec![0], vec![2, 4, 5]];
        assert_eq!(stops(0, None, false), (none.clone(), none.clone()));
        assert_eq!(stops(0, Some(2), false), (none.clone(), none));
        assert_eq!(stops(5, None, false), (vec![5], vec![5]));
        assert_eq!(stops(5, Some(2), false), (few.clone(), few.clone()));
        assert_eq!(stops(5, Some(2), true), (few, vec![2, 4]));
        assert_eq!(stops(4, Some(2), false), (vec![2, 4], vec![2, 4]));
        // A clip's own rhythm is none of what stands beside it.
        let rhythm = Rhythm { steps: 5, every: Some(2), asked: false, per_second: 30.0 };
        for (name, expected) in [("a.gif", true), ("a.png", false), ("%d.png", false)] {
            let target = Target::of(Path::new(name)).unwrap();
            assert_eq!(rhythm.has_picture(2, &target), expected, "{name}");
            assert_eq!(rhythm.has_picture(5, &target), !expected, "{name}");
        }
    }
}

//! `warpaint bench`: how long the passes of scenes take, and how near that is to what the device can do.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    Error, Result, Run, SceneSource,
    ceilings::Ceilings,
    figure::Figure,
    history_cost::{self, HistoryCost},
    library,
    outputs::Outputs,
    run::{progress_bar, run_to},
};
use crate::{
    compile::Compiler,
    device::{Device, DeviceInfo},
    interop::Interop,
    kernel::Context,
    session::{PassTiming, Session},
};

/// Steps before the first one that counts: caches fill, clocks rise.
const WARM_UP: u64 = 5;
/// A scene's steps are not waited for longer than this.
const PATIENCE: Duration = Duration::from_secs(20);

/// What to measure.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The scenes.
    pub scenes: Vec<SceneSource>,
    /// Whether the array library's main operations are measured.
    pub library: bool,
    /// Whether it is measured what it costs to keep the past of scenes.
    pub history: bool,
    /// How scenes run.
    pub run: Run,
    /// Steps that are measured, at most; as many as the session remembers.
    pub steps: u64,
    /// The figures as JSON.
    pub json: Option<PathBuf>,
}

/// All figures of a run.
#[derive(Debug, Serialize)]
struct Report<'a> {
    version: &'static str,
    device: &'a DeviceInfo,
    ceilings: Ceilings,
    scenes: Vec<SceneFigures>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    library: Vec<Figure>,
}

#[derive(Debug, Serialize)]
struct SceneFigures {
    scene: String,
    /// Steps measured.
    steps: u64,
    /// Milliseconds from step to step, the session's own work between them included.
    step_ms: f64,
    passes: Vec<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<HistoryCost>,
}

/// Measures, and hands over the figures as lines to read.
///
/// A scene that cannot be measured does not keep the others from it.
///
/// # Errors
/// What is wrong with scenes, kernels' faults, the device's errors; [`Error::File`].
pub fn bench(request: &Bench, compiler: &Compiler, mut tell: impl FnMut(&str)) -> Result<()> {
    let outputs = Outputs::one("--json", request.json.as_deref(), &request.scenes);
    outputs.check()?;
    let device = Device::open(request.run.device)?;
    outputs.check_data(&request.run, device.info().kind)?;
    let context = Context::with_compiler(device.clone(), compiler.clone())?;
    let ceilings = Ceilings::measure(&context)?;
    tell(&format!(
        "{}: copies {:.1} GB/s, fused multiply-adds {:.1} Gflop/s",
        device.info(),
        ceilings.copy_bytes_per_second * 1e-9,
        ceilings.fma_flops_per_second * 1e-9
    ));
    let columns = ["median ms", "min ms", "GB/s", "of copy", "Gflop/s", "of FMA"];
    tell(&format!(
        "  {:<32}{:>10}{:>10}{:>10}{:>9}{:>10}{:>9}",
        "", columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]
    ));
    let (mut scenes, mut failed) = (Vec::new(), Vec::new());
    for scene in &request.scenes {
        request.run.expect_uninterrupted()?;
        let figures = match figures_of(request, scene, &device, compiler, &ceilings) {
            Ok(figures) => figures,
            Err(error) if error.ends_the_run() => return Err(error),
            Err(error) => {
                failed.push(error);
                continue;
            }
        };
        tell(&format!(
            "{}: {:.4} ms a step, {} steps",
            figures.scene, figures.step_ms, figures.steps
        ));
        figures.passes.iter().for_each(|figure| tell(&figure.line()));
        figures.history.iter().for_each(|cost| tell(&cost.line()));
        scenes.push(figures);
    }
    let mut operations = Vec::new();
    if request.library {
        tell("arrays");
        request.run.expect_uninterrupted()?;
        library::measure(&context, &ceilings, |figure| {
            tell(&figure.line());
            operations.push(figure);
        })?;
    }
    if let Some(path) = &request.json {
        let version = env!("CARGO_PKG_VERSION");
        let library = operations;
        let report = Report { version, device: device.info(), ceilings, scenes, library };
        super::report::write_json(path, &report)?;
    }
    Error::all(failed)
}

fn figures_of(
    request: &Bench,
    scene: &SceneSource,
    device: &Device,
    compiler: &Compiler,
    ceilings: &Ceilings,
) -> Result<SceneFigures> {
    let run = &request.run;
    run.parse(scene, device.info().kind)?;
    let history =
        request.history.then(|| history_cost::measure(&request.run, scene, device, compiler));
    let history = history.transpose()?;
    run.session(scene, device, compiler, Interop::none(device), |session, _| {
        let (steps, elapsed) = stepped(session, request.steps)?;
        let figure = |pass: PassTiming| {
            let skipped = pass.history_ms.len().saturating_sub(steps as usize);
            let times = pass.history_ms.iter().skip(skipped).map(|&ms| f64::from(ms)).collect();
            Figure::new(&pass.name, times, [pass.bytes, pass.flops], ceilings)
        };
        Ok(SceneFigures {
            scene: scene.name.clone(),
            steps,
            step_ms: elapsed.as_secs_f64() * 1e3 / steps as f64,
            passes: session.snapshot().passes.into_iter().filter_map(figure).collect(),
            history,
        })
    })
}

/// Runs the scene, and then `steps` steps that count, fewer where they take long; how many, and how long.
fn stepped(session: &mut Session, steps: u64) -> Result<(u64, Duration)> {
    let bar = progress_bar(WARM_UP + steps);
    run_to(session, WARM_UP, &bar)?;
    let start = Instant::now();
    let mut done = 0;
    while done < steps && (done == 0 || start.elapsed() < PATIENCE) {
        done += 1;
        run_to(session, WARM_UP + done, &bar)?;
    }
    let elapsed = start.elapsed();
    bar.finish_and_clear();
    match done {
        0 => Err(Error::Usage("--steps needs a number above 0".to_owned())),
        _ => Ok((done, elapsed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_median_and_its_share_of_the_ceiling() {
        let ceilings = Ceilings { copy_bytes_per_second: 1e9, fma_flops_per_second: 4e9 };
        let amounts = [Some(1e6), Some(1e6)];
        let figure = Figure::new("a", vec![9.0, 2.0, 1.0, 8.0, 2.0], amounts, &ceilings).unwrap();
        assert_eq!((figure.median_ms, figure.min_ms), (2.0, 1.0));
        // A million bytes in two thousandths of a second.
        assert_eq!((figure.of_copy, figure.of_fma), (Some(0.5), Some(0.125)));
        assert!(Figure::new("a", Vec::new(), amounts, &ceilings).is_none());
    }
}

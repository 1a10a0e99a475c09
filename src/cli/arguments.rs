//! What the command line may say, as it is parsed, and what of the library's requests follows from it alone.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{
    Args, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser},
};

use crate::{
    device::Choice,
    headless::{Dump, Error, Out, PlotFile, Render, Result, Run, SceneSource},
    interrupt::Interrupt,
    scene::{Overrides, is_label, is_macro},
};

/// A live CUDA studio: kernels compile while you type and write straight into OpenGL.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// Scene to open in the studio: a file, or the name of a built-in one [default: the last one]
    pub(super) scene: Option<String>,
    /// Go on where the studio was that has left this folder
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub(super) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a scene without a window and write pictures, arrays, statistics
    #[command(
        after_help = "Without --out, and a PNG of --plot, nothing is drawn and no OpenGL is needed. MP4 and WebM need ffmpeg."
    )]
    Render(RenderArgs),
    /// Repeat a run from the file that `render --record` wrote, and look whether the same comes out
    #[command(after_help = "Exit code: 0 the same bits, 1 others.")]
    Replay(ReplayArgs),
    /// Run scenes and look whether their checks hold, a line each
    #[command(after_help = "Exit code: 0 all hold, 1 some do not, 4 a kernel faulted.")]
    Test(TestArgs),
    /// Measure the passes of scenes, and what of the device's ceilings they reach
    Bench(BenchArgs),
    /// Run two scenes side by side, or one in two ways, and say where their results part
    #[command(
        after_help = "Exit code: 0 no number differs by more than the tolerance, 1 some do, or resources have other shapes, 4 a kernel faulted."
    )]
    Compare(CompareArgs),
    /// Compile scenes and say what is wrong with them, as file:line:column: error: text
    Check(CheckArgs),
    /// Write a manifest for a file that has none, from its kernels and its host code
    #[command(
        after_help = "What the file does not say is marked `# fill in`. Without --out the manifest is printed, alone."
    )]
    New(NewArgs),
    /// List the devices, with their properties and the OpenGL that each can share with
    Devices {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print every property that the driver tells
        #[arg(long, short)]
        verbose: bool,
    },
    /// Show or empty the cache of compiled kernels
    Cache {
        #[command(subcommand)]
        action: CacheAction,
    },
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(super) enum CacheAction {
    /// Print where it is
    Path,
    /// Print how many bytes it takes
    Size,
    /// Empty it
    Clear,
}

/// What changes how scenes are compiled, and what they begin with.
#[derive(Debug, Args)]
pub(super) struct CompileArgs {
    /// Set a constant of the scene
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(super) constants: Vec<(String, String)>,
    /// Define a macro
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = definition)]
    pub(super) defines: Vec<(String, String)>,
    /// Look for included files in a folder, which need not lie below the scene's
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    pub(super) include: Vec<PathBuf>,
    /// Fill a resource or a variable of the scene with a file, which need not lie below the scene
    #[arg(long = "load", value_name = "NAME=FILE", value_parser = assignment)]
    pub(super) loads: Vec<(String, String)>,
}

impl CompileArgs {
    pub(super) fn overrides(self) -> Overrides {
        Overrides {
            constants: self.constants.into_iter().collect(),
            defines: self.defines.into_iter().collect(),
            include_dirs: self.include,
            loads: self.loads.into_iter().map(|(name, file)| (name, file.into())).collect(),
            ..Overrides::default()
        }
    }
}

/// What every command that runs a scene takes.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Where kernels run: auto, cuda, cuda:N or cpu [default: WARPAINT_DEVICE or CUDA_DEVICE, else auto]
    #[arg(long, value_name = "DEVICE")]
    pub(super) device: Option<Choice>,
    /// Which OpenGL to draw with
    #[arg(long, default_value = "auto")]
    pub(super) gl: GlChoice,
    #[command(flatten)]
    pub(super) scene: RunSceneArgs,
}

/// The same, but for what it runs on and draws with.
#[derive(Debug, Args)]
pub(super) struct RunSceneArgs {
    /// Set a parameter of the scene
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(super) parameters: Vec<(String, String)>,
    #[command(flatten)]
    pub(super) compile: CompileArgs,
    /// Seed of the scene's random numbers [default: 1, or that of the state that is gone on from]
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// A step, or taking statistics, that takes longer is stopped [default: 60 without a window, 10 in the studio]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(super) step_timeout: Option<Duration>,
    #[command(flatten)]
    pub(super) trust: TrustArgs,
}

/// What every command that compiles a scene takes.
#[derive(Debug, Args)]
pub(super) struct TrustArgs {
    /// Let the scene include files from everywhere, not only below its own folder
    #[arg(long)]
    pub(super) trust: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum GlChoice {
    Auto,
    Window,
    Egl,
}

#[derive(Debug, Args)]
pub(super) struct RenderArgs {
    /// A file, or the name of a built-in scene
    pub(super) scene: String,
    /// Steps to run
    #[arg(long, default_value_t = 1)]
    pub(super) steps: u64,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    /// Begin with the state in a file of --save, and do the steps behind it
    #[arg(long, value_name = "FILE")]
    pub(super) from: Option<PathBuf>,
    /// Write the state after the last step, and whenever SIGUSR1 comes: a .npz, which numpy opens
    #[arg(long, value_name = "FILE")]
    pub(super) save: Option<PathBuf>,
    /// Write what determines the run, for `warpaint replay`
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Watch the kernels for races, reads of what nobody wrote and divisions by zero: on the CPU device, slowly
    #[arg(long)]
    pub(super) checked: bool,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

/// What is written of a run.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    pub(super) size: [u32; 2],
    /// Draw the legend into the pictures: what their colours stand for
    #[arg(long)]
    pub(super) legend: bool,
    /// Picture after the last step: .png; frame_%04d.png with --every; or a clip: .gif, .apng, .mp4, .webm; may be
    /// given for several views
    #[arg(long, value_name = "[VIEW=]FILE", value_parser = OsStringValueParser::new().map(out))]
    pub(super) out: Vec<Out>,
    /// The view that pictures show, where they name none [default: the scene's first]
    #[arg(long, value_name = "NAME", requires = "out")]
    pub(super) view: Option<String>,
    /// A picture, and a sample of the statistics for --json and --plot, every K steps
    #[arg(long, value_name = "K")]
    pub(super) every: Option<u64>,
    /// Pictures of a clip that are shown in a second [default: as many as the scene's own time asks for]
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(super) fps: Option<f64>,
    /// Write a resource as a numpy array
    #[arg(long, value_name = "NAME=FILE", value_parser = assignment)]
    pub(super) npy: Vec<(String, String)>,
    /// Write a plot of the scene: .svg, .png or .csv
    #[arg(long, value_name = "NAME=FILE", value_parser = assignment)]
    pub(super) plot: Vec<(String, String)>,
    /// Write statistics, timings and the device
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// A file that --record wrote
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    /// Where kernels run: auto, cuda, cuda:N or cpu [default: WARPAINT_DEVICE or CUDA_DEVICE, else auto]
    #[arg(long, value_name = "DEVICE")]
    pub(super) device: Option<Choice>,
    /// A step that takes longer is stopped [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(super) step_timeout: Option<Duration>,
    #[command(flatten)]
    pub(super) trust: TrustArgs,
}

#[derive(Debug, Args)]
pub(super) struct TestArgs {
    /// Files, or names of built-in scenes [default: all that are built in]
    pub(super) scenes: Vec<String>,
    /// Steps after which checks without `after` are looked at [default: the scene's last `after`, or 100]
    #[arg(long)]
    pub(super) steps: Option<u64>,
    /// Write the results as JUnit's XML
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    #[arg(
        help = "Keep what comes out as the files of [[golden]], instead of comparing with them",
        long
    )]
    pub(super) update_golden: bool,
    /// Where pictures and arrays go that differ from those files
    #[arg(long, value_name = "FOLDER", default_value = "warpaint-failed")]
    pub(super) failed: PathBuf,
    /// Watch the kernels for races, reads of what nobody wrote and divisions by zero: on the CPU device, slowly
    #[arg(long)]
    pub(super) checked: bool,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    /// Files, or names of built-in scenes [default: all that are built in]
    pub(super) scenes: Vec<String>,
    /// Measure the array library's main operations
    #[arg(long)]
    pub(super) library: bool,
    /// Measure what it costs to keep the past: steps with and without, in turn, twenty seconds a scene, longer for one
    /// with a large state
    #[arg(long)]
    pub(super) history: bool,
    /// Steps to measure, at most; a scene that is slow is given 20 seconds
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=240))]
    pub(super) steps: u64,
    /// Write the figures
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// A: a file, or the name of a built-in scene
    pub(super) a: String,
    /// B: the same [default: A again]
    pub(super) b: Option<String>,
    /// Where both run, or where A and where B: `cpu,cuda` [default: WARPAINT_DEVICE or CUDA_DEVICE, else auto]
    #[arg(long, value_name = "DEVICE[,DEVICE]", value_parser = two_devices)]
    pub(super) device: Option<[Choice; 2]>,
    /// Steps to run
    #[arg(long, default_value_t = 100)]
    pub(super) steps: u64,
    /// Compare after every K steps, beside after the reset and the last one
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) every: u64,
    /// How far a number may be from A's, relative to the largest magnitude in A of the resource or, of a structure's
    /// field, of the field
    #[arg(long, value_name = "X", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    pub(super) tolerance: f64,
    /// Set a constant of B alone
    #[arg(long = "const-b", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(super) constants_b: Vec<(String, String)>,
    /// Set a parameter of B alone
    #[arg(long = "param-b", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(super) parameters_b: Vec<(String, String)>,
    /// Define a macro in B alone
    #[arg(long = "define-b", value_name = "NAME[=VALUE]", value_parser = definition)]
    pub(super) defines_b: Vec<(String, String)>,
    /// Compile B with `--use_fast_math`, or without, whatever its manifest says
    #[arg(long = "fast-math-b", value_name = "BOOL", num_args = 0..=1, default_missing_value = "true",
          require_equals = true)]
    pub(super) fast_math_b: Option<bool>,
    /// Write the differences and times
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    #[command(flatten)]
    pub(super) both: RunSceneArgs,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Files, or names of built-in scenes
    #[arg(required = true)]
    pub(super) scenes: Vec<String>,
    /// Also load them on a device, and say what it does not support: auto, cuda, cuda:N or cpu
    #[arg(long, value_name = "DEVICE")]
    pub(super) device: Option<Choice>,
    /// Compile and load them as files for nvcc, without regard to their manifests
    #[arg(long)]
    pub(super) load_only: bool,
    /// Also run them there, in the CPU device's sizes, and watch the step that follows on the CPU device, from a copy
    /// of the state: for races, reads of what nobody wrote and divisions by zero
    #[arg(long, conflicts_with = "load_only")]
    pub(super) run: bool,
    /// Steps before the one that is watched
    #[arg(long, default_value_t = 10, requires = "run")]
    pub(super) steps: u64,
    #[command(flatten)]
    pub(super) compile: CompileArgs,
    #[command(flatten)]
    pub(super) trust: TrustArgs,
}

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// The file whose kernels the scene runs
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present_any = ["template", "words"],
        conflicts_with = "template"
    )]
    pub(super) from: Option<PathBuf>,
    /// Begin with a short scene: points, image, two-pass, volume or structs
    #[arg(long, value_name = "NAME", conflicts_with = "include")]
    pub(super) template: Option<String>,
    /// Write the scene to a file that is not there yet
    #[arg(long, value_name = "SCENE.cu")]
    pub(super) out: Option<PathBuf>,
    /// Look for included files in a folder, which need not lie below the file's
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    pub(super) include: Vec<PathBuf>,
    /// What was meant by a word without an option is told
    #[arg(hide = true)]
    pub(super) words: Vec<String>,
}

impl RunArgs {
    /// The device asked for, or the one that the user wants for all programs.
    pub(super) fn device(&self) -> Result<Choice> {
        Ok(self.device.map_or_else(Choice::of_user, Ok)?)
    }

    /// What a command without a window does with it.
    pub(super) fn headless(self, interrupt: &Interrupt, checked: bool) -> Result<Run> {
        if self.gl == GlChoice::Window {
            let text = "there is no window to draw in: --gl window is for the studio";
            return Err(Error::Usage(text.to_owned()));
        }
        let device = match (checked, self.device) {
            (false, _) => self.device()?,
            (true, None | Some(Choice::Auto | Choice::Cpu)) => Choice::Cpu,
            (true, Some(Choice::Cuda(_))) => {
                let text = "--checked is for the CPU device: leave --device out, or give it `cpu`";
                return Err(Error::Usage(text.to_owned()));
            }
        };
        Ok(self.scene.headless(device, checked, interrupt))
    }
}

impl RunSceneArgs {
    /// What a command without a window does with it.
    pub(super) fn headless(self, device: Choice, checked: bool, interrupt: &Interrupt) -> Run {
        Run {
            device,
            checked,
            trust: self.trust.trust,
            overrides: self.compile.overrides(),
            parameters: self.parameters,
            seed: self.seed,
            ..Run::new(interrupt, self.step_timeout)
        }
    }
}

impl OutputArgs {
    /// What writes all that.
    pub(super) fn render(self, scene: SceneSource, steps: u64, run: Run) -> Render {
        let dumps =
            self.npy.into_iter().map(|(resource, file)| Dump { resource, path: file.into() });
        let plots = self.plot.into_iter().map(|(plot, file)| PlotFile { plot, path: file.into() });
        Render {
            scene,
            steps,
            size_px: self.size,
            legend: self.legend,
            outs: self.out.into_iter().map(|out| out.or(self.view.as_ref())).collect(),
            every: self.every,
            per_second: self.fps,
            dumps: dumps.collect(),
            plots: plots.collect(),
            json: self.json,
            from: None,
            save: None,
            record: None,
            run,
        }
    }
}

fn assignment(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// `FILE` and `VIEW=FILE`. A name of a view has no character that tells a folder, so a file with `=` in its name is
/// called `./a=b.png`.
fn out(text: OsString) -> Out {
    let named = text.to_str().and_then(|text| text.split_once('='));
    match named.filter(|(view, path)| is_label(view) && !path.is_empty()) {
        Some((view, path)) => Out { view: Some(view.to_owned()), path: path.into() },
        None => Out { view: None, path: text.into() },
    }
}

/// `NAME` and `NAME=VALUE`, as compilers take them.
fn definition(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    match is_macro(name) && !value.contains(char::is_control) {
        true => Ok((name.to_owned(), value.to_owned())),
        false => Err("expected NAME or NAME=VALUE".to_owned()),
    }
}

fn size(text: &str) -> std::result::Result<[u32; 2], String> {
    let parse = |side: &str| side.parse().ok().filter(|n| (1..=16384).contains(n));
    let sides = text.split_once('x').and_then(|(w, h)| Some([parse(w)?, parse(h)?]));
    sides.ok_or_else(|| "expected WIDTHxHEIGHT, each from 1 to 16384, such as 1280x720".to_owned())
}

fn rate(text: &str) -> std::result::Result<f64, String> {
    let value = text.parse().ok().filter(|rate| (0.01..=1000.0).contains(rate));
    value.ok_or_else(|| "expected a number from 0.01 to 1000, such as 30".to_owned())
}

/// One device for both scenes, or one for each.
fn two_devices(text: &str) -> std::result::Result<[Choice; 2], String> {
    let (a, b) = text.split_once(',').unwrap_or((text, text));
    Ok([a.trim().parse()?, b.trim().parse()?])
}

fn tolerance(text: &str) -> std::result::Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "expected a number from 0 on, such as 1e-6".to_owned())
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    const MOST: f64 = 1e9;
    let value = text.parse().ok().filter(|value| *value <= MOST);
    let value = value.and_then(|value| Duration::try_from_secs_f64(value).ok());
    let value = value.filter(|value| !value.is_zero());
    value.ok_or_else(|| {
        format!("expected a number of seconds above 0 and up to {MOST:e}, such as 2.5")
    })
}

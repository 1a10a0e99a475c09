//! The command line: parsed first, then resolved into what the library takes, then run.
//!
//! Enters: arguments and signals. Leaves: what was asked for, one line for an error, an exit code. Must not know:
//! `array`, `gl`, `draw`, `session`.

mod signals;

use std::{
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{self, ExitCode},
    time::Duration,
};

use clap::{
    Args, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser},
};

use crate::{
    compile::{Cache, Cancel, Compiler},
    device::Choice,
    diagnostic::{Diagnostic, escaped_json, has_errors, printable},
    headless::{
        self, Bench, Case, Check, Compare, Dump, Error, ExitStatus, OnStuck, Out, Outcome,
        PlotFile, Render, Result, Run, Sanitize, Save, SceneSource, Side, Test,
    },
    interrupt::{Interrupt, Listening},
    scene::{Overrides, built_ins, is_label, is_macro},
    studio,
};
use signals::Watch;

/// A live CUDA studio: kernels compile while you type and write straight into OpenGL.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Scene to open in the studio: a file, or the name of a built-in one [default: the last one]
    scene: Option<String>,
    /// Go on where the studio was that has left this folder
    #[arg(long, value_name = "FOLDER", hide = true)]
    resume: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
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
enum CacheAction {
    /// Print where it is
    Path,
    /// Print how many bytes it takes
    Size,
    /// Empty it
    Clear,
}

/// What changes how scenes are compiled, and what they begin with.
#[derive(Debug, Args)]
struct CompileArgs {
    /// Set a constant of the scene
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = assignment)]
    constants: Vec<(String, String)>,
    /// Define a macro
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = definition)]
    defines: Vec<(String, String)>,
    /// Look for included files in a folder, which need not lie below the scene's
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Fill a resource or a variable of the scene with a file, which need not lie below the scene
    #[arg(long = "load", value_name = "NAME=FILE", value_parser = assignment)]
    loads: Vec<(String, String)>,
}

impl CompileArgs {
    fn overrides(self) -> Overrides {
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
struct RunArgs {
    /// Where kernels run: auto, cuda, cuda:N or cpu [default: WARPAINT_DEVICE or CUDA_DEVICE, else auto]
    #[arg(long, value_name = "DEVICE")]
    device: Option<Choice>,
    /// Which OpenGL to draw with
    #[arg(long, default_value = "auto")]
    gl: GlChoice,
    #[command(flatten)]
    scene: RunSceneArgs,
}

/// The same, but for what it runs on and draws with.
#[derive(Debug, Args)]
struct RunSceneArgs {
    /// Set a parameter of the scene
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = assignment)]
    parameters: Vec<(String, String)>,
    #[command(flatten)]
    compile: CompileArgs,
    /// Seed of the scene's random numbers [default: 1, or that of the state that is gone on from]
    #[arg(long)]
    seed: Option<u64>,
    /// A step, or taking statistics, that takes longer is stopped [default: 60 without a window, 10 in the studio]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    step_timeout: Option<Duration>,
    #[command(flatten)]
    trust: TrustArgs,
}

/// What every command that compiles a scene takes.
#[derive(Debug, Args)]
struct TrustArgs {
    /// Let the scene include files from everywhere, not only below its own folder
    #[arg(long)]
    trust: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum GlChoice {
    Auto,
    Window,
    Egl,
}

#[derive(Debug, Args)]
struct RenderArgs {
    /// A file, or the name of a built-in scene
    scene: String,
    /// Steps to run
    #[arg(long, default_value_t = 1)]
    steps: u64,
    #[command(flatten)]
    output: OutputArgs,
    /// Begin with the state in a file of --save, and do the steps behind it
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Write the state after the last step, and whenever SIGUSR1 comes: a .npz, which numpy opens
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write what determines the run, for `warpaint replay`
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    record: Option<PathBuf>,
    /// Watch the kernels for races, reads of what nobody wrote and divisions by zero: on the CPU device, slowly
    #[arg(long)]
    checked: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// What is written of a run.
#[derive(Debug, Args)]
struct OutputArgs {
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    size: [u32; 2],
    /// Draw the legend into the pictures: what their colours stand for
    #[arg(long)]
    legend: bool,
    /// Picture after the last step: .png; frame_%04d.png with --every; or a clip: .gif, .apng, .mp4, .webm; may be
    /// given for several views
    #[arg(long, value_name = "[VIEW=]FILE", value_parser = OsStringValueParser::new().map(out))]
    out: Vec<Out>,
    /// The view that pictures show, where they name none [default: the scene's first]
    #[arg(long, value_name = "NAME", requires = "out")]
    view: Option<String>,
    /// A picture, and a sample of the statistics for --json and --plot, every K steps
    #[arg(long, value_name = "K")]
    every: Option<u64>,
    /// Pictures of a clip that are shown in a second [default: as many as the scene's own time asks for]
    #[arg(long, value_name = "N", value_parser = rate)]
    fps: Option<f64>,
    /// Write a resource as a numpy array
    #[arg(long, value_name = "NAME=FILE", value_parser = assignment)]
    npy: Vec<(String, String)>,
    /// Write a plot of the scene: .svg, .png or .csv
    #[arg(long, value_name = "NAME=FILE", value_parser = assignment)]
    plot: Vec<(String, String)>,
    /// Write statistics, timings and the device
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ReplayArgs {
    /// A file that --record wrote
    file: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
    /// Where kernels run: auto, cuda, cuda:N or cpu [default: WARPAINT_DEVICE or CUDA_DEVICE, else auto]
    #[arg(long, value_name = "DEVICE")]
    device: Option<Choice>,
    /// A step that takes longer is stopped [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    step_timeout: Option<Duration>,
    #[command(flatten)]
    trust: TrustArgs,
}

#[derive(Debug, Args)]
struct TestArgs {
    /// Files, or names of built-in scenes [default: all that are built in]
    scenes: Vec<String>,
    /// Steps after which checks without `after` are looked at [default: the scene's last `after`, or 100]
    #[arg(long)]
    steps: Option<u64>,
    /// Write the results as JUnit's XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[arg(
        help = "Keep what comes out as the files of [[golden]], instead of comparing with them",
        long
    )]
    update_golden: bool,
    /// Where pictures and arrays go that differ from those files
    #[arg(long, value_name = "FOLDER", default_value = "warpaint-failed")]
    failed: PathBuf,
    /// Watch the kernels for races, reads of what nobody wrote and divisions by zero: on the CPU device, slowly
    #[arg(long)]
    checked: bool,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Args)]
struct BenchArgs {
    /// Files, or names of built-in scenes [default: all that are built in]
    scenes: Vec<String>,
    /// Measure the array library's main operations
    #[arg(long)]
    library: bool,
    /// Measure what it costs to keep the past: steps with and without, in turn, twenty seconds a scene, longer for one
    /// with a large state
    #[arg(long)]
    history: bool,
    /// Steps to measure, at most; a scene that is slow is given 20 seconds
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=240))]
    steps: u64,
    /// Write the figures
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Args)]
struct CompareArgs {
    /// A: a file, or the name of a built-in scene
    a: String,
    /// B: the same [default: A again]
    b: Option<String>,
    /// Where both run, or where A and where B: `cpu,cuda` [default: WARPAINT_DEVICE or CUDA_DEVICE, else auto]
    #[arg(long, value_name = "DEVICE[,DEVICE]", value_parser = two_devices)]
    device: Option<[Choice; 2]>,
    /// Steps to run
    #[arg(long, default_value_t = 100)]
    steps: u64,
    /// Compare after every K steps, beside after the reset and the last one
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// How far a number may be from A's, relative to the largest magnitude in A of the resource or, of a structure's
    /// field, of the field
    #[arg(long, value_name = "X", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: f64,
    /// Set a constant of B alone
    #[arg(long = "const-b", value_name = "NAME=VALUE", value_parser = assignment)]
    constants_b: Vec<(String, String)>,
    /// Set a parameter of B alone
    #[arg(long = "param-b", value_name = "NAME=VALUE", value_parser = assignment)]
    parameters_b: Vec<(String, String)>,
    /// Define a macro in B alone
    #[arg(long = "define-b", value_name = "NAME[=VALUE]", value_parser = definition)]
    defines_b: Vec<(String, String)>,
    /// Compile B with `--use_fast_math`, or without, whatever its manifest says
    #[arg(long = "fast-math-b", value_name = "BOOL", num_args = 0..=1, default_missing_value = "true",
          require_equals = true)]
    fast_math_b: Option<bool>,
    /// Write the differences and times
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    both: RunSceneArgs,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Files, or names of built-in scenes
    #[arg(required = true)]
    scenes: Vec<String>,
    /// Also load them on a device, and say what it does not support: auto, cuda, cuda:N or cpu
    #[arg(long, value_name = "DEVICE")]
    device: Option<Choice>,
    /// Compile and load them as files for nvcc, without regard to their manifests
    #[arg(long)]
    load_only: bool,
    /// Also run them there, in the CPU device's sizes, and watch the step that follows on the CPU device, from a copy
    /// of the state: for races, reads of what nobody wrote and divisions by zero
    #[arg(long, conflicts_with = "load_only")]
    run: bool,
    /// Steps before the one that is watched
    #[arg(long, default_value_t = 10, requires = "run")]
    steps: u64,
    #[command(flatten)]
    compile: CompileArgs,
    #[command(flatten)]
    trust: TrustArgs,
}

#[derive(Debug, Args)]
struct NewArgs {
    /// The file whose kernels the scene runs
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present_any = ["template", "words"],
        conflicts_with = "template"
    )]
    from: Option<PathBuf>,
    /// Begin with a short scene: points, image, two-pass, volume or structs
    #[arg(long, value_name = "NAME", conflicts_with = "include")]
    template: Option<String>,
    /// Write the scene to a file that is not there yet
    #[arg(long, value_name = "SCENE.cu")]
    out: Option<PathBuf>,
    /// Look for included files in a folder, which need not lie below the file's
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// What was meant by a word without an option is told
    #[arg(hide = true)]
    words: Vec<String>,
}

/// Parses the command line, runs the command, prints its error. Returns the exit code.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    start_log();
    signals::outlive_too_large_files();
    // The studio has unsaved text to keep, and sees to its own end.
    let watch = cli.command.as_ref().map(|_| Watch::start()).unwrap_or_default();
    let status = match execute(cli, &watch.interrupt) {
        Ok(()) => ExitStatus::Success,
        Err(error) => {
            // Once the end was asked for, what fails does so because of that: an encoder that was ended takes no more.
            let error = if watch.interrupt.is_raised() { Error::Stopped } else { error };
            complain(&sentence(&error));
            let status = match error.exit_status() {
                ExitStatus::Stopped => watch.status(),
                other => other,
            };
            if matches!(status, ExitStatus::Fault | ExitStatus::Stopped | ExitStatus::Terminated) {
                // What a kernel or a compiler that cannot be stopped holds would be waited for.
                signals::leave(status);
            }
            status
        }
    };
    ExitCode::from(status as u8)
}

fn execute(cli: Cli, interrupt: &Interrupt) -> Result<()> {
    match cli.command {
        None => open_studio(cli.scene, cli.resume, cli.run),
        Some(Command::Render(args)) => render(args, interrupt),
        Some(Command::Replay(args)) => replay(args, interrupt),
        Some(Command::Test(args)) => test(args, interrupt),
        Some(Command::Bench(args)) => bench(args, interrupt),
        Some(Command::Compare(args)) => compare(args, interrupt),
        Some(Command::Check(args)) => check(args, interrupt),
        Some(Command::New(args)) => new(&args),
        Some(Command::Devices { json, verbose }) => devices(json, verbose),
        Some(Command::Cache { action }) => cache(action),
    }
}

fn open_studio(scene: Option<String>, resume: Option<PathBuf>, run: RunArgs) -> Result<()> {
    if run.gl == GlChoice::Egl {
        return Err(Error::Usage(
            "the studio draws in a window: --gl egl is for render".to_owned(),
        ));
    }
    let is_run = |name: &String| Path::new(name).extension().is_some_and(|of| of == "json");
    let (file, scene) =
        if scene.as_ref().is_some_and(is_run) { (scene, None) } else { (None, scene) };
    let find = |name: String| SceneSource::find_up_to(&name, studio::Document::LARGEST);
    let scene = scene.map(find).transpose()?;
    let document = scene.map(|found| studio::Document::new(found.name, found.path, &found.text));
    let device = run.device()?;
    let run = run.scene;
    let opened = studio::run(studio::Options {
        scene: document,
        run: file.map(PathBuf::from),
        resume,
        device,
        trust: run.trust.trust,
        overrides: run.compile.overrides(),
        meant_for: None,
        parameters: run.parameters,
        seed: run.seed,
        step_timeout: run.step_timeout.unwrap_or(Duration::from_secs(10)),
        compiler: Compiler::new(Cache::user()),
    });
    match opened {
        Ok(studio::Ended::Closed) => Ok(()),
        Ok(studio::Ended::Signal(signal)) => {
            // All is kept and closed. Whoever waits for the process sees that it ended as it was asked to.
            if let Err(error) = signal_hook::low_level::emulate_default_handler(signal) {
                tracing::warn!("signal {signal} cannot be passed on: {error}");
            }
            Ok(())
        }
        Ok(studio::Ended::Anew(folder)) => go_on(&folder),
        Err(studio::Error::Gl(error)) => Err(error.into()),
        Err(studio::Error::Device(error)) => Err(error.into()),
        Err(studio::Error::Session(error)) => Err(error.into()),
    }
}

/// Lets the studio go on as another program, with what it has left in a folder: in this process, where the system can
/// replace one's program, so that who has started it sees it go on.
///
/// # Errors
/// Why it cannot.
fn go_on(folder: &Path) -> Result<()> {
    let failed = |error: io::Error| {
        Error::Usage(format!("the studio cannot start anew: {error}; its unsaved text is kept"))
    };
    let mut command = process::Command::new(own_program().map_err(failed)?);
    command.arg("--resume").arg(folder);
    #[cfg(unix)]
    return Err(failed(std::os::unix::process::CommandExt::exec(&mut command)));
    #[cfg(not(unix))]
    return command.spawn().map(drop).map_err(failed);
}

/// The program of this process, also where another one, or none, lies in its place by now: another version may not
/// read what this one has written.
fn own_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        let running = Path::new("/proc/self/exe");
        let file = |path: &Path| std::fs::metadata(path).map(|of| (of.dev(), of.ino()));
        if file(&path).ok() != file(running).ok() {
            return Ok(running.to_owned());
        }
    }
    Ok(path)
}

impl RunArgs {
    /// The device asked for, or the one that the user wants for all programs.
    fn device(&self) -> Result<Choice> {
        Ok(self.device.map_or_else(Choice::of_user, Ok)?)
    }

    /// What a command without a window does with it.
    fn headless(self, interrupt: &Interrupt, checked: bool) -> Result<Run> {
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
    fn headless(self, device: Choice, checked: bool, interrupt: &Interrupt) -> Run {
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

impl Run {
    /// As the program's commands have it where nothing else is said.
    fn new(interrupt: &Interrupt, step_timeout: Option<Duration>) -> Self {
        Self {
            device: Choice::Auto,
            trust: false,
            overrides: Overrides::default(),
            parameters: Vec::new(),
            seed: None,
            step_timeout: step_timeout.unwrap_or(Duration::from_secs(60)),
            checked: false,
            interpreted: false,
            guarded: true,
            interrupt: interrupt.clone(),
            on_stuck: OnStuck::new(|error| {
                complain(&sentence(error));
                signals::leave(error.exit_status());
            }),
        }
    }
}

/// The compiler of commands without a window, which ends with the wish to end early, as long as the second is kept.
fn compiler_until(interrupt: &Interrupt) -> (Compiler, Listening) {
    let cancel = Cancel::default();
    let compiler = Compiler::new(Cache::user()).cancelled_by(&cancel);
    (compiler, interrupt.on_raise(move || cancel.cancel()))
}

fn render(args: RenderArgs, interrupt: &Interrupt) -> Result<()> {
    let run = args.run.headless(interrupt, args.checked)?;
    let save = args.save.map(|path| Save { path, now: signals::flag_of_save() });
    let scene = SceneSource::find(&args.scene)?;
    let request = Render {
        from: args.from,
        save,
        record: args.record,
        ..args.output.render(scene, args.steps, run)
    };
    remark(&headless::render(&request, &compiler_until(interrupt).0)?);
    Ok(())
}

fn replay(args: ReplayArgs, interrupt: &Interrupt) -> Result<()> {
    let mut replay = headless::replay::read(&args.file, interrupt)?;
    replay.begin_with_first_text();
    let scene = headless::replay::scene(&replay);
    let (overrides, seed) = (replay.overrides(), replay.run().seed);
    // Another device is wanted for what it is, and a comparison tells how far it is from this one.
    let interpreted = replay.run().interpreted && !matches!(args.device, Some(Choice::Cuda(_)));
    let device = match interpreted {
        true => Choice::Cpu,
        false => args.device.map_or_else(Choice::of_user, Ok)?,
    };
    let run = Run {
        device,
        interpreted,
        trust: args.trust.trust,
        overrides,
        seed: Some(seed),
        ..Run::new(interrupt, args.step_timeout)
    };
    let request = args.output.render(scene, replay.run().steps, run);
    remark(&headless::render_with(&request, &compiler_until(interrupt).0, Some(&mut replay))?);
    print(&format!("{}\n", headless::replay::outcome(&replay)?))
}

impl OutputArgs {
    /// What writes all that.
    fn render(self, scene: SceneSource, steps: u64, run: Run) -> Render {
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

fn test(args: TestArgs, interrupt: &Interrupt) -> Result<()> {
    let run = args.run.headless(interrupt, args.checked)?;
    let scenes = scenes(args.scenes)?;
    let request = Test {
        scenes,
        run,
        steps: args.steps,
        junit: args.junit,
        update_golden: args.update_golden,
        failed: args.failed,
    };
    let mut printed = Ok(());
    let tested = headless::test(&request, &compiler_until(interrupt).0, |case: &Case| {
        if let (Outcome::Error(_), None) = (case.outcome, case.line) {
            complain(&case.told);
        }
        if printed.is_ok() {
            printed = print(&format!("{}\n", printable(&case.line())));
        }
    });
    tested.and(printed)
}

fn bench(args: BenchArgs, interrupt: &Interrupt) -> Result<()> {
    // Times are those of the kernels as they are.
    let run = Run { guarded: false, ..args.run.headless(interrupt, false)? };
    let only_library = args.library && args.scenes.is_empty();
    let scenes = if only_library { Vec::new() } else { scenes(args.scenes)? };
    let BenchArgs { library, history, steps, json, .. } = args;
    let request = Bench { scenes, library, history, run, steps, json };
    let mut printed = Ok(());
    let measured = headless::bench(&request, &compiler_until(interrupt).0, |line| {
        if printed.is_ok() {
            printed = print(&format!("{}\n", printable(line)));
        }
    });
    measured.and(printed)
}

fn compare(args: CompareArgs, interrupt: &Interrupt) -> Result<()> {
    let [device, other] = match args.device {
        Some(devices) => devices,
        None => [Choice::of_user()?; 2],
    };
    let scene = SceneSource::find(&args.a)?;
    let run = args.both.headless(device, false, interrupt);
    let mut b = Side { scene: scene.clone(), run: Run { device: other, ..run.clone() } };
    if let Some(name) = &args.b {
        b.scene = SceneSource::find(name)?;
    }
    b.run.overrides.constants.extend(args.constants_b);
    b.run.overrides.defines.extend(args.defines_b);
    b.run.overrides.fast_math = args.fast_math_b;
    b.run.parameters.extend(args.parameters_b);
    let request = Compare {
        sides: [Side { scene, run }, b],
        steps: args.steps,
        every: args.every,
        tolerance: args.tolerance,
        json: args.json,
    };
    let mut printed = Ok(());
    let compared = headless::compare(&request, &compiler_until(interrupt).0, |line| {
        if printed.is_ok() {
            printed = print(&format!("{}\n", printable(line)));
        }
    });
    compared.and(printed)
}

/// The scenes with these names; all that are built in where there is none.
fn scenes(names: Vec<String>) -> Result<Vec<SceneSource>> {
    let built_in = || built_ins().iter().map(|scene| scene.name.to_owned()).collect();
    let names: Vec<String> = if names.is_empty() { built_in() } else { names };
    names.iter().map(|name| SceneSource::find(name)).collect()
}

fn check(args: CheckArgs, interrupt: &Interrupt) -> Result<()> {
    let request = Check {
        scenes: args.scenes,
        overrides: args.compile.overrides(),
        trust: args.trust.trust,
        device: args.device,
        load_only: args.load_only,
        interrupt: interrupt.clone(),
    };
    let remarks = headless::check(&request, &compiler_until(interrupt).0)?;
    if has_errors(&remarks) {
        return Err(Error::Rejected(remarks));
    }
    remark(&remarks);
    if !args.run {
        return Ok(());
    }
    let Check { scenes, overrides, trust, device, .. } = request;
    let device = device.unwrap_or(Choice::Auto);
    let run = Run { device, overrides, trust, ..Run::new(interrupt, None) };
    let request = Sanitize { scenes, run, steps: args.steps };
    headless::sanitize(&request, &compiler_until(interrupt).0)
}

fn new(args: &NewArgs) -> Result<()> {
    if let Some(word) = args.words.first() {
        let option = if headless::template(word).is_ok() { "--template" } else { "--from" };
        let out = args.words.get(1).map_or_else(String::new, |file| format!(" --out {file}"));
        return Err(Error::Usage(format!(
            "`new` takes options: `warpaint new {option} {word}{out}`"
        )));
    }
    match (&args.template, &args.from, &args.out) {
        (Some(name), _, Some(out)) => headless::write_template(name, out),
        (Some(name), _, None) => print(headless::template(name)?),
        (None, Some(from), Some(out)) => headless::write_draft(from, out, &args.include),
        (None, Some(from), None) => print(&headless::draft(from, &args.include)?),
        (None, None, _) => Err(Error::Usage("there is neither --from nor --template".to_owned())),
    }
}

fn devices(json: bool, verbose: bool) -> Result<()> {
    let report = headless::devices(verbose);
    match json {
        true => match serde_json::to_string_pretty(&report) {
            Ok(text) => print(&format!("{}\n", escaped_json(&text))),
            Err(error) => {
                Err(Error::Usage(format!("the report cannot be written as JSON: {error}")))
            }
        },
        false => print(&report.to_text()),
    }
}

fn cache(action: CacheAction) -> Result<()> {
    let cache = Cache::user();
    match action {
        CacheAction::Path => match cache.path() {
            Some(path) => print(&format!("{}\n", path.display())),
            None => Err(Error::Usage(
                "there is no cache folder: WARPAINT_CACHE is empty, or the system knows no home"
                    .to_owned(),
            )),
        },
        CacheAction::Size => print(&format!("{}\n", cache.size())),
        CacheAction::Clear => cache.clear().map_err(|source| Error::File {
            action: "clear",
            path: cache.path().map_or_else(|| "the cache".into(), Into::into),
            source,
        }),
    }
}

/// Data goes to standard output; a reader that has gone away is no error.
fn print(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::File { action: "write", path: "standard output".into(), source: error })
        }
        _ => Ok(()),
    }
}

fn remark(remarks: &[Diagnostic]) {
    if !remarks.is_empty() {
        complain(&headless::lines(remarks));
    }
}

/// Says it on standard error: the only place that does, so that no text of a file's reaches the terminal as it is.
fn complain(text: &str) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// Diagnostics stand for themselves, as a compiler's do; everything else says who speaks.
fn sentence(error: &Error) -> String {
    match error {
        Error::Rejected(_) | Error::Fault(_) | Error::Faults(_) => error.to_string(),
        _ => format!("warpaint: {error}"),
    }
}

/// `WARPAINT_LOG=debug` shows what goes on.
fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("WARPAINT_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).without_time();
    log.with_writer(|| Printable(io::stderr())).init();
}

/// Writes lines fit for a terminal.
struct Printable<W>(W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(printable(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
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
    let value = text.parse().ok().and_then(|value| Duration::try_from_secs_f64(value).ok());
    let value = value.filter(|value| !value.is_zero());
    value.ok_or_else(|| "expected a number of seconds above 0, such as 2.5".to_owned())
}

//! The command line: parsed first, then resolved into what the library takes, then run.
//!
//! Enters: arguments and signals. Leaves: what was asked for, one line for an error, an exit code. Must not know:
//! `array`, `gl`, `draw`, `session`.

mod arguments;
mod signals;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::{self, ExitCode},
    time::Duration,
};

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::{
    compile::{Cache, Cancel, Compiler},
    device::Choice,
    diagnostic::{Diagnostic, escaped_json, has_errors, printable},
    headless::{
        self, Bench, Case, Check, Compare, Error, ExitStatus, OnStuck, Outcome, Render, Result,
        Run, Sanitize, Save, SceneSource, Side, Test,
    },
    interrupt::{Interrupt, Listening},
    scene::{Overrides, built_ins},
    studio,
};
use arguments::{
    BenchArgs, CacheAction, CheckArgs, Cli, Command, CompareArgs, GlChoice, NewArgs, RenderArgs,
    ReplayArgs, RunArgs, TestArgs,
};
use signals::Watch;

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
    let named = |error: &Error| format!("warpaint: {error}");
    match error {
        Error::Rejected(_) | Error::Mistakes(_) | Error::Fault(_) | Error::Faults(_) => {
            error.to_string()
        }
        Error::Usage(_) | Error::Stopped | Error::NoStage(_) | Error::File { .. } => named(error),
        Error::Tests { .. } | Error::Differ(_) | Error::Several(_) | Error::Parted { .. } => {
            named(error)
        }
        Error::Record(_) | Error::Kernel(_) | Error::Array(_) | Error::Session(_) => named(error),
        Error::Device(_) | Error::Compile(_) | Error::Gl(_) | Error::Interop(_) => named(error),
    }
}

/// `WARPAINT_LOG=debug` shows what goes on.
fn start_log() {
    let wished = std::env::var_os("WARPAINT_LOG");
    let read = wished.map(|text| text.to_string_lossy().parse::<EnvFilter>());
    let (filter, wrong) = match read {
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new("warn"), Some(error)),
        None => (EnvFilter::new("warn"), None),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).without_time();
    // A line that cannot be written, since a disk is full say, is lost: telling of that would panic.
    let log = log.log_internal_errors(false);
    log.with_writer(|| Printable(io::stderr())).init();
    if let Some(error) = wrong {
        tracing::warn!("WARPAINT_LOG says nothing that is understood, such as `debug`: {error}");
    }
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

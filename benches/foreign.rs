//! Other people's CUDA files: how many compile, how many of those the CPU device loads, and how many of these run for a
//! step with the manifest that [`warpaint::scene::draft_beside`] writes for them.
//!
//! ```text
//! cargo bench --bench foreign -- FOLDER... [-I FOLDER]... [--list]
//! ```
//!
//! Every `.cu` file in the folders with a kernel in it counts, as it stands, with its host code. With `--list` each file
//! that fails is told, with its first error.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark's results")]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use warpaint::{
    compile::{Cache, Compiler, Header, Limits, Outcome, Request, Target},
    cuda,
    device::Device,
    diagnostic::Severity,
    interop::Interop,
    scene::{Overrides, draft_beside},
    session::{Error, Options, Session},
};

/// Longest that one file may take to compile.
const LIMIT: Duration = Duration::from_secs(60);
/// Longest that its step may take.
const STEP_LIMIT: Duration = Duration::from_secs(10);

/// What became of a file.
enum Ended {
    /// It loads, and runs with the manifest that is written for it.
    Ran,
    /// It is launched with that, and a kernel faults: what it computes from is not what its host code would give.
    Faulted(String),
    /// The same, and its step takes longer than [`STEP_LIMIT`].
    Stopped(String),
    /// That manifest is not right.
    NotLaunched(String),
    NotLoaded(String),
    NotCompiled(String),
}

fn main() -> ExitCode {
    let (mut folders, mut includes, mut lists) = (Vec::new(), Vec::new(), false);
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--bench" => {}
            "--list" => lists = true,
            "-I" => includes.extend(words.next().map(PathBuf::from)),
            _ => folders.push(PathBuf::from(word)),
        }
    }
    if folders.is_empty() {
        eprintln!("foreign: skipped, since no folder is named");
        return ExitCode::SUCCESS;
    }
    for folder in &folders {
        count(folder, &includes, lists);
    }
    ExitCode::SUCCESS
}

/// Tries all files in a folder, and tells the numbers.
fn count(folder: &Path, includes: &[PathBuf], lists: bool) {
    let mut files = Vec::new();
    find(folder, &mut files);
    files.sort();
    let limits = Limits { time: LIMIT, ..Limits::default() };
    let compiler = Compiler::new(Cache::memory()).with_limits(limits);
    let (next, ended) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let of_file = attempt(file, includes, &compiler);
                    ended.lock().unwrap_or_else(PoisonError::into_inner).insert(file, of_file);
                }
            });
        }
    });
    let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    let number = |is: fn(&Ended) -> bool| ended.values().filter(|ended| is(ended)).count();
    let compiled = number(|ended| !matches!(ended, Ended::NotCompiled(_)));
    let loaded = compiled - number(|ended| matches!(ended, Ended::NotLoaded(_)));
    let launched = loaded - number(|ended| matches!(ended, Ended::NotLaunched(_)));
    let ran = number(|ended| matches!(ended, Ended::Ran));
    let stopped = number(|ended| matches!(ended, Ended::Stopped(_)));
    println!(
        "{}: {} files with kernels, {compiled} compile, {loaded} load, {launched} are launched with a manifest written \
         for them, {ran} of these without a fault, {stopped} more are stopped after {:.0} s; {:.0} s",
        folder.display(),
        files.len(),
        STEP_LIMIT.as_secs_f64(),
        started.elapsed().as_secs_f64()
    );
    for (file, ended) in ended.iter().filter(|_| lists) {
        match ended {
            Ended::Ran => {}
            Ended::Stopped(why) => println!("{}: takes too long: {why}", file.display()),
            Ended::Faulted(why) => println!("{}: faults: {why}", file.display()),
            Ended::NotLaunched(why) => println!("{}: is not launched: {why}", file.display()),
            Ended::NotLoaded(why) => println!("{}: does not load: {why}", file.display()),
            Ended::NotCompiled(why) => println!("{}: {why}", file.display()),
        }
    }
}

/// The files with kernels below `folder`, but for those that others include as a part of themselves.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut all = Vec::new();
    read_folder(folder, &mut all);
    let parts: BTreeSet<PathBuf> =
        all.iter().flat_map(|(path, text)| included(path, text)).collect();
    files.extend(all.into_iter().filter_map(|(path, text)| {
        let is_unit = path.extension().is_some_and(|ending| ending == "cu")
            && !path.canonicalize().is_ok_and(|path| parts.contains(&path));
        let has_kernels = text.contains("__global__") || !included(&path, &text).is_empty();
        (is_unit && has_kernels).then_some(path)
    }));
}

/// The `.cu` files that a file includes.
fn included(path: &Path, text: &str) -> Vec<PathBuf> {
    let lines = text.lines().filter(|line| line.trim_start().starts_with("#include"));
    let names =
        lines.filter_map(|line| line.split('"').nth(1)).filter(|name| name.ends_with(".cu"));
    names.filter_map(|name| path.parent()?.join(name).canonicalize().ok()).collect()
}

fn read_folder(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_folder(&path, files);
        } else if path
            .extension()
            .is_some_and(|ending| ["cu", "cuh", "h", "c", "cpp"].iter().any(|e| ending == *e))
        {
            let text = fs::read(&path).unwrap_or_default();
            files.push((path, String::from_utf8_lossy(&text).into_owned()));
        }
    }
}

fn attempt(file: &Path, includes: &[PathBuf], compiler: &Compiler) -> Ended {
    let text = fs::read(file).unwrap_or_default();
    let name = file.display().to_string();
    let mut request = Request::new(name, String::from_utf8_lossy(&text), Target::CPU);
    let header = |header: &cuda::BuiltInHeader| Header {
        name: header.name.to_owned(),
        text: header.text.to_owned(),
    };
    request.headers = cuda::headers().iter().map(header).collect();
    request.include_dirs = file.parent().map(Path::to_owned).into_iter().collect();
    request.include_dirs.extend_from_slice(includes);
    match compiler.compile(&request) {
        Ok(Outcome::Compiled(compiled)) => {
            match Device::cpu().and_then(|d| d.load(&compiled.ptx)) {
                Ok(_) => drive(file, includes, compiler),
                Err(error) => Ended::NotLoaded(error.to_string()),
            }
        }
        Ok(Outcome::Rejected { diagnostics, .. }) => {
            let errors = diagnostics.iter().filter(|remark| remark.severity >= Severity::Error);
            let told: Vec<String> = errors.clone().take(3).map(ToString::to_string).collect();
            Ended::NotCompiled(format!("{} errors: {}", errors.count(), told.join(" | ")))
        }
        Err(error) => Ended::NotCompiled(error.to_string()),
    }
}

/// Runs a file for a step, with the manifest that is written for it.
fn drive(file: &Path, includes: &[PathBuf], compiler: &Compiler) -> Ended {
    let text = String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned();
    let name = file.display().to_string();
    let own = file.parent().map(Path::to_owned).into_iter();
    let include_dirs = own.chain(includes.iter().cloned()).collect();
    let mut beside = |from: &str, included: &str| find_included(from, included, includes);
    let source = draft_beside(&name, &text, &mut beside) + &text;
    let options = Options {
        path: Some(file.to_owned()),
        trust: true,
        overrides: Overrides { include_dirs, cpu: Some(true), ..Overrides::default() },
        step_timeout: STEP_LIMIT,
        ..Options::new(name, source)
    };
    let ended = Device::cpu().map_err(|error| error.to_string()).and_then(|device| {
        let interop = Interop::none(&device);
        let session = Session::open(options, device, compiler.clone(), interop, || {});
        run(session.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
    });
    ended.unwrap_or_else(Ended::NotLaunched)
}

/// The file that one called `from` includes, beside it or in one of the folders.
fn find_included(from: &str, included: &str, folders: &[PathBuf]) -> Option<(String, String)> {
    let beside = Path::new(from).parent().map(Path::to_owned).into_iter();
    let all = beside.chain(folders.iter().cloned()).map(|folder| folder.join(included));
    all.filter_map(|path| path.canonicalize().ok()).find_map(|path| {
        let text = String::from_utf8_lossy(&fs::read(&path).ok()?).into_owned();
        Some((path.display().to_string(), text))
    })
}

fn run(mut session: Session) -> Result<Ended, Error> {
    if !session.wait_for_program()? {
        let errors = session.snapshot().compile.diagnostics.into_iter();
        let first =
            errors.filter(|remark| remark.severity >= Severity::Error).map(|e| e.to_string());
        return Ok(Ended::NotLaunched(first.take(1).collect()));
    }
    session.run_steps(1, |_| {})?;
    Ok(match session.snapshot().fault {
        None => Ended::Ran,
        Some(fault) => match fault.to_string() {
            text if text.contains("stopped after") => Ended::Stopped(text),
            text => Ended::Faulted(text),
        },
    })
}

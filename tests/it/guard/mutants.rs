//! The built-in scenes with a mistake in a kernel, each run guarded on a GPU and on the CPU device, in processes of
//! their own: both have to say the same.
//!
//! ```text
//! cargo test --test it -- --ignored --nocapture guard::mutants
//! WARPAINT_MUTANTS=N        how many, 200 without
//! WARPAINT_MUTANTS_SEED=N   which, 1 without
//! WARPAINT_MUTANTS_KEEP=F   the folder where the mutants of which both say different things are kept
//! WARPAINT_MUTANTS_ON=cpu   what they are run on in place of a GPU, to try this file
//! ```

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;

use crate::support::{binary, nvidia, root};

/// Steps of a mutant.
const STEPS: &str = "2";
/// Seconds after which a step is stopped, and those after which the process is, which then hangs.
const STEP_SECONDS: &str = "5";
const SECONDS: u64 = 60;
/// Most processes at a time.
const WORKERS: usize = 12;

/// A scene with one mistake.
struct Mutant {
    scene: String,
    /// The line of the mistake, and what it is.
    what: String,
    text: String,
    /// The constants with which both devices have the same.
    constants: Vec<String>,
}

/// How a run of a mutant ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ended {
    /// Without a word.
    Well,
    /// The source has mistakes.
    Rejected,
    /// A kernel faulted: what it did, and the line.
    Fault(String, u32),
    /// It was stopped.
    Stopped,
    /// The device is lost.
    Lost,
    /// The process did not end, or was ended by a signal, or says something else.
    Hung,
    Died,
    Other(i32),
}

#[test]
#[ignore = "takes minutes, and a GPU"]
fn mutants_are_told_of_alike() {
    let other = env::var("WARPAINT_MUTANTS_ON").ok();
    if other.is_none() && nvidia().is_none() {
        return;
    }
    let other = other.as_deref().unwrap_or("cuda");
    let number = |name: &str, usual: u64| {
        env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
    };
    let count = number("WARPAINT_MUTANTS", 200) as usize;
    let mut rng = Rng::with_seed(number("WARPAINT_MUTANTS_SEED", 1));
    let sources = sources();
    let mutants: Vec<Mutant> = (0..count)
        .filter_map(|_| mutant(&sources[rng.usize(0..sources.len())], &mut rng))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let started = Instant::now();
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, |count| count.get().min(WORKERS));
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((at, mutant)) = take(&next, &mutants) {
                    let file = folder.path().join(format!("mutant{at}"));
                    let ended = [("cpu", "a"), (other, "b")]
                        .map(|(device, side)| run(&file.with_extension(side), mutant, device));
                    results.lock().unwrap().push((at, ended));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_unstable_by_key(|(at, _)| *at);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let keep = env::var_os("WARPAINT_MUTANTS_KEEP").map(PathBuf::from);
    let mut bad = Vec::new();
    for (at, [cpu, cuda]) in &results {
        let outcome = compared(cpu, cuda);
        *counts.entry(outcome).or_default() += 1;
        if ALIKE.contains(&outcome) {
            continue;
        }
        let mutant = &mutants[*at];
        eprintln!(
            "{outcome}: mutant {at}, {}, {}: CPU {cpu:?}, GPU {cuda:?}",
            mutant.scene, mutant.what
        );
        if let Some(folder) = &keep {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(format!("mutant{at}.cu")), &mutant.text).unwrap();
        }
        if FORBIDDEN.contains(&outcome) {
            bad.push(*at);
        }
    }
    eprintln!("{} mutants in {:.0} s: {counts:#?}", results.len(), started.elapsed().as_secs_f64());
    assert!(bad.is_empty(), "mutants that killed the process or the device: {bad:?}");
}

/// What is no difference.
const ALIKE: [&str; 4] = ["both well", "both rejected", "same fault and line", "both stopped"];
/// What may not be.
const FORBIDDEN: [&str; 2] = ["the process died", "the device is lost"];

fn compared(cpu: &Ended, cuda: &Ended) -> &'static str {
    match (cpu, cuda) {
        (_, Ended::Died) => "the process died",
        (_, Ended::Lost) => "the device is lost",
        (_, Ended::Hung) => "it hangs",
        (Ended::Well, Ended::Well) => "both well",
        (Ended::Rejected, Ended::Rejected) => "both rejected",
        (Ended::Stopped, Ended::Stopped) => "both stopped",
        (Ended::Fault(kind, line), Ended::Fault(other_kind, other)) => {
            match (kind == other_kind, line == other) {
                (true, true) => "same fault and line",
                (_, false) => "another line",
                (false, true) => "another fault on the same line",
            }
        }
        (Ended::Fault(..), _) => "only the CPU device faults",
        (_, Ended::Fault(..)) => "only the GPU faults",
        (_, _) => "another end",
    }
}

fn take<'a>(next: &AtomicUsize, mutants: &'a [Mutant]) -> Option<(usize, &'a Mutant)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    Some((at, mutants.get(at)?))
}

/// The built-in scenes: name, text and constants of the CPU device.
fn sources() -> Vec<(String, String, Vec<String>)> {
    let folder = fs::read_dir(root().join("kernels")).unwrap().map(|entry| entry.unwrap().path());
    let is_scene = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "cu");
    let mut files: Vec<PathBuf> = folder.filter(is_scene).collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let constants = constants_of_cpu(&text);
        (name, with_blocks(&text), constants)
    };
    files.into_iter().map(read).collect()
}

/// The scene with as many threads in a block on both devices: each device chooses for itself where it says nothing, and
/// so has other threads behind the end of an array.
fn with_blocks(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().position(|line| line.starts_with("---*/")).unwrap();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        out.push(*line);
        let table = lines[at + 1..].iter().take_while(|line| !line.starts_with(['[', '-']));
        let keys: Vec<&str> =
            table.filter_map(|line| line.split_once('=')?.0.split_whitespace().next()).collect();
        let is_pass =
            at < end && (line.starts_with("[[pass]]") || line.starts_with("[[pass.pass]]"));
        if is_pass && keys.contains(&"kernel") && keys.contains(&"over") && !keys.contains(&"block")
        {
            out.push("block = 256");
        }
    }
    out.join("\n")
}

/// What the table `[constant.cpu]` of a manifest says, as options of the command line.
fn constants_of_cpu(text: &str) -> Vec<String> {
    let table = text.lines().skip_while(|line| line.trim() != "[constant.cpu]").skip(1);
    let lines = table.take_while(|line| !line.starts_with('[') && !line.starts_with("---"));
    let pair = |line: &str| {
        let line = line.split('#').next()?.trim();
        let (name, value) = line.split_once('=')?;
        Some(format!("{}={}", name.trim(), value.trim()))
    };
    lines.filter_map(pair).collect()
}

/// What may be written in place of what, with a place for a number.
const CHANGES: [(&str, &str); 20] = [
    ("]", " + #]"),
    ("]", " - #]"),
    ("[", "[# * "),
    ("[", "[-"),
    ("if (i >= n) return;", ""),
    (" >= ", " > "),
    (" < ", " <= "),
    (" < ", " > "),
    (" < ", " != "),
    ("++i", "i += 0"),
    ("++j", "j += 0"),
    ("++k", "k -= 1"),
    (" += 1", " += 0"),
    (" >>= 1", " >>= 0"),
    ("__syncthreads();", ";"),
    ("__syncthreads();", "if (threadIdx.x < #) __syncthreads();"),
    (" + 1", " + #"),
    (" - 1", " - #"),
    (" * ", " + # * "),
    ("threadIdx.x", "(threadIdx.x + #)"),
];

/// One mistake in the code of a scene; none where the change that was drawn has no place in it.
fn mutant(
    (scene, text, constants): &(String, String, Vec<String>),
    rng: &mut Rng,
) -> Option<Mutant> {
    let code = text.find("---*/")? + 5;
    for _ in 0..100 {
        let (from, to) = CHANGES[rng.usize(0..CHANGES.len())];
        let places: Vec<usize> =
            text[code..].match_indices(from).map(|(at, _)| code + at).collect();
        if places.is_empty() {
            continue;
        }
        let at = places[rng.usize(0..places.len())];
        let line_start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[line_start..at];
        if before.contains("//") || before.starts_with('#') {
            continue;
        }
        let number = [1, 7, 33, 1000, 1_000_000, 123_456_789][rng.usize(0..6)];
        let to = to.replace('#', &number.to_string());
        let line = text[..at].lines().count();
        let mutated = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        return Some(Mutant {
            scene: scene.clone(),
            what: format!("line {line}: `{from}` is `{to}`"),
            text: mutated,
            constants: constants.clone(),
        });
    }
    None
}

fn run(file: &Path, mutant: &Mutant, device: &str) -> Ended {
    let (file, told) = (file.with_extension("cu"), file.to_owned());
    fs::write(&file, &mutant.text).unwrap();
    let mut command = Command::new(binary());
    command.arg("render").arg(&file).args(["--steps", STEPS, "--device", device]);
    command.args(["--step-timeout", STEP_SECONDS]);
    mutant.constants.iter().for_each(|constant| _ = command.args(["--const", constant]));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&told).unwrap());
    let mut child = command.spawn().unwrap();
    let code = wait(&mut child);
    let text = fs::read_to_string(&told).unwrap_or_default();
    match code {
        None => Ended::Hung,
        Some(None) => Ended::Died,
        Some(Some(0)) => Ended::Well,
        Some(Some(1)) => Ended::Rejected,
        Some(Some(4)) => fault(&text),
        Some(Some(_)) if text.contains("CUDA_ERROR") => Ended::Lost,
        Some(Some(code)) => Ended::Other(code),
    }
}

/// The exit code; none in place of it where a signal ended the process, none at all where it does not end.
fn wait(child: &mut Child) -> Option<Option<i32>> {
    let end = Instant::now() + Duration::from_secs(SECONDS);
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code());
        }
        thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// The fault that is told: `mutant.cu:12:5: fault: kernel …`.
fn fault(text: &str) -> Ended {
    if text.contains("CUDA_ERROR") {
        return Ended::Lost;
    }
    let told = text.lines().find(|line| line.contains(" outside ") || line.contains("misaligned"));
    let Some(told) = told else { return Ended::Stopped };
    let kind = match told {
        told if told.contains("misaligned") => "misaligned",
        told if told.contains(": read ") => "read",
        _ => "write",
    };
    let line = told.split(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or(0);
    Ended::Fault(kind.to_owned(), line)
}

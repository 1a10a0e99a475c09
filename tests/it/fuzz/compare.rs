//! The same kernel on every engine there is.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use warpaint::device::{
    Arguments, Choice, Device, Error, Function, LaunchConfig, Limit, Module, Stream,
    cpu::{Engine, Lanes, LaunchOptions},
    nvidia::JitOptions,
};

use super::images::Image;
use crate::skip::{Need, skip};

/// Longest that a kernel may take, on a machine that is busy: shortened ones may not end.
const LIMIT: Duration = Duration::from_secs(10);

/// Who runs a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runner {
    Jit,
    /// Groups of threads side by side, wherever that is possible.
    Groups,
    /// One thread after the other.
    Singles,
    Deterministic,
    Interpreter,
    Nvidia,
}

impl Runner {
    /// Those of the CPU device; others are compared with the first.
    pub const OF_CPU: [Self; 5] =
        [Self::Jit, Self::Groups, Self::Singles, Self::Deterministic, Self::Interpreter];
}

/// A kernel `k` that takes addresses of buffers.
pub struct Job {
    pub text: String,
    pub grid: u32,
    pub block: u32,
    /// What the buffers hold before.
    pub buffers: Vec<Vec<u8>>,
    /// Whose handles stand behind them; they count as further buffers.
    pub images: Vec<Image>,
}

/// All engines.
pub struct Engines {
    cpu: Device,
    nvidia: Option<Device>,
    /// What an engine refused, with how often.
    refused: BTreeMap<(Runner, String), u32>,
    groups: BTreeMap<Runner, Groups>,
    /// The architectures that the NVIDIA device is too old for, which were counted as skipped.
    too_new: BTreeSet<u32>,
}

/// For how many of the kernels that were run there was code for groups of threads.
#[derive(Clone, Copy, Default)]
struct Groups {
    run: u32,
    made: u32,
}

/// What a kernel leaves in its buffers, or how it ended.
pub type Outcome = Result<Vec<Vec<u8>>, String>;

impl Engines {
    pub fn new() -> Self {
        Self {
            cpu: Device::cpu().unwrap(),
            nvidia: nvidia(),
            refused: BTreeMap::new(),
            groups: BTreeMap::new(),
            too_new: BTreeSet::new(),
        }
    }

    /// Who runs kernels for `architecture`: 90 for sm_90.
    pub fn runners(&mut self, architecture: u32) -> Vec<Runner> {
        let mut list = Runner::OF_CPU.to_vec();
        if self.nvidia_has(architecture) {
            list.push(Runner::Nvidia);
        }
        list
    }

    /// Whether there is an NVIDIA device that runs kernels for `architecture`. That one is there and too old for them
    /// is counted, once for each architecture.
    pub fn nvidia_has(&mut self, architecture: u32) -> bool {
        let Some(device) = &self.nvidia else { return false };
        let has = capability(device) >= architecture;
        if !has && self.too_new.insert(architecture) {
            skip(Need::Machine, format_args!("what needs sm_{architecture} is not compared"));
        }
        has
    }

    /// How a kernel for the architecture `target` ends on the NVIDIA device, made for that one; or why that does not
    /// load it.
    pub fn run_on_nvidia(&self, job: &Job, target: &str) -> Result<Outcome, String> {
        let nvidia = self.nvidia.as_ref().ok_or("no NVIDIA device")?;
        let own = capability(nvidia);
        // What is of one architecture alone is asked for by an `a`.
        let own = format!("sm_{own}{}", if own >= 90 { "a" } else { "" });
        let text = made_for(&job.text, target, &own);
        let module = load_plainly(nvidia, &text).map_err(|error| error.to_string())?;
        Ok(self.launch(Runner::Nvidia, nvidia, &module, job).unwrap_or_else(Err))
    }

    /// The text without what the CPU device lacks, loaded there.
    pub fn load(&mut self, text: &str) -> Result<(String, Module), String> {
        let mut text = text.to_owned();
        for _ in 0..60 {
            match self.cpu.load(&text) {
                Ok(module) => return Ok((text, module)),
                Err(Error::UnsupportedPtx { instruction, .. }) => {
                    let is_it = |line: &&str| {
                        let line = line.trim_end_matches(';');
                        !line.is_empty() && instruction.starts_with(line)
                    };
                    let Some(line) = text.lines().find(is_it).map(str::to_owned) else {
                        return Err(format!("`{instruction}` is not supported"));
                    };
                    let words = line.split_whitespace().find(|word| !word.starts_with('@'));
                    self.refuse(Runner::Jit, words.unwrap_or_default());
                    let kept: Vec<&str> = text.lines().filter(|other| *other != line).collect();
                    text = kept.join("\n");
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Err("nothing is supported".to_owned())
    }

    /// The whole text, loaded on the CPU device.
    pub fn load_whole(&self, text: &str) -> Result<Module, Error> {
        self.cpu.load(text)
    }

    fn refuse(&mut self, runner: Runner, what: &str) {
        *self.refused.entry((runner, what.to_owned())).or_default() += 1;
    }

    /// That every engine took all that it was given. Our own ones take what the table has; so does NVIDIA's assembler,
    /// for the architectures that it knows.
    pub fn expect_nothing_refused(&self) {
        assert!(self.refused.is_empty(), "refused, and how often: {:#?}", self.refused);
    }

    /// That for so many percent of the kernels that `runner` ran there was code for groups: with none, nothing would
    /// have been compared with it, and nobody would notice.
    #[expect(clippy::print_stdout, reason = "for whoever sets the least share")]
    pub fn expect_groups(&self, runner: Runner, percent: u32) {
        let Groups { run, made } = self.groups.get(&runner).copied().unwrap_or_default();
        println!("{runner:?}: code for groups of {made} of {run} kernels");
        let is_enough = run > 0 && 100 * made >= percent * run;
        assert!(is_enough, "{runner:?} had code for groups of {made} of {run} kernels");
    }

    /// How many threads of the kernel run side by side there.
    fn side_by_side(&self, runner: Runner, cpu: &Module, job: &Job) -> Result<usize, String> {
        let told = |error: Error| error.to_string();
        match cpu.function("k").map_err(told)? {
            Function::Cpu(function) => {
                function.side_by_side(lanes(runner), job.block).map_err(told)
            }
            _ => Ok(1),
        }
    }

    /// How it ends on the compiler; `None` where the very same code has been run.
    fn compiled(
        &mut self,
        runner: Runner,
        cpu: &Module,
        job: &Job,
    ) -> Result<Option<Outcome>, String> {
        if runner == Runner::Singles && self.side_by_side(Runner::Jit, cpu, job)? == 1 {
            return Ok(None);
        }
        let made = self.side_by_side(runner, cpu, job)? > 1;
        let count = self.groups.entry(runner).or_default();
        count.run += 1;
        count.made += u32::from(made);
        self.launch(runner, &self.cpu, cpu, job).map(Some)
    }

    /// How `runner` ends the kernel; `None`: it refuses it, which is kept, or another one is the same.
    pub fn run(&mut self, runner: Runner, cpu: &Module, job: &Job) -> Option<Outcome> {
        let outcome = match (runner, &self.nvidia) {
            (Runner::Nvidia, None) => return None,
            (Runner::Nvidia, Some(nvidia)) => match load_plainly(nvidia, &job.text) {
                Ok(module) => self.launch(runner, nvidia, &module, job),
                Err(error) => {
                    self.refuse(runner, &error.to_string());
                    return None;
                }
            },
            (Runner::Jit | Runner::Groups | Runner::Singles | Runner::Deterministic, _) => {
                match self.compiled(runner, cpu, job) {
                    Ok(outcome) => Ok(outcome?),
                    Err(error) => Err(error),
                }
            }
            (Runner::Interpreter, _) => self.launch(runner, &self.cpu, cpu, job),
        };
        let outcome = outcome.unwrap_or_else(Err);
        if let Err(error) = &outcome
            && error.contains("does not support interpreting")
        {
            self.refuse(runner, error);
            return None;
        }
        Some(outcome)
    }

    fn launch(
        &self,
        runner: Runner,
        device: &Device,
        module: &Module,
        job: &Job,
    ) -> Result<Outcome, String> {
        let told = |error: Error| error.to_string();
        let function = module.function("k").map_err(told)?;
        let stream = device.stream().map_err(told)?;
        let mut arguments = Arguments::new();
        let mut memories = Vec::new();
        for bytes in &job.buffers {
            let memory = device.alloc(bytes.len()).map_err(told)?;
            stream.upload(memory.slice(..).map_err(told)?, bytes).map_err(told)?;
            arguments.push(&memory.address());
            memories.push(memory);
        }
        let mut images = Vec::new();
        for image in &job.images {
            images.push(image.push(device, &stream, &mut arguments).map_err(told)?);
        }
        let config = LaunchConfig::new(job.grid, job.block);
        start(runner, &stream, &function, &config, &arguments).map_err(told)?;
        let end = Instant::now() + LIMIT;
        while runner != Runner::Nvidia && !stream.is_idle().map_err(told)? {
            if Instant::now() > end {
                stream.cancel().map_err(told)?;
            }
            std::thread::yield_now();
        }
        if let Err(error) = stream.synchronize() {
            return Ok(Err(error.to_string()));
        }
        let mut after = Vec::new();
        for memory in &memories {
            let slice = memory.slice(..).map_err(told)?;
            after.push(stream.download(slice).map_err(told)?.wait().map_err(told)?);
        }
        for image in &images {
            after.push(image.read(&stream).map_err(told)?);
        }
        Ok(Ok(after))
    }
}

/// The text for another architecture than `before`.
pub fn made_for(text: &str, before: &str, target: &str) -> String {
    text.replacen(&format!(".target {before}\n"), &format!(".target {target}\n"), 1)
}

/// 90 for sm_90.
fn capability(device: &Device) -> u32 {
    let (major, minor) = device.info().compute_capability;
    10 * major + minor
}

/// Loads without optimisation: with it, NVIDIA's assembler (of driver 580) gets one random kernel in 150 wrong.
fn load_plainly(device: &Device, text: &str) -> Result<Module, Error> {
    match device {
        Device::Nvidia(device) => {
            let options = JitOptions { optimization_level: Some(0), ..JitOptions::default() };
            Ok(Module::Nvidia(device.load_with(text, options)?))
        }
        Device::Cpu(_) => device.load(text),
    }
}

/// How its threads are to run.
fn lanes(runner: Runner) -> Lanes {
    match runner {
        Runner::Groups => Lanes::Always,
        Runner::Singles => Lanes::Never,
        Runner::Jit | Runner::Deterministic => Lanes::WhereFaster,
        Runner::Interpreter | Runner::Nvidia => Lanes::WhereFaster,
    }
}

#[expect(unsafe_code, reason = "kernels of our own making, which stay within their memory")]
fn start(
    runner: Runner,
    stream: &Stream,
    function: &Function,
    config: &LaunchConfig,
    arguments: &Arguments,
) -> Result<(), Error> {
    let options = LaunchOptions {
        engine: if runner == Runner::Interpreter { Engine::Interpreter } else { Engine::Jit },
        deterministic: runner == Runner::Deterministic,
        lanes: lanes(runner),
        ..LaunchOptions::default()
    };
    match (stream, function) {
        (Stream::Cpu(stream), Function::Cpu(function)) => {
            stream.launch_with(function, config, arguments, &options)
        }
        // SAFETY: the generator keeps every access within the three buffers, which outlive the launch.
        _ => unsafe { stream.launch(function, config, arguments) },
    }
}

/// The NVIDIA device, where it is asked for: a kernel that goes astray there ends CUDA for the whole process, and with
/// it all tests that run beside.
fn nvidia() -> Option<Device> {
    if !asks_nvidia() {
        // Where there is none, nothing is left out that could be done.
        if Device::open(Choice::Cuda(0)).is_ok() {
            skip(Need::Machine, "WARPAINT_FUZZ_NVIDIA is not set");
        }
        return None;
    }
    let device = crate::support::nvidia()?;
    // Functions that call themselves three times, built without optimisation, take more than the driver's 1 KiB.
    device.set_limit(Limit::StackBytes, 16 << 10).unwrap();
    Some(device)
}

/// Whether an NVIDIA device is asked, too.
pub fn asks_nvidia() -> bool {
    std::env::var_os("WARPAINT_FUZZ_NVIDIA").is_some()
}

/// Where two outcomes differ first, in words; `name` tells what lies at a byte of a buffer. Two errors agree on
/// nothing.
pub fn difference(
    a: &Outcome,
    b: &Outcome,
    name: impl Fn(usize, usize) -> String,
) -> Option<String> {
    match (a, b) {
        (Ok(a), Ok(b)) if lengths(a) != lengths(b) => {
            Some(format!("buffers of {:?} and {:?} bytes", lengths(a), lengths(b)))
        }
        (Ok(a), Ok(b)) => a.iter().zip(b).enumerate().find_map(|(buffer, (a, b))| {
            let at = a.iter().zip(b).position(|(a, b)| a != b)?;
            let word = |bytes: &[u8]| {
                let at = at & !7;
                let bytes = bytes.get(at..at + 8).unwrap_or(&[]);
                bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>()
            };
            Some(format!("{}: {} and {}", name(buffer, at), word(a), word(b)))
        }),
        (Err(a), Err(b)) => Some(format!("no results: `{a}` and `{b}`")),
        (Err(error), Ok(_)) => Some(format!("`{error}` and a result")),
        (Ok(_), Err(error)) => Some(format!("a result and `{error}`")),
    }
}

/// How many bytes each buffer has.
pub fn lengths(buffers: &[Vec<u8>]) -> Vec<usize> {
    buffers.iter().map(Vec::len).collect()
}

/// What the first engine gives, and how another differs from it.
pub fn compare(
    engines: &mut Engines,
    cpu: &Module,
    job: &Job,
    name: impl Fn(usize, usize) -> String,
) -> Result<Outcome, String> {
    let runners = engines.runners(0);
    compare_between(engines, &runners, cpu, job, name)
}

/// As [`compare`], of these engines.
pub fn compare_between(
    engines: &mut Engines,
    runners: &[Runner],
    cpu: &Module,
    job: &Job,
    name: impl Fn(usize, usize) -> String,
) -> Result<Outcome, String> {
    let first =
        engines.run(runners[0], cpu, job).unwrap_or_else(|| Err("not supported".to_owned()));
    if let Err(error) = &first {
        return Err(format!("{:?}: {error}", runners[0]));
    }
    for &runner in &runners[1..] {
        let Some(other) = engines.run(runner, cpu, job) else { continue };
        if let Some(difference) = difference(&first, &other, &name) {
            return Err(format!("{:?} and {runner:?} differ: {difference}", runners[0]));
        }
    }
    Ok(first)
}

#[test]
fn buffers_that_one_has_more_of_differ() {
    let place = |buffer: usize, at: usize| format!("{buffer}, {at}");
    let of = |buffers: &[&[u8]]| Ok(buffers.iter().map(|bytes| bytes.to_vec()).collect());
    let two: Outcome = of(&[&[1, 2], &[3]]);
    assert_eq!(difference(&two, &two, place), None);
    for other in [of(&[&[1, 2]]), of(&[&[1], &[3]]), of(&[&[1, 2], &[3, 4]]), of(&[])] {
        assert!(difference(&two, &other, place).is_some(), "{other:?}");
        assert!(difference(&other, &two, place).is_some(), "{other:?}");
    }
}

/// What fails on both engines was not compared: it is told, and with both errors, however alike they are.
#[test]
fn what_has_no_result_differs_from_everything() {
    let place = |buffer: usize, at: usize| format!("{buffer}, {at}");
    let (failed, other): (Outcome, Outcome) = (Err("one".to_owned()), Err("two".to_owned()));
    let result: Outcome = Ok(vec![vec![1, 2]]);
    let told = |a: &Outcome, b: &Outcome| difference(a, b, place).unwrap();
    assert_eq!(told(&failed, &failed), "no results: `one` and `one`");
    assert_eq!(told(&failed, &other), "no results: `one` and `two`");
    assert_eq!(told(&failed, &result), "`one` and a result");
    assert_eq!(told(&result, &other), "a result and `two`");
}

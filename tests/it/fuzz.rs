//! Fuzzing: text that nobody would write must never end the process, and every engine must give the same answer
//! for it. Cases follow from their numbers alone, so that a failure can be repeated.
//!
//! ```text
//! WARPAINT_FUZZ_SECONDS=600   how long each test goes on (default: about a second)
//! WARPAINT_FUZZ_NVIDIA=1      random kernels on an NVIDIA device, too: alone, since one may end CUDA in its process
//! WARPAINT_FUZZ_ROUNDS=10     how often each form of each instruction is tried (default: once)
//! WARPAINT_FUZZ_PART=3/8      every eighth form alone, from the fourth on: for as many processes at once
//! WARPAINT_FUZZ_SEED=1234     the first case's number (default: 0)
//! WARPAINT_FUZZ_CORPUS=DIR    more PTX, and CUDA C++, to start from; folders in it, too
//! ```
//! `fuzz/attack.rs` says what else there is to set for kernels that try to do harm.
//!
//! With a time given, each case is written to `warpaint-fuzz-….ptx` in the folder for temporary files before it is
//! tried, so that the last one is there even when it ends the process.

pub mod assembler;
#[cfg(target_os = "linux")]
mod attack;
mod compare;
mod corpus;
mod cuda;
mod guard;
mod hostile;
mod images;
mod instructions;
mod launch;
mod mutate;
mod operands;
mod others;
mod random;
pub mod refused;
mod scene;
mod source;
mod spec;
mod sweep;
mod values;
mod warps;

use std::time::{Duration, Instant};

use fastrand::Rng;
use warpaint::device::Device;

use compare::{Engines, Job, Runner, compare, compare_between};
use corpus::Corpus;
use guard::Guard;

/// How many cases are tried.
pub struct Budget {
    next: u64,
    end: End,
}

enum End {
    At(Instant),
    Before(u64),
}

impl Budget {
    /// As long as the user says, else `seconds`.
    fn new(seconds: f64) -> Self {
        let seconds = number("WARPAINT_FUZZ_SECONDS").unwrap_or(seconds);
        Self { next: first(), end: End::At(Instant::now() + Duration::from_secs_f64(seconds)) }
    }

    /// As long as the user says, else so many: the same ones each time.
    pub fn cases(count: u64) -> Self {
        match number("WARPAINT_FUZZ_SECONDS") {
            Some(seconds) => Self::new(seconds),
            None => Self { next: first(), end: End::Before(first() + count) },
        }
    }
}

/// The first case's number.
fn first() -> u64 {
    number("WARPAINT_FUZZ_SEED").unwrap_or(0.0) as u64
}

/// The cases' numbers.
impl Iterator for Budget {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let case = self.next;
        self.next += 1;
        let goes_on = match self.end {
            End::At(end) => Instant::now() < end,
            End::Before(end) => case < end,
        };
        goes_on.then_some(case)
    }
}

fn number(variable: &str) -> Option<f64> {
    std::env::var(variable).ok().map(|text| parse(variable, &text))
}

/// The value of a variable; a slip of the pen must not be another number.
fn parse(variable: &str, text: &str) -> f64 {
    let number = text.trim().parse::<f64>().ok().filter(|number| (0.0..1e18).contains(number));
    number.unwrap_or_else(|| panic!("{variable}={text} is no number"))
}

/// How often each form is tried.
fn rounds() -> u64 {
    number("WARPAINT_FUZZ_ROUNDS").map_or(1, |rounds| rounds as u64)
}

/// Which forms are tried: every so manieth from which one on.
fn part() -> (usize, usize) {
    let variable = "WARPAINT_FUZZ_PART";
    let Ok(text) = std::env::var(variable) else { return (0, 1) };
    parse_part(&text).unwrap_or_else(|| panic!("{variable}={text} is no part"))
}

fn parse_part(text: &str) -> Option<(usize, usize)> {
    let (part, parts) = text.split_once('/')?;
    let (part, parts) = (part.parse().ok()?, parts.parse().ok()?);
    (part < parts).then_some((part, parts))
}

#[test]
fn numbers_that_are_none_are_told() {
    let is_refused = |text: &str| std::panic::catch_unwind(|| parse("X", text)).is_err();
    assert!((parse("X", " 2.5 ") - 2.5).abs() < f64::EPSILON);
    for bad in ["", "1O", "ten", "-1", "nan", "inf"] {
        assert!(is_refused(bad), "{bad}");
    }
    assert_eq!(parse_part("3/8"), Some((3, 8)));
    for bad in ["", "3", "8/8", "1/0", "/2", "-1/2"] {
        assert_eq!(parse_part(bad), None, "{bad}");
    }
}

/// A generator for case `case` of the test `test`.
pub fn generator(test: &str, case: u64) -> Rng {
    let salt = test.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Rng::with_seed(salt.wrapping_add(case.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// Mutated PTX: parsed, verified, printed, loaded, launched.
#[test]
fn mutated_ptx_never_ends_the_process() {
    let corpus = Corpus::ptx();
    let device = Device::cpu().unwrap();
    let mut guard = Guard::new("mutated");
    for case in Budget::new(1.5) {
        let mut rng = generator("mutated", case);
        let text = mutate::ptx(&mut rng, &corpus);
        let launches = rng.u64(..);
        guard.try_text(case, &text, |text| launch::exercise(&device, text, launches));
    }
    guard.finish();
}

/// Every opcode with every type and modifier, right or wrong, on registers of every type.
#[test]
fn any_instruction_loads_or_is_refused() {
    let device = Device::cpu().unwrap();
    let mut guard = Guard::new("instructions");
    for case in Budget::new(1.5) {
        let mut rng = generator("instructions", case);
        let text = instructions::module(&mut rng);
        let launches = rng.u64(..);
        guard.try_text(case, &text, |text| launch::exercise(&device, text, launches));
    }
    guard.finish();
}

/// What is read besides PTX.
#[test]
fn mutated_scenes_never_end_the_process() {
    let corpus = Corpus::scenes();
    let mut guard = Guard::new("scene");
    for case in Budget::new(0.7) {
        let mut rng = generator("scene", case);
        let text = mutate::scene(&mut rng, &corpus);
        guard.try_text(case, &text, scene::exercise);
    }
    guard.finish();
}

/// Mutated sources, also with host code in them, against the compiler in its process.
#[test]
fn mutated_sources_are_compiled_or_rejected() {
    let Some(mut sources) = source::Sources::new() else { return };
    let corpus = Corpus::sources();
    let mut guard = Guard::new("source");
    for case in Budget::new(8.0) {
        let mut rng = generator("source", case);
        let text = mutate::source(&mut rng, &corpus);
        guard.try_text(case, &text, |text| sources.exercise(text));
    }
    guard.finish();
}

/// Of mutated sources manifests are drafted.
#[test]
fn mutated_sources_give_manifests() {
    let corpus = Corpus::sources();
    let mut guard = Guard::new("draft");
    for case in Budget::new(4.0) {
        let mut rng = generator("draft", case);
        let text = mutate::source(&mut rng, &corpus);
        guard.try_text(case, &text, scene::draft);
    }
    guard.finish();
}

/// Random kernels give the same bits on every engine.
#[test]
fn random_ptx_gives_the_same_everywhere() {
    let mut engines = Engines::new();
    let mut guard = Guard::new("random");
    for case in Budget::cases(40) {
        let mut rng = generator("random", case);
        let kernel = random::kernel(&mut rng);
        let seed = rng.u64(..);
        guard.try_text(case, &kernel.text, |text| {
            let (text, module) = engines.load(text)?;
            compare(&mut engines, &module, &kernel.job(text, seed), random::place).map(drop)
        });
    }
    guard.finish();
    engines.expect_nothing_refused();
    // Not those that call functions, nor those with local memory, nor most of those with carries.
    engines.expect_groups(Runner::Groups, 15);
}

/// Random kernels whose threads meet while their ways diverge give the same bits on the interpreter, one thread after
/// the other, in groups, and on an NVIDIA device.
#[test]
fn warps_that_diverge_give_the_same_everywhere() {
    let mut engines = Engines::new();
    let mut guard = Guard::new("warps");
    let on_nvidia = engines.nvidia_has(warps::ARCHITECTURE);
    for case in Budget::cases(40) {
        let mut rng = generator("warps", case);
        let kernel = warps::kernel(&mut rng, on_nvidia || case % 2 == 1);
        let seed = rng.u64(..);
        guard.try_text(case, &kernel.text, |text| {
            let (text, module) = engines.load(text)?;
            let job = kernel.job(text, seed);
            let mut runners =
                vec![Runner::Interpreter, Runner::Jit, Runner::Groups, Runner::Singles];
            runners.extend(on_nvidia.then_some(Runner::Nvidia));
            compare_between(&mut engines, &runners, &module, &job, warps::place).map(drop)
        });
    }
    guard.finish();
    engines.expect_nothing_refused();
    // Not those whose blocks are no multiple of four threads wide.
    engines.expect_groups(Runner::Groups, 75);
}

/// Every form whose operands alone decide its result gives the same bits on every engine.
#[test]
#[expect(clippy::print_stdout, reason = "many rounds take long, and may be stopped")]
fn what_its_operands_decide_is_the_same_everywhere() {
    let mut engines = Engines::new();
    let mut found = Vec::new();
    // From the first case's number, so that several processes share the rounds.
    for seed in first()..first() + rounds() {
        let guard = if seed % 2 == 0 { "" } else { "@%p3 " };
        for (rows, architecture) in [
            (&spec::INTEGER, 80),
            (&spec::FLOAT, 80),
            (&spec::HALF, 80),
            (&spec::SM90, 90),
            (&spec::SM100, 100),
        ] {
            println!("round {seed}: {} rows, sm_{architecture}", rows.len());
            let more = sweep::differences(&mut engines, rows, guard, architecture, seed);
            more.iter().for_each(|how| println!("{how}"));
            found.extend(more);
        }
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
    engines.expect_nothing_refused();
    // All of these forms can be had in groups; where operands are the same for all, in half of the kernels, that is
    // faster, too.
    engines.expect_groups(Runner::Groups, 95);
    engines.expect_groups(Runner::Jit, 45);
}

/// The other forms give the same bits on all engines, but for those that are listed with a reason: memory, atomics,
/// warps, matrices, carries, images.
#[test]
fn what_more_decides_is_the_same_everywhere() {
    let (mut engines, (part, parts)) = (Engines::new(), part());
    let mut found = Vec::new();
    for round in 0..rounds() {
        for (at, row) in others::rows().into_iter().enumerate().skip(part).step_by(parts) {
            let seed = first() + 1000 * round + at as u64;
            found.extend(others::difference(&mut engines, row, seed));
        }
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
    engines.expect_nothing_refused();
    if parts == 1 {
        // Those with local memory have none, and most of those with carries.
        engines.expect_groups(Runner::Groups, 90);
    }
}

/// A reason is given for forms that there are, and that no other test compares.
#[test]
fn what_is_not_compared_is_there() {
    for (start, reason) in others::NOT_COMPARED {
        let is_it = |row: &&spec::Row| others::reason(row) == Some(*reason);
        let named = spec::OTHER.iter().filter(|row| spec::begins(row, start));
        assert!(named.filter(is_it).count() > 0, "`{start}` ({reason}) is no form of this group");
    }
    let rows = others::rows();
    for (start, reason) in others::NOT_ON_NVIDIA {
        let is_it = |row: &&spec::Row| others::reason_on_nvidia(row) == Some(*reason);
        let named = rows.iter().filter(|row| spec::begins(row, start));
        assert!(named.filter(is_it).count() > 0, "`{start}` ({reason}) is no form of this group");
    }
}

/// Random CUDA C++ gives the same bits on every engine, and when the host's compiler compiles it.
#[test]
fn random_cuda_gives_the_same_everywhere() {
    let (Some(nvrtc), host) = (cuda::Nvrtc::find(), cuda::Host::find()) else { return };
    let mut engines = Engines::new();
    let mut guard = Guard::new("cuda");
    for case in Budget::new(1.5) {
        let mut rng = generator("cuda", case);
        let source = cuda::kernel(&mut rng);
        let optimised = rng.u32(0..4) > 0;
        let input: Vec<u8> =
            (0..64 * cuda::BYTES / 8).flat_map(|_| values::wide(&mut rng).to_le_bytes()).collect();
        guard.try_text(case, &source, |source| {
            let text = nvrtc.compile(source, optimised)?;
            let (text, module) = engines.load(&text)?;
            let buffers = vec![input.clone(), vec![0; input.len()]];
            let job = Job { text, grid: 2, block: 32, buffers, images: Vec::new() };
            let place = |_, at| format!("thread {}, out[{}]", at / 64, at % 64 / 8);
            let found = compare(&mut engines, &module, &job, place)?;
            let Some(host) = &host else { return Ok(()) };
            let expected = host.run(source, &input).map(|out| vec![input.clone(), out]);
            let difference = compare::difference(&found, &expected, place);
            difference.map_or(Ok(()), |text| Err(format!("the device and g++ differ: {text}")))
        });
    }
    guard.finish();
    engines.expect_nothing_refused();
}

//! Runs the cases of `tests/ptx/`: PTX with launches, arguments and expected results in its comments.
//!
//! ```text
//! // run: KERNEL grid 2 block 32 shared 64     a launch; its arguments follow in order
//! // buffer: u32 1 2 3 -> 2 4 6                memory, what it holds before and after
//! // value: f32 1.5                            a scalar
//! // bytes: 0000803f                           a structure of words
//! // tolerance: 1e-6                           relative, for all buffers of the launch; default: the same bits
//! // fault: InvalidWrite                       how the launch ends (on the CPU device; not run elsewhere)
//! // unsupported: mma.sync                     the module does not load on the CPU device, for that instruction
//! ```
//! Values are decimal, hexadecimal (bits), `nan`, `inf`, `-inf`; `0*32` repeats, `0..8` counts. `_` after the
//! arrow matches anything. A NaN equals every NaN.

use std::fs;

use warpaint::device::{
    Arguments, Device, Dim3, Error, LaunchConfig, LinkInput, Memory, Module,
    cpu::{Check, LaunchOptions},
};

use crate::support::{alone, expect_pass, nvidia};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scalar {
    Int { bytes: usize },
    F32,
    F64,
}

impl Scalar {
    fn parse(word: &str) -> Self {
        match word {
            "u8" | "s8" => Self::Int { bytes: 1 },
            "u16" | "s16" | "f16" => Self::Int { bytes: 2 },
            "u32" | "s32" => Self::Int { bytes: 4 },
            "u64" | "s64" => Self::Int { bytes: 8 },
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => panic!("`{word}` is no type"),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Int { bytes } => bytes,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    fn encode(self, word: &str) -> Vec<u8> {
        let bits = match (word.strip_prefix("0x"), self) {
            (Some(hex), _) => u64::from_str_radix(hex, 16).unwrap(),
            (None, Self::F32) => u64::from(word.parse::<f32>().unwrap().to_bits()),
            (None, Self::F64) => word.parse::<f64>().unwrap().to_bits(),
            (None, Self::Int { .. }) => word.parse::<i128>().unwrap() as u64,
        };
        bits.to_le_bytes()[..self.bytes()].to_vec()
    }

    fn number(self, bytes: &[u8]) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
            Self::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
            Self::Int { .. } => {
                let mut wide = [0; 8];
                wide[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(wide) as f64
            }
        }
    }

    fn show(self, bytes: &[u8]) -> String {
        match self {
            Self::Int { .. } => {
                let digits: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
                format!("0x{digits} ({})", self.number(bytes))
            }
            _ => format!("{:e}", self.number(bytes)),
        }
    }

    fn same(self, found: &[u8], expected: &[u8], tolerance: f64) -> bool {
        let (a, b) = (self.number(found), self.number(expected));
        let is_float = !matches!(self, Self::Int { .. });
        found == expected
            || is_float && a.is_nan() && b.is_nan()
            || tolerance > 0.0 && (a - b).abs() <= tolerance * b.abs().max(f64::MIN_POSITIVE)
    }
}

enum Argument {
    Value(Scalar, Vec<u8>),
    /// The values before, and those expected after; `None` matches anything.
    Buffer(Scalar, Vec<u8>, Vec<Option<Vec<u8>>>),
}

struct Run {
    kernel: String,
    config: LaunchConfig,
    arguments: Vec<Argument>,
    tolerance: f64,
    fault: Option<String>,
}

#[derive(Default)]
struct Case {
    runs: Vec<Run>,
    unsupported: Option<String>,
}

fn expand(words: &str) -> Vec<String> {
    let mut all = Vec::new();
    for word in words.split_whitespace() {
        if let Some((value, count)) = word.split_once('*') {
            all.extend(std::iter::repeat_n(value.to_owned(), count.parse().unwrap()));
        } else if let Some((first, end)) = word.split_once("..") {
            let (first, end): (i64, i64) = (first.parse().unwrap(), end.parse().unwrap());
            all.extend((first..end).map(|value| value.to_string()));
        } else {
            all.push(word.to_owned());
        }
    }
    all
}

fn dim(word: &str) -> Dim3 {
    let mut sizes = word.split('x').map(|size| size.parse().unwrap());
    let mut next = || sizes.next().unwrap_or(1);
    Dim3 { x: next(), y: next(), z: next() }
}

fn parse(text: &str) -> Case {
    let mut case = Case::default();
    for line in text.lines() {
        let Some((key, rest)) = line.strip_prefix("// ").and_then(|line| line.split_once(": "))
        else {
            continue;
        };
        let words: Vec<&str> = rest.split_whitespace().collect();
        match key {
            "run" => case.runs.push(launch(&words)),
            "unsupported" => case.unsupported = Some(rest.trim().to_owned()),
            "value" => {
                let ty = Scalar::parse(words[0]);
                let run = case.runs.last_mut().unwrap();
                run.arguments.push(Argument::Value(ty, ty.encode(words[1])));
            }
            "bytes" => {
                let bytes: Vec<u8> = (0..rest.len() / 2)
                    .map(|at| u8::from_str_radix(&rest[2 * at..2 * at + 2], 16).unwrap())
                    .collect();
                let run = case.runs.last_mut().unwrap();
                run.arguments.push(Argument::Value(Scalar::Int { bytes: 4 }, bytes));
            }
            "buffer" => {
                let argument = buffer(rest);
                case.runs.last_mut().unwrap().arguments.push(argument);
            }
            "tolerance" => case.runs.last_mut().unwrap().tolerance = words[0].parse().unwrap(),
            "fault" => case.runs.last_mut().unwrap().fault = Some(rest.trim().to_owned()),
            _ => {}
        }
    }
    case
}

fn launch(words: &[&str]) -> Run {
    let mut config = LaunchConfig::new(1, 1);
    for pair in words[1..].chunks(2) {
        match pair[0] {
            "grid" => config.grid = dim(pair[1]),
            "block" => config.block = dim(pair[1]),
            "shared" => config.shared_bytes = pair[1].parse().unwrap(),
            other => panic!("`{other}` is no part of a launch"),
        }
    }
    Run { kernel: words[0].into(), config, arguments: Vec::new(), tolerance: 0.0, fault: None }
}

fn buffer(text: &str) -> Argument {
    let (ty, values) = text.trim().split_once(' ').unwrap();
    let ty = Scalar::parse(ty);
    let (before, after) = values.split_once("->").unwrap_or((values, ""));
    let bytes = expand(before).iter().flat_map(|word| ty.encode(word)).collect();
    let after = expand(after);
    let after = after.iter().map(|word| (word != "_").then(|| ty.encode(word))).collect();
    Argument::Buffer(ty, bytes, after)
}

/// What was otherwise than it should be, element by element.
fn execute(
    device: &Device,
    module: &Module,
    run: &Run,
    name: &str,
    options: &LaunchOptions,
) -> Vec<String> {
    let stream = device.stream().unwrap();
    let function = module.function(&run.kernel).unwrap();
    let mut arguments = Arguments::new();
    let mut memory: Vec<Memory> = Vec::new();
    for argument in &run.arguments {
        match argument {
            Argument::Value(ty, bytes) => {
                arguments.push_bytes(bytes, ty.bytes());
            }
            Argument::Buffer(_, bytes, _) => {
                let buffer = device.alloc(bytes.len()).unwrap();
                stream.upload(buffer.slice(..).unwrap(), bytes).unwrap();
                arguments.push(&buffer.address());
                memory.push(buffer);
            }
        }
    }
    super::support::launch_with(&stream, &function, &run.config, &arguments, options).unwrap();
    let result = stream.synchronize();
    match (&run.fault, result) {
        (None, result) => result.unwrap_or_else(|e| panic!("{name}, {}: {e}", run.kernel)),
        (Some(expected), Err(Error::Fault(fault))) => {
            let found = format!("{:?}", fault.kind);
            assert!(found.starts_with(expected.as_str()), "{name}: {fault}");
        }
        (Some(expected), other) => panic!("{name}: {other:?} where a fault `{expected}` was due"),
    }
    let (mut memory, mut wrong) = (memory.iter(), Vec::new());
    for (at, argument) in run.arguments.iter().enumerate() {
        let Argument::Buffer(ty, _, expected) = argument else { continue };
        let found = stream.download(memory.next().unwrap().slice(..).unwrap()).unwrap();
        let found = found.wait().unwrap();
        for (index, (found, expected)) in found.chunks(ty.bytes()).zip(expected).enumerate() {
            let Some(expected) = expected else { continue };
            if !ty.same(found, expected, run.tolerance) {
                let (kernel, found, expected) = (&run.kernel, ty.show(found), ty.show(expected));
                wrong.push(format!(
                    "{name}, {kernel}, argument {at}, element {index}: {found} where {expected} was due"
                ));
            }
        }
    }
    wrong
}

/// Runs all cases, each of which stands behind the module `before`, where there is one.
fn run_all_behind(before: Option<&str>, device: &Device, options: &LaunchOptions) {
    let load = |text: &str| match before {
        None => device.load(text),
        Some(before) => {
            device.link(&[LinkInput::ptx("before", before), LinkInput::ptx("case", text)])
        }
    };
    let is_cpu = device.as_nvidia().is_none();
    let folder = super::support::root().join("tests/ptx");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    assert!(files.len() > 10, "the cases are there");
    let mut wrong = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let case = parse(&text);
        if let Some(instruction) = &case.unsupported {
            if is_cpu {
                match load(&text) {
                    Err(Error::UnsupportedPtx { instruction: found, .. }) => {
                        assert!(found.contains(instruction.as_str()), "{name}: {found}");
                    }
                    other => panic!("{name}: {other:?}"),
                }
            }
            continue;
        }
        assert!(!case.runs.is_empty(), "{name} launches nothing");
        let module = match load(&text) {
            Ok(module) => module,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        for run in case.runs.iter().filter(|run| is_cpu || run.fault.is_none()) {
            wrong.append(&mut execute(device, &module, run, &name, options));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn run_all(device: &Device, options: &LaunchOptions) {
    run_all_behind(None, device, options);
}

/// A module with names, numbers, places and lines of all kinds, of which a case's own must be kept apart.
const BEFORE: &str = "
.version 8.0
.target sm_80
.address_size 64

.global .align 4 .u32 finished = 5;
.global .align 8 .u64 ops[2] = {finished, 0};
.const .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.shared .align 4 .b8 tile[64];
.extern .shared .align 8 .b8 dynamic[];

.func (.param .b32 out) factorial(.param .b32 x)
{
    .reg .pred %p<3>;
    .reg .b32 %r<5>;
    .local .align 4 .b8 own[8];
    .loc 1 3 5
    ld.param.u32 %r1, [x];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra $done;
    st.local.u32 [own], %r1;
    ld.local.u32 %r2, [own];
    add.u32 %r1, %r1, %r2;
$done:
    st.param.b32 [out], %r1;
    ret;
}

.visible .entry entry_of_before(.param .u64 to)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .loc 2 7 1
    ld.param.u64 %rd1, [to];
    ld.global.u32 %r1, [finished];
    st.shared.u32 [tile], %r1;
    st.shared.u32 [dynamic], %r1;
    {
        .param .b32 a;
        .param .b32 b;
        st.param.b32 [a], %r1;
        call (b), factorial, (a);
        ld.param.b32 %r2, [b];
    }
    st.global.u32 [%rd1], %r2;
    ret;
}

.file 1 \"one.cu\"
.file 2 \"two.cu\"
";

#[test]
fn cases_behind_another_module() {
    for options in [LaunchOptions::default(), LaunchOptions::interpreted()] {
        run_all_behind(Some(BEFORE), &Device::cpu().unwrap(), &options);
    }
}

#[test]
fn cases_on_the_cpu_device() {
    run_all(&Device::cpu().unwrap(), &LaunchOptions::default());
}

#[test]
fn cases_on_the_interpreter() {
    run_all(&Device::cpu().unwrap(), &LaunchOptions::interpreted());
}

#[test]
fn cases_under_the_checker() {
    run_all(&Device::cpu().unwrap(), &LaunchOptions::checked(&Check::all()));
}

/// Also those that are not faster so, in a process of their own, since the environment is all threads'.
#[test]
fn cases_on_the_cpu_device_with_threads_side_by_side() {
    expect_pass(alone("ptx::cases_on_the_cpu_device").env("WARPAINT_LANES", "always"));
}

#[test]
fn cases_on_nvidia() {
    if let Some(device) = nvidia() {
        run_all(&device, &LaunchOptions::default());
    }
}

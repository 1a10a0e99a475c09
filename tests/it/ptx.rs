//! Runs the cases of `tests/ptx/`: PTX with launches, arguments and expected results in its comments.
//!
//! ```text
//! // run: KERNEL grid 2 block 32 shared 64     a launch; its arguments follow in order
//! // buffer: u32 1 2 3 -> 2 4 6                memory, what it holds before and after
//! // value: f32 1.5                            a scalar
//! // bytes: 0000803f                           a structure of words
//! // texture: u32 2 1 5 6                       a texture object of 2 x 1 texels, unfiltered
//! // surface: u32 2 1 5 6 -> 6 7                a surface object, what it holds before and after
//! // tolerance: 1e-6                           relative, for all buffers of the launch; default: the same bits
//! // fault: InvalidWrite                       how the launch ends (on the CPU device; not run elsewhere)
//! // unsupported: mma.sync                     the module does not load on the CPU device, for that instruction
//! ```
//! Values are decimal, hexadecimal (bits), `nan`, `inf`, `-inf`; `0*32` repeats, `0..8` counts. `_` after the
//! arrow matches anything. A NaN equals every NaN.

mod forms;

use std::{
    fs,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use warpaint::{
    device::{
        Arguments, Array, ArrayDescriptor, ArrayShape, Channel, Device, Dim3, Error, Format,
        LaunchConfig, LinkInput, Memory, Module, Stream, SurfaceObject, TextureDescriptor,
        TextureObject,
        cpu::{Check, Lanes, LaunchOptions},
    },
    ptx::op,
};

use crate::{
    fuzz::refused,
    skip::{Need, skip},
    support::nvidia,
};

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
    Buffer(Content),
    /// An object for an array of texels.
    Image {
        object: Object,
        size: [usize; 2],
        content: Content,
    },
}

/// Values before, and those expected after; `None` matches anything.
struct Content {
    ty: Scalar,
    before: Vec<u8>,
    after: Vec<Option<Vec<u8>>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Object {
    Texture,
    Surface,
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
                let argument = Argument::Buffer(content(rest));
                case.runs.last_mut().unwrap().arguments.push(argument);
            }
            "texture" | "surface" => {
                let object = if key == "texture" { Object::Texture } else { Object::Surface };
                let size = [words[1], words[2]].map(|word| word.parse().unwrap());
                let content = content(&format!("{} {}", words[0], words[3..].join(" ")));
                let argument = Argument::Image { object, size, content };
                case.runs.last_mut().unwrap().arguments.push(argument);
            }
            "tolerance" => case.runs.last_mut().unwrap().tolerance = words[0].parse().unwrap(),
            "fault" => case.runs.last_mut().unwrap().fault = Some(rest.trim().to_owned()),
            // Anything else begins a sentence.
            _ => {
                let is_key = key.chars().all(|c| c.is_ascii_lowercase());
                assert!(!is_key, "`{key}:` is no part of a case");
            }
        }
    }
    for run in &case.runs {
        let expected = run.arguments.iter().filter_map(Argument::content);
        let is_compared =
            run.fault.is_some() || expected.flat_map(|c| &c.after).any(Option::is_some);
        assert!(is_compared, "nothing is expected of the run of {}", run.kernel);
        for argument in &run.arguments {
            argument.check(&run.kernel);
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

fn content(text: &str) -> Content {
    let (ty, values) = text.trim().split_once(' ').unwrap();
    let ty = Scalar::parse(ty);
    let (before, after) = values.split_once("->").unwrap_or((values, ""));
    let before = expand(before).iter().flat_map(|word| ty.encode(word)).collect();
    let after = expand(after);
    let after = after.iter().map(|word| (word != "_").then(|| ty.encode(word))).collect();
    Content { ty, before, after }
}

/// What an argument of a launch needs as long as that runs.
enum Held {
    Memory(Memory),
    Texture(#[expect(dead_code, reason = "only to live")] TextureObject),
    Surface(#[expect(dead_code, reason = "only to live")] SurfaceObject, Array),
    Nothing,
}

impl Argument {
    /// Makes it on the device, and adds it to the arguments.
    fn push(&self, device: &Device, stream: &Stream, arguments: &mut Arguments) -> Held {
        match self {
            Self::Value(ty, bytes) => {
                arguments.push_bytes(bytes, ty.bytes());
                Held::Nothing
            }
            Self::Buffer(content) => {
                let buffer = device.alloc(content.before.len()).unwrap();
                stream.upload(buffer.slice(..).unwrap(), &content.before).unwrap();
                arguments.push(&buffer.address());
                Held::Memory(buffer)
            }
            Self::Image { object, size: [width, height], content } => {
                let shape = ArrayShape::D2 { width: *width, height: *height };
                let words = Format::new(Channel::U32, 1).unwrap();
                let format = if content.ty == Scalar::F32 { Format::R32F } else { words };
                let descriptor = ArrayDescriptor::new(shape, format);
                let descriptor = match object {
                    Object::Texture => descriptor.with_gather(),
                    Object::Surface => descriptor.with_surface(),
                };
                let array = device.array(&descriptor).unwrap();
                stream.upload(array.region(), &content.before).unwrap();
                match object {
                    Object::Texture => {
                        let texture = device.texture(&array, &TextureDescriptor::default());
                        let texture = texture.unwrap();
                        arguments.push(&texture.handle());
                        Held::Texture(texture)
                    }
                    Object::Surface => {
                        let surface = device.surface(&array).unwrap();
                        arguments.push(&surface.handle());
                        Held::Surface(surface, array)
                    }
                }
            }
        }
    }

    /// That all is compared that is expected, and something with each element.
    fn check(&self, kernel: &str) {
        let Some(Content { ty, before, after }) = self.content() else { return };
        let is_texture = matches!(self, Self::Image { object: Object::Texture, .. });
        assert!(!is_texture || after.is_empty(), "{kernel}: a texture stays what it was");
        let (found, expected) = (before.len() / ty.bytes(), after.len());
        assert!(expected == 0 || found == expected, "{kernel}: {expected} values of {found}");
    }

    fn content(&self) -> Option<&Content> {
        match self {
            Self::Value(..) => None,
            Self::Buffer(content) | Self::Image { content, .. } => Some(content),
        }
    }
}

impl Held {
    /// What it holds now.
    fn read(&self, stream: &Stream) -> Vec<u8> {
        let read = match self {
            Self::Memory(memory) => stream.download(memory.slice(..).unwrap()),
            Self::Surface(_, array) => stream.download(array.region()),
            Self::Texture(_) | Self::Nothing => return Vec::new(),
        };
        read.unwrap().wait().unwrap()
    }
}

/// What was otherwise than it should be, element by element.
fn execute(
    device: &Device,
    module: &Module,
    run: &Run,
    name: &str,
    options: &LaunchOptions,
) -> Vec<String> {
    execute_within(None, device, module, run, name, options)
}

/// The same; a kernel that takes longer is stopped.
fn execute_within(
    limit: Option<Duration>,
    device: &Device,
    module: &Module,
    run: &Run,
    name: &str,
    options: &LaunchOptions,
) -> Vec<String> {
    let stream = device.stream().unwrap();
    let function = module.function(&run.kernel).unwrap();
    let mut arguments = Arguments::new();
    let push = |argument: &Argument| argument.push(device, &stream, &mut arguments);
    let held: Vec<Held> = run.arguments.iter().map(push).collect();
    super::support::launch_with(&stream, &function, &run.config, &arguments, options).unwrap();
    let started = Instant::now();
    while let Some(limit) = limit
        && !stream.is_idle().unwrap()
    {
        if started.elapsed() > limit {
            stream.cancel().unwrap();
            break;
        }
        thread::sleep(Duration::from_micros(50));
    }
    match (&run.fault, stream.synchronize()) {
        (None, Ok(())) => {}
        (None, Err(error)) => return vec![format!("{name}, {}: {error}", run.kernel)],
        (Some(expected), Err(Error::Fault(fault)))
            if format!("{:?}", fault.kind).starts_with(expected.as_str()) => {}
        (Some(expected), other) => {
            return vec![format!("{name}: {other:?} where a fault `{expected}` was due")];
        }
    }
    let mut wrong = Vec::new();
    for (at, (argument, held)) in run.arguments.iter().zip(&held).enumerate() {
        let Some(Content { ty, after: expected, .. }) = argument.content() else { continue };
        if expected.is_empty() {
            continue;
        }
        let found = held.read(&stream);
        assert_eq!(found.len(), expected.len() * ty.bytes(), "{name}, {}", run.kernel);
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

/// The architecture that a text is for, where it is newer than the GPU.
fn beyond(device: &Device, text: &str) -> Option<u32> {
    let (_, target) = text.split_once(".target sm_")?;
    let digits: String = target.chars().take_while(char::is_ascii_digit).collect();
    let (major, minor) = device.info().compute_capability;
    digits.parse().ok().filter(|needs| *needs > 10 * major + minor)
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
    let mut wrong = Vec::new();
    for path in files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let case = parse(&text);
        if let Some(instruction) = &case.unsupported {
            if !is_cpu {
                skip(Need::Machine, format!("{name} is what the CPU device refuses"));
            } else {
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
        if !is_cpu && let Some(needs) = beyond(device, &text) {
            skip(Need::Machine, format!("{name} needs sm_{needs}"));
            continue;
        }
        let module = match load(&text) {
            Ok(module) => module,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        for run in &case.runs {
            if !is_cpu && run.fault.is_some() {
                // It would end CUDA for the whole process.
                skip(Need::Machine, format!("{name} has a fault in `{}`", run.kernel));
                continue;
            }
            wrong.append(&mut execute(device, &module, run, &name, options));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The files with cases.
fn files() -> Vec<PathBuf> {
    let folder = super::support::root().join("tests/ptx");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    assert!(files.len() > 10, "the cases are there");
    files
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

/// A key that is mistyped says nothing, and a run of which nothing is expected neither.
#[test]
fn cases_say_what_is_expected() {
    let is_refused = |text: &str| std::panic::catch_unwind(|| parse(text)).is_err();
    let good = "// run: k grid 1 block 1\n// buffer: u32 1 -> 2\n";
    assert!(!is_refused(good) && !is_refused(&format!("// A sentence: of words\n{good}")));
    assert!(!is_refused("// run: k grid 1 block 1\n// fault: InvalidWrite\n"));
    for bad in
        ["// bufer: u32 1 -> 2", "// buffer: u32 1 -> _", "// buffer: u32 1", "// value: u32 1"]
    {
        assert!(is_refused(&format!("// run: k grid 1 block 1\n{bad}\n")), "{bad}");
    }
    assert!(is_refused(&format!("{good}// bufer: u32 1 -> 2\n")));
    // More or less than there is, and what a texture would hold, nobody would compare.
    for bad in ["buffer: u32 1 2 -> 2", "buffer: u32 1 -> 2 3", "texture: u32 2 1 5 6 -> 5 6"] {
        assert!(is_refused(&format!("{good}// {bad}\n")), "{bad}");
    }
}

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
fn cases_in_lockstep() {
    let options = LaunchOptions { lockstep: true, ..LaunchOptions::default() };
    run_all(&Device::cpu().unwrap(), &options);
}

#[test]
fn cases_under_the_checker() {
    run_all(&Device::cpu().unwrap(), &LaunchOptions::checked(&Check::all()));
}

/// Also those that are not faster so.
#[test]
fn cases_on_the_cpu_device_with_threads_side_by_side() {
    let options = LaunchOptions { lanes: Lanes::Always, ..LaunchOptions::default() };
    run_all(&Device::cpu().unwrap(), &options);
}

#[test]
fn cases_on_nvidia() {
    if let Some(device) = nvidia() {
        run_all(&device, &LaunchOptions::default());
    }
}

/// `WARPAINT_UPDATE_DOCS=1` writes the list anew.
#[test]
fn the_list_of_operations_is_the_table() {
    let path = super::support::root().join("docs/ptx-operations.md");
    let text = fs::read_to_string(&path).unwrap();
    let head = text.split("## Lists\n").next().unwrap();
    let mut due = format!("{head}## Lists\n\n```text\n");
    for (name, list) in op::LISTS {
        due += &format!("${name} = {list}\n");
    }
    due += "```\n\n## Forms\n\n```text\n";
    for form in op::forms() {
        due += &format!("{}\n", form.notation);
    }
    due += "```\n\n## What the CPU device refuses\n\nThe forms:\n\n| form | why |\n|---|---|\n";
    for (form, reason) in refused::FORMS {
        due += &format!("| `{}` | {reason} |\n", form.replace('|', "\\|"));
    }
    due += "\nWords of forms that it takes otherwise:\n\n| word | of | why |\n|---|---|---|\n";
    for (word, opcodes, reason) in refused::WORDS {
        let opcodes: Vec<String> = opcodes.iter().map(|opcode| format!("`{opcode}`")).collect();
        due += &format!("| `.{word}` | {} | {reason} |\n", opcodes.join(", "));
    }
    due +=
        "\nOperands of forms that it takes otherwise:\n\n| operand | of | why |\n|---|---|---|\n";
    for (operand, opcodes, reason) in refused::OPERANDS {
        let opcodes: Vec<String> = opcodes.iter().map(|opcode| format!("`{opcode}`")).collect();
        due += &format!("| {operand} | {} | {reason} |\n", opcodes.join(", "));
    }
    if std::env::var_os("WARPAINT_UPDATE_DOCS").is_some() {
        fs::write(&path, due).unwrap();
    } else {
        assert_eq!(text, due, "WARPAINT_UPDATE_DOCS=1 writes docs/ptx-operations.md anew");
    }
}

/// A function of so many accesses takes the allocator of registers that makes the better code minutes, and gigabytes.
#[test]
fn very_many_accesses_are_translated() {
    let count = 8000u32;
    let loads: String = (0..count)
        .map(|at| format!("ld.global.u32 %r2, [%rd1+{}];\nadd.u32 %r1, %r1, %r2;\n", 4 * at))
        .collect();
    let text = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, 0;\n{loads}\
         mov.u32 %r3, %tid.x;\nmul.wide.u32 %rd2, %r3, 4;\nadd.u64 %rd3, %rd1, %rd2;\n\
         bar.sync 0;\nadd.u32 %r1, %r1, %r3;\nst.global.u32 [%rd3], %r1;\nret;\n}}\n"
    );
    let device = Device::cpu().unwrap();
    let function = device.load(&text).unwrap().function("k").unwrap();
    let stream = device.stream().unwrap();
    let memory = device.alloc(4 * count as usize).unwrap();
    let input: Vec<u8> = (0..count).flat_map(|value| (value * value).to_le_bytes()).collect();
    stream.upload(memory.slice(..).unwrap(), &input).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&memory.address());
    let options = LaunchOptions::default();
    let config = LaunchConfig::new(1, 64);
    super::support::launch_with(&stream, &function, &config, &arguments, &options).unwrap();
    let found = stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    let sum: u32 = (0..count).map(|value| value * value).fold(0, u32::wrapping_add);
    for (thread, word) in found.chunks(4).take(64).enumerate() {
        assert_eq!(u32::from_le_bytes(word.try_into().unwrap()), sum.wrapping_add(thread as u32));
    }
}

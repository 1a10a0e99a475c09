//! What several topics need: where things are, the program as a child process, small scenes.

use crate::skip::{Need, skip};
use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output},
    sync::RwLock,
};

use tempfile::TempDir;
#[cfg(feature = "gl")]
use warpaint::session::{Session, Value};
use warpaint::{
    device::{
        Arguments, Choice, Device, Error, Function, LaunchConfig, Stream, cpu::LaunchOptions,
    },
    kernel::Context,
};

/// The project's folder: the sources', or where a bundle was unpacked.
pub fn root() -> PathBuf {
    std::env::var_os("WARPAINT_ROOT")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

/// The program that is tested.
pub fn binary() -> PathBuf {
    std::env::var_os("WARPAINT_BIN")
        .map_or_else(|| env!("CARGO_BIN_EXE_warpaint").into(), PathBuf::from)
}

/// A folder as a process leaves it in `parent` that is killed: beside it lies the file that nobody locks any more.
pub fn left_folder(parent: &Path, name: &str) -> PathBuf {
    let folder = parent.join(name);
    fs::create_dir_all(&folder).unwrap();
    let mark = format!("warpaint's folder {name} belongs to the process that locks this file.\n");
    fs::write(parent.join(format!("{name}.lock")), mark).unwrap();
    folder
}

/// The first NVIDIA device. `None`, said aloud, where there is none; one that is there has to open.
pub fn nvidia() -> Option<Device> {
    match Device::open(Choice::Cuda(0)) {
        Ok(device) => Some(device),
        Err(error @ (Error::NoDriver { .. } | Error::NoDevice { .. })) => {
            skip(Need::Nvidia, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A CUDA context's limits are the whole process's: who changes one writes, who counts on them reads.
pub static LIMITS: RwLock<()> = RwLock::new(());

/// A test of this program, also an ignored one, in a process of its own.
pub fn alone(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--include-ignored", "--nocapture"]);
    command
}

/// That the test of [`alone`] is there, and passes.
pub fn expect_pass(alone: &mut Command) {
    let output = alone.output().unwrap();
    let [text, errors] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
}

/// The CPU device, and the NVIDIA device where there is one.
pub fn devices() -> Vec<Device> {
    [Device::cpu().unwrap()].into_iter().chain(nvidia()).collect()
}

/// A context on each of them.
pub fn contexts() -> Vec<Context> {
    devices().into_iter().map(|device| Context::new(device).unwrap()).collect()
}

thread_local! {
    /// How [`launch`] launches on the CPU device.
    static OPTIONS: RefCell<LaunchOptions> = RefCell::default();
}

/// Runs a test with its kernels interpreted.
pub fn interpreted(test: impl FnOnce()) {
    OPTIONS.set(LaunchOptions::interpreted());
    test();
    OPTIONS.set(LaunchOptions::default());
}

/// Runs tests again with their kernels interpreted.
pub fn on_the_interpreter(tests: &[(&str, fn())]) {
    for (name, test) in tests {
        eprintln!("on the interpreter: {name}");
        interpreted(test);
    }
}

/// Launches on any device.
pub fn launch(
    stream: &Stream,
    function: &Function,
    config: &LaunchConfig,
    arguments: &Arguments,
) -> Result<(), Error> {
    let options = OPTIONS.with_borrow(Clone::clone);
    launch_with(stream, function, config, arguments, &options)
}

/// Launches on any device, on the CPU device as `options` say.
#[expect(unsafe_code, reason = "launches the tests' own kernels")]
pub fn launch_with(
    stream: &Stream,
    function: &Function,
    config: &LaunchConfig,
    arguments: &Arguments,
    options: &LaunchOptions,
) -> Result<(), Error> {
    match (stream, function) {
        (Stream::Cpu(stream), Function::Cpu(function)) => {
            stream.launch_with(function, config, arguments, options)
        }
        // SAFETY: tests keep their memory until the stream is synchronised, and their kernels stay within it.
        _ => unsafe { stream.launch(function, config, arguments) },
    }
}

/// A folder of a test's own, and the program running in it with a cache of its own.
pub struct Workplace {
    folder: TempDir,
}

impl Workplace {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and returns its name.
    pub fn file<'a>(&self, name: &'a str, text: &str) -> &'a str {
        fs::write(self.path(name), text).unwrap();
        name
    }

    /// The program with the shared cache of all tests, so that a kernel is compiled once.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.path("state"));
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        Ended::new(self.command(arguments).output().unwrap())
    }
}

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn new(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// It ended with `code` and said each of `sentences` on standard error, without a panic.
    #[track_caller]
    pub fn expect(&self, code: i32, sentences: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for sentence in sentences {
            assert!(self.err.contains(sentence), "no {sentence:?} in {self:#?}");
        }
        assert!(!self.err.contains("panicked"), "{self:#?}");
        self
    }

    /// As [`Ended::expect`], and it said nothing beyond one line.
    #[track_caller]
    pub fn expect_one_line(&self, code: i32, sentences: &[&str]) -> &Self {
        self.expect(code, sentences);
        assert_eq!(self.err.trim_end().lines().count(), 1, "{self:#?}");
        self
    }
}

/// A process that draws, as soon as it has a draft of what it writes; `None`, said aloud, where there is no OpenGL.
#[track_caller]
pub fn when_it_writes(mut child: Child, drafts: impl Fn() -> usize) -> Option<Child> {
    while drafts() == 0 {
        if child.try_wait().unwrap().is_some() {
            let ended = Ended::new(child.wait_with_output().unwrap());
            ended.expect(3, &["EGL"]);
            skip(Need::Gl, &ended.err);
            return None;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Some(child)
}

/// The numbers of a `.npy` file of little-endian `f32`, and its shape.
pub fn read_npy_f32(path: &Path) -> (Vec<usize>, Vec<f32>) {
    let array: ndarray::ArrayD<f32> = ndarray_npy::read_npy(path).unwrap();
    (array.shape().to_vec(), array.into_raw_vec_and_offset().0)
}

/// Four random words of a counter and a key: Philox 4x32-10 of Salmon, Moraes, Dror and Shaw.
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
        let (a, b) = (product(0xD251_1F53, counter[0]), product(0xCD9E_8D57, counter[2]));
        let high = |x: u64| (x >> 32) as u32;
        counter =
            [high(b) ^ counter[1] ^ key[0], b as u32, high(a) ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

/// A random word of a word: PCG-RXS-M-XS of Jarzynski and Olano.
pub fn hash(x: u32) -> u32 {
    let x = x.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let x = ((x >> ((x >> 28) + 4)) ^ x).wrapping_mul(277_803_737);
    (x >> 22) ^ x
}

/// The random word of a lattice's cell in `noise.cuh`.
pub fn hash_of_cell([x, y, z]: [i32; 3], seed: u32) -> u32 {
    let [x, y, z] = [x, y, z].map(|i| i as u32);
    let mixed =
        x.wrapping_mul(0x8DA6_B343) ^ y.wrapping_mul(0xD816_3841) ^ z.wrapping_mul(0xCB1A_B31F);
    hash(mixed ^ seed)
}

/// A scene of `n` float4: x is the index, y counts the steps (times `gain`).
pub const COUNTER: &str = r#"/*---
title = "Counter"
[constant]
n = 1000
[buffer.value]
type = "float4"
count = "n"
[param.gain]
value = 1.0
min = 0.0
max = 10.0
[[pass]]
kernel = "start"
on = "reset"
over = "value"
[[pass]]
kernel = "advance"
over = "value"
[view]
kind = "points"
position = "value"
---*/
__global__ void start(float4 *value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) value[i] = make_float4(i, 0, 0, 1);
}
__global__ void advance(float4 *value, int n, float gain) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) value[i].y += gain;
}
"#;

/// Sets a parameter of the program that runs.
#[cfg(feature = "gl")]
pub fn set(session: &mut Session, name: &str, value: Value) {
    assert!(session.set_parameter(name, value), "{name}");
}

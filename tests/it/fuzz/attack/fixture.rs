//! A device with arrays, textures and surfaces for kernels that try to do harm, and what may not happen to it.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use fastrand::Rng;
use warpaint::device::{
    AddressMode, Arguments, Array, ArrayDescriptor, ArrayShape, Channel, Device, Error, Fill,
    Filter, Format, Function, LaunchConfig, Memory, ReadMode, Stream, SurfaceObject,
    TextureDescriptor, TextureObject, TextureSource,
    cpu::{Check, Lanes, LaunchOptions},
};

use super::{
    case::PLAIN,
    marks::{self, Marks, bytes_at},
};
use crate::support;

/// How long a kernel may run before it is cancelled.
const RUN: Duration = Duration::from_millis(40);
/// How long a cancelled kernel may take to end, on a busy machine.
const CANCEL: Duration = Duration::from_secs(15);
/// What is so near to a number that a kernel was given may have been made from it.
const NEAR: u64 = 64 << 10;
/// Sizes of the arrays `a`, `b`, `c` and of a large one.
const SIZES: [usize; 4] = [4096, 4096, 256, 66_000];

/// How a kernel is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Jit,
    Deterministic,
    Cooperative,
    Interpreter,
    Checked,
    /// Compiled, while another kernel is interpreted on another stream.
    Beside,
}

pub const MODES: [Mode; 6] = [
    Mode::Jit,
    Mode::Deterministic,
    Mode::Cooperative,
    Mode::Interpreter,
    Mode::Checked,
    Mode::Beside,
];

/// A kernel that waits for the host, with memory of every kind of its own.
const WAITING: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry wait(.param .u64 p)\n{\n\
    .reg .pred %p;\n.reg .b32 %r;\n.reg .b64 %d;\n.local .b32 own;\n.shared .b32 all;\n\
    st.local.u32 [own], 1;\nst.shared.u32 [all], 1;\nld.param.u64 %d, [p];\n\
    L: ld.volatile.global.u32 %r, [%d];\nsetp.eq.u32 %p, %r, 0;\n@%p bra L;\nret;\n}\n";

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Jit => "jit",
            Self::Deterministic => "deterministic",
            Self::Cooperative => "cooperative",
            Self::Interpreter => "interpreter",
            Self::Checked => "checked",
            Self::Beside => "beside",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        MODES.into_iter().find(|mode| mode.name() == name)
    }
}

/// How a launch ended that did no harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Ran,
    /// The kind of the fault or error.
    Stopped(String),
    /// It was not launched at all.
    Refused(String),
}

/// What a launch did, and what it left in the arrays.
pub struct Outcome {
    pub ended: Ended,
    pub arrays: Vec<Vec<u8>>,
    /// Numbers that the kernel was given.
    given: Vec<u64>,
    /// The checker saw a race or a read of what nobody wrote.
    pub has_findings: bool,
}

/// Arrays for one launch.
struct Field {
    arrays: Vec<Memory>,
    /// Added to each address of the host that a kernel is given, so that what is made from it is told from what is
    /// read.
    shift: u64,
}

/// A kernel on a stream of its own that runs until a word of its memory is not zero.
struct Neighbour {
    stream: Stream,
    /// To end it.
    other: Stream,
    function: Function,
    word: Memory,
}

impl Neighbour {
    fn new(device: &Device) -> Result<Self, Error> {
        let function = device.load(WAITING)?.function("wait")?;
        let [stream, other] = [device.stream()?, device.stream()?];
        Ok(Self { stream, other, function, word: device.alloc(4)? })
    }

    fn begin(&self) -> Result<(), Error> {
        let mut arguments = Arguments::new();
        arguments.push(&self.word.address());
        bytes_at(self.word.address(), 4).fill(0);
        let (one, options) = (LaunchConfig::new(1, 1), LaunchOptions::interpreted());
        support::launch_with(&self.stream, &self.function, &one, &arguments, &options)
    }

    fn end(&self) -> Result<(), Error> {
        self.other.fill(self.word.slice(..)?, Fill::U32(1))?;
        self.other.synchronize()?;
        self.stream.synchronize()
    }
}

/// A CPU device with all that such a kernel is given.
pub struct Fixture {
    lanes: Lanes,
    pub device: Device,
    stream: Stream,
    fields: [Field; 2],
    marks: Marks,
    /// An address where an array was.
    freed: u64,
    textures: Vec<TextureObject>,
    surfaces: Vec<SurfaceObject>,
    gone: u64,
    /// What kernels printed.
    printed: Arc<Mutex<String>>,
    neighbour: Neighbour,
    _arrays: Vec<Array>,
    _memory: Vec<Memory>,
}

impl Fixture {
    pub fn new(lanes: Lanes) -> Result<Self, Error> {
        let device = Device::cpu()?;
        let mut marks = Marks::new();
        let stream = device.stream()?;
        let mut field = |shift| {
            let arrays: Result<Vec<Memory>, Error> =
                SIZES.iter().map(|bytes| device.alloc(*bytes)).collect();
            let arrays = arrays?;
            for (memory, bytes) in arrays.iter().zip(SIZES) {
                marks.mark_behind(memory.address(), bytes as u64);
            }
            Ok::<_, Error>(Field { arrays, shift })
        };
        let fields = [field(0)?, field(0x1230)?];
        let freed = {
            let _between: Vec<Memory> =
                (0..20).map(|_| device.alloc(100)).collect::<Result<_, _>>()?;
            device.alloc(100)?.address()
        };
        let on_stack = [marks.secret; 1024];
        let printed = Arc::<Mutex<String>>::default();
        if let Device::Cpu(cpu) = &device {
            cpu.set_launch_options(LaunchOptions { lanes, ..LaunchOptions::default() });
            let printed = printed.clone();
            cpu.print_to(move |text| printed.lock().unwrap().push_str(text));
        }
        let code = Self::new as fn(Lanes) -> Result<Self, Error> as usize as u64;
        marks.given.extend([((&raw const on_stack) as u64, 1 << 20), (code, 1 << 16)]);
        let mut fixture = Self {
            lanes,
            stream,
            fields,
            marks,
            freed,
            textures: Vec::new(),
            surfaces: Vec::new(),
            gone: 0,
            printed,
            neighbour: Neighbour::new(&device)?,
            _arrays: Vec::new(),
            _memory: Vec::new(),
            device,
        };
        fixture.make_images()?;
        Ok(fixture)
    }

    /// Textures and surfaces of many shapes, most of them tiny.
    fn make_images(&mut self) -> Result<(), Error> {
        let shapes = [
            ArrayShape::D1 { width: 1 },
            ArrayShape::D1 { width: 5 },
            ArrayShape::D2 { width: 1, height: 1 },
            ArrayShape::D2 { width: 5, height: 3 },
            ArrayShape::D2 { width: 7, height: 1 },
            ArrayShape::D3 { width: 1, height: 1, depth: 1 },
            ArrayShape::D3 { width: 2, height: 3, depth: 2 },
            ArrayShape::Layered1 { width: 3, layers: 2 },
            ArrayShape::Layered2 { width: 1, height: 1, layers: 1 },
            ArrayShape::Layered2 { width: 2, height: 3, layers: 2 },
            ArrayShape::Cube { width: 2 },
            ArrayShape::LayeredCube { width: 1, cubes: 2 },
        ];
        let formats = [
            (Channel::F32, 1),
            (Channel::U8, 1),
            (Channel::U8, 4),
            (Channel::U16, 2),
            (Channel::F32, 4),
        ];
        for (index, shape) in shapes.into_iter().enumerate() {
            for turn in 0..2 {
                let (channel, channels) = formats[(index * 2 + turn) % formats.len()];
                let format = Format::new(channel, channels)?;
                let array =
                    self.device.array(&ArrayDescriptor::new(shape, format).with_surface())?;
                let is_cube =
                    matches!(shape, ArrayShape::Cube { .. } | ArrayShape::LayeredCube { .. });
                let wraps = index % 3;
                let descriptor = TextureDescriptor {
                    address: [[AddressMode::Clamp, AddressMode::Wrap, AddressMode::Mirror][wraps];
                        3],
                    filter: if channel == Channel::F32 && turn == 1 {
                        Filter::Linear
                    } else {
                        Filter::Point
                    },
                    read: if channel == Channel::U8 {
                        ReadMode::NormalizedFloat
                    } else {
                        ReadMode::default()
                    },
                    normalized: is_cube || wraps > 0,
                    ..TextureDescriptor::default()
                };
                self.textures.push(self.device.texture(&array, &descriptor)?);
                self.surfaces.push(self.device.surface(&array)?);
                self._arrays.push(array);
            }
        }
        let memory = self.device.alloc(64)?;
        let linear = TextureSource::Linear { memory: memory.slice(..20)?, format: Format::R32F };
        self.textures.push(self.device.texture(linear, &TextureDescriptor::default())?);
        self._memory.push(memory);
        let array =
            self.device.array(&ArrayDescriptor::new(shapes[3], Format::R32F).with_surface())?;
        self.gone = self.device.surface(&array)?.handle();
        Ok(())
    }

    /// A number that may lead astray.
    fn value(&self, rng: &mut Rng, field: &Field) -> u64 {
        let address = |at: usize| field.arrays[at].address();
        let size = |at: usize| SIZES[at] as u64;
        let host = || {
            let mut all = self.marks.places();
            all.extend(self.marks.given.iter().map(|(at, _)| at & !15));
            all.into_iter().map(|at| at + field.shift).collect::<Vec<_>>()
        };
        let one = rng.usize(0..4);
        match rng.u32(0..20) {
            0 | 1 => pick(rng, &host()),
            // From an array to the host's memory.
            2..5 => pick(rng, &host()).wrapping_sub(address(one)),
            5 => address(one),
            6 => address(one) + size(one) - pick(rng, &[0, 1, 2, 4, 8, 16, 32, 128]),
            7 => size(one) - pick(rng, &[0, 1, 4, 8, 16, 128]),
            8 => self.freed.wrapping_sub(if rng.bool() { 0 } else { address(one) }),
            9 => (self.marks.arena.start + field.shift).wrapping_sub(1 << rng.u32(0..20)),
            10 => (self.marks.arena.end + field.shift)
                .wrapping_add(1 << rng.u32(0..20))
                .wrapping_sub(1 << rng.u32(0..20)),
            11 => address(one).wrapping_sub(1 << rng.u32(0..40)),
            12 => 1 << rng.u32(0..64),
            13 => (1u64 << rng.u32(0..64)).wrapping_neg(),
            14 => rng.u64(..),
            15 => 0xf000_0000_0000_0000 | rng.u64(0..12),
            16 => self.gone,
            _ => rng.u64(0..100),
        }
    }

    fn handle(&self, rng: &mut Rng, surface: bool) -> u64 {
        let right = match surface {
            true => pick(rng, &self.surfaces.iter().map(SurfaceObject::handle).collect::<Vec<_>>()),
            false => {
                pick(rng, &self.textures.iter().map(TextureObject::handle).collect::<Vec<_>>())
            }
        };
        match rng.u32(0..12) {
            0 => right ^ 1 << rng.u32(0..64),
            1 => right.wrapping_add(1),
            2 => right & 0xffff_ffff,
            3 => self.gone,
            _ => right,
        }
    }

    /// Arguments and contents of the arrays, as the case's number says.
    fn prepare(
        &self,
        function: &Function,
        case: u64,
        field: &Field,
    ) -> (Arguments, LaunchConfig, Vec<u64>) {
        let mut given = Vec::new();
        let mut rng = crate::fuzz::generator("attack arguments", case);
        if case == PLAIN {
            return self.prepare_plainly(function, field);
        }
        for memory in &field.arrays {
            let bytes = bytes_at(memory.address(), memory.bytes());
            match rng.u32(0..3) {
                0 | 1 => bytes.fill(0),
                _ => bytes.chunks_mut(8).for_each(|word| word.fill(rng.u8(0..4))),
            }
        }
        if rng.u32(0..3) == 0 {
            let bytes = bytes_at(field.arrays[1].address(), 128);
            for word in bytes.chunks_mut(8) {
                let value = self.value(&mut rng, field);
                given.push(value);
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
        let images = rng.bool();
        let mut arguments = Arguments::new();
        for (index, parameter) in function.info().parameters.iter().enumerate() {
            let mut bytes = vec![0; parameter.bytes];
            let value = match index {
                0..=2 => field.arrays[index].address(),
                4 if images => self.handle(&mut rng, false),
                5 if images => self.handle(&mut rng, true),
                6 => rng.u64(0..70),
                _ => self.value(&mut rng, field),
            };
            given.push(value);
            for chunk in bytes.chunks_mut(8) {
                let count = chunk.len();
                chunk.copy_from_slice(&value.to_le_bytes()[..count]);
            }
            let used = arguments.bytes().len();
            let fits = |align: &usize| used.next_multiple_of(*align) == parameter.offset;
            let align = (0..30).map(|power| 1 << power).find(fits).unwrap_or(1);
            arguments.push_bytes(&bytes, align);
        }
        let block = match rng.u32(0..12) {
            0 => [pick(&mut rng, &[1, 3, 31, 33]), 1, 1],
            1 => [rng.u32(1..9), rng.u32(1..5), rng.u32(1..4)],
            2 => [32, 2, 1],
            3 => [4, 1, 1],
            _ => [pick(&mut rng, &[32, 32, 32, 64, 64, 128, 256]), 1, 1],
        };
        let mut config = LaunchConfig::new(pick(&mut rng, &[1, 1, 1, 2, 3]), block);
        config.shared_bytes = pick(&mut rng, &[0, 0, 0, 4, 16, 64, 1000, 4096]);
        (arguments, config, given)
    }

    /// The same for a case written by hand.
    fn prepare_plainly(
        &self,
        function: &Function,
        field: &Field,
    ) -> (Arguments, LaunchConfig, Vec<u64>) {
        let mut arguments = Arguments::new();
        for memory in &field.arrays {
            bytes_at(memory.address(), memory.bytes()).fill(0);
        }
        for (index, parameter) in function.info().parameters.iter().enumerate() {
            match field.arrays.get(index).filter(|_| index < 3) {
                Some(memory) => arguments.push(&memory.address()),
                None => arguments.push_bytes(&vec![0; parameter.bytes], parameter.bytes.min(16)),
            };
        }
        (arguments, LaunchConfig::new(1, 64), Vec::new())
    }

    /// Launches a kernel once; an `Err` is harm.
    pub fn run(&self, function: &Function, case: u64, mode: Mode) -> Result<Outcome, String> {
        let outcome = self.run_on(function, case, mode, 0)?;
        let Some((array, at, word)) = self.address_of_the_host(&outcome) else {
            return Ok(outcome);
        };
        // What was made from an address that the kernel was given moves with it; what was read from the host does not.
        let again = self.run_on(function, case, mode, 1)?;
        let found = again.arrays.get(array).and_then(|bytes| bytes.get(at..at + 8));
        if found != Some(&word.to_le_bytes()) {
            return Ok(outcome);
        }
        let mut mappings = marks::mappings().into_iter();
        let (range, name) = mappings.find(|(range, _)| range.contains(&word)).unwrap_or_default();
        let arena = &self.marks.arena;
        Err(format!(
            "address of the host: {word:#x} at byte {at} of array {array}: {range:x?} {name}, device memory {arena:x?}"
        ))
    }

    fn address_of_the_host(&self, outcome: &Outcome) -> Option<(usize, usize, u64)> {
        let mut found = Vec::new();
        for (array, bytes) in outcome.arrays.iter().enumerate() {
            let words = self.marks.addresses_in(bytes);
            let unknown = words
                .filter(|(_, word)| outcome.given.iter().all(|given| word.abs_diff(*given) > NEAR));
            found.extend(unknown.map(|(at, word)| (array, at, word)));
        }
        if found.is_empty() {
            return None;
        }
        let mappings = marks::mappings();
        let mapped = |word: u64| mappings.iter().any(|(range, _)| range.contains(&word));
        found.into_iter().find(|(_, _, word)| mapped(*word))
    }

    fn run_on(
        &self,
        function: &Function,
        case: u64,
        mode: Mode,
        field: usize,
    ) -> Result<Outcome, String> {
        let field = &self.fields[field];
        let (arguments, mut config, given) = self.prepare(function, case, field);
        let mut check = Check::all();
        check.line_counts = false;
        let compiled = LaunchOptions { lanes: self.lanes, ..LaunchOptions::default() };
        let options = match mode {
            Mode::Jit | Mode::Beside => compiled,
            Mode::Deterministic => LaunchOptions { deterministic: true, ..compiled },
            Mode::Cooperative => {
                config.cooperative = true;
                compiled
            }
            Mode::Interpreter => LaunchOptions::interpreted(),
            Mode::Checked => LaunchOptions::checked(&check),
        };
        let told = |error: Error| format!("panic: {error}");
        if mode == Mode::Beside {
            self.neighbour.begin().map_err(told)?;
        }
        // Cases written by hand have an end.
        let limit = if case == PLAIN { CANCEL } else { RUN };
        let ended = self.launch(function, &config, &arguments, &options, limit);
        if mode == Mode::Beside {
            self.neighbour.end().map_err(told)?;
        }
        let ended = ended?;
        if let Some(text) = self.marks.changed() {
            return Err(format!("written: {text}"));
        }
        let printed = std::mem::take(&mut *self.printed.lock().unwrap());
        if self.marks.seen_in_text(&printed) {
            return Err(format!("read: memory of the host is printed: {printed}"));
        }
        let arrays: Vec<Vec<u8>> = (field.arrays.iter())
            .map(|memory| bytes_at(memory.address(), memory.bytes()).to_vec())
            .collect();
        for (array, bytes) in arrays.iter().enumerate() {
            if let Some(at) = self.marks.seen_in(bytes) {
                return Err(format!("read: array {array} holds memory of the host at byte {at}"));
            }
        }
        let has_findings = !check.report().findings.is_empty();
        Ok(Outcome { ended, arrays, given, has_findings })
    }

    fn launch(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
        options: &LaunchOptions,
        limit: Duration,
    ) -> Result<Ended, String> {
        let secret = self.marks.secret;
        let painted = self.stream.host_function(move || marks::paint(secret));
        painted.map_err(|error| format!("panic: {error}"))?;
        let started = Instant::now();
        let launched = support::launch_with(&self.stream, function, config, arguments, options);
        if let Err(error) = launched {
            return Ok(Ended::Refused(name_of(&error)));
        }
        if !self.is_idle(started, limit) {
            self.stream.cancel().map_err(|error| error.to_string())?;
            if !self.is_idle(Instant::now(), CANCEL) {
                return Err("hang: it cannot be cancelled".to_owned());
            }
        }
        match self.stream.synchronize() {
            Ok(()) => Ok(Ended::Ran),
            Err(error) if self.marks.seen_in_text(&error.to_string()) => {
                Err(format!("read: a message holds memory of the host: {error}"))
            }
            Err(error) if error.to_string().contains("a mistake in the device itself") => {
                Err(format!("panic: {error}"))
            }
            Err(error) => Ok(Ended::Stopped(name_of(&error))),
        }
    }

    fn is_idle(&self, since: Instant, within: Duration) -> bool {
        let mut turns = 0u32;
        loop {
            if self.stream.is_idle().unwrap_or(true) {
                return true;
            }
            if since.elapsed() > within {
                return false;
            }
            turns += 1;
            if turns < 200 {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }
}

fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(0..list.len())]
}

/// What kind of error it is.
pub fn name_of(error: &Error) -> String {
    let text = match error {
        Error::Fault(fault) => format!("{:?}", fault.kind),
        other => format!("{other:?}"),
    };
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    text[..end].to_owned()
}

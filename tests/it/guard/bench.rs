//! Guarded kernels on the CPU device, with a control block as a host has it.

use std::time::{Duration, Instant};

use warpaint::{
    device::{
        Arguments, Device, Error, Fault, Function, LaunchConfig, Memory, Module, Stream,
        cpu::{Lanes, LaunchOptions},
    },
    diagnostic,
    ptx::{
        self,
        pass::guard::{
            CheckKind, CheckedAccess, Guarded, GuardedKernel, Word, guard,
            record::{VARIABLE, field},
        },
    },
};

use crate::support::launch_with;

/// Longest that a kernel may take before it is stopped.
const LIMIT: Duration = Duration::from_secs(1);

/// A guarded module on the CPU device.
pub struct Bench {
    pub stream: Stream,
    pub guarded: Guarded,
    module: Module,
    control: Memory,
    table: Memory,
}

/// What the control block says of a fault.
#[derive(Debug)]
pub struct Record {
    pub check: CheckKind,
    pub kernel: u32,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub address: u64,
    pub start: u64,
    pub room: u64,
}

/// Verified, guarded, verified again, and read again from what is printed.
pub fn guarded(text: &str) -> Guarded {
    let module = ptx::parse(text).unwrap();
    let faults = ptx::verify(&module);
    assert!(!diagnostic::has_errors(&faults), "{faults:#?}");
    let guarded = guard(&module).unwrap_or_else(|refused| panic!("{refused}"));
    let faults = ptx::verify(&guarded.module);
    assert!(faults.is_empty(), "{faults:#?}\n{}", ptx::print(&guarded.module));
    let printed = ptx::print(&guarded.module);
    let again = ptx::parse(&printed).unwrap_or_else(|errors| panic!("{errors:#?}\n{printed}"));
    let unsupported = again.functions.iter().filter_map(|f| f.body.as_ref());
    let unsupported = unsupported.flat_map(|body| body.instructions());
    let is_ours = |i: &&ptx::inst::Instruction| matches!(i.op, ptx::inst::Op::Unsupported { .. });
    let before = module.functions.iter().filter_map(|f| f.body.as_ref());
    let before = before.flat_map(|body| body.instructions()).filter(is_ours).count();
    assert_eq!(unsupported.filter(is_ours).count(), before, "{printed}");
    guarded
}

impl Bench {
    pub fn new(device: &Device, text: &str) -> Self {
        let guarded = guarded(text);
        let printed = ptx::print(&guarded.module);
        let module = device.load(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        let (stream, control) = (device.stream().unwrap(), device.alloc(field::BYTES).unwrap());
        let table = device.alloc(16 * 64).unwrap();
        let mut words = [0; 16];
        words[..8].copy_from_slice(&control.address().to_ne_bytes());
        words[8] = 7;
        stream.upload(module.global(VARIABLE).unwrap(), &words).unwrap();
        Self { stream, guarded, module, control, table }
    }

    pub fn kernel(&self, name: &str) -> (&GuardedKernel, Function) {
        let kernel = self.guarded.kernels.iter().find(|kernel| kernel.name == name);
        (kernel.unwrap(), self.module.function(name).unwrap())
    }

    /// Clears the record, and gives the table these ranges.
    pub fn prepare(&self, memories: &[&Memory], stop: bool) {
        let mut ranges: Vec<(u64, u64)> =
            memories.iter().map(|memory| (memory.address(), memory.bytes() as u64)).collect();
        ranges.sort_unstable();
        let words: Vec<u8> = ranges
            .iter()
            .flat_map(|(start, bytes)| [start.to_ne_bytes(), bytes.to_ne_bytes()].concat())
            .collect();
        self.stream.upload(self.table.slice(..words.len()).unwrap(), &words).unwrap();
        let mut block = vec![0; field::BYTES];
        block[field::STOP as usize] = stop.into();
        let mut put = |at: i64, bytes: &[u8]| {
            block[at as usize..][..bytes.len()].copy_from_slice(bytes);
        };
        put(field::TABLE, &self.table.address().to_ne_bytes());
        put(field::RANGES, &(ranges.len() as u32).to_ne_bytes());
        self.stream.upload(self.control.slice(..).unwrap(), &block).unwrap();
    }

    /// Launches a kernel with its arguments and what the guard wants beside them.
    pub fn launch(
        &self,
        name: &str,
        config: &LaunchConfig,
        arguments: &Arguments,
        memories: &[&Memory],
    ) -> Result<(), Error> {
        let (kernel, function) = self.kernel(name);
        let mut all = arguments.clone();
        let words: Vec<u8> = kernel
            .words
            .iter()
            .flat_map(|word| self.word(*word, arguments.bytes(), memories).to_ne_bytes())
            .collect();
        if !words.is_empty() {
            all.push_bytes(&words, 8);
            assert_eq!(all.parameters().last().unwrap().offset, kernel.words_offset as usize);
        }
        run(&self.stream, &function, config, &all)
    }

    fn word(&self, word: Word, arguments: &[u8], memories: &[&Memory]) -> u64 {
        let at = word.argument() as usize;
        let pointer = u64::from_ne_bytes(arguments[at..at + 8].try_into().unwrap());
        let has = |memory: &&&Memory| {
            (memory.address()..memory.address() + memory.bytes() as u64).contains(&pointer)
        };
        let range = memories.iter().find(has).map(|memory| (memory.address(), memory.bytes()));
        let (start, bytes) = range.unwrap_or((0, 0));
        word.value(pointer, start, bytes as u64)
    }

    /// What was written down.
    pub fn record(&self) -> Option<Record> {
        let bytes = self.stream.download(self.control.slice(..).unwrap()).unwrap().wait().unwrap();
        let word = |at: i64| u32::from_ne_bytes(bytes[at as usize..][..4].try_into().unwrap());
        let long = |at: i64| u64::from_ne_bytes(bytes[at as usize..][..8].try_into().unwrap());
        let three = |at: i64| [word(at), word(at + 4), word(at + 8)];
        if word(field::CLAIMED) == 0 {
            return None;
        }
        assert_eq!((word(field::MODULE), word(field::STOP)), (7, 1));
        Some(Record {
            check: self.guarded.checks[word(field::CHECK) as usize].kind.clone(),
            kernel: word(field::KERNEL),
            block: three(field::BLOCK),
            thread: three(field::THREAD),
            address: long(field::ADDRESS),
            start: long(field::START),
            room: long(field::ROOM),
        })
    }

    /// The source line of a place.
    pub fn line(&self, location: Option<ptx::ast::LocationId>) -> Option<u32> {
        Some(self.guarded.module.location(location?)?.line)
    }
}

impl Record {
    /// The accesses that are meant.
    pub fn accesses(&self) -> &[CheckedAccess] {
        match &self.check {
            CheckKind::Access { accesses, .. } => accesses,
            other => panic!("{other:?}"),
        }
    }
}

/// Runs a kernel, the same in every run, and stops it where it takes too long.
pub fn run(
    stream: &Stream,
    function: &Function,
    config: &LaunchConfig,
    arguments: &Arguments,
) -> Result<(), Error> {
    // Threads run one after the other, so that the first fault is that of the first thread that has one.
    let options =
        LaunchOptions { deterministic: true, lanes: Lanes::Never, ..LaunchOptions::default() };
    launch_with(stream, function, config, arguments, &options)?;
    let end = Instant::now() + LIMIT;
    while !stream.is_idle()? {
        if Instant::now() > end {
            stream.cancel()?;
            break;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    stream.synchronize()
}

/// The fault of a launch that has one.
pub fn fault(ended: Result<(), Error>) -> Option<Fault> {
    match ended {
        Ok(()) => None,
        Err(Error::Fault(fault)) => Some(*fault),
        Err(error) => panic!("{error}"),
    }
}

//! Guarded kernels on the CPU device, with a control block as a host has it.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use warpaint::{
    device::{
        Arguments, Device, Error, Fault, Function, GuardOptions, GuardRecord, GuardedModule,
        LaunchConfig, Memory, Module, Stream, Telling,
        cpu::{Lanes, LaunchOptions},
    },
    diagnostic,
    ptx::{
        self,
        pass::guard::{
            CheckKind, CheckedAccess, Find, Guarded, GuardedKernel, LocalMemory, guard,
            record::{MOST, VARIABLE, control, field, prints, table},
        },
    },
};

use crate::support::launch_with;

/// Longest that a kernel may take before it is stopped.
const LIMIT: Duration = Duration::from_secs(1);

/// Where each thread's stack pointer stands, as guarded code is told here.
pub const STACK_POINTER: u64 = 5_000_000;

/// A guarded module on the CPU device.
pub struct Bench {
    pub stream: Stream,
    pub guarded: Guarded,
    host: GuardedModule,
    module: Module,
    record: Memory,
    table: Memory,
    /// The count of calls of `printf`, and where the host is told of them.
    prints: Memory,
    /// How many launches did without checks.
    pub proved: Cell<u32>,
    /// Handles of surfaces, with bytes of a row, rows and slices.
    pub surfaces: Vec<(u64, [u32; 3])>,
    /// The lowest address of the stack, as kernels are told.
    pub lowest: u64,
}

/// What the host knows.
struct Known<'a> {
    memories: &'a [&'a Memory],
    surfaces: &'a [(u64, [u32; 3])],
}

impl Find for Known<'_> {
    fn memory(&mut self, pointer: u64) -> Option<(u64, u64)> {
        range(self.memories, pointer)
    }

    fn surface(&mut self, handle: u64) -> Option<[u32; 3]> {
        let mut known = self.surfaces.iter();
        known.find(|(surface, _)| *surface == handle).map(|(_, size)| *size)
    }
}

/// What a guarded kernel has written down.
#[derive(Debug)]
pub struct Told {
    pub record: GuardRecord,
    pub check: CheckKind,
    /// The same in the device's words.
    pub fault: Fault,
}

/// Verified, guarded, verified again, and read again from what is printed.
pub fn guarded(text: &str) -> Guarded {
    guarded_telling(text, Telling::First)
}

/// The same; tells of the first fault, or of those at all places.
pub fn guarded_telling(text: &str, telling: Telling) -> Guarded {
    guarded_for(text, telling, LocalMemory::Window)
}

/// The same for a device with this local memory.
pub fn guarded_for(text: &str, telling: Telling, local: LocalMemory) -> Guarded {
    let module = ptx::parse(text).unwrap();
    let faults = ptx::verify(&module);
    assert!(!diagnostic::has_errors(&faults), "{faults:#?}");
    let guarded = guard(&module, &GuardOptions { telling, local, ..GuardOptions::default() });
    let guarded = guarded.unwrap_or_else(|refused| panic!("{refused}"));
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

/// How the host stops a kernel.
#[derive(Clone, Copy, PartialEq)]
pub enum Stop {
    /// It does not.
    Never,
    /// By the flag that loops look at often.
    Flag,
    /// By its wish, which they look at rarely.
    Wish,
}

impl Bench {
    pub fn new(device: &Device, text: &str) -> Self {
        Self::telling(device, text, Telling::First)
    }

    pub fn telling(device: &Device, text: &str, telling: Telling) -> Self {
        Self::with(device, text, telling, LocalMemory::Window)
    }

    pub fn with(device: &Device, text: &str, telling: Telling, local: LocalMemory) -> Self {
        let guarded = guarded_for(text, telling, local);
        let (printed, host) =
            GuardedModule::of(text, &GuardOptions { telling, local, ..GuardOptions::default() })
                .unwrap();
        assert_eq!(printed, ptx::print(&guarded.module));
        // The CPU device's compiler has no stack pointer that could be asked for.
        let printed =
            printed.lines().map(|line| match line.trim().strip_prefix("stacksave.u64 ") {
                Some(to) => format!("mov.u64 {}, {STACK_POINTER};\n", to.trim_end_matches(';')),
                None => format!("{line}\n"),
            });
        let printed: String = printed.collect();
        let module = device.load(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        let (stream, prints) = (device.stream().unwrap(), device.alloc(prints::BYTES + 4).unwrap());
        let table = device.alloc(16 * 64).unwrap();
        let record = device.alloc(MOST * field::BYTES).unwrap();
        Self {
            stream,
            guarded,
            host,
            module,
            record,
            table,
            prints,
            proved: Cell::new(0),
            surfaces: Vec::new(),
            lowest: 0,
        }
    }

    pub fn kernel(&self, name: &str) -> (&GuardedKernel, Function) {
        let kernel = self.guarded.kernels.iter().find(|kernel| kernel.name == name);
        (kernel.unwrap(), self.module.function(name).unwrap())
    }

    /// Clears the record, and gives the table these ranges.
    pub fn prepare(&self, memories: &[&Memory], stop: Stop) {
        let mut ranges: Vec<(u64, u64)> =
            memories.iter().map(|memory| (memory.address(), memory.bytes() as u64)).collect();
        ranges.sort_unstable();
        let mut words = vec![0; table::FIRST as usize];
        words[table::COUNT as usize..][..4].copy_from_slice(&(ranges.len() as u32).to_ne_bytes());
        for (start, bytes) in &ranges {
            words.extend([start.to_ne_bytes(), bytes.to_ne_bytes()].concat());
        }
        self.stream.upload(self.table.slice(..words.len()).unwrap(), &words).unwrap();
        let mut block = vec![0; control::BYTES];
        block[control::STOP as usize] = (stop == Stop::Flag).into();
        let mut put = |at: i64, bytes: &[u8]| {
            block[at as usize..][..bytes.len()].copy_from_slice(bytes);
        };
        put(control::RECORD, &self.record.address().to_ne_bytes());
        put(control::TABLE, &self.table.address().to_ne_bytes());
        put(control::PRINTS, &self.prints.address().to_ne_bytes());
        put(control::STACK, &self.lowest.to_ne_bytes());
        self.stream.upload(self.module.global(VARIABLE).unwrap(), &block).unwrap();
        let mut count = [0; prints::BYTES + 4];
        let told = self.prints.address() + prints::BYTES as u64;
        count[prints::TOLD as usize..][..8].copy_from_slice(&told.to_ne_bytes());
        self.stream.upload(self.prints.slice(..).unwrap(), &count).unwrap();
        let mut record = vec![0; MOST * field::BYTES];
        record[field::WISH as usize] = (stop == Stop::Wish).into();
        self.stream.upload(self.record.slice(..).unwrap(), &record).unwrap();
    }

    /// Launches a kernel with its arguments and what the guard wants beside them.
    pub fn launch(
        &self,
        name: &str,
        config: &LaunchConfig,
        arguments: &Arguments,
        memories: &[&Memory],
    ) -> Result<(), Error> {
        let (kernel, mut function) = self.kernel(name);
        let find = self.known(memories);
        if let Some(at) = self.host.version(kernel, config, arguments.bytes(), find) {
            function = self.module.function(&kernel.proved[at].name).unwrap();
            self.proved.set(self.proved.get() + 1);
        }
        let all = self.with_words(kernel, arguments, memories);
        run(&self.stream, &function, config, &all)
    }

    /// The arguments of a kernel with what the guard wants beside them.
    pub fn with_words(
        &self,
        kernel: &GuardedKernel,
        arguments: &Arguments,
        memories: &[&Memory],
    ) -> Arguments {
        let mut all = arguments.clone();
        let words = self.host.words(kernel, arguments.bytes(), self.known(memories));
        if !words.is_empty() {
            all.push_bytes(&words, 8);
            assert_eq!(all.parameters().last().unwrap().offset, kernel.words_offset as usize);
        }
        all
    }

    fn known<'a>(&'a self, memories: &'a [&'a Memory]) -> Known<'a> {
        Known { memories, surfaces: &self.surfaces }
    }

    fn read(&self, memory: &Memory) -> Vec<u8> {
        self.stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap()
    }

    /// What was written down.
    pub fn told(&self, memories: &[&Memory]) -> Option<Told> {
        let told = self.all_told(memories).into_iter().next()?;
        let block = self.module.global(VARIABLE).unwrap();
        let block = self.stream.download(block).unwrap().wait().unwrap();
        assert_eq!((block[control::CLAIMED as usize], block[control::STOP as usize]), (1, 1));
        Some(told)
    }

    /// All that was.
    pub fn all_told(&self, memories: &[&Memory]) -> Vec<Told> {
        let bytes = self.read(&self.record);
        let records = bytes.chunks_exact(field::BYTES);
        let records = records.map_while(|bytes| GuardRecord::read(bytes.try_into().unwrap()));
        records.map(|record| self.meant(record, memories)).collect()
    }

    /// How many calls of `printf` were counted, and whether the host is told that there were any.
    pub fn printed(&self) -> (u32, bool) {
        let bytes = self.read(&self.prints);
        let word = |at: usize| u32::from_ne_bytes(bytes[at..][..4].try_into().unwrap());
        (word(prints::COUNT as usize), word(prints::BYTES) != 0)
    }

    fn meant(&self, record: GuardRecord, memories: &[&Memory]) -> Told {
        let nearest = |address: u64| {
            let distance = |memory: &&&Memory| {
                let end = memory.address() + memory.bytes() as u64;
                memory.address().saturating_sub(address).max(address.saturating_sub(end - 1))
            };
            let memory = memories.iter().min_by_key(distance)?;
            Some((memory.address(), memory.bytes() as u64))
        };
        let fault = self.host.fault(&record, "bad", nearest);
        let check = self.guarded.checks[record.check as usize].kind.clone();
        Told { record, check, fault }
    }

    /// The source line of a place.
    pub fn line(&self, location: Option<ptx::ast::LocationId>) -> Option<u32> {
        Some(self.guarded.module.location(location?)?.line)
    }
}

impl Told {
    /// The accesses that are meant.
    pub fn accesses(&self) -> &[CheckedAccess] {
        match &self.check {
            CheckKind::Access { accesses, .. } => accesses,
            other => panic!("{other:?}"),
        }
    }
}

/// The memory that a pointer points into.
fn range(memories: &[&Memory], pointer: u64) -> Option<(u64, u64)> {
    let ranges = memories.iter().map(|memory| (memory.address(), memory.bytes() as u64));
    let mut ranges = ranges.filter(|(start, bytes)| (*start..start + bytes).contains(&pointer));
    ranges.next()
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

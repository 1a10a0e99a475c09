//! Guarded modules (`ptx::pass::guard`), seen from the host: what a launch adds to its arguments, and what a record
//! means.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::ptx::{
    self,
    ast::{LocationId, Module},
    pass::guard::{
        self, Check, CheckKind, CheckedAccess, Counts, Find, GuardOptions, GuardedKernel, Launch,
        NotGuarded, Telling, Word, pointer_at,
        record::{NO_KERNEL, field},
    },
    types::Space,
};

use super::{Allocation, Dim3, Fault, FaultKind, InlinedCall, LaunchConfig, Location};

/// What is known of a module that was guarded.
///
/// ```
/// use warpaint::device::{GuardOptions, GuardedModule};
///
/// let ptx = ".version 7.0 .target sm_75 .address_size 64
///     .visible .entry store(.param .u64 x) {
///         .reg .b64 %x;
///         ld.param.u64 %x, [x];
///         st.global.u32 [%x+8], 1;
///         ret;
///     }";
/// let (text, guarded) = GuardedModule::of(ptx, &GuardOptions::default())?;
/// assert!(text.contains("__warpaint_guard"));
/// let store = guarded.kernel("store").ok_or("no kernel")?;
/// assert_eq!(store.counts.checked, 1);
/// // One allocation of 100 bytes at address 4096, into which every pointer points.
/// let words = guarded.words(store, &4096u64.to_ne_bytes(), |_| Some((4096, 100)));
/// // The access is at 8 bytes from the pointer, and may lie at 97 places.
/// assert_eq!(words, [4088u64.to_ne_bytes(), 97u64.to_ne_bytes()].concat());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GuardedModule {
    /// As it was before it was guarded.
    module: Module,
    kernels: Vec<GuardedKernel>,
    checks: Vec<Check>,
    searches: bool,
    allocates: bool,
    stack_bytes: u64,
    not_guarded: Vec<NotGuarded>,
    telling: Telling,
    /// The latest launches of which it was asked whether they need all checks, by kernel.
    seen: Mutex<HashMap<String, Vec<Seen>>>,
}

/// A launch, as far as it decides whether all checks are needed.
#[derive(Debug)]
struct Seen {
    shape: ([u32; 3], [u32; 3], u32),
    /// Bytes of its arguments, with the place where they begin.
    arguments: Vec<(usize, Vec<u8>)>,
    /// Pointers, with address and length of the allocation that they point into.
    pointers: Vec<(u64, Option<(u64, u64)>)>,
    /// Handles of surfaces, with bytes of a row, rows and slices.
    surfaces: Vec<(u64, Option<[u32; 3]>)>,
    /// Which of the kernel's versions may be launched.
    version: Option<usize>,
}

/// Asks, and notes the answers.
struct Noted<F> {
    find: F,
    pointers: Vec<(u64, Option<(u64, u64)>)>,
    surfaces: Vec<(u64, Option<[u32; 3]>)>,
}

impl<F: Find> Find for Noted<F> {
    fn memory(&mut self, pointer: u64) -> Option<(u64, u64)> {
        let range = self.find.memory(pointer);
        self.pointers.push((pointer, range));
        range
    }

    fn surface(&mut self, handle: u64) -> Option<[u32; 3]> {
        let size = self.find.surface(handle);
        self.surfaces.push((handle, size));
        size
    }
}

/// The lower and the higher half of a word.
const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Most launches of a kernel that are kept in mind.
const MOST_SEEN: usize = 16;

impl GuardedModule {
    /// Guards the text of PTX; gives the text that is to be loaded.
    ///
    /// # Errors
    /// [`NotGuarded`], where each kernel has something that the guard does not know: then it is loaded as it is.
    pub fn of(text: &str, options: &GuardOptions<'_>) -> Result<(String, Self), NotGuarded> {
        let told = |diagnostics: &[crate::diagnostic::Diagnostic]| NotGuarded {
            why: diagnostics.first().map_or_else(String::new, ToString::to_string),
        };
        let module = ptx::parse(text).map_err(|diagnostics| told(&diagnostics))?;
        let faults = ptx::verify(&module);
        if crate::diagnostic::has_errors(&faults) {
            return Err(told(&faults));
        }
        let guarded = guard::guard(&module, options)?;
        let printed = ptx::print(&guarded.module);
        let this = Self {
            module,
            kernels: guarded.kernels,
            checks: guarded.checks,
            searches: guarded.searches,
            allocates: guarded.allocates,
            stack_bytes: guarded.stack_bytes,
            not_guarded: guarded.not_guarded,
            telling: options.telling,
            seen: Mutex::default(),
        };
        Ok((printed, this))
    }

    /// A kernel by its (lowered) name.
    pub fn kernel(&self, name: &str) -> Option<&GuardedKernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Why some of its functions are not guarded, where there are such.
    pub fn not_guarded(&self) -> Option<NotGuarded> {
        let all: Vec<&str> = self.not_guarded.iter().map(|one| one.why.as_str()).collect();
        (!all.is_empty()).then(|| NotGuarded { why: all.join(", ") })
    }

    /// Its kernels, in the order of their numbers.
    pub fn kernels(&self) -> &[GuardedKernel] {
        &self.kernels
    }

    /// What was found in all its kernels.
    pub fn counts(&self) -> Counts {
        self.kernels.iter().fold(Counts::default(), |all, kernel| Counts {
            accesses: all.accesses + kernel.counts.accesses,
            proved: all.proved + kernel.counts.proved,
            checked: all.checked + kernel.counts.checked,
            launches: all.launches + kernel.counts.launches,
            unchecked: all.unchecked + kernel.counts.unchecked,
        })
    }

    /// Whether it tells of a fault at each place, and goes on.
    pub fn tells_all(&self) -> bool {
        self.telling == Telling::All
    }

    /// Whether its kernels look for addresses in the table of all memory.
    pub fn searches(&self) -> bool {
        self.searches
    }

    /// Whether its kernels may take memory of the heap.
    pub fn allocates(&self) -> bool {
        self.allocates
    }

    /// Bytes of the stack that calls need in each thread, at least; 0 where the driver's compiler sees them all.
    pub fn stack_bytes(&self) -> u64 {
        self.stack_bytes
    }

    /// The words that a launch adds to the packed `arguments` of a kernel, as its last argument, aligned to 8 bytes;
    /// none where the kernel has no such parameter. `find` tells address and length of the allocation that a pointer
    /// points into (a pointer that it does not know may not be used), and how large a surface is.
    pub fn words(&self, kernel: &GuardedKernel, arguments: &[u8], mut find: impl Find) -> Vec<u8> {
        let mut known: Option<(u32, (u64, u64))> = None;
        let mut value = |word: &Word| {
            let (argument, pointer) = (word.argument(), pointer_at(arguments, word.argument()));
            let mut range = |pointer: u64| match known {
                Some((same, range)) if same == argument => Some(range),
                Some(_) | None => {
                    let range = find.memory(pointer).unwrap_or((0, 0));
                    known = Some((argument, range));
                    Some(range)
                }
            };
            match word {
                Word::Surface { .. } | Word::Slices { .. } => word.found(pointer, &mut find),
                Word::Start { .. } | Word::Limit { .. } | Word::Indices { .. } => {
                    word.found(pointer, &mut range)
                }
            }
            .to_ne_bytes()
        };
        kernel.words.iter().flat_map(&mut value).collect()
    }

    /// Which of the kernel's versions that do without some checks a launch with these packed arguments may be one of:
    /// the first that does. `find` is as for [`GuardedModule::words`].
    pub fn version(
        &self,
        kernel: &GuardedKernel,
        config: &LaunchConfig,
        arguments: &[u8],
        mut find: impl Find,
    ) -> Option<usize> {
        if kernel.proved.is_empty() {
            return None;
        }
        let [grid, block] = [config.grid, config.block].map(|size| [size.x, size.y, size.z]);
        let launch = &Launch { grid, block, shared_bytes: config.shared_bytes, arguments };
        let shape = (launch.grid, launch.block, launch.shared_bytes);
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = all.entry(kernel.name.clone()).or_default();
        let known = seen.iter().find(|seen| {
            let same = |(at, bytes): &(usize, Vec<u8>)| {
                launch.arguments.get(*at..*at + bytes.len()) == Some(bytes.as_slice())
            };
            seen.shape == shape
                && seen.arguments.iter().all(same)
                && seen.pointers.iter().all(|(pointer, range)| find.memory(*pointer) == *range)
                && seen.surfaces.iter().all(|(handle, size)| find.surface(*handle) == *size)
        });
        if let Some(known) = known {
            return known.version;
        }
        let mut arguments = Vec::new();
        let mut noted = Noted { find, pointers: Vec::new(), surfaces: Vec::new() };
        let version = kernel.proved.iter().position(|proved| {
            let (holds, read) = proved.proof.holds(&self.module, &kernel.name, launch, &mut noted);
            arguments.extend(read.into_iter().map(|(start, end)| {
                (start, launch.arguments.get(start..end).unwrap_or_default().to_vec())
            }));
            holds
        });
        let Noted { mut pointers, mut surfaces, .. } = noted;
        pointers.sort_unstable();
        pointers.dedup();
        surfaces.sort_unstable();
        surfaces.dedup();
        arguments.sort_unstable();
        arguments.dedup();
        seen.truncate(MOST_SEEN - 1);
        seen.insert(0, Seen { shape, arguments, pointers, surfaces, version });
        version
    }

    /// The fault that a record tells of. `find` tells address and length of the allocation nearest to an address;
    /// `kernel` is the one that ran, where the record does not tell.
    pub fn fault(
        &self,
        record: &GuardRecord,
        kernel: &str,
        find: impl Fn(u64) -> Option<(u64, u64)>,
    ) -> Fault {
        let name = self.kernels.get(record.kernel as usize).filter(|_| record.kernel != NO_KERNEL);
        let kernel = name.map_or(kernel, |kernel| &kernel.name);
        let (block, thread) = (record.block, record.thread);
        let mut fault = Fault { block, thread, ..Fault::new(FaultKind::Trap, kernel) };
        match self.checks.get(record.check as usize).map(|check| &check.kind) {
            Some(CheckKind::Access { space, accesses }) => {
                self.access(&mut fault, record, *space, accesses, find);
            }
            Some(CheckKind::Surface { write, bytes, location, .. }) => {
                let [x, y] = halves(record.address).map(u32::cast_signed);
                let [first, rows] = halves(record.start);
                let [z, slices] = halves(record.limit);
                let row = first.saturating_add(*bytes).saturating_sub(1);
                let (at, extent) = ([x, y, z.cast_signed()], [row, rows, slices.max(1)]);
                let (write, bytes) = (*write, *bytes);
                fault.kind = match x.rem_euclid(bytes.max(1).cast_signed()) {
                    0 => FaultKind::OutsideSurface { write, at, bytes, extent },
                    _ => FaultKind::Misaligned,
                };
                self.place(&mut fault, *location);
            }
            Some(CheckKind::Stop { location, .. }) => {
                fault.kind = FaultKind::Cancelled;
                self.place(&mut fault, *location);
            }
            Some(CheckKind::TooDeep { location, .. }) => {
                fault.kind = FaultKind::StackOverflow;
                self.place(&mut fault, *location);
            }
            Some(CheckKind::Trap { location, .. }) => self.place(&mut fault, *location),
            Some(CheckKind::Assert { text, location, .. }) => {
                fault.kind = FaultKind::Assert(text.clone());
                self.place(&mut fault, *location);
            }
            None => {}
        }
        fault
    }

    /// Which of the accesses was wrong, and how.
    fn access(
        &self,
        fault: &mut Fault,
        record: &GuardRecord,
        space: Option<Space>,
        accesses: &[CheckedAccess],
        find: impl Fn(u64) -> Option<(u64, u64)>,
    ) {
        use crate::ptx::pass::Action;

        let is_global = matches!(space, None | Some(Space::Global));
        let of = |access: &CheckedAccess| record.address.wrapping_add_signed(access.offset);
        let ends = accesses.iter().map(|access| access.offset + i64::from(access.bytes));
        let span = ends.max().unwrap_or(0).unsigned_abs();
        // Where the limit is known, so is the length; else the allocation is looked for.
        let range = match (record.start, record.limit) {
            (start, limit @ 1..) => Some((start, limit + span.max(1) - 1)),
            (0, 0) if is_global => find(record.address),
            (start, 0) if is_global => find(start),
            (_, 0) => None,
        };
        let is_outside = |access: &CheckedAccess| {
            let distance = of(access).wrapping_sub(range.map_or(0, |(start, _)| start));
            let bytes = range.map_or(0, |(_, bytes)| bytes);
            distance.checked_add(u64::from(access.bytes)).is_none_or(|end| end > bytes)
        };
        let is_misaligned =
            |access: &CheckedAccess| !of(access).is_multiple_of(u64::from(access.align.max(1)));
        let wrong = accesses.iter().find(|access| is_outside(access) || is_misaligned(access));
        let Some(access) = wrong.or(accesses.first()) else { return };
        fault.kind = match access.action {
            _ if !is_outside(access) => FaultKind::Misaligned,
            Action::Read => FaultKind::InvalidRead,
            Action::Write => FaultKind::InvalidWrite,
        };
        fault.access = Some((of(access), access.bytes));
        fault.space = Some(space.map_or("generic", Space::text));
        let nearest = range.filter(|_| is_global);
        // Where the limit is not known, the address came from anywhere.
        fault.base = (record.limit > 0 && is_global).then_some(record.start);
        fault.nearest = nearest.map(|(address, bytes)| Allocation { address, bytes });
        fault.ptx_line = Some(access.line).filter(|line| *line > 0);
        self.place(fault, access.location);
    }

    fn place(&self, fault: &mut Fault, location: Option<LocationId>) {
        let Some(id) = location else { return };
        let place = |location: &ptx::ast::Location| Location {
            file: self.module.file_name(location.file).to_owned(),
            line: location.line,
            column: location.column,
        };
        fault.location = self.module.location(id).map(place);
        let chain = self.module.inline_chain(id).into_iter();
        let call = |(function, site): (&str, &ptx::ast::Location)| InlinedCall {
            function: function.to_owned(),
            call_site: place(site),
        };
        fault.inlined = chain.map(call).collect();
    }
}

/// What a guarded kernel wrote down of the first thing that it did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardRecord {
    /// Number of the kernel in its module, or all ones.
    pub kernel: u32,
    /// Number of the check.
    pub check: u32,
    /// The block.
    pub block: Dim3,
    /// The thread in the block.
    pub thread: Dim3,
    /// The address of the check's lowest access.
    pub address: u64,
    /// Where the memory begins that it was compared with; 0 where that was searched and not found.
    pub start: u64,
    /// How many addresses from there on would have been right.
    pub limit: u64,
}

impl GuardRecord {
    /// Reads a record; `None` where nobody wrote one.
    ///
    /// ```
    /// use warpaint::device::GuardRecord;
    ///
    /// assert_eq!(GuardRecord::read(&[0; 72]), None);
    /// ```
    pub fn read(bytes: &[u8; field::BYTES]) -> Option<Self> {
        let word = |at: i64| u32::from_ne_bytes(chunk(bytes, at));
        let long = |at: i64| u64::from_ne_bytes(chunk(bytes, at));
        let three = |at: i64| Dim3 { x: word(at), y: word(at + 4), z: word(at + 8) };
        (word(field::WRITTEN) != 0).then(|| Self {
            kernel: word(field::KERNEL),
            check: word(field::CHECK),
            block: three(field::BLOCK),
            thread: three(field::THREAD),
            address: long(field::ADDRESS),
            start: long(field::START),
            limit: long(field::LIMIT),
        })
    }
}

/// Some bytes of a record; zeros behind its end.
fn chunk<const N: usize>(bytes: &[u8; field::BYTES], at: i64) -> [u8; N] {
    let rest = bytes.get(at.unsigned_abs() as usize..);
    rest.and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

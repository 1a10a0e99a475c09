//! A process whose memory is marked: pages, blocks and stacks that no kernel may touch hold one secret word over and
//! over, so that a write shows in them and a read shows in the arrays of the kernel.
#![expect(unsafe_code, reason = "marks raw memory beside the device's")]

use std::{fs, hint::black_box, ops::Range};

/// Bytes of a marked region of the host.
const REGION: usize = 64 << 10;
/// Far away from everything that the system maps by itself.
const FAR: u64 = 0x6000_0000_0000;
/// Words of a stack that are marked below a call.
const STACK_WORDS: usize = 12 << 10;
/// A chunk of the arena.
pub const CHUNK: u64 = 64 << 10;

/// Memory that holds the secret word.
struct Mark {
    name: &'static str,
    range: Range<u64>,
}

/// All that is marked.
pub struct Marks {
    pub secret: u32,
    marks: Vec<Mark>,
    /// Addresses of the host that kernels are given, with as many bytes around that count as given, too.
    pub given: Vec<(u64, u64)>,
    /// The device's memory.
    pub arena: Range<u64>,
}

impl Marks {
    /// Marks pages far away, beside the arena, and on the heap.
    pub fn new() -> Self {
        let clock =
            std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(1, |time| time.subsec_nanos());
        // Four letters, so that it shows in what is printed, too.
        let mut number = clock ^ std::process::id().wrapping_mul(0x9e37_79b9);
        let secret = u32::from_le_bytes([0; 4].map(|_| {
            number = number.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            b'A' + (number >> 24) as u8 % 58
        }));
        let arena = largest_mapping();
        let mut marks = Self { secret, marks: Vec::new(), given: Vec::new(), arena };
        let (start, end) = (marks.arena.start, marks.arena.end);
        let heap = vec![0u32; 4 * REGION].leak().as_ptr() as u64;
        let heap = heap.next_multiple_of(4096)..heap.next_multiple_of(4096) + REGION as u64;
        marks.mark("pages far away", FAR..FAR + REGION as u64, true);
        marks.mark("pages below the device's memory", start - REGION as u64..start, true);
        marks.mark("pages above the device's memory", end..end + REGION as u64, true);
        marks.mark("a block of the heap", heap, false);
        let first = start.next_multiple_of(CHUNK);
        marks.mark("the chunk below all allocations", first..first + CHUNK, false);
        marks.given.push((FAR, 1 << 40));
        marks
    }

    fn mark(&mut self, name: &'static str, range: Range<u64>, map: bool) {
        let bytes = (range.end - range.start) as usize;
        if map {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            let place = range.start as *mut libc::c_void;
            // SAFETY: new pages, where nothing is mapped.
            let mapped = unsafe { libc::mmap(place, bytes, rights, flags, -1, 0) };
            if mapped != place {
                return; // something of the host's lies there already
            }
        }
        words(&range).fill(self.secret);
        self.marks.push(Mark { name, range });
    }

    /// Marks what lies behind `bytes` of an allocation, up to the end of its chunk.
    pub fn mark_behind(&mut self, address: u64, bytes: u64) {
        let start = (address + bytes).next_multiple_of(4);
        self.mark("device memory behind an array", start..(start).next_multiple_of(CHUNK), false);
    }

    /// The middle of each region, which kernels are given as numbers.
    pub fn places(&self) -> Vec<u64> {
        self.marks
            .iter()
            .map(|mark| (mark.range.start + (mark.range.end - mark.range.start) / 2) & !15)
            .collect()
    }

    /// What was written, and marks it anew.
    pub fn changed(&self) -> Option<String> {
        self.marks.iter().find_map(|mark| {
            let words = words(&mark.range);
            let at = words.iter().position(|word| *word != self.secret)?;
            let text = format!("{} changed at +{}: {:#x}", mark.name, 4 * at, words[at]);
            words.fill(self.secret);
            Some(text)
        })
    }

    /// Where `bytes` hold the secret.
    pub fn seen_in(&self, bytes: &[u8]) -> Option<usize> {
        let words = bytes.as_chunks::<4>().0;
        words.iter().position(|word| *word == self.secret.to_le_bytes()).map(|at| 4 * at)
    }

    /// Whether a text has the secret in it, as a number or as letters.
    pub fn seen_in_text(&self, text: &str) -> bool {
        let letters = self.secret.to_le_bytes().map(char::from).into_iter().collect::<String>();
        text.contains(&letters.repeat(2)) || text.contains(&format!("{:x}", self.secret))
    }

    /// Words of `bytes` that are addresses of the host that nobody gave, as far as that can be told from them.
    pub fn addresses_in<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (usize, u64)> {
        let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        words
            .enumerate()
            .filter_map(|(at, word)| self.may_be_address(word).then_some((8 * at, word)))
    }

    fn may_be_address(&self, word: u64) -> bool {
        // The upper half of an address of the arena's, and a lower one that a kernel put under it. (What it reads of
        // the stacks that lie beside the arena has return addresses and the secret in it, too.)
        let mixed = (self.arena.start >> 32..=self.arena.end >> 32).contains(&(word >> 32));
        (1 << 32..1 << 47).contains(&word)
            && !mixed
            && !self.arena.contains(&word)
            && self.given.iter().all(|(given, near)| word.abs_diff(*given) > *near)
    }
}

/// The words of memory that is mapped.
fn words(range: &Range<u64>) -> &'static mut [u32] {
    let count = (range.end - range.start) as usize / 4;
    // SAFETY: the range is mapped as long as the process lives, and only kernels that escape touch it meanwhile.
    unsafe { std::slice::from_raw_parts_mut(range.start as *mut u32, count) }
}

/// The bytes of device memory that no kernel uses now.
pub fn bytes_at(address: u64, bytes: usize) -> &'static mut [u8] {
    // SAFETY: an allocation of the arena, which stays mapped as long as the device lives.
    unsafe { std::slice::from_raw_parts_mut(address as *mut u8, bytes) }
}

/// Leaves the secret on the stack below the caller, where later calls find it in what they did not write.
#[inline(never)]
pub fn paint(secret: u32) {
    let mut stack = [0u32; STACK_WORDS];
    black_box(&mut stack).fill(secret);
    black_box(&stack);
}

/// All that is mapped, with names.
pub fn mappings() -> Vec<(Range<u64>, String)> {
    let text = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let (start, end) = range.split_once('-')?;
            let number = |text| u64::from_str_radix(text, 16).ok();
            Some((number(start)?..number(end)?, rest.to_owned()))
        })
        .collect()
}

fn largest_mapping() -> Range<u64> {
    let ranges = mappings().into_iter().map(|(range, _)| range);
    ranges.max_by_key(|range| range.end - range.start).unwrap_or(0..0)
}

/// Memory of the process in bytes.
pub fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// Lets the process run on so many cores, and so its device.
pub fn use_cores(count: usize, first: usize) {
    // SAFETY: a set of cores is plain numbers.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    for core in 0..count.min(all) {
        // SAFETY: the number is below the set's size.
        unsafe { libc::CPU_SET((first + core) % all, &mut set) };
    }
    // SAFETY: sets where the calling thread, and those that it starts, may run; refused, it changes nothing.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) };
}

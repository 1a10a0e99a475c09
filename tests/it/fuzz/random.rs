//! Random kernels whose results the PTX ISA defines: every thread loads a pool of registers, instructions work on the
//! pool, and in the end it is stored. Wherever a NaN can come about it is made one NaN, since the ISA leaves its bits
//! open; divisors are not zero; threads meet only where all of them are.

pub mod instruction;

use std::fmt::Write as _;

use fastrand::Rng;
use warpaint::ptx;

use super::{compare::Job, values};

/// Registers of the pool: 32, 64 and 16 bits, predicates.
const WORDS: u32 = 8;
const WIDES: u32 = 6;
const HALVES: u32 = 4;
const PREDICATES: u32 = 4;

/// Bytes of input of a thread.
const IN_BYTES: usize = 128;
/// Bytes of output of a thread: the pool, and 16 bytes for atomics of its own.
const OUT_BYTES: usize = 128;
/// Bytes that all threads change together by atomics.
const SHARED_OUT_BYTES: usize = 128;

/// A kernel and its shape.
pub struct Kernel {
    pub text: String,
    pub grid: u32,
    pub block: u32,
}

impl Kernel {
    /// Edge values for all threads, room for what they write, and memory for all together.
    pub fn job(&self, text: String, seed: u64) -> Job {
        let threads = (self.grid * self.block) as usize;
        let input = Pool::new(threads, seed).bytes;
        let buffers = vec![input, vec![0; threads * OUT_BYTES], vec![0x55; SHARED_OUT_BYTES]];
        Job { text, grid: self.grid, block: self.block, buffers, images: Vec::new() }
    }
}

/// What the registers of the pool hold at first, for each thread.
pub struct Pool {
    pub bytes: Vec<u8>,
}

impl Pool {
    pub fn new(threads: usize, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let mut bytes = Vec::with_capacity(threads * IN_BYTES);
        for thread in 0..threads {
            (0..WORDS).for_each(|_| bytes.extend(values::word(&mut rng).to_le_bytes()));
            (0..WIDES).for_each(|_| bytes.extend(values::wide(&mut rng).to_le_bytes()));
            (0..HALVES).for_each(|_| bytes.extend(values::half(&mut rng).to_le_bytes()));
            bytes.resize_with((thread + 1) * IN_BYTES, || rng.u8(..));
        }
        Self { bytes }
    }

    /// How many threads it is for.
    pub fn threads(&self) -> usize {
        self.bytes.len() / IN_BYTES
    }

    /// Gives all threads what the first one has.
    pub fn repeat_first(&mut self) {
        self.bytes = self.bytes[..IN_BYTES].repeat(self.threads());
    }

    /// What a register of a thread holds.
    pub fn value(&self, register: &str, thread: usize) -> u64 {
        let (place, bytes) = input_place(register);
        let start = thread * IN_BYTES + place;
        let value = self.bytes[start..start + bytes].iter().rev();
        let value = value.fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        if register.starts_with("%p") { value >> 31 } else { value }
    }
}

/// The registers of the pool.
fn registers() -> impl Iterator<Item = String> {
    let kinds = [("%r", WORDS), ("%d", WIDES), ("%h", HALVES), ("%p", PREDICATES)];
    kinds.into_iter().flat_map(|(kind, count)| (0..count).map(move |at| format!("{kind}{at}")))
}

/// The registers of the pool that a text names.
pub fn named(text: &str) -> impl Iterator<Item = String> {
    registers().filter(|register| text.contains(register.as_str()))
}

/// Where in a thread's input a register of the pool lies, and how many bytes that are; a predicate is the sign.
fn input_place(register: &str) -> (usize, usize) {
    let at = register[2..].parse::<usize>().unwrap();
    match &register[..2] {
        "%r" => (4 * at, 4),
        "%d" => (32 + 8 * at, 8),
        "%h" => (80 + 2 * at, 2),
        _ => (88 + 4 * at, 4),
    }
}

/// What lies at a byte of a buffer of [`Kernel::job`].
pub fn place(buffer: usize, at: usize) -> String {
    let (thread, place) = (at / OUT_BYTES, at % OUT_BYTES);
    let name = match place {
        _ if buffer == 2 => return format!("what all change, byte {at}"),
        0..32 => format!("%r{}", place / 4),
        32..80 => format!("%d{}", (place - 32) / 8),
        80..88 => format!("%h{}", (place - 80) / 2),
        88..104 => format!("%p{}", (place - 88) / 4),
        _ => "its own atomic".to_owned(),
    };
    format!("thread {thread}, {name}")
}

/// What a function's instructions may use.
pub struct Writer<'a> {
    rng: &'a mut Rng,
    pub out: String,
    labels: u32,
    /// Loop counters taken.
    counters: u32,
    /// sm_90 instead of sm_80.
    modern: bool,
    /// All threads of the block are here.
    uniform: bool,
    /// Threads may meet: then none may leave early.
    meets: bool,
    /// Device functions that may be called.
    functions: u32,
    is_kernel: bool,
    /// Only flushing single precision, as `-use_fast_math` has it.
    fast: bool,
    /// All threads get the first one's input.
    pub alike: bool,
    /// There is a local array. Where it is written, groups of threads have no code.
    local: bool,
}

pub fn kernel(rng: &mut Rng) -> Kernel {
    let modern = rng.u32(0..4) == 0;
    let functions = if rng.u32(0..3) == 0 { rng.u32(1..3) } else { 0 };
    let meets = rng.bool();
    let fast = rng.u32(0..8) == 0;
    let block = [32, 64, 128][rng.usize(0..3)];
    let grid = rng.u32(1..4);
    let (alike, local) = (rng.u32(0..4) == 0, rng.bool());
    let mut text =
        format!(".version 8.3\n.target sm_{}\n.address_size 64\n", if modern { 90 } else { 80 });
    for index in 0..functions {
        let mut writer = Writer::new(rng, modern, fast);
        writer.functions = index;
        text.push_str(&writer.function(index));
    }
    let mut writer = Writer::new(rng, modern, fast);
    (writer.functions, writer.meets, writer.uniform, writer.is_kernel) =
        (functions, meets, true, true);
    (writer.alike, writer.local) = (alike, local);
    text.push_str(&writer.entry(block));
    Kernel { text, grid, block }
}

/// The kernel with as many more instructions, which do nothing, as let groups have four threads each: what has no
/// vector form is translated once for each thread, so that larger groups take several times as long.
pub fn narrow(text: &str) -> String {
    let module = ptx::parse(text).unwrap();
    let statements = module.functions.last().and_then(|function| function.body.as_ref());
    let count = statements.map_or(0, |body| body.statements.len());
    let (before, after) = text.rsplit_once("ret;").unwrap();
    let more = "mov.u32 %ts, %ts;\n".repeat((3 - count % 3) % 3);
    format!("{before}{more}ret;{after}")
}

fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(0..list.len())]
}

impl<'a> Writer<'a> {
    pub fn new(rng: &'a mut Rng, modern: bool, fast: bool) -> Self {
        Self {
            rng,
            out: String::new(),
            labels: 0,
            counters: 0,
            modern,
            uniform: false,
            meets: false,
            functions: 0,
            is_kernel: false,
            fast,
            alike: false,
            local: true,
        }
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.rng.u32(0..count) == 0
    }

    fn word(&mut self) -> String {
        format!("%r{}", self.rng.u32(0..WORDS))
    }

    fn wide(&mut self) -> String {
        format!("%d{}", self.rng.u32(0..WIDES))
    }

    fn half(&mut self) -> String {
        format!("%h{}", self.rng.u32(0..HALVES))
    }

    fn predicate(&mut self) -> String {
        format!("%p{}", self.rng.u32(0..PREDICATES))
    }

    // Functions ---------------------------------------------------------------------------------

    pub fn registers(&mut self) {
        self.line(".reg .pred %p<4>, %tp, %tq;");
        self.line(".reg .b16 %h<4>, %th, %ti, %tj;");
        self.line(".reg .b32 %r<8>, %tr, %ts, %tu, %tn, %place, %c<40>;");
        self.line(".reg .b64 %d<6>, %td, %te, %in, %out, %own, %all;");
    }

    fn entry(&mut self, block: u32) -> String {
        self.line(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 all)\n{");
        self.registers();
        self.line(".shared .align 16 .b8 sh[2048];");
        self.begin_thread(block, OUT_BYTES);
        let _ = writeln!(self.out, "add.u64 %own, %out, {};", OUT_BYTES - 16);
        self.load_pool();
        if self.local {
            self.local_array();
        }
        let size = self.rng.u32(4..40);
        self.statements(size, 0);
        self.line("DONE:");
        (0..WORDS).for_each(|at| self.store(&format!("%r{at}"), 4 * at as usize));
        (0..WIDES).for_each(|at| self.store(&format!("%d{at}"), 32 + 8 * at as usize));
        (0..HALVES).for_each(|at| self.store(&format!("%h{at}"), 80 + 2 * at as usize));
        (0..PREDICATES).for_each(|at| self.store(&format!("%p{at}"), 88 + 4 * at as usize));
        self.line("ret;\n}");
        std::mem::take(&mut self.out)
    }

    /// Where the thread's input and its output lie.
    pub fn begin_thread(&mut self, block: u32, out_bytes: usize) {
        self.line("ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nld.param.u64 %all, [all];");
        // A register that differs between threads does so everywhere: this one is used for nothing else.
        self.line("mov.u32 %tn, %tid.x;\nmov.u32 %place, %ctaid.x;");
        let _ = writeln!(self.out, "mad.lo.u32 %place, %place, {block}, %tn;");
        if !self.alike {
            let _ = writeln!(self.out, "mad.wide.u32 %in, %place, {IN_BYTES}, %in;");
        }
        let _ = writeln!(self.out, "mad.wide.u32 %out, %place, {out_bytes}, %out;");
    }

    /// A local array with something in it.
    fn local_array(&mut self) {
        self.line(".local .align 16 .b8 lo[64];");
        for at in 0..4 {
            let _ = writeln!(self.out, "st.local.v2.b64 [lo+{}], {{%d0, %d1}};", 16 * at);
        }
    }

    /// Loads all registers of the pool.
    pub fn load_pool(&mut self) {
        registers().for_each(|register| self.load(&register));
    }

    /// Loads a register of the pool from the thread's input.
    pub fn load(&mut self, register: &str) {
        let (at, bytes) = input_place(register);
        let _ = match &register[..2] {
            "%p" => writeln!(
                self.out,
                "ld.global.b32 %tr, [%in+{at}];\nsetp.lt.s32 {register}, %tr, 0;"
            ),
            _ => writeln!(self.out, "ld.global.b{} {register}, [%in+{at}];", 8 * bytes),
        };
    }

    /// Stores a register of the pool in the thread's output.
    pub fn store(&mut self, register: &str, at: usize) {
        let (bits, source) = match &register[..2] {
            "%r" => (32, register),
            "%d" => (64, register),
            "%h" => (16, register),
            _ => {
                let _ = writeln!(self.out, "selp.b32 %tr, 1, 0, {register};");
                (32, "%tr")
            }
        };
        let _ = writeln!(self.out, "st.global.b{bits} [%out+{at}], {source};");
    }

    /// `b64 f(b32, b64)`.
    fn function(&mut self, index: u32) -> String {
        let _ = writeln!(
            self.out,
            ".func (.param .b64 result) f{index}(.param .b32 a, .param .b64 b)\n{{"
        );
        self.registers();
        self.line("ld.param.b32 %r0, [a];\nld.param.b64 %d0, [b];");
        for at in 1..WORDS {
            let _ = writeln!(self.out, "xor.b32 %r{at}, %r0, {};", at * 0x0123_4567);
        }
        for at in 1..WIDES {
            let _ = writeln!(self.out, "mul.lo.u64 %d{at}, %d0, {};", 2 * at + 1);
        }
        for at in 0..HALVES {
            let _ = writeln!(self.out, "cvt.u16.u32 %h{at}, %r{at};");
            let _ = writeln!(self.out, "setp.lt.s32 %p{at}, %r{at}, 0;");
        }
        self.local_array();
        let size = self.rng.u32(1..10);
        self.statements(size, 1);
        self.line("DONE:\nxor.b64 %td, %d0, %d1;\nst.param.b64 [result], %td;\nret;\n}");
        std::mem::take(&mut self.out)
    }

    // Statements --------------------------------------------------------------------------------

    fn statements(&mut self, count: u32, depth: u32) {
        for _ in 0..count {
            // What a shortened kernel must have or lack as a whole stands on one line.
            let start = self.out.len();
            match self.rng.u32(0..40) {
                0 if depth < 3 => {
                    self.branch(depth);
                    continue;
                }
                1 if depth < 3 => {
                    self.repeat(depth);
                    continue;
                }
                2 if depth < 3 => {
                    self.switch(depth);
                    continue;
                }
                3 if self.functions > 0 => self.call(),
                4 | 5 if self.local => self.local_memory(),
                6 if self.is_kernel => self.atomic(),
                7 if self.is_kernel => self.own_atomic(),
                8..11 if self.uniform && self.meets => self.meet(),
                11 => self.pack(),
                12 => self.carries(),
                13 if self.is_kernel => self.special(),
                14 if !self.meets && self.one_in(4) => self.leave(),
                _ => self.instruction(),
            }
            let lines = self.out.split_off(start);
            self.out.push_str(lines.trim_end().replace('\n', " ").as_str());
            self.out.push('\n');
        }
    }

    /// Runs `inside` where not all threads may be.
    fn divergent(&mut self, inside: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.uniform, false);
        inside(self);
        self.uniform = before;
    }

    fn branch(&mut self, depth: u32) {
        let (no, end, p) = (self.label(), self.label(), self.predicate());
        let negated = if self.rng.bool() { "!" } else { "" };
        let _ = writeln!(self.out, "@{negated}{p} bra {no};");
        let sizes = [self.rng.u32(1..5), self.rng.u32(0..5)];
        self.divergent(|w| w.statements(sizes[0], depth + 1));
        let _ = writeln!(self.out, "bra {end};\n{no}:");
        self.divergent(|w| w.statements(sizes[1], depth + 1));
        let _ = writeln!(self.out, "{end}:");
    }

    /// A loop, of the same length for all threads or not.
    fn repeat(&mut self, depth: u32) {
        let (top, end) = (self.label(), self.label());
        let counter = format!("%c{}", self.counters);
        self.counters += 1;
        if self.counters > 30 {
            return;
        }
        let alike = self.rng.bool();
        if alike {
            let count = self.rng.u32(1..5);
            let _ = writeln!(self.out, "mov.u32 {counter}, {count};");
        } else {
            let word = self.word();
            let _ = writeln!(self.out, "and.b32 {counter}, {word}, 3;");
        }
        let _ = writeln!(self.out, "{top}:\nsetp.eq.u32 %tp, {counter}, 0;\n@%tp bra {end};");
        let size = self.rng.u32(1..5);
        if alike {
            self.statements(size, depth + 1);
        } else {
            self.divergent(|w| w.statements(size, depth + 1));
        }
        let _ = writeln!(self.out, "sub.u32 {counter}, {counter}, 1;\nbra {top};\n{end}:");
    }

    fn switch(&mut self, depth: u32) {
        let labels: Vec<String> = (0..4).map(|_| self.label()).collect();
        let (table, end, word) = (self.label(), self.label(), self.word());
        let _ = writeln!(self.out, "{table}: .branchtargets {};", labels.join(", "));
        let _ = writeln!(self.out, "and.b32 %tr, {word}, 3; brx.idx %tr, {table};");
        for label in labels {
            let _ = writeln!(self.out, "{label}:");
            let size = self.rng.u32(0..3);
            self.divergent(|w| w.statements(size, depth + 1));
            if self.rng.u32(0..3) > 0 {
                let _ = writeln!(self.out, "bra {end};");
            }
        }
        let _ = writeln!(self.out, "{end}:");
    }

    fn leave(&mut self) {
        let p = self.predicate();
        let how =
            if self.is_kernel { pick(self.rng, &["exit", "ret", "bra DONE"]) } else { "bra DONE" };
        let _ = writeln!(self.out, "@{p} {how};");
    }

    fn call(&mut self) {
        let f = self.rng.u32(0..self.functions);
        let (a, b, d) = (self.word(), self.wide(), self.wide());
        let _ = writeln!(
            self.out,
            "{{ .param .b32 pa; .param .b64 pb; .param .b64 pr; st.param.b32 [pa], {a}; \
             st.param.b64 [pb], {b}; call (pr), f{f}, (pa, pb); ld.param.b64 {d}, [pr]; }}"
        );
    }

    /// Loads and stores of a local array at constant and computed places.
    fn local_memory(&mut self) {
        let base = if self.rng.bool() {
            let (bytes, word) = (pick(self.rng, &[1, 2, 4, 8]), self.word());
            let mask = 48 & !(bytes - 1);
            let _ = writeln!(
                self.out,
                "and.b32 %tr, {word}, {mask};\ncvt.u64.u32 %td, %tr;\nmov.u64 %te, lo;\nadd.u64 %td, %td, %te;"
            );
            if self.one_in(3) {
                self.line("cvta.local.u64 %td, %td;");
                "%td,generic".to_owned()
            } else {
                "%td".to_owned()
            }
        } else {
            let _ = writeln!(
                self.out,
                "mov.u64 %td, lo;\nadd.u64 %td, %td, {};",
                16 * self.rng.u32(0..4)
            );
            "%td".to_owned()
        };
        let (base, space) = match base.strip_suffix(",generic") {
            Some(base) => (base.to_owned(), ""),
            None => (base, ".local"),
        };
        let (w, x, d, e, h) = (self.word(), self.word(), self.wide(), self.wide(), self.half());
        let (p, q, r) = (self.word(), self.word(), self.wide());
        let text = match self.rng.u32(0..14) {
            0 => format!("st{space}.v2.b32 [{base}], {{{w}, {x}}};"),
            1 => format!("st{space}.v4.b32 [{base}], {{{w}, {x}, {p}, {q}}};"),
            2 => format!("st{space}.b64 [{base}+8], {d};"),
            3 => format!("st{space}.v2.b64 [{base}], {{{d}, {e}}};"),
            4 => format!("st{space}.b8 [{base}+3], {w};"),
            5 => format!("st{space}.b16 [{base}+6], {h};"),
            // A register twice among the destinations would have no defined value.
            6 => format!("ld{space}.v2.b32 {{{w}, %ts}}, [{base}];"),
            7 => {
                format!(
                    "ld{space}.v4.b32 {{%ts, {x}, %tr, %tu}}, [{base}];\nadd.u32 {x}, {x}, %tu;"
                )
            }
            8 => format!("ld{space}.s8 {w}, [{base}+{}];", self.rng.u32(0..16)),
            9 => format!("ld{space}.u8 {d}, [{base}+{}];", self.rng.u32(0..16)),
            10 => format!("ld{space}.s16 {r}, [{base}+{}];", 2 * self.rng.u32(0..8)),
            11 => format!("ld{space}.v2.b64 {{{d}, %te}}, [{base}];"),
            12 => {
                format!(
                    "ld{space}.v4.u8 {{{w}, %ts, %tu, %tr}}, [{base}+4];\nxor.b32 {w}, {w}, %ts;"
                )
            }
            _ => format!("ld{space}.s32 {d}, [{base}+4];"),
        };
        self.line(&text);
    }

    /// Reductions whose result does not depend on their order.
    fn atomic(&mut self) {
        let (w, d) = (self.word(), self.wide());
        let text = match self.rng.u32(0..10) {
            0 => format!("red.global.add.u32 [%all], {w};"),
            1 => format!("red.global.add.u64 [%all+8], {d};"),
            2 => format!("red.global.min.s32 [%all+16], {w};"),
            3 => format!("red.global.max.u32 [%all+20], {w};"),
            4 => format!("red.global.or.b32 [%all+24], {w};"),
            5 => format!("red.global.and.b32 [%all+28], {w};"),
            6 => format!("red.global.xor.b64 [%all+32], {d};"),
            7 => format!("red.global.max.s64 [%all+40], {d};"),
            8 => "red.global.inc.u32 [%all+48], 100;".to_owned(),
            _ => format!("red.min.u64 [%all+56], {d};"),
        };
        self.line(&text);
    }

    /// Atomics on memory of the thread's own.
    fn own_atomic(&mut self) {
        let op = pick(
            self.rng,
            &[
                "add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32",
                "xor.b32", "exch.b32", "inc.u32", "dec.u32", "cas.b32", "add.u64", "min.s64",
                "max.u64", "exch.b64", "cas.b64", "and.b64", "add.s32",
            ],
        );
        let space = pick(self.rng, &[".global", "", ".global"]);
        let wide = op.ends_with("64");
        let (d, b, c) = if wide {
            (self.wide(), self.wide(), self.wide())
        } else {
            (self.word(), self.word(), self.word())
        };
        let c = if op.starts_with("cas") { format!(", {c}") } else { String::new() };
        let _ = writeln!(self.out, "atom{space}.{op} {d}, [%own], {b}{c};");
    }

    /// What all threads of the block, or of each warp, do together.
    fn meet(&mut self) {
        let (w, x, p, q) = (self.word(), self.word(), self.predicate(), self.predicate());
        let d = self.wide();
        match self.rng.u32(0..13) {
            0..4 => {
                let distance = self.rng.u32(0..128);
                let _ = writeln!(
                    self.out,
                    "shl.b32 %tr, %tn, 4;\nmov.u32 %ts, sh;\nadd.u32 %tr, %tr, %ts;\n\
                     st.shared.b32 [%tr], {w};\nst.shared.b64 [%tr+8], {d};\nbar.sync 0;\n\
                     mov.u32 %tu, %ntid.x;\nsub.u32 %tu, %tu, 1;\nadd.u32 %tr, %tn, {distance};\n\
                     and.b32 %tr, %tr, %tu;\nshl.b32 %tr, %tr, 4;\nadd.u32 %tr, %tr, %ts;\n\
                     ld.shared.b32 {x}, [%tr];\nld.shared.b64 {d}, [%tr+8];\nbar.sync 0;"
                );
            }
            4 | 5 => {
                let mode = pick(self.rng, &["up", "down", "bfly", "idx"]);
                let b = if self.rng.bool() { x.clone() } else { self.rng.u32(0..32).to_string() };
                let c = match mode {
                    "up" => pick(self.rng, &["0", "0x1c00", "0x1800", "0x1e03"]),
                    _ => pick(self.rng, &["31", "0x1c1f", "0x181f", "0x1e1f", "0x100f"]),
                };
                let _ = writeln!(self.out, "shfl.sync.{mode}.b32 {w}|{p}, {w}, {b}, {c}, -1;");
            }
            6 => {
                let mode = pick(self.rng, &["all", "any", "uni"]);
                let _ = writeln!(self.out, "vote.sync.{mode}.pred {p}, {q}, -1;");
            }
            7 => drop(writeln!(self.out, "vote.sync.ballot.b32 {w}, {p}, -1;")),
            8 => {
                let op = pick(
                    self.rng,
                    &[
                        "add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32",
                        "and.b32", "or.b32", "xor.b32",
                    ],
                );
                let _ = writeln!(self.out, "redux.sync.{op} {w}, {x}, -1;");
            }
            9 => {
                let _ =
                    writeln!(self.out, "and.b32 %tr, {x}, 3;\nmatch.any.sync.b32 {w}, %tr, -1;");
            }
            10 => {
                let _ = writeln!(
                    self.out,
                    "and.b64 %td, {d}, 1;\nmatch.all.sync.b64 {w}|{p}, %td, -1;"
                );
            }
            11 => {
                let op = pick(self.rng, &["popc.u32", "and.pred", "or.pred"]);
                let to = if op == "popc.u32" { w } else { q };
                let _ = writeln!(self.out, "bar.red.{op} {to}, 0, {p};");
            }
            _ => self.line("bar.warp.sync -1;\nmembar.cta;"),
        }
    }

    fn pack(&mut self) {
        let (w, d, h, i) = (self.word(), self.wide(), self.half(), self.half());
        let x = self.word();
        let text = match self.rng.u32(0..6) {
            0 => format!("mov.b64 {d}, {{{w}, {x}}};"),
            1 => format!("mov.b64 {{{w}, %ts}}, {d};"),
            2 => format!("mov.b32 {w}, {{{h}, {i}}};"),
            3 => format!("mov.b32 {{%th, {h}}}, {w};"),
            4 => format!("mov.b64 {d}, {{{h}, {i}, %th, {h}}};"),
            _ => format!("mov.b64 {{{h}, %th, %ti, %tj}}, {d};\nadd.u16 {h}, {h}, %ti;"),
        };
        // What a helper register holds from before would depend on the engine.
        self.line("mov.b16 %th, 7;");
        self.line(&text);
    }

    /// Additions of several words.
    fn carries(&mut self) {
        let ty = pick(self.rng, &["u32", "s32", "u64", "s64"]);
        let wide = ty.ends_with("64");
        let mut register = || if wide { self.wide() } else { self.word() };
        let [a, b, c, d, e, f] = [(); 6].map(|()| register());
        let (low, high) = if wide { ("%td", "%te") } else { ("%tr", "%ts") };
        let text = match self.rng.u32(0..4) {
            0 => format!(
                "add.cc.{ty} {low}, {a}, {b};\naddc.cc.{ty} {high}, {c}, {d};\naddc.{ty} {e}, {f}, 0;"
            ),
            1 => format!(
                "sub.cc.{ty} {low}, {a}, {b};\nsubc.cc.{ty} {high}, {c}, {d};\nsubc.{ty} {e}, {f}, 0;"
            ),
            2 => format!(
                "mad.lo.cc.{ty} {low}, {a}, {b}, {c};\nmadc.hi.cc.{ty} {high}, {a}, {b}, {d};\naddc.{ty} {e}, {f}, {e};"
            ),
            _ => {
                format!("mad.hi.cc.{ty} {low}, {a}, {b}, {c};\nmadc.lo.{ty} {high}, {d}, {b}, {e};")
            }
        };
        self.line(&text);
        let mut register = || if wide { self.wide() } else { self.word() };
        let (to, other) = (register(), register());
        let bits = if wide { "b64" } else { "b32" };
        let _ = writeln!(self.out, "mov.{bits} {to}, {low};\nxor.{bits} {other}, {other}, {high};");
    }

    fn special(&mut self) {
        let w = self.word();
        let name = pick(
            self.rng,
            &[
                "%tid.x",
                "%ctaid.x",
                "%ntid.x",
                "%nctaid.x",
                "%laneid",
                "WARP_SZ",
                "%lanemask_lt",
                "%lanemask_ge",
                "%lanemask_eq",
                "%tid.y",
                "%ntid.z",
            ],
        );
        let _ = writeln!(self.out, "mov.u32 {w}, {name};");
    }
}

//! Random kernels whose threads meet in warps and blocks while their ways part: shuffles, votes, matches and reductions
//! in nested branches, under the masks of those who are there; loops that threads leave one after the other, or all
//! once a vote says so; ends before barriers; exchanges through shared memory between barriers, in loops of all, too.
//!
//! Whoever is at a place is known there as a mask: at a branch all who come vote, and each way goes on with its part.

use fastrand::Rng;

use super::{compare::Job, values};

/// The architecture that kernels are for: 80 for sm_80.
pub const ARCHITECTURE: u32 = 80;
/// Registers of the pool, which are read and written at will.
const WORDS: u32 = 6;
/// Bytes that a thread reads, and that it writes.
const BYTES: usize = 4 * WORDS as usize;
/// Most branches and loops within each other.
const DEEPEST: u32 = 3;

/// A kernel and its shape.
pub struct Kernel {
    pub text: String,
    grid: u32,
    block: u32,
}

impl Kernel {
    pub fn job(&self, text: String, seed: u64) -> Job {
        let mut rng = Rng::with_seed(seed);
        let words = (self.grid * self.block) as usize * BYTES / 4;
        let input = (0..words).flat_map(|_| values::word(&mut rng).to_le_bytes()).collect();
        let buffers = vec![input, vec![0; words * 4]];
        Job { text, grid: self.grid, block: self.block, buffers, images: Vec::new() }
    }
}

/// What lies at a byte of a buffer.
pub fn place(buffer: usize, at: usize) -> String {
    format!("buffer {buffer}, thread {}, %r{}", at / BYTES, at % BYTES / 4)
}

/// Writes a line; what it is made of may be random.
macro_rules! line {
    ($writer:expr, $($text:tt)*) => {{
        let text = format!($($text)*);
        $writer.line(text);
    }};
}

struct Writer<'a> {
    rng: &'a mut Rng,
    out: String,
    labels: u32,
    /// Masks and counters taken.
    masks: u32,
    counters: u32,
    block: u32,
    /// A GPU runs it, too: nothing is read of a thread that is not there, which only the CPU device defines.
    for_nvidia: bool,
    /// Some threads may have ended.
    ended: bool,
}

/// A random kernel; for an NVIDIA device, too, one whose results the ISA defines.
pub fn kernel(rng: &mut Rng, for_nvidia: bool) -> Kernel {
    let blocks = [32, 64, 96, 128, 256, 48, 20, 33, 36];
    let block = blocks[rng.usize(0..blocks.len())];
    let mut writer = Writer {
        rng,
        out: String::new(),
        labels: 0,
        masks: 0,
        counters: 0,
        block,
        for_nvidia,
        ended: false,
    };
    let statements = writer.rng.u32(3..9);
    writer.statements(statements, "-1", 0);
    let (body, masks, counters) = (&writer.out, writer.masks + 1, writer.counters + 1);
    let mut text = format!(
        ".version 8.0\n.target sm_{ARCHITECTURE}\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b32 %r<{WORDS}>;\n.reg .b32 %t<8>;\n.reg .b32 %m<{masks}>;\n.reg .b32 %c<{counters}>;\n\
         .reg .b64 %d<8>;\n.reg .pred %p<4>;\n.shared .align 4 .b8 words[1024];\n\
         mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ntid.x;\nmov.u32 %t2, %ctaid.x;\n\
         mad.lo.u32 %t3, %t1, %t2, %t0;\nmul.wide.u32 %d0, %t3, {BYTES};\n\
         ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\n\
         add.u64 %d1, %d1, %d0;\nadd.u64 %d2, %d2, %d0;\n"
    );
    let each = |text: &mut String, line: fn(u32) -> String| {
        (0..WORDS).for_each(|at| text.push_str(&line(at)));
    };
    each(&mut text, |at| format!("ld.global.u32 %r{at}, [%d1+{}];\n", 4 * at));
    // What threads that end leave unwritten is read, too.
    text.push_str("mov.u32 %t5, words;\nmad.lo.u32 %t6, %t0, 4, %t5;\n");
    text.push_str("st.shared.u32 [%t6], %t0;\nbar.sync 0;\n");
    text.push_str(body);
    each(&mut text, |at| format!("st.global.u32 [%d2+{}], %r{at};\n", 4 * at));
    text.push_str("ret;\n}\n");
    Kernel { text, grid: 2, block }
}

impl Writer<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.out.push_str(line.as_ref());
        self.out.push('\n');
    }

    fn word(&mut self) -> String {
        format!("%r{}", self.rng.u32(0..WORDS))
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn mask(&mut self) -> String {
        self.masks += 1;
        format!("%m{}", self.masks)
    }

    /// `mask` names all who are here; at depth 0 they are all of the block that have not ended.
    fn statements(&mut self, count: u32, mask: &str, depth: u32) {
        let mut mask = mask.to_owned();
        for _ in 0..count {
            match self.rng.u32(0..20) {
                0..5 => self.arithmetic(),
                5..11 => self.meeting(&mask),
                11..14 if depth < DEEPEST => self.branch(&mask, depth),
                14 if depth < DEEPEST => self.leaving_loop(&mask, depth),
                15 if depth < DEEPEST => self.voting_loop(&mask, depth),
                16 if depth < DEEPEST => self.counted_loop(&mask, depth),
                17 if depth == 0 => mask = self.end_of_some(&mask),
                18 | 19 if depth == 0 => self.exchange(),
                _ => self.memory_of_few(),
            }
        }
    }

    fn arithmetic(&mut self) {
        let (to, a, b) = (self.word(), self.word(), self.word());
        let ops = ["add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "min.s32", "max.u32", "and.b32"];
        let op = ops[self.rng.usize(0..ops.len())];
        match self.rng.u32(0..3) {
            0 => line!(self, "{op} {to}, {a}, %t0;"),
            1 => line!(self, "{op} {to}, {a}, {};", self.rng.u32(0..40)),
            _ => line!(self, "{op} {to}, {a}, {b};"),
        }
    }

    /// An operation of all who are here.
    fn meeting(&mut self, mask: &str) {
        let (to, value) = (self.word(), self.word());
        match self.rng.u32(0..8) {
            0..4 => {
                let mode = ["up", "down", "bfly", "idx"][self.rng.usize(0..4)];
                let lane = match self.rng.u32(0..4) {
                    0 => self.word(),
                    _ => self.rng.u32(0..34).to_string(),
                };
                let segments =
                    [0x1f, 0, 0x1f, 0x0f, 0x1c1f, 0x181f, 0x1c00, 0x1800, 0x101f, 0x1e1f];
                let mut bounds = segments[self.rng.usize(0..segments.len())].to_string();
                let predicate = self.rng.bool();
                if self.for_nvidia && !self.is_whole(mask) {
                    return self.shuffle_of_one(&to, &value, mask);
                }
                if self.rng.u32(0..8) == 0 {
                    line!(self, "and.b32 %t4, {value}, 0x1f1f;");
                    bounds = "%t4".to_owned();
                }
                let second = if predicate { "|%p3" } else { "" };
                line!(
                    self,
                    "shfl.sync.{mode}.b32 {to}{second}, {value}, {lane}, {bounds}, {mask};"
                );
                if predicate {
                    line!(self, "@%p3 add.u32 {to}, {to}, 1;");
                }
            }
            4 => {
                let mode = ["all", "any", "uni"][self.rng.usize(0..3)];
                self.decide();
                line!(self, "vote.sync.{mode}.pred %p3, %p0, {mask};");
                line!(self, "@%p3 add.u32 {to}, {to}, 3;");
            }
            5 => {
                self.decide();
                line!(self, "vote.sync.ballot.b32 {to}, %p0, {mask};");
            }
            6 => {
                let ops = ["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"];
                let op = ops[self.rng.usize(0..ops.len())];
                line!(self, "redux.sync.{op} {to}, {value}, {mask};");
            }
            _ => match self.rng.u32(0..5) {
                0 => line!(self, "match.any.sync.b32 {to}, {value}, {mask};"),
                1 => line!(self, "match.all.sync.b32 {to}|%p3, {value}, {mask};"),
                all @ 2..4 => {
                    line!(self, "and.b32 %t4, {value}, 9;\nmov.b64 %d3, {{%t4, %t2}};");
                    let how = if all == 2 { "any" } else { "all" };
                    line!(self, "match.{how}.sync.b64 {to}, %d3, {mask};");
                }
                _ => line!(self, "bar.warp.sync {mask};"),
            },
        }
    }

    /// Whether all 32 threads of each warp are here.
    fn is_whole(&self, mask: &str) -> bool {
        mask == "-1" && !self.ended && self.block.is_multiple_of(32)
    }

    /// All who are here get what the first of them, or the last, has.
    fn shuffle_of_one(&mut self, to: &str, value: &str, mask: &str) {
        line!(self, "setp.eq.u32 %p3, %t0, %t0;\nvote.sync.ballot.b32 %t4, %p3, {mask};");
        if self.rng.bool() {
            line!(self, "brev.b32 %t4, %t4;\nclz.b32 %t4, %t4;");
        } else {
            line!(self, "bfind.u32 %t4, %t4;");
        }
        line!(self, "shfl.sync.idx.b32 {to}, {value}, %t4, 31, {mask};");
    }

    /// Makes `%p0` something that threads mostly do not agree on.
    fn decide(&mut self) {
        let value = self.word();
        match self.rng.u32(0..5) {
            0 => line!(self, "setp.lt.u32 %p0, %t0, {};", self.rng.u32(0..self.block + 2)),
            1 => line!(self, "setp.eq.u32 %p0, %t0, {};", self.rng.u32(0..self.block)),
            2 => line!(self, "setp.lt.s32 %p0, {value}, {};", self.rng.i32(-9..9)),
            3 => line!(self, "setp.ne.u32 %p0, %t2, {};", self.rng.u32(0..2)),
            _ => {
                line!(self, "and.b32 %t4, {value}, {};", 1 << self.rng.u32(0..5));
                self.line("setp.ne.u32 %p0, %t4, 0;");
            }
        }
    }

    fn branch(&mut self, mask: &str, depth: u32) {
        let (mut of_then, mut of_else) = (self.mask(), self.mask());
        let (other, behind) = (self.label(), self.label());
        if self.is_whole(mask) && self.rng.u32(0..3) == 0 {
            // By lanes, under masks that are numbers.
            let first = [1, 3, 4, 8, 12, 16, 20, 31][self.rng.usize(0..8)];
            line!(self, "and.b32 %t4, %t0, 31;\nsetp.lt.u32 %p0, %t4, {first};");
            let lanes = (1u32 << first) - 1;
            [of_then, of_else] = [lanes, !lanes].map(|lanes| lanes.cast_signed().to_string());
        } else {
            self.decide();
            line!(self, "vote.sync.ballot.b32 {of_then}, %p0, {mask};");
            self.line("not.pred %p1, %p0;");
            line!(self, "vote.sync.ballot.b32 {of_else}, %p1, {mask};");
        }
        line!(self, "@!%p0 bra {other};");
        let count = self.rng.u32(1..4);
        self.statements(count, &of_then, depth + 1);
        line!(self, "bra {behind};\n{other}:");
        let count = self.rng.u32(0..3);
        self.statements(count, &of_else, depth + 1);
        line!(self, "{behind}:");
    }

    fn counter(&mut self) -> String {
        self.counters += 1;
        format!("%c{}", self.counters)
    }

    /// Each thread goes round as often as its data says, and those that are left meet.
    fn leaving_loop(&mut self, mask: &str, depth: u32) {
        let (left, count) = (self.mask(), self.counter());
        let (again, behind, value) = (self.label(), self.label(), self.word());
        line!(self, "and.b32 {count}, {value}, {};", [1, 3, 7][self.rng.usize(0..3)]);
        line!(self, "mov.b32 {left}, {mask};\n{again}:");
        line!(self, "setp.ne.u32 %p0, {count}, 0;");
        line!(self, "vote.sync.ballot.b32 {left}, %p0, {left};");
        line!(self, "@!%p0 bra {behind};");
        self.statements(2, &left, depth + 1);
        line!(self, "sub.u32 {count}, {count}, 1;\nbra {again};\n{behind}:");
    }

    /// All go round until none wants to.
    fn voting_loop(&mut self, mask: &str, depth: u32) {
        let (count, again, value) = (self.counter(), self.label(), self.word());
        line!(self, "and.b32 {count}, {value}, 3;\n{again}:");
        self.statements(2, mask, depth + 1);
        line!(self, "setp.ne.u32 %p0, {count}, 0;");
        line!(self, "@%p0 sub.u32 {count}, {count}, 1;");
        line!(self, "vote.sync.any.pred %p2, %p0, {mask};\n@%p2 bra {again};");
    }

    fn counted_loop(&mut self, mask: &str, depth: u32) {
        let (count, again) = (self.counter(), self.label());
        line!(self, "mov.u32 {count}, {};\n{again}:", self.rng.u32(1..5));
        // All of the block go round equally often, and so may meet at barriers.
        if depth == 0 && self.rng.bool() {
            self.exchange();
        }
        self.statements(2, mask, depth + 1);
        line!(self, "sub.u32 {count}, {count}, 1;");
        line!(self, "setp.ne.u32 %p1, {count}, 0;\n@%p1 bra {again};");
    }

    /// Some threads end; who is left, as a mask, or named by all, which those that ended do not mind.
    fn end_of_some(&mut self, mask: &str) -> String {
        self.ended = true;
        let left = self.mask();
        self.decide();
        self.line("not.pred %p1, %p0;");
        line!(self, "vote.sync.ballot.b32 {left}, %p1, {mask};\n@%p0 exit;");
        if self.rng.bool() { left } else { mask.to_owned() }
    }

    /// Every thread of the block writes a word, and reads another one's.
    fn exchange(&mut self) {
        let (to, value, by) = (self.word(), self.word(), self.rng.u32(1..self.block));
        self.line("mov.u32 %t5, words;\nmad.lo.u32 %t6, %t0, 4, %t5;");
        line!(self, "st.shared.u32 [%t6], {value};\nbar.sync 0;");
        if self.rng.bool() {
            self.memory_of_few();
        }
        line!(self, "add.u32 %t7, %t0, {by};\nrem.u32 %t7, %t7, {};", self.block);
        self.line("mad.lo.u32 %t7, %t7, 4, %t5;");
        line!(self, "ld.shared.u32 {to}, [%t7];\nbar.sync 0;");
        if self.rng.bool() {
            let predicate = ["popc.u32", "and.pred", "or.pred"][self.rng.usize(0..3)];
            self.decide();
            let result = if predicate == "popc.u32" { to.clone() } else { "%p3".to_owned() };
            line!(self, "bar.red.{predicate} {result}, 0, %p0;");
            if result == "%p3" {
                line!(self, "@%p3 add.u32 {to}, {to}, 5;");
            }
        }
    }

    /// A few instructions that only some threads do.
    fn memory_of_few(&mut self) {
        let (behind, to) = (self.label(), self.word());
        self.decide();
        line!(self, "@!%p0 bra {behind};");
        match self.rng.u32(0..3) {
            0 => line!(self, "ld.global.u32 {to}, [%d1+{}];", 4 * self.rng.u32(0..WORDS)),
            1 => line!(self, "st.global.u32 [%d2+{}], {to};", 4 * self.rng.u32(0..WORDS)),
            _ => {
                line!(self, "ld.global.u32 {to}, [%d1];\nadd.u32 {to}, {to}, %t0;");
                line!(self, "st.global.u32 [%d1], {to};");
            }
        }
        line!(self, "{behind}:");
    }
}

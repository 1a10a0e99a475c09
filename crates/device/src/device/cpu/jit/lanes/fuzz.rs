//! Random kernels of indices, conditions and short blocks, with groups and without: what is found of a group or a row
//! by arithmetic before its threads run must hold for each of them.

use std::fmt::Write as _;

use super::tests::check;
use crate::device::LaunchConfig;

/// Offsets and masks at which indices wrap, or low bits are known.
const NUMBERS: [&str; 15] = [
    "1",
    "3",
    "4",
    "8",
    "16",
    "31",
    "32",
    "48",
    "64",
    "-1",
    "-16",
    "0x7ffffff0",
    "0xfffffff0",
    "0x80000000",
    "0x41c64e6d",
];

/// A random kernel in the making.
struct Kernel {
    state: u64,
    text: String,
    labels: u32,
}

impl Kernel {
    /// splitmix64 (Steele, Lea, Flood 2014).
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }

    fn word(&mut self) -> String {
        format!("%r{}", 3 + self.below(11))
    }

    fn new_word(&mut self) -> String {
        format!("%r{}", 6 + self.below(8))
    }

    fn long(&mut self) -> String {
        format!("%rd{}", 6 + self.below(5))
    }

    fn predicate(&mut self) -> String {
        format!("%p{}", 1 + self.below(5))
    }

    fn word_or_number(&mut self) -> String {
        if self.below(2) == 0 { self.word() } else { self.of(&NUMBERS).to_owned() }
    }

    fn add(&mut self, text: &str) {
        self.text += text;
        self.text += "; ";
    }

    /// An instruction that computes.
    fn compute(&mut self) {
        let (to, a, b) = (self.new_word(), self.word(), self.word_or_number());
        let (long, other, p) = (self.long(), self.long(), self.predicate());
        let text = match self.below(12) {
            0..=2 => {
                let op =
                    self.of(&["add.u32", "sub.u32", "add.s32", "and.b32", "or.b32", "min.u32"]);
                format!("{op} {to}, {a}, {b}")
            }
            3 => {
                let (op, by) = (self.of(&["shl.b32", "shr.u32", "shr.s32"]), self.below(5));
                format!("{op} {to}, {a}, {by}")
            }
            4 => {
                let op = self.of(&["mul.lo.u32", "xor.b32", "max.s32"]);
                format!("{op} {to}, {a}, {b}")
            }
            5 => {
                let op = self.of(&["cvt.u64.u32", "cvt.s64.s32"]);
                format!("{op} {long}, {a}")
            }
            6 => {
                let (op, by) = (self.of(&["mul.wide.u32", "mul.wide.s32"]), self.below(9));
                format!("{op} {long}, {a}, {by}")
            }
            7 => {
                let (op, b) = (self.of(&["add.s64", "sub.s64"]), self.of(&NUMBERS));
                format!("{op} {long}, {other}, {b}")
            }
            8 => match self.below(3) {
                0 => format!("shl.b64 {long}, {other}, {}", self.below(32)),
                1 => format!("and.b32 {to}, %r4, 31"),
                _ => format!("cvt.u32.u64 {to}, {other}"),
            },
            9 => format!("selp.b32 {to}, {a}, {b}, {p}"),
            _ => return self.compare(),
        };
        self.add(&text);
    }

    /// An instruction that gives predicates.
    fn compare(&mut self) {
        let [to, second, with, other] = [(); 4].map(|()| self.predicate());
        let cmp = self.of(&["lt", "ge", "eq", "ne", "gt", "le"]);
        let text = match self.below(6) {
            0 | 1 => {
                let (ty, a, b) = (self.of(&["u32", "s32"]), self.word(), self.word_or_number());
                format!("setp.{cmp}.{ty} {to}, {a}, {b}")
            }
            2 => {
                let (ty, a, limit) = (self.of(&["u64", "s64"]), self.long(), self.of(&NUMBERS));
                format!("setp.{cmp}.{ty} {to}, {a}, {limit}")
            }
            3 if to != second => {
                let (op, a, b) = (self.of(&["and", "or"]), self.word(), self.word_or_number());
                format!("setp.{cmp}.{op}.u32 {to}|{second}, {a}, {b}, {with}")
            }
            4 => format!("not.pred {to}, {with}"),
            _ => {
                let op = self.of(&["and", "or", "xor"]);
                format!("{op}.pred {to}, {with}, {other}")
            }
        };
        self.add(&text);
    }

    /// A store to the thread's own element of one of four parts.
    fn store(&mut self) {
        let (part, word) = (self.below(4) * 16384, self.word());
        self.add(&format!("st.global.u32 [%rd5+{part}], {word}"));
    }

    /// A block that some threads may go round.
    fn block(&mut self) {
        let (p, not) = (self.predicate(), self.of(&["", "!"]));
        let label = format!("L{}", self.labels);
        self.labels += 1;
        self.add(&format!("@{not}{p} bra {label}"));
        for _ in 0..=self.below(4) {
            if self.below(5) == 0 { self.store() } else { self.compute() }
        }
        _ = write!(self.text, "{label}: ");
    }

    /// A loop round which some threads may go; nothing reads behind it what it writes, but for what it computes
    /// besides.
    fn border(&mut self) {
        let (p, not, label) = (self.predicate(), self.of(&["", "!"]), self.labels);
        self.labels += 1;
        self.add(&format!("@{not}{p} bra L{label}; mov.u32 %r20, 0; B{label}: "));
        for _ in 0..=self.below(3) {
            let (word, part) = (self.word(), self.below(4) * 16384);
            match self.below(6) {
                0 => self.compute(),
                1 => self.store(),
                _ => self.add(&format!(
                    "ld.global.u32 %r21, [%rd5+{part}]; add.u32 %r21, %r21, {word}; st.global.u32 [%rd5+{part}], %r21"
                )),
            }
        }
        self.add(&format!("add.u32 %r20, %r20, 1; setp.lt.u32 %p9, %r20, 3; @%p9 bra B{label}"));
        _ = write!(self.text, "L{label}: ");
    }

    /// The body of a kernel that follows from `seed`.
    fn body(seed: u64) -> String {
        let mut kernel = Self { state: seed, text: String::new(), labels: 0 };
        for reg in 6..14 {
            let from = kernel.of(&["%r4", "%r5", "%r1", "7", "-16", "0"]);
            kernel.add(&format!("mov.u32 %r{reg}, {from}"));
        }
        for reg in 6..11 {
            let from = kernel.of(&["%r4", "%r5", "%r1"]);
            kernel.add(&format!("cvt.u64.u32 %rd{reg}, {from}"));
        }
        for p in 1..6 {
            kernel.add(&format!("setp.lt.u32 %p{p}, %r{}, 40", 4 + p % 2));
        }
        let data = kernel.new_word();
        kernel.add(&format!("ld.global.u32 {data}, [%rd4]"));
        kernel.add(&format!("and.b32 {data}, {data}, 63"));
        for _ in 0..4 + kernel.below(12) {
            match kernel.below(11) {
                10 => kernel.border(),
                0..=4 => kernel.compute(),
                5..=7 => kernel.block(),
                8 => kernel.store(),
                _ => {
                    let p = kernel.predicate();
                    kernel.add(&format!("@{p} bra END"));
                }
            }
        }
        // What is not read any more is treated in another way.
        for _ in 0..kernel.below(5) {
            let (word, long, p) = (kernel.word(), kernel.long(), kernel.predicate());
            kernel.add(&format!("selp.b32 %r14, {word}, 5, {p}; cvt.u32.u64 %r15, {long}"));
            kernel.add("add.u32 %r16, %r14, %r15; st.global.u32 [%rd5+16384], %r16");
        }
        kernel.text + "END: st.global.u32 [%rd5], %r5;"
    }
}

#[test]
fn random_indices_and_conditions_are_those_of_each_thread() {
    // `WARPAINT_FUZZ_GROUPS=20000` runs more of them, `WARPAINT_FUZZ_GROUPS_SEED` others.
    let number = |name| std::env::var(name).ok().map(|text: String| text.parse::<u64>().unwrap());
    let count = number("WARPAINT_FUZZ_GROUPS").unwrap_or(120);
    let first = number("WARPAINT_FUZZ_GROUPS_SEED").unwrap_or(0);
    for seed in first..first + count {
        let body = Kernel::body(seed);
        let (grid, block) = [(4, 64), (2, 128), (3, 96), (4, 36)][(seed % 4) as usize];
        check(&body, &LaunchConfig::new(grid, block), (seed % 70) as u32);
    }
}

//! Launches that need no checks: what the host proves of them is so.

use std::{env, fmt::Write as _};

use fastrand::Rng;
use warpaint::device::{Arguments, Device, GuardOptions, GuardedModule, LaunchConfig, Memory};

use super::bench::{Bench, Stop, fault, run};

/// A kernel `k(x, n)` in which `%i` is the thread's index in the grid, and that writes to the word `%a` of `x`.
pub fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 x, .param .u32 n, .param .u64 m)
{{
    .reg .pred %p<40>;
    .reg .b32 %r<60>, %i, %n, %a, %t, %b, %c;
    .reg .b64 %rd<20>, %x;
    .reg .f32 %f<10>;
    ld.param.u64 %rd0, [x];
    cvta.to.global.u64 %x, %rd0;
    ld.param.u32 %n, [n];
    mov.u32 %b, %ntid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %t, %tid.x;
    mad.lo.s32 %i, %c, %b, %t;
    mov.u32 %a, 0;
{body}
DONE:
    ret;
}}
"
    )
}

const STORE: &str = "mul.wide.s32 %rd1, %a, 4; add.s64 %rd2, %x, %rd1; st.global.u32 [%rd2], %i;";
pub const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

/// Whether a launch of 4 blocks of 32 threads needs no check, where `x` has so many words.
fn is_proved(body: &str, n: u32, words: u64) -> bool {
    let text = format!("{HEAD}{}", kernel("k", body));
    let (_, host) = GuardedModule::of(&text, &GuardOptions::default()).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&4096_u64).push(&n).push(&(1_u64 << 30));
    let config = LaunchConfig::new(4, 32);
    // Two buffers, of which `x` points to the first, and `m` to the second.
    let find = |pointer| [4096, 1 << 30].contains(&pointer).then_some((pointer, 4 * words));
    let kernel = host.kernel("k").unwrap();
    let version = host.version(kernel, &config, arguments.bytes(), find);
    // What was asked once is answered so again.
    assert_eq!(host.version(kernel, &config, arguments.bytes(), find), version);
    version.is_some_and(|at| kernel.proved[at].proof.len() == kernel.counts.checked as usize)
}

/// A body, `n`, and the words of `x` that are just enough.
fn enough(body: &str, n: u32, words: u64) {
    let body = format!("{body} {STORE}");
    assert!(is_proved(&body, n, words), "not proved for {words} words: {body}");
    assert!(!is_proved(&body, n, words - 1), "proved for {} words: {body}", words - 1);
}

fn never(body: &str, n: u32) {
    let body = format!("{body} {STORE}");
    assert!(!is_proved(&body, n, 1 << 24), "proved: {body}");
}

#[test]
fn the_grid_and_conditions_bound_an_index() {
    enough("mov.u32 %a, %i;", 0, 128);
    enough("mov.u32 %a, %i; setp.ge.s32 %p1, %i, %n; @%p1 bra DONE;", 100, 100);
    enough("mov.u32 %a, %i; setp.ge.u32 %p1, %i, %n; @%p1 ret;", 100, 100);
    // Computed anew, and compared as the predicate of the access.
    enough(
        "setp.lt.s32 %p1, %i, %n; mad.lo.s32 %r1, %c, %b, %t; @!%p1 bra DONE; mov.u32 %a, %r1;",
        99,
        99,
    );
    enough("add.s32 %r1, %i, -1; mov.u32 %a, %r1; setp.lt.s32 %p1, %i, 1; @%p1 bra DONE;", 0, 127);
    // More than the grid.
    enough("mov.u32 %a, %i; setp.ge.s32 %p1, %i, %n; @%p1 bra DONE;", 1000, 128);
    // Of two conditions both hold; of one of two neither is known to.
    let both =
        "setp.gt.s32 %p1, %i, 20; setp.gt.s32 %p2, %t, 9; or.pred %p3, %p1, %p2; @%p3 bra DONE;";
    enough(&format!("{both} mov.u32 %a, %t;"), 0, 10);
    enough(&format!("{} mov.u32 %a, %t;", both.replace("or", "and")), 0, 32);
}

#[test]
fn neighbours_that_are_wrapped_or_clamped_stay_inside() {
    let row = "setp.lt.s32 %p1, %i, 127; add.s32 %r1, %i, 1; selp.b32 %a, %r1, 0, %p1;";
    enough(row, 0, 128);
    enough("add.s32 %r1, %i, 1; and.b32 %a, %r1, 63;", 0, 64);
    enough("add.s32 %r1, %i, -3; max.s32 %r2, %r1, 0; min.s32 %a, %r2, 99;", 0, 100);
    // The choice depends on what the index was made of.
    let step = "setp.lt.s32 %p1, %i, 127; selp.u32 %r1, 1, 0, %p1; add.s32 %a, %i, %r1;";
    enough(step, 0, 128);
    // A remainder by a constant, as it is compiled.
    let rest = "mul.hi.u32 %r1, %i, 954437177; shr.u32 %r2, %r1, 1; mul.lo.s32 %r3, %r2, 9; sub.s32 %a, %i, %r3;";
    enough(rest, 0, 9);
    let power = "shr.s32 %r1, %i, 31; shr.u32 %r2, %r1, 27; add.s32 %r3, %i, %r2; and.b32 %r4, %r3, -32; sub.s32 %a, %i, %r4;";
    enough(power, 0, 32);
    // Too great a factor gives no quotient.
    let wrong = rest.replace("954437177", "954437777").replace("%i,", "%r9,");
    never(&format!("shl.b32 %r9, %i, 22; {wrong}"), 0);
    // A number that was rounded, after it was clamped.
    let real = "ld.global.f32 %f1, [%x]; max.f32 %f2, %f1, 0f00000000; min.f32 %f3, %f2, 0f41700000; cvt.rzi.s32.f32 %a, %f3;";
    enough(real, 0, 16);
    never(&real.replace("max.f32 %f2, %f1, 0f00000000", "mov.f32 %f2, %f1"), 0);
    // Of what is next to zero, rounded up, but flushed before; and next to 1 with more bits than single precision has.
    for zero in [
        "cvt.rpi.ftz.s32.f32 %r1, 0f00000001;",
        "mul.ftz.f32 %f1, 0f00000001, 0f7F000000; cvt.rpi.s32.f32 %r1, %f1;",
        "add.ftz.f32 %f1, 0f007FFFFF, 0f007FFFFF; cvt.rpi.s32.f32 %r1, %f1;",
        "cvt.rzi.s32.f64 %r1, 0d3FEFFFFFFFFFFFFF;",
    ] {
        never(&format!("{zero} add.s32 %a, %r1, -1;"), 0);
    }
}

/// The place in a table that the sine of a large number begins at.
#[test]
fn the_exponent_of_a_large_number_is_large() {
    let place = "ld.global.f32 %f1, [%x]; abs.f32 %f2, %f1; setp.ltu.f32 %p1, %f2, 0f47CE4780; @%p1 bra DONE;
        mov.b32 %r1, %f1; shr.u32 %r2, %r1, 23; and.b32 %r3, %r2, 255; add.s32 %r4, %r3, -128; shr.u32 %a, %r4, 5;";
    enough(place, 0, 4);
    enough(
        &place.replace("ltu.f32 %p1, %f2, 0f47CE4780; @", "ge.f32 %p1, %f2, 0f47CE4780; @!"),
        0,
        4,
    );
    for (from, to) in [
        ("ltu", "gtu"),
        ("0f47CE4780", "0f3F800000"),
        ("abs.f32 %f2, %f1", "ld.global.f32 %f3, [%x+4]; abs.f32 %f2, %f3"),
        ("mov.b32 %r1, %f1", "ld.global.f32 %f1, [%x+4]; mov.b32 %r1, %f1"),
        ("abs.f32 %f2", "neg.f32 %f2"),
        ("@%p1", "@!%p1"),
    ] {
        never(&place.replace(from, to), 0);
    }
}

#[test]
fn loops_bound_their_counters() {
    let count = |end: &str| {
        format!(
            "mov.u32 %r1, 0; L: mov.u32 %a, %r1; {STORE} add.s32 %r1, %r1, 1; {end} mov.u32 %a, 0;"
        )
    };
    enough(&count("setp.lt.s32 %p1, %r1, 50; @%p1 bra L;"), 0, 50);
    enough(&count("setp.ne.s32 %p1, %r1, %n; @%p1 bra L;"), 40, 40);
    enough(&count("setp.ge.s32 %p1, %r1, %n; @%p1 bra M; bra L; M:"), 30, 30);
    // It goes past the end, and on.
    never(&count("setp.ne.s32 %p1, %r1, -5; @%p1 bra L;"), 0);
    // A stride that the launch tells.
    let stride = "mov.u32 %r1, %i; mov.u32 %r2, %nctaid.x; mul.lo.s32 %r3, %r2, %b;
        L: setp.ge.s32 %p1, %r1, %n; @%p1 bra M; mov.u32 %a, %r1;";
    enough(
        &format!("{stride} {STORE} add.s32 %r1, %r1, %r3; bra L; M: mov.u32 %a, 0;"),
        1000,
        1000,
    );
    // A pointer that goes on beside the counter.
    let pointer =
        "mov.u32 %r1, 0; mov.u64 %rd5, %x; L: st.global.u32 [%rd5], %i; add.s64 %rd5, %rd5, 8;
        add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %n; @%p1 bra L;";
    enough(pointer, 20, 39);
    // One that comes round does not stay where it began.
    let hash = |step: u32, index: &str| {
        format!(
            "mov.u32 %r1, 0; mov.u32 %r2, 0; L: add.s32 %r1, %r1, {step}; add.s32 %r2, %r2, 1;
            setp.lt.u32 %p1, %r2, 9; @%p1 bra L; {index}"
        )
    };
    enough(&hash(0x9e37_79b9, "and.b32 %a, %r1, 1023;"), 0, 1024);
    enough(&hash(0x9e37_79b9, "shr.u32 %a, %r1, 24;"), 0, 256);
    enough(&hash(0xe000_0000, "shr.u32 %a, %r1, 24;"), 0, 256);
    enough(&hash(-1_i32 as u32, "add.s32 %a, %r1, 9;"), 0, 9);
    // What is added differs.
    never(
        "mov.u32 %r1, 0; L: mov.u32 %a, %r1; add.s32 %r1, %r1, 1; @%p9 add.s32 %r1, %r1, %t;
        setp.ne.s32 %p1, %r1, 50; @%p1 bra L;",
        0,
    );
}

#[test]
fn ways_that_meet_are_gone_apart() {
    let two = "setp.lt.s32 %p1, %i, 10; @%p1 bra A; mov.u32 %r1, 5; bra B; A: mov.u32 %r1, %i; B: mov.u32 %a, %r1;";
    enough(two, 0, 10);
    // What is added depends on the way.
    let added = "setp.gt.s32 %p1, %i, 50; @%p1 bra A; mov.u32 %r1, 77; bra B; A: mov.u32 %r1, 0; B: add.s32 %a, %i, %r1;";
    enough(added, 0, 128);
    // One of two buffers, chosen by the block.
    let buffers = "ld.param.u64 %rd5, [m]; cvta.to.global.u64 %rd6, %rd5; setp.eq.s32 %p1, %c, 2;
        selp.b64 %rd7, %x, %rd6, %p1; mul.wide.s32 %rd8, %t, 4; add.s64 %rd9, %rd7, %rd8; st.global.u32 [%rd9], %i;";
    enough(buffers, 0, 32);
}

/// What looks like a proof and is none.
#[test]
fn conditions_hold_only_of_what_they_compared() {
    // The comparison is with the counter as it is now, the index was made of that before.
    let late = "mov.u32 %r1, 0; L: shl.b32 %r2, %r1, 1; add.s32 %r1, %r1, %t; ld.global.u32 %r3, [%x];
        setp.lt.s32 %p1, %r1, %r3; @%p1 bra L; setp.gt.s32 %p2, %r1, 10; @%p2 bra DONE; mov.u32 %a, %r2;";
    never(late, 0);
    // It may be negative.
    let loaded = "ld.global.u32 %r1, [%x];";
    never(&format!("{loaded} mov.u32 %a, %r1; setp.ge.s32 %p1, %r1, %n; @%p1 bra DONE;"), 10);
    enough(&format!("{loaded} mov.u32 %a, %r1; setp.ge.u32 %p1, %r1, %n; @%p1 bra DONE;"), 10, 10);
    // A product that does not fit its register.
    never(
        &format!(
            "{loaded} setp.ge.u32 %p1, %r1, 5; @%p1 bra DONE; mul.lo.s32 %a, %r1, 1000000000;"
        ),
        0,
    );
    // The other way round the condition.
    never(
        &format!(
            "{loaded} mov.u32 %a, %r1; setp.lt.u32 %p1, %r1, 9; @%p1 bra M; bra N; M: mov.u32 %r9, 1; N:"
        ),
        0,
    );
    // The predicate was overwritten.
    never(
        &format!(
            "{loaded} mov.u32 %a, %r1; setp.ge.u32 %p1, %r1, 9; setp.lt.u32 %p1, %r1, 9; @%p1 ret;"
        ),
        0,
    );
    never(
        &format!(
            "{loaded} mov.u32 %a, %r1; setp.ge.u32 %p1, %r1, 9; @%p9 setp.eq.u32 %p1, 0, 1; @%p1 bra DONE;"
        ),
        0,
    );
    // Two loads of one place need not give the same.
    never(&format!("{loaded} setp.ge.u32 %p1, %r1, 9; @%p1 bra DONE; ld.global.u32 %a, [%x];"), 0);
    // The second result is of the contrary.
    let second = format!("{loaded} mov.u32 %a, %r1; setp.lt.u32 %p1|%p2, %r1, 9; @%p2 bra DONE;");
    enough(&second, 0, 9);
    never(&second.replace("@", "@!"), 0);
    // A counter that goes round its register before it comes to the end, and an end that moves away.
    never(
        &format!(
            "mov.u32 %r1, 0; L: shr.s32 %a, %r1, 8; {STORE} add.s32 %r1, %r1, 1500000000;
            setp.lt.s32 %p1, %r1, 2000000000; @%p1 bra L; mov.u32 %a, 0;"
        ),
        0,
    );
    never(
        &format!(
            "mov.u32 %r1, 0; L: mov.u32 %a, %r1; {STORE} add.s32 %r1, %r1, 1; ld.global.u32 %r2, [%x];
            and.b32 %r3, %r2, 15; or.b32 %r4, %r3, 16; setp.ne.s32 %p1, %r1, %r4; @%p1 bra L; mov.u32 %a, 0;"
        ),
        0,
    );
    // As an unsigned number it is far away.
    let before = "add.s32 %r1, %i, -1; mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %x, %rd5; st.global.u32 [%rd6+4], %i;";
    enough(before, 0, 128);
    never(&before.replace("wide.s32", "wide.u32"), 0);
    // A register that nobody has written.
    never("mov.u32 %a, %r50;", 0);
}

/// Registers that hold numbers, and instructions that make more of them.
struct Program {
    text: String,
    numbers: Vec<String>,
    next: usize,
    labels: usize,
}

impl Program {
    fn number(&self, rng: &mut Rng) -> String {
        // Newer ones are likelier.
        let last = self.numbers.len() - 1;
        self.numbers[last - rng.usize(0..=last).min(rng.usize(0..=last))].clone()
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%r{}", self.next)
    }

    fn put(&mut self, line: &str) {
        writeln!(self.text, "    {line}").unwrap();
    }

    fn compare(&mut self, rng: &mut Rng) -> String {
        let predicate = format!("%p{}", rng.u32(1..6));
        let cmp = ["lt.s32", "le.s32", "gt.s32", "ge.s32", "eq.s32", "ne.s32", "lt.u32", "ge.u32"];
        let other = match rng.u8(0..3) {
            0 => "%n".to_owned(),
            1 => self.number(rng),
            _ => rng.i32(-4..140).to_string(),
        };
        let number = self.number(rng);
        self.put(&format!("setp.{} {predicate}, {number}, {other};", cmp[rng.usize(0..cmp.len())]));
        predicate
    }

    fn compute(&mut self, rng: &mut Rng) {
        let (a, b, k) = (self.number(rng), self.number(rng), rng.i32(-20..100));
        let to = if rng.u8(0..6) == 0 { self.number(rng) } else { self.fresh() };
        let to =
            if ["%i", "%t", "%n", "%b", "%c"].contains(&to.as_str()) { self.fresh() } else { to };
        let small = rng.u32(0..6);
        let line = match rng.u8(0..22) {
            0 => format!("add.s32 {to}, {a}, {b};"),
            1 => format!("sub.s32 {to}, {a}, {b};"),
            2 | 3 => format!("add.s32 {to}, {a}, {k};"),
            4 => format!("mul.lo.s32 {to}, {a}, {k};"),
            5 => format!("mad.lo.s32 {to}, {a}, {k}, {b};"),
            6 => format!("shl.b32 {to}, {a}, {small};"),
            7 => format!("shr.s32 {to}, {a}, {small};"),
            8 => format!("shr.u32 {to}, {a}, {};", [small, small + 24][rng.usize(0..2)]),
            9 => format!("and.b32 {to}, {a}, {};", [7, 31, 63, -8, 28][rng.usize(0..5)]),
            10 => format!("or.b32 {to}, {a}, {b};"),
            11 => format!("xor.b32 {to}, {a}, {};", rng.u32(0..16)),
            12 => format!("min.s32 {to}, {a}, {k};"),
            13 => format!("max.s32 {to}, {a}, {k};"),
            14 => format!("min.u32 {to}, {a}, {};", k.unsigned_abs()),
            15 => format!("rem.u32 {to}, {a}, {};", k.unsigned_abs() + 1),
            16 => format!("div.s32 {to}, {a}, {};", k.unsigned_abs() + 1),
            17 => format!(
                "mul.hi.u32 {to}, {a}, {};",
                [954437177_u32, 1717986919, 2863311531][rng.usize(0..3)]
            ),
            18 => format!("bfe.u32 {to}, {a}, {small}, {};", rng.u32(1..8)),
            19 => {
                let predicate = self.compare(rng);
                format!("selp.b32 {to}, {a}, {b}, {predicate};")
            }
            20 => format!(
                "and.b32 {to}, {a}, {};\n    sub.s32 {to}, {a}, {to};",
                [-8, -16, 7, 15][rng.usize(0..4)]
            ),
            _ => {
                let predicate = self.compare(rng);
                format!("@{predicate} add.s32 {to}, {a}, {k};")
            }
        };
        self.put(&line);
        self.numbers.push(to);
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// Statements, of which some depend on conditions or are repeated.
    fn statements(&mut self, rng: &mut Rng, depth: u32) {
        for _ in 0..rng.u32(1..5) {
            match rng.u8(0..10) {
                0 | 1 if depth > 0 => {
                    let (label, predicate) = (self.label(), self.compare(rng));
                    let not = if rng.bool() { "!" } else { "" };
                    self.put(&format!("@{not}{predicate} bra {label};"));
                    self.statements(rng, depth - 1);
                    self.put(&format!("{label}:"));
                }
                2 => {
                    let predicate = self.compare(rng);
                    self.put(&format!("@{predicate} bra DONE;"));
                }
                3 if depth > 0 => self.repeat(rng, depth),
                4 => self.store(rng),
                _ => self.compute(rng),
            }
        }
    }

    /// A loop that ends by itself, mostly where its counter comes to an end.
    fn repeat(&mut self, rng: &mut Rng, depth: u32) {
        let (label, counter, rounds) = (self.label(), self.fresh(), self.fresh());
        let start = if rng.bool() { self.number(rng) } else { rng.i32(-3..9).to_string() };
        self.put(&format!("mov.u32 {counter}, {start};\n    mov.u32 {rounds}, 0;\n{label}:"));
        self.numbers.push(counter.clone());
        // Beside the counter one that goes far, and comes round.
        let far = (rng.u8(0..3) == 0).then(|| self.fresh());
        if let Some(far) = &far {
            let start = if rng.bool() { self.number(rng) } else { "0".to_owned() };
            self.text.truncate(self.text.len() - label.len() - ":\n".len());
            self.put(&format!("mov.u32 {far}, {start};\n{label}:"));
            self.numbers.push(far.clone());
        }
        self.statements(rng, depth - 1);
        if let Some(far) = &far {
            let step = [0x9e37_79b9, 0xe000_0000, 0x4000_0001, 0x8000_0000, 0x7fff_ffff_u32];
            self.put(&format!("add.s32 {far}, {far}, {};", step[rng.usize(0..step.len())]));
        }
        let step = [1, 1, 2, 5, -1, -3][rng.usize(0..6)];
        self.put(&format!("add.s32 {counter}, {counter}, {step};"));
        let end = if rng.bool() { "%n".to_owned() } else { rng.i32(-5..60).to_string() };
        let cmp = ["lt.s32", "ne.s32", "gt.s32", "lt.u32", "le.s32"][rng.usize(0..5)];
        self.put(&format!("setp.{cmp} %p6, {counter}, {end};"));
        // None goes round more often than this, which the proof is not told as such.
        self.put(&format!("add.s32 {rounds}, {rounds}, 3;\n    xor.b32 %r59, {rounds}, 1;"));
        self.put("setp.lt.s32 %p7, %r59, 200;\n    and.pred %p6, %p6, %p7;");
        self.put(&format!("@%p6 bra {label};"));
    }

    fn store(&mut self, rng: &mut Rng) {
        let number = self.number(rng);
        let offset = 4 * rng.i32(-2..3);
        let guard =
            if rng.u8(0..4) == 0 { format!("@{} ", self.compare(rng)) } else { String::new() };
        self.put(&format!(
            "mul.wide.{} %rd1, {number}, 4;",
            if rng.bool() { "s32" } else { "u32" }
        ));
        self.put(&format!(
            // The same number whoever writes it: threads that write one word come in any order.
            "add.s64 %rd2, %x, %rd1;\n    {guard}st.global.u32 [%rd2+{offset}], 7;"
        ));
    }
}

fn random_kernel(name: &str, rng: &mut Rng) -> String {
    let numbers = ["%i", "%t", "%i", "%t", "%n"].map(str::to_owned).to_vec();
    let mut program = Program { text: String::new(), numbers, next: 0, labels: 0 };
    program.statements(rng, 2);
    program.statements(rng, 1);
    program.store(rng);
    while program.next > 57 {
        program =
            Program { text: String::new(), numbers: vec!["%i".to_owned()], next: 0, labels: 0 };
        program.store(rng);
    }
    let Program { text, .. } = program;
    kernel(name, &text)
}

/// How many cases are tried: `WARPAINT_PROOFS`.
fn cases() -> u64 {
    env::var("WARPAINT_PROOFS").ok().and_then(|count| count.parse().ok()).unwrap_or(60)
}

/// Random kernels: where the host says that no check is needed, the version with all checks tells of nothing, and the
/// one without writes the same.
#[test]
fn what_is_proved_is_so() {
    let device = Device::cpu().unwrap();
    let (mut proved, mut open) = (0, 0);
    for case in 0..cases() {
        let mut rng = Rng::with_seed(case);
        let kernels: String =
            (0..16).map(|at| random_kernel(&format!("k{at}"), &mut rng)).collect();
        let text = format!("{HEAD}{kernels}");
        let bench = Bench::new(&device, &text);
        for kernel in &bench.guarded.kernels {
            let name = &kernel.name;
            let memory = device.alloc(4 * rng.usize(40..400)).unwrap();
            let known: [&Memory; 1] = [&memory];
            let mut arguments = Arguments::new();
            arguments.push(&memory.address()).push(&rng.u32(0..150)).push(&1_u64);
            let config = LaunchConfig::new(rng.u32(1..4), rng.u32(1..48));
            let before = bench.proved.get();
            let (function, all) =
                (bench.kernel(name).1, bench.with_words(kernel, &arguments, &known));
            let results = [true, false].map(|checked| {
                let zeros = vec![0; memory.bytes()];
                bench.stream.upload(memory.slice(..).unwrap(), &zeros).unwrap();
                bench.prepare(&known, Stop::Never);
                let ended = fault(match checked {
                    true => run(&bench.stream, &function, &config, &all),
                    false => bench.launch(name, &config, &arguments, &known),
                });
                // The device checks everything itself.
                assert!(ended.is_none(), "case {case}, {name}: {ended:?}\n{text}");
                let read = bench.stream.download(memory.slice(..).unwrap()).unwrap();
                let told = bench
                    .told(&known)
                    .map(|told| (told.record.address, told.fault.thread, told.fault.block));
                (told, read.wait().unwrap())
            });
            match bench.proved.get() > before {
                true => proved += 1,
                false => open += 1,
            }
            let [(told, content), (other, other_content)] = &results;
            // Where a loop looks at no flag other threads come first, and may be told of in place of one another.
            let same = told.is_none() && other.is_none() && content == other_content;
            assert!(
                same || told.is_some() && other.is_some(),
                "case {case}, {name}: {told:?} {other:?}\n{text}"
            );
        }
    }
    eprintln!("{proved} proved, {open} not");
    assert!(proved > 100, "{proved} proved, {open} not");
}

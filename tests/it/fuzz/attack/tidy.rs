//! Kernels without loops whose accesses lie at constant distances from thread to thread, or nearly so: what the
//! compiler checks once for a row of threads. They read `b` and write `a`, each thread its own bytes unless an index
//! leads elsewhere, so that every engine must end them alike.

use std::fmt::Write as _;

use super::{
    operand::bytes_of,
    writer::{Writer, pick},
};

/// Bytes of `a` that are a thread's own.
const OWN: i64 = 64;

impl Writer {
    /// The rest of a kernel behind its declarations.
    pub fn tidy(mut self) -> String {
        self.plain("ld.param.u32 %r3, [n];\nld.param.u32 %r4, [m];");
        self.plain("mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r5, %ntid.x;");
        self.plain("mad.lo.u32 %r2, %r1, %r5, %r0;");
        // What nobody has written differs from engine to engine.
        self.plain("mov.b64 %d6, 7;\nmov.b16 %h0, 3;\nmov.u32 %r12, 1;\nmov.u32 %r13, 2;");
        (6..12).for_each(|to| self.plain(&format!("mov.u32 %r{to}, {to};")));
        (0..4).for_each(|to| self.plain(&format!("mov.f32 %f{to}, 0f3f800000;")));
        (6..12).for_each(|to| self.index(to));
        while self.left > 0 {
            self.left -= 1;
            self.tidy_statement();
        }
        self.plain("ret;\n}");
        self.out
    }

    fn tidy_statement(&mut self) {
        match self.rng.u32(0..10) {
            0..4 => self.read(),
            4..7 => self.write(),
            7 => {
                let to = self.rng.u32(6..12);
                self.index(to);
            }
            8 if self.depth < 2 => {
                self.depth += 1;
                let end = self.label();
                let (p, a, b) = (self.predicate(), self.any_index(), self.bound());
                let compare = pick(&mut self.rng, &["lt", "ge", "eq", "ne", "gt", "le"]);
                let ty = pick(&mut self.rng, &["u32", "s32"]);
                let _ = writeln!(self.out, "setp.{compare}.{ty} {p}, {a}, {b};");
                let leave = self.rng.u32(0..4) == 0;
                if leave {
                    let _ = writeln!(self.out, "@{p} ret;");
                } else {
                    let _ = writeln!(self.out, "@{p} bra {end};");
                    for _ in 0..self.rng.u32(1..4) {
                        self.tidy_statement();
                    }
                    let _ = writeln!(self.out, "{end}:");
                }
                self.depth -= 1;
            }
            _ => {
                let (to, from, other) =
                    (self.rng.u32(12..14), self.rng.u32(12..14), self.any_index());
                let way = pick(
                    &mut self.rng,
                    &["add.u32", "xor.b32", "mul.lo.u32", "min.u32", "max.s32", "and.b32"],
                );
                let _ = writeln!(self.out, "{way} %r{to}, %r{from}, {other};");
            }
        }
    }

    fn any_index(&mut self) -> String {
        pick(&mut self.rng, &["%r0", "%r2", "%r2", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11"])
            .to_owned()
    }

    fn bound(&mut self) -> String {
        match self.rng.u32(0..4) {
            0 => "%r3".to_owned(),
            1 => self.any_index(),
            _ => pick(
                &mut self.rng,
                &["0", "1", "4", "8", "16", "31", "32", "33", "64", "-1", "2147483647"],
            )
            .to_owned(),
        }
    }

    /// A number that goes up with the threads by a constant, or wraps on its way, or does something else.
    fn index(&mut self, to: u32) {
        let from = if self.rng.bool() {
            pick(&mut self.rng, &["%r0", "%r2", "%r2"]).to_owned()
        } else {
            self.any_index()
        };
        let near = self.rng.i64(-4..40);
        let far = pick(
            &mut self.rng,
            &[
                "-16",
                "-1",
                "4294967264",
                "2147483632",
                "1073741824",
                "16777216",
                "-2147483648",
                "4294967295",
            ],
        );
        let text = match self.rng.u32(0..16) {
            0 | 1 => format!("add.s32 %r{to}, {from}, {near};"),
            2 => format!("add.s32 %r{to}, {from}, {far};"),
            3 => format!("sub.s32 %r{to}, {near}, {from};"),
            4 => format!(
                "mul.lo.s32 %r{to}, {from}, {};",
                pick(&mut self.rng, &["2", "3", "4", "0", "-1", "65536"])
            ),
            5 => format!("shl.b32 %r{to}, {from}, {};", self.rng.u32(0..34)),
            6 => format!("shr.u32 %r{to}, {from}, {};", self.rng.u32(0..8)),
            7 => format!(
                "and.b32 %r{to}, {from}, {};",
                pick(&mut self.rng, &["31", "15", "3", "-4", "-32", "1", "28"])
            ),
            8 => format!("mad.lo.s32 %r{to}, {from}, {}, %r3;", self.rng.u32(0..4)),
            9 => format!("add.s32 %r{to}, {from}, %r3;"),
            10 => format!(
                "rem.u32 %r{to}, {from}, {};",
                pick(&mut self.rng, &["32", "7", "%r3", "4"])
            ),
            11 => format!(
                "div.u32 %r{to}, {from}, {};",
                pick(&mut self.rng, &["32", "2", "%r3", "4"])
            ),
            12 => format!(
                "min.u32 %r{to}, {from}, {};",
                pick(&mut self.rng, &["31", "63", "%r3", "7"])
            ),
            13 => {
                let (p, other) = (self.predicate(), self.any_index());
                let bound = self.bound();
                let _ = writeln!(self.out, "setp.lt.u32 {p}, {from}, {bound};");
                format!("selp.b32 %r{to}, {from}, {other}, {p};")
            }
            14 => format!("cvt.u32.u16 %r{to}, %h0;\nadd.u32 %r{to}, %r{to}, {from};"),
            _ => format!("mov.u32 %r{to}, {from};"),
        };
        self.plain(&text);
    }

    /// `%d<to>`: `base` plus a multiple of an index.
    fn place(&mut self, to: u32, index: &str, step: i64, base: &str) {
        let sign = pick(&mut self.rng, &["u32", "u32", "s32"]);
        let text = match self.rng.u32(0..8) {
            0 | 1 => format!("mad.wide.{sign} %d{to}, {index}, {step}, {base};"),
            2 if (step as u64).is_power_of_two() => {
                let shift = step.trailing_zeros();
                let wide = if sign == "u32" { "cvt.u64.u32" } else { "cvt.s64.s32" };
                format!(
                    "{wide} %d{to}, {index};\nshl.b64 %d{to}, %d{to}, {shift};\nadd.s64 %d{to}, {base}, %d{to};"
                )
            }
            3 => format!(
                "mul.lo.u32 %r12, {index}, {step};\ncvt.u64.u32 %d{to}, %r12;\nadd.s64 %d{to}, {base}, %d{to};"
            ),
            4 => {
                let half = step / 2;
                format!(
                    "mul.wide.{sign} %d{to}, {index}, {half};\nadd.s64 %d{to}, %d{to}, %d{to};\n\
                     add.s64 %d{to}, {base}, %d{to};"
                )
            }
            5 => format!(
                "cvt.u64.u32 %d{to}, {index};\nmul.lo.u64 %d{to}, %d{to}, {step};\nadd.s64 %d{to}, {base}, %d{to};"
            ),
            6 => {
                // The first thread lies before the array.
                let back = step * self.rng.i64(1..40);
                format!(
                    "mul.wide.{sign} %d{to}, {index}, {step};\nsub.s64 %d15, {base}, {back};\n\
                     add.s64 %d{to}, %d15, %d{to};\nadd.s64 %d{to}, %d{to}, {back};"
                )
            }
            _ => {
                format!("mul.wide.{sign} %d{to}, {index}, {step};\nadd.s64 %d{to}, {base}, %d{to};")
            }
        };
        self.plain(&text);
    }

    fn read(&mut self) {
        let ty = pick(&mut self.rng, &["u32", "u32", "f32", "u64", "u16", "u8", "s8"]);
        let lanes = if bytes_of(ty) == 4 { pick(&mut self.rng, &[1, 1, 1, 2, 4]) } else { 1 };
        let bytes = bytes_of(ty) * lanes;
        let step = bytes * pick(&mut self.rng, &[1, 1, 1, 2, 3, 4, 8]);
        let index = self.any_index();
        self.place(14, &index, step, "%d1");
        let offset = bytes * self.rng.i64(-2..12);
        let vector = if lanes > 1 { format!(".v{lanes}") } else { String::new() };
        let register = |n: i64| match ty {
            "u32" => format!("%r{}", 12 + n % 2),
            "f32" => format!("%f{n}"),
            "u64" => "%d6".to_owned(),
            _ => "%h0".to_owned(),
        };
        let to = match lanes {
            1 => register(self.rng.i64(0..2)),
            2 => format!("{{{}, {}}}", register(0), register(1)),
            _ => match ty {
                "f32" => "{%f0, %f1, %f2, %f3}".to_owned(),
                _ => "{%r12, %r13, %r10, %r11}".to_owned(),
            },
        };
        let space = pick(&mut self.rng, &[".global", ".global", "", ".global.nc"]);
        let _ = writeln!(self.out, "ld{space}{vector}.{ty} {to}, [%d14+{offset}];");
    }

    fn write(&mut self) {
        let (ty, lanes) = pick(
            &mut self.rng,
            &[
                ("u32", 1),
                ("u32", 1),
                ("f32", 1),
                ("u64", 1),
                ("u32", 2),
                ("f32", 4),
                ("u32", 4),
                ("u8", 1),
            ],
        );
        let bytes = bytes_of(ty) * lanes;
        let index = if self.rng.u32(0..4) > 0 { "%r2".to_owned() } else { self.any_index() };
        self.place(13, &index, OWN, "%d0");
        let offset = bytes * self.rng.i64(0..OWN / bytes);
        let value = match (ty, lanes) {
            ("f32", 1) => "%f1".to_owned(),
            ("f32", _) => "{%f0, %f1, %f2, %f3}".to_owned(),
            ("u64", _) => "%d6".to_owned(),
            ("u8", _) => "%h0".to_owned(),
            (_, 1) => pick(&mut self.rng, &["%r12", "%r13", "%r6", "%r7"]).to_owned(),
            (_, 2) => "{%r12, %r8}".to_owned(),
            _ => "{%r12, %r13, %r6, %r9}".to_owned(),
        };
        let vector = if lanes > 1 { format!(".v{lanes}") } else { String::new() };
        let _ = writeln!(self.out, "st.global{vector}.{ty} [%d13+{offset}], {value};");
    }
}

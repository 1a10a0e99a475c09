//! Single instructions on the pool, and what makes their results defined.

use std::fmt::Write as _;

use super::{
    super::{
        compare,
        spec::{self, Form, Place},
        values,
    },
    Writer, pick,
};

impl Writer<'_> {
    pub(super) fn instruction(&mut self) {
        let rows = match self.rng.u32(0..10) {
            0..5 => &spec::INTEGER,
            5..=7 => &spec::FLOAT,
            8 => &spec::HALF,
            _ if self.modern => &spec::SM90,
            _ => &spec::INTEGER,
        };
        let form = loop {
            let form = spec::random(self.rng, rows);
            // NVIDIA's assembler keeps the truth of a comparison, and makes a number of it too late for what reads
            // bits.
            let truth = form.mnemonic.starts_with("set.")
                && matches!(&form.destinations[..], [Place::Value(ty)] if ty.starts_with('f'));
            if !truth && !is_left_out(&form.mnemonic) && (!self.fast || is_fast(&form.mnemonic)) {
                break form;
            }
        };
        let guard = match self.rng.u32(0..12) {
            _ if is_forgetful(&form.mnemonic) => String::new(),
            0 => format!("@{} ", self.predicate()),
            1 => format!("@!{} ", self.predicate()),
            _ => String::new(),
        };
        self.write_guarded(&form, &guard);
    }

    /// The instruction with registers of the pool; those that it writes.
    pub fn write_guarded(&mut self, form: &Form, guard: &str) -> Vec<String> {
        let sources: Vec<String> = form
            .sources
            .iter()
            .enumerate()
            .map(|(at, place)| self.source(at, place, allows_constants(&form.mnemonic)))
            .collect();
        let mut destinations: Vec<String> = Vec::new();
        for place in &form.destinations {
            let Place::Value(ty) = place else { continue };
            let mut register = self.register(ty);
            while destinations.contains(&register) {
                register = self.register(ty);
            }
            destinations.push(register);
        }
        let _ = writeln!(
            self.out,
            "{guard}{} {}{}{};",
            form.mnemonic,
            destinations.join("|"),
            if sources.is_empty() { "" } else { ", " },
            sources.join(", ")
        );
        let moves = ["mov", "selp", "slct"].iter().any(|word| form.mnemonic.starts_with(word));
        if let (Some(Place::Value(ty)), Some(register), false) =
            (form.destinations.first(), destinations.first(), moves)
        {
            let ty = if form.mnemonic.contains("tf32") { "tf32" } else { ty };
            self.one_nan(ty, register);
        }
        destinations
    }

    fn register(&mut self, ty: &str) -> String {
        match ty {
            "pred" => self.predicate(),
            // Narrow values lie in registers of any width.
            "u8" | "s8" => match self.rng.u32(0..3) {
                0 => self.half(),
                1 => self.word(),
                _ => self.wide(),
            },
            "b16" | "u16" | "s16" | "f16" | "bf16" | "e4m3x2" | "e5m2x2" => self.half(),
            "b64" | "u64" | "s64" | "f64" | "f32x2" => self.wide(),
            _ => self.word(),
        }
    }

    fn source(&mut self, at: usize, place: &Place, constants: bool) -> String {
        match place {
            Place::Byte => format!("{:#x}", self.rng.u8(..)),
            Place::Amount if constants && self.rng.bool() => self.rng.u32(0..70).to_string(),
            Place::Amount => {
                let (word, mask) = (self.word(), pick(self.rng, &[31, 63, 255]));
                let to = if at == 1 { "%tr" } else { "%ts" };
                let _ = writeln!(self.out, "and.b32 {to}, {word}, {mask};");
                to.to_owned()
            }
            Place::Small => {
                let word = self.word();
                let to = if at == 1 { "%tr" } else { "%ts" };
                let _ = writeln!(self.out, "and.b32 {to}, {word}, 31;");
                to.to_owned()
            }
            Place::Divisor(ty) => {
                let register = self.register(ty);
                let (to, bits) = match ty.as_str() {
                    "u16" | "s16" => ("%th", 16),
                    "u64" | "s64" => ("%td", 64),
                    _ => ("%tr", 32),
                };
                let _ = writeln!(
                    self.out,
                    "setp.eq.b{bits} %tp, {register}, 0;\nselp.b{bits} {to}, 13, {register}, %tp;"
                );
                to.to_owned()
            }
            Place::Value(ty) if constants && at > 0 && self.one_in(5) => self.constant(ty),
            Place::Value(ty) => self.register(ty),
            Place::Vector(ty, count) => {
                let parts: Vec<String> = (0..*count).map(|_| self.register(ty)).collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    fn constant(&mut self, ty: &str) -> String {
        let word = values::word(self.rng);
        let wide = values::wide(self.rng);
        match ty {
            "u16" | "b16" => (word as u16).to_string(),
            "s16" => (word as i16).to_string(),
            "u32" | "b32" => word.to_string(),
            "s32" => (word as i32).to_string(),
            "u64" | "b64" => format!("{wide:#x}"),
            "s64" => (wide as i64).max(-i64::MAX).to_string(),
            "f32" => format!("0f{word:08X}"),
            "f64" => format!("0d{wide:016X}"),
            _ => self.register(ty),
        }
    }

    /// The ISA says when a result is NaN, but not which.
    fn one_nan(&mut self, ty: &str, register: &str) {
        let text = match ty {
            "f32" => single_nan(register),
            "f32x2" => format!(
                "mov.b64 {{%ts, %tu}}, {register};\n{}\n{}\nmov.b64 {register}, {{%ts, %tu}};",
                single_nan("%ts"),
                single_nan("%tu"),
            ),
            // The low bits are not defined; an H200 makes an infinity of a NaN that has no others.
            "tf32" => format!(
                "and.b32 %tr, {register}, 0x7fffffff;\nsetp.ge.u32 %tp, %tr, 0x7f800000;\n\
                 and.b32 {register}, {register}, 0xffffe000;\n\
                 selp.b32 {register}, 0x7fc00000, {register}, %tp;"
            ),
            "f64" => format!(
                "and.b64 %td, {register}, 0x7fffffffffffffff;\n\
                 setp.gt.u64 %tp, %td, 0x7ff0000000000000;\n\
                 selp.b64 {register}, 0x7ff8000000000000, {register}, %tp;"
            ),
            "f16" | "bf16" => half_nan(ty, register),
            "f16x2" | "bf16x2" => {
                let ty = &ty[..ty.len() - 2];
                format!(
                    "mov.b32 {{%th, %ti}}, {register};\n{}\n{}\nmov.b32 {register}, {{%th, %ti}};",
                    half_nan(ty, "%th").replace("%tx", "%tr"),
                    half_nan(ty, "%ti").replace("%tx", "%tr"),
                )
            }
            _ => return,
        };
        self.line(&text);
    }
}

fn single_nan(register: &str) -> String {
    format!(
        "and.b32 %tr, {register}, 0x7fffffff;\nsetp.gt.u32 %tp, %tr, 0x7f800000;\n\
         selp.b32 {register}, 0x7fc00000, {register}, %tp;"
    )
}

fn half_nan(ty: &str, register: &str) -> String {
    let infinity = if ty == "f16" { 0x7c00 } else { 0x7f80 };
    format!(
        "cvt.u32.u16 %tr, {register};\nand.b32 %tr, %tr, 0x7fff;\nsetp.gt.u32 %tp, %tr, {infinity};\n\
         selp.b16 {register}, 0x7fff, {register}, %tp;"
    )
}

/// Whether constants may stand among the operands: not of video instructions, and where NVIDIA's assembler computes
/// `bfe` of constants beyond the width itself, it has the sign wrong.
fn allows_constants(mnemonic: &str) -> bool {
    !mnemonic.starts_with('v') && !mnemonic.starts_with("bfe")
}

/// Whether NVIDIA's assembler (of driver 580, with and without optimisation) forgets what was there before where a
/// guard does not hold.
pub fn is_forgetful(mnemonic: &str) -> bool {
    let sums = ["vadd4.u32.u32.u32.add", "vsub4.u32.u32.u32.add"];
    ["set.", "testp."].iter().any(|start| mnemonic.starts_with(start)) || sums.contains(&mnemonic)
}

/// Whether an instruction is not compared, since an NVIDIA device takes part that computes something else.
pub fn is_left_out(mnemonic: &str) -> bool {
    compare::asks_nvidia() && is_unlike_on_nvidia(mnemonic)
}

/// Whether NVIDIA's assembler (of driver 580) gives something else than what the PTX ISA's pseudo-code says.
///
/// It has scalar video instructions emulated: where they saturate, shift a product, or take a minimum or maximum of
/// an intermediate result, that has fewer bits than the ISA's. And of a NaN whose payload is lost it makes an infinity,
/// which `.satfinite` then makes the greatest number. Rounding up or down to halves does not flush.
fn is_unlike_on_nvidia(mnemonic: &str) -> bool {
    let (opcode, rest) = mnemonic.split_once('.').unwrap_or((mnemonic, ""));
    let has = |words: &[&str]| rest.split('.').any(|word| words.contains(&word));
    match opcode {
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" => {
            has(&["sat", "min", "max", "shr7", "shr15"])
        }
        "cvt" if has(&["tf32"]) => has(&["satfinite"]),
        "cvt" => rest.ends_with("f16.f32") && has(&["ftz"]) && has(&["rp", "rm"]),
        _ => false,
    }
}

/// Whether a kernel of only such instructions may run with subnormals flushed by the processor.
fn is_fast(mnemonic: &str) -> bool {
    let single = mnemonic.ends_with(".f32") || mnemonic.contains(".f32.");
    let flushes = mnemonic.contains(".ftz");
    let moves = ["set", "sel", "slct", "cvt"].iter().any(|word| mnemonic.starts_with(word));
    !mnemonic.contains("f64") && (!single || flushes || moves)
}

//! Operands that are right for their place, and at times of any other kind.

use super::writer::{Writer, pick};

/// Something with a name and an address: where it lies, its name, how long it is in bytes.
type Symbol = (&'static str, &'static str, i64);

/// Variables of the module.
const MODULE: &[Symbol] = &[
    ("global", "gvar", 64),
    ("global", "gcell", 8),
    ("global", "gtab", 64),
    ("const", "cvar", 32),
    ("const", "ctab", 16),
    ("shared", "svar", 128),
    ("shared", "sodd", 3),
    ("shared", "dyn", 0),
];
/// Variables that every function declares.
const LOCAL: &[Symbol] = &[
    ("local", "loc", 48),
    ("local", "lodd", 5),
    ("param", "prm", 8),
    ("param", "pblk", 32),
    ("param", "podd", 3),
];
/// Parameters of the kernel.
const OF_KERNEL: &[Symbol] = &[
    ("param", "a", 8),
    ("param", "b", 8),
    ("param", "c", 8),
    ("param", "x", 8),
    ("param", "y", 8),
    ("param", "z", 8),
    ("param", "n", 4),
    ("param", "m", 4),
    ("param", "blob", 32),
    ("shared", "ksh", 16),
];
/// Parameters and result of a device function.
const OF_FUNCTION: &[Symbol] = &[("param", "fa", 8), ("param", "fb", 4), ("param", "fr", 8)];
/// What has an address and is no memory.
const FUNCTIONS: &[&str] = &["f0", "f1", "f2", "f3", "malloc", "free", "vprintf", "k", "other"];

/// State spaces as they are spelt in front of a type.
pub const SPACES: &[&str] = &[
    "",
    ".global",
    ".shared",
    ".local",
    ".param",
    ".const",
    ".shared::cta",
    ".param::entry",
    ".param::func",
];

/// The state space that a modifier names.
fn base_of(space: &str) -> &'static str {
    match space {
        "" => "generic",
        ".shared" | ".shared::cta" => "shared",
        ".local" => "local",
        ".const" => "const",
        space if space.starts_with(".param") => "param",
        _ => "global",
    }
}

impl Writer {
    /// All symbols that the function sees.
    fn symbols(&self) -> impl Iterator<Item = &'static Symbol> {
        let own = if self.is_kernel { OF_KERNEL } else { OF_FUNCTION };
        MODULE.iter().chain(LOCAL).chain(own)
    }

    /// A symbol of any kind, functions among them.
    pub fn any_symbol(&mut self) -> String {
        if self.rng.u32(0..6) == 0 {
            return pick(&mut self.rng, FUNCTIONS).to_owned();
        }
        let all: Vec<&str> = self.symbols().map(|(_, name, _)| *name).collect();
        pick(&mut self.rng, &all).to_owned()
    }

    fn symbol_in(&mut self, space: &str) -> Option<(&'static str, i64)> {
        let base = base_of(space);
        let fits = |symbol: &&Symbol| symbol.0 == base || base == "generic" && symbol.0 == "global";
        let all: Vec<_> =
            self.symbols().filter(fits).map(|(_, name, bytes)| (*name, *bytes)).collect();
        (!all.is_empty()).then(|| pick(&mut self.rng, &all))
    }

    /// A distance of bytes that may lead anywhere.
    pub fn wild_offset(&mut self) -> i64 {
        let power = 1i64.wrapping_shl(self.rng.u32(0..64));
        match self.rng.u32(0..8) {
            0 => power,
            1 => power.wrapping_neg(),
            2 => power.wrapping_sub(1),
            3 => 0xffff,
            4 => self.rng.i64(-64..64),
            5 => 0x1_0000 - self.rng.i64(0..40),
            6 => self.rng.i64(..),
            _ => self.rng.i64(0..80),
        }
    }

    /// An address operand for an access of `bytes` in a state space.
    pub fn address(&mut self, space: &str, bytes: i64) -> String {
        if self.hostile() {
            return self.wild_address();
        }
        let by_register = match base_of(space) {
            "global" | "generic" => self.rng.u32(0..10) < 8,
            "shared" => self.rng.u32(0..10) < 4,
            "local" => self.rng.u32(0..10) < 2,
            _ => false,
        };
        if by_register {
            let base = match base_of(space) {
                "shared" => pick(&mut self.rng, &["%r8", "%r9", "%r10"]).to_owned(),
                "local" => "%d12".to_owned(),
                _ => self.pointer(),
            };
            let offset = if self.rng.bool() { 0 } else { bytes * self.rng.i64(0..6) };
            return format!("[{base}{}]", plus(offset));
        }
        match self.symbol_in(space) {
            Some((name, size)) => {
                let places = (size / bytes.max(1)).max(1);
                let offset = bytes * self.rng.i64(0..places);
                format!("[{name}{}]", plus(offset))
            }
            None => self.wild_address(),
        }
    }

    fn wild_address(&mut self) -> String {
        let offset = if self.rng.bool() { 0 } else { self.wild_offset() };
        let base = match self.rng.u32(0..12) {
            0..5 => self.any_symbol(),
            5..9 => self.wide(),
            9 | 10 => self.word(),
            _ => return format!("[{}]", self.wild_offset()),
        };
        format!("[{base}{}]", plus(offset))
    }

    /// A register that most likely holds an address of the arrays.
    pub fn pointer(&mut self) -> String {
        pick(
            &mut self.rng,
            &["%d0", "%d1", "%d2", "%d7", "%d7", "%d8", "%d8", "%d9", "%d10", "%d11"],
        )
        .to_owned()
    }

    pub fn word(&mut self) -> String {
        format!("%r{}", self.rng.u32(0..14))
    }

    pub fn wide(&mut self) -> String {
        format!("%d{}", self.rng.u32(0..16))
    }

    pub fn predicate(&mut self) -> String {
        format!("%p{}", self.rng.u32(0..6))
    }

    /// A register of a type's width.
    pub fn register(&mut self, ty: &str) -> String {
        let n = self.rng.u32(0..4);
        match ty {
            "pred" => self.predicate(),
            "b8" | "u8" | "s8" | "b16" | "u16" | "s16" | "f16" | "bf16" => format!("%h{n}"),
            "f32" if self.rng.bool() => format!("%f{n}"),
            "f64" if self.rng.bool() => format!("%e{n}"),
            "b64" | "u64" | "s64" | "f64" | "f32x2" => self.wide_by_kind(ty),
            "b128" => format!("%q{}", n % 2),
            _ if ty == "f32" => format!("%f{n}"),
            _ => self.word(),
        }
    }

    fn wide_by_kind(&mut self, ty: &str) -> String {
        if ty == "f64" { format!("%e{}", self.rng.u32(0..4)) } else { self.wide() }
    }

    /// A value of a type as a source.
    pub fn source(&mut self, ty: &str) -> String {
        let bytes = bytes_of(ty);
        match self.rng.u32(0..12) {
            0 if self.hostile() && matches!(bytes, 4 | 8) && !ty.starts_with('f') => {
                let symbol = self.any_symbol();
                if self.rng.bool() {
                    symbol
                } else {
                    format!("{symbol}{}", plus(self.wild_offset()))
                }
            }
            1 | 2 if !ty.contains('f') && bytes <= 8 => self.wild_offset().to_string(),
            3 if bytes == 4 && !ty.starts_with('f') => pick(
                &mut self.rng,
                &[
                    "%tid.x",
                    "%ctaid.x",
                    "%ntid.x",
                    "%laneid",
                    "%tid.y",
                    "%nctaid.x",
                    "WARP_SZ",
                    "%lanemask_lt",
                ],
            )
            .to_owned(),
            _ => self.register(ty),
        }
    }

    /// So many values of a type, in braces where there are several; now and then too many or too few.
    pub fn lanes(&mut self, ty: &str, lanes: i64, written: bool) -> String {
        let odd = self.rng.u32(0..40) == 0 && self.hostile();
        let count = if odd { pick(&mut self.rng, &[1, 2, 3, 4, 8]) } else { lanes };
        let one = |writer: &mut Self| match writer.rng.u32(0..20) {
            0 if written && count > 1 => "_".to_owned(),
            _ if written => writer.register(ty),
            _ => writer.source(ty),
        };
        if count == 1 {
            return one(self);
        }
        let list: Vec<String> = (0..count).map(|_| one(self)).collect();
        format!("{{{}}}", list.join(", "))
    }
}

/// An offset behind a base.
pub fn plus(offset: i64) -> String {
    match offset {
        0 => String::new(),
        i64::MIN => "+9223372036854775808".to_owned(),
        1.. => format!("+{offset}"),
        _ => format!("-{}", offset.unsigned_abs()),
    }
}

/// Bytes of a type by its spelling.
pub fn bytes_of(ty: &str) -> i64 {
    match ty {
        "f16x2" | "bf16x2" | "u16x2" | "s16x2" => 4,
        _ => {
            ty.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse::<i64>().unwrap_or(8) / 8
        }
    }
}

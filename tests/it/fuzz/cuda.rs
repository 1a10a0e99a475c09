//! Random CUDA C++ that is C++ for the host's compiler, too: expressions, loops, arrays, structures, device functions.
//! Nothing in it is undefined: signed numbers do not overflow, divisors are not zero, shifts and indices are masked,
//! floats are converted to integers only where they fit, and products are not contracted with sums.

use crate::skip::{Need, skip};
use std::{
    fmt::Write as _,
    fs::{self, File},
    path::PathBuf,
    process::{Command, Stdio},
};

use fastrand::Rng;
use tempfile::TempDir;
use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};

/// Bytes that a thread reads, and writes.
pub const BYTES: usize = 64;

/// What both compilers read first.
pub const PRELUDE: &str = r"
typedef unsigned int u32; typedef unsigned long long u64; typedef long long s64;
struct S { u32 a; short b; float c; double d; unsigned char e; int f; };
__device__ u32 bits(float x) { union { float f; u32 u; } v; v.f = x; return x != x ? 0x7fc00000u : v.u; }
__device__ u64 bits(double x) { union { double f; u64 u; } v; v.f = x; return x != x ? 0x7ff8000000000000ull : v.u; }
__device__ float f32(u32 x) { union { float f; u32 u; } v; v.u = x; return v.f; }
__device__ double f64(u64 x) { union { double f; u64 u; } v; v.u = x; return v.f; }
__device__ int to_int(double x) { return x > -2e9 && x < 2e9 ? (int)x : 7; }
__device__ s64 to_long(double x) { return x > -9e18 && x < 9e18 ? (s64)x : 9; }
__device__ u32 to_unsigned(float x) { return x >= 0.0f && x < 4e9f ? (u32)x : 3u; }
__device__ int over(int a, int b) { return b == 0 || b == -1 ? a : a / b; }
__device__ int rest(int a, int b) { return b == 0 || b == -1 ? 1 : a % b; }
__device__ s64 over(s64 a, s64 b) { return b == 0 || b == -1 ? a : a / b; }
__device__ u32 over(u32 a, u32 b) { return b == 0 ? a : a / b; }
__device__ u32 rest(u32 a, u32 b) { return b == 0 ? a : a % b; }
__device__ u64 over(u64 a, u64 b) { return b == 0 ? a : a / b; }
__device__ u64 rest(u64 a, u64 b) { return b == 0 ? a : a % b; }
";

/// What makes the host's compiler take CUDA C++.
pub const HOST: &str = r#"
#include <cstdio>
#include <cmath>
#include <vector>
#define __device__ static
#define __global__
#define __noinline__ __attribute__((noinline))
struct Dim { unsigned x; };
static Dim blockIdx, blockDim, threadIdx;
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
static int __ffs(unsigned x) { return __builtin_ffs(x); }
static unsigned __umulhi(unsigned a, unsigned b) { return ((unsigned long long)a * b) >> 32; }
static unsigned __brev(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i); return r; }
static unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { s &= 31; return s ? hi << s | lo >> (32 - s) : hi; }
static unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
    unsigned long long v = (unsigned long long)b << 32 | a; unsigned r = 0;
    for (int i = 0; i < 4; ++i) r |= (unsigned)(v >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
    return r;
}
"#;

/// Reads all threads' words from standard input, writes what the kernel makes of them.
pub const MAIN: &str = "
int main(int, char **arguments) {
    unsigned threads = 0; sscanf(arguments[1], \"%u\", &threads);
    std::vector<u64> in(threads * 8), out(threads * 8);
    if (fread(in.data(), 64, threads, stdin) != threads) return 1;
    blockDim.x = 32;
    for (unsigned t = 0; t < threads; ++t) { blockIdx.x = t / 32; threadIdx.x = t % 32; k(in.data(), out.data()); }
    return fwrite(out.data(), 64, threads, stdout) != threads;
}
";

/// Kinds of values, each with variables `u0`, `u1`, … and so on.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Unsigned,
    Int,
    Wide,
    Long,
    Float,
    Double,
}

use Kind::{Double, Float, Int, Long, Unsigned, Wide};

const KINDS: [Kind; 6] = [Unsigned, Int, Wide, Long, Float, Double];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Unsigned => "u32",
            Int => "int",
            Wide => "u64",
            Long => "s64",
            Float => "float",
            Double => "double",
        }
    }

    fn letter(self) -> char {
        match self {
            Unsigned => 'u',
            Int => 'i',
            Wide => 'w',
            Long => 'l',
            Float => 'f',
            Double => 'd',
        }
    }
}

struct Writer<'a> {
    rng: &'a mut Rng,
    out: String,
    functions: u32,
    loops: u32,
    /// In a device function there is no `array` and no `s`.
    is_kernel: bool,
}

/// The functions and the kernel `k(const u64 *in, u64 *out)`, without [`PRELUDE`].
pub fn kernel(rng: &mut Rng) -> String {
    let functions = rng.u32(0..3);
    let mut writer = Writer { rng, out: String::new(), functions: 0, loops: 0, is_kernel: false };
    for index in 0..functions {
        writer.function(index);
        writer.functions = index + 1;
    }
    writer.is_kernel = true;
    writer.kernel();
    writer.out
}

fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(0..list.len())]
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn function(&mut self, index: u32) {
        let inline = pick(self.rng, &["", "__noinline__ ", "__noinline__ "]);
        let _ = writeln!(
            self.out,
            "__device__ {inline}u32 g{index}(u32 u0, int i0, u64 w0, float f0, double d0, S &s, int depth) {{"
        );
        self.line("u32 u1 = u0; int i1 = 3; u64 w1 = w0 * 3; s64 l0 = (s64)w0, l1 = 5; float f1 = f0; double d1 = d0;");
        let size = self.rng.u32(1..5);
        self.statements(size, 1);
        if self.rng.u32(0..3) == 0 {
            let _ = writeln!(
                self.out,
                "if (depth < 3) u0 ^= g{index}(u0 + 1, i0, w1, f1, d1, s, depth + 1);"
            );
        }
        self.line("s.a += u1; s.c = f0;\nreturn u0 ^ (u32)w0 ^ bits(f1) ^ (u32)bits(d1);\n}");
    }

    fn kernel(&mut self) {
        self.line("extern \"C\" __global__ void k(const u64 *in, u64 *out) {");
        self.line("u32 t = blockIdx.x * blockDim.x + threadIdx.x;\nin += t * 8; out += t * 8;");
        self.line("u32 u0 = (u32)in[0], u1 = (u32)(in[0] >> 32); int i0 = (int)(u32)in[1], i1 = (int)(u32)(in[1] >> 32);");
        self.line("u64 w0 = in[2], w1 = in[3]; s64 l0 = (s64)in[4], l1 = (s64)(in[0] ^ in[3]);");
        self.line("float f0 = f32((u32)in[5]), f1 = f32((u32)(in[5] >> 32)); double d0 = f64(in[6]), d1 = f64(in[7]);");
        self.line("u32 array[8]; for (int j = 0; j < 8; ++j) array[j] = u0 + j;");
        self.line("S s; s.a = u0; s.b = (short)u1; s.c = f0; s.d = d1; s.e = (unsigned char)u0; s.f = i0;");
        let size = self.rng.u32(2..14);
        self.statements(size, 0);
        self.line("u32 sum = 0; for (int j = 0; j < 8; ++j) sum = sum * 31 + array[j];");
        self.line("out[0] = u0 | (u64)u1 << 32; out[1] = (u32)i0 | (u64)(u32)i1 << 32; out[2] = w0; out[3] = w1;");
        self.line("out[4] = (u64)l0 ^ (u64)l1 * 3; out[5] = bits(f0) | (u64)bits(f1) << 32;");
        self.line("out[6] = bits(d0) ^ bits(d1) * 3 ^ bits(s.d);");
        self.line("out[7] = sum ^ (u64)(s.a ^ (u32)s.b ^ bits(s.c) ^ s.e ^ (u32)s.f) << 32;\n}");
    }

    fn statements(&mut self, count: u32, depth: u32) {
        for _ in 0..count {
            match self.rng.u32(0..16) {
                0 if depth < 3 => {
                    let condition = self.condition(2);
                    let _ = writeln!(self.out, "if ({condition}) {{");
                    self.inside(depth);
                    self.line("} else {");
                    self.inside(depth);
                    self.line("}");
                }
                1 if depth < 3 => self.repeat(depth),
                2 if depth < 3 => {
                    let value = self.value(Unsigned, 1);
                    let _ = writeln!(self.out, "switch (({value}) & 7u) {{");
                    for case in 0..self.rng.u32(2..6) {
                        let _ = writeln!(self.out, "case {case}:");
                        self.inside(depth);
                        if self.rng.bool() {
                            self.line("break;");
                        }
                    }
                    self.line("default: u1 += 1;\n}");
                }
                3 if self.is_kernel => {
                    let (index, value) = (self.value(Unsigned, 1), self.value(Unsigned, 2));
                    let _ = writeln!(self.out, "array[({index}) & 7u] ^= {value};");
                }
                4 => {
                    let field = pick(self.rng, &["a", "b", "c", "d", "e", "f"]);
                    let value = match field {
                        "a" => self.value(Unsigned, 2),
                        "b" => format!("(short)({})", self.value(Unsigned, 2)),
                        "c" => self.value(Float, 2),
                        "d" => self.value(Double, 2),
                        "e" => format!("(unsigned char)({})", self.value(Unsigned, 2)),
                        _ => self.value(Int, 2),
                    };
                    let _ = writeln!(self.out, "s.{field} = {value};");
                }
                5 if self.functions > 0 => {
                    let g = self.rng.u32(0..self.functions);
                    let to = self.variable(Unsigned);
                    let _ = writeln!(self.out, "{to} += g{g}(u1, i0, w0, f0, d1, s, 0);");
                }
                _ => {
                    let kind = pick(self.rng, &KINDS);
                    let (to, value) = (self.variable(kind), self.value(kind, 3));
                    let _ = writeln!(self.out, "{to} = {value};");
                }
            }
        }
    }

    fn inside(&mut self, depth: u32) {
        let size = self.rng.u32(1..4);
        self.statements(size, depth + 1);
    }

    fn repeat(&mut self, depth: u32) {
        let j = self.loops;
        self.loops += 1;
        let bound = if self.rng.bool() {
            "5u".to_owned()
        } else {
            format!("({} & 7u)", self.variable(Unsigned))
        };
        let _ = writeln!(self.out, "for (u32 j{j} = 0, n{j} = {bound}; j{j} < n{j}; ++j{j}) {{");
        self.inside(depth);
        if self.rng.u32(0..3) == 0 {
            let condition = self.condition(1);
            let leave = pick(self.rng, &["break", "continue"]);
            let _ = writeln!(self.out, "if ({condition}) {leave};");
        }
        let _ = writeln!(self.out, "u0 += j{j};\n}}");
    }

    fn variable(&mut self, kind: Kind) -> String {
        format!("{}{}", kind.letter(), self.rng.u32(0..2))
    }

    fn condition(&mut self, depth: u32) -> String {
        let kind = pick(self.rng, &KINDS);
        let op = pick(self.rng, &["<", "<=", ">", ">=", "==", "!="]);
        let (a, b) = (self.value(kind, depth - 1), self.value(kind, depth - 1));
        let one = format!("({a}) {op} ({b})");
        if depth > 1 && self.rng.u32(0..4) == 0 {
            let other = self.condition(depth - 1);
            return format!("({one}) {} ({other})", pick(self.rng, &["&&", "||"]));
        }
        one
    }

    fn constant(&mut self, kind: Kind) -> String {
        let (word, wide) = (super::values::word(self.rng), super::values::wide(self.rng));
        match kind {
            Unsigned => format!("{word}u"),
            Int => format!("({})", (word as i32).max(-i32::MAX)),
            Wide => format!("{wide}ull"),
            Long => format!("({}ll)", (wide as i64).max(-i64::MAX)),
            // Of what NVRTC (13.5) knows when it compiles, a signalling NaN becomes an infinity, and a subnormal double
            // the least float instead of zero, as on no device.
            Float if f32::from_bits(word).is_nan() => format!("f32({}u)", word | 1 << 22),
            Double if f64::from_bits(wide).is_nan() => format!("f64({}ull)", wide | 1 << 51),
            Double if f64::from_bits(wide).is_subnormal() => format!("f64({}ull)", wide | 1 << 52),
            Float => format!("f32({word}u)"),
            Double => format!("f64({wide}ull)"),
        }
    }

    fn value(&mut self, kind: Kind, depth: u32) -> String {
        if depth == 0 || self.rng.u32(0..5) == 0 {
            return if self.rng.u32(0..4) == 0 { self.constant(kind) } else { self.variable(kind) };
        }
        if self.rng.u32(0..8) == 0 {
            let condition = self.condition(1);
            let (a, b) = (self.value(kind, depth - 1), self.value(kind, depth - 1));
            return format!("({condition} ? {a} : {b})");
        }
        match kind {
            Unsigned | Wide => self.unsigned(kind, depth - 1),
            Int | Long => self.signed(kind, depth - 1),
            Float | Double => self.float(kind, depth - 1),
        }
    }

    fn unsigned(&mut self, kind: Kind, depth: u32) -> String {
        let mask = if kind == Wide { 63 } else { 31 };
        let (a, b) = (self.value(kind, depth), self.value(kind, depth));
        let name = kind.name();
        match self.rng.u32(0..18) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("({a} & {b})"),
            4 => format!("({a} | ~{b})"),
            5 => format!("({a} ^ {b})"),
            6 => format!("({a} << ({b} & {mask}))"),
            7 => format!("({a} >> ({b} & {mask}))"),
            8 => format!("over({a}, {b})"),
            9 => format!("rest({a}, {b})"),
            10 => format!("({name})(unsigned char)({a})"),
            11 => format!("({name})(short)({a})"),
            12 if kind == Unsigned => {
                let list = [
                    "__popc(A)",
                    "__clz(A)",
                    "__ffs(A)",
                    "__umulhi(A, B)",
                    "__brev(A)",
                    "__funnelshift_l(A, B, A)",
                    "__byte_perm(A, B, 0x3614)",
                    "to_unsigned(f0)",
                    "bits(f1)",
                ];
                let text = pick(self.rng, &list);
                let mut text =
                    text.replace("(A", &format!("({a}")).replace(" A)", &format!(" {a})"));
                text = text.replace(" B", &format!(" {b}"));
                format!("(u32){text}")
            }
            12 => format!("(u64){}", pick(self.rng, &["__popcll(w0)", "__clzll(w1)", "bits(d0)"])),
            13 => format!(
                "({name})({})",
                self.value(if kind == Wide { Unsigned } else { Wide }, depth)
            ),
            14 => format!("({name})({})", self.value(if kind == Wide { Int } else { Long }, depth)),
            15 if self.is_kernel && kind == Unsigned => format!("array[({a}) & 7u]"),
            16 => format!("({name})(({}) < ({}))", self.variable(Int), self.variable(Int)),
            _ => format!("({a} * {b} + {a})"),
        }
    }

    fn signed(&mut self, kind: Kind, depth: u32) -> String {
        let (name, unsigned, wide) =
            if kind == Long { ("s64", "u64", 63) } else { ("int", "u32", 31) };
        let (a, b) = (self.value(kind, depth), self.value(kind, depth));
        match self.rng.u32(0..12) {
            0 => format!("({name})(({unsigned})({a}) + ({unsigned})({b}))"),
            1 => format!("({name})(({unsigned})({a}) - ({unsigned})({b}))"),
            2 => format!("({name})(({unsigned})({a}) * ({unsigned})({b}))"),
            3 => format!("over({a}, {b})"),
            4 if kind == Int => format!("rest({a}, {b})"),
            5 => format!("({a} >> ({b} & {wide}))"),
            6 => format!("({a} < {b} ? {a} : {b})"),
            7 => format!("({a} > {b} ? {a} : {b})"),
            8 => format!("({name})(signed char)({a})"),
            9 if kind == Int => format!("to_int({})", self.value(Double, depth)),
            9 => format!("to_long({})", self.value(Double, depth)),
            10 => format!("({name})({})", self.value(if kind == Long { Int } else { Long }, depth)),
            _ => format!("({a} & ~{b})"),
        }
    }

    fn float(&mut self, kind: Kind, depth: u32) -> String {
        let suffix = if kind == Float { "f" } else { "" };
        let (a, b) = (self.value(kind, depth), self.value(kind, depth));
        match self.rng.u32(0..13) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            3 | 4 => format!("({a} * {b})"),
            5 => format!("({a} / {b})"),
            6 => format!("sqrt{suffix}(fabs{suffix}({a}))"),
            7 => format!("fma{suffix}({a}, {b}, {})", self.variable(kind)),
            8 => format!("(-{a})"),
            9 => format!("({})({})", kind.name(), {
                let from = pick(self.rng, &[Unsigned, Int, Wide, Long]);
                self.value(from, depth)
            }),
            10 => format!(
                "({})({})",
                kind.name(),
                self.value(if kind == Float { Double } else { Float }, depth)
            ),
            11 => {
                let round = pick(self.rng, &["floor", "ceil", "trunc", "rint"]);
                format!("{round}{suffix}({a})")
            }
            _ => format!("fabs{suffix}({a})"),
        }
    }
}

/// NVRTC.
pub struct Nvrtc(Compiler);

impl Nvrtc {
    /// `None`, said aloud, where there is none.
    pub fn find() -> Option<Self> {
        let compiler = Compiler::new(Cache::disabled());
        match compiler.nvrtc() {
            Ok(_) => Some(Self(compiler)),
            Err(error) => {
                skip(Need::Nvrtc, error);
                None
            }
        }
    }

    /// The PTX of a kernel.
    pub fn compile(&self, source: &str, optimised: bool) -> Result<String, String> {
        let source = format!("{PRELUDE}{source}");
        let mut request = Request::new("random.cu", source, Target::CPU);
        request.options = vec!["--fmad=false".to_owned()];
        if !optimised {
            request.options.push("--device-debug".to_owned());
        }
        match self.0.compile(&request) {
            Ok(Outcome::Compiled(compiled)) => Ok(compiled.ptx.to_string()),
            Ok(Outcome::Rejected { log, .. }) => Err(format!("NVRTC rejects it: {log}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The host's C++ compiler.
pub struct Host {
    folder: TempDir,
}

impl Host {
    /// `None`, said aloud, where there is none.
    pub fn find() -> Option<Self> {
        let found = Command::new("g++").arg("--version").output();
        if found.is_ok_and(|output| output.status.success()) {
            return Some(Self { folder: tempfile::tempdir().unwrap() });
        }
        skip(Need::Cpp, "no g++ to compare with");
        None
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the kernel makes of `input`, by the host's compiler.
    pub fn run(&self, source: &str, input: &[u8]) -> Result<Vec<u8>, String> {
        fs::write(self.path("k.cpp"), format!("{HOST}{PRELUDE}{source}{MAIN}")).unwrap();
        let compiled = Command::new("g++")
            .args(["-O1", "-w", "-fwrapv", "-ffp-contract=off", "-fno-strict-aliasing", "-o"])
            .args([self.path("k"), self.path("k.cpp")])
            .output()
            .unwrap();
        if !compiled.status.success() {
            return Err(format!("g++ rejects it: {}", String::from_utf8_lossy(&compiled.stderr)));
        }
        fs::write(self.path("input"), input).unwrap();
        let ran = Command::new(self.path("k"))
            .arg((input.len() / BYTES).to_string())
            .stdin(Stdio::from(File::open(self.path("input")).unwrap()))
            .output()
            .unwrap();
        if ran.status.success() { Ok(ran.stdout) } else { Err(format!("g++: {}", ran.status)) }
    }
}

//! Modules that try to do harm: mostly right instructions, with operands among them whose kinds, spaces, sizes and
//! alignments do not fit, and values that were made to lead astray.

use std::fmt::Write as _;

use fastrand::Rng;

/// What a module tries above all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// A bit of everything.
    Mixed,
    /// No loop and nothing that waits: rows of threads share the checks of their accesses.
    Rows,
    /// As [`Theme::Rows`], reading one array and writing another, so that every engine must give the same.
    Tidy,
    /// Device functions, their frames, parameters and results.
    Calls,
    /// Barriers, and registers that are kept over them.
    Sync,
    /// Textures and surfaces.
    Images,
    /// Copies to shared memory, and barriers that lie there.
    Shared,
}

const THEMES: &[Theme] = &[
    Theme::Mixed,
    Theme::Mixed,
    Theme::Rows,
    Theme::Rows,
    Theme::Tidy,
    Theme::Tidy,
    Theme::Calls,
    Theme::Sync,
    Theme::Images,
    Theme::Shared,
];

pub struct Writer {
    pub rng: Rng,
    pub out: String,
    pub theme: Theme,
    pub is_kernel: bool,
    /// In so many of a hundred places where an operand of another kind could stand, one does.
    hostility: u32,
    labels: u32,
    /// Loop counters taken.
    pub counters: u32,
    /// Nested so deeply in loops and branches.
    pub depth: u32,
    /// Instructions that may still be written.
    pub left: u32,
}

pub fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(0..list.len())]
}

const HEAD: &str = ".address_size 64
.global .align 16 .b8 gvar[64];
.global .align 8 .u64 gcell;
.const .align 16 .b8 cvar[32] = {1, 2, 3, 4, 5, 6, 7, 8};
.shared .align 16 .b8 svar[128];
.shared .align 1 .b8 sodd[3];
.extern .shared .align 16 .b8 dyn[];
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 g, .param .b64 s);
.const .align 1 .b8 cfmt[16] = \"%s %d %*x %p\";
";

/// Device functions: their heads. All have parameters `fa` and `fb` and a result `fr`, whatever those are.
const FUNCTIONS: [&str; 4] = [
    ".func (.param .b64 fr) f0 (.param .b64 fa, .param .b32 fb)",
    ".func (.param .align 16 .b8 fr[32]) f1 (.param .align 8 .b8 fa[24], .param .b16 fb)",
    ".func (.reg .b32 fr) f2 (.reg .b64 fa, .reg .b32 fb)",
    ".func (.param .b64 fr) f3 (.param .b64 fa, .param .b32 fb)",
];

/// Another kernel, whose threads wait for each other.
const OTHER: &str = ".visible .entry other(.param .u64 oa, .param .u64 ob)
{
.reg .b64 %v;
.reg .b32 %t;
ld.param.u64 %v, [oa];
mov.u32 %t, %tid.x;
bar.sync 0;
st.global.u32 [%v], %t;
ret;
}
";

const REGISTERS: &str = ".reg .pred %p<6>;
.reg .b16 %h<4>;
.reg .b32 %r<14>;
.reg .b64 %d<16>;
.reg .f32 %f<4>;
.reg .f64 %e<4>;
.reg .b128 %q<2>;
.reg .b32 %n<8>;
.reg .pred %pn;
.local .align 16 .b8 loc[48];
.local .align 1 .b8 lodd[5];
.param .b64 prm;
.param .align 16 .b8 pblk[32];
.param .align 1 .b8 podd[3];
";

const PARAMETERS: &str = ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 x, .param .u64 y,\n\
     .param .u64 z, .param .u32 n, .param .u32 m";

/// A module with other functions, and the kernel `k`, which has the addresses of `a`, `b` and `c` in `%d0` to `%d2`
/// and of its own eight bytes of `a` in `%d7`.
pub fn around(functions: &str, body: &str) -> String {
    format!(
        ".version 8.3\n.target sm_80\n{HEAD}{functions}\n.visible .entry k({PARAMETERS})\n{{\n{REGISTERS}\
         .shared .align 8 .b8 ksh[16];\n\
         ld.param.u64 %d0, [a];\nld.param.u64 %d1, [b];\nld.param.u64 %d2, [c];\nmov.u32 %r0, %tid.x;\n\
         mul.wide.u32 %d7, %r0, 8;\nadd.s64 %d7, %d0, %d7;\n{body}\nret;\n}}\n"
    )
}

/// A module with the kernel `k`.
pub fn module(rng: &mut Rng) -> (String, Theme) {
    let theme = pick(rng, THEMES);
    let hostility = match theme {
        Theme::Tidy => 0,
        _ => pick(rng, &[1, 3, 6, 12, 25]),
    };
    let version = pick(rng, &["sm_80", "sm_80", "sm_90"]);
    let mut text = format!(".version 8.3\n.target {version}\n{HEAD}");
    let functions = match theme {
        Theme::Calls => 4,
        Theme::Rows | Theme::Tidy => 0,
        _ if rng.u32(0..4) == 0 => 4,
        _ => 0,
    };
    if functions == 0 {
        // Names that operands may have all the same.
        FUNCTIONS.iter().for_each(|head| text.push_str(&format!("{head} {{ ret; }}\n")));
    }
    let table = ".global .align 8 .u64 gtab[8] = {generic(gvar)+8, cvar, 5, gcell, svar, -1, 4096, 0};\n\
                 .const .align 8 .u64 ctab[2] = {gvar, 7};\n";
    text.push_str(table);
    text.push_str(OTHER);
    for head in &FUNCTIONS[..functions] {
        let mut writer = Writer::new(rng, theme, hostility);
        writer.left = writer.rng.u32(1..8);
        text.push_str(&writer.function(head));
    }
    let mut writer = Writer::new(rng, theme, hostility);
    writer.is_kernel = true;
    writer.left = match theme {
        Theme::Rows => writer.rng.u32(1..7),
        Theme::Tidy => writer.rng.u32(2..16),
        _ => writer.rng.u32(3..28),
    };
    text.push_str(&writer.kernel());
    (text, theme)
}

impl Writer {
    fn new(rng: &mut Rng, theme: Theme, hostility: u32) -> Self {
        Self {
            rng: rng.fork(),
            out: String::new(),
            theme,
            is_kernel: false,
            hostility,
            labels: 0,
            counters: 0,
            depth: 0,
            left: 0,
        }
    }

    /// Whether something of another kind is to stand here.
    pub fn hostile(&mut self) -> bool {
        self.rng.u32(0..100) < self.hostility
    }

    pub fn line(&mut self, text: &str) {
        // Some instructions run in some threads only.
        let one_of = if self.theme == Theme::Rows { 60 } else { 16 };
        if self.rng.u32(0..one_of) == 0 {
            let not = if self.rng.bool() { "!" } else { "" };
            let guard = self.predicate();
            let _ = write!(self.out, "@{not}{guard} ");
        }
        self.plain(text);
    }

    /// A line without a guard.
    pub fn plain(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn function(mut self, head: &str) -> String {
        self.plain(head);
        self.plain("{");
        self.plain(REGISTERS);
        if head.contains(".reg .b64 fa") {
            self.plain("mov.b64 %d7, fa;\nmov.b64 %d8, fa;\nmov.b32 %r2, fb;\nmov.b32 fr, 7;");
        } else {
            let part = pick(&mut self.rng, &["fa", "fa", "fa+0"]);
            let _ = writeln!(
                self.out,
                "ld.param.b64 %d7, [{part}];\nmov.b64 %d8, %d7;\nmov.b64 %d0, %d7;"
            );
        }
        self.place_in_grid();
        while self.left > 0 {
            self.statement();
        }
        if !head.contains(".reg .b64 fa") && self.rng.u32(0..3) > 0 {
            self.plain("st.param.b64 [fr], %d8;");
        }
        self.plain("ret;\n}");
        self.out
    }

    fn kernel(mut self) -> String {
        let bounds = pick(&mut self.rng, &["", "", ".maxntid 256, 1, 1\n", ".maxntid 64\n"]);
        let usual = ".param .align 16 .b8 blob[32]";
        let last = pick(
            &mut self.rng,
            &[
                usual,
                usual,
                usual,
                ".param .b8 blob[3]",
                ".param .align 64 .b8 blob[200]",
                ".param .b16 blob",
            ],
        );
        let _ = writeln!(self.out, ".visible .entry k({PARAMETERS}, {last})\n{bounds}{{");
        self.plain(REGISTERS);
        self.plain(".shared .align 8 .b8 ksh[16];");
        self.plain("ld.param.u64 %d0, [a];\nld.param.u64 %d1, [b];\nld.param.u64 %d2, [c];");
        if self.theme == Theme::Tidy {
            return self.tidy();
        }
        self.plain("ld.param.u64 %d3, [x];\nld.param.u64 %d4, [y];\nld.param.u64 %d5, [z];");
        self.plain("ld.param.u32 %r3, [n];\nld.param.u32 %r4, [m];");
        if self.rng.bool() {
            self.plain("cvta.to.global.u64 %d0, %d0;");
        }
        self.place_in_grid();
        self.plain("mul.wide.u32 %d6, %r2, 8;\nadd.s64 %d7, %d0, %d6;\nadd.s64 %d8, %d1, %d6;");
        self.plain("mul.wide.u32 %d6, %r2, 4;\nadd.s64 %d9, %d0, %d6;\nadd.s64 %d10, %d2, %d6;\nmov.b64 %d11, %d1;");
        self.plain(
            "and.b32 %r8, %r0, 15;\nshl.b32 %r9, %r8, 3;\nmov.u32 %r10, svar;\nmov.u64 %d12, loc;",
        );
        if self.rng.bool() {
            self.plain("setp.lt.u32 %p0, %r0, %r3;\nsetp.eq.u32 %p1, %r0, 0;");
        }
        if self.theme == Theme::Rows && self.rng.bool() {
            self.changing_value();
        }
        while self.left > 0 {
            self.statement();
        }
        // What was computed is to be seen.
        for _ in 0..self.rng.u32(1..5) {
            let (value, at) = (self.wide(), 8 * self.rng.i64(0..4));
            let _ = writeln!(self.out, "st.global.u64 [%d7+{at}], {value};");
        }
        self.plain("ret;\n}");
        self.out
    }

    fn place_in_grid(&mut self) {
        self.plain("mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r5, %ntid.x;");
        let index = pick(
            &mut self.rng,
            &[
                "mad.lo.u32 %r2, %r1, %r5, %r0;",
                "mad.lo.s32 %r2, %r1, %r5, %r0;",
                "mov.u32 %r2, %r0;",
            ],
        );
        self.plain(index);
        let _ = writeln!(self.out, "mov.u32 %r6, {};\nmov.u32 %r7, %laneid;", self.rng.u32(0..9));
    }
}

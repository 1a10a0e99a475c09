//! The statements of a module that tries to do harm.

use std::fmt::Write as _;

use super::{
    super::spec::{self, Form, Place},
    operand::{SPACES, bytes_of, plus},
    writer::{Theme, Writer, pick},
};

const TYPES: &[&str] = &[
    "b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "u32", "s32", "f32", "b64", "u64", "u64",
    "s64", "f64", "b128",
];

type Statement = fn(&mut Writer);

/// What a theme is made of, with how often each comes.
fn statements(theme: Theme) -> &'static [(u32, Statement)] {
    const COMMON: &[(u32, Statement)] = &[
        (10, Writer::load),
        (10, Writer::store),
        (8, Writer::pointer_arithmetic),
        (6, Writer::arithmetic),
        (3, Writer::changing_value),
        (3, Writer::branch),
        (4, Writer::atomic),
        (1, Writer::odd),
    ];
    const MIXED: &[(u32, Statement)] = &[
        (10, Writer::load),
        (10, Writer::store),
        (8, Writer::pointer_arithmetic),
        (6, Writer::arithmetic),
        (3, Writer::changing_value),
        (4, Writer::branch),
        (3, Writer::repeat),
        (4, Writer::atomic),
        (3, Writer::call),
        (2, Writer::meet),
        (2, Writer::fetch),
        (2, Writer::surface),
        (2, Writer::copy),
        (2, Writer::mbarrier),
        (2, Writer::odd),
    ];
    const CALLS: &[(u32, Statement)] = &[
        (5, Writer::load),
        (5, Writer::store),
        (4, Writer::pointer_arithmetic),
        (12, Writer::call),
        (2, Writer::atomic),
        (2, Writer::branch),
        (1, Writer::repeat),
        (2, Writer::arithmetic),
        (1, Writer::meet),
        (1, Writer::odd),
    ];
    const SYNC: &[(u32, Statement)] = &[
        (5, Writer::load),
        (5, Writer::store),
        (4, Writer::pointer_arithmetic),
        (10, Writer::meet),
        (3, Writer::branch),
        (3, Writer::repeat),
        (3, Writer::arithmetic),
        (2, Writer::changing_value),
        (2, Writer::atomic),
        (1, Writer::call),
    ];
    const IMAGES: &[(u32, Statement)] = &[
        (8, Writer::fetch),
        (12, Writer::surface),
        (3, Writer::load),
        (3, Writer::store),
        (3, Writer::pointer_arithmetic),
        (3, Writer::arithmetic),
        (1, Writer::branch),
        (1, Writer::repeat),
        (1, Writer::meet),
    ];
    const SHARED: &[(u32, Statement)] = &[
        (8, Writer::copy),
        (8, Writer::mbarrier),
        (4, Writer::load),
        (4, Writer::store),
        (3, Writer::pointer_arithmetic),
        (3, Writer::arithmetic),
        (2, Writer::meet),
        (2, Writer::branch),
        (1, Writer::repeat),
        (2, Writer::atomic),
    ];
    match theme {
        Theme::Mixed => MIXED,
        // The kernels of `Tidy` have statements of their own.
        Theme::Rows | Theme::Tidy => COMMON,
        Theme::Calls => CALLS,
        Theme::Sync => SYNC,
        Theme::Images => IMAGES,
        Theme::Shared => SHARED,
    }
}

impl Writer {
    /// One statement of the theme.
    pub fn statement(&mut self) {
        self.left = self.left.saturating_sub(1);
        let list = statements(self.theme);
        let mut at = self.rng.u32(0..list.iter().map(|(weight, _)| weight).sum());
        for (weight, write) in list {
            if at < *weight {
                return write(self);
            }
            at -= weight;
        }
    }

    fn some(&mut self, most: u32) {
        for _ in 0..self.rng.u32(1..=most) {
            self.statement();
        }
    }

    // Memory ---------------------------------------------------------------------------------------

    fn space(&mut self, natural: &[&'static str]) -> &'static str {
        if self.hostile() { pick(&mut self.rng, SPACES) } else { pick(&mut self.rng, natural) }
    }

    /// Type, lanes and their bytes of an access.
    fn shape(&mut self) -> (&'static str, i64, i64) {
        let ty = pick(&mut self.rng, TYPES);
        let most = 16 / bytes_of(ty);
        let lanes = pick(&mut self.rng, &[1, 1, 1, 1, 2, 4, 8]);
        let lanes =
            if lanes <= most.min(4) || bytes_of(ty) < 16 && self.hostile() { lanes } else { 1 };
        (ty, lanes, bytes_of(ty) * lanes)
    }

    fn load(&mut self) {
        let space = self
            .space(&["", ".global", ".global", ".global", ".shared", ".local", ".param", ".const"]);
        let (ty, lanes, bytes) = self.shape();
        let how = pick(
            &mut self.rng,
            &[
                "ld",
                "ld",
                "ld",
                "ld",
                "ld",
                "ld.volatile",
                "ld.relaxed.gpu",
                "ld.acquire.sys",
                "ldu",
            ],
        );
        let hint = match (space, how) {
            (".global", "ld") => pick(&mut self.rng, &["", "", "", ".nc", ".cv", ".ca"]),
            _ => "",
        };
        let how = if space == ".param" && !self.hostile() { "ld" } else { how };
        let vector = vector(lanes);
        let to = self.lanes(ty, lanes, true);
        let from = self.address(space, bytes);
        self.line(&format!("{how}{space}{hint}{vector}.{ty} {to}, {from};"));
    }

    fn store(&mut self) {
        let space = self.space(&["", ".global", ".global", ".global", ".shared", ".local"]);
        let space = if self.rng.u32(0..12) == 0 { ".param" } else { space };
        let (ty, lanes, bytes) = self.shape();
        let how = pick(
            &mut self.rng,
            &["st", "st", "st", "st", "st", "st.volatile", "st.relaxed.gpu", "st.release.sys"],
        );
        let vector = vector(lanes);
        let to = match space {
            // The parameters of calls: a kernel's own are read-only.
            ".param" if !self.hostile() => {
                let (name, size) =
                    pick(&mut self.rng, &[("prm", 8), ("pblk", 32), ("podd", 3), ("pblk", 32)]);
                format!("[{name}{}]", plus(bytes * self.rng.i64(0..(size / bytes).max(1))))
            }
            _ => self.address(space, bytes),
        };
        let value = self.lanes(ty, lanes, false);
        self.line(&format!("{how}{space}{vector}.{ty} {to}, {value};"));
    }

    fn atomic(&mut self) {
        let space = self.space(&["", ".global", ".global", ".shared", ".shared"]);
        let (op, ty) = match self.rng.u32(0..6) {
            0 => ("exch", pick(&mut self.rng, &["b32", "b64", "b128"])),
            1 => ("cas", pick(&mut self.rng, &["b16", "b32", "b64", "b128"])),
            2 => (pick(&mut self.rng, &["and", "or", "xor"]), pick(&mut self.rng, &["b32", "b64"])),
            3 => (
                pick(&mut self.rng, &["min", "max"]),
                pick(&mut self.rng, &["u32", "s32", "u64", "s64"]),
            ),
            4 => (pick(&mut self.rng, &["inc", "dec"]), "u32"),
            _ => (
                "add",
                pick(&mut self.rng, &["u32", "s32", "u64", "f32", "f64", "f16x2", "f16", "bf16"]),
            ),
        };
        let name = if matches!(op, "exch" | "cas") || self.rng.bool() { "atom" } else { "red" };
        let noftz = if ty.contains("16") && op == "add" { ".noftz" } else { "" };
        let at = self.address(space, bytes_of(ty));
        let value = self.source(ty);
        let last = if op == "cas" { format!(", {}", self.source(ty)) } else { String::new() };
        let to = if name == "atom" { format!("{}, ", self.register(ty)) } else { String::new() };
        self.line(&format!("{name}{space}.{op}{noftz}.{ty} {to}{at}, {value}{last};"));
    }

    /// A value that may change while the kernel runs decides where an access goes; the kernel changes it.
    pub fn changing_value(&mut self) {
        let cell = pick(
            &mut self.rng,
            &["%d1", "%d2", "gcell", "ksh", "svar", "loc", "cvar", "prm", "c", "%d11"],
        );
        let cell = if self.is_kernel || !matches!(cell, "ksh" | "c") { cell } else { "gcell" };
        let space = if self.rng.bool() { ".param" } else { pick(&mut self.rng, SPACES) };
        let how = pick(&mut self.rng, &["ld", "ld", "ld", "ldu", "ld.volatile", "ld.relaxed.gpu"]);
        let how = if space.starts_with(".param") { "ld" } else { how };
        let value = self.wide();
        match self.rng.u32(0..6) {
            0..4 => self.plain(&format!("{how}{space}.u64 {value}, [{cell}];")),
            4 => {
                self.plain(&format!("{how}{space}.u32 %r11, [{cell}];\ncvt.u64.u32 {value}, %r11;"))
            }
            _ => self.plain(&format!(
                "mov.b64 {value}, {};",
                cell.trim_start_matches('%').replace('d', "%d")
            )),
        }
        let base = pick(&mut self.rng, &["%d0", "%d0", "%d1", "%d2", "%d3", "%d5"]);
        let step = pick(&mut self.rng, &["1", "2", "4", "4", "4", "8", "16", "12"]);
        self.plain(&format!("mul.wide.u32 %d13, %r0, {step};\nadd.u64 %d14, {base}, %d13;"));
        self.plain(&format!("add.u64 %d14, %d14, {value};"));
        let width = pick(&mut self.rng, &["u32", "u32", "u64", "f32"]);
        let register =
            if width == "f32" { "%f0" } else { if width == "u64" { "%d15" } else { "%r12" } };
        if self.rng.bool() {
            self.plain(&format!(
                "ld.global.{width} {register}, [%d14];\nst.global.{width} [%d9], {register};"
            ));
        } else {
            self.plain(&format!("st.global.{width} [%d14], {register};"));
        }
        let change = pick(&mut self.rng, &["%d3", "%d4", "%d5"]);
        let target = if cell == "c" { "%d2" } else { cell };
        let target_space = pick(&mut self.rng, &["", ".global", ""]);
        self.plain(&format!("st{target_space}.u64 [{target}], {change};"));
    }

    // Arithmetic -----------------------------------------------------------------------------------

    fn pointer_arithmetic(&mut self) {
        let to = self.wide();
        let near =
            if self.rng.u32(0..3) > 0 { self.rng.i64(0..64) * 4 } else { self.wild_offset() };
        let text = match self.rng.u32(0..15) {
            0 => format!("add.u64 {to}, {}, {near};", self.pointer()),
            1 => format!("add.s64 {to}, {}, {};", self.pointer(), self.wide()),
            2 => format!("mul.wide.u32 {to}, {}, {};", self.word(), self.rng.i64(0..40)),
            3 => format!("mul.wide.s32 {to}, {}, {};", self.word(), near),
            4 => format!(
                "mad.wide.u32 {to}, {}, {}, {};",
                self.word(),
                self.rng.i64(0..24),
                self.pointer()
            ),
            5 => format!("mad.lo.u64 {to}, {}, {near}, {};", self.wide(), self.pointer()),
            6 => format!("shl.b64 {to}, {}, {};", self.wide(), self.rng.u32(0..66)),
            7 => format!(
                "and.b64 {to}, {}, {};",
                self.wide(),
                pick(&mut self.rng, &["-16", "15", "255", "-65536", "4095"])
            ),
            8 => format!("cvt.u64.u32 {to}, {};", self.word()),
            9 => format!("cvt.s64.s32 {to}, {};", self.word()),
            10 => {
                format!("selp.b64 {to}, {}, {}, {};", self.pointer(), self.wide(), self.predicate())
            }
            11 => {
                let symbol = self.any_symbol();
                let offset = if self.hostile() { self.wild_offset() } else { 0 };
                format!("mov.u64 {to}, {symbol}{};", plus(offset))
            }
            12 => {
                let space = pick(&mut self.rng, &["global", "shared", "local", "const", "param"]);
                let way = pick(&mut self.rng, &["", ".to"]);
                let from = if self.hostile() { self.any_symbol() } else { self.wide() };
                format!("cvta{way}.{space}.u64 {to}, {from};")
            }
            13 => format!("sub.s64 {to}, {}, {};", self.pointer(), self.wide()),
            _ => {
                let word = self.word();
                let way = pick(
                    &mut self.rng,
                    &[
                        "add.s32",
                        "sub.s32",
                        "mul.lo.s32",
                        "and.b32",
                        "shl.b32",
                        "shr.u32",
                        "min.u32",
                    ],
                );
                let by = if self.hostile() { self.wild_offset() } else { self.rng.i64(0..33) };
                format!("{way} {word}, {}, {by};", self.word())
            }
        };
        self.line(&text);
    }

    fn arithmetic(&mut self) {
        let rows = match self.rng.u32(0..8) {
            0..5 => &spec::INTEGER,
            5 | 6 => &spec::FLOAT,
            _ => &spec::HALF,
        };
        let form = spec::random(&mut self.rng, rows);
        let text = self.form(&form);
        self.line(&text);
    }

    fn form(&mut self, form: &Form) -> String {
        let mut destinations = Vec::new();
        for place in &form.destinations {
            destinations.push(match place {
                Place::Value(ty) | Place::Divisor(ty) => self.register(narrow(ty)),
                Place::Vector(ty, count) => self.vector(ty, *count),
                Place::Byte | Place::Amount | Place::Small => self.word(),
            });
        }
        let mut sources = Vec::new();
        for place in &form.sources {
            sources.push(match place {
                Place::Value(ty) | Place::Divisor(ty) if ty == "pred" => self.predicate(),
                Place::Value(ty) | Place::Divisor(ty) => {
                    let narrow = narrow(ty);
                    if narrow == ty { self.source(ty) } else { self.register(narrow) }
                }
                Place::Vector(ty, count) => self.vector(ty, *count),
                Place::Byte => self.rng.u8(..).to_string(),
                Place::Amount | Place::Small if self.rng.bool() => self.rng.u32(0..40).to_string(),
                Place::Amount | Place::Small => self.word(),
            });
        }
        let mut operands = vec![destinations.join("|")];
        operands.extend(sources);
        operands.retain(|operand| !operand.is_empty());
        format!("{} {};", form.mnemonic, operands.join(", "))
    }

    /// Registers of a type.
    fn vector(&mut self, ty: &str, count: u8) -> String {
        let parts: Vec<String> = (0..count).map(|_| self.register(ty)).collect();
        format!("{{{}}}", parts.join(", "))
    }

    // Control --------------------------------------------------------------------------------------

    fn branch(&mut self) {
        if self.depth > 2 {
            return;
        }
        self.depth += 1;
        let guard = self.predicate();
        if self.rng.bool() {
            let (a, b) = (self.word(), self.source("u32"));
            let compare = pick(&mut self.rng, &["lt", "ge", "eq", "ne", "gt"]);
            let _ = writeln!(self.out, "setp.{compare}.u32 {guard}, {a}, {b};");
        }
        let not = if self.rng.bool() { "!" } else { "" };
        match self.rng.u32(0..9) {
            0 => {
                let end = pick(&mut self.rng, &["ret", "exit", "ret", "trap"]);
                self.plain(&format!("@{not}{guard} {end};"));
            }
            1 => self.table(),
            2 => {
                let (other, end) = (self.label(), self.label());
                self.plain(&format!("@{not}{guard} bra {other};"));
                self.some(3);
                self.plain(&format!("bra {end};\n{other}:"));
                self.some(3);
                self.plain(&format!("{end}:"));
            }
            _ => {
                let end = self.label();
                self.plain(&format!("@{not}{guard} bra {end};"));
                self.some(3);
                self.plain(&format!("{end}:"));
            }
        }
        self.depth -= 1;
    }

    fn table(&mut self) {
        let labels: Vec<String> = (0..self.rng.u32(1..4)).map(|_| self.label()).collect();
        let (table, end) = (self.label(), self.label());
        self.plain(&format!("{table}: .branchtargets {};", labels.join(", ")));
        let index = self.source("u32");
        self.plain(&format!("brx.idx {index}, {table};"));
        for label in labels {
            self.plain(&format!("{label}:"));
            self.some(2);
            if self.rng.u32(0..3) > 0 {
                self.plain(&format!("bra {end};"));
            }
        }
        self.plain(&format!("{end}:"));
    }

    fn repeat(&mut self) {
        if self.depth > 1 || self.counters >= 8 {
            return;
        }
        let counter = self.counters;
        self.counters += 1;
        self.depth += 1;
        let (top, turns) = (self.label(), self.rng.u32(1..5));
        self.plain(&format!("mov.u32 %n{counter}, 0;\n{top}:"));
        self.some(4);
        let bound = if self.rng.u32(0..6) == 0 { "%r8".to_owned() } else { turns.to_string() };
        self.plain(&format!(
            "add.u32 %n{counter}, %n{counter}, 1;\nsetp.lt.u32 %pn, %n{counter}, {bound};"
        ));
        self.plain(&format!("@%pn bra {top};"));
        self.depth -= 1;
    }

    // Threads together -----------------------------------------------------------------------------

    fn meet(&mut self) {
        let (w, v, s) = (self.word(), self.word(), self.source("b32"));
        let p = self.predicate();
        let mask = if self.hostile() { self.source("b32") } else { "-1".to_owned() };
        let id = match self.rng.u32(0..4) {
            0 => self.word(),
            1 => self.rng.u32(0..20).to_string(),
            2 if self.hostile() => self.wild_offset().to_string(),
            _ => "0".to_owned(),
        };
        let text = match self.rng.u32(0..17) {
            0..6 => "bar.sync 0;".to_owned(),
            6 => format!("bar.sync {id};"),
            7 => format!("bar.sync {id}, {};", pick(&mut self.rng, &["32", "64", "128", "%r5"])),
            8 => format!("bar.arrive {id}, {};", pick(&mut self.rng, &["32", "64", "1024", "%r5"])),
            9 => format!("bar.red.popc.u32 {w}, {id}, {p};"),
            10 => {
                let mode = pick(&mut self.rng, &["up", "down", "bfly", "idx"]);
                let lanes = self.source("b32");
                format!("shfl.sync.{mode}.b32 {w}|{p}, {v}, {lanes}, {s}, {mask};")
            }
            11 => format!("vote.sync.ballot.b32 {w}, {p}, {mask};"),
            12 => {
                let (to, from) = (self.wide(), pick(&mut self.rng, &["any", "all"]));
                format!("match.{from}.sync.b64 {w}, {to}, {mask};")
            }
            13 => format!(
                "redux.sync.{}.s32 {w}, {v}, {mask};",
                pick(&mut self.rng, &["add", "min", "max"])
            ),
            14 => format!("activemask.b32 {w};"),
            15 => format!("bar.warp.sync {mask};"),
            _ => format!(
                "vote.sync.{}.pred {p}, {p}, {mask};",
                pick(&mut self.rng, &["all", "any", "uni"])
            ),
        };
        self.line(&text);
    }

    // Calls ----------------------------------------------------------------------------------------

    fn argument(&mut self, natural: &[&'static str]) -> String {
        if !self.hostile() {
            return pick(&mut self.rng, natural).to_owned();
        }
        match self.rng.u32(0..5) {
            0..3 => self.any_symbol(),
            3 => self.source("b64"),
            _ => format!("{}{}", self.any_symbol(), plus(self.wild_offset())),
        }
    }

    fn call(&mut self) {
        if self.rng.bool() {
            let (at, value) = (8 * self.rng.i64(0..4), self.wide());
            let _ = writeln!(self.out, "st.param.b64 [pblk+{at}], {value};");
        }
        if self.rng.u32(0..4) > 0 {
            let value = if self.rng.bool() {
                self.wide()
            } else {
                pick(&mut self.rng, &["1", "16", "0", "-1", "65536"]).to_owned()
            };
            let _ = writeln!(self.out, "st.param.b64 [prm], {value};");
        }
        let text = match self.rng.u32(0..16) {
            _ if self.hostile() => self.call_of_anything(),
            0 | 1 => {
                let (to, of) =
                    (self.argument(&["prm", "%d15"]), self.argument(&["prm", "%d6", "24"]));
                format!("call.uni ({to}), malloc, ({of});")
            }
            2 => format!("call.uni free, ({});", self.argument(&["prm", "%d15"])),
            3 => {
                let (to, what) =
                    (self.argument(&["%r12", "prm"]), self.argument(&["prm", "pblk", "cfmt"]));
                let with = self.argument(&["prm", "%d0", "%d12"]);
                format!("call.uni ({to}), vprintf, ({what}, {with});")
            }
            4 if self.rng.u32(0..4) == 0 => {
                let list: Vec<String> = (0..5).map(|_| self.argument(&["prm", "%d0"])).collect();
                format!("call.uni __assertfail, ({});", list.join(", "))
            }
            5 | 6 => {
                let (to, a) = (self.argument(&["pblk"]), self.argument(&["pblk"]));
                format!("call ({to}), f1, ({a}, {});", self.argument(&["prm", "podd", "%h0"]))
            }
            7 | 8 => {
                let (to, a) = (self.argument(&["%r12", "prm"]), self.argument(&["%d7", "prm"]));
                format!("call ({to}), f2, ({a}, {});", self.argument(&["%r2", "prm"]))
            }
            9 | 10 => self.indirect(),
            _ => {
                let (to, a) = (
                    self.argument(&["prm", "%d15", "pblk"]),
                    self.argument(&["prm", "%d7", "pblk"]),
                );
                let function = pick(&mut self.rng, &["f0", "f3"]);
                format!("call ({to}), {function}, ({a}, {});", self.argument(&["%r2", "prm"]))
            }
        };
        self.line(&text);
        if self.rng.bool() {
            let (to, at) = (self.wide(), 8 * self.rng.i64(0..4));
            let _ = writeln!(self.out, "ld.param.b64 {to}, [pblk+{at}];");
        } else {
            let to = self.wide();
            let _ = writeln!(self.out, "ld.param.b64 {to}, [prm];");
        }
    }

    /// A call of any function, with as many arguments and results as it may have or not.
    fn call_of_anything(&mut self) -> String {
        let named =
            ["k", "other", "f0", "f1", "f2", "f3", "malloc", "free", "vprintf", "gvar", "%d13"];
        let callee = pick(&mut self.rng, &named);
        let mut list = |natural: &[&'static str], most: usize| {
            let count = self.rng.usize(0..=most);
            (0..count).map(|_| self.argument(natural)).collect::<Vec<String>>().join(", ")
        };
        let (results, arguments) = (list(&["prm", "pblk"], 1), list(&["prm", "pblk", "%d7"], 3));
        let results = if results.is_empty() { results } else { format!("({results}), ") };
        format!("call {results}{callee}, ({arguments});")
    }

    /// A call by a handle, right or forged.
    fn indirect(&mut self) -> String {
        let prototype = self.label();
        let kind = pick(
            &mut self.rng,
            &[
                "(.param .b64 _) _ (.param .b64 _, .param .b32 _)",
                "(.param .b64 _) _ (.param .align 8 .b8 _[8], .param .b32 _)",
                "(.param .align 16 .b8 _[32]) _ (.param .b8 _[24], .param .b16 _)",
                "(.reg .b32 _) _ (.reg .b64 _, .reg .b32 _)",
                "(.param .b8 _[8]) _ (.param .b64 _, .param .b8 _[4])",
            ],
        );
        self.plain(&format!("{prototype}: .callprototype {kind};"));
        let function = pick(&mut self.rng, &["f0", "f1", "f2", "f3"]);
        match self.rng.u32(0..4) {
            0 => self.plain("mov.b64 %d13, %d3;"),
            1 => self.plain(&format!("mov.b64 %d13, {function}+1;")),
            _ => self.plain(&format!("mov.b64 %d13, {function};")),
        }
        let (to, a) =
            (self.argument(&["prm", "pblk", "%d15"]), self.argument(&["prm", "pblk", "%d7"]));
        format!("call ({to}), %d13, ({a}, {}), {prototype};", self.argument(&["%r2", "prm"]))
    }

    // Images ---------------------------------------------------------------------------------------

    fn handle(&mut self) -> String {
        match self.rng.u32(0..12) {
            0..5 => "%d4".to_owned(),
            5..10 => "%d5".to_owned(),
            10 if self.hostile() => self.any_symbol(),
            _ => self.wide(),
        }
    }

    fn coordinates(&mut self, ty: &str, least: i64) -> String {
        let count = if self.hostile() { self.rng.i64(1..5) } else { least };
        let list: Vec<String> = (0..count)
            .map(|_| match (ty, self.rng.u32(0..6)) {
                ("f32", _) => self.register("f32"),
                (_, 0) => self.wild_offset().to_string(),
                (_, 1) => "0".to_owned(),
                (_, 2) => pick(&mut self.rng, &["%r0", "%r8", "%r9"]).to_owned(),
                _ => self.word(),
            })
            .collect();
        if count == 1 && self.rng.bool() {
            list[0].clone()
        } else {
            format!("{{{}}}", list.join(", "))
        }
    }

    fn fetch(&mut self) {
        if self.rng.u32(0..6) == 0 {
            let query = pick(
                &mut self.rng,
                &[
                    "width",
                    "height",
                    "depth",
                    "array_size",
                    "num_mipmap_levels",
                    "normalized_coords",
                ],
            );
            let (name, to) = (pick(&mut self.rng, &["txq", "suq"]), self.word());
            let handle = self.handle();
            return self.line(&format!("{name}.{query}.b32 {to}, [{handle}];"));
        }
        if self.rng.u32(0..3) == 0 {
            let (f, w) = (self.register("f32"), self.word());
            let value = pick(
                &mut self.rng,
                &[
                    "0f7fc00000",
                    "0f7f800000",
                    "0fff7fffff",
                    "0f4f000000",
                    "0fbf800000",
                    "0f3f000000",
                ],
            );
            match self.rng.bool() {
                true => self.plain(&format!("mov.f32 {f}, {value};")),
                false => self.plain(&format!("cvt.rn.f32.u32 {f}, {w};")),
            }
        }
        let (geometry, least) = pick(
            &mut self.rng,
            &[("1d", 1), ("2d", 2), ("2d", 2), ("3d", 4), ("a1d", 2), ("a2d", 4), ("cube", 4)],
        );
        let coordinate = if self.rng.u32(0..3) == 0 { "s32" } else { "f32" };
        let coordinate = if geometry == "cube" { "f32" } else { coordinate };
        let result = pick(&mut self.rng, &["u32", "s32", "f32"]);
        let to = self.lanes(result, 4, true);
        let (handle, at) = (self.handle(), self.coordinates(coordinate, least));
        let offset = match self.rng.u32(0..5) {
            0 => format!(", {{{}, {}, 0, 0}}", self.wild_offset() as i32, self.word()),
            _ => String::new(),
        };
        let offset = if geometry.contains("2d") || self.hostile() { offset } else { String::new() };
        let text = match self.rng.u32(0..6) {
            0 if geometry == "2d" => {
                let component = pick(&mut self.rng, &["r", "g", "b", "a"]);
                format!("tld4.{component}.2d.v4.{result}.f32 {to}, [{handle}, {at}];")
            }
            1 => {
                let level = self.register("f32");
                format!(
                    "tex.level.{geometry}.v4.{result}.{coordinate} {to}, [{handle}, {at}], {level};"
                )
            }
            _ => format!("tex.{geometry}.v4.{result}.{coordinate} {to}, [{handle}, {at}]{offset};"),
        };
        self.line(&text);
    }

    fn surface(&mut self) {
        let (geometry, least) = pick(
            &mut self.rng,
            &[("1d", 1), ("2d", 2), ("2d", 2), ("2d", 2), ("3d", 4), ("a1d", 2), ("a2d", 4)],
        );
        let ty = pick(&mut self.rng, &["b8", "b16", "b32", "b32", "b64"]);
        let most = if ty == "b64" { 2 } else { 4 };
        let lanes = pick(&mut self.rng, &[1, 1, 2, 4]).min(most);
        let vector = vector(lanes);
        let clamp = pick(&mut self.rng, &["trap", "clamp", "zero"]);
        let (handle, at) = (self.handle(), self.coordinates("s32", least));
        let text = match self.rng.u32(0..10) {
            0..4 => {
                let to = self.lanes(ty, lanes, true);
                format!("suld.b.{geometry}{vector}.{ty}.{clamp} {to}, [{handle}, {at}];")
            }
            4 => {
                let value = self.lanes("b32", 4, false);
                format!("sust.p.{geometry}.v4.b32.{clamp} [{handle}, {at}], {value};")
            }
            5 if self.hostile() => {
                format!("sured.b.add.{geometry}.u32.{clamp} [{handle}, {at}], %r0;")
            }
            _ => {
                let value = self.lanes(ty, lanes, false);
                format!("sust.b.{geometry}{vector}.{ty}.{clamp} [{handle}, {at}], {value};")
            }
        };
        self.line(&text);
    }

    // Shared memory --------------------------------------------------------------------------------

    fn copy(&mut self) {
        let bytes = if self.hostile() {
            pick(&mut self.rng, &[0, 1, 2, 5, 32, -4])
        } else {
            pick(&mut self.rng, &[4, 8, 16])
        };
        let cache = if bytes == 16 { pick(&mut self.rng, &["ca", "cg"]) } else { "ca" };
        let (to, from) =
            (self.address(".shared", bytes.max(1)), self.address(".global", bytes.max(1)));
        let last = match self.rng.u32(0..6) {
            0 => format!(", {}", self.word()),
            1 => format!(", {}", self.predicate()),
            2 => format!(", {}", self.wild_offset()),
            3 => format!(", {}", self.rng.i64(0..20)),
            _ => String::new(),
        };
        self.line(&format!("cp.async.{cache}.shared.global {to}, {from}, {bytes}{last};"));
        if self.rng.bool() {
            let end = pick(
                &mut self.rng,
                &["cp.async.commit_group;", "cp.async.wait_group 0;", "cp.async.wait_all;"],
            );
            self.line(end);
        }
    }

    fn mbarrier(&mut self) {
        let space = if self.hostile() {
            pick(&mut self.rng, SPACES)
        } else {
            pick(&mut self.rng, &[".shared", ".shared", ".shared::cta", ""])
        };
        let at = match self.rng.u32(0..3) {
            0 => self.address(space, 8),
            _ => pick(
                &mut self.rng,
                &["[svar]", "[svar+8]", "[svar+4]", "[dyn]", "[sodd]", "[svar+120]"],
            )
            .to_owned(),
        };
        let (d, p, w) = (self.wide(), self.predicate(), self.source("u32"));
        let text = match self.rng.u32(0..11) {
            0 | 1 => format!("mbarrier.init{space}.b64 {at}, {w};"),
            2 => format!("mbarrier.inval{space}.b64 {at};"),
            3 => format!("mbarrier.arrive{space}.b64 {d}, {at};"),
            4 => format!("mbarrier.arrive{space}.b64 {d}, {at}, {w};"),
            5 => format!("mbarrier.arrive_drop{space}.b64 {d}, {at};"),
            6 => format!("mbarrier.test_wait{space}.b64 {p}, {at}, {d};"),
            7 => format!("mbarrier.try_wait.parity{space}.b64 {p}, {at}, {w};"),
            8 => format!("mbarrier.pending_count.b64 {}, {d};", self.word()),
            9 => format!(
                "cp.async.mbarrier.arrive{}.b64 {at};",
                if space.is_empty() { "" } else { ".shared" }
            ),
            _ => format!("mbarrier.arrive.noComplete{space}.b64 {d}, {at}, {w};"),
        };
        self.line(&text);
    }

    // The rest -------------------------------------------------------------------------------------

    fn odd(&mut self) {
        let (d, p, w) = (self.wide(), self.predicate(), self.word());
        let symbol = self.any_symbol();
        let text = match self.rng.u32(0..16) {
            0 => format!(
                "isspacep.{} {p}, {d};",
                pick(&mut self.rng, &["global", "shared", "local", "const", "param"])
            ),
            1 => format!(
                "isspacep.{} {p}, {symbol};",
                pick(&mut self.rng, &["global", "shared", "local", "const", "param"])
            ),
            2 => format!("prefetch.global.L2 {};", self.address(".global", 4)),
            3 => format!("nanosleep.u32 {w};"),
            4 => {
                format!("mov.b64 {{{w}, {}}}, {symbol};", self.word())
            }
            5 => format!("mov.b64 {d}, {{{w}, {}}};", self.word()),
            6 => "membar.gl;".to_owned(),
            7 => format!("setp.eq.u64 {p}, {d}, {symbol};"),
            8 => format!(
                "mov.u32 {w}, {};",
                pick(
                    &mut self.rng,
                    &["%dynamic_smem_size", "%total_smem_size", "%smid", "%lanemask_gt", "%warpid"]
                )
            ),
            9 => format!("mov.u32 {w}, {symbol};"),
            10 if self.hostile() => {
                let form = spec::random(&mut self.rng, &spec::OTHER);
                self.form(&form)
            }
            11 if self.hostile() => format!("alloca.u64 {d}, {};", self.source("u64")),
            12 if self.hostile() => format!("stackrestore.u64 {d};"),
            13 => format!("elect.sync {w}|{p}, -1;"),
            14 => format!("mov.b64 {d}, %envreg2;"),
            _ => format!("popc.b64 {w}, {d};"),
        };
        self.line(&text);
    }
}

/// A type whose registers have the same width as `ty`'s values, and that there are registers of.
fn narrow(ty: &str) -> &str {
    match ty {
        "u8" | "s8" | "b8" => "b16",
        other => other,
    }
}

fn vector(lanes: i64) -> &'static str {
    match lanes {
        2 => ".v2",
        4 => ".v4",
        8 => ".v8",
        _ => "",
    }
}

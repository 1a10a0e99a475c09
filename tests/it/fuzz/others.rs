//! The forms whose results are decided by more than values in registers: memory of each thread's own, the threads of a
//! warp, the carry flag, an approximation. A kernel of one instruction each gives the same on all engines of the CPU
//! device.

use std::fmt::Write as _;

use fastrand::Rng;
use warpaint::{
    device::Error,
    ptx::{
        matrix::MatrixOp,
        op::{Floats, Op, Signature, Slot, Waits, WarpOp},
        types::{Space, Type},
    },
};

use super::{
    compare::{Engines, Job, Outcome, lengths},
    random::{Writer, narrow},
    refused::{self, has_refused_word},
    spec::{self, Row},
    values,
};

/// What cannot be compared so, by how its notation begins, with the reason.
pub const NOT_COMPARED: &[(&str, &str)] = &[
    ("cvta", "gives an address, which is each launch's own"),
    (
        "rsqrt.approx",
        "computed in another way by each engine: `approx.ptx` holds both to the bound",
    ),
    ("{sin,cos,lg2}.approx", "computed in another way by each engine, as above"),
    ("{ex2,tanh}.approx", "computed in another way by each engine, as above"),
    ("createpolicy", "gives a word that means something to other instructions alone"),
    (
        "mbarrier",
        "needs a barrier in a state that fits: `mbarrier.ptx` and `mbarrier_bytes.ptx` have such",
    ),
    ("cp.async.mbarrier", "needs a barrier in shared memory, as above"),
    ("bra", "goes elsewhere: random kernels branch"),
    ("brx", "goes elsewhere: random kernels do"),
    ("ret", "ends the thread before it can show anything"),
    ("exit", "ends the thread before it can show anything"),
    ("trap", "ends the launch"),
    ("tex", "needs a texture: `image.ptx` and the tests of textures have some"),
    ("tld4", "needs a texture, as above"),
    ("txq", "needs a texture, as above"),
    ("suq", "needs a surface, as above"),
    ("suld.b", "needs a surface, as above"),
    ("sust", "needs a surface, as above"),
];

/// Threads of the kernel: one warp.
const THREADS: usize = 32;
/// Bytes that a thread has in each state space.
const OWN: usize = 64;
/// Bytes of a thread's output: eight registers, and what it has in shared and local memory.
const OUT: usize = 8 * 8 + 2 * OWN;
/// Bytes of memory that all have together: the largest matrix, with a stride of [`STRIDE`].
const COMMON: usize = 16 << 10;
/// Elements from row to row of a matrix in memory: whole blocks of 16 bytes of any type.
const STRIDE: &str = "128";
/// Instructions of a form, one in each [`Frame`].
const INSTRUCTIONS: usize = Frame::ALL.len();
/// How often a form is tried until an instruction of it is one that loads.
const TRIES: usize = 40;

/// What is round an instruction. Groups of threads have other code for each.
#[derive(Clone, Copy)]
struct Frame {
    /// All threads have the same operands: if these alone decide the result, all must have the same one.
    alike: bool,
    /// They meet at barriers before it and behind it.
    meets: bool,
    /// Groups may have more than four threads.
    wide: bool,
}

impl Frame {
    const ALL: [Self; 3] = [
        Self { alike: false, meets: true, wide: false },
        Self { alike: true, meets: false, wide: true },
        Self { alike: false, meets: false, wide: false },
    ];
}

/// The forms that are compared.
pub fn rows() -> Vec<Row> {
    let is_compared = |row: &&Row| reason(row).is_none();
    spec::OTHER.iter().filter(is_compared).copied().collect()
}

/// Why a form is not compared.
pub fn reason(row: &Row) -> Option<&'static str> {
    let refused = refused::FORMS.iter().filter(|(form, _)| row.notation == *form);
    let mut list = NOT_COMPARED.iter().filter(|(start, _)| row.notation.starts_with(start));
    refused.chain(list.by_ref()).map(|(_, reason)| *reason).next()
}

/// How the engines differ in some instructions of the form, if they do; or that none of it loads.
pub fn difference(engines: &mut Engines, row: Row, seed: u64) -> Option<String> {
    let mut rng = Rng::with_seed(seed);
    let mut compared = 0;
    for _ in 0..TRIES {
        let Some(one) = One::new(row, Frame::ALL[compared], &mut rng) else { continue };
        let module = match engines.load_whole(&one.text) {
            Ok(module) => module,
            // Which words those are, another test looks up.
            Err(Error::UnsupportedPtx { .. }) if has_refused_word(&one.shown) => continue,
            Err(error) => return Some(format!("`{}`: {error}\n{}", one.shown, one.text)),
        };
        let job = one.job(&mut rng);
        let runners = engines.runners(u32::MAX).into_iter();
        let outcomes: Vec<_> =
            runners.filter_map(|r| Some((r, engines.run(r, &module, &job)?))).collect();
        for pair in outcomes.windows(2) {
            if let Some(how) = one.unlike(&pair[0].1, &pair[1].1) {
                return Some(format!(
                    "`{}`, {:?} and {:?}: {how}",
                    one.shown, pair[0].0, pair[1].0
                ));
            }
        }
        compared += 1;
        if compared == INSTRUCTIONS {
            return None;
        }
    }
    (compared < INSTRUCTIONS)
        .then(|| format!("only {compared} instructions of `{}` load", row.notation))
}

/// A kernel of one instruction.
struct One {
    /// The instruction.
    shown: String,
    text: String,
    /// What its results are, and what memory holds.
    ty: Option<Type>,
}

/// Writes the operands of an instruction.
struct Operands<'a> {
    rng: &'a mut Rng,
    mnemonic: &'a str,
    op: Op,
    /// How many registers of its own it has taken as destinations: their names.
    destinations: Vec<String>,
}

impl One {
    /// Any instruction of the form; none where it would store in constant memory, which ends the launch.
    fn new(row: Row, frame: Frame, rng: &mut Rng) -> Option<Self> {
        let (mnemonic, signature) = row.expand(|list| rng.usize(0..list.len()));
        let is_constant =
            |slot: &Slot| *slot == Slot::Memory { space: Some(Space::Const), written: true };
        if signature.sources.iter().any(is_constant) {
            return None;
        }
        let op = Op::parse(&mnemonic).unwrap();
        let ty = match op.facts().floats {
            Floats::None => None,
            Floats::Of { .. } | Floats::Any => {
                mnemonic.split('.').filter_map(Type::parse).find(|ty| ty.is_float())
            }
        };
        let (instruction, destinations) = instruction(&mnemonic, &signature, frame.alike, rng);
        let text = kernel(&op, &instruction, &destinations, frame);
        Some(Self { shown: instruction, text, ty })
    }

    fn job(&self, rng: &mut Rng) -> Job {
        let mut bytes = |count: usize| -> Vec<u8> {
            (0..count / 8).flat_map(|_| values::wide(rng).to_le_bytes()).collect()
        };
        let buffers = vec![
            bytes(THREADS * 128),
            bytes(THREADS * OWN),
            vec![0; THREADS * OUT],
            bytes(2 * COMMON),
        ];
        Job { text: self.text.clone(), grid: 1, block: THREADS as u32, buffers }
    }

    /// The first place where two outcomes differ; one NaN is as good as another.
    fn unlike(&self, a: &Outcome, b: &Outcome) -> Option<String> {
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(error), _) | (_, Err(error)) => return Some(error.clone()),
        };
        if lengths(a) != lengths(b) {
            return Some(format!("buffers of {:?} and {:?} bytes", lengths(a), lengths(b)));
        }
        let bytes = self.ty.map_or(8, |ty| ty.element().bytes() as usize);
        for (buffer, (a, b)) in a.iter().zip(b).enumerate() {
            for (at, (a, b)) in a.chunks(bytes).zip(b.chunks(bytes)).enumerate() {
                if a != b && !(self.is_nan(a) && self.is_nan(b)) {
                    return Some(format!(
                        "buffer {buffer}, byte {}: {a:x?} and {b:x?}",
                        at * bytes
                    ));
                }
            }
        }
        None
    }

    fn is_nan(&self, bytes: &[u8]) -> bool {
        let bits = bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        let infinity = match self.ty.map(Type::element) {
            Some(Type::F16) => 0x7c00,
            Some(Type::Bf16) => 0x7f80,
            Some(Type::F32) => 0x7f80_0000,
            Some(Type::F64) => 0x7ff0_0000_0000_0000,
            _ => return false,
        };
        bits & !(1 << (8 * bytes.len() - 1)) > infinity
    }
}

/// An instruction on registers of the pool and memory of the thread's own, and the registers that it writes: all that
/// it can, or those that it must and perhaps more.
pub fn instruction(
    mnemonic: &str,
    signature: &Signature,
    all_results: bool,
    rng: &mut Rng,
) -> (String, Vec<String>) {
    let op = Op::parse(mnemonic).unwrap();
    let mut operands = Operands { rng, mnemonic, op, destinations: Vec::new() };
    let instruction = operands.instruction(signature, all_results);
    (instruction, operands.destinations)
}

impl Operands<'_> {
    fn instruction(&mut self, signature: &Signature, all_results: bool) -> String {
        let Signature { destinations, sources, optional_destinations, optional_sources } =
            signature;
        let missing = if all_results { 0 } else { self.rng.usize(0..=*optional_destinations) };
        let written = destinations.len() - missing;
        let read = sources.len() - self.rng.usize(0..=*optional_sources);
        let written: Vec<String> =
            destinations[..written].iter().map(|slot| self.destination(*slot)).collect();
        let read: Vec<String> = sources[..read]
            .iter()
            .enumerate()
            .map(|(at, slot)| self.source(*slot, at, at + 1 == read))
            .collect();
        let written = written.join("|");
        let operands = [written].into_iter().filter(|text| !text.is_empty()).chain(read);
        format!("{} {}", self.mnemonic, operands.collect::<Vec<_>>().join(", "))
    }

    fn destination(&mut self, slot: Slot) -> String {
        let (ty, count, vector) = match slot {
            Slot::Vector(ty, count) => (ty, count, true),
            Slot::Lanes(ty, count) | Slot::Whole(ty, count) => (ty, count, count > 1),
            slot => (value_of(slot), 1, false),
        };
        let first = self.destinations.len();
        for at in first..first + usize::from(count) {
            self.destinations.push(format!("%to_{}{at}", kind(ty)));
        }
        let names = self.destinations[first..].join(", ");
        if vector { format!("{{{names}}}") } else { names }
    }

    fn source(&mut self, slot: Slot, at: usize, is_last: bool) -> String {
        let opcode = self.mnemonic.split('.').next().unwrap_or_default();
        match slot {
            // Which threads take part: all of the warp.
            Slot::Value(Type::B32) if is_last && self.is_masked() => "-1".to_owned(),
            Slot::Value(Type::B32) if is_whole_matrix(&self.op) => STRIDE.to_owned(),
            Slot::Value(Type::U32) => match (opcode, self.mnemonic.contains(".ca.")) {
                ("cp", true) => self.pick(&["4", "8", "16"]).to_owned(),
                ("cp", false) => "16".to_owned(),
                ("discard" | "applypriority", _) => "128".to_owned(),
                ("setmaxnreg", _) => "40".to_owned(),
                _ => self.register(Type::U32),
            },
            Slot::Vector(ty, count) => self.vector(ty, count),
            Slot::Lanes(ty, count) if count > 1 => self.vector(ty, count),
            Slot::Whole(..) => self.pick(&["%tid", "%ntid", "%ctaid", "%nctaid"]).to_owned(),
            Slot::Amount => self.rng.u32(0..70).to_string(),
            // A barrier, and how many threads come to it.
            Slot::Small if at > 0 => THREADS.to_string(),
            Slot::Small => self.rng.u32(0..16).to_string(),
            Slot::Byte => self.rng.u32(0..16).to_string(),
            Slot::Memory { space, written: _ } => self.address(space),
            Slot::Address if self.mnemonic.contains(".local") => "[%local]".to_owned(),
            Slot::Address => "[%own]".to_owned(),
            Slot::Pointer => self.pick(&["%own", "%shared_as", "%local_as"]).to_owned(),
            Slot::SizeOrPredicate => self.pick(&["0", "4", "%p0", "!%p1"]).to_owned(),
            slot => self.register(value_of(slot)),
        }
    }

    fn is_masked(&self) -> bool {
        match self.op.facts().waits {
            Waits::Warp(_) => matrix(&self.op).is_none(),
            Waits::No | Waits::Block(_) => false,
        }
    }

    fn address(&mut self, space: Option<Space>) -> String {
        let space = space.map(Space::kind);
        if is_whole_matrix(&self.op) {
            let all = if space == Some(Space::Shared) { "[%all_shared]" } else { "[%all]" };
            return all.to_owned();
        }
        let tiles =
            matches!(matrix(&self.op), Some(MatrixOp::LoadTiles(_) | MatrixOp::StoreTiles(_)));
        let base = match space {
            None if tiles => "%shared_as",
            None => self.pick(&["%own", "%shared_as", "%local_as"]),
            Some(Space::Shared) => "%shared",
            Some(Space::Local) => "%local",
            Some(Space::Const) => "table",
            Some(Space::Param) => "parameter",
            _ => "%own",
        };
        format!("[{base}+{}]", self.pick(&[0, 32]))
    }

    fn vector(&mut self, ty: Type, count: u8) -> String {
        let parts: Vec<String> = (0..count).map(|_| self.register(ty)).collect();
        format!("{{{}}}", parts.join(", "))
    }

    /// One of the pool, or of 128 bits.
    fn register(&mut self, ty: Type) -> String {
        match kind(ty) {
            'p' => format!("%p{}", self.rng.u32(0..4)),
            'h' => format!("%h{}", self.rng.u32(0..4)),
            'r' => format!("%r{}", self.rng.u32(0..8)),
            'd' => format!("%d{}", self.rng.u32(0..6)),
            _ => format!("%q{}", self.rng.u32(0..2)),
        }
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.usize(0..list.len())]
    }
}

/// The type of a single value.
fn value_of(slot: Slot) -> Type {
    match slot {
        Slot::Value(ty) | Slot::Divisor(ty) | Slot::Loose(ty) | Slot::Packed(ty) => ty,
        Slot::Lanes(ty, _) | Slot::Vector(ty, _) | Slot::Whole(ty, _) => ty,
        Slot::Amount | Slot::Small | Slot::Byte | Slot::SizeOrPredicate => Type::U32,
        Slot::Address | Slot::Memory { .. } | Slot::Pointer => Type::U64,
        Slot::Label | Slot::Table | Slot::Call | Slot::Coordinates => {
            panic!("{slot:?} is no value")
        }
    }
}

/// Which registers hold values of a type.
fn kind(ty: Type) -> char {
    match ty.bits() {
        1 => 'p',
        8 | 16 => 'h',
        32 => 'r',
        64 => 'd',
        _ => 'q',
    }
}

/// The beginning of a kernel, with all that instructions name.
pub fn begin(writer: &mut Writer<'_>) {
    writer.out = format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n\
         .const .align 64 .b8 table[128] = {{1, 2, 3, 250, 5, 6, 7, 128, 9, 10, 11, 255}};\n\
         .shared .align 64 .b8 sh[{}];\n\
         .visible .entry k(.param .u64 in, .param .u64 memory, .param .u64 out, .param .u64 all)\n{{\n\
         .param .align 64 .b8 parameter[64];\n.local .align 64 .b8 lo[{OWN}];\n\
         .reg .pred %to_p<8>;\n.reg .b16 %to_h<8>;\n.reg .b32 %to_r<8>;\n.reg .b64 %to_d<8>;\n\
         .reg .b128 %to_q<8>, %q<2>;\n\
         .reg .b64 %shared, %shared_as, %local, %local_as, %all_shared;\n",
        THREADS * OWN + COMMON
    );
    writer.registers();
}

/// A kernel that fills registers and memory, does it, and shows what they hold then: only what the instruction has to
/// do with. Of what writes local memory, and of most that has carries, there is no code for groups of threads.
fn kernel(op: &Op, instruction: &str, destinations: &[String], frame: Frame) -> String {
    let mut rng = Rng::with_seed(0);
    let mut writer = Writer::new(&mut rng, true, false);
    writer.alike = frame.alike;
    begin(&mut writer);
    writer.begin_thread(THREADS as u32, OUT);
    writer.load_pool();
    // What is only read may be the same memory for all.
    let stride = if frame.alike && !op.facts().changes { 0 } else { OWN };
    let _ = write!(
        writer.out,
        "ld.param.u64 %own, [memory];\nmad.wide.u32 %own, %tn, {stride}, %own;\n\
         mov.u64 %shared, sh;\nadd.u64 %all_shared, %shared, {};\n\
         mad.wide.u32 %shared, %tn, {stride}, %shared;\ncvta.shared.u64 %shared_as, %shared;\n\
         mov.u64 %local, lo;\ncvta.local.u64 %local_as, %local;\n\
         mov.b128 %q0, {{%d0, %d1}};\nmov.b128 %q1, {{%d2, %d0}};\n",
        THREADS * OWN
    );
    let own = [("shared", "%shared"), ("local", "%local")];
    let own = own.into_iter().filter(|(space, _)| instruction.contains(space));
    let own: Vec<(&str, &str)> = own.collect();
    for at in (0..OWN).step_by(8) {
        if instruction.contains("parameter") {
            let _ = writeln!(writer.out, "st.param.b64 [parameter+{at}], %d{};", at / 8 % 6);
        }
        for (turn, (space, base)) in own.iter().enumerate() {
            let source = (at / 8 + turn + 1) % 6;
            let _ = writeln!(writer.out, "st.{space}.b64 [{base}+{at}], %d{source};");
        }
    }
    let is_matrix = is_whole_matrix(op);
    if is_matrix {
        copy(&mut writer.out, "FILL", "shared", "%all_shared", "global", "%all");
    }
    // The same for all threads: a register that differs between them does so whatever the instruction writes.
    for register in destinations {
        let value = match &register[..5] {
            "%to_p" => format!("setp.eq.u32 {register}, 7, 0;"),
            "%to_h" => format!("mov.b16 {register}, 7;"),
            "%to_r" => format!("mov.b32 {register}, 7;"),
            "%to_d" => format!("mov.b64 {register}, 7;"),
            _ => format!("mov.b64 %td, 7;\nmov.b128 {register}, {{%td, %td}};"),
        };
        let _ = writeln!(writer.out, "{value}");
    }
    let (carries, meets) = (op.facts().carries, frame.meets || matrix(op).is_some());
    if meets {
        writer.out.push_str("bar.sync 0;\n");
    }
    if carries {
        // A carry flag of each thread's own.
        writer.out.push_str("add.cc.u32 %tr, %r7, %r7;\n");
    }
    let _ = writeln!(writer.out, "{instruction};");
    if carries {
        writer.out.push_str("addc.u32 %ts, 0, 0;\nst.global.b32 [%out+56], %ts;\n");
    }
    writer.out.push_str("cp.async.wait_all;\n");
    if meets {
        writer.out.push_str("bar.sync 0;\n");
    }
    for (at, register) in destinations.iter().enumerate() {
        let at = 8 * at;
        let _ = match &register[..5] {
            "%to_p" => writeln!(
                writer.out,
                "selp.b32 %tr, 1, 0, {register};\nst.global.b32 [%out+{at}], %tr;"
            ),
            "%to_h" => writeln!(writer.out, "st.global.b16 [%out+{at}], {register};"),
            "%to_r" => writeln!(writer.out, "st.global.b32 [%out+{at}], {register};"),
            "%to_d" => writeln!(writer.out, "st.global.b64 [%out+{at}], {register};"),
            _ => writeln!(
                writer.out,
                "mov.b128 {{%td, %te}}, {register};\nst.global.b64 [%out+{at}], %td;\n\
                 st.global.b64 [%out+{}], %te;",
                at + 8
            ),
        };
    }
    for at in (0..OWN).step_by(8) {
        for (turn, (space, base)) in own.iter().enumerate() {
            let to = 64 + turn * OWN + at;
            let _ = writeln!(
                writer.out,
                "ld.{space}.b64 %td, [{base}+{at}];\nst.global.b64 [%out+{to}], %td;"
            );
        }
    }
    if is_matrix {
        let _ = writeln!(writer.out, "add.u64 %all, %all, {COMMON};");
        copy(&mut writer.out, "SHOW", "global", "%all", "shared", "%all_shared");
    }
    writer.out.push_str("ret;\n}\n");
    if frame.wide { writer.out } else { narrow(&writer.out) }
}

/// What threads do together with matrices: they read what others wrote before, or write what others read behind it.
fn matrix(op: &Op) -> Option<MatrixOp> {
    if let Waits::Warp(WarpOp::Matrix(matrix)) = op.facts().waits { Some(matrix) } else { None }
}

/// Whether it loads or stores a whole matrix, which lies in memory of all threads.
fn is_whole_matrix(op: &Op) -> bool {
    matches!(matrix(op), Some(MatrixOp::Load(_) | MatrixOp::Store(_)))
}

/// Copies what all threads have together, each a part.
fn copy(out: &mut String, label: &str, to: &str, at: &str, from: &str, source: &str) {
    let _ = writeln!(
        out,
        "mul.lo.u32 %tr, %tn, 8;\n{label}:\ncvt.u64.u32 %td, %tr;\nadd.u64 %te, %td, {source};\n\
         ld.{from}.b64 %te, [%te];\nadd.u64 %td, %td, {at};\nst.{to}.b64 [%td], %te;\n\
         add.u32 %tr, %tr, {};\nsetp.lt.u32 %tp, %tr, {COMMON};\n@%tp bra {label};",
        8 * THREADS
    );
}

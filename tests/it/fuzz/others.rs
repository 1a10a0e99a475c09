//! The forms whose results are decided by more than values in registers: memory of each thread's own, the threads of a
//! warp, the carry flag, an approximation. A kernel of one instruction each gives the same on all engines of the CPU
//! device.

use std::fmt::Write as _;

use fastrand::Rng;
use warpaint::ptx::{
    op::{Floats, Op},
    types::Type,
};

use super::{
    compare::{self, Engines, Job, Outcome, Runner, lengths},
    images::{self, Image},
    operands::{self, COMMON, Missing, OWN, POLICY, THREADS, is_whole_matrix, matrix},
    random::{Writer, narrow},
    refused::{self, is_refused},
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
];

/// Bytes of a thread's output: eight registers, and what it has in shared and local memory.
const OUT: usize = 8 * 8 + 2 * OWN;
/// Instructions of a form, one in each [`Frame`].
const INSTRUCTIONS: usize = Frame::ALL.len();
/// The architecture that kernels are for on the CPU device: all of the table is there.
const TARGET: &str = "sm_100a";
/// How often a form is tried until an instruction of it is one that loads.
pub const TRIES: usize = 40;

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
pub fn reason(row: Row) -> Option<&'static str> {
    let refused = refused::FORMS.iter().filter(|(form, _)| row.notation == *form);
    let mut list = NOT_COMPARED.iter().filter(|(start, _)| spec::begins(row, start));
    refused.chain(list.by_ref()).map(|(_, reason)| *reason).next()
}

/// What is not compared with an NVIDIA GPU, by how its notation begins, with the reason; nor is what the ISA leaves a
/// part of to the device ([`Facts::is_exact`](warpaint::ptx::op::Facts::is_exact)).
pub const NOT_ON_NVIDIA: &[(&str, &str)] = &[
    ("discard", "what memory holds then, the ISA leaves open"),
    ("applypriority", "takes whole lines of 128 bytes, and a thread has 64"),
    ("setmaxnreg", "needs a group of four warps, and a kernel that says how many registers it has"),
    ("brkpt", "ends the launch where no debugger is"),
    (
        "wmma",
        "which thread has which element of a fragment, each device says for itself: `wmma*.ptx` store them",
    ),
    ("txq", "needs a texture: the tests of textures run on both devices"),
    ("suq", "needs a surface, as above"),
];

/// Why a form is not compared with an NVIDIA GPU.
pub fn reason_on_nvidia(row: Row) -> Option<&'static str> {
    let (mnemonic, _) = row.expand(|_| 0);
    if !Op::parse(&mnemonic).unwrap().facts().is_exact {
        return Some("approximate, or the device's own");
    }
    let mut list = NOT_ON_NVIDIA.iter().filter(|(start, _)| spec::begins(row, start));
    list.next().map(|(_, reason)| *reason)
}

/// A kernel of an instruction of the form, made for the architecture, if a GPU defines what that does.
pub fn text_for_nvidia(row: Row, target: &str, rng: &mut Rng) -> Option<String> {
    let frame = Frame::ALL[rng.usize(0..Frame::ALL.len())];
    let one = One::new(row, frame, true, rng).filter(One::is_for_nvidia)?;
    Some(compare::made_for(&one.text, TARGET, target))
}

/// How the engines differ in some instructions of the form, if they do; or that none of it loads.
pub fn difference(engines: &mut Engines, row: Row, seed: u64) -> Option<String> {
    let mut rng = Rng::with_seed(seed);
    let needs_nvidia = reason_on_nvidia(row).is_none() && engines.nvidia_has(row.since);
    let (mut compared, mut on_nvidia, mut refused) = (0, 0, String::new());
    for _ in 0..TRIES {
        let frame = Frame::ALL[compared % Frame::ALL.len()];
        let simple = compared >= INSTRUCTIONS;
        let Some(one) = One::new(row, frame, simple, &mut rng) else { continue };
        let told = |what: String| {
            Some(format!("`{}` of `{}`: {what}\n{}", one.shown, row.notation, one.text))
        };
        let module = match engines.load_whole(&one.text) {
            Ok(module) => module,
            Err(error) => return told(error.to_string()),
        };
        let job = one.job(&mut rng);
        let runners = Runner::OF_CPU.into_iter();
        let mut outcomes: Vec<_> =
            runners.filter_map(|r| Some((r, engines.run(r, &module, &job)?))).collect();
        compared += 1;
        if needs_nvidia && one.is_for_nvidia() {
            match engines.run_on_nvidia(&job, TARGET) {
                Ok(outcome) => {
                    on_nvidia += 1;
                    outcomes.push((Runner::Nvidia, outcome));
                }
                // Not all words of a form go together.
                Err(error) => refused = format!("`{}`: {error}\n{}", one.shown, one.text),
            }
        }
        for pair in outcomes.windows(2) {
            if let Some(how) = one.unlike(&pair[0].1, &pair[1].1) {
                return told(format!("{:?} and {:?}: {how}", pair[0].0, pair[1].0));
            }
        }
        if compared >= INSTRUCTIONS && (!needs_nvidia || on_nvidia >= INSTRUCTIONS) {
            return None;
        }
    }
    if compared < INSTRUCTIONS {
        return Some(format!("only {compared} instructions of `{}` load", row.notation));
    }
    (on_nvidia == 0).then(|| {
        let row = row.notation;
        format!("none of {compared} instructions of `{row}` loads on the GPU; the last: {refused}")
    })
}

/// A kernel of one instruction.
struct One {
    /// The instruction.
    shown: String,
    text: String,
    /// What its results are, and what memory holds.
    ty: Option<Type>,
    image: Option<Image>,
}

impl One {
    /// Any instruction of the form, or a simple one, whose words mostly go together; none where that is refused.
    fn new(row: Row, frame: Frame, simple: bool, rng: &mut Rng) -> Option<Self> {
        let (mnemonic, signature) = row.expand(|list| {
            let first = simple && rng.u32(0..3) > 0;
            if first { 0 } else { rng.usize(0..list.len()) }
        });
        let op = Op::parse(&mnemonic).unwrap();
        let ty = match op.facts().floats {
            Floats::None => None,
            Floats::Of { .. } | Floats::Any => {
                mnemonic.split('.').filter_map(Type::parse).find(|ty| ty.is_float())
            }
        };
        let missing = Missing::random(&signature, rng);
        // All results that it can have, where all threads have the same ones.
        let missing =
            Missing { destinations: if frame.alike { 0 } else { missing.destinations }, ..missing };
        let (instruction, destinations) =
            operands::instruction(&mnemonic, &signature, missing, rng);
        if is_refused(&instruction) {
            return None;
        }
        let image = Image::new(&op, rng);
        let text = kernel(&op, &instruction, &destinations, image.is_some(), frame);
        Some(Self { shown: instruction, text, ty, image })
    }

    /// Whether a GPU defines what it does: not with parameters of a call that is none.
    fn is_for_nvidia(&self) -> bool {
        !self.shown.contains("parameter")
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
        let (text, block) = (self.text.clone(), THREADS as u32);
        Job { text, grid: 1, block, buffers, images: self.image.clone().into_iter().collect() }
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

/// A kernel that fills registers and memory, does it, and shows what they hold then: only what the instruction has to
/// do with. Of what writes local memory, and of most that has carries, there is no code for groups of threads.
fn kernel(
    op: &Op,
    instruction: &str,
    destinations: &[String],
    image: bool,
    frame: Frame,
) -> String {
    let mut rng = Rng::with_seed(0);
    let mut writer = Writer::new(&mut rng, true, false);
    writer.alike = frame.alike;
    operands::begin(&mut writer, TARGET, if image { ", .param .u64 image" } else { "" });
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
    if image {
        writer.out.push_str("ld.param.u64 %image, [image];\n");
        images::give_coordinates(op, instruction, &mut writer.out);
    }
    if instruction.contains(POLICY) {
        let _ = writeln!(writer.out, "createpolicy.fractional.L2::evict_first.b64 {POLICY}, 1.0;");
    }
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

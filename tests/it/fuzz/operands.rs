//! Instructions of the table with their operands: registers of the pool, memory of the thread's own, an image.

use std::fmt::Write as _;

use fastrand::Rng;
use warpaint::ptx::{
    matrix::MatrixOp,
    modifier::{Geometry, Mip},
    op::{Op, Signature, Slot, Waits, WarpOp},
    types::{Space, Type},
};

use super::random::Writer;

/// Threads of the kernel: one warp.
pub const THREADS: usize = 32;
/// Bytes that a thread has in each state space.
pub const OWN: usize = 64;
/// Bytes of memory that all have together: the largest matrix, with a stride of [`STRIDE`].
pub const COMMON: usize = 16 << 10;
/// Elements from row to row of a matrix in memory: whole blocks of 16 bytes of any type.
const STRIDE: &str = "128";
/// What texels are compared with, where an instruction has that.
pub const DEPTH: &str = "%depth";

/// A cache policy.
pub const POLICY: &str = "%policy";

/// How many of the last destinations and sources are left out of those that may be missing.
#[derive(Clone, Copy, Default)]
pub struct Missing {
    pub destinations: usize,
    pub sources: usize,
}

impl Missing {
    /// Every way to leave some out.
    pub fn all(signature: &Signature) -> impl Iterator<Item = Self> {
        let destinations = 0..=signature.optional_destinations;
        let sources = signature.optional_sources;
        destinations.flat_map(move |destinations| {
            (0..=sources).map(move |sources| Self { destinations, sources })
        })
    }

    pub fn random(signature: &Signature, rng: &mut Rng) -> Self {
        Self {
            destinations: rng.usize(0..=signature.optional_destinations),
            sources: rng.usize(0..=signature.optional_sources),
        }
    }
}

/// An instruction, and the registers that it writes.
pub fn instruction(
    mnemonic: &str,
    signature: &Signature,
    missing: Missing,
    rng: &mut Rng,
) -> (String, Vec<String>) {
    let op = Op::parse(mnemonic).unwrap();
    let places = places(&op);
    let mut operands = Operands { rng, mnemonic, op, places, destinations: Vec::new() };
    let instruction = operands.instruction(signature, missing);
    (instruction, operands.destinations)
}

/// What values stand for that tell where in an image, and how.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    At,
    Level,
    Gradient,
    Offset,
    Depth,
}

/// The shape of the image that an operation accesses, and whether its coordinates are floats.
pub fn image(op: &Op) -> Option<(Geometry, bool)> {
    match op {
        Op::Tex(tex) | Op::Tld4 { tex, .. } => Some((tex.geometry, tex.coord == Type::F32)),
        Op::Suld(surface) | Op::Sust(surface) => Some((surface.geometry, false)),
        Op::Sured(reduction) => Some((reduction.surface.geometry, false)),
        _ => None,
    }
}

/// The places in an image that an operation names, in the order of its operands.
fn places(op: &Op) -> Vec<Place> {
    let mut places = vec![Place::At];
    if let Op::Tex(tex) = op {
        match tex.mip {
            Mip::Default | Mip::Base => {}
            Mip::Level => places.push(Place::Level),
            Mip::Grad => places.extend([Place::Gradient; 2]),
        }
    }
    places.extend([Place::Offset, Place::Depth]);
    places.reverse();
    places
}

/// Writes the operands of an instruction.
struct Operands<'a> {
    rng: &'a mut Rng,
    mnemonic: &'a str,
    op: Op,
    /// The places in an image that are left to be written, the next one last.
    places: Vec<Place>,
    /// How many registers of its own it has taken as destinations: their names.
    destinations: Vec<String>,
}

impl Operands<'_> {
    fn instruction(&mut self, signature: &Signature, missing: Missing) -> String {
        let Signature { destinations, sources, .. } = signature;
        let written = &destinations[..destinations.len() - missing.destinations];
        let read = &sources[..sources.len() - missing.sources];
        let written: Vec<String> = written.iter().map(|slot| self.destination(*slot)).collect();
        let mut operands = vec![written.join("|")];
        let bracketed = self.bracketed(read);
        if bracketed > 0 {
            let inside: Vec<String> =
                (0..bracketed).filter_map(|at| self.source(read, at)).collect();
            operands.push(format!("[{}]", inside.join(", ")));
        }
        operands.extend((bracketed..read.len()).filter_map(|at| self.source(read, at)));
        operands.retain(|text| !text.is_empty());
        format!("{} {}", self.mnemonic, operands.join(", "))
    }

    /// How many of the first sources stand in brackets: the handles of an image, and where in it.
    fn bracketed(&self, sources: &[Slot]) -> usize {
        if self.op.facts().in_brackets == 0 {
            return 0;
        }
        let handles = sources.iter().take_while(|slot| **slot == Slot::Pointer).count();
        handles + usize::from(sources.get(handles) == Some(&Slot::Coordinates))
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

    /// A source; none where the operation has no such place in an image of its shape.
    fn source(&mut self, sources: &[Slot], at: usize) -> Option<String> {
        let opcode = self.mnemonic.split('.').next().unwrap_or_default();
        let is_last = at + 1 == sources.len();
        Some(match sources[at] {
            // Which threads take part: all of the warp.
            Slot::Value(Type::B32) if is_last && self.is_masked() => "-1".to_owned(),
            Slot::Value(Type::B32) if is_whole_matrix(&self.op) => STRIDE.to_owned(),
            // A GPU takes no other word than one that it has made.
            Slot::Value(Type::B64) if is_last && self.mnemonic.contains("L2::cache_hint") => {
                POLICY.to_owned()
            }
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
            Slot::Pointer if self.op.facts().in_brackets > 0 => "%image".to_owned(),
            Slot::Pointer => self.pick(&["%own", "%shared_as", "%local_as"]).to_owned(),
            Slot::SizeOrPredicate => self.pick(&["0", "4", "%p0", "!%p1"]).to_owned(),
            Slot::Coordinates => return self.coordinates(),
            Slot::Label => "END".to_owned(),
            Slot::Table => "TARGETS".to_owned(),
            slot => self.register(value_of(slot)),
        })
    }

    /// Where in the image, and how.
    fn coordinates(&mut self) -> Option<String> {
        let (geometry, float) = image(&self.op)?;
        let place = self.places.pop()?;
        let kind = if float { "%pos" } else { "%at" };
        let is_cube = matches!(geometry, Geometry::Cube | Geometry::Acube);
        let is_layered = matches!(geometry, Geometry::A1d | Geometry::A2d | Geometry::Acube);
        // Texture arrays have their layer first; with several samples all coordinates are whole numbers.
        let count = geometry.coordinates().unwrap_or(4);
        let sides = count - usize::from(is_layered);
        // Three are written as four, the last of which is not looked at.
        let vector = |mut parts: Vec<String>| {
            parts.extend(parts.get(2).cloned().filter(|_| parts.len() == 3));
            format!("{{{}}}", parts.join(", "))
        };
        let each = |kind: &str| (0..sides).map(|at| format!("{kind}{at}")).collect::<Vec<_>>();
        match place {
            Place::At => {
                let layer = is_layered.then(|| "%layer".to_owned());
                Some(vector(layer.into_iter().chain(each(kind)).collect()))
            }
            Place::Level => Some(format!("{kind}0")),
            Place::Gradient => Some(vector(each("%pos"))),
            Place::Offset if is_cube => None,
            Place::Offset => {
                let parts = (0..sides).map(|_| self.rng.i32(-8..8).to_string());
                Some(vector(parts.collect()))
            }
            Place::Depth if geometry == Geometry::D3 => None,
            Place::Depth => Some(DEPTH.to_owned()),
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
        let is_atomic = matches!(self.op, Op::Atom(_) | Op::Red(_));
        let base = match space {
            None if tiles => "%shared_as",
            // Vectors have atomics in global memory alone (PTX ISA, `atom`).
            None if is_atomic && self.mnemonic.contains(".v") => "%own",
            // Local memory has no atomics.
            None if is_atomic => self.pick(&["%own", "%shared_as"]),
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

/// What threads do together with matrices: they read what others wrote before, or write what others read behind it.
pub fn matrix(op: &Op) -> Option<MatrixOp> {
    if let Waits::Warp(WarpOp::Matrix(matrix)) = op.facts().waits { Some(matrix) } else { None }
}

/// Whether it loads or stores a whole matrix, which lies in memory of all threads.
pub fn is_whole_matrix(op: &Op) -> bool {
    matches!(matrix(op), Some(MatrixOp::Load(_) | MatrixOp::Store(_)))
}

/// The beginning of a kernel for an architecture, `sm_100a` say, with all that instructions name. More `parameters`
/// stand behind the four that each has.
pub fn begin(writer: &mut Writer<'_>, target: &str, parameters: &str) {
    writer.out = format!(
        ".version 8.8\n.target {target}\n.address_size 64\n\
         .const .align 64 .b8 table[128] = {{1, 2, 3, 250, 5, 6, 7, 128, 9, 10, 11, 255}};\n\
         .shared .align 64 .b8 sh[{}];\n\
         .visible .entry k(.param .u64 in, .param .u64 memory, .param .u64 out, .param .u64 all{parameters})\n{{\n\
         .param .align 64 .b8 parameter[64];\n.local .align 64 .b8 lo[{OWN}];\n\
         .reg .pred %to_p<8>;\n.reg .b16 %to_h<8>;\n.reg .b32 %to_r<8>;\n.reg .b64 %to_d<8>;\n\
         .reg .b128 %to_q<8>, %q<2>;\n\
         .reg .b64 %shared, %shared_as, %local, %local_as, %all_shared, %image, {POLICY};\n\
         .reg .b32 %at<4>, %pos<4>, %layer, {DEPTH};\n",
        THREADS * OWN + COMMON
    );
    writer.registers();
}

/// A kernel of one instruction after another, each on a line, with nothing that gives registers a value.
pub fn straight<'a>(instructions: impl Iterator<Item = &'a str>, target: &str) -> String {
    let mut rng = Rng::with_seed(0);
    let mut writer = Writer::new(&mut rng, true, false);
    begin(&mut writer, target, "");
    writer.out.push_str("TARGETS: .branchtargets END;\n");
    for instruction in instructions {
        let _ = writeln!(writer.out, "{instruction};");
    }
    writer.out.push_str("END:\nret;\n}\n");
    writer.out
}

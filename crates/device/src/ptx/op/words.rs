//! The words of a mnemonic: an operation's fields take theirs when it is read, and put them back when it is printed.
//!
//! Enters: words. Leaves: the fields of an operation, and the same words again. Must not know: `ptx::ast`,
//! `ptx::parser`, `ptx::op::table`.

mod matrix;

use crate::ptx::{
    matrix::{BitOp, Element, Major},
    modifier::*,
    types::{Scope, Space, Type},
    video::{Second, Video, VideoOp},
};

/// The words of a mnemonic that no field has taken yet. The opcode is the first; the others may stand in any order.
pub(super) struct Words<'a> {
    mnemonic: &'a str,
    rest: Vec<&'a str>,
    begun: bool,
    kept: bool,
}

impl<'a> Words<'a> {
    pub(super) fn new(mnemonic: &'a str) -> Self {
        let mut rest: Vec<&str> = mnemonic.split('.').collect();
        let opcode = rest[0];
        match opcode {
            // `addc` and `vadd4` say in the opcode what others say in a word of its own.
            "addc" | "subc" | "madc" => _ = rest.splice(0..1, [&opcode[..3], "c"]),
            _ if opcode.starts_with('v') && opcode.ends_with(['2', '4']) => {
                let (name, lanes) = opcode.split_at(opcode.len() - 1);
                rest.splice(0..1, [name, lanes]);
            }
            // `bar` is short for `barrier` of this block for whole warps.
            "bar" | "barrier" => {
                rest.retain(|word| *word != "cta");
                if rest.contains(&"aligned") {
                    rest.retain(|word| *word != "aligned");
                    rest[0] = "bar";
                }
            }
            "cp" if !rest.contains(&"mbarrier") => rest.iter_mut().for_each(|word| {
                if *word == "shared::cta" {
                    *word = Space::Shared.text();
                }
            }),
            _ => {}
        }
        Self { mnemonic, rest, begun: false, kept: false }
    }

    /// Whether a field has taken each.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Whether a field has taken them as they are written.
    pub(super) fn are_kept(&self) -> bool {
        self.kept
    }

    /// Takes the first word that `parse` knows; what is looked for first is the opcode.
    fn find<T>(&mut self, parse: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let looked_at = if self.begun { self.rest.len() } else { 1 };
        let mut words = self.rest.iter().take(looked_at).enumerate();
        let (at, found) = words.find_map(|(at, word)| Some((at, parse(word)?)))?;
        self.rest.remove(at);
        self.begun = true;
        Some(found)
    }

    /// Takes `word`, where it is there.
    pub(super) fn flag(&mut self, word: &str) -> bool {
        self.find(|other| (other == word).then_some(())).is_some()
    }

    /// Takes one of two words; whether it is the first, which is what no word says where that is empty.
    pub(super) fn either(&mut self, yes: &str, no: &str) -> Option<bool> {
        if yes.is_empty() {
            return Some(!self.flag(no));
        }
        self.find(|word| if word == yes { Some(true) } else { (word == no).then_some(false) })
    }

    /// Takes the words about levels of the cache.
    fn hints(&mut self) -> Option<Box<str>> {
        let is_hint = |word: &&str| word.starts_with("L1::") || word.starts_with("L2::");
        let hints: Vec<&str> = self.rest.iter().copied().filter(is_hint).collect();
        self.rest.retain(|word| !is_hint(word));
        (!hints.is_empty()).then(|| hints.join(".").into())
    }
}

/// A mnemonic that is being written.
#[derive(Default)]
pub(super) struct Text(pub(super) String);

impl Text {
    pub(super) fn word(&mut self, word: &str) -> &mut Self {
        if !word.is_empty() {
            if !self.0.is_empty() {
                self.0.push('.');
            }
            self.0.push_str(word);
        }
        self
    }

    pub(super) fn flag(&mut self, set: bool, word: &str) -> &mut Self {
        if set { self.word(word) } else { self }
    }

    fn put(&mut self, modifier: &impl Modifier) -> &mut Self {
        modifier.put(self);
        self
    }
}

/// A field of an operation that stands in its mnemonic.
pub(super) trait Modifier: Sized {
    /// Takes its words; none where one is missing.
    fn take(words: &mut Words<'_>) -> Option<Self>;

    /// Writes its words.
    fn put(&self, text: &mut Text);

    /// The surface that it describes an access to.
    fn surface(&self) -> Option<&Surface> {
        None
    }

    /// That surface, to be changed.
    fn surface_mut(&mut self) -> Option<&mut Surface> {
        None
    }
}

/// Fields that are one of several words, or one of them or none.
macro_rules! keywords_are_modifiers {
    ($($name:ident),+) => { $(
        impl Modifier for $name {
            fn take(words: &mut Words<'_>) -> Option<Self> {
                words.find(Self::parse)
            }

            fn put(&self, text: &mut Text) {
                text.word(self.text());
            }
        }

        impl Modifier for Option<$name> {
            fn take(words: &mut Words<'_>) -> Option<Self> {
                Some(words.find($name::parse))
            }

            fn put(&self, text: &mut Text) {
                text.word(self.map_or("", $name::text));
            }
        }
    )+ };
}

keywords_are_modifiers!(
    AtomOp,
    BitOp,
    BoolOp,
    CacheOp,
    Clamp,
    Cmp,
    Component,
    Element,
    Function,
    Geometry,
    Half,
    IntRounding,
    Major,
    MembarLevel,
    Order,
    Packed,
    PrmtMode,
    Query,
    Rounding,
    Scope,
    Second,
    ShflMode,
    Space,
    Test,
    Type
);

/// Instructions that are kept as written.
impl Modifier for Box<str> {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        words.rest.clear();
        words.kept = true;
        Some(words.mnemonic.into())
    }

    fn put(&self, text: &mut Text) {
        text.0 = self.to_string();
    }
}

/// What only the operands say.
impl Modifier for Option<u32> {
    fn take(_: &mut Words<'_>) -> Option<Self> {
        Some(None)
    }

    fn put(&self, _: &mut Text) {}
}

/// How many: `.v2`, `.v4`, `.v8`, or one.
impl Modifier for u8 {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let lanes = |word| match word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        };
        Some(words.find(lanes).unwrap_or(1))
    }

    fn put(&self, text: &mut Text) {
        match self {
            0 | 1 => {}
            lanes => _ = text.word(&format!("v{lanes}")),
        }
    }
}

impl Modifier for Mode {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let rounding = Modifier::take(words)?;
        Some(Self { rounding, ftz: words.flag("ftz"), sat: words.flag("sat") })
    }

    fn put(&self, text: &mut Text) {
        text.put(&self.rounding).flag(self.ftz, "ftz").flag(self.sat, "sat");
    }
}

impl Modifier for Carry {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        Some(Self { read: words.flag("c"), write: words.flag("cc") })
    }

    fn put(&self, text: &mut Text) {
        if self.read {
            // `madc.lo.cc`
            let opcode = text.0.find('.').unwrap_or(text.0.len());
            text.0.insert(opcode, 'c');
        }
        text.flag(self.write, "cc");
    }
}

impl Modifier for CacheWords {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        Some(Self(words.hints()))
    }

    fn put(&self, text: &mut Text) {
        text.word(self.0.as_deref().unwrap_or(""));
    }
}

impl Modifier for CacheHints {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let hints = Modifier::take(words)?;
        Some(Self { op: Modifier::take(words)?, words: hints })
    }

    fn put(&self, text: &mut Text) {
        text.put(&self.op).put(&self.words);
    }
}

/// `.mmio.relaxed` is one order; the first of the words says all.
fn take_order(words: &mut Words<'_>) -> Option<Order> {
    let mmio = words.rest.contains(&Order::Mmio.text()) && words.flag(Order::Relaxed.text());
    words.find(Order::parse).or(mmio.then_some(Order::Mmio))
}

fn put_order(text: &mut Text, order: Option<Order>, scope: Option<Scope>) {
    text.put(&order).flag(order == Some(Order::Mmio), Order::Relaxed.text()).put(&scope);
}

impl Modifier for Access {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        Some(Self {
            order: take_order(words),
            scope: Modifier::take(words)?,
            space: Modifier::take(words)?,
            nc: words.flag("nc"),
            cache: Modifier::take(words)?,
            lanes: Modifier::take(words)?,
            ty: Modifier::take(words)?,
        })
    }

    fn put(&self, text: &mut Text) {
        put_order(text, self.order, self.scope);
        text.put(&self.space).flag(self.nc, "nc").put(&self.cache);
        text.put(&self.lanes).put(&self.ty);
    }
}

impl Modifier for Atomic {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        Some(Self {
            order: Modifier::take(words)?,
            scope: Modifier::take(words)?,
            space: Modifier::take(words)?,
            op: Modifier::take(words)?,
            noftz: words.flag("noftz"),
            cache: Modifier::take(words)?,
            lanes: Modifier::take(words)?,
            ty: Modifier::take(words)?,
        })
    }

    fn put(&self, text: &mut Text) {
        text.put(&self.order).put(&self.scope).put(&self.space).put(&self.op);
        text.flag(self.noftz, "noftz").put(&self.cache).put(&self.lanes).put(&self.ty);
    }
}

impl Modifier for MinMax {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let xorsign_abs = words.flag("xorsign");
        // There is no `.xorsign` without `.abs`.
        (!xorsign_abs || words.flag("abs")).then_some(())?;
        Some(Self {
            ftz: words.flag("ftz"),
            nan: words.flag("NaN"),
            xorsign_abs,
            abs: words.flag("abs"),
            relu: words.flag("relu"),
            ty: Modifier::take(words)?,
            // Only the operands tell.
            three: false,
        })
    }

    fn put(&self, text: &mut Text) {
        text.flag(self.ftz, "ftz").flag(self.nan, "NaN");
        text.flag(self.xorsign_abs, "xorsign.abs").flag(self.abs, "abs");
        // `min.relu.s32`, `min.s16x2.relu`: the words stand before the type for all types that drivers accept.
        text.flag(self.relu, "relu").put(&self.ty);
    }
}

impl Modifier for Accuracy {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let parse = |word| Self::parse(word).filter(|accuracy| *accuracy != Self::Exact);
        Some(words.find(parse).unwrap_or(Self::Exact))
    }

    fn put(&self, text: &mut Text) {
        text.word(self.text());
    }
}

impl Modifier for Cvt {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        Some(Self {
            integer: Modifier::take(words)?,
            rounding: Modifier::take(words)?,
            ftz: words.flag("ftz"),
            sat: words.flag("sat"),
            relu: words.flag("relu"),
            satfinite: words.flag("satfinite"),
            to: Modifier::take(words)?,
            from: Modifier::take(words)?,
        })
    }

    fn put(&self, text: &mut Text) {
        text.put(&self.integer).put(&self.rounding).flag(self.ftz, "ftz").flag(self.sat, "sat");
        // `cvt.rn.satfinite.relu.e4m3x2.f32`, but `cvt.rn.relu.satfinite.f16.f32`.
        let bytes = matches!(self.to, Type::E4m3x2 | Type::E5m2x2);
        text.flag(bytes && self.satfinite, "satfinite").flag(self.relu, "relu");
        text.flag(!bytes && self.satfinite, "satfinite").put(&self.to).put(&self.from);
    }
}

/// The `2` or `4` at the end of a video instruction's opcode.
fn take_parts(words: &mut Words<'_>) -> u8 {
    let parts = |word| match word {
        "2" => Some(2),
        "4" => Some(4),
        _ => None,
    };
    words.find(parts).unwrap_or(1)
}

fn put_parts(text: &mut Text, parts: u8) {
    if parts > 1 {
        text.0.push_str(&parts.to_string());
    }
}

impl Modifier for Simd {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let op = words.find(SimdOp::parse)?;
        let lanes = take_parts(words);
        (lanes > 1).then_some(())?;
        let (to, a) = (Modifier::take(words)?, Modifier::take(words)?);
        let (b, sat) = (Modifier::take(words)?, words.flag("sat"));
        Some(Self { op, lanes, to, a, b, sat, add: words.flag("add") })
    }

    fn put(&self, text: &mut Text) {
        text.word(self.op.text());
        put_parts(text, self.lanes);
        text.put(&self.to).put(&self.a).put(&self.b);
        text.flag(self.sat, "sat").flag(self.add, "add");
    }
}

impl Modifier for Video {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let op = words.find(VideoOp::parse)?;
        let lanes = take_parts(words);
        let to = if op == VideoOp::Set { Type::U32 } else { Modifier::take(words)? };
        let mut video = Self::new(op, lanes, to, Modifier::take(words)?, Modifier::take(words)?);
        video.sat = words.flag("sat");
        video.second = words.find(Second::parse);
        match op {
            VideoOp::Shl | VideoOp::Shr => video.wrap = words.either("wrap", "clamp")?,
            VideoOp::Set => video.cmp = Some(words.find(Cmp::parse)?),
            VideoOp::Mad => {
                video.plus_one = words.flag("po");
                video.scale = match (words.flag("shr7"), words.flag("shr15")) {
                    (true, _) => 7,
                    (false, true) => 15,
                    (false, false) => 0,
                };
            }
            VideoOp::Add | VideoOp::Sub | VideoOp::Avrg | VideoOp::Absdiff => {}
            VideoOp::Min | VideoOp::Max => {}
        }
        Some(video)
    }

    fn put(&self, text: &mut Text) {
        text.word(self.op.text());
        put_parts(text, self.lanes);
        if self.op != VideoOp::Set {
            text.put(&self.to);
        }
        text.put(&self.a).put(&self.b).put(&self.cmp).flag(self.plus_one, "po");
        text.flag(self.sat, "sat");
        match self.op {
            VideoOp::Shl | VideoOp::Shr => _ = text.word(if self.wrap { "wrap" } else { "clamp" }),
            VideoOp::Mad => _ = text.flag(self.scale == 7, "shr7").flag(self.scale == 15, "shr15"),
            VideoOp::Add | VideoOp::Sub | VideoOp::Avrg | VideoOp::Absdiff => {}
            VideoOp::Min | VideoOp::Max | VideoOp::Set => {}
        }
        text.put(&self.second);
    }
}

impl Modifier for Mbarrier {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        // `cp.async.mbarrier.arrive` is an arrival of another kind.
        let copies = words.flag("cp") && words.flag("async");
        words.flag("mbarrier").then_some(())?;
        // `mbarrier.arrive.expect_tx` is an arrival: its own word is the first.
        let mut op = words.find(MbarrierOp::parse)?;
        if copies {
            op = (op == MbarrierOp::Arrive).then_some(MbarrierOp::CopyArrive)?;
        }
        let arrives = matches!(op, MbarrierOp::Arrive | MbarrierOp::ArriveDrop);
        let mbarrier = Self {
            op,
            no_increment: words.flag("noinc"),
            expect_tx: arrives && words.flag("expect_tx"),
            no_complete: words.flag("noComplete"),
            parity: words.flag("parity"),
            order: Modifier::take(words)?,
            scope: Modifier::take(words)?,
            space: Modifier::take(words)?,
        };
        words.flag("b64").then_some(mbarrier)
    }

    fn put(&self, text: &mut Text) {
        text.flag(self.op != MbarrierOp::CopyArrive, "mbarrier").word(self.op.text());
        text.flag(self.no_increment, "noinc").flag(self.expect_tx, "expect_tx");
        text.flag(self.no_complete, "noComplete").flag(self.parity, "parity");
        put_order(text, self.order, self.scope);
        text.put(&self.space).word("b64");
    }
}

impl Modifier for BarKind {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let kind = words.find(|word| matches!(word, "sync" | "arrive" | "red").then_some(word))?;
        let op = words.find(|word| matches!(word, "popc" | "and" | "or").then_some(word));
        let kind = match (kind, op) {
            ("sync", None) => Self::Sync,
            ("arrive", None) => Self::Arrive,
            ("red", Some("popc")) => Self::RedPopc,
            ("red", Some("and")) => Self::RedAnd,
            ("red", Some("or")) => Self::RedOr,
            _ => return None,
        };
        kind.ty().is_none_or(|ty| words.flag(ty.text())).then_some(kind)
    }

    fn put(&self, text: &mut Text) {
        text.word(self.text()).put(&self.ty());
    }
}

/// A ballot gives bits, the others a predicate.
impl Modifier for VoteMode {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let mode = words.find(Self::parse)?;
        words.flag(mode.ty().text()).then_some(mode)
    }

    fn put(&self, text: &mut Text) {
        text.word(self.text()).put(&self.ty());
    }
}

impl Modifier for Tex {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let is_mip = |word| Mip::parse(word).filter(|mip| *mip != Mip::Default);
        Some(Self {
            mip: words.find(is_mip).unwrap_or(Mip::Default),
            geometry: Modifier::take(words)?,
            lanes: Modifier::take(words)?,
            to: Modifier::take(words)?,
            coord: Modifier::take(words)?,
            sampler: false,
        })
    }

    fn put(&self, text: &mut Text) {
        text.word(self.mip.text()).put(&self.geometry).put(&self.lanes);
        text.put(&self.to).put(&self.coord);
    }
}

impl Modifier for SurfaceReduction {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        Some(Self { op: Modifier::take(words)?, surface: Modifier::take(words)? })
    }

    fn put(&self, text: &mut Text) {
        put_form(text, &self.surface);
        text.put(&self.op);
        put_rest(text, &self.surface);
    }

    fn surface(&self) -> Option<&Surface> {
        Some(&self.surface)
    }

    fn surface_mut(&mut self) -> Option<&mut Surface> {
        Some(&mut self.surface)
    }
}

fn put_form(text: &mut Text, surface: &Surface) {
    text.word(if surface.formatted { "p" } else { "b" });
}

fn put_rest(text: &mut Text, surface: &Surface) {
    text.put(&surface.geometry).put(&surface.cache).put(&surface.lanes).put(&surface.ty);
    text.put(&surface.clamp);
}

impl Modifier for Surface {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        Some(Self {
            formatted: words.either("p", "b")?,
            geometry: Modifier::take(words)?,
            cache: Modifier::take(words)?,
            lanes: Modifier::take(words)?,
            ty: Modifier::take(words)?,
            clamp: Modifier::take(words)?,
        })
    }

    fn put(&self, text: &mut Text) {
        put_form(text, self);
        put_rest(text, self);
    }

    fn surface(&self) -> Option<&Surface> {
        Some(self)
    }

    fn surface_mut(&mut self) -> Option<&mut Surface> {
        Some(self)
    }
}

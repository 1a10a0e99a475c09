//! The instructions of the table of operations, sorted by what may be asked of their results.

use std::sync::LazyLock;

use fastrand::Rng;
use warpaint::ptx::{
    op::{self, Floats, Op, Slot, Waits},
    types::Type,
};

/// A form of the table: a row of instructions.
pub type Row = &'static op::Form;

/// What stands at an operand's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A value of a type, or what else there is to name: `mem`, `label`, `table`, `{f32}`.
    Value(String),
    /// So many values of a type, in a vector.
    Vector(String, u8),
    /// A value of a type that is not zero.
    Divisor(String),
    /// A constant below 256.
    Byte,
    /// A number of bits, 32 bits wide.
    Amount,
    /// A number below 32.
    Small,
}

/// One instruction without its registers.
#[derive(Clone, Debug)]
pub struct Form {
    pub mnemonic: String,
    pub destinations: Vec<Place>,
    pub sources: Vec<Place>,
}

/// What a test may ask of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// The same bits everywhere, of bits and integers.
    Integer,
    /// The same bits everywhere, of floating-point numbers.
    Float,
    /// The same bits everywhere, in half precision.
    Half,
    /// The same bits everywhere, from sm_90 on.
    Sm90,
    /// The same bits everywhere, from sm_100 on.
    Sm100,
    /// The same bits on all engines of the CPU device, as far as they can be compared: results are approximate, or
    /// depend on more than the operands.
    Other,
}

macro_rules! rows {
    ($($name:ident: $class:ident,)+) => { $(
        pub static $name: LazyLock<Vec<Row>> =
            LazyLock::new(|| op::forms().filter(|form| class(form) == Some(Class::$class)).collect());
    )+ };
}

rows! {
    INTEGER: Integer,
    FLOAT: Float,
    HALF: Half,
    SM90: Sm90,
    SM100: Sm100,
    OTHER: Other,
}

/// Functions and their arguments have no class: they are more than operands.
fn class(row: Row) -> Option<Class> {
    let (mnemonic, signature) = row.expand(|_| 0);
    let slots = || signature.destinations.iter().chain(&signature.sources);
    if mnemonic.is_empty() || slots().any(|slot| *slot == Slot::Call) {
        return None;
    }
    let op = Op::parse(&mnemonic).unwrap_or_else(|error| panic!("{mnemonic}: {error}"));
    if let Op::Unsupported { .. } = op {
        return None;
    }
    let facts = op.facts();
    let is_value = |slot: &Slot| match slot {
        Slot::Value(_) | Slot::Divisor(_) | Slot::Loose(_) => true,
        Slot::Amount | Slot::Small | Slot::Byte => true,
        Slot::Packed(ty) => *ty != Type::B128,
        _ => false,
    };
    let alone = facts.is_function && !facts.observes && !facts.changes && facts.waits == Waits::No;
    let exact = facts.is_exact && alone && !facts.carries && !signature.destinations.is_empty();
    if !exact || !slots().all(is_value) {
        return Some(Class::Other);
    }
    let is = |of: fn(Type) -> bool| {
        slots().any(|slot| match slot {
            Slot::Value(ty) | Slot::Loose(ty) => of(*ty),
            _ => false,
        })
    };
    let half = |ty| matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2);
    Some(match (row.since, is(half), is(Type::is_float) || facts.floats != Floats::None) {
        (91.., ..) => Class::Sm100,
        (81.., ..) => Class::Sm90,
        (_, true, _) => Class::Half,
        (_, _, true) => Class::Float,
        (_, _, false) => Class::Integer,
    })
}

fn place(slot: &Slot) -> Place {
    let value = |ty: Type| Place::Value(ty.text().to_owned());
    let named = |name: &str| Place::Value(name.to_owned());
    match slot {
        Slot::Value(ty) | Slot::Loose(ty) | Slot::Packed(ty) => value(*ty),
        Slot::Lanes(ty, _) | Slot::Whole(ty, _) => value(*ty),
        Slot::Vector(ty, count) => Place::Vector(ty.text().to_owned(), *count),
        Slot::Divisor(ty) => Place::Divisor(ty.text().to_owned()),
        Slot::Amount => Place::Amount,
        Slot::Small => Place::Small,
        Slot::Byte => Place::Byte,
        Slot::Address | Slot::Memory { .. } => named("mem"),
        Slot::Pointer | Slot::Call => named("u64"),
        Slot::Label => named("label"),
        Slot::Table => named("table"),
        Slot::SizeOrPredicate => named("u32"),
        Slot::Coordinates => named("{f32}"),
    }
}

/// An instruction of `row`, by `choose` where it leaves so many choices.
pub fn form(row: Row, mut choose: impl FnMut(usize) -> usize) -> Form {
    let (mnemonic, signature) = row.expand(|list| choose(list.len()));
    let mut places = |slots: &[Slot], optional: usize| -> Vec<Place> {
        let missing = if optional > 0 { choose(optional + 1) } else { 0 };
        slots[..slots.len() - missing].iter().map(place).collect()
    };
    let destinations = places(&signature.destinations, signature.optional_destinations);
    let sources = places(&signature.sources, signature.optional_sources);
    Form { mnemonic, destinations, sources }
}

/// Whether the notation of a form begins so, but for the architecture that may stand before it.
pub fn begins(row: Row, start: &str) -> bool {
    let notation = row.notation;
    let behind = notation.strip_prefix("sm_").and_then(|rest| rest.split_once(' '));
    behind.map_or(notation, |(_, rest)| rest).starts_with(start)
}

/// What there is to choose in a form's mnemonic: for each place where there are several words, its number with each of
/// theirs.
pub fn choices(row: Row) -> Vec<Vec<(usize, usize)>> {
    let mut all: Vec<Vec<(usize, usize)>> = Vec::new();
    row.expand(|list| {
        all.push((0..list.len()).map(|choice| (all.len(), choice)).collect());
        0
    });
    all
}

/// An instruction of one of `rows`.
pub fn random(rng: &mut Rng, rows: &[Row]) -> Form {
    let row = rows[rng.usize(0..rows.len())];
    form(row, |count| rng.usize(0..count))
}

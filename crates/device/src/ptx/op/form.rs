//! The notation of the table's forms: which mnemonics an operation has, and which operands each takes.
//!
//! A form is `mnemonic destinations <- sources`, with `sm_90 ` before it where an architecture is the first to have any
//! of it.
//!
//! In the mnemonic one is chosen of `{a,b,c}`, perhaps an empty one, as in `{,.ftz}`. `{T:a,b}` names the choice. What
//! begins with `$` stands for a list.
//!
//! | operand | what it is |
//! |---|---|
//! | `u32` | a value of exactly this type's width |
//! | `T` | of the type that was chosen for `T` |
//! | `2T` | of the integer type of twice the width |
//! | `~T` | in a register that may be wider (PTX ISA, section 9.4.1) |
//! | `LxT` | so many as were chosen for `L`, in a vector where there are several; registers may be wider |
//! | `4xT` | so many, in a vector even where it is one |
//! | `+T` | one, or a vector of values that are as wide together |
//! | `%LxT` | all values of a special register, or `LxT` |
//! | `p` | a predicate |
//! | `amount`, `small`, `imm8`, `n0T` | a number of bits, one below 32, a constant of a byte, a `T` that is not zero |
//! | `[S]`, `[S]=` | memory that is read, or written, in the space that was chosen for `S`; generic where none was |
//! | `[]` | an address of memory that is not accessed |
//! | `ptr` | an address or a handle as a value |
//! | `xyz` | coordinates, gradients, offsets of an image: values, in a vector or not |
//! | `size\|p` | a number or a predicate |
//! | `label`, `table`, `call` | a branch target, several, a function with its arguments |
//!
//! A `?` behind an operand: it may be missing. `P:` before it: it is there where the choice `P` is not empty.

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

use super::{Op, table::FORMS};
use crate::ptx::types::{Space, Type};

/// What stands for `$name` in a form, each with its name.
pub const LISTS: &[(&str, &str)] = &[
    ("int", "u16,s16,u32,s32,u64,s64"),
    ("word", "u32,s32,u64,s64"),
    ("narrow", "u8,s8,u16,s16,u32,s32,u64,s64"),
    ("bits", "b16,b32,b64"),
    ("value", "b16,b32,b64,u16,s16,u32,s32,u64,s64,f32,f64"),
    ("half", "f16,f16x2,bf16,bf16x2"),
    ("memory", "b8,u8,s8,b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64"),
    ("texel", "u32,s32,f32"),
    ("rnd", ",.rn,.rz,.rm,.rp"),
    ("frnd", "rn,rz,rm,rp"),
    ("rni", "rni,rzi,rmi,rpi"),
    ("cmp", "eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan"),
    ("window", "global,shared,shared::cta,local,const,param,param::entry"),
    (
        "in",
        ",.global,.shared,.shared::cta,.shared::cluster,.local,.const,.param,.param::entry,.param::func",
    ),
    ("to", ",.global,.shared,.shared::cta,.shared::cluster,.local,.param,.param::func"),
    ("atomic", ",.global,.shared,.shared::cta,.shared::cluster"),
    ("own", ",.shared,.shared::cta"),
    ("near", ",.global,.shared,.shared::cta"),
    ("wmma", "m16n16k16,m8n32k16,m32n8k16"),
    ("shared", ",.shared,.shared::cta,.shared::cluster"),
    (
        "read",
        ",.weak,.volatile,.relaxed.cta,.relaxed.cluster,.relaxed.gpu,.relaxed.sys,.acquire.cta,\
      .acquire.cluster,.acquire.gpu,.acquire.sys",
    ),
    (
        "write",
        ",.weak,.volatile,.relaxed.cta,.relaxed.cluster,.relaxed.gpu,.relaxed.sys,.release.cta,\
      .release.cluster,.release.gpu,.release.sys",
    ),
    ("sem", ",.relaxed,.acquire,.release,.acq_rel"),
    ("scope", ",.cta,.cluster,.gpu,.sys"),
    ("arrival", ",.release.cta,.release.cluster,.relaxed.cta,.relaxed.cluster"),
    ("wait", ",.acquire.cta,.acquire.cluster,.relaxed.cta,.relaxed.cluster"),
    ("load", ",.ca,.cg,.cs,.lu,.cv"),
    ("store", ",.wb,.cg,.cs,.wt"),
    (
        "evict",
        ",.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate",
    ),
    ("far", ".L2::evict_normal,.L2::evict_first,.L2::evict_last"),
    ("fetch", ",.L2::64B,.L2::128B,.L2::256B"),
    ("policy", "L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged"),
    ("few", ",.v2,.v4"),
    ("lanes", ",.v2,.v4,.v8"),
    ("texture", "1d,2d,3d,a1d,a2d,cube,acube"),
    ("surface", "1d,2d,3d,a1d,a2d"),
    ("clamp", ".trap,.clamp,.zero"),
    (
        "query",
        "width,height,depth,array_size,num_mipmap_levels,num_samples,normalized_coords,\
      channel_data_type,channel_order",
    ),
];

/// One form of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// As it stands in the table.
    pub notation: &'static str,
    /// The first architecture that has any of it, as in `sm_90`; 0 where all have. Some words are of later ones.
    pub since: u32,
    pieces: Vec<Piece>,
    destinations: Vec<FormOperand>,
    sources: Vec<FormOperand>,
}

/// A part of a mnemonic: one of several texts, where only one is always there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    name: Option<char>,
    choices: Vec<String>,
}

/// An operand of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FormOperand {
    /// The choice without which it is not there.
    condition: Option<char>,
    may_be_missing: bool,
    notation: String,
}

/// What one operand must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A value of exactly this width.
    Value(Type),
    /// A value that is not zero.
    Divisor(Type),
    /// A value in a register that may be wider.
    Loose(Type),
    /// So many values, in a vector where there are several; registers may be wider.
    Lanes(Type, u8),
    /// So many values, in a vector even where it is one.
    Vector(Type, u8),
    /// A value, or a vector that together has its width.
    Packed(Type),
    /// The values of a special register, or so many values.
    Whole(Type, u8),
    /// A number of bits, 32 bits wide.
    Amount,
    /// A number below 32.
    Small,
    /// A constant below 256.
    Byte,
    /// A memory operand, of memory that is not accessed.
    Address,
    /// A memory operand in a state space, or a generic one.
    Memory {
        /// The state space.
        space: Option<Space>,
        /// Whether it is written.
        written: bool,
    },
    /// An address or a handle as a value.
    Pointer,
    /// A branch target.
    Label,
    /// A list of branch targets.
    Table,
    /// A function, and what it is given.
    Call,
    /// A predicate or a 32-bit number.
    SizeOrPredicate,
    /// Coordinates, gradients and offsets of images: 32-bit values, in vectors or not.
    Coordinates,
}

/// The operands of an instruction with all choices made; the last `optional_…` of each may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// What it writes.
    pub destinations: Vec<Slot>,
    /// What it reads.
    pub sources: Vec<Slot>,
    /// How many of the last destinations may be missing.
    pub optional_destinations: usize,
    /// How many of the last sources may be missing.
    pub optional_sources: usize,
}

/// The forms of all rows of the table.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

/// The forms of all rows, and which rows an opcode may belong to.
pub(super) struct Table {
    pub(super) forms: Vec<Vec<Form>>,
    rows: HashMap<String, Vec<usize>>,
}

impl Table {
    fn new() -> Self {
        let of_row = |texts: &&[&'static str]| texts.iter().map(|text| Form::parse(text)).collect();
        let forms: Vec<Vec<Form>> = FORMS.iter().map(of_row).collect();
        let mut rows: HashMap<String, Vec<usize>> = HashMap::new();
        for (row, forms) in forms.iter().enumerate() {
            for opcode in forms.iter().flat_map(Form::opcodes) {
                let known = rows.entry(opcode).or_default();
                if known.last() != Some(&row) {
                    known.push(row);
                }
            }
        }
        Self { forms, rows }
    }

    /// Whether a form of the row has the mnemonic.
    pub(super) fn has(&self, row: usize, mnemonic: &str) -> bool {
        self.forms[row].iter().any(|form| form.has(mnemonic))
    }

    /// The rows with forms of this opcode.
    pub(super) fn rows(&self, opcode: &str) -> &[usize] {
        self.rows.get(opcode).map_or(&[], Vec::as_slice)
    }
}

/// What was chosen for each name of a form.
type Chosen<'a> = Vec<(char, &'a str)>;

fn chosen<'a>(choices: &Chosen<'a>, name: char) -> &'a str {
    let found = choices.iter().find(|(known, _)| *known == name);
    found.map_or("", |(_, text)| text.trim_start_matches('.'))
}

impl Form {
    /// The form that is written down so.
    fn parse(notation: &'static str) -> Self {
        let (head, sources) = notation.split_once("<-").unwrap_or((notation, ""));
        let mut head = head.split_whitespace().peekable();
        let architecture = head.next_if(|word| word.starts_with("sm_"));
        let since = architecture.and_then(|word| word[3..].parse().ok()).unwrap_or(0);
        let pieces = pieces(head.next().unwrap_or_default());
        let destinations = head.map(FormOperand::parse).collect();
        let sources = sources.split_whitespace().map(FormOperand::parse).collect();
        Self { notation, since, pieces, destinations, sources }
    }

    /// The opcodes of its mnemonics: what stands before the first dot of each.
    fn opcodes(&self) -> BTreeSet<String> {
        let mut opcodes = BTreeSet::new();
        // Beginnings in which no dot has come yet.
        let mut open = BTreeSet::from([String::new()]);
        for piece in &self.pieces {
            let longer = open.iter().flat_map(|start| {
                piece.choices.iter().map(move |choice| format!("{start}{choice}"))
            });
            let (ended, goes_on) = longer.partition::<Vec<_>, _>(|text| text.contains('.'));
            opcodes
                .extend(ended.iter().filter_map(|text| text.split('.').next().map(str::to_owned)));
            open = goes_on.into_iter().collect();
        }
        opcodes.extend(open);
        opcodes
    }

    /// Whether the mnemonic is one of this form's.
    pub(super) fn has(&self, mnemonic: &str) -> bool {
        matches(&self.pieces, mnemonic, &mut Chosen::new())
    }

    /// The operands of the instruction with this mnemonic, where it is one of this form's.
    pub(super) fn signature(&self, mnemonic: &str) -> Option<Signature> {
        let mut choices = Chosen::new();
        matches(&self.pieces, mnemonic, &mut choices).then(|| self.with(&choices))
    }

    /// A mnemonic of this form and its operands; `choose` says which of several texts to take.
    pub fn expand(&self, mut choose: impl FnMut(&[String]) -> usize) -> (String, Signature) {
        let mut choices = Chosen::new();
        let mut mnemonic = String::new();
        for Piece { name, choices: all } in &self.pieces {
            let choice = if all.len() > 1 { choose(all) } else { 0 };
            let text = all.get(choice).map_or("", String::as_str);
            mnemonic.push_str(text);
            choices.extend(name.map(|name| (name, text)));
        }
        let signature = self.with(&choices);
        (mnemonic, signature)
    }

    /// How many destinations it writes down.
    pub(super) fn destinations(&self) -> usize {
        self.destinations.len()
    }

    fn with(&self, choices: &Chosen<'_>) -> Signature {
        let there = |operands: &[FormOperand]| -> (Vec<Slot>, usize) {
            let is_there = |operand: &&FormOperand| {
                operand.condition.is_none_or(|name| !chosen(choices, name).is_empty())
            };
            let operands = operands.iter().filter(is_there);
            let optional = operands.clone().filter(|operand| operand.may_be_missing).count();
            (operands.map(|operand| operand.slot(choices)).collect(), optional)
        };
        let (destinations, optional_destinations) = there(&self.destinations);
        let (sources, optional_sources) = there(&self.sources);
        Signature { destinations, sources, optional_destinations, optional_sources }
    }
}

/// `add{,.sat}.{T:u32,s32}` as its pieces.
fn pieces(mnemonic: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = mnemonic;
    while !rest.is_empty() {
        let (before, after) = rest.split_once('{').unwrap_or((rest, ""));
        if !before.is_empty() {
            pieces.push(Piece { name: None, choices: vec![before.to_owned()] });
        }
        let (group, after) = after.split_once('}').unwrap_or((after, ""));
        if !group.is_empty() {
            let name = group.split_once(':').filter(|(name, _)| name.len() == 1);
            let (name, list) =
                name.map_or((None, group), |(name, list)| (name.chars().next(), list));
            let choices = list.split(',').flat_map(|choice| match choice.strip_prefix('$') {
                Some(name) => listed(name).split(',').map(str::to_owned).collect(),
                None => vec![choice.to_owned()],
            });
            pieces.push(Piece { name, choices: choices.collect() });
        }
        rest = after;
    }
    pieces
}

fn listed(name: &str) -> &'static str {
    LISTS.iter().find(|(known, _)| *known == name).map_or("", |(_, list)| list)
}

/// Whether the pieces write `text`, and with which choices.
fn matches<'a>(pieces: &'a [Piece], text: &str, choices: &mut Chosen<'a>) -> bool {
    let Some((piece, later)) = pieces.split_first() else { return text.is_empty() };
    piece.choices.iter().any(|choice| {
        let Some(rest) = text.strip_prefix(choice.as_str()) else { return false };
        let before = choices.len();
        choices.extend(piece.name.map(|name| (name, choice.as_str())));
        let fits = matches(later, rest, choices);
        if !fits {
            choices.truncate(before);
        }
        fits
    })
}

impl FormOperand {
    fn parse(word: &str) -> Self {
        let condition = word.split_once(':').filter(|(name, _)| name.len() == 1);
        let (condition, rest) =
            condition.map_or((None, word), |(c, rest)| (c.chars().next(), rest));
        let may_be_missing = rest.ends_with('?');
        let notation = rest.trim_end_matches('?').to_owned();
        Self { condition, may_be_missing, notation }
    }

    fn slot(&self, choices: &Chosen<'_>) -> Slot {
        let notation = self.notation.as_str();
        match notation {
            "p" => return Slot::Value(Type::Pred),
            "amount" => return Slot::Amount,
            "small" => return Slot::Small,
            "imm8" => return Slot::Byte,
            "ptr" => return Slot::Pointer,
            "xyz" => return Slot::Coordinates,
            "size|p" => return Slot::SizeOrPredicate,
            "label" => return Slot::Label,
            "table" => return Slot::Table,
            "call" => return Slot::Call,
            "[]" => return Slot::Address,
            _ => {}
        }
        if let Some(space) = notation.strip_prefix('[') {
            let written = space.ends_with('=');
            let space = space.trim_end_matches(['=', ']']);
            let name = space.chars().next().filter(|_| space.len() == 1);
            let space = Space::parse(name.map_or(space, |name| chosen(choices, name)));
            return Slot::Memory { space, written };
        }
        let ty = |text: &str| {
            let name = text.chars().next().filter(|_| text.len() == 1);
            // A test sees to it that each is a type.
            Type::parse(name.map_or(text, |name| chosen(choices, name))).unwrap_or(Type::Pred)
        };
        let lanes = |text: &str| {
            let (count, of) = text.split_once('x').unwrap_or((text, ""));
            let count = chosen(choices, count.chars().next().unwrap_or(' '));
            (ty(of), count.trim_start_matches('v').parse().unwrap_or(1))
        };
        if let Some((count, of)) = notation.split_once('x')
            && let Ok(count) = count.parse()
        {
            return Slot::Vector(ty(of), count);
        }
        match notation.as_bytes() {
            [b'n', b'0', ..] => Slot::Divisor(ty(&notation[2..])),
            [b'2', ..] => Slot::Value(ty(&notation[1..]).wide()),
            [b'~', ..] => Slot::Loose(ty(&notation[1..])),
            [b'+', ..] => Slot::Packed(ty(&notation[1..])),
            [b'%', ..] => {
                let (ty, count) = lanes(&notation[1..]);
                Slot::Whole(ty, count)
            }
            [b'L', b'x', ..] => {
                let (ty, count) = lanes(notation);
                Slot::Lanes(ty, count)
            }
            _ => Slot::Value(ty(notation)),
        }
    }
}

/// The forms that have the mnemonic of `op`, each with the operands that it takes then.
pub(in crate::ptx) fn forms_of(op: &Op) -> impl Iterator<Item = (&'static Form, Signature)> {
    let mnemonic = op.mnemonic();
    let forms = TABLE.forms[op.row()].iter();
    forms.filter_map(move |form| Some((form, form.signature(&mnemonic)?)))
}

/// The operands that `op` takes: of each of its forms that has its mnemonic.
pub(in crate::ptx) fn signatures(op: &Op) -> Vec<Signature> {
    forms_of(op).map(|(_, signature)| signature).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(form: &'static str, mnemonic: &str) -> Option<Signature> {
        Form::parse(form).signature(mnemonic)
    }

    #[test]
    fn choices_bind_what_operands_are() {
        let form = "ld{S:,.global,.shared::cta}{L:,.v4}.{T:b32,b64}{P:,.hint} LxT <- [S] P:b64";
        let found = signature(form, "ld.shared::cta.v4.b32.hint").unwrap();
        let memory = Slot::Memory { space: Some(Space::SharedCta), written: false };
        assert_eq!(found.destinations, [Slot::Lanes(Type::B32, 4)]);
        assert_eq!(found.sources, [memory, Slot::Value(Type::B64)]);
        let found = signature(form, "ld.b64").unwrap();
        assert_eq!(found.destinations, [Slot::Lanes(Type::B64, 1)]);
        assert_eq!(found.sources, [Slot::Memory { space: None, written: false }]);
        assert_eq!(signature(form, "ld.v2.b64"), None);
        assert_eq!(signature(form, "ld.b64.hint.hint"), None);
    }

    #[test]
    fn operands_may_be_missing_or_wider() {
        let found = signature("x.{T:u16} 1xT <- 4xb32", "x.u16").unwrap();
        assert_eq!(found.destinations, [Slot::Vector(Type::U16, 1)]);
        assert_eq!(found.sources, [Slot::Vector(Type::B32, 4)]);
        let found = signature("x.{T:u16} 2T p? <- ~T n0T", "x.u16").unwrap();
        let destinations = [Slot::Value(Type::U32), Slot::Value(Type::Pred)];
        assert_eq!((&found.destinations[..], found.optional_destinations), (&destinations[..], 1));
        assert_eq!(found.sources, [Slot::Loose(Type::U16), Slot::Divisor(Type::U16)]);
    }

    /// Every name in the table is a list, a choice of its form, or a type.
    #[test]
    fn the_table_is_written_in_its_notation() {
        for text in FORMS.iter().flat_map(|forms| forms.iter()) {
            let form = Form::parse(text);
            for piece in &form.pieces {
                let empty = piece.choices.len() == 1 && piece.choices[0].is_empty();
                assert!(!empty, "`{text}` has an unknown list");
            }
            for operand in form.destinations.iter().chain(&form.sources) {
                let names = form.pieces.iter().filter_map(|piece| piece.name);
                let of = |name: char| names.clone().any(|known| known == name);
                assert!(operand.condition.is_none_or(of), "`{text}`: {operand:?}");
                let base = operand.notation.trim_start_matches(['~', '+', '%', '[']);
                let base = if base == "2T" { "T" } else { base };
                let base = base.strip_prefix("n0").unwrap_or(base);
                let whole = base.trim_end_matches(['=', ']']);
                let base = whole.split_once('x').filter(|(count, _)| count.parse::<u8>().is_ok());
                let base = base.map_or(whole, |(_, of)| of);
                let parts = base.strip_prefix("Lx").map_or(vec![base], |of| vec!["L", of]);
                for part in parts {
                    let fixed = ["", "p", "amount", "small", "imm8", "ptr", "xyz", "size|p"];
                    let known = fixed.contains(&part)
                        || ["label", "table", "call"].contains(&part)
                        || Type::parse(part).is_some()
                        || Space::parse(part).is_some()
                        || part.len() == 1 && part.chars().all(of);
                    assert!(known, "`{text}` has an operand `{}`", operand.notation);
                }
            }
        }
    }
}

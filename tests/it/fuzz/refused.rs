//! What the CPU device refuses of what is in the table: whole forms, and words of forms that it takes otherwise.
//! Whatever else it refuses is a mistake, and so is what stands here and loads.

use std::{collections::BTreeSet, fmt::Write as _};

use fastrand::Rng;
use warpaint::{
    device::{Device, Error},
    ptx::op::Slot,
};

use super::{others, random::Writer, spec::Row};

/// The forms, with the reason. Each is refused in a case of `tests/ptx`.
pub const FORMS: &[(&str, &str)] = &[
    ("alloca.{T:u32,u64} T <- T u32?", RARE),
    ("stacksave.{T:u32,u64} T <-", RARE),
    ("stackrestore.{T:u32,u64} <- T", RARE),
    ("shfl.{up,down,bfly,idx}.b32 b32 p? <- b32 amount amount", NOT_SYNC),
    ("vote.{all,any,uni}.pred p <- p", NOT_SYNC),
    ("vote.ballot.b32 b32 <- p", NOT_SYNC),
    ("sm_100 redux.sync.{min,max}{,.abs}{,.NaN}.f32 f32 <- f32 b32", RARE),
    (
        "tex{,.base}.{$geometry}{L:$few}.{T:$texel}.{s32,f32} LxT p? <- ptr ptr xyz xyz? xyz?",
        SAMPLER,
    ),
    (
        "tex.level.{$geometry}{L:$few}.{T:$texel}.{s32,f32} LxT p? <- ptr ptr xyz xyz xyz? xyz?",
        SAMPLER,
    ),
    (
        "tex.grad.{$geometry}{L:$few}.{T:$texel}.{s32,f32} LxT p? <- ptr ptr xyz xyz xyz xyz? xyz?",
        SAMPLER,
    ),
    (
        "tld4.{r,g,b,a}.{2d,a2d,cube,acube}{L:.v4}.{T:u32,s32,f32}.f32 LxT p? <- ptr ptr xyz xyz? xyz?",
        SAMPLER,
    ),
    ("suld.p.{$geometry}{$cached}{L:$few}.{T:b32,u32,s32,f32}{$clamp} LxT <- ptr xyz", FORMATTED),
    ("sured.b.{add,min,max}.{$geometry}.{T:u32,u64,s32,s64}{$clamp} <- ptr xyz ~T", RARE),
    ("sured.b.{and,or}.{$geometry}.{T:b32,b64}{$clamp} <- ptr xyz ~T", RARE),
    ("sured.p.{add,min,max,and,or}.{$geometry}.b32{$clamp} <- ptr xyz ~b32", FORMATTED),
];

const RARE: &str = "rarely written, and never made of CUDA C++";
const NOT_SYNC: &str = "GPUs since compute capability 7.0 do not have it";
const SAMPLER: &str =
    "a texture object has its sampler in it; separate ones are never made of CUDA C++";
const FORMATTED: &str = "formatted surfaces are never made of CUDA C++";

/// Words, with how the mnemonics begin that must not have them, and the reason.
pub const WORDS: &[(&str, &[&str], &str)] = &[
    (
        "shared::cluster",
        &["ld", "st", "atom", "red", "mbarrier", "cp"],
        "a block's shared memory is its own: there are no clusters of more than one",
    ),
    ("param::entry", &["isspacep"], RARE),
    ("param::func", &["isspacep"], RARE),
    ("channel_data_type", &["txq", "suq"], RARE),
    ("channel_order", &["txq", "suq"], RARE),
];

/// Whether the mnemonic of an instruction has a word that is refused in it.
pub fn has_refused_word(instruction: &str) -> bool {
    let mnemonic = instruction.split_whitespace().next().unwrap_or_default();
    let (opcode, words) = mnemonic.split_once('.').unwrap_or((mnemonic, ""));
    let has = |word: &str| words.split('.').any(|other| other == word);
    WORDS.iter().any(|(word, opcodes, _)| opcodes.contains(&opcode) && has(word))
}

/// An instruction of the form with each of its words once, the others as they stand there first.
fn with_each_word(row: Row, rng: &mut Rng) -> Vec<(String, String)> {
    let mut counts = Vec::new();
    row.expand(|list| {
        counts.push(list.len());
        0
    });
    let choices =
        counts.iter().enumerate().flat_map(|(at, count)| (0..*count).map(move |c| (at, c)));
    let mut all = Vec::new();
    for (at, choice) in choices.chain([(0, 0)]) {
        let mut turn = 0;
        let (mnemonic, signature) = row.expand(|_| {
            turn += 1;
            if turn == at + 1 { choice } else { 0 }
        });
        let slots = signature.destinations.iter().chain(&signature.sources);
        let is_value = |slot: &Slot| match slot {
            Slot::Label | Slot::Table | Slot::Call | Slot::Coordinates => false,
            Slot::Value(_) | Slot::Divisor(_) | Slot::Loose(_) | Slot::Lanes(..) => true,
            Slot::Vector(..) | Slot::Packed(_) | Slot::Whole(..) | Slot::Amount => true,
            Slot::Small | Slot::Byte | Slot::Address | Slot::Memory { .. } => true,
            Slot::Pointer | Slot::SizeOrPredicate => true,
        };
        if slots.clone().all(is_value) {
            let (instruction, _) = others::instruction(&mnemonic, &signature, true, rng);
            all.push((mnemonic, instruction));
        }
    }
    all.sort();
    all.dedup_by(|a, b| a.0 == b.0);
    all
}

/// Those of the instructions that the device refuses.
fn refused(device: &Device, instructions: &[(String, String)]) -> BTreeSet<String> {
    let mut left: Vec<&(String, String)> = instructions.iter().collect();
    let mut found = BTreeSet::new();
    loop {
        let mut rng = Rng::with_seed(0);
        let mut writer = Writer::new(&mut rng, true, false);
        others::begin(&mut writer);
        for (_, instruction) in &left {
            let _ = writeln!(writer.out, "{instruction};");
        }
        writer.out.push_str("ret;\n}\n");
        match device.load(&writer.out) {
            Ok(_) => return found,
            Err(Error::UnsupportedPtx { instruction, .. }) => {
                let at = left.iter().position(|(_, text)| instruction.starts_with(text));
                let at = at.unwrap_or_else(|| panic!("{instruction}\n{}", writer.out));
                found.insert(left.remove(at).0.clone());
            }
            Err(error) => panic!("{error}\n{}", writer.out),
        }
    }
}

/// Whether an instruction is refused does not depend on what its operands hold, and hardly on more than one of its
/// words.
#[test]
fn what_is_refused_is_in_a_list() {
    let device = Device::cpu().unwrap();
    let mut rng = Rng::with_seed(0);
    let is_taken = |row: &&Row| FORMS.iter().all(|(form, _)| row.notation != *form);
    let rows = super::spec::OTHER.iter().filter(is_taken);
    let all: Vec<_> = rows.flat_map(|row| with_each_word(row, &mut rng)).collect();
    let mut wrong = Vec::new();
    let mut listed = BTreeSet::new();
    for instructions in all.chunks(50) {
        let refused = refused(&device, instructions);
        for (mnemonic, _) in instructions {
            match (refused.contains(mnemonic), has_refused_word(mnemonic)) {
                (true, true) => _ = listed.insert(mnemonic),
                (false, false) => {}
                (true, false) => wrong.push(format!("{mnemonic} is refused, and in no list")),
                (false, true) => wrong.push(format!("{mnemonic} loads, and is in the list")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (word, opcodes, _) in WORDS {
        for opcode in *opcodes {
            let has = |m: &&&String| m.starts_with(&format!("{opcode}.")) && m.contains(word);
            assert!(listed.iter().any(|m| has(&m)), "no `{opcode}` has the word `{word}`");
        }
    }
}

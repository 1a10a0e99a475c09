//! What the CPU device refuses of what is in the table: whole forms, and words of forms that it takes otherwise.
//! Whatever else it refuses is a mistake, and so is what stands here and loads.

use std::collections::BTreeSet;

use fastrand::Rng;
use warpaint::device::{Device, Error};

use super::{
    operands::{self, Missing},
    spec::{self, Row},
};

/// The forms, with the reason. Each is refused in a case of `tests/ptx`.
pub const FORMS: &[(&str, &str)] = &[
    ("alloca.{T:u32,u64} T <- T u32?", RARE),
    ("stacksave.{T:u32,u64} T <-", RARE),
    ("stackrestore.{T:u32,u64} <- T", RARE),
    ("shfl.{up,down,bfly,idx}.b32 b32 p? <- b32 amount amount", NOT_SYNC),
    ("vote.{all,any,uni}.pred p <- p", NOT_SYNC),
    ("vote.ballot.b32 b32 <- p", NOT_SYNC),
    ("sm_100 redux.sync.{min,max}{,.abs}{,.NaN}.f32 f32 <- f32 b32", RARE),
    ("tex{,.base}.{$texture}.v4.{T:$texel}.{s32,f32} 4xT p? <- ptr ptr xyz xyz? xyz?", SAMPLER),
    ("tex.level.{$texture}.v4.{T:$texel}.{s32,f32} 4xT p? <- ptr ptr xyz xyz xyz? xyz?", SAMPLER),
    (
        "tex.grad.{$texture}.v4.{T:$texel}.{s32,f32} 4xT p? <- ptr ptr xyz xyz xyz xyz? xyz?",
        SAMPLER,
    ),
    ("tex{,.base}.{2dms,a2dms}.v4.{T:$texel}.s32 4xT p? <- ptr xyz xyz?", SAMPLES),
    ("tex{,.base}.{$texture}.v4.f16.{s32,f32} 4xf16 p? <- ptr xyz xyz? xyz?", HALVES),
    ("tex{,.base}.{$texture}.v2.f16x2.{s32,f32} 2xf16x2 p? <- ptr xyz xyz? xyz?", HALVES),
    (
        "tld4.{r,g,b,a}.{2d,a2d,cube,acube}.v4.{T:$texel}.f32 4xT p? <- ptr ptr xyz xyz? xyz?",
        SAMPLER,
    ),
    ("sured.b.{add,min,max}.{1d,2d,3d}.{T:u32,u64,s32,s64}{$clamp} <- ptr xyz ~T", RARE),
    ("sured.b.{and,or}.{1d,2d,3d}.b32{$clamp} <- ptr xyz ~b32", RARE),
    ("sured.p.{add,min,max,and,or}.{1d,2d,3d}.b32{$clamp} <- ptr xyz ~b32", RARE),
];

const RARE: &str = "rarely written, and never made of CUDA C++";
const NOT_SYNC: &str = "GPUs since compute capability 7.0 do not have it";
const SAMPLER: &str =
    "a texture object has its sampler in it; separate ones are never made of CUDA C++";
const SAMPLES: &str = "CUDA makes no textures of several samples";
const HALVES: &str =
    "how texels are rounded to them, the ISA leaves open, and they are never made of CUDA C++";

/// Words, with how the mnemonics begin that must not have them, and the reason.
pub const WORDS: &[(&str, &[&str], &str)] = &[
    (
        "shared::cluster",
        &["ld", "st", "atom", "red", "mbarrier"],
        "a block's shared memory is its own: there are no clusters of more than one",
    ),
    ("param::entry", &["isspacep"], RARE),
    ("channel_data_type", &["txq", "suq"], RARE),
    ("channel_order", &["txq", "suq"], RARE),
];

/// Operands, with the opcodes that must not have them, and the reason.
pub const OPERANDS: &[(&str, &[&str], &str)] = &[(
    "what texels are compared with (depth)",
    &["tex", "tld4"],
    "how, a sampler says that CUDA cannot make",
)];

/// The opcode of an instruction, and the words behind it.
fn words(instruction: &str) -> (&str, &str) {
    let mnemonic = instruction.split_whitespace().next().unwrap_or_default();
    mnemonic.split_once('.').unwrap_or((mnemonic, ""))
}

/// Whether an instruction, as `operands` writes it, has a word or an operand that is refused in it.
pub fn is_refused(instruction: &str) -> bool {
    let (opcode, words) = words(instruction);
    let has = |word: &str| words.split('.').any(|other| other == word);
    let depth = OPERANDS.iter().any(|(_, opcodes, _)| opcodes.contains(&opcode))
        && instruction.contains(operands::DEPTH);
    depth || WORDS.iter().any(|(word, opcodes, _)| opcodes.contains(&opcode) && has(word))
}

/// Instructions of the form with each of its words once, the others as they stand there first, and with each number of
/// operands.
fn with_each_word(row: Row, rng: &mut Rng) -> BTreeSet<String> {
    let choices = spec::choices(row).into_iter().flatten().collect::<Vec<_>>();
    let mut all = BTreeSet::new();
    for chosen in choices.iter().map(Some).chain([None]) {
        let mut turn = 0;
        let (mnemonic, signature) = row.expand(|_| {
            turn += 1;
            chosen.filter(|(at, _)| turn == at + 1).map_or(0, |(_, choice)| *choice)
        });
        for missing in Missing::all(&signature) {
            all.insert(operands::instruction(&mnemonic, &signature, missing, rng).0);
        }
    }
    all
}

/// Those of the instructions that the device refuses.
fn refused(device: &Device, instructions: &[String]) -> BTreeSet<String> {
    let mut left: Vec<&String> = instructions.iter().collect();
    let mut found = BTreeSet::new();
    loop {
        let text = operands::straight(left.iter().map(|text| text.as_str()), "sm_100a");
        match device.load(&text) {
            Ok(_) => return found,
            Err(Error::UnsupportedPtx { instruction, .. }) => {
                // Why may stand behind it, in brackets.
                let told = instruction.split(" (").next();
                let at = left.iter().position(|text| told == Some(text.as_str()));
                let at = at.unwrap_or_else(|| panic!("{instruction}\n{text}"));
                found.insert(left.remove(at).clone());
            }
            Err(error) => panic!("{error}\n{text}"),
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
    let rows = spec::OTHER.iter().filter(is_taken);
    let all: Vec<_> = rows.flat_map(|row| with_each_word(row, &mut rng)).collect();
    let mut wrong = Vec::new();
    let mut listed = BTreeSet::new();
    for instructions in all.chunks(50) {
        let refused = refused(&device, instructions);
        for instruction in instructions {
            match (refused.contains(instruction), is_refused(instruction)) {
                (true, true) => _ = listed.insert(instruction),
                (false, false) => {}
                (true, false) => wrong.push(format!("{instruction} is refused, and in no list")),
                (false, true) => wrong.push(format!("{instruction} loads, and is in the list")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let is_listed = |opcode: &str, what: &str| {
        listed.iter().any(|text| words(text).0 == opcode && text.contains(what))
    };
    for (word, opcodes, _) in WORDS {
        for opcode in *opcodes {
            assert!(is_listed(opcode, word), "no `{opcode}` has the word `{word}`");
        }
    }
    for (operand, opcodes, _) in OPERANDS {
        for opcode in *opcodes {
            assert!(is_listed(opcode, operands::DEPTH), "no `{opcode}` has an operand {operand}");
        }
    }
}

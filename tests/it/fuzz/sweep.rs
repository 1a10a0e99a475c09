//! Every form of every instruction by itself, on edge values: which differs, with what operands, and how.

use std::fmt::Write as _;

use fastrand::Rng;

use super::{
    compare::{Engines, Job, Outcome, Runner},
    random::{
        Pool, Writer,
        instruction::{is_forgetful, is_left_out},
    },
    spec::{self, Form, Row},
};

/// Instructions of a kernel.
const SLOTS: usize = 16;
/// Bytes of an instruction's results: two of up to 64 bits.
const SLOT_BYTES: usize = 16;
const BLOCK: u32 = 128;

/// All forms of `rows`.
pub fn every_form(rows: &[Row]) -> Vec<Form> {
    let mut forms = Vec::new();
    for row in rows {
        // The choices of the form before, with how many there were.
        let mut choices: Vec<(usize, usize)> = Vec::new();
        loop {
            let mut at = 0;
            forms.push(spec::form(row, |count| {
                if at == choices.len() {
                    choices.push((0, count));
                }
                at += 1;
                choices[at - 1].0
            }));
            while choices.pop_if(|(chosen, of)| *chosen + 1 == *of).is_some() {}
            let Some((chosen, _)) = choices.last_mut() else { break };
            *chosen += 1;
        }
    }
    forms
}

/// An instruction of a kernel.
struct Slot {
    text: String,
    destinations: Vec<String>,
}

/// How a text for an architecture begins: 90 for sm_90.
pub fn head(architecture: u32) -> String {
    // The first version that has all of the architecture.
    let version = if architecture >= 100 { "8.8" } else { "8.3" };
    format!(".version {version}\n.target sm_{architecture}\n.address_size 64\n")
}

/// A kernel of some instructions, each on fresh registers, and what they are.
fn kernel(forms: &[Form], guard: &str, rng: &mut Rng, architecture: u32) -> (String, Vec<Slot>) {
    let mut writer = Writer::new(rng, architecture >= 90, false);
    let mut text = head(architecture);
    text.push_str(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 all)\n{\n");
    writer.registers();
    writer.begin_thread(BLOCK, SLOTS * SLOT_BYTES);
    let mut slots = Vec::new();
    for (index, form) in forms.iter().enumerate() {
        writer.load_pool();
        let start = writer.out.len();
        let destinations = writer.write_guarded(form, guard);
        slots.push(Slot { text: writer.out[start..].trim_end().to_owned(), destinations });
        for (at, register) in slots[index].destinations.clone().iter().enumerate() {
            writer.store(register, index * SLOT_BYTES + 8 * at);
        }
    }
    text.push_str(&writer.out);
    text.push_str("ret;\n}\n");
    (text, slots)
}

/// What the instructions of `rows` that are unlike on two engines are; at most one line each.
///
/// With a guard `@%p3 `, say, each does nothing in some threads.
pub fn differences(
    engines: &mut Engines,
    rows: &[Row],
    guard: &str,
    architecture: u32,
    seed: u64,
) -> Vec<String> {
    let mut rng = Rng::with_seed(seed);
    let mut found = Vec::new();
    let mut forms = every_form(rows);
    forms.retain(|form| guard.is_empty() || !is_forgetful(&form.mnemonic));
    forms.retain(|form| !is_left_out(&form.mnemonic));
    for forms in forms.chunks(SLOTS) {
        let (text, slots) = kernel(forms, guard, &mut rng, architecture);
        let (text, module) = match engines.load(&text) {
            Ok(loaded) => loaded,
            Err(error) => {
                found.push(error);
                continue;
            }
        };
        let pool = Pool::new(BLOCK as usize, rng.u64(..));
        let out = vec![0; BLOCK as usize * SLOTS * SLOT_BYTES];
        let job =
            Job { text, grid: 1, block: BLOCK, buffers: vec![pool.bytes.clone(), out, vec![0; 8]] };
        let runners = engines.runners(architecture);
        let outcomes: Vec<(Runner, Outcome)> = runners
            .into_iter()
            .filter_map(|runner| Some((runner, engines.run(runner, &module, &job)?)))
            .collect();
        let Some(((first, expected), others)) = outcomes.split_first() else { continue };
        for (runner, outcome) in others {
            for (index, slot) in slots.iter().enumerate() {
                found.extend(
                    unlike(slot, index, expected, outcome, &pool)
                        .map(|how| format!("{first:?} and {runner:?} differ: {how}")),
                );
            }
        }
    }
    found
}

/// How the results of one instruction differ, if they do.
fn unlike(slot: &Slot, index: usize, a: &Outcome, b: &Outcome, pool: &Pool) -> Option<String> {
    let (a, b) = match (a, b) {
        (Ok(a), Ok(b)) => (&a[1], &b[1]),
        (Err(error), _) | (_, Err(error)) => return Some(format!("{}: {error}", slot.text)),
    };
    let result = |bytes: &[u8], thread: usize, at: usize| {
        let start = (thread * SLOTS + index) * SLOT_BYTES + 8 * at;
        bytes[start..start + 8].iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))
    };
    let mut differ = Vec::new();
    for thread in 0..BLOCK as usize {
        for at in 0..slot.destinations.len() {
            let (x, y) = (result(a, thread, at), result(b, thread, at));
            if x != y {
                differ.push((thread, at, x, y));
            }
        }
    }
    let &(thread, at, x, y) = differ.first()?;
    let mut text = format!(
        "`{}`, {} times: {} is {x:x} and {y:x} of",
        slot.text.replace('\n', " "),
        differ.len(),
        slot.destinations[at]
    );
    for register in pool.registers(&slot.text) {
        let _ = write!(text, " {register}={:x}", pool.value(&register, thread));
    }
    Some(text)
}

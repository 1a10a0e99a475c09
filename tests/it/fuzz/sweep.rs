//! Every form of every instruction by itself, on edge values: which differs, with what operands, and how.

use std::fmt::Write as _;

use fastrand::Rng;

use super::{
    compare::{Engines, Job, Outcome, Runner},
    random::{
        Pool, Writer,
        instruction::{is_forgetful, is_left_out},
        named, narrow,
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

/// What an instruction is tried on, and who tries it.
struct Trial<'a> {
    /// `@%p3 `, say: the instruction does nothing in some threads.
    guard: &'a str,
    architecture: u32,
    /// All threads have the same operands: what is a function of them must be the same for all.
    alike: bool,
    /// Threads of a block.
    block: u32,
    runners: Vec<Runner>,
}

/// A kernel of some instructions, each on fresh registers, and what they are.
fn kernel(forms: &[Form], trial: &Trial<'_>, rng: &mut Rng) -> (String, Vec<Slot>) {
    let mut writer = Writer::new(rng, trial.architecture >= 90, false);
    writer.alike = trial.alike;
    let mut text = head(trial.architecture);
    text.push_str(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 all)\n{\n");
    writer.registers();
    writer.begin_thread(trial.block, SLOTS * SLOT_BYTES);
    let mut slots = Vec::new();
    for (index, form) in forms.iter().enumerate() {
        let start = writer.out.len();
        let destinations = writer.write_guarded(form, trial.guard);
        let text = writer.out.split_off(start);
        // No others: loads are most of what there is to translate.
        named(&text).for_each(|register| writer.load(&register));
        writer.out.push_str(&text);
        slots.push(Slot { text: text.trim_end().to_owned(), destinations });
        for (at, register) in slots[index].destinations.clone().iter().enumerate() {
            writer.store(register, index * SLOT_BYTES + 8 * at);
        }
    }
    text.push_str(&writer.out);
    text.push_str("ret;\n}\n");
    (if rng.u32(0..4) == 0 { text } else { narrow(&text) }, slots)
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
    let runners = engines.runners(architecture);
    let of_each = Trial { guard, architecture, alike: false, block: BLOCK, runners };
    // What is the same for all is faster in groups, as a rule.
    let runners = vec![Runner::Jit, Runner::Interpreter];
    let of_all = Trial { guard, architecture, alike: true, block: 32, runners };
    for forms in forms.chunks(SLOTS) {
        for trial in [&of_each, &of_all] {
            found.extend(trial.differences(engines, forms, &mut rng));
        }
    }
    found
}

impl Trial<'_> {
    /// As [`differences`], of so few forms that they fit into one kernel.
    fn differences(&self, engines: &mut Engines, forms: &[Form], rng: &mut Rng) -> Vec<String> {
        let (text, slots) = kernel(forms, self, rng);
        let (text, module) = match engines.load(&text) {
            Ok(loaded) => loaded,
            Err(error) => return vec![error],
        };
        let mut pool = Pool::new(self.block as usize, rng.u64(..));
        if self.alike {
            pool.repeat_first();
        }
        let out = vec![0; self.block as usize * SLOTS * SLOT_BYTES];
        let buffers = vec![pool.bytes.clone(), out, vec![0; 8]];
        let job = Job { text, grid: 1, block: self.block, buffers, images: Vec::new() };
        let outcomes: Vec<(Runner, Outcome)> = self
            .runners
            .iter()
            .filter_map(|runner| Some((*runner, engines.run(*runner, &module, &job)?)))
            .collect();
        let Some(((first, expected), others)) = outcomes.split_first() else { return Vec::new() };
        let mut found = Vec::new();
        for (runner, outcome) in others {
            for (index, slot) in slots.iter().enumerate() {
                found.extend(
                    unlike(slot, index, expected, outcome, &pool)
                        .map(|how| format!("{first:?} and {runner:?} differ: {how}")),
                );
            }
        }
        found
    }
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
    for thread in 0..pool.threads() {
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
    for register in named(&slot.text) {
        let _ = write!(text, " {register}={:x}", pool.value(&register, thread));
    }
    Some(text)
}

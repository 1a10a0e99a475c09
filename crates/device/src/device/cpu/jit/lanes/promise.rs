//! What the table of operations says to have a vector form must have one: the estimate of what is faster counts on it.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::{tests::width, vector_form::has_form};
use crate::ptx::{
    op::{self, Form, Op, Signature, Slot},
    types::Type,
};

thread_local! {
    /// What groups did for one thread after the other, in the kernels that this thread translated.
    static SINGLY: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// A group does it for one thread after the other.
pub(super) fn note_singly(op: &Op) {
    SINGLY.with_borrow_mut(|all| all.insert(op.mnemonic()));
}

/// All instructions of a form.
fn expansions(form: &Form) -> Vec<(String, Signature)> {
    let mut all = Vec::new();
    // The choices of the one before, with how many there were.
    let mut choices: Vec<(usize, usize)> = Vec::new();
    loop {
        let mut at = 0;
        all.push(form.expand(|list| {
            if at == choices.len() {
                choices.push((0, list.len()));
            }
            at += 1;
            choices[at - 1].0
        }));
        while choices.pop_if(|(chosen, of)| *chosen + 1 == *of).is_some() {}
        let Some((chosen, _)) = choices.last_mut() else { return all };
        *chosen += 1;
    }
}

/// The type of a value; none of what is more, or no value.
fn value(slot: Slot) -> Option<Type> {
    if let Slot::Value(ty) | Slot::Loose(ty) | Slot::Divisor(ty) | Slot::Packed(ty) = slot {
        Some(ty)
    } else {
        None
    }
}

/// A register of the type, with a number.
fn register(ty: Type, number: usize) -> Option<String> {
    Some(match ty.bits() {
        1 => format!("%p{number}"),
        32 => format!("%r{number}"),
        64 => format!("%d{number}"),
        _ => return None,
    })
}

/// The instruction on values that differ between threads, and a store of what it gives.
fn written(mnemonic: &str, signature: &Signature) -> Option<String> {
    let Signature { destinations, sources, optional_destinations, optional_sources } = signature;
    let given = &destinations[..destinations.len() - optional_destinations];
    let read = &sources[..sources.len() - optional_sources];
    let to = |(at, slot): (usize, &Slot)| register(value(*slot)?, 4 + at);
    let from = |(at, slot): (usize, &Slot)| match *slot == Slot::Amount {
        true => Some("5".to_owned()),
        false => register(value(*slot)?, at),
    };
    let to: Vec<String> = given.iter().enumerate().map(to).collect::<Option<_>>()?;
    let from: Vec<String> = read.iter().enumerate().map(from).collect::<Option<_>>()?;
    let mut text = format!("{mnemonic} {}, {};\n", to.join("|"), from.join(", "));
    for register in to {
        text += &match &register[..2] {
            "%p" => format!("selp.b32 %r9, 1, 0, {register};\nst.global.b32 [%out], %r9;\n"),
            "%r" => format!("st.global.b32 [%out], {register};\n"),
            _ => format!("st.global.b64 [%out], {register};\n"),
        };
    }
    Some(text)
}

/// Which of these instructions a group does on vectors.
fn done_on_vectors(instructions: &[(String, String)]) -> Vec<String> {
    let mut text = ".version 8.8\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{\n\
         .reg .pred %p<9>;\n.reg .b32 %r<10>, %t;\n.reg .b64 %d<9>, %in, %out;\n\
         mov.u32 %t, %tid.x;\nld.param.u64 %in, [in];\nmad.wide.u32 %in, %t, 8, %in;\n\
         ld.param.u64 %out, [out];\nmad.wide.u32 %out, %t, 8, %out;\n"
        .to_owned();
    for at in 0..4 {
        let from = 4096 * at;
        _ = writeln!(text, "ld.global.b32 %r{at}, [%in+{from}];");
        _ = writeln!(
            text,
            "ld.global.b64 %d{at}, [%in+{from}];\nsetp.eq.b32 %p{at}, %r{at}, {at};"
        );
    }
    instructions.iter().for_each(|(_, instruction)| text += instruction);
    text += "ret;\n}\n";
    SINGLY.with_borrow_mut(BTreeSet::clear);
    assert!(width(&text) > 1, "{text}");
    let mnemonics = instructions.iter().map(|(mnemonic, _)| mnemonic);
    SINGLY.with_borrow(|singly| mnemonics.filter(|m| !singly.contains(*m)).cloned().collect())
}

/// A row says it of a type. Of that, some instruction must be done so: not each, since rounding, saturating and
/// flushing are often left to single threads, and written seldom.
#[test]
fn what_the_table_says_to_have_a_vector_form_has_one() {
    let mut due: BTreeMap<(String, &str), Vec<(String, String)>> = BTreeMap::new();
    // Forms of memory have millions of mnemonics.
    let says_so =
        |form: &&Form| Op::parse(&form.expand(|_| 0).0).is_ok_and(|op| op.facts().vector.is_some());
    for (mnemonic, signature) in op::forms().filter(says_so).flat_map(expansions) {
        let Ok(op) = Op::parse(&mnemonic) else { continue };
        let Some(ty) = op.facts().vector.filter(|ty| has_form(*ty)) else { continue };
        let Some(text) = written(&mnemonic, &signature) else { continue };
        let opcode = mnemonic.split('.').next().unwrap_or_default().to_owned();
        due.entry((opcode, ty.text())).or_default().push((mnemonic, text));
    }
    assert!(due.len() > 50, "some rows say so: {due:?}");
    // Most have it in the first instruction that is tried, the last of its form.
    while due.values().any(|left| !left.is_empty()) {
        let next: Vec<_> = due.values_mut().filter_map(Vec::pop).collect();
        let done: BTreeSet<String> = next.chunks(24).flat_map(done_on_vectors).collect();
        let found: Vec<_> = next.iter().filter(|(mnemonic, _)| done.contains(mnemonic)).collect();
        for (mnemonic, _) in found {
            let op = Op::parse(mnemonic).unwrap();
            let opcode = mnemonic.split('.').next().unwrap_or_default().to_owned();
            due.remove(&(opcode, op.facts().vector.unwrap().text()));
        }
    }
    let without: Vec<_> = due.keys().collect();
    assert!(without.is_empty(), "done for one thread after the other: {without:?}");
}

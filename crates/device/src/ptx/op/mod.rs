//! The operations of PTX, and what is known of each: [`Op`].
//!
//! Enters: the words of a mnemonic. Leaves: an operation with its modifiers, and what is known of it. Must not know:
//! `ptx::ast`, `ptx::parser`, `ptx::pass`.
//!
//! All of it comes from one table (`table.rs`), of which the enumeration, the reader and the printer of mnemonics, the
//! verifier, the analyses, the list in `docs/ptx-operations.md` and the generators of tests are made. A new operation
//! is a row there, and what executes it.

mod define;
mod facts;
mod float;
mod form;
mod semantics;
mod table;
mod words;

pub use self::{
    facts::{Facts, Floats, Loads, Next, Waits, WarpOp},
    float::FloatOp,
    form::{Form, LISTS, Signature, Slot},
    semantics::{Integer, Predicate, Real, Semantics, is_integer},
    table::Op,
};
pub(in crate::ptx) use form::{forms_of, signatures};

use self::{
    form::TABLE,
    table::READERS,
    words::{Text, Words},
};

/// Reads a mnemonic as an operation of one row; `None` where its words are not there.
type Reader = fn(&mut Words<'_>) -> Option<Op>;

impl Op {
    /// What the mnemonic means, as far as it says so itself.
    ///
    /// # Errors
    /// A sentence where it is no PTX. What is PTX but not known in detail is [`Op::Unsupported`].
    pub fn parse(mnemonic: &str) -> Result<Self, String> {
        let opcode = mnemonic.split('.').next().unwrap_or_default();
        let rows = TABLE.rows(opcode);
        if rows.is_empty() {
            return Err(format!("unknown instruction `{mnemonic}`"));
        }
        let mut lacks = false;
        for row in rows {
            let mut words = Words::new(mnemonic);
            match READERS[*row](&mut words) {
                // A mnemonic that is kept as it is written is one of its row's.
                Some(op) if words.are_kept() && TABLE.has(*row, mnemonic) => return Ok(op),
                Some(op) if words.is_empty() && !words.are_kept() => return Ok(op),
                Some(_) => {}
                None => lacks |= words.is_empty(),
            }
        }
        match lacks {
            true => Err(format!("`{mnemonic}` lacks a type or a modifier")),
            false => Ok(Self::Unsupported { mnemonic: mnemonic.into() }),
        }
    }

    /// The opcode with its modifiers, such as `ld.global.v4.f32`, in the order in which the PTX ISA writes them.
    pub fn mnemonic(&self) -> String {
        let mut text = Text(String::with_capacity(24));
        self.put(&mut text);
        text.0
    }

    /// How many destinations it has, a second one behind `|` not counted. Those of `call` are its returns.
    pub fn destinations(&self) -> usize {
        let first = |form: Option<&Form>| form.map_or(0, Form::destinations).min(1);
        let forms = &TABLE.forms[self.row()];
        let mnemonic = self.mnemonic();
        // What has no form is refused, whatever its operands are.
        first(forms.iter().find(|form| form.has(&mnemonic)).or(forms.first()))
    }
}

/// All forms of all operations, in the table's order.
pub fn forms() -> impl Iterator<Item = &'static Form> {
    TABLE.forms.iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a form writes down is read as an operation that has that form, and printed as it was.
    #[test]
    fn forms_are_read_and_printed() {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut wrong = Vec::new();
        for (row, forms) in TABLE.forms.iter().enumerate() {
            for form in forms {
                for _ in 0..40 {
                    let (mnemonic, signature) = form.expand(|list| rng.usize(0..list.len()));
                    match Op::parse(&mnemonic) {
                        Ok(Op::Unsupported { .. }) if row + 1 == TABLE.forms.len() => {}
                        Ok(op) if !signatures(&op).contains(&signature) => wrong.push(mnemonic),
                        Ok(op) if op.mnemonic() != mnemonic => {
                            wrong.push(format!("{mnemonic} is printed as {}", op.mnemonic()));
                        }
                        Ok(_) => {}
                        Err(error) => wrong.push(error),
                    }
                }
            }
        }
        wrong.sort_unstable();
        wrong.dedup();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// What gives an address says of which memory: who looks for generic addresses of some memory asks for that.
    #[test]
    fn what_gives_an_address_converts_one() {
        let mut seen = 0;
        for form in forms() {
            let (mnemonic, signature) = form.expand(|_| 0);
            if signature.destinations.contains(&Slot::Pointer) {
                let op = Op::parse(&mnemonic).unwrap();
                assert!(op.facts().converts.is_some(), "{mnemonic}");
                seen += 1;
            }
        }
        assert!(seen > 0);
    }

    /// Whose coordinates are those of a surface is told to the guard.
    #[test]
    fn accesses_to_images_are_of_textures_or_of_a_surface() {
        for form in forms() {
            let (mnemonic, signature) = form.expand(|_| 0);
            if signature.sources.contains(&Slot::Coordinates) {
                let mut op = Op::parse(&mnemonic).unwrap();
                let is_texture = matches!(op, Op::Tex(_) | Op::Tld4 { .. });
                assert_eq!(op.surface().is_none(), is_texture, "{mnemonic}");
                assert_eq!(op.surface_mut().is_none(), is_texture, "{mnemonic}");
            }
        }
    }
}

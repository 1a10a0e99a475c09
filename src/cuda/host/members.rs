//! What classes lose that kernels may need: members for the host alone, without which they mean something else.
//!
//! nvcc refuses kernels that call such a member. Here it is left out, and C++ puts what is implicit in its place.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use crate::cuda::lexer::{Kind, Token};

/// A member of a class that is for the host alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostMember {
    kind: MemberKind,
    /// The name of the class.
    class: String,
    /// Where it begins in the text, in bytes.
    pub(crate) at: usize,
}

/// What the member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemberKind {
    Constructor,
    Destructor,
    Assignment,
    /// Another virtual function.
    Virtual,
}

impl HostMember {
    /// What a user is to know of it.
    pub(crate) fn told(&self) -> String {
        let Self { kind, class, .. } = self;
        let (what, then) = match kind {
            MemberKind::Constructor => ("a constructor", "kernels begin it without"),
            MemberKind::Destructor => ("a destructor", "kernels end it without"),
            MemberKind::Assignment => ("an assignment", "kernels copy its members instead"),
            MemberKind::Virtual => {
                ("a virtual function", "in kernels it is not laid out as on the host")
            }
        };
        format!(
            "`{class}` has {what} for the host alone, which is left out: {then}; with __device__ before it kernels have \
             it, too"
        )
    }
}

/// A member, as it is read.
pub(super) struct Member<'s> {
    pub(super) class: &'s str,
    /// The tokens of the class.
    pub(super) body: Range<usize>,
    pub(super) kind: MemberKind,
    /// The first token.
    pub(super) first: usize,
}

/// Of the member of `class` at `tokens` whose name is `name`, what it is; `None` where it is none that C++ replaces.
pub(super) fn kind_of(code: &[Token<'_>], name: &str, class: &str) -> Option<MemberKind> {
    let named = |at: usize| code[at].text == name;
    let at = (0..code.len()).find(|at| named(*at))?;
    let before = at.checked_sub(1).map_or("", |at| code[at].text);
    let signs = code.get(at + 1..at + 3).map(|signs| [signs[0].text, signs[1].text]);
    let is_virtual = code[..at].iter().any(|token| token.text == "virtual");
    match (name == class, before) {
        (true, "~") => Some(MemberKind::Destructor),
        (true, _) => Some(MemberKind::Constructor),
        (false, _) if name == "operator" && signs == Some(["=", "("]) => {
            Some(MemberKind::Assignment)
        }
        (false, _) => is_virtual.then_some(MemberKind::Virtual),
    }
}

/// Those of `members` that the functions of the device, at `marked`, would need: they have a variable of the class, or
/// name it where it is laid out in another way. One of each kind of a class.
pub(super) fn needed(
    code: &[Token<'_>],
    members: &[Member<'_>],
    marked: &[Range<usize>],
) -> Vec<HostMember> {
    let mut uses: BTreeMap<&str, Uses> = BTreeMap::new();
    let bodies: BTreeMap<&str, &Range<usize>> =
        members.iter().map(|member| (member.class, &member.body)).collect();
    for at in marked.iter().cloned().flatten() {
        let Some((class, body)) = bodies.get_key_value(code[at].text) else { continue };
        if !body.contains(&at) {
            let uses = uses.entry(class).or_default();
            uses.is_named = true;
            uses.is_made |= makes(&code[at + 1..]);
        }
    }
    let is_needed = |member: &Member<'_>| {
        let uses = uses.get(member.class).copied().unwrap_or_default();
        match member.kind {
            MemberKind::Constructor | MemberKind::Destructor => uses.is_made,
            MemberKind::Assignment | MemberKind::Virtual => uses.is_named,
        }
    };
    let (mut told, mut found) = (BTreeSet::new(), Vec::new());
    for Member { class, kind, first, .. } in members.iter().filter(|member| is_needed(member)) {
        if told.insert((*class, *kind)) {
            let (class, at) = ((*class).to_owned(), code[*first].offset);
            found.push(HostMember { kind: *kind, class, at });
        }
    }
    found
}

/// How functions of the device use a class.
#[derive(Clone, Copy, Default)]
struct Uses {
    is_named: bool,
    /// They have a variable of it, or a value.
    is_made: bool,
}

/// Whether a variable is declared, or a value made, of the class whose name stands before these tokens.
fn makes(behind: &[Token<'_>]) -> bool {
    match behind {
        [open, ..] if matches!(open.text, "(" | "{") => true,
        [name, next, ..] if name.kind == Kind::Word => {
            matches!(next.text, ";" | "(" | "{" | "[" | "=")
        }
        _ => false,
    }
}

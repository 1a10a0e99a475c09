//! What is left out and changes what kernels mean: members of classes in whose place C++ puts implicit ones, and
//! functions in whose place overload resolution finds others.
//!
//! nvcc refuses kernels that call such a function. Whether kernels would need a member is known where all files are:
//! `reach` says it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::class::Class;
use crate::cuda::lexer::Token;

/// A function for the host alone without which kernels mean something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(super) kind: LeftOutKind,
    /// The names of the class, or that of the function.
    pub(super) names: Vec<String>,
    /// Where it begins in the text, in bytes.
    pub(crate) at: usize,
}

/// What the function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeftOutKind {
    Constructor,
    Destructor,
    Assignment,
    /// Another virtual function.
    Virtual,
    /// A function whose name the device has, too.
    Overload,
}

impl LeftOut {
    /// What a user is to know of it.
    pub(crate) fn told(&self) -> String {
        let Self { kind, names, .. } = self;
        let name = names.first().map_or("", String::as_str);
        let (what, then) = match kind {
            LeftOutKind::Constructor => ("has a constructor", "kernels begin it without"),
            LeftOutKind::Destructor => ("has a destructor", "kernels end it without"),
            LeftOutKind::Assignment => ("has an assignment", "kernels copy its members instead"),
            LeftOutKind::Virtual => {
                ("has a virtual function", "in kernels it is not laid out as on the host")
            }
            LeftOutKind::Overload => {
                ("is also a function", "kernels call another one, even where this one fits better")
            }
        };
        format!(
            "`{name}` {what} for the host alone, which is left out: {then}; with __device__ before it kernels have it, \
             too"
        )
    }
}

/// A member, as it is read.
pub(super) struct Member {
    /// The place of its class among all.
    pub(super) class: usize,
    pub(super) kind: LeftOutKind,
    /// The first token.
    pub(super) first: usize,
}

/// Of the member of `class` at `tokens` whose name is `name`, what it is; `None` where it is none that C++ replaces.
pub(super) fn kind_of(code: &[Token<'_>], name: &str, class: &str) -> Option<LeftOutKind> {
    let named = |at: usize| code[at].text == name;
    let at = (0..code.len()).find(|at| named(*at))?;
    let before = at.checked_sub(1).map_or("", |at| code[at].text);
    let signs = code.get(at + 1..at + 3).map(|signs| [signs[0].text, signs[1].text]);
    let is_virtual = code[..at].iter().any(|token| token.text == "virtual");
    match (name == class, before) {
        (true, "~") if !is_virtual => Some(LeftOutKind::Destructor),
        (true, "~") => Some(LeftOutKind::Virtual),
        (true, _) => Some(LeftOutKind::Constructor),
        (false, _) if name == "operator" && signs == Some(["=", "("]) => {
            Some(LeftOutKind::Assignment)
        }
        (false, _) => is_virtual.then_some(LeftOutKind::Virtual),
    }
}

/// What is to be told of `members`, should kernels need them: one of each kind of a class.
pub(super) fn members(
    code: &[Token<'_>],
    members: &[Member],
    classes: &[Class<'_>],
) -> Vec<LeftOut> {
    let (mut told, mut found) = (BTreeSet::new(), Vec::new());
    for Member { class, kind, first } in members {
        if told.insert((*class, *kind)) {
            let names = classes[*class].names(code).into_iter().map(str::to_owned).collect();
            found.push(LeftOut { kind: *kind, names, at: code[*first].offset });
        }
    }
    found
}

/// A function with a body, as it is read.
pub(super) struct Function<'s> {
    pub(super) name: &'s str,
    /// The name and the tokens of the class whose member it is.
    pub(super) class: Option<(&'s str, Range<usize>)>,
    pub(super) tokens: Range<usize>,
    pub(super) is_of_device: bool,
}

/// So many words of a class's head are looked at for its bases.
pub(super) const MOST_BASES: usize = 64;

/// Those of `functions` for the host whose name a function of the device has in the same place, if device code calls
/// it: C++ might have found the host's. Of each name one. The names of operators are not looked at.
pub(super) fn overloads(code: &[Token<'_>], functions: &[Function<'_>]) -> Vec<LeftOut> {
    let (of_device, of_host): (Vec<_>, Vec<_>) =
        functions.iter().partition(|function| function.is_of_device);
    let mut named: BTreeMap<&str, Named<'_>> = BTreeMap::new();
    for function in &of_device {
        let is_kernel = code[function.tokens.clone()].iter().any(|word| word.text == "__global__");
        if !is_kernel {
            let named = named.entry(function.name).or_default();
            named.count += 1;
            named.classes.insert(function.class_name());
        }
    }
    for token in of_device.iter().flat_map(|function| &code[function.tokens.clone()]) {
        if let Some(named) = named.get_mut(token.text) {
            named.mentions += 1;
        }
    }
    let mut found = BTreeMap::new();
    for function in of_host {
        let is_called = |named: &&Named<'_>| named.mentions > named.count;
        if let Some(named) = named.get(function.name).filter(is_called)
            && function.may_be_meant(code, &named.classes)
        {
            found.entry(function.name).or_insert(code[function.tokens.start].offset);
        }
    }
    let overload = |(name, at): (&str, usize)| LeftOut {
        kind: LeftOutKind::Overload,
        names: vec![name.to_owned()],
        at,
    };
    found.into_iter().map(overload).collect()
}

/// The functions of the device with a name.
#[derive(Default)]
struct Named<'s> {
    count: usize,
    /// Whose members they are; `None` for those of no class.
    classes: BTreeSet<Option<&'s str>>,
    /// How often the device's functions have the name in them, their own included.
    mentions: usize,
}

impl<'s> Function<'s> {
    fn class_name(&self) -> Option<&'s str> {
        self.class.as_ref().map(|(name, _)| *name)
    }

    /// Whether a call of a member of one of `classes`, or of their bases, could mean this one if it were there.
    /// Constructors are told as such.
    fn may_be_meant(&self, code: &[Token<'_>], classes: &BTreeSet<Option<&str>>) -> bool {
        let Some((class, tokens)) = &self.class else { return classes.contains(&None) };
        let head = code[tokens.clone()].iter().take_while(|token| token.text != "{");
        let mut words = head.take(MOST_BASES).map(|token| token.text);
        self.name != *class && words.any(|word| classes.contains(&Some(word)))
    }
}

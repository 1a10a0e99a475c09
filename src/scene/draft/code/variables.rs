//! Variables of host code: where each is declared and in sight, and what it is set to.

use std::collections::BTreeMap;

use super::Span;
use crate::scene::operator::Operator;

/// A variable, by its place in [`Variables`].
pub(in crate::scene::draft) type Id = usize;

/// A declared variable.
pub(in crate::scene::draft) struct Variable<'s> {
    pub(in crate::scene::draft) name: &'s str,
    /// Where it is declared.
    pub(in crate::scene::draft) at: usize,
    /// Where it is in sight, from there on.
    pub(in crate::scene::draft) scope: Span,
    pub(in crate::scene::draft) declared: Declared<'s>,
    /// Where the parameters of the function stand, and its place among them, if it is one of them.
    pub(in crate::scene::draft) parameter: Option<(Span, usize)>,
    /// The variable that it is a reference to, where that is one.
    pub(in crate::scene::draft) alias: Option<Id>,
    /// From where on something may set it whenever something is done, as what holds a reference to it.
    pub(in crate::scene::draft) kept: Option<usize>,
    /// The pointers that it has as members, by their places in [`Members::of`](super::members::Members::of).
    pub(in crate::scene::draft) members: Vec<Id>,
    /// What it is set to, in the file's order.
    pub(in crate::scene::draft) definitions: Vec<Definition>,
    /// What its fields are set to, `grid.x = 4`, each of which is a [`Value::Part`] of its definitions.
    pub(in crate::scene::draft) fields: Vec<(String, Definition)>,
}

/// What a variable is declared as.
#[derive(Clone, Default)]
pub(in crate::scene::draft) struct Declared<'s> {
    /// The type's words, without those of an enumerator, which is an int.
    pub(in crate::scene::draft) words: Vec<&'s str>,
    /// It is a pointer, a reference that others may write through, or an array: no number.
    pub(in crate::scene::draft) is_indirect: bool,
    /// It is a reference through which something else may be set.
    pub(in crate::scene::draft) is_reference: bool,
}

impl Declared<'_> {
    /// Whether it outlives the block that declares it.
    pub(in crate::scene::draft) fn is_static(&self) -> bool {
        self.words.iter().any(|word| matches!(*word, "static" | "thread_local"))
    }
}

/// A place where a variable is set.
pub(in crate::scene::draft) struct Definition {
    pub(in crate::scene::draft) value: Value,
    pub(in crate::scene::draft) at: usize,
}

/// What a variable is set to.
#[derive(Clone)]
pub(in crate::scene::draft) enum Value {
    Expression(Span),
    /// The arguments of a `dim3`, or the list of a structure.
    List(Vec<Span>),
    /// `name += value`.
    Compound(Operator, Span),
    /// `++name`: by so much more.
    Count(i128),
    /// An enumerator without a value of its own: so many behind the one that has this.
    Behind(Option<Span>, i128),
    /// What another variable had, whose name this is: `swap(name, other)`.
    Swapped(Span),
    /// A field or an element is set to something else, and the rest is left.
    Part,
    /// Whatever is written to its address, which is given away; or to the parameter that is a reference to it.
    Given(Option<Id>),
    /// Something that is not known.
    Unknown,
}

/// All variables.
#[derive(Default)]
pub(in crate::scene::draft) struct Variables<'s> {
    all: Vec<Variable<'s>>,
    by_name: BTreeMap<&'s str, Vec<Id>>,
}

impl<'s> Variables<'s> {
    pub(in crate::scene::draft) fn add(&mut self, variable: Variable<'s>) -> Id {
        let id = self.all.len();
        // Parameters are known before what stands between them.
        let ids = self.by_name.entry(variable.name).or_default();
        let place = ids.partition_point(|other| self.all[*other].at <= variable.at);
        ids.insert(place, id);
        self.all.push(variable);
        id
    }

    pub(in crate::scene::draft) fn get(&self, id: Id) -> &Variable<'s> {
        &self.all[id]
    }

    pub(in crate::scene::draft) fn get_mut(&mut self, id: Id) -> &mut Variable<'s> {
        &mut self.all[id]
    }

    pub(in crate::scene::draft) fn ids(&self) -> std::ops::Range<Id> {
        0..self.all.len()
    }

    /// All that are called so, in the order of their declarations.
    pub(in crate::scene::draft) fn named(&self, name: &str) -> &[Id] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The variable that a name means at a place: the one of the innermost block around it, or the one that this is a
    /// reference to. `look` counts what is
    /// looked at.
    pub(in crate::scene::draft) fn visible(
        &self,
        name: &str,
        at: usize,
        look: &dyn Fn(usize) -> Option<()>,
    ) -> Option<Id> {
        for id in self.named(name).iter().rev() {
            look(1)?;
            let variable = &self.all[*id];
            if variable.at < at && variable.scope.contains(&at) {
                return Some(variable.alias.unwrap_or(*id));
            }
        }
        None
    }

    /// Puts the definitions of each into the file's order.
    pub(in crate::scene::draft) fn sort(&mut self) {
        for variable in &mut self.all {
            variable.definitions.sort_by_key(|definition| definition.at);
            variable.fields.sort_by_key(|(_, definition)| definition.at);
        }
    }
}

//! The launch plan: which kernels a session launches with which arguments. Data, not code.

use std::collections::BTreeSet;

use super::{Argument, Pass, ResourceId, Term};

/// What a session launches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// In the order of their launches.
    pub passes: Vec<PlannedPass>,
}

impl Plan {
    /// What the compiler is asked for: the kernels, each once, but for those whose mangled names it told already.
    pub fn name_expressions(&self) -> Vec<String> {
        let all = self.passes.iter().map(|pass| pass.name_expression.clone());
        let asked = all.filter(|name| !name.starts_with("_Z"));
        asked.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// A pass whose kernel's parameters are bound.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPass {
    /// What the manifest says.
    pub declared: Pass,
    /// The kernel for the compiler: its name; where functions are overloaded, a cast to its type, or the mangled name
    /// that the compiler told.
    pub name_expression: String,
    /// One for each parameter of the kernel.
    pub arguments: Vec<Argument>,
    /// Double resources whose halves change places after each launch: those whose `_next` it takes.
    pub swaps: Vec<ResourceId>,
    /// What its expressions name that is read from the device before each launch.
    pub reads: Vec<Term>,
}

impl PlannedPass {
    /// The resources that its kernel takes.
    pub fn takes(&self) -> impl Iterator<Item = ResourceId> {
        self.arguments.iter().flat_map(|argument| argument.source.resources())
    }

    /// The resources that its kernel may write.
    pub fn writes(&self) -> impl Iterator<Item = ResourceId> {
        self.arguments.iter().flat_map(Argument::writes)
    }
}

//! Several modules become one, as a linker makes it of code that was compiled relocatable.
//!
//! Enters: modules, each with its input's name. Leaves: one module, or diagnostics. Must not know: `ptx::lexer`,
//! `ptx::parser`, `ptx::pass`.
//!
//! Names that are known outside of their modules mean one thing in all of them: its definition, which some module must
//! have. The others are a module's own, and get new names where two modules have the same. Which definition counts is
//! said by the PTX ISA ("Linking Directives"), and between `.common` and `.weak` by the System V gABI ("Symbol Table").

mod merge;
mod renumber;
mod symbols;
#[cfg(test)]
mod tests;

use super::ast::{Linkage, Module};
use crate::diagnostic::Diagnostic;
use merge::Merge;
use symbols::Symbols;

/// A module to be linked.
#[derive(Clone, Debug)]
pub struct Input {
    /// What messages call it.
    pub name: String,
    /// The module.
    pub module: Module,
    /// The lines of the text that its own text follows, where the texts are one behind the other.
    pub lines_before: u32,
}

/// Links modules to one. `provided` are functions that need no definition.
///
/// # Errors
/// Each name that is defined twice, that does not mean the same in two modules, or that is used and defined nowhere,
/// with the modules' names; modules with addresses of different sizes.
pub fn link(inputs: Vec<Input>, provided: &[&str]) -> Result<Module, Vec<Diagnostic>> {
    let symbols = Symbols::resolve(&inputs)?;
    let mut merge = Merge::new(&symbols, provided);
    for (number, input) in inputs.into_iter().enumerate() {
        merge.add(number, input);
    }
    merge.finish()
}

/// How strongly a module holds a name that others know, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// Defined elsewhere.
    Declared,
    /// Where nothing stronger is.
    Weak,
    /// Of several the largest.
    Common,
    /// Once in all modules.
    Strong,
}

impl Strength {
    fn of(linkage: Linkage) -> Self {
        match linkage {
            Linkage::Extern => Self::Declared,
            Linkage::Weak => Self::Weak,
            Linkage::Common => Self::Common,
            Linkage::Visible | Linkage::Internal => Self::Strong,
        }
    }
}

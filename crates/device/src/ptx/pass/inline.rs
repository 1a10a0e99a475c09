//! Calls replaced by the bodies of what they call.
//!
//! Enters: a module, and which of its functions must or should be inlined. Leaves: the module with their calls
//! replaced. Must not know: `device`, `ptx::cfg`, `ptx::pass::guard`.
//!
//! Where the threads of a block take turns, one that waits for others must be able to give its turn up, and can do
//! so only where its whole state is known: in the kernel itself. So functions that wait are made part of their
//! callers, from the innermost outwards. Parameters and results become local memory, registers and labels get names
//! of their own, `ret` becomes a branch behind the call, and source locations say through which calls they came, as
//! those of functions that the compiler inlined.
//!
//! A call through a pointer is first made a choice among the functions that the pointer can have
//! (`virtual_calls`). What can not be done is recursion.

mod splice;
mod virtual_calls;

use super::calls::CallGraph;
use crate::ptx::ast::{FunctionKind, Module};
use crate::ptx::inst::Instruction;
use crate::ptx::operand::Operand;

/// Most statements that are copied, in all functions of a module.
const MOST_STATEMENTS: usize = 200_000;
/// Registers of callees that become the callers', at most, in a module.
const MOST_REGISTERS: usize = 1 << 22;
/// Most statements by which a function grows for the sake of calls that need not be replaced.
const MOST_GROWTH: usize = 20_000;
/// Most statements of a function that is inlined though it need not be.
const SMALL: usize = 4_000;

/// Whether calls of a function are to be replaced by its body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// They need not.
    #[default]
    None,
    /// It is better, where it can be done.
    Better,
    /// They must be.
    Must,
}

/// Why a module cannot be as it is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The function that would have to be part of its callers.
    pub function: u32,
    /// Why it cannot be.
    pub why: &'static str,
}

/// Makes functions part of their callers: `needs` says for each function what its own instructions ask for; what
/// calls such a function directly or through a pointer needs the same.
///
/// Gives for each function whether all calls of it are gone, so that it need not exist by itself.
///
/// # Errors
/// [`Refused`] where a function that must be inlined calls itself, or would make a caller huge.
pub fn inline(module: &mut Module, needs: &[Need]) -> Result<Vec<bool>, Refused> {
    if needs.iter().all(|need| *need == Need::None) {
        return Ok(vec![false; module.functions.len()]);
    }
    let mut graph = Graph::new(module, needs);
    graph.spread();
    let order = graph.calls.inner_first();
    graph.restrict(module)?;
    virtual_calls::expand(module, &graph.needs);
    let mut inliner = splice::Inliner::new(module);
    for function in order {
        inliner.function(function, &graph.needs)?;
    }
    Ok(graph.needs.iter().map(|need| *need == Need::Must).collect())
}

/// Which functions call which, and what each needs.
struct Graph {
    needs: Vec<Need>,
    calls: CallGraph,
    sizes: Vec<usize>,
}

impl Graph {
    fn new(module: &Module, needs: &[Need]) -> Self {
        let bodies = module.functions.iter().map(|function| function.body.as_ref());
        Self {
            needs: bodies
                .clone()
                .zip(needs)
                .map(|(body, need)| if body.is_some() { *need } else { Need::None })
                .collect(),
            calls: CallGraph::new(module),
            sizes: bodies.map(|body| body.map_or(0, |body| body.statements.len())).collect(),
        }
    }

    /// What calls a function that must be inlined must be inlined itself.
    fn spread(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for caller in 0..self.calls.len() {
                let most =
                    self.calls.callees(caller).iter().map(|callee| self.needs[*callee]).max();
                if let Some(most) = most
                    && most > self.needs[caller]
                {
                    self.needs[caller] = most;
                    changed = true;
                }
            }
        }
    }

    /// Drops the need of what need not be inlined and is too large or calls itself; refuses what must be and cannot.
    fn restrict(&mut self, module: &Module) -> Result<(), Refused> {
        for function in 0..self.calls.len() {
            if module.functions[function].kind == FunctionKind::Entry {
                self.needs[function] = Need::None;
            }
            let recursive =
                self.needs[function] > Need::None && self.calls.reaches_itself(function);
            match self.needs[function] {
                Need::Must => {
                    if recursive {
                        let why = "in a function that calls itself";
                        return Err(Refused { function: function as u32, why });
                    }
                }
                Need::Better => {
                    if recursive || self.sizes[function] > SMALL {
                        self.needs[function] = Need::None;
                    }
                }
                Need::None => {}
            }
        }
        Ok(())
    }
}

/// The source operands of a call behind its target.
fn arguments(call: &Instruction) -> &[Operand] {
    call.src.get(1..).unwrap_or(&[])
}

#[cfg(test)]
mod tests;

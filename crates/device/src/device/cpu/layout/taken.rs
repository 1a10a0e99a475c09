//! Of which memory of a block a module takes generic addresses.

use crate::ptx::{
    ast::{Body, FunctionKind, Module},
    inst::{Instruction, Op},
    operand::{Operand, Symbol},
    types::Space,
};

/// Of which memory of a block some instruction of a module takes a generic address: no other one of it can be had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::device::cpu) struct Taken {
    pub(in crate::device::cpu) shared: bool,
    /// Variables in frames of local memory, and parameters of device functions, which lie there, too.
    pub(in crate::device::cpu) locals: bool,
    /// Parameters of kernels.
    pub(in crate::device::cpu) params: bool,
}

impl Taken {
    pub(super) fn new(module: &Module) -> Self {
        let mut taken = Self::default();
        for function in &module.functions {
            for instruction in function.body.iter().flat_map(Body::instructions) {
                taken.add(function.kind, instruction);
            }
        }
        taken
    }

    fn add(&mut self, kind: FunctionKind, i: &Instruction) {
        self.shared |= i.op.facts().converts.is_some_and(|space| space.kind() == Space::Shared);
        // What is named in a call is what it passes, not where that lies.
        if let Op::Call { .. } = i.op {
            return;
        }
        for operand in i.src.iter().flat_map(Operand::lanes) {
            let Operand::Symbol(symbol, _) = operand else { continue };
            match (symbol, kind) {
                (Symbol::Param(_), FunctionKind::Entry) => self.params = true,
                (Symbol::Param(_), FunctionKind::Func) => self.locals = true,
                (Symbol::Local(_) | Symbol::Return(_), _) => self.locals = true,
                (Symbol::Variable(_) | Symbol::Function(_), _) => {}
            }
        }
    }
}

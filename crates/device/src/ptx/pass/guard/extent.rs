//! How large a variable is, and how it is aligned.

use crate::ptx::ast::Linkage;
use crate::ptx::operand::Symbol;
use crate::ptx::pass::origin::Origins;
use crate::ptx::types::Space;

/// How large a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Bytes(u64),
    /// As much as the launch says: `%dynamic_smem_size`.
    Dynamic,
}

impl Origins<'_> {
    /// How large a symbol's memory is; none where that is not said here.
    pub(super) fn size(&self, symbol: Symbol) -> Option<Size> {
        let variable = match symbol {
            Symbol::Variable(index) => self.module().variables.get(index as usize)?,
            Symbol::Local(index) => self.body().locals.get(index as usize)?,
            Symbol::Param(index) => {
                let param = self.function().params.get(index as usize)?;
                return Some(Size::Bytes(param.bytes()));
            }
            Symbol::Return(_) | Symbol::Function(_) => return None,
        };
        if variable.is_dynamic() {
            return (variable.space.kind() == Space::Shared).then_some(Size::Dynamic);
        }
        // The definition elsewhere may be larger.
        let is_here = variable.linkage != Linkage::Extern;
        Some(variable.bytes()).filter(|bytes| is_here && *bytes > 0).map(Size::Bytes)
    }

    /// What a symbol's address is a multiple of.
    pub(super) fn alignment(&self, symbol: Symbol) -> u32 {
        let variable = match symbol {
            Symbol::Variable(index) => self.module().variables.get(index as usize),
            Symbol::Local(index) => self.body().locals.get(index as usize),
            Symbol::Param(index) => {
                let param = self.function().params.get(index as usize);
                return param.map_or(1, |param| param.alignment().max(1));
            }
            Symbol::Return(_) | Symbol::Function(_) => None,
        };
        variable.map_or(1, |variable| variable.alignment().max(1))
    }
}

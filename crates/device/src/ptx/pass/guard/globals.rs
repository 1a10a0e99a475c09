//! The module's own variables in device memory, for addresses of which nobody knows where they come from: no host need
//! know where a loader has put them.

use crate::ptx::ast::{Init, Item, Linkage, Module, SymbolAddress, Value, Variable};
use crate::ptx::operand::Symbol;
use crate::ptx::types::{Space, Type};

/// The name of the table.
const NAME: &str = "__warpaint_guard_globals";

/// A table of 16 bytes each: address and length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Globals {
    pub(super) table: Symbol,
    pub(super) count: u32,
}

/// Gives the module a table of the variables that are declared before its first function is defined; none where there
/// is no such variable.
pub(super) fn add(module: &mut Module) -> Option<Globals> {
    let before = module.items.iter().position(|item| matches!(item, Item::Definition(_)));
    let before = before.unwrap_or(module.items.len());
    let mut list = Vec::new();
    for item in &module.items[..before] {
        let Item::Variable(index) = item else { continue };
        let variable = module.variables.get(*index as usize)?;
        let is_there = variable.space == Space::Global && variable.linkage != Linkage::Extern;
        if is_there && variable.bytes() > 0 && is_plain(variable.ty) {
            let (symbol, offset) = (Symbol::Variable(*index), 0);
            let address = SymbolAddress { symbol, offset, generic: true, mask: None };
            list.push(Init::Value(Value::Address(address)));
            list.push(Init::Value(Value::Int(i64::try_from(variable.bytes()).unwrap_or(i64::MAX))));
        }
    }
    if list.is_empty() {
        return None;
    }
    let index = module.variables.len() as u32;
    let count = (list.len() / 2) as u32;
    module.variables.push(Variable {
        name: NAME.to_owned(),
        space: Space::Global,
        linkage: Linkage::Internal,
        ty: Type::U64,
        lanes: 1,
        align: Some(8),
        dims: vec![list.len() as u64],
        init: Some(Init::List(list)),
        attribute: None,
        bank: None,
    });
    module.items.insert(before, Item::Variable(index));
    Some(Globals { table: Symbol::Variable(index), count })
}

/// Whether a variable of this type is memory.
fn is_plain(ty: Type) -> bool {
    !matches!(ty, Type::Texref | Type::Samplerref | Type::Surfref)
}

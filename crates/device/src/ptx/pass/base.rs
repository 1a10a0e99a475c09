//! What the address of an access was computed from, for who tells of a wrong one.

use super::{
    access::accesses,
    origin::{Origin, Origins, Source},
};
use crate::ptx::{
    ast::Module,
    operand::{Address, Base as Start, Symbol},
};

/// Where an address of global memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The pointer at this byte of the kernel's arguments.
    Argument(u32),
    /// The module's variable with this index.
    Variable(u32),
}

/// What the accesses of a kernel on a line of its PTX were computed from; `None` where there are several, or it is not
/// known.
pub fn base(module: &Module, kernel: &str, line: u32) -> Option<Base> {
    let origins = Origins::of_kernel(module, kernel)?;
    let mut found = None;
    for i in origins.body().instructions().filter(|i| i.line == line) {
        for access in accesses(i).unwrap_or_default() {
            let source = source(&origins, i.src.get(access.source)?.address()?)?;
            if found.replace(source).is_some_and(|before| before != source) {
                return None;
            }
        }
    }
    match found? {
        Source::Argument(offset) => Some(Base::Argument(offset)),
        Source::Symbol(Symbol::Variable(index)) => Some(Base::Variable(index)),
        Source::Symbol(
            Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) | Symbol::Function(_),
        )
        | Source::Null => None,
    }
}

/// The one source of an address, which may be null, too.
fn source(origins: &Origins<'_>, address: &Address) -> Option<Source> {
    let reg = match address.base {
        Start::Reg(reg) => reg,
        Start::Symbol(symbol) => return Some(Source::Symbol(symbol)),
        Start::Absolute => return None,
    };
    match origins.of(reg).origin {
        Origin::Pointer { sources, .. } => {
            let mut sources = sources.into_iter().filter(|source| *source != Source::Null);
            sources.next().filter(|_| sources.next().is_none())
        }
        Origin::Number { .. } | Origin::Unknown => None,
    }
}

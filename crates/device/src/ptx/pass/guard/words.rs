//! What a launch gives a guarded kernel beside its arguments.

use crate::ptx::ast::Param;
use crate::ptx::operand::{Address, Base, Operand, Symbol};
use crate::ptx::pass::origin::parameter_offsets;

/// Most bytes of a kernel's parameters that every driver takes (PTX ISA, "Kernel Function Parameters").
const MOST_BYTES: u32 = 4096;

/// One 64-bit word of a guarded kernel's last parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Word {
    /// The first address of the allocation that a pointer points into, less `low` (modulo 2^64).
    Start {
        /// Where the pointer lies among the arguments, in bytes.
        argument: u32,
        /// Added to the pointer by the lowest access.
        low: i64,
    },
    /// How many addresses from the first one on may begin an access of `span` bytes: the allocation's length less
    /// `span - 1`; 0 where it is shorter, and where the pointer is no multiple of `align`.
    Limit {
        /// Where the pointer lies among the arguments, in bytes.
        argument: u32,
        /// Bytes that are accessed together.
        span: u32,
        /// What the pointer has to be a multiple of; a power of two.
        align: u32,
    },
}

impl Word {
    /// Its value, where the allocation that `pointer` points into begins at `start` and has so many `bytes`.
    pub fn value(self, pointer: u64, start: u64, bytes: u64) -> u64 {
        match self {
            Self::Start { low, .. } => start.wrapping_sub(low.cast_unsigned()),
            Self::Limit { align, .. } if !pointer.is_multiple_of(u64::from(align.max(1))) => 0,
            Self::Limit { span, .. } => (bytes + 1).saturating_sub(u64::from(span)),
        }
    }

    /// Where the pointer lies among the arguments, in bytes.
    pub fn argument(self) -> u32 {
        match self {
            Self::Start { argument, .. } | Self::Limit { argument, .. } => argument,
        }
    }
}

/// The 64-bit word at this byte of packed arguments; 0 behind their end.
pub fn pointer_at(arguments: &[u8], at: u32) -> u64 {
    let bytes = arguments.get(at as usize..).and_then(|rest| rest.first_chunk());
    bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// The words of a kernel while it is guarded.
pub(super) struct Words {
    /// The parameter that they will be.
    param: u32,
    /// Where it lies in the arguments.
    pub(super) offset: u32,
    pub(super) list: Vec<Word>,
}

impl Words {
    /// None yet, of a kernel with these parameters.
    pub(super) fn new(params: &[Param]) -> Self {
        let end = match (parameter_offsets(params).last(), params.last()) {
            (Some(start), Some(last)) => u64::from(*start).saturating_add(last.bytes()),
            _ => 0,
        };
        let offset = u32::try_from(end.next_multiple_of(8)).unwrap_or(u32::MAX);
        Self { param: params.len() as u32, offset, list: Vec::new() }
    }

    /// The memory operand of a word, the same for the same word.
    pub(super) fn operand(&mut self, word: Word) -> Operand {
        let at = self.list.iter().position(|known| *known == word).unwrap_or_else(|| {
            self.list.push(word);
            self.list.len() - 1
        });
        let base = Base::Symbol(Symbol::Param(self.param));
        Operand::Address(Address { base, offset: 8 * at as i64 })
    }

    /// Whether a kernel can have so many.
    pub(super) fn fit(&self) -> bool {
        u64::from(self.offset) + 8 * self.list.len() as u64 <= u64::from(MOST_BYTES)
    }

    /// The parameter, where there are words.
    pub(super) fn parameter(&self) -> Option<Param> {
        use crate::ptx::types::Type;
        (!self.list.is_empty()).then(|| Param {
            name: "__warpaint_guard_words".to_owned(),
            align: Some(8),
            count: Some(8 * self.list.len() as u64),
            ..Param::scalar(Type::B8)
        })
    }
}

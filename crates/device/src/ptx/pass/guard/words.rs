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
    /// Which indices are right, where an access lies at the pointer plus `low` plus `stride` bytes for each of the
    /// index: the first one in the lower half, how many there are in the higher; none where the pointer is no multiple
    /// of `align`.
    Indices {
        /// Where the pointer lies among the arguments, in bytes.
        argument: u32,
        /// Added to the pointer by the lowest access of the index 0.
        low: i64,
        /// Bytes for each of the index, not 0.
        stride: u32,
        /// Bytes that are accessed together.
        span: u32,
        /// What the pointer has to be a multiple of; a power of two.
        align: u32,
        /// Whether the index may be negative.
        signed: bool,
    },
    /// Of a surface: in the lower half how many bytes of a row may begin an access of so many, in the higher the rows.
    Surface {
        /// Where the handle lies among the arguments, in bytes.
        argument: u32,
        /// Bytes that are accessed together.
        bytes: u32,
    },
    /// Of a surface: how many slices or layers it has.
    Slices {
        /// Where the handle lies among the arguments, in bytes.
        argument: u32,
    },
}

/// What a host knows of memory.
pub trait Find {
    /// Address and length of the allocation that a pointer points into; of one that is not known, none: it may not be
    /// used.
    fn memory(&mut self, pointer: u64) -> Option<(u64, u64)>;

    /// Bytes of a row, rows, and slices or layers of the surface with this handle; of one that is not known, none: it
    /// is not checked.
    fn surface(&mut self, handle: u64) -> Option<[u32; 3]> {
        let _ = handle;
        None
    }
}

impl<F: FnMut(u64) -> Option<(u64, u64)>> Find for F {
    fn memory(&mut self, pointer: u64) -> Option<(u64, u64)> {
        self(pointer)
    }
}

/// The first of the indices that are right, and their count.
fn indices(
    pointer: u64,
    (start, bytes): (u64, u64),
    (low, stride, span): (i64, u32, u32),
    signed: bool,
) -> (u32, u32) {
    let stride = i128::from(stride.max(1));
    let from = i128::from(start) - i128::from(pointer) - i128::from(low);
    let to = from + i128::from(bytes) - i128::from(span);
    let (least, most) = match signed {
        true => (i128::from(i32::MIN), i128::from(i32::MAX)),
        false => (0, i128::from(u32::MAX)),
    };
    let first = (-(-from).div_euclid(stride)).max(least);
    let last = to.div_euclid(stride).min(most);
    // All there are, at 2^32, are one less: an allocation of so many is as good as none.
    let count = u32::try_from((last - first + 1).clamp(0, i128::from(u32::MAX))).unwrap_or(0);
    (first.clamp(least, most) as u32, count)
}

impl Word {
    /// Its value, where the allocation that `pointer` points into begins at `start` and has so many `bytes`.
    pub fn value(self, pointer: u64, start: u64, bytes: u64) -> u64 {
        match self {
            Self::Start { low, .. } => start.wrapping_sub(low.cast_unsigned()),
            Self::Limit { align, .. } if !pointer.is_multiple_of(u64::from(align.max(1))) => 0,
            Self::Limit { span, .. } => (bytes + 1).saturating_sub(u64::from(span)),
            Self::Indices { align, .. } if !pointer.is_multiple_of(u64::from(align.max(1))) => 0,
            Self::Indices { low, stride, span, signed, .. } => {
                let (first, count) = indices(pointer, (start, bytes), (low, stride, span), signed);
                u64::from(count) << 32 | u64::from(first)
            }
            Self::Surface { .. } | Self::Slices { .. } => 0,
        }
    }

    /// Its value, by what the host knows of the memory or surface that it is about.
    pub fn found(self, value: u64, find: &mut dyn Find) -> u64 {
        let mut surface = || find.surface(value).unwrap_or([u32::MAX; 3]);
        match self {
            Self::Start { .. } | Self::Limit { .. } | Self::Indices { .. } => {
                let (start, length) = find.memory(value).unwrap_or((0, 0));
                self.value(value, start, length)
            }
            Self::Surface { bytes, .. } => {
                let [row, rows, _] = surface();
                let first = row.saturating_add(1).saturating_sub(bytes);
                u64::from(rows) << 32 | u64::from(if row == u32::MAX { row } else { first })
            }
            Self::Slices { .. } => surface()[2].into(),
        }
    }

    /// Whether each index that is right by this word is right by the other one.
    pub(super) fn is_within(
        self,
        other: Self,
        find: &mut impl FnMut(u32) -> (u64, u64, u64),
    ) -> bool {
        let Self::Indices { signed, .. } = self else { return false };
        let mut range = |word: Self| {
            let (pointer, start, bytes) = find(word.argument());
            let value = word.value(pointer, start, bytes);
            let (first, count) = (value as u32, i128::from(value >> 32));
            let first = if signed { i128::from(first.cast_signed()) } else { i128::from(first) };
            (first, first + count)
        };
        let [(first, end), (other_first, other_end)] = [self, other].map(&mut range);
        first >= other_first && end <= other_end || first == end
    }

    /// Where the pointer lies among the arguments, in bytes.
    pub fn argument(self) -> u32 {
        match self {
            Self::Start { argument, .. } | Self::Limit { argument, .. } => argument,
            Self::Indices { argument, .. } => argument,
            Self::Surface { argument, .. } | Self::Slices { argument } => argument,
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

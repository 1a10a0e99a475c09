//! Memory that the host allocates.

use std::rc::Rc;

use super::place::Call;
use crate::scene::draft::code::Span;

/// `cudaMalloc(target, bytes)`, or `cudaMallocPitch` with so many bytes in each row.
pub(in crate::scene::draft) struct Allocating {
    pub(in crate::scene::draft) target: Span,
    pub(in crate::scene::draft) bytes: Span,
    pub(in crate::scene::draft) rows: Option<Span>,
    /// It is memory of the host, which kernels may be given: `cudaHostAlloc`.
    pub(in crate::scene::draft) is_of_host: bool,
}

/// How many bytes are allocated, and in which call.
pub(in crate::scene::draft) struct Allocation {
    /// Where the pointer stands in it.
    pub(in crate::scene::draft) target: usize,
    pub(in crate::scene::draft) bytes: Span,
    /// How often, where it is in rows.
    pub(in crate::scene::draft) rows: Option<Span>,
    pub(in crate::scene::draft) call: Option<Rc<Call>>,
    /// The same pointer is given other memory, too, which may be more or less.
    pub(in crate::scene::draft) is_one_of_several: bool,
}

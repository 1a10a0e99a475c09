//! A launch of a kernel.

use crate::scene::draft::code::Span;

/// `kernel<<<grid, block, shared>>>(arguments)`.
pub(in crate::scene::draft) struct Launch {
    /// With its template arguments.
    pub(in crate::scene::draft) kernel: String,
    pub(in crate::scene::draft) shape: Vec<Span>,
    pub(in crate::scene::draft) arguments: Vec<Span>,
    pub(in crate::scene::draft) at: usize,
    /// All its blocks are there at once.
    pub(in crate::scene::draft) is_cooperative: bool,
}

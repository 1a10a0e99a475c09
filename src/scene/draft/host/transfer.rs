//! A copy from device to device, or memory that is set to bytes which are all the same.

use crate::scene::draft::code::Span;

/// `cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice)`, `cudaMemset(to, value, bytes)`.
pub(in crate::scene::draft) struct Transfer<'s> {
    /// `None` where it is no pointer alone.
    pub(in crate::scene::draft) to: Option<&'s str>,
    pub(in crate::scene::draft) what: Transferred<'s>,
    pub(in crate::scene::draft) bytes: Span,
    /// All of the call.
    pub(in crate::scene::draft) call: Span,
}

/// What a transfer brings.
pub(in crate::scene::draft) enum Transferred<'s> {
    From(Option<&'s str>),
    Bytes(Span),
}

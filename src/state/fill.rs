//! Puts what a scene begins with into memory.

use crate::{
    data::Found,
    device::{Fill, Slice, Stream},
    interop::Result,
};

/// The pattern of a fill is uploaded so often in a row, in bytes; the device copies the rest.
const PATTERN: usize = 1 << 16;

/// Puts what was found into memory.
pub(crate) fn put(found: &Found, to: Slice<'_>, stream: &Stream) -> Result<()> {
    match found {
        Found::All(bytes) => Ok(stream.upload(to, bytes)?),
        Found::One(element) => fill(element, to, stream),
    }
}

/// Fills memory with one element after the other.
fn fill(element: &[u8], to: Slice<'_>, stream: &Stream) -> Result<()> {
    if let Some(&byte) = element.first()
        && element.iter().all(|other| *other == byte)
    {
        return Ok(stream.fill(to, Fill::U8(byte))?);
    }
    let total = to.bytes();
    let pattern = element.repeat(PATTERN / element.len().max(1));
    let mut done = total.min(pattern.len());
    stream.upload(to.slice(..done)?, &pattern[..done])?;
    // Twice as much each time.
    while done < total {
        let more = done.min(total - done);
        stream.copy(to.slice(done..done + more)?, to.slice(..more)?)?;
        done += more;
    }
    Ok(())
}

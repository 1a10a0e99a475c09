//! Bytes of files, which say themselves how many there are.

use std::io::Read;

use super::{Error, Result};

/// Room for so many bytes, which a file asks for.
///
/// # Errors
/// [`Error::Memory`] where there is not so much.
pub(super) fn with_room(bytes: usize) -> Result<Vec<u8>> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| Error::Memory { bytes: bytes as u64 })?;
    Ok(room)
}

/// So many bytes, neither more nor fewer, whatever happens to the file meanwhile.
pub(super) fn exactly(file: impl Read, bytes: u64) -> Result<Vec<u8>> {
    let room = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut content = with_room(room)?;
    file.take(bytes).read_to_end(&mut content)?;
    match content.len() == room {
        true => Ok(content),
        false => Err(Error::Format("it has become shorter while it was read".to_owned())),
    }
}

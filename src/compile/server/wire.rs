//! What goes between a program and its compiler processes: a length in eight bytes, then that much JSON.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::compile::job::{Answer, Facts, Job};

/// No message has more bytes.
const LONGEST: u64 = 2 << 30;

/// What a compiler process is told.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Load this library; its path as bytes.
    Load(Vec<u8>),
    /// Compile, with at most so many bytes of memory beside what is taken already.
    Compile(Box<Job>, u64),
}

/// What a compiler process says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It has begun, and waits for orders.
    Ready,
    /// The library is loaded.
    Loaded {
        /// What there is to know of it.
        facts: Facts,
        /// What the process has in memory now.
        resident_bytes: u64,
    },
    /// It cannot be loaded, and why.
    Unusable(String),
    /// A compilation has ended.
    Done {
        /// What came out.
        answer: Answer,
        /// What the process has in memory now.
        resident_bytes: u64,
    },
}

/// Sends a message.
///
/// # Errors
/// The system's.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 8];
    serde_json::to_writer(&mut bytes, message)?;
    let length = (bytes.len() - 8) as u64;
    bytes[..8].copy_from_slice(&length.to_le_bytes());
    to.write_all(&bytes)
}

/// Receives one.
///
/// # Errors
/// The system's, `UnexpectedEof` where the other side has ended, and `InvalidData` for what is no message.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_as_it_went_or_not_at_all() {
        let mut bytes = Vec::new();
        send(&mut bytes, &Order::Load(b"/a\xff".to_vec())).unwrap();
        let Order::Load(path) = receive(&mut &bytes[..]).unwrap() else { panic!() };
        assert_eq!(path, b"/a\xff");
        for end in 0..bytes.len() {
            let error = receive::<Order>(&mut &bytes[..end]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "cut to {end}");
        }
        bytes[7] = 1;
        let error = receive::<Order>(&mut &bytes[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}

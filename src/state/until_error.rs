//! Writing up to the first error.

use std::io::{self, ErrorKind, Seek, SeekFrom, Write};

/// Writes to `to` until that fails once. What comes behind goes nowhere, and succeeds: the writer of zip archives ends
/// an archive also when it is dropped, and says on the terminal what it thinks of an error that is known already.
pub(super) struct UntilError<W> {
    to: W,
    at: u64,
    end: u64,
    has_failed: bool,
}

impl<W: Write + Seek> UntilError<W> {
    /// Writes to `to`, which is empty.
    pub(super) fn new(to: W) -> Self {
        Self { to, at: 0, end: 0, has_failed: false }
    }

    /// Notes whether `done` is an error.
    fn noted<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        // Whoever is interrupted tries again.
        self.has_failed |= done.as_ref().is_err_and(|of| of.kind() != ErrorKind::Interrupted);
        done
    }
}

impl<W: Write + Seek> Write for UntilError<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = bytes.len();
        if !self.has_failed {
            let done = self.to.write(bytes);
            written = self.noted(done)?;
            self.has_failed |= written == 0 && !bytes.is_empty();
        }
        self.at += written as u64;
        self.end = self.end.max(self.at);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_failed {
            return Ok(());
        }
        let done = self.to.flush();
        self.noted(done)
    }
}

impl<W: Write + Seek> Seek for UntilError<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            _ if !self.has_failed => {
                let done = self.to.seek(to);
                self.noted(done)?
            }
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(by) => self.end.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has room for eight bytes.
    #[test]
    fn behind_the_first_error_nothing_fails() {
        let mut room = [0; 8];
        let mut writer = UntilError::new(io::Cursor::new(&mut room[..]));
        writer.write_all(b"123456").unwrap();
        assert_eq!(writer.seek(SeekFrom::Start(2)).unwrap(), 2);
        assert_eq!(writer.seek(SeekFrom::End(0)).unwrap(), 8, "of the room");
        assert!(writer.write_all(b"9").is_err());
        writer.write_all(b"9abc").unwrap();
        assert_eq!(writer.stream_position().unwrap(), 12);
        assert_eq!(writer.seek(SeekFrom::Current(-10)).unwrap(), 2);
        writer.write_all(b"x").unwrap();
        assert_eq!(writer.seek(SeekFrom::End(-1)).unwrap(), 11);
        writer.flush().unwrap();
        assert_eq!(&room, b"123456\0\0");
    }
}

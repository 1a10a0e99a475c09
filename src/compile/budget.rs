//! How many files are looked for, and how much is read of them, before a compilation.

use std::{
    io::{Error, ErrorKind, Result},
    path::Path,
};

use crate::file::{SOURCE_LIMIT, read_regular};

/// So many includes are followed, in all files together: a large project has some thousands.
pub(super) const MOST_MENTIONS: usize = 10_000;

/// So much is read of files that are included, in bytes.
const MOST_BYTES: u64 = 4 * SOURCE_LIMIT;

/// What is left for a source, whose author may want to keep the reader busy for ever.
pub(crate) struct Budget {
    mentions: usize,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { mentions: MOST_MENTIONS, bytes: MOST_BYTES }
    }

    /// Whether another include may be followed.
    pub(crate) fn follow(&mut self) -> bool {
        let is_left = self.mentions > 0;
        self.mentions = self.mentions.saturating_sub(1);
        is_left
    }

    /// The content of a file that is included.
    ///
    /// # Errors
    /// Those of [`read_regular`]; `FileTooLarge` also where all files together have more than 256 MiB.
    pub(crate) fn read(&mut self, path: &Path) -> Result<Vec<u8>> {
        let content = read_regular(path, SOURCE_LIMIT)?;
        match self.bytes.checked_sub(content.len() as u64) {
            Some(left) => self.bytes = left,
            None => {
                self.bytes = 0;
                let text = format!(
                    "all files together have more than {MOST_BYTES} bytes, the most that is read"
                );
                return Err(Error::new(ErrorKind::FileTooLarge, text));
            }
        }
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_read_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h");
        fs::File::create(&path).unwrap().set_len(SOURCE_LIMIT).unwrap();
        let mut budget = Budget::new();
        let read = (0..5).map(|_| budget.read(&path).map(|content| content.len() as u64));
        let read: Vec<_> = read.map(|result| result.map_err(|error| error.kind())).collect();
        assert_eq!(read[..4], [Ok(SOURCE_LIMIT); 4]);
        assert_eq!(read[4], Err(ErrorKind::FileTooLarge));
        assert!((0..MOST_MENTIONS).all(|_| budget.follow()) && !budget.follow());
    }
}

//! GIF: each picture with 256 colours of its own.

use std::{
    fmt,
    io::BufWriter,
    path::{Path, PathBuf},
};

use super::{Error, Film, Result};
use crate::file::Draft;
use gif::{Encoder, Frame, Repeat};

/// The encoder's effort, from 1 for the best colours to 30 for the quickest.
const SPEED: i32 = 10;
/// The shortest delay that programs keep to, in hundredths of a second.
const SHORTEST: f64 = 2.0;

/// A GIF being written.
pub(super) struct Gif {
    path: PathBuf,
    width: u16,
    height: u16,
    per_second: f64,
    encoder: Encoder<BufWriter<Draft>>,
    /// Pictures written.
    frames: u64,
}

impl Gif {
    pub(super) fn new(path: &Path, film: Film) -> Result<Self> {
        let Film { size_px, per_second, .. } = film;
        if !(SHORTEST..=f64::from(u16::MAX)).contains(&(100.0 / per_second)) {
            let limit = if per_second > 1.0 { "at most 50" } else { "at least 0.00153" };
            return Err(Error::Rate { format: "GIF", limit, asked: per_second });
        }
        let [Ok(width), Ok(height)] = size_px.map(u16::try_from) else {
            return Err(Error::encoding(path)("its sides have at most 65535 pixels"));
        };
        let draft = BufWriter::new(Draft::of(path).map_err(Error::writing(path))?);
        let mut encoder = Encoder::new(draft, width, height, &[]).map_err(Error::encoding(path))?;
        encoder.set_repeat(Repeat::Infinite).map_err(Error::encoding(path))?;
        Ok(Self { path: path.to_owned(), width, height, per_second, encoder, frames: 0 })
    }

    pub(super) fn add(&mut self, rgba: &[u8]) -> Result<()> {
        // GIF would make a hole of what is transparent.
        let mut opaque = rgba.to_vec();
        opaque.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
        let mut frame = Frame::from_rgba_speed(self.width, self.height, &mut opaque, SPEED);
        // Hundredths of a second are coarse: each picture ends when it should, seen from the beginning.
        let moment = |frame: u64| (frame as f64 * 100.0 / self.per_second).round();
        frame.delay = (moment(self.frames + 1) - moment(self.frames)) as u16;
        self.frames += 1;
        self.encoder.write_frame(&frame).map_err(Error::encoding(&self.path))
    }

    pub(super) fn finish(self) -> Result<()> {
        let draft = self.encoder.into_inner().map_err(Error::encoding(&self.path))?;
        let draft = draft.into_inner().map_err(|e| Error::writing(&self.path)(e.into_error()))?;
        draft.persist(&self.path).map_err(Error::writing(&self.path))
    }
}

impl fmt::Debug for Gif {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gif").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_is_told_is_the_one_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let told = |per_second| {
            let film = Film { size_px: [2, 2], per_second, frames: 1 };
            Gif::new(&folder.path().join("a.gif"), film).err().map(|error| error.to_string())
        };
        assert!(told(60.0).unwrap().contains("at most 50 pictures a second, not 60"));
        assert!(told(0.001).unwrap().contains("at least 0.00153 pictures a second, not 0.001"));
        assert!(told(0.00153).is_none() && told(50.0).is_none());
    }
}

//! Animated PNG: every picture as it is.

use std::{
    io::BufWriter,
    path::{Path, PathBuf},
};

use super::{Error, Film, Result};
use crate::file::Draft;

/// An animated PNG being written.
pub(super) struct Apng {
    path: PathBuf,
    /// The file beside the target; the writer has a handle of its own.
    draft: Draft,
    writer: png::Writer<BufWriter<std::fs::File>>,
}

impl Apng {
    pub(super) fn new(path: &Path, film: Film) -> Result<Self> {
        let asked = film.per_second;
        let (numerator, denominator) = delay(asked).ok_or(Error::Rate {
            format: "animated PNG",
            limit: "1 to 1000",
            asked,
        })?;
        let draft = Draft::of(path).map_err(Error::writing(path))?;
        let handle = draft.as_file().try_clone().map_err(Error::writing(path))?;
        let [width, height] = film.size_px;
        let mut encoder = png::Encoder::new(BufWriter::new(handle), width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_animated(film.frames.max(1), 0).map_err(Error::encoding(path))?;
        encoder.set_frame_delay(numerator, denominator).map_err(Error::encoding(path))?;
        let writer = encoder.write_header().map_err(Error::encoding(path))?;
        Ok(Self { path: path.to_owned(), draft, writer })
    }

    pub(super) fn add(&mut self, rgba: &[u8]) -> Result<()> {
        self.writer.write_image_data(rgba).map_err(Error::encoding(&self.path))
    }

    pub(super) fn finish(self) -> Result<()> {
        self.writer.finish().map_err(Error::encoding(&self.path))?;
        self.draft.persist(&self.path).map_err(Error::writing(&self.path))
    }
}

/// How long a picture is shown, as a fraction of a second of two 16-bit numbers.
fn delay(per_second: f64) -> Option<(u16, u16)> {
    let fits = (1.0..=1000.0).contains(&per_second);
    let scale = if per_second < 65.0 { 1000 } else { 60 };
    fits.then(|| (scale, (per_second * f64::from(scale)).round() as u16))
}

impl std::fmt::Debug for Apng {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Apng").field("path", &self.path).finish_non_exhaustive()
    }
}

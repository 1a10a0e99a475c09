//! Pictures one after the other become files: one each, an animation, or a film.
//!
//! Enters: rows of RGBA, picture after picture. Leaves: files: PNG, GIF and animated PNG by itself, MP4 and WebM
//! through ffmpeg where that is installed. Must not know: `gl`, `draw`, `scene`, `session`.
//! What a name ends with says which.

mod apng;
mod error;
mod ffmpeg;
mod gif;
mod target;

use std::path::Path;

pub use error::{Error, Result};
pub use target::{Clip, Target};

use crate::file;
use apng::Apng;
use ffmpeg::Ffmpeg;
#[cfg(feature = "cli")]
pub(crate) use ffmpeg::end_all as end_encoders;
use gif::Gif;

/// What is known of the pictures before the first one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Film {
    /// Width and height in pixels.
    pub size_px: [u32; 2],
    /// How many are shown in a second.
    pub per_second: f64,
    /// How many there will be; animated PNG says it at its beginning.
    pub frames: u32,
}

/// Writes pictures as they come. A clip is at its place when it is whole: after [`Recorder::finish`].
///
/// ```
/// use warpaint::record::{Film, Recorder, Target};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("clip.gif");
/// let film = Film { size_px: [8, 8], per_second: 25.0, frames: 2 };
/// let mut recorder = Recorder::new(Target::of(&path)?, film)?;
/// recorder.add(1, &[255; 4 * 8 * 8])?;
/// recorder.add(2, &[128; 4 * 8 * 8])?;
/// recorder.finish()?;
/// assert!(path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recorder {
    film: Film,
    output: Output,
}

#[derive(Debug)]
enum Output {
    /// A file a picture, or one that each overwrites.
    Pictures(Target),
    Gif(Gif),
    Apng(Apng),
    Ffmpeg(Ffmpeg),
}

impl Recorder {
    /// A recorder to `target`.
    ///
    /// # Errors
    /// [`Error::Rate`] for a rate that the format cannot have, [`Error::NoFfmpeg`], [`Error::File`].
    pub fn new(target: Target, film: Film) -> Result<Self> {
        let output = match &target {
            Target::Clip(path, Clip::Gif) => Output::Gif(Gif::new(path, film)?),
            Target::Clip(path, Clip::Apng) => Output::Apng(Apng::new(path, film)?),
            Target::Clip(path, clip @ (Clip::Mp4 | Clip::WebM)) => {
                Output::Ffmpeg(Ffmpeg::new(path, *clip, film)?)
            }
            Target::Picture(_) | Target::Sequence { .. } => Output::Pictures(target),
        };
        Ok(Self { film, output })
    }

    /// Adds the picture after `step`: rows of RGBA, the top one first.
    ///
    /// # Errors
    /// [`Error::Size`] for another number of bytes; those of writing.
    pub fn add(&mut self, step: u64, rgba: &[u8]) -> Result<()> {
        let [width, height] = self.film.size_px;
        let expected = 4 * width as usize * height as usize;
        if rgba.len() != expected {
            return Err(Error::Size { expected, found: rgba.len() });
        }
        match &mut self.output {
            Output::Pictures(target) => png(&target.path(step), self.film.size_px, rgba),
            Output::Gif(gif) => gif.add(rgba),
            Output::Apng(apng) => apng.add(rgba),
            Output::Ffmpeg(ffmpeg) => ffmpeg.add(rgba),
        }
    }

    /// Ends a clip and puts it in its place.
    ///
    /// # Errors
    /// Those of writing; [`Error::Ffmpeg`] with what ffmpeg said.
    pub fn finish(self) -> Result<()> {
        match self.output {
            Output::Pictures(_) => Ok(()),
            Output::Gif(gif) => gif.finish(),
            Output::Apng(apng) => apng.finish(),
            Output::Ffmpeg(ffmpeg) => ffmpeg.finish(),
        }
    }
}

/// Writes one picture, whole or not at all.
///
/// # Errors
/// [`Error::Encode`], [`Error::File`].
pub fn png(path: &Path, size_px: [u32; 2], rgba: &[u8]) -> Result<()> {
    file::replace(path, encoded(path, size_px, rgba)?).map_err(Error::writing(path))
}

/// Writes one picture to a new file.
///
/// # Errors
/// [`Error::Encode`], and [`Error::File`], also where there is something at `path`.
#[cfg(feature = "cli")]
pub(crate) fn new_png(path: &Path, size_px: [u32; 2], rgba: &[u8]) -> Result<()> {
    file::create(path, encoded(path, size_px, rgba)?).map_err(Error::writing(path))
}

/// A picture as PNG.
fn encoded(path: &Path, [width, height]: [u32; 2], rgba: &[u8]) -> Result<Vec<u8>> {
    let mut png = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut png);
    let rgba8 = image::ExtendedColorType::Rgba8;
    image::ImageEncoder::write_image(encoder, rgba, width, height, rgba8)
        .map_err(Error::encoding(path))?;
    Ok(png)
}

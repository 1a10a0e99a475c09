//! Where pictures go, as a file's name says it.

use std::path::{Path, PathBuf};

use super::{Error, Result};

/// Where pictures go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Into one file, which each overwrites.
    Picture(PathBuf),
    /// Into one for each step, whose number stands between, with so many digits at least.
    Sequence {
        /// What stands before the number.
        before: String,
        /// Digits; zeros are put before shorter numbers.
        digits: usize,
        /// What stands behind it.
        after: String,
    },
    /// All into one that moves.
    Clip(PathBuf, Clip),
}

/// A file with pictures that move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clip {
    /// 256 colours a picture, shown everywhere.
    Gif,
    /// Animated PNG: every colour, shown by browsers.
    Apng,
    /// H.264 in MP4, by ffmpeg.
    Mp4,
    /// VP9 in WebM, by ffmpeg.
    WebM,
}

impl Target {
    /// `shot.png`, `frame_%04d.png`, `clip.gif`, `clip.apng`, `clip.mp4` or `clip.webm`. What is there and is no file,
    /// such as `/dev/stdout`, gets a PNG.
    ///
    /// # Errors
    /// [`Error::Name`] for another ending, and for another `%`.
    pub fn of(path: &Path) -> Result<Self> {
        let text = path.to_string_lossy();
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let clip = match ending.as_deref() {
            Some("gif") => Some(Clip::Gif),
            Some("apng") => Some(Clip::Apng),
            Some("mp4") => Some(Clip::Mp4),
            Some("webm") => Some(Clip::WebM),
            Some("png") => None,
            _ if path.metadata().is_ok_and(|there| !there.is_file()) => None,
            _ => {
                return Err(Error::Name(format!(
                    "{text}: pictures are .png (frame_%04d.png for one a step), .gif, .apng, .mp4 or .webm"
                )));
            }
        };
        match (clip, text.split_once('%')) {
            (Some(clip), None) => Ok(Self::Clip(path.to_owned(), clip)),
            (Some(_), Some(_)) => {
                Err(Error::Name(format!("{text}: a clip is one file, so no % stands in its name")))
            }
            (None, None) => Ok(Self::Picture(path.to_owned())),
            (None, Some((before, rest))) => numbered(before, rest).ok_or_else(|| {
                Error::Name(format!("{text}: only %d and %04d stand for the step, once"))
            }),
        }
    }

    /// The file of the picture after `step`.
    pub fn path(&self, step: u64) -> PathBuf {
        match self {
            Self::Picture(path) | Self::Clip(path, _) => path.clone(),
            Self::Sequence { before, digits, after } => {
                format!("{before}{step:0digits$}{after}").into()
            }
        }
    }
}

fn numbered(before: &str, rest: &str) -> Option<Target> {
    let (digits, after) = rest.split_once('d')?;
    let few =
        digits.len() < 3 && digits.chars().all(|c| c.is_ascii_digit()) && !after.contains('%');
    let digits = digits.parse().unwrap_or(0);
    few.then(|| Target::Sequence { before: before.to_owned(), digits, after: after.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_it_is() {
        let path = |text: &str| Target::of(text.as_ref()).map(|target| target.path(12)).ok();
        for (text, file) in
            [("a.png", "a.png"), ("a_%04d_b.png", "a_0012_b.png"), ("%d.png", "12.png")]
        {
            assert_eq!(path(text), Some(PathBuf::from(file)));
        }
        for text in [
            "a%s.png",
            "a%123d.png",
            "%d.gif",
            "a%.png",
            "f%04d%04d.png",
            "a.bmp",
            "a",
            "a.png.jpg",
            ".png",
            "png",
        ] {
            assert!(matches!(Target::of(text.as_ref()), Err(Error::Name(_))), "{text}");
        }
        for (text, clip) in [
            ("a.gif", Clip::Gif),
            ("b/a.APNG", Clip::Apng),
            ("a.mp4", Clip::Mp4),
            ("a.webm", Clip::WebM),
        ] {
            assert_eq!(Target::of(text.as_ref()).ok(), Some(Target::Clip(text.into(), clip)));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_unicode_is_kept() {
        use std::os::unix::ffi::OsStrExt;
        let out = Path::new(std::ffi::OsStr::from_bytes(b"b\xff.png"));
        assert_eq!(Target::of(out).unwrap().path(1), out);
    }
}

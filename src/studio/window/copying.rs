//! Pictures of views on the clipboard.

use super::{Outcome, Studio};
use crate::diagnostic::Severity;

impl Studio {
    /// Puts a picture on the clipboard, rows of RGBA with the top one first. A thread does that: other programs get it
    /// as a PNG, which is made there.
    pub(super) fn copy_picture(&mut self, size: [u32; 2], rgba: Vec<u8>) {
        self.on_thread(move || copied(size, rgba));
    }
}

fn copied([width, height]: [u32; 2], rgba: Vec<u8>) -> Outcome {
    let image =
        arboard::ImageData { width: width as usize, height: height as usize, bytes: rgba.into() };
    match arboard::Clipboard::new().and_then(|mut clipboard| clipboard.set_image(image)) {
        Ok(()) => {
            let text =
                format!("The picture, of {width} \u{d7} {height} pixels, is on the clipboard.");
            (Severity::Note, text)
        }
        Err(error) => {
            (Severity::Error, format!("The picture was not put on the clipboard: {error}."))
        }
    }
}

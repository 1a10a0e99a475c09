//! Pictures of views that go to files: one, or all that come for a while.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use super::{Drawn, Studio, beside::Beside, looking::Sight};
use crate::{
    diagnostic::Severity,
    draw::Print,
    file, gl, record,
    studio::{
        Result, export,
        panes::{Pane, Slot},
        reel::{Format, Progress, Reel},
        sides,
    },
};

/// A view that is being recorded.
pub(super) struct Filming {
    slot: Slot,
    reel: Reel,
    print: Print,
    /// What the last picture was taken of.
    taken: Option<Taken>,
}

/// Where a picture of a view goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shot {
    /// To a new file.
    File,
    /// To the clipboard.
    Clipboard,
}

/// What a picture of a view was taken of: what was drawn, how finely, and where the line between A and B was.
type Taken = (Option<(Drawn, f32)>, f32);

impl Studio {
    /// Takes a picture of a view when it is drawn next.
    pub(super) fn screenshot(&mut self, slot: Option<Slot>, shot: Shot) {
        let slot = slot.unwrap_or(self.locals.active);
        self.state.panes.show(Pane::View(slot));
        self.asked_shots.insert((slot, shot));
    }

    /// Begins to record a view, as `format` says or as the last time; ends the recording that is under way.
    pub(super) fn record(&mut self, slot: Option<Slot>, format: Option<Format>) {
        if self.filming.is_some() {
            return self.end_recording();
        }
        let slot = slot.unwrap_or(self.locals.active);
        let format = format.unwrap_or(self.state.recording);
        self.state.recording = format;
        self.state.panes.show(Pane::View(slot));
        match self.begin_recording(slot, format) {
            Ok(filming) => self.filming = Some(filming),
            Err(problem) => self.workspace.tell(Severity::Error, problem),
        }
    }

    fn begin_recording(
        &mut self,
        slot: Slot,
        format: Format,
    ) -> std::result::Result<Filming, String> {
        let size = self.shown_size(slot).ok_or("The view has no picture yet.")?;
        let failed = |error: gl::Error| format!("Nothing is recorded: {error}.");
        let print = Print::new(self.context.gl(), size).map_err(failed)?;
        let (folder, stem) = self.place_of_files();
        let tell = self.teller();
        let (reel, thread) = Reel::begin(format, size, (&folder, &stem), tell)?;
        self.writers.push(thread);
        Ok(Filming { slot, reel, print, taken: None })
    }

    /// Ends the recording; what became of it is told when it is written.
    pub(super) fn end_recording(&mut self) {
        if let Some(filming) = self.filming.take() {
            filming.reel.end(Instant::now());
        }
    }

    /// How far the recording of a view is.
    pub(super) fn recording(&self, slot: Slot) -> Option<Progress> {
        let filming = self.filming.as_ref().filter(|filming| filming.slot == slot)?;
        Some(filming.reel.progress(Instant::now()))
    }

    /// Takes the pictures that are wanted of a view that has just been drawn.
    pub(super) fn take_pictures(&mut self, slot: Slot) {
        for shot in [Shot::File, Shot::Clipboard] {
            if !self.asked_shots.remove(&(slot, shot)) {
                continue;
            }
            let Some(size) = self.shown_size(slot) else { continue };
            let print = Print::new(self.context.gl(), size);
            match print.map_err(Into::into).and_then(|mut print| self.printed(slot, &mut print)) {
                Ok(rgba) => match shot {
                    Shot::File => self.write_picture(size, rgba),
                    Shot::Clipboard => self.copy_picture(size, rgba),
                },
                Err(error) => {
                    let text = format!("No picture was taken: {error}.");
                    self.workspace.tell(Severity::Error, text);
                }
            }
        }
        if let Some(mut filming) = self.filming.take_if(|filming| filming.slot == slot) {
            match self.film(&mut filming) {
                Ok(()) => self.filming = Some(filming).filter(|filming| !filming.reel.is_over()),
                Err(error) => {
                    filming.reel.end(Instant::now());
                    let text = format!("The recording has ended: {error}.");
                    self.workspace.tell(Severity::Error, text);
                }
            }
        }
    }

    /// Adds the picture of a view to its recording, where it is another one.
    fn film(&mut self, filming: &mut Filming) -> Result<()> {
        let now = Instant::now();
        let drawn = self.sights.get(&filming.slot).and_then(Sight::drawn);
        let shown = (drawn, self.locals.sides.split);
        if filming.taken == Some(shown) {
            return Ok(());
        }
        if let Some(at) = filming.reel.wanted_at(now) {
            self.redraws.want(at);
            return Ok(());
        }
        let rgba = self.printed(filming.slot, &mut filming.print)?;
        if filming.reel.add(now, rgba) {
            filming.taken = Some(shown);
        }
        Ok(())
    }

    /// Ends the recording of a view that has no pane any more.
    pub(super) fn end_lost_recording(&mut self) {
        let has = |slot| self.state.panes.has(Pane::View(slot));
        if self.filming.as_ref().is_some_and(|filming| !has(filming.slot)) {
            self.end_recording();
        }
    }

    /// Copies what a view shows, with its legend, into a print; gives rows of RGBA, the top one first. A view of
    /// another shape has a margin there.
    fn printed(&self, slot: Slot, print: &mut Print) -> Result<Vec<u8>> {
        let (size, shown) = (print.picture().size(), self.shown_size(slot).unwrap_or([1, 1]));
        print.picture().clear([0.0, 0.0, 0.0, 1.0]);
        self.put_view(slot, gl::Target::Framebuffer(print.picture()), within(size, shown))?;
        let (session, view) = (self.session.as_ref(), self.shown(slot));
        let legend = match self.arrangement(slot) {
            Some(sides::Arrangement::Difference) => {
                session.and_then(|of| of.difference_legend(view))
            }
            Some(sides::Arrangement::Split | sides::Arrangement::Beside) | None => {
                self.legend(slot)
            }
        };
        if let Some(legend) = legend {
            print.draw_legend(&legend)?;
        }
        Ok(print.picture().read_rgba8()?)
    }

    /// Puts a view's picture as it was drawn last into a rectangle of `target`; that of B, too, where there is one.
    pub(super) fn put_view(
        &self,
        slot: Slot,
        target: gl::Target<'_>,
        rect: [u32; 4],
    ) -> Result<()> {
        let Some(sight) = self.sights.get(&slot) else { return Ok(()) };
        let a = sight.picture();
        match (self.arrangement(slot), sight.beside()) {
            (Some(arrangement), Some(beside)) => {
                Beside::paint(beside, a, (target, rect), arrangement, self.locals.sides.split)
            }
            (Some(_), None) | (None, _) => Ok(a.blit_to(target, rect)?),
        }
    }

    /// Writes a picture to a new file, on a thread.
    fn write_picture(&mut self, size: [u32; 2], rgba: Vec<u8>) {
        let (folder, stem) = self.place_of_files();
        self.on_thread(move || written(&folder, &stem, size, &rgba));
    }

    /// The folder of the scene, or the present one, and what names of files begin with there.
    fn place_of_files(&self) -> (PathBuf, String) {
        let present = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let (folder, stem) = export::place(&self.workspace.document, &present);
        // All of it, for the sentence that says where the file is.
        (present.join(folder), stem.to_owned())
    }
}

/// Writes a picture to a new file, and says what became of it.
fn written(folder: &Path, stem: &str, [width, height]: [u32; 2], rgba: &[u8]) -> super::Outcome {
    let path = file::free_name(folder, stem, "png");
    match record::new_png(&path, [width, height], rgba) {
        Ok(()) => {
            let text = format!(
                "The picture, of {width} \u{d7} {height} pixels, is in {}.",
                path.display()
            );
            (Severity::Note, text)
        }
        Err(error) => (Severity::Error, format!("No picture was written: {error}.")),
    }
}

/// The largest rectangle of the shape of `shown` within a picture of `size`, in its middle.
fn within(size: [u32; 2], shown: [u32; 2]) -> [u32; 4] {
    let [[w, h], [sw, sh]] = [size, shown].map(|of| of.map(|side| u64::from(side.max(1))));
    let fitting = match w * sh <= h * sw {
        true => [w, (w * sh / sw).max(1)],
        false => [(h * sw / sh).max(1), h],
    };
    let [width, height] = fitting.map(|side| u32::try_from(side).unwrap_or(u32::MAX));
    [(size[0].max(1) - width) / 2, (size[1].max(1) - height) / 2, width, height]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_of_another_shape_stands_in_the_middle() {
        assert_eq!(within([400, 300], [400, 300]), [0, 0, 400, 300]);
        assert_eq!(within([400, 300], [800, 600]), [0, 0, 400, 300]);
        assert_eq!(within([400, 300], [300, 300]), [50, 0, 300, 300]);
        assert_eq!(within([400, 300], [800, 300]), [0, 75, 400, 150]);
        assert_eq!(within([400, 300], [1, 100_000]), [199, 0, 1, 300]);
        assert_eq!(within([1, 1], [0, 7]), [0, 0, 1, 1]);
    }

    #[test]
    fn a_picture_goes_to_a_new_file_which_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("waves.png");
        std::fs::write(&there, "mine").unwrap();
        let (severity, told) = written(folder.path(), "waves", [2, 1], &[9, 8, 7, 255].repeat(2));
        assert_eq!(severity, Severity::Note);
        let path = folder.path().join("waves-2.png");
        assert!(
            told.contains("2 \u{d7} 1") && told.contains(&path.display().to_string()),
            "{told}"
        );
        assert_eq!(image::open(&path).unwrap().to_rgb8().get_pixel(1, 0).0, [9, 8, 7]);
        assert_eq!(std::fs::read_to_string(there).unwrap(), "mine");
        let nowhere = folder.path().join("nowhere");
        assert_eq!(written(&nowhere, "waves", [1, 1], &[0; 4]).0, Severity::Error);
    }
}

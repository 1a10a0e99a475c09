//! The files that the scene includes, beside its own text: to be read, not edited.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use egui::{Align2, FontId, Pos2, Rect, ScrollArea, Ui, UiBuilder, vec2};

use super::rows::Rows;
use crate::{
    file,
    studio::{
        document::Document, folds, highlighter::Highlighter, panels::tab, text::Buffer, theme,
    },
};

/// How often it is looked whether a file has changed.
const LOOK: Duration = Duration::from_millis(500);
/// As many files have tabs.
const MOST: usize = 24;
/// The height of the bar of tabs.
const BAR: f32 = 26.0;
/// What is said above the text of such a file.
const READ_ONLY: &str =
    "Read only: another editor changes this file, and the scene follows once it is saved there";

/// Which file is shown, and what is in it.
#[derive(Default)]
pub struct Included {
    shown: Option<PathBuf>,
    text: Option<Loaded>,
    /// The line that is to be brought in sight, from 1, and the one that is marked.
    seeks: Option<u32>,
    marked: Option<u32>,
}

/// A file that has been read.
struct Loaded {
    path: PathBuf,
    modified: Option<SystemTime>,
    looked: Instant,
    buffer: Buffer,
    colors: Highlighter,
    problem: Option<String>,
}

impl Included {
    /// Shows a line, from 1, of the file that diagnostics call so, if it is one of these; gives whether it is.
    pub fn reveal(&mut self, name: &str, line: u32, files: &[PathBuf]) -> bool {
        let is_meant = |path: &&PathBuf| {
            path.as_path() == Path::new(name) || path.file_name() == Path::new(name).file_name()
        };
        let exact = files.iter().find(|path| path.as_path() == Path::new(name));
        let found = exact.or_else(|| files.iter().find(is_meant)).cloned();
        let is_found = found.is_some();
        if is_found {
            (self.shown, self.seeks, self.marked) = (found, Some(line), Some(line));
        }
        is_found
    }

    /// Brings a line, from 1, of the file that is shown in sight; gives whether one is.
    pub fn seek(&mut self, line: u32) -> bool {
        let is_shown = self.text_shown().is_some();
        if is_shown {
            (self.seeks, self.marked) = (Some(line), None);
        }
        is_shown
    }

    /// The text that is shown instead of the scene's.
    pub fn text_shown(&self) -> Option<&Buffer> {
        self.shown.as_ref()?;
        self.text.as_ref().map(|of| &of.buffer)
    }

    /// Shows the scene's own text.
    pub fn close(&mut self) {
        *self = Self::default();
    }

    /// The bar of tabs, where there are such files; and the chosen one's text. Gives whether that has taken the space.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        document: &Document,
        files: &[PathBuf],
        font: &FontId,
    ) -> bool {
        let there: Vec<&PathBuf> = files.iter().filter(|path| path.is_file()).take(MOST).collect();
        if there.is_empty() {
            self.shown = None;
            return false;
        }
        self.tabs(ui, document, &there);
        let Some(path) = self.shown.clone().filter(|path| there.contains(&path)) else {
            return false;
        };
        self.load(&path);
        let space = ui.available_rect_before_wrap();
        ui.painter().rect_filled(space, 0.0, theme::ground());
        let note = Rect::from_min_size(space.min, vec2(space.width(), BAR));
        let below = space.with_min_y(note.bottom());
        ui.painter().rect_filled(note, 0.0, theme::raised());
        ui.scope_builder(UiBuilder::new().max_rect(note.shrink2(vec2(10.0, 0.0))), |ui| {
            ui.horizontal_centered(|ui| {
                let text = egui::RichText::new(READ_ONLY).small().color(theme::text());
                ui.add(egui::Label::new(text).truncate()).on_hover_text(path.display().to_string());
            });
        });
        ui.scope_builder(UiBuilder::new().max_rect(below), |ui| self.text(ui, font));
        true
    }

    fn tabs(&mut self, ui: &mut Ui, document: &Document, files: &[&PathBuf]) {
        let place = ui.available_rect_before_wrap();
        let bar = Rect::from_min_size(place.min, vec2(place.width(), BAR));
        ui.painter().rect_filled(bar, 0.0, theme::panel());
        let inner = bar.shrink2(vec2(10.0, 2.0));
        ui.scope_builder(UiBuilder::new().max_rect(inner), |ui| {
            ScrollArea::horizontal().id_salt("included").show(ui, |ui| {
                ui.horizontal_centered(|ui| {
                    ui.spacing_mut().item_spacing.x = 14.0;
                    if tab(ui, document.file_name(), self.shown.is_none()).clicked() {
                        self.close();
                    }
                    for path in files {
                        let name = path.file_name().unwrap_or_default().to_string_lossy();
                        let is_shown = self.shown.as_ref() == Some(*path);
                        let tip =
                            format!("{}\nincluded by the scene; to be read here", path.display());
                        if tab(ui, &name, is_shown).on_hover_text(tip).clicked() {
                            self.close();
                            self.shown = Some((*path).clone());
                        }
                    }
                });
            });
        });
        ui.advance_cursor_after_rect(bar);
    }

    /// Reads the file where it is another one, or has changed.
    fn load(&mut self, path: &Path) {
        let known = self.text.as_ref().filter(|of| of.path == path);
        if known.is_some_and(|of| of.looked.elapsed() < LOOK) {
            return;
        }
        let modified = path.metadata().and_then(|of| of.modified()).ok();
        if let Some(known) = self.text.as_mut().filter(|of| of.path == path)
            && known.modified == modified
        {
            known.looked = Instant::now();
            return;
        }
        let (text, problem) = match file::read_regular_text(path, Document::LARGEST) {
            Ok(text) => (text.replace("\r\n", "\n"), None),
            Err(error) => {
                (String::new(), Some(format!("{} cannot be read: {error}", path.display())))
            }
        };
        let (buffer, mut colors) = (Buffer::new(&text), Highlighter::default());
        colors.update(&buffer);
        let (path, looked) = (path.to_owned(), Instant::now());
        self.text = Some(Loaded { path, modified, looked, buffer, colors, problem });
    }

    fn text(&mut self, ui: &mut Ui, font: &FontId) {
        let Self {
            text: Some(Loaded { path, buffer, colors, problem, .. }), seeks, marked, ..
        } = self
        else {
            return;
        };
        if let Some(problem) = problem {
            ui.label(egui::RichText::new(&*problem).color(theme::error()));
            return;
        }
        let digits = buffer.rope().len_lines().ilog10() as f32 + 1.0;
        let digit = ui.fonts_mut(|fonts| fonts.glyph_width(font, '0'));
        let gutter = (digits.max(3.0) * digit + 30.0).round();
        let widest = buffer.rope().lines().map(|line| line.len_chars()).max().unwrap_or(0);
        let mut area = ScrollArea::both().id_salt(("included text", &*path)).auto_shrink(false);
        let height = Rows::new(ui, (buffer, &folds::OPEN), colors, font.clone(), Pos2::ZERO).height;
        if let Some(line) = seeks.take() {
            let y = line.saturating_sub(1) as f32 * height - ui.available_height() / 2.0;
            area = area.vertical_scroll_offset(y.max(0.0));
        }
        area.show_viewport(ui, |ui, _| {
            let origin = ui.max_rect().min + vec2(gutter, 6.0);
            let view = ui.clip_rect();
            let rows = Rows::new(ui, (buffer, &folds::OPEN), colors, font.clone(), origin);
            let size = vec2(
                gutter + widest as f32 * rows.advance + 40.0,
                rows.count() as f32 * rows.height + 30.0,
            );
            for line in rows.visible(view) {
                if marked.is_some_and(|marked| marked as usize == line + 1) {
                    let band = Rect::from_x_y_ranges(view.x_range(), rows.band(line));
                    ui.painter().rect_filled(band, 0.0, theme::faded(theme::error(), 0.12));
                }
                for (place, galley) in rows.parts(line, view) {
                    ui.painter().galley(place, galley, theme::text());
                }
                let place = Pos2::new(origin.x - 14.0, rows.band(line).center());
                let (align, color) = (Align2::RIGHT_CENTER, theme::faint());
                ui.painter().text(place, align, line + 1, font.clone(), color);
            }
            ui.allocate_space(size);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::test_screen::TestScreen;

    #[test]
    fn included_files_have_tabs_and_are_read_again_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let header = folder.path().join("helpers.cuh");
        std::fs::write(&header, "// one\nint helper;\n").unwrap();
        let files = [header.clone(), folder.path().join("missing.h")];
        let document = Document::new("a.cu", Some("a.cu".into()), "int a;\n");
        let (mut screen, mut included) = (TestScreen::default(), Included::default());
        let font = theme::code_font(13.0);
        let shown = |screen: &mut TestScreen, included: &mut Included| {
            let mut has_taken = false;
            screen.frame(|ui| has_taken = included.show(ui, &document, &files, &font));
            has_taken
        };
        assert!(!shown(&mut screen, &mut included), "its own text is shown first");
        assert!(screen.sees("helpers.cuh") && !screen.sees("missing.h"));
        screen.click("helpers.cuh");
        shown(&mut screen, &mut included);
        assert!(shown(&mut screen, &mut included) && screen.sees("int helper;"));
        assert!(screen.sees("Read only"), "{:?}", screen.written());
        std::fs::write(&header, "int other;\n").unwrap();
        std::fs::File::options()
            .append(true)
            .open(&header)
            .unwrap()
            .set_modified(SystemTime::now() + Duration::from_secs(9))
            .unwrap();
        included.text.as_mut().unwrap().looked -= LOOK;
        shown(&mut screen, &mut included);
        assert!(screen.sees("int other;"));
        screen.click("a.cu");
        shown(&mut screen, &mut included);
        assert!(!shown(&mut screen, &mut included));
        // A diagnostic leads there.
        assert!(included.reveal("helpers.cuh", 2, &files) && !included.reveal("no.h", 2, &files));
        assert!(shown(&mut screen, &mut included) && screen.sees("int other;"));
    }
}

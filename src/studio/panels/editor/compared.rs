//! What the text has other than its file, than what runs, or than what worked last: shown in the text's place.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use egui::{
    Align2, Button, Color32, FontId, Key, Modifiers, Pos2, Rect, RichText, ScrollArea, Ui,
    UiBuilder, pos2, vec2,
};

use crate::{
    session::CompileState,
    studio::{
        difference::{self, Change, Row},
        document::Document,
        icons::{self, Icon},
        panels::{named, shortened, tab},
        theme,
    },
};

/// How often it is looked whether the file has changed.
const LOOK: Duration = Duration::from_millis(500);
/// The height of the bar above.
const BAR: f32 = 30.0;
/// So much of a line is shown, in letters.
const LONGEST_LINE: usize = 400;

/// What the text is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Version {
    /// What its file has; of a built-in scene what the program has.
    #[default]
    Disk,
    /// What runs.
    Running,
    /// The last one of which a step came to its end.
    Worked,
}

/// What is compared, and what was found.
#[derive(Default)]
pub struct Compared {
    is_open: bool,
    version: Version,
    /// The change that keys are about.
    current: usize,
    /// Whether it is to be brought in sight.
    seeks: bool,
    disk: Option<(Instant, Arc<str>)>,
    known: Option<Known>,
}

/// The changes between two texts.
struct Known {
    before: Arc<str>,
    revision: u64,
    changes: Vec<Change>,
    rows: Vec<Row>,
    /// The letters of the longest line.
    widest: usize,
}

impl Compared {
    /// Whether it is shown.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Shows it no longer.
    pub fn close(&mut self) {
        self.is_open = false;
        (self.disk, self.known) = (None, None);
    }

    /// Shows it from the first change on.
    pub fn open(&mut self, ui: &Ui) {
        (self.is_open, self.current, self.seeks) = (true, 0, true);
        if let Some(focused) = ui.memory(|memory| memory.focused()) {
            ui.memory_mut(|memory| memory.surrender_focus(focused));
        }
    }

    /// Goes to the next change or to the one before, around the ends.
    pub fn step(&mut self, back: bool) {
        let count = self.known.as_ref().map_or(0, |known| known.changes.len()).max(1);
        self.current = (self.current + if back { count - 1 } else { 1 }) % count;
        self.seeks = true;
    }

    /// Lets the text have what it had before in the place of a change; of the one that keys are about where none is
    /// named.
    pub fn put_back(&self, change: Option<usize>, document: &mut Document, now: f64) {
        let Some(known) = self.known.as_ref().filter(|_| self.is_open) else { return };
        let Some(change) = known.changes.get(change.unwrap_or(self.current)) else { return };
        // The text may have changed since.
        if known.revision != document.text.revision() {
            return;
        }
        let before = difference::lines(&known.before);
        let rope = document.text.rope();
        let place = rope.line_to_char(change.now.start)..rope.line_to_char(change.now.end);
        document.text.replace(vec![(place, before[change.before.clone()].concat())], now);
    }

    /// The changes, in all the space there is, where it is open; gives whether it is.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        document: &mut Document,
        compile: &CompileState,
        font: &FontId,
        now: f64,
    ) -> bool {
        let nobody_types = ui.memory(|memory| memory.focused().is_none());
        if self.is_open
            && nobody_types
            && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
        {
            self.close();
        }
        if !self.is_open {
            return false;
        }
        ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::ground());
        let before = self.before(document, compile);
        self.look(document, before);
        self.bar(ui, document, compile);
        let put_back = self.rows(ui, document, font);
        if let Some(change) = put_back {
            self.put_back(Some(change), document, now);
            ui.request_repaint();
        }
        self.is_open
    }

    /// The text that is compared with.
    fn before(&mut self, document: &Document, compile: &CompileState) -> Arc<str> {
        match self.version {
            Version::Disk => {
                let disk = self.disk.take().filter(|(looked, _)| looked.elapsed() < LOOK);
                let read = || Document::of(document.origin()).text.to_string().into();
                self.disk.insert(disk.unwrap_or_else(|| (Instant::now(), read()))).1.clone()
            }
            Version::Running => compile.text.clone(),
            Version::Worked => compile.worked.clone().unwrap_or_default(),
        }
    }

    /// Compares where another text has come.
    fn look(&mut self, document: &Document, before: Arc<str>) {
        let revision = document.text.revision();
        let is_known =
            |known: &Known| known.revision == revision && known.before.as_ref() == before.as_ref();
        if self.known.as_ref().is_some_and(is_known) {
            return;
        }
        let text = document.text.to_string();
        let (old, new) = (difference::lines(&before), difference::lines(&text));
        let changes = difference::changes(&old, &new);
        let rows = difference::rows(&changes, new.len());
        let all = old.iter().chain(&new).map(|line| line.chars().count());
        let widest = all.max().unwrap_or(0).min(LONGEST_LINE);
        self.current = self.current.min(changes.len().saturating_sub(1));
        self.known = Some(Known { before, revision, changes, rows, widest });
    }

    fn bar(&mut self, ui: &mut Ui, document: &Document, compile: &CompileState) {
        let place = ui.available_rect_before_wrap();
        let bar = Rect::from_min_size(place.min, vec2(place.width(), BAR));
        ui.painter().rect_filled(bar, 0.0, theme::panel());
        let disk = match (&document.path, document.is_built_in()) {
            (Some(_), _) => Some("File"),
            (None, true) => Some("Built-in"),
            (None, false) => None,
        };
        let runs = (!compile.text.is_empty()).then_some("What runs");
        let worked = compile.worked.as_ref().map(|_| "What worked last");
        let versions = [(Version::Disk, disk), (Version::Running, runs), (Version::Worked, worked)];
        ui.scope_builder(UiBuilder::new().max_rect(bar.shrink2(vec2(10.0, 2.0))), |ui| {
            ui.horizontal_centered(|ui| {
                ui.spacing_mut().item_spacing.x = 14.0;
                for (version, name) in versions {
                    let Some(name) = name else { continue };
                    if tab(ui, name, self.version == version).clicked() {
                        (self.version, self.current, self.seeks) = (version, 0, true);
                    }
                }
                let count = self.known.as_ref().map_or(0, |known| known.changes.len());
                let told = match count {
                    0 => "no change".to_owned(),
                    _ => format!("change {} of {count}", self.current + 1),
                };
                ui.label(RichText::new(told).size(11.5).color(theme::weak()));
                if icons::small_button(ui, Icon::Up, "Previous change (Shift+F7)").clicked() {
                    self.step(true);
                }
                if icons::small_button(ui, Icon::Down, "Next change (F7)").clicked() {
                    self.step(false);
                }
                if icons::small_button(ui, Icon::Close, "Close (Escape)").clicked() {
                    self.is_open = false;
                }
            });
        });
        ui.advance_cursor_after_rect(bar);
    }

    /// Gives the change that is to be put back.
    fn rows(&mut self, ui: &mut Ui, document: &Document, font: &FontId) -> Option<usize> {
        let known = self.known.as_ref()?;
        let (advance, height) =
            ui.fonts_mut(|fonts| (fonts.glyph_width(font, '0'), fonts.row_height(font)));
        let height = (height + 2.0).max(20.0);
        let mut area = ScrollArea::both().id_salt("changes").auto_shrink(false);
        let is_current = |row: &Row| *row == Row::Change(self.current);
        if std::mem::take(&mut self.seeks) {
            let row = known.rows.iter().position(is_current).unwrap_or(0);
            let y = (row as f32 + 1.0) * height - ui.available_height() / 2.0;
            area = area.vertical_scroll_offset(y.max(0.0));
        }
        let before = difference::lines(&known.before);
        let digits = before.len().max(document.text.rope().len_lines()).ilog10() as f32 + 1.0;
        let number = (digits.max(3.0) * advance + 12.0).round();
        let mut put_back = None;
        ui.spacing_mut().item_spacing.y = 0.0;
        area.show_rows(ui, height, known.rows.len(), |ui, seen| {
            let width = 2.0 * number + (known.widest as f32 + 4.0) * advance;
            let width = width.max(ui.available_width());
            for row in &known.rows[seen] {
                let (_, rect) = ui.allocate_space(vec2(width, height));
                let line = Line { number, advance, font, rect };
                let text = |n: usize| document.text.text(document.text.line(n));
                match *row {
                    Row::Folded(count) => line.note(ui, &format!("{count} lines alike")),
                    Row::Same(old, new) => line.paint(ui, [Some(old), Some(new)], ' ', &text(new)),
                    Row::Removed(old) => line.paint(ui, [Some(old), None], '-', before[old]),
                    Row::Added(new) => line.paint(ui, [None, Some(new)], '+', &text(new)),
                    Row::Change(n) => {
                        if line.change(ui, n, n == self.current) {
                            put_back = Some(n);
                        }
                    }
                }
            }
        });
        put_back
    }
}

/// Where a row is.
struct Line<'a> {
    number: f32,
    advance: f32,
    font: &'a FontId,
    rect: Rect,
}

impl Line<'_> {
    fn write(&self, ui: &Ui, x: f32, align: Align2, text: &str, color: Color32) {
        let place = pos2(self.rect.left() + x, self.rect.center().y);
        ui.painter().text(place, align, text, self.font.clone(), color);
    }

    /// A line with its numbers before and now, where it has them.
    fn paint(&self, ui: &Ui, numbers: [Option<usize>; 2], sign: char, text: &str) {
        let ground = match sign {
            '+' => Some(theme::added()),
            '-' => Some(theme::removed()),
            _ => None,
        };
        if let Some(ground) = ground {
            ui.painter().rect_filled(self.rect, 0.0, ground);
        }
        for (column, number) in [1.0, 2.0].into_iter().zip(numbers) {
            if let Some(number) = number {
                let x = column * self.number - 4.0;
                let number = (number + 1).to_string();
                self.write(ui, x, Align2::RIGHT_CENTER, &number, theme::weak());
            }
        }
        let x = 2.0 * self.number + 6.0;
        self.write(ui, x, Align2::LEFT_CENTER, &sign.to_string(), theme::strong());
        let text = shortened(text.trim_end_matches(['\r', '\n']), LONGEST_LINE);
        self.write(ui, x + 2.0 * self.advance, Align2::LEFT_CENTER, &text, theme::text());
    }

    /// What stands in the place of lines that are not shown.
    fn note(&self, ui: &Ui, text: &str) {
        ui.painter().rect_filled(self.rect, 0.0, theme::panel());
        let x = 2.0 * self.number + 6.0 + 2.0 * self.advance;
        self.write(ui, x, Align2::LEFT_CENTER, text, theme::weak());
    }

    /// The head of a change; gives whether it is to be put back.
    fn change(&self, ui: &mut Ui, n: usize, is_current: bool) -> bool {
        ui.painter().rect_filled(self.rect, 0.0, theme::panel());
        if is_current {
            let bar = self.rect.with_max_x(self.rect.left() + 3.0);
            ui.painter().rect_filled(bar, 0.0, theme::accent());
        }
        let min = Pos2::new(self.rect.left() + 2.0 * self.number + 6.0, self.rect.top() + 1.0);
        let place = Rect::from_min_size(min, vec2(120.0, self.rect.height() - 2.0));
        let button = Button::new(RichText::new("Put this back").size(11.5)).small();
        let response = ui.put(place, button);
        named(&response, &format!("Put change {} back", n + 1));
        response.on_hover_text("The text has what it had before here; undo takes it back").clicked()
    }
}

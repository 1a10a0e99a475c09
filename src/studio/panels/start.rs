//! The start page: scenes with their pictures, templates, the files of late, and fields for paths.

use std::path::{Path, PathBuf};

use egui::{
    Align, Align2, Color32, Context, CornerRadius, FontId, Frame, Id, Key, Label, Layout, Margin,
    Modal, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, TextEdit, TextureHandle, Ui,
    UiBuilder, Vec2, pos2, text::LayoutJob, vec2,
};

use super::path_field::PathField;
use crate::studio::{
    action::Action,
    gallery::{Entry, Gallery},
    theme,
};

/// The page's size where there is room, and the width of its left side.
const SIZE: Vec2 = vec2(1090.0, 690.0);
const LEFT: f32 = 270.0;
/// A card's picture, and the height of its words.
const PICTURE: Vec2 = vec2(192.0, 108.0);
const WORDS: f32 = 52.0;

/// What the page is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// To begin with something.
    Scenes,
    /// To name the file that the text is written to.
    SaveAs,
}

/// The page.
#[derive(Debug, Default)]
pub struct Start {
    page: Option<Page>,
    search: String,
    path: PathField,
    for_path: bool,
    /// What the path was that could not be written to, and why.
    problem: Option<(String, String)>,
    /// Frames until its field has the keyboard: egui measures a new page unseen, and takes the keyboard from it.
    fresh: u8,
}

/// What the page shows.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The scenes.
    pub gallery: &'a Gallery,
    /// The files of late, newest first.
    pub recent: &'a [PathBuf],
    /// Where paths begin that are not absolute.
    pub folder: &'a Path,
}

/// The fields.
fn search_field() -> Id {
    Id::unique("start search")
}

fn path_field() -> Id {
    Id::unique("start path")
}

impl Start {
    /// Shows the scenes; the keyboard is the search's, or that of the field for a path.
    pub fn open(&mut self, for_path: bool) {
        *self = Self { page: Some(Page::Scenes), for_path, fresh: 3, ..Self::default() };
    }

    /// Asks for the file to write to; proposes `path`.
    pub fn ask_where_to_save(&mut self, path: &Path) {
        let path = PathField::with(path.display().to_string());
        *self = Self { page: Some(Page::SaveAs), path, fresh: 3, ..Self::default() };
    }

    /// Asks for another file, because `path` could not be written to for this reason.
    pub fn ask_again(&mut self, path: &Path, problem: &str) {
        // What has been typed, as it was typed.
        let typed = match self.page {
            Some(Page::SaveAs) => std::mem::take(&mut self.path),
            Some(Page::Scenes) | None => PathField::with(path.display().to_string()),
        };
        self.ask_where_to_save(path);
        self.path = typed;
        let text = format!("{} cannot be written: {problem}.", path.display());
        self.problem = Some((self.path.text.clone(), text));
    }

    /// Shows it no longer.
    pub fn close(&mut self) {
        self.page = None;
    }

    /// What it is open for.
    pub fn page(&self) -> Option<Page> {
        self.page
    }

    /// The page, where it is open.
    pub fn show(&mut self, context: &Context, shown: Shown<'_>) -> Vec<Action> {
        let Some(page) = self.page else { return Vec::new() };
        let screen = context.content_rect().size();
        let mut actions = Vec::new();
        let frame = Frame::popup(&context.global_style()).inner_margin(Margin::same(16));
        let modal = Modal::new(Id::unique("start page")).frame(frame);
        let modal = modal.backdrop_color(Color32::from_black_alpha(150));
        let response = modal.show(context, |ui| match page {
            Page::Scenes => {
                let size = SIZE.min(screen - vec2(72.0, 88.0)).max(vec2(320.0, 200.0));
                ui.set_min_size(size);
                ui.set_max_size(size);
                self.scenes(ui, shown, &mut actions);
            }
            Page::SaveAs => {
                ui.set_width(560.0_f32.min(screen.x - 48.0));
                self.save_as(ui, shown, &mut actions);
            }
        });
        self.fresh = self.fresh.saturating_sub(1);
        if self.fresh > 0 {
            context.request_repaint();
            let is_path = self.for_path || page == Page::SaveAs;
            let field = if is_path { path_field() } else { search_field() };
            context.memory_mut(|memory| memory.request_focus(field));
        }
        // Where the text is written to, it closes once that is done.
        let stays = actions.iter().all(|action| matches!(action, Action::SaveTo(_)));
        if response.should_close() || !stays {
            self.close();
        }
        actions
    }

    fn save_as(&mut self, ui: &mut Ui, shown: Shown<'_>, actions: &mut Vec<Action>) {
        ui.label(RichText::new("Save as").strong().size(16.0).color(theme::strong()));
        let hint = "path/to/scene.cu   (Tab completes, Enter saves)";
        let entered = self.path.show(ui, path_field(), hint, shown.folder);
        let path = self.path.path(shown.folder);
        let is_there = path.exists();
        ui.add_space(4.0);
        let failed = self.problem.as_ref().filter(|(of, _)| *of == self.path.text);
        if let Some((_, problem)) = failed {
            let text = format!("{problem} Name another place; your text is still here.");
            ui.add(Label::new(RichText::new(text).color(theme::error())).wrap());
            ui.add_space(4.0);
        }
        ui.horizontal(|ui| {
            if is_there {
                let text = format!("{} is there already.", self.path.text.trim());
                ui.label(RichText::new(text).color(theme::warning()));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let is_named = path.file_name().is_some() && !path.is_dir();
                let text = if is_there { "Replace it" } else { "Save" };
                let saves = ui.add_enabled(is_named, egui::Button::new(text)).clicked();
                if saves || entered.is_some() && is_named && !is_there {
                    actions.push(Action::SaveTo(path.clone()));
                } else if entered.is_some() {
                    // The keyboard stays the field's: what is typed next is not the scene's.
                    self.fresh = 2;
                }
                if ui.button("Cancel").clicked() {
                    self.close();
                }
            });
        });
    }

    fn scenes(&mut self, ui: &mut Ui, shown: Shown<'_>, actions: &mut Vec<Action>) {
        let whole = ui.max_rect();
        let split = whole.left() + LEFT.min(whole.width() * 0.4);
        let left = Rect::from_min_max(whole.min, pos2(split - 18.0, whole.bottom()));
        let right = Rect::from_min_max(pos2(split, whole.top()), whole.max);
        ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
            let area = ScrollArea::vertical().id_salt("left").auto_shrink(false);
            area.show(ui, |ui| self.left(ui, shown, actions));
        });
        ui.painter().vline(split - 9.0, whole.y_range(), Stroke::new(1.0, theme::line()));
        ui.scope_builder(UiBuilder::new().max_rect(right), |ui| self.cards(ui, shown, actions));
    }

    fn left(&mut self, ui: &mut Ui, shown: Shown<'_>, actions: &mut Vec<Action>) {
        heading(ui, "New");
        for template in &shown.gallery.templates {
            let picture = shown.gallery.picture(template.name, true);
            let row = row(ui, &template.title, picture);
            if row.on_hover_text(&template.summary).clicked() {
                actions.push(Action::New(template.name));
            }
        }
        ui.add_space(12.0);
        heading(ui, "Open");
        let button =
            egui::Button::new("Choose a file \u{2026}").min_size(vec2(ui.available_width(), 26.0));
        if ui.add(button).on_hover_text("The system's dialog (Ctrl+O)").clicked() {
            actions.push(Action::ChooseFile);
        }
        ui.add_space(2.0);
        if self.for_path {
            let text =
                "This system has no dialog for files that the studio knows. Type the path here:";
            ui.add(Label::new(RichText::new(text).color(theme::accent())).wrap());
        }
        let hint = "or its path: Tab completes";
        let entered = self.path.show(ui, path_field(), hint, shown.folder);
        actions.extend(entered.map(Action::Open));
        ui.label(RichText::new("or drop it on the window").small().color(theme::weak()));
        ui.add_space(12.0);
        if !shown.recent.is_empty() {
            heading(ui, "Recent");
            for path in shown.recent {
                recent(ui, path, actions);
            }
        }
    }

    fn cards(&mut self, ui: &mut Ui, shown: Shown<'_>, actions: &mut Vec<Action>) {
        let edit = TextEdit::singleline(&mut self.search)
            .id(search_field())
            .hint_text("Search the scenes")
            .desired_width(f32::INFINITY);
        let field = ui.add(edit);
        let enters = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        ui.add_space(6.0);
        let mut first = None;
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            for (title, found) in shown.gallery.found(&self.search) {
                first = first.or(found.first().map(|entry| entry.name));
                heading(ui, title);
                ui.horizontal_wrapped(|ui| {
                    ui.spacing_mut().item_spacing = vec2(12.0, 10.0);
                    for entry in found {
                        if card(ui, entry, shown.gallery.picture(entry.name, false)) {
                            actions.push(Action::OpenBuiltIn(entry.name.to_owned()));
                        }
                    }
                });
                ui.add_space(10.0);
            }
            if first.is_none() {
                ui.label(RichText::new("No scene has these words.").color(theme::weak()));
            }
        });
        if let Some(name) = first.filter(|_| enters) {
            actions.push(Action::OpenBuiltIn(name.to_owned()));
        }
    }
}

fn heading(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).size(12.0).strong().color(theme::weak()));
}

/// A picture with a title and what the scene is; gives whether it was chosen.
fn card(ui: &mut Ui, entry: &Entry, picture: Option<&TextureHandle>) -> bool {
    let size = PICTURE + vec2(0.0, WORDS);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &entry.title));
    if ui.is_rect_visible(rect) {
        let is_meant = response.hovered() || response.has_focus();
        let top = Rect::from_min_size(rect.min, PICTURE);
        let painter = ui.painter();
        painter.rect_filled(top, 6.0, theme::ground());
        show_picture(ui, top, picture, 6);
        let edge = if is_meant {
            Stroke::new(2.0, theme::accent())
        } else {
            Stroke::new(1.0, theme::line())
        };
        painter.rect_stroke(top, 6.0, edge, StrokeKind::Inside);
        let words = Rect::from_min_max(pos2(rect.left() + 2.0, top.bottom() + 4.0), rect.max);
        let mut ui = column(ui, words);
        let title = RichText::new(&entry.title).color(theme::strong());
        ui.add(Label::new(title).truncate().selectable(false));
        let (font, color) = (FontId::proportional(11.0), theme::weak());
        let mut summary = LayoutJob::simple(entry.summary.clone(), font, color, words.width());
        summary.wrap.max_rows = 2;
        ui.add(Label::new(summary).selectable(false));
    }
    response.on_hover_text(&entry.summary).clicked()
}

/// Lines one below the other, in a place that is taken already.
fn column(ui: &mut Ui, place: Rect) -> Ui {
    let layout = Layout::top_down(Align::Min);
    let mut column = ui.new_child(UiBuilder::new().max_rect(place).layout(layout));
    column.spacing_mut().item_spacing.y = 0.0;
    column
}

fn show_picture(ui: &Ui, rect: Rect, picture: Option<&TextureHandle>, corner: u8) {
    match picture {
        Some(texture) => {
            let image =
                egui::Image::from_texture(texture).corner_radius(CornerRadius::same(corner));
            image.paint_at(ui, rect);
        }
        None => {
            _ = ui.painter().text(
                rect.center(),
                Align2::CENTER_CENTER,
                "\u{2026}",
                FontId::proportional(16.0),
                theme::weak(),
            )
        }
    }
}

/// A line with a small picture, to click on.
fn row(ui: &mut Ui, title: &str, picture: Option<&TextureHandle>) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 34.0), Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, title));
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, 5.0, theme::raised());
    }
    let small = Rect::from_min_size(rect.min + vec2(3.0, 3.0), vec2(50.0, 28.0));
    ui.painter().rect_filled(small, 3.0, theme::ground());
    show_picture(ui, small, picture, 3);
    let at = pos2(small.right() + 10.0, rect.center().y);
    let font = FontId::proportional(13.5);
    ui.painter().text(at, Align2::LEFT_CENTER, title, font, theme::text());
    response
}

fn recent(ui: &mut Ui, path: &Path, actions: &mut Vec<Action>) {
    let name = path.file_name().map_or_else(String::new, |name| name.display().to_string());
    let folder = path.parent().map_or_else(String::new, |folder| folder.display().to_string());
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 36.0), Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, 5.0, theme::raised());
    }
    let mut words = column(ui, rect.shrink2(vec2(6.0, 2.0)));
    let name = RichText::new(name).color(theme::text());
    words.add(Label::new(name).truncate().selectable(false));
    let folder = RichText::new(folder).size(11.0).color(theme::weak());
    words.add(Label::new(folder).truncate().selectable(false));
    if response.on_hover_text(path.display().to_string()).clicked() {
        actions.push(Action::Open(path.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::test_screen::TestScreen;

    fn shown(screen: &mut TestScreen, start: &mut Start, recent: &[PathBuf]) -> Vec<Action> {
        let (gallery, folder) = (Gallery::default(), Path::new("/nowhere"));
        let page = Shown { gallery: &gallery, recent, folder };
        let mut actions = Vec::new();
        // A modal is measured before it is shown, and its field takes the keyboard then.
        for _ in 0..5 {
            screen.frame(|ui| actions.extend(start.show(ui.ctx(), page)));
        }
        actions
    }

    #[test]
    fn scenes_are_searched_and_the_first_one_is_opened_by_enter() {
        let (mut screen, mut start) = (TestScreen::default(), Start::default());
        start.open(false);
        shown(&mut screen, &mut start, &[]);
        assert!(screen.sees("Particles") && screen.sees("Structures"));
        screen.types("galax");
        shown(&mut screen, &mut start, &[]);
        assert!(screen.sees("Galaxies") && !screen.sees("Smoke"));
        screen.press(Key::Enter);
        let opened = shown(&mut screen, &mut start, &[]);
        assert_eq!(opened, [Action::OpenBuiltIn("nbody".into())]);
        assert_eq!(start.page(), None);
    }

    #[test]
    fn titles_come_before_summaries_and_enter_opens_the_first_that_is_shown() {
        for (words, name) in [("Noise", "noise"), ("Waves on", "wave")] {
            let (mut screen, mut start) = (TestScreen::default(), Start::default());
            start.open(false);
            shown(&mut screen, &mut start, &[]);
            screen.types(words);
            shown(&mut screen, &mut start, &[]);
            screen.press(Key::Enter);
            let opened = shown(&mut screen, &mut start, &[]);
            assert_eq!(opened, [Action::OpenBuiltIn(name.into())], "{words}");
        }
    }

    #[test]
    fn templates_and_recent_files_are_chosen_by_a_click() {
        let recent = [PathBuf::from("/home/me/my wave.cu")];
        for (text, action) in [
            ("Two passes", Action::New("two-pass")),
            ("my wave.cu", Action::Open(recent[0].clone())),
            ("Galaxies", Action::OpenBuiltIn("nbody".into())),
        ] {
            let (mut screen, mut start) = (TestScreen::default(), Start::default());
            start.open(false);
            shown(&mut screen, &mut start, &recent);
            screen.click(text);
            assert_eq!(shown(&mut screen, &mut start, &recent), [action]);
        }
    }

    #[test]
    fn a_file_that_is_there_is_replaced_only_by_a_button() {
        let folder = tempfile::tempdir().unwrap();
        let (there, new) = (folder.path().join("there.cu"), folder.path().join("new.cu"));
        std::fs::write(&there, "").unwrap();
        let (mut screen, mut start) = (TestScreen::default(), Start::default());
        start.ask_where_to_save(&new);
        shown(&mut screen, &mut start, &[]);
        screen.press(Key::Enter);
        assert_eq!(shown(&mut screen, &mut start, &[]), [Action::SaveTo(new)]);
        // It was written.
        start.close();

        start.ask_where_to_save(&there);
        shown(&mut screen, &mut start, &[]);
        screen.press(Key::Enter);
        assert_eq!(shown(&mut screen, &mut start, &[]), []);
        screen.click("Replace it");
        assert_eq!(shown(&mut screen, &mut start, &[]), [Action::SaveTo(there)]);
    }

    #[test]
    fn who_gets_no_dialog_for_files_is_told_where_to_type() {
        let (mut screen, mut start) = (TestScreen::default(), Start::default());
        for (for_path, told) in [(false, false), (true, true)] {
            start.open(for_path);
            shown(&mut screen, &mut start, &[]);
            assert_eq!(screen.sees("This system has no dialog for files"), told);
        }
        screen.types("/x.cu");
        shown(&mut screen, &mut start, &[]);
        screen.press(Key::Enter);
        assert_eq!(shown(&mut screen, &mut start, &[]), [Action::Open("/x.cu".into())]);
    }

    #[test]
    fn what_cannot_be_written_is_told_where_it_was_asked() {
        let (mut screen, mut start) = (TestScreen::default(), Start::default());
        let path = PathBuf::from("/nowhere/at/all.cu");
        start.ask_where_to_save(&path);
        shown(&mut screen, &mut start, &[]);
        screen.press(Key::Enter);
        let saves = [Action::SaveTo(path.clone())];
        assert_eq!(shown(&mut screen, &mut start, &[]), saves);
        assert_eq!(start.page(), Some(Page::SaveAs), "until it is known that it was written");
        start.ask_again(&path, "there is no such folder");
        shown(&mut screen, &mut start, &[]);
        let told = "/nowhere/at/all.cu cannot be written: there is no such folder.";
        assert!(screen.sees(told), "{:?}", screen.written());
        // The field has the keyboard, and another path is another chance.
        screen.types("x");
        shown(&mut screen, &mut start, &[]);
        assert!(!screen.sees(told), "{:?}", screen.written());
        screen.press(Key::Enter);
        let [Action::SaveTo(other)] = &shown(&mut screen, &mut start, &[])[..] else { panic!() };
        assert_ne!(*other, path);
    }

    #[test]
    fn escape_closes_it() {
        let (mut screen, mut start) = (TestScreen::default(), Start::default());
        start.open(false);
        shown(&mut screen, &mut start, &[]);
        screen.press(Key::Escape);
        assert_eq!(shown(&mut screen, &mut start, &[]), []);
        assert_eq!(start.page(), None);
    }
}

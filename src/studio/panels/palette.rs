//! The list of all commands and their keys, which can be searched; and that of what a text declares.

use std::{borrow::Cow, sync::Arc};

use egui::{
    Align2, Area, Context, CornerRadius, Frame, Id, Key, KeyboardShortcut, Label, Margin,
    Modifiers, Order, RichText, ScrollArea, Sense, TextEdit, Ui, vec2,
};

use super::transport;
use crate::{
    session::{Command, Snapshot},
    studio::{
        action::Action,
        colors,
        course::Course,
        keymap::{Bindable, Keymap},
        look::Look,
        panes::{Edge, Pane},
        reel::Format,
        shortcuts::{self, SHORTCUTS, Scope, Shortcut, Task},
        symbols::Symbol,
        text::Direction,
        theme,
        typing::Typing,
        viewpoints::{Side, Switch},
    },
};

/// The width of the list, and the height of what is seen of it.
const WIDTH: f32 = 460.0;
const HEIGHT: f32 = 330.0;
const ROW: f32 = 24.0;

/// What is chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Something with the editor, which gets the keyboard for it.
    Task(Task),
    /// Something with the scene.
    Action(Action),
    /// This line, from 1, of the text that is shown.
    Line(u32),
}

/// A row of the list.
struct Entry {
    title: Cow<'static, str>,
    /// The program's keys for it.
    keys: Vec<KeyboardShortcut>,
    /// What stands at its end: the key that does the same, or what a symbol is.
    detail: String,
    choice: Choice,
}

/// The list.
#[derive(Debug, Default)]
pub struct Palette {
    is_open: bool,
    text: String,
    chosen: usize,
    /// Whether the chosen row is to be brought in sight.
    moved: bool,
    /// What a text declares, where that is listed instead of commands.
    symbols: Option<Vec<Symbol>>,
    /// The keys of the user's own.
    keymap: Arc<Keymap>,
    /// What it has beside what keys do.
    offers: Vec<(String, Action)>,
    /// Whether egui knows how large the list is.
    is_measured: bool,
}

impl Entry {
    fn of_symbol(symbol: &Symbol) -> Self {
        let detail = format!("{} {:>5}", symbol.kind, symbol.line);
        let choice = Choice::Line(symbol.line);
        Self { title: symbol.name.clone().into(), keys: Vec::new(), detail, choice }
    }
}

/// The field for what is searched.
pub fn field() -> Id {
    Id::unique("palette")
}

impl Palette {
    /// Shows all commands, and gives the list's field the keyboard.
    pub fn open(&mut self, ui: &Ui) {
        self.open_with(ui, None);
    }

    /// The same with what a text declares.
    pub fn open_symbols(&mut self, ui: &Ui, symbols: Vec<Symbol>) {
        self.open_with(ui, Some(symbols));
    }

    fn open_with(&mut self, ui: &Ui, symbols: Option<Vec<Symbol>>) {
        let (is_measured, offers) = (self.is_measured, std::mem::take(&mut self.offers));
        let keymap = Typing::keymap(ui.ctx());
        *self = Self { is_open: true, is_measured, symbols, offers, keymap, ..Self::default() };
        ui.memory_mut(|memory| memory.request_focus(field()));
    }

    /// Has these in the list from now on, beside what keys do.
    pub fn offer(&mut self, offers: Vec<(String, Action)>) {
        self.offers = offers;
    }

    /// Shows it no longer.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Whether it is shown.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Chooses the row above or below.
    pub fn choose(&mut self, direction: Direction, snapshot: &Snapshot) {
        let last = self.found(snapshot).len().saturating_sub(1);
        self.moved = true;
        self.chosen = match direction {
            Direction::Up => self.chosen.saturating_sub(1),
            Direction::Down => (self.chosen + 1).min(last),
        };
    }

    /// What the chosen row is for.
    pub fn chosen(&self, snapshot: &Snapshot) -> Option<Choice> {
        self.found(snapshot).into_iter().nth(self.chosen).map(|entry| entry.choice)
    }

    /// The entries that have all words of what is searched, in the title or behind it.
    fn found(&self, snapshot: &Snapshot) -> Vec<Entry> {
        let words = self.text.to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let fits = |entry: &Entry| {
            let text = format!("{} {}", entry.title, entry.detail).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        match &self.symbols {
            Some(symbols) => symbols.iter().map(Entry::of_symbol).filter(fits).collect(),
            None => self.commands(snapshot).filter(fits).collect(),
        }
    }

    /// All commands, each with the key that does the same.
    fn commands(&self, snapshot: &Snapshot) -> impl Iterator<Item = Entry> {
        let offers = self.offers.iter().map(|(title, action)| Entry {
            title: title.clone().into(),
            keys: Vec::new(),
            detail: String::new(),
            choice: Choice::Action(action.clone()),
        });
        entries(snapshot).into_iter().chain(offers).map(|entry| {
            let keys = self.keymap.keys(&entry.title).unwrap_or(&entry.keys);
            let detail = keys.first().map(shortcuts::name).unwrap_or_default();
            Entry { detail, ..entry }
        })
    }

    /// What the command with this name is for.
    pub fn called(&self, title: &str, snapshot: &Snapshot) -> Option<Choice> {
        self.commands(snapshot).find(|entry| entry.title == title).map(|entry| entry.choice)
    }

    /// All commands, to be bound to keys.
    pub fn bindable(&self, snapshot: &Snapshot) -> Vec<Bindable> {
        let bindable = |entry: Entry| Bindable {
            scope: match &entry.choice {
                Choice::Task(task) => {
                    let row = SHORTCUTS.iter().find(|shortcut| shortcut.task == *task);
                    row.map_or(Scope::Window, |row| row.scope)
                }
                Choice::Action(_) | Choice::Line(_) => Scope::Window,
            },
            title: entry.title.into_owned(),
            keys: entry.keys,
        };
        self.commands(snapshot).map(bindable).collect()
    }

    /// The list, where it is open; gives what was clicked on.
    pub fn show(&mut self, context: &Context, snapshot: &Snapshot) -> Option<Choice> {
        // egui shows an area unseen at first, to measure it, and takes the keyboard from what is in it: that is done
        // before the list is wanted.
        if !self.is_open && self.is_measured {
            return None;
        }
        self.is_measured = true;
        let frame = Frame::new()
            .fill(context.global_style().visuals.window_fill)
            .stroke(context.global_style().visuals.window_stroke)
            .corner_radius(CornerRadius::same(8))
            .shadow(context.global_style().visuals.popup_shadow)
            .inner_margin(Margin::same(8));
        let area = Area::new(Id::unique("palette area"))
            .order(Order::Foreground)
            .anchor(Align2::CENTER_TOP, vec2(0.0, 72.0));
        let shown = area.show(context, |ui| frame.show(ui, |ui| self.content(ui, snapshot)).inner);
        if !context.memory(|memory| memory.has_focus(field())) {
            self.close();
        }
        shown.inner
    }

    fn content(&mut self, ui: &mut Ui, snapshot: &Snapshot) -> Option<Choice> {
        ui.set_width(WIDTH);
        ui.spacing_mut().item_spacing.y = 0.0;
        let edit = TextEdit::singleline(&mut self.text)
            .id(field())
            .hint_text(match self.symbols {
                None => "What do you want to do?",
                Some(_) => "Where do you want to go?",
            })
            .desired_width(WIDTH - 8.0);
        if ui.add(edit).changed() {
            self.chosen = 0;
        }
        ui.add_space(6.0);
        let found = self.found(snapshot);
        if found.is_empty() {
            ui.label(RichText::new("Nothing is called so.").color(theme::weak()));
        }
        let moved = std::mem::take(&mut self.moved);
        let mut clicked = None;
        // An area is as high as in the frame before, and a list of few rows must not stay so.
        let scroll = ScrollArea::vertical().max_height(HEIGHT).min_scrolled_height(HEIGHT);
        scroll.auto_shrink([false, true]).show(ui, |ui| {
            for (n, entry) in found.into_iter().enumerate() {
                let is_chosen = n == self.chosen;
                let (rect, response) =
                    ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::CLICK);
                if is_chosen || response.hovered() {
                    let color = if is_chosen {
                        theme::raised()
                    } else {
                        theme::faded(theme::raised(), 0.5)
                    };
                    ui.painter().rect_filled(rect, 4.0, color);
                }
                if is_chosen && moved {
                    ui.scroll_to_rect(rect, None);
                }
                row(ui, rect, &entry);
                if response.clicked() {
                    clicked = Some(entry.choice);
                }
            }
        });
        clicked
    }
}

fn row(ui: &mut Ui, rect: egui::Rect, entry: &Entry) {
    let inner = rect.shrink2(vec2(8.0, 0.0));
    let layout = egui::Layout::right_to_left(egui::Align::Center);
    ui.scope_builder(egui::UiBuilder::new().max_rect(inner).layout(layout), |ui| {
        let detail = RichText::new(&entry.detail).monospace().size(11.5).color(theme::weak());
        ui.add(Label::new(detail).selectable(false));
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        ui.with_layout(layout, |ui| {
            let title = RichText::new(&*entry.title).color(theme::text());
            ui.add(Label::new(title).truncate().selectable(false));
        });
    });
}

fn entries(snapshot: &Snapshot) -> Vec<Entry> {
    // A run that is repeated ends with any command.
    let playing = transport::play_or_pause(snapshot, &Course::default());
    let scene = [
        ("Play or pause", Modifiers::NONE, Key::Space, Action::Session(playing)),
        ("One step", Modifiers::NONE, Key::Period, Action::Session(Command::Step)),
        ("Reset: back to step 0", Modifiers::COMMAND, Key::R, Action::Session(Command::Reset)),
        ("The camera's first place", Modifiers::NONE, Key::Home, Action::Look(None, Look::Reset)),
        (
            "All that is drawn into the view",
            Modifiers::SHIFT,
            Key::Home,
            Action::Look(None, Look::Fit),
        ),
        ("View in the whole window", Modifiers::NONE, Key::F11, Action::FullWindow),
        (
            "Orthographic or perspective",
            Modifiers::ALT,
            Key::Num5,
            Action::Look(None, Look::Switch(Switch::Orthographic)),
        ),
        (
            "See the view from the opposite side",
            Modifiers::ALT,
            Key::Num9,
            Action::Look(None, Look::FromBehind),
        ),
        (
            "Axes of the view",
            Modifiers::ALT,
            Key::A,
            Action::Look(None, Look::Switch(Switch::Axes)),
        ),
        (
            "Grid or rulers of the view",
            Modifiers::ALT,
            Key::G,
            Action::Look(None, Look::Switch(Switch::Grid)),
        ),
        (
            "Follow the element under the pointer",
            Modifiers::ALT,
            Key::E,
            Action::Look(None, Look::PickHere),
        ),
        (
            "Colours of the view: map and range",
            Modifiers::ALT,
            Key::L,
            Action::Look(None, Look::Switch(Switch::Colors)),
        ),
        (
            "Measure a distance in the view",
            Modifiers::ALT,
            Key::M,
            Action::Look(None, Look::Measure),
        ),
        ("Copy the picture of the view", Modifiers::COMMAND, Key::F12, Action::CopyPicture(None)),
        ("Picture of the view to a file", Modifiers::NONE, Key::F12, Action::Screenshot(None)),
        ("Record the view, or end it", Modifiers::SHIFT, Key::F12, Action::Record(None, None)),
    ];
    let scene = scene.map(|(title, modifiers, key, action)| Entry {
        title: title.into(),
        keys: vec![KeyboardShortcut::new(modifiers, key)],
        detail: String::new(),
        choice: Choice::Action(action),
    });
    let without_key = [
        // A command keeps its name, by which it may be bound to a key.
        (
            "Pause at the first NaN, or no more",
            Action::Session(Command::PauseAtNan(!snapshot.pauses_at_nan)),
        ),
        ("Ten steps", Action::Session(Command::Steps(10))),
        ("Play as fast as the device can", Action::Session(Command::Speed(transport::FASTEST))),
        ("Play at the scene's own speed", Action::Session(Command::Speed(1.0))),
        ("Loop no more", Action::Loop(None)),
        ("Write the camera into the file", Action::WriteCamera(None)),
        ("Write the view's colours into the file", Action::WriteColors(None)),
        ("Follow no element any more", Action::Look(None, Look::Unfollow)),
        ("Stop the step that runs", Action::Session(Command::Stop)),
        ("Start the studio anew, and go on from here", Action::StartAnew),
        ("Open the shortcuts' file", Action::OpenShortcuts),
        ("Another view, with cameras of its own", Action::AddView),
        ("All panes where they were at first", Action::UsualPanes),
        ("Put this pane at the left", Action::PutAt(Edge::Left)),
        ("Put this pane at the right", Action::PutAt(Edge::Right)),
        ("Put this pane above", Action::PutAt(Edge::Top)),
        ("Put this pane below", Action::PutAt(Edge::Bottom)),
    ];
    let panes = Pane::PANELS.into_iter().flat_map(|pane| {
        let [show, hide] = ["Show", "Hide"].map(|what| format!("{what} the pane {}", pane.title()));
        [(show.into(), Action::ShowPane(pane)), (hide.into(), Action::HidePane(pane))]
    });
    let colors = colors::Choice::ALL.map(|(choice, title)| (title, Action::ChooseColors(choice)));
    let sizes = [
        ("Larger interface", Action::Scale(Some(1.1))),
        ("Smaller interface", Action::Scale(Some(1.0 / 1.1))),
        ("Interface of the usual size", Action::Scale(None)),
    ];
    let sides = Side::ALL.map(|(side, name)| {
        let title = format!("See the view from: {}", name.to_lowercase());
        let key = match side {
            Side::Front => Some(Key::Num1),
            Side::Right => Some(Key::Num3),
            Side::Top => Some(Key::Num7),
            Side::Back | Side::Left | Side::Bottom => None,
        };
        let keys = key.map(|key| KeyboardShortcut::new(Modifiers::ALT, key));
        (title.into(), keys.into_iter().collect(), Action::Look(None, Look::From(side)))
    });
    let recordings = Format::ALL.map(|(format, name)| {
        (format!("Record the view as {name}").into(), Action::Record(None, Some(format)))
    });
    let without_key = without_key
        .into_iter()
        .chain(colors)
        .chain(sizes)
        .map(|(title, action)| (Cow::Borrowed(title), action))
        .chain(panes)
        .chain(recordings)
        .map(|(title, action)| (title, Vec::new(), action))
        .chain(sides)
        .map(|(title, keys, action)| Entry {
            title,
            keys,
            detail: String::new(),
            choice: Choice::Action(action),
        });
    let is_general = |shortcut: &&Shortcut| match shortcut.scope {
        Scope::Editor | Scope::Window => true,
        Scope::Field => false,
    };
    let editor = SHORTCUTS.iter().filter(is_general).map(|shortcut| Entry {
        title: shortcut.title.into(),
        keys: shortcut.keys.to_vec(),
        detail: String::new(),
        choice: Choice::Task(shortcut.task.clone()),
    });
    scene.into_iter().chain(editor).chain(without_key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_is_found_by_its_words() {
        let offers = vec![("Run on A processor (cpu)".to_owned(), Action::NameLayout)];
        let palette = Palette { text: "processor run".into(), offers, ..Palette::default() };
        let found = palette.chosen(&crate::studio::test_screen::snapshot());
        assert_eq!(found, Some(Choice::Action(Action::NameLayout)));
    }
}

//! The list of everything that is wrong with the source; a click shows the line.

use std::cmp::Reverse;

use egui::{Align, Layout, RichText, ScrollArea, Sense, Ui, vec2};

use super::shortened;
use crate::{
    diagnostic::{Diagnostic, Severity},
    session::{CompileState, Engine, Phase, Snapshot},
    studio::{
        action::Action,
        icons, number,
        runners::{Runner, Runners},
        theme,
    },
};

/// The height of the line, without what is around it.
pub const LINE: f32 = 20.0;
/// What the checker does.
const CHECKS: &str = "Run the scene from here on by the interpreter that checks: it finds races between threads, reads of \
                      what nobody has written and integer divisions by zero, with their lines. It is very slow";
const ENDS: &str = "Run the scene on where it ran before; what was found goes with the checks";

/// What the checker can do.
#[derive(Clone, Debug, PartialEq)]
pub enum Checking {
    /// It can begin.
    Off(Runner),
    /// It runs; the scene can go on elsewhere.
    On(Option<Runner>),
}

impl Checking {
    /// `before`: what ran the scene before the checker did.
    pub fn of(runners: &Runners, present: &Runner, before: Option<&Runner>) -> Option<Self> {
        let checks = |of: &&Runner| of.engine == Engine::Checker;
        let other = || runners.all.iter().find(|of| !checks(of));
        match checks(&present) {
            true => Some(Self::On(before.or_else(other).cloned())),
            false => runners.all.iter().find(checks).cloned().map(Self::Off),
        }
    }
}

/// What is beside the text.
pub struct Shown<'a> {
    /// The open scene's name as diagnostics carry it.
    pub file: &'a str,
    /// Whether all of it is listed.
    pub is_open: bool,
    /// What the checker can do, where there is one.
    pub checking: Option<Checking>,
}

/// A line about the worst of it and, where the list is open, all of it. Gives whether the list is to be opened or
/// closed, too.
pub fn show(ui: &mut Ui, snapshot: &Snapshot, shown: &Shown<'_>) -> (Vec<Action>, bool) {
    let mut actions = Vec::new();
    let Shown { file, is_open, .. } = *shown;
    let is_toggled = header(ui, snapshot, shown, &mut actions);
    if !is_open {
        return (actions, is_toggled);
    }
    ui.add_space(3.0);
    ScrollArea::vertical().id_salt("diagnostics").auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        for (at, diagnostic) in all(snapshot).enumerate() {
            actions.extend(ui.push_id(at, |ui| row(ui, diagnostic, file)).inner);
        }
    });
    (actions, is_toggled)
}

/// The fault, if there is one, then what the compiler said, and what the checker found.
pub fn all(snapshot: &Snapshot) -> impl Iterator<Item = &Diagnostic> {
    snapshot.fault.iter().chain(&snapshot.compile.diagnostics).chain(&snapshot.findings)
}

/// How many there are of each kind; the first one, where the list is closed. Gives whether it is to be the other way.
fn header(ui: &mut Ui, snapshot: &Snapshot, shown: &Shown<'_>, actions: &mut Vec<Action>) -> bool {
    let mut is_toggled = false;
    ui.horizontal(|ui| {
        ui.set_height(LINE);
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(checking) = &shown.checking {
                actions.extend(checker(ui, checking));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                is_toggled = worst(ui, snapshot, shown, actions);
            });
        });
    });
    is_toggled
}

/// Begins the checks, or ends them.
fn checker(ui: &mut Ui, checking: &Checking) -> Option<Action> {
    let (text, tip, runner) = match checking {
        Checking::Off(runner) => ("Check", CHECKS, runner),
        Checking::On(Some(runner)) => ("End the checks", ENDS, runner),
        Checking::On(None) => return None,
    };
    let button = egui::Button::new(RichText::new(text).small()).small();
    ui.add(button).on_hover_text(tip).clicked().then(|| Action::RunOn(runner.clone()))
}

/// The worst of it, and how much there is.
fn worst(ui: &mut Ui, snapshot: &Snapshot, shown: &Shown<'_>, actions: &mut Vec<Action>) -> bool {
    let Shown { file, is_open, .. } = *shown;
    let count = |severity| all(snapshot).filter(|d| d.severity == severity).count();
    // A fault is the old version's where the new one is rejected.
    let is_old =
        |severity| severity == Severity::Fault && snapshot.compile.phase == Phase::Rejected;
    let worst = all(snapshot).min_by_key(|of| (is_old(of.severity), Reverse(of.severity)));
    let Some(worst) = worst else {
        let text = match shown.checking {
            Some(Checking::On(_)) => "Checking: no problems so far",
            Some(Checking::Off(_)) | None => "No problems",
        };
        ui.label(RichText::new(text).small().color(theme::weak()));
        return false;
    };
    let (icon, tip) = match is_open {
        true => (icons::Icon::Down, "Show the first problem alone"),
        false => (icons::Icon::Up, "List all problems"),
    };
    let mut is_toggled = icons::small_button(ui, icon, tip).clicked();
    for severity in [Severity::Fault, Severity::Error, Severity::Warning, Severity::Note] {
        let count = count(severity);
        if count > 0 {
            let (rect, _) = ui.allocate_exact_size(vec2(12.0, 14.0), Sense::hover());
            icons::severity(ui.painter(), rect.center(), severity);
            ui.label(RichText::new(count.to_string()).color(icons::severity_color(severity)));
        }
    }
    if is_open {
        return is_toggled;
    }
    let text = format!("{}  {}", place(worst, file), worst.text.trim());
    let text = RichText::new(first_line(&text)).monospace().size(12.0).color(theme::text());
    let label = ui.add(egui::Label::new(text).truncate().sense(Sense::CLICK));
    if label.clicked() {
        match reveal(worst, file) {
            Some(action) => actions.push(action),
            None => is_toggled = true,
        }
    }
    label.on_hover_cursor(egui::CursorIcon::PointingHand);
    is_toggled
}

/// The first line of a text, as much of it as any window shows.
fn first_line(text: &str) -> String {
    shortened(text.lines().next().unwrap_or(""), 400).into_owned()
}

/// One short sentence about the latest source, and its colour.
pub fn summary(compile: &CompileState) -> (String, egui::Color32) {
    let elapsed = number::milliseconds(compile.elapsed.as_secs_f32() * 1e3);
    match compile.phase {
        Phase::Compiling => ("compiling\u{2026}".to_owned(), theme::accent()),
        Phase::Rejected if compile.running == 0 => ("rejected".to_owned(), theme::error()),
        Phase::Rejected => {
            (format!("rejected; version {} keeps running", compile.running), theme::error())
        }
        Phase::Running if compile.cached => {
            (format!("version {} in {elapsed}, from the cache", compile.running), theme::good())
        }
        Phase::Running => (format!("version {} in {elapsed}", compile.running), theme::good()),
    }
}

fn row(ui: &mut Ui, diagnostic: &Diagnostic, file: &str) -> Option<Action> {
    let background = ui.painter().add(egui::Shape::Noop);
    let response = ui.horizontal_top(|ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.add_space(2.0);
        let (rect, _) = ui.allocate_exact_size(vec2(14.0, 18.0), Sense::hover());
        icons::severity(ui.painter(), rect.center(), diagnostic.severity);
        let place =
            RichText::new(place(diagnostic, file)).monospace().size(11.5).color(theme::weak());
        let row = Layout::left_to_right(Align::Center);
        ui.allocate_ui_with_layout(vec2(46.0, 18.0), row, |ui| {
            ui.set_min_width(46.0);
            ui.add(egui::Label::new(place).extend());
        });
        // As the code that it quotes, in which `---` are three.
        let text = RichText::new(diagnostic.text.trim()).monospace().size(12.0);
        let text = text.color(theme::text());
        ui.add(egui::Label::new(text).wrap());
    });
    let rect = response.response.rect;
    let response = ui.interact(rect, ui.scope_id().with("row"), Sense::click());
    if response.hovered() && diagnostic.line.is_some() {
        ui.painter().set(background, egui::Shape::rect_filled(rect, 3.0, theme::raised()));
        ui.set_cursor_icon(egui::CursorIcon::PointingHand);
    }
    response.clicked().then(|| reveal(diagnostic, file)).flatten()
}

/// What shows the place of a remark: in the scene's own text, or in a file that it includes.
fn reveal(diagnostic: &Diagnostic, file: &str) -> Option<Action> {
    let line = diagnostic.line?;
    Some(match diagnostic.file == file {
        true => Action::Reveal(line, diagnostic.column),
        false => Action::RevealIn(diagnostic.file.clone(), line),
    })
}

fn place(diagnostic: &Diagnostic, file: &str) -> String {
    let other = if diagnostic.file == file { "" } else { &diagnostic.file };
    match (diagnostic.line, diagnostic.column) {
        (Some(line), Some(column)) => format!("{other}{}{line}:{column}", colon(other)),
        (Some(line), None) => format!("{other}{}{line}", colon(other)),
        _ => other.to_owned(),
    }
}

fn colon(file: &str) -> &'static str {
    if file.is_empty() { "" } else { ":" }
}

//! Where each panel stands: title bar above, editor left, parameters right, tables below, view in between.

use std::time::SystemTime;

use egui::{
    CentralPanel, Frame, Key, Margin, Modifiers, Panel, Rect, RichText, Ui, UiBuilder, Vec2,
    containers::panel::PanelState, vec2,
};

use super::{
    console::Console,
    course::Course,
    gallery::Gallery,
    keyboard::Keyboard,
    panels::{
        self, Action, FrameTimes, Probe, banner, comparison, compiler, console, diagnostics,
        editor, numbers, parameters, plots, start, statistics, status, timeline, timings, title,
        transport, trouble, unsaved, view,
    },
    sides::Sides,
    state::{State, Tab},
    tables::Tables,
    theme,
    trends::Trends,
    workspace::Workspace,
};
use crate::{
    scene::ViewId,
    session::{Command, Legend, Snapshot},
};

/// The panels whose sizes are remembered.
const EDITOR: &str = "editor";
const PARAMETERS: &str = "parameters";
const LOWER: &str = "lower";

/// Points around the plots that stand where a view would.
const AROUND_PLOTS: f32 = 16.0;

/// What the panels remember from frame to frame.
#[derive(Default)]
pub struct Locals {
    /// The editor's.
    pub editor: editor::Local,
    title: title::Local,
    view: view::Local,
    /// How A and B are shown together.
    pub sides: Sides,
    sizes: Sizes,
    console: console::Local,
    /// The table's.
    pub numbers: numbers::Local,
    /// The start page.
    pub start: start::Start,
    /// Who has the keyboard where no field has it.
    pub keyboard: Keyboard,
}

/// How large the panels that can be dragged were shown last, and in what space.
#[derive(Default)]
struct Sizes {
    space: Vec2,
    editor: f32,
    parameters: f32,
    lower: f32,
}

/// What one frame shows.
pub struct Shown<'a> {
    /// The session.
    pub snapshot: &'a Snapshot,
    /// The window's own times.
    pub frames: &'a FrameTimes,
    /// Where the scene is to go.
    pub course: &'a Course,
    /// The view that is shown.
    pub view: ViewId,
    /// What an image has under the pointer.
    pub probe: Option<&'a Probe>,
    /// Whether B has a picture, too.
    pub has_other: bool,
    /// What the colours of the picture of differences stand for.
    pub difference: Option<&'a Legend>,
    /// The elements of a resource, and how statistics have changed.
    pub tables: &'a Tables,
    /// See `tables`.
    pub trends: &'a Trends,
    /// What was printed and told.
    pub console: &'a Console,
    /// What the start page offers.
    pub gallery: &'a Gallery,
    /// The names of the built-in scenes.
    pub built_ins: &'a [&'a str],
}

/// Shows everything; gives what the user wants and where, in points, the view is to be drawn.
pub fn show(
    ui: &mut Ui,
    shown: &Shown<'_>,
    workspace: &mut Workspace,
    state: &mut State,
    locals: &mut Locals,
) -> (Vec<Action>, Rect) {
    let snapshot = shown.snapshot;
    let mut actions = Vec::new();
    let bar = |margin| Frame::new().fill(theme::bar()).inner_margin(Margin::symmetric(margin, 0));
    Panel::top("title").exact_size(46.0).frame(bar(12)).show(ui, |ui| {
        let Shown { built_ins, frames, course, .. } = *shown;
        let shown = title::Shown { document: &workspace.document, built_ins, frames, course };
        actions.extend(title::show(ui, snapshot, &shown, &mut locals.title));
    });
    Panel::bottom("status").exact_size(26.0).frame(bar(12)).show(ui, |ui| {
        actions.extend(status::show(ui, snapshot));
    });
    if locals.sizes.space != ui.available_size() {
        locals.sizes.space = ui.available_size();
        restore_sizes(ui, state);
    }
    left(ui, snapshot, workspace, state, locals, &mut actions);
    right(ui, snapshot, state, &mut locals.sizes, &mut actions);
    lower(ui, shown, state, locals, &mut actions);
    if let Some(timeline) = &snapshot.timeline {
        let panel = Panel::bottom("timeline").exact_size(timeline::height(timeline));
        panel.frame(bar(12)).show(ui, |ui| actions.extend(timeline::show(ui, snapshot, timeline)));
    }
    if actions.iter().any(Action::starts_comparison) {
        state.tab = Tab::Comparison;
    }
    let view = CentralPanel::no_frame().show(ui, |ui| {
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        actions.extend(banner::show(ui, snapshot, &workspace.document.name, workspace.notices()));
        actions.extend(unsaved::show(ui, workspace.unsaved(), SystemTime::now()));
        let view = view::show(ui, shown, &mut locals.sides, &mut locals.view);
        actions.extend(trouble::show(ui, view.0, snapshot));
        if snapshot.views.is_empty() {
            // A scene that draws nothing shows its plots in the view's place.
            let place = UiBuilder::new().max_rect(view.0.shrink(AROUND_PLOTS));
            ui.scope_builder(place, |ui| plots::show(ui, snapshot));
        }
        view
    });
    let (rect, from_view) = view.inner;
    actions.extend(from_view);
    let folder = std::env::current_dir().unwrap_or_default();
    let start = start::Shown { gallery: shown.gallery, recent: &state.recent, folder: &folder };
    actions.extend(locals.start.show(ui.ctx(), start));
    locals.keyboard.look(ui, &locals.view, locals.start.page().is_some());
    actions.extend(keys(ui, snapshot, locals));
    (actions, rect)
}

/// Gives the panels the sizes that the user chose for them, as far as there is space: egui itself would keep what a
/// small window made of them when it is large again.
fn restore_sizes(ui: &Ui, state: &State) {
    let space = ui.available_size();
    let sizes = [
        (EDITOR, vec2(state.editor_width.min(space.x * 0.42), space.y)),
        (PARAMETERS, vec2(state.parameters_width.min(space.x * 0.3), space.y)),
        (LOWER, vec2(space.x, state.lower_height.min(space.y * 0.4))),
    ];
    for (name, size) in sizes {
        let outer_rect = Rect::from_min_size(ui.max_rect().min, size);
        let id = ui.scope_id().with(name);
        ui.data_mut(|data| data.insert_persisted(id, PanelState { outer_rect }));
    }
}

/// Remembers in `chosen` the size that a panel was dragged to; `last` is the one before this frame's, `shown`.
fn note_size(ui: &Ui, chosen: &mut f32, last: &mut f32, shown: f32) {
    let changed = (shown - *last).abs() > 0.5;
    if changed && ui.input(|input| input.pointer.any_down()) {
        *chosen = shown;
    }
    *last = shown;
}

fn left(
    ui: &mut Ui,
    snapshot: &Snapshot,
    workspace: &mut Workspace,
    state: &mut State,
    locals: &mut Locals,
    actions: &mut Vec<Action>,
) {
    // The view keeps a third of the window, whatever the others would like.
    let parameters = state.parameters_width.min(ui.available_width() * 0.3);
    let most = (ui.available_width() * 0.65 - parameters).max(260.0);
    let panel =
        Panel::left(EDITOR).size_range(240.0..=most).frame(Frame::new().fill(theme::ground()));
    let shown = panel.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let frame =
            Frame::new().fill(theme::panel()).inner_margin(Margin::symmetric(theme::PADDING, 6));
        Panel::top("file").exact_size(30.0).frame(frame).show(ui, |ui| {
            file_line(ui, workspace, locals.editor.caret());
        });
        let problems = Panel::bottom("problems")
            .resizable(true)
            .default_size(state.diagnostics_height)
            .size_range(48.0..=ui.available_height() * 0.6)
            .frame(frame)
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 4.0;
                actions.extend(diagnostics::show(ui, snapshot, &workspace.document.name));
            });
        state.diagnostics_height = problems.response.rect.height();
        let local = &mut locals.editor;
        actions.extend(editor::show(
            ui,
            snapshot,
            &mut workspace.document,
            &mut state.font_size,
            local,
        ));
    });
    let width = shown.response.rect.width();
    note_size(ui, &mut state.editor_width, &mut locals.sizes.editor, width);
}

fn file_line(ui: &mut Ui, workspace: &Workspace, caret: (usize, usize)) {
    let document = &workspace.document;
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let name = ui.label(RichText::new(document.file_name()).strong().color(theme::strong()));
        if let Some(path) = &document.path {
            name.on_hover_text(path.display().to_string());
        }
        if document.path.is_none() {
            let text = if document.is_built_in() { "built in" } else { "in no file yet" };
            ui.label(RichText::new(text).small().color(theme::weak()));
        }
        if document.is_modified() {
            let (rect, _) = ui.allocate_exact_size(vec2(9.0, 9.0), egui::Sense::hover());
            ui.painter().circle_filled(rect.center(), 4.0, theme::accent());
            ui.label(RichText::new("modified").small().color(theme::accent()));
        }
        let layout = egui::Layout::right_to_left(egui::Align::Center);
        ui.with_layout(layout, |ui| {
            let place = format!("{}:{}", caret.0, caret.1);
            ui.label(RichText::new(place).monospace().size(11.5).color(theme::weak()));
            if ui.available_width() > 170.0 {
                let hint = "compiles as you type, at once with Ctrl+Enter";
                let hint = RichText::new(hint).small().color(theme::weak());
                ui.add(egui::Label::new(hint).truncate());
            }
        });
    });
}

fn right(
    ui: &mut Ui,
    snapshot: &Snapshot,
    state: &mut State,
    sizes: &mut Sizes,
    actions: &mut Vec<Action>,
) {
    let frame =
        Frame::new().fill(theme::panel()).inner_margin(Margin::symmetric(theme::PADDING + 2, 9));
    let panel = Panel::right(PARAMETERS).size_range(180.0..=480.0).frame(frame);
    let shown = panel.show(ui, |ui| actions.extend(parameters::show(ui, snapshot)));
    let width = shown.response.rect.width();
    note_size(ui, &mut state.parameters_width, &mut sizes.parameters, width);
}

fn lower(
    ui: &mut Ui,
    shown: &Shown<'_>,
    state: &mut State,
    locals: &mut Locals,
    actions: &mut Vec<Action>,
) {
    let frame =
        Frame::new().fill(theme::panel()).inner_margin(Margin::symmetric(theme::PADDING, 6));
    let panel = Panel::bottom(LOWER)
        .resizable(true)
        .size_range(96.0..=ui.available_height() * 0.7)
        .frame(frame);
    let panel = panel.show(ui, |ui| {
        let tab = tabs(ui, state, shown.snapshot);
        ui.add_space(2.0);
        match tab {
            Tab::Statistics => statistics::show(ui, shown.snapshot),
            Tab::Plots => plots::show(ui, shown.snapshot),
            Tab::Timings => timings::show(ui, shown.snapshot, shown.frames),
            Tab::Compiler => compiler::show(ui, shown.snapshot),
            Tab::Numbers => {
                let Shown { snapshot, tables, trends, .. } = shown;
                let local = &mut locals.numbers;
                actions.extend(numbers::show(ui, snapshot, tables, trends, local));
            }
            Tab::Console => {
                actions.extend(console::show(ui, shown.console, &mut locals.console));
            }
            Tab::Comparison => {
                let comparison = shown.snapshot.comparison.iter();
                actions.extend(comparison.flat_map(|of| comparison::show(ui, of)));
            }
        }
        ui.take_available_space();
    });
    note_size(ui, &mut state.lower_height, &mut locals.sizes.lower, panel.response.rect.height());
}

/// Shows the tabs, of plots and of a comparison only where there are such; gives the one whose panel is to be shown.
fn tabs(ui: &mut Ui, state: &mut State, snapshot: &Snapshot) -> Tab {
    let is_there = |tab: Tab| match tab {
        Tab::Plots => !snapshot.plots.is_empty(),
        Tab::Comparison => snapshot.comparison.is_some(),
        Tab::Statistics | Tab::Timings | Tab::Compiler | Tab::Console | Tab::Numbers => true,
    };
    let shown = if is_there(state.tab) { state.tab } else { Tab::Statistics };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 14.0;
        let tabs = [
            (Tab::Statistics, "Statistics"),
            (Tab::Numbers, "Numbers"),
            (Tab::Plots, "Plots"),
            (Tab::Timings, "Timings"),
            (Tab::Comparison, "A/B"),
            (Tab::Console, "Console"),
            (Tab::Compiler, "PTX and log"),
        ];
        for (tab, name) in tabs.into_iter().filter(|(tab, _)| is_there(*tab)) {
            let response = panels::tab(ui, name, shown == tab);
            if tab == Tab::Statistics && trouble::badge(snapshot).is_some() {
                let at = response.rect.right_top() + vec2(4.0, 4.0);
                ui.painter().circle_filled(at, 3.0, theme::error());
            }
            if response.clicked() {
                state.tab = tab;
            }
        }
    });
    shown
}

/// Keys that work while no text field has the keyboard.
fn keys(ui: &Ui, snapshot: &Snapshot, locals: &Locals) -> Vec<Action> {
    let mut actions = Vec::new();
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::COMMAND, Key::R) {
        actions.push(Action::Session(Command::Reset));
    }
    if !locals.keyboard.is_the_scenes() {
        return actions;
    }
    if pressed(Modifiers::NONE, Key::Space) {
        actions.push(Action::Session(transport::play_or_pause(snapshot)));
    }
    // The one with Shift first: a key that is asked for without is found with it, too.
    if pressed(Modifiers::SHIFT, Key::Period) {
        actions.push(Action::Session(Command::Steps(locals.title.steps())));
    }
    if pressed(Modifiers::NONE, Key::Period) {
        actions.push(Action::Session(Command::Step));
    }
    if pressed(Modifiers::SHIFT, Key::Home) {
        actions.push(Action::Fit);
    }
    if pressed(Modifiers::NONE, Key::Home) {
        actions.push(Action::ResetCamera);
    }
    actions
}

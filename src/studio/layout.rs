//! Where all of it stands: the title bar above, the panes between, the past and the status below.
//!
//! Enters: a [`Snapshot`], what else panels show, what is remembered. Leaves: [`Action`]s, and where views are to be
//! drawn. Must not know: `device`, `gl`, `interop`, `draw`, `compile`.

mod keys;

use std::{collections::BTreeMap, time::SystemTime};

use egui::{CentralPanel, Color32, Frame, Margin, Panel, Rect, Ui, UiBuilder, Vec2};

use super::{
    action::Action,
    console::Console,
    course::Course,
    gallery::Gallery,
    keyboard::Keyboard,
    panels::{
        FrameTimes, banner, comparison, compiler, console, diagnostics, editor, file_line, naming,
        numbers, offers, parameters, plots, start, statistics, status, timeline, timings, title,
        trouble, unsaved, view,
    },
    panes::{Board, Contents, Pane, Slot},
    runners::{Runner, Runners},
    seen::Seen,
    sides::Sides,
    state::State,
    tables::Tables,
    theme,
    trace::Trace,
    trends::Trends,
    workspace::Workspace,
};
use crate::session::Snapshot;

/// Points around the plots that stand where a view would.
const AROUND_PLOTS: f32 = 16.0;

/// What the panels remember from frame to frame.
#[derive(Default)]
pub struct Locals {
    /// The editor's.
    pub editor: editor::Local,
    title: title::Local,
    views: BTreeMap<Slot, view::Local>,
    /// How A and B are shown together.
    pub sides: Sides,
    console: console::Local,
    parameters: parameters::Local,
    timings: timings::Local,
    /// The table's.
    pub numbers: numbers::Local,
    /// The start page.
    pub start: start::Start,
    /// The question for a layout's name.
    pub naming: naming::Naming,
    /// Who has the keyboard where no field has it.
    pub keyboard: Keyboard,
    board: Board,
    /// What ran the scene before the checker did.
    before_checks: Option<Runner>,
    /// The view that was touched last: keys are for it.
    pub active: Slot,
    /// The pane that was touched last.
    pub touched: Option<Pane>,
    /// The view that has the whole window.
    pub full: Option<Slot>,
}

/// What one frame shows.
pub struct Shown<'a> {
    /// The session.
    pub snapshot: &'a Snapshot,
    /// The window's own times.
    pub frames: &'a FrameTimes,
    /// What may run the kernels, and what does.
    pub runners: &'a Runners,
    /// See `runners`.
    pub runner: &'a Runner,
    /// What the last frames were made of.
    pub trace: &'a Trace,
    /// Where the scene is to go.
    pub course: &'a Course,
    /// What the panes of views show.
    pub sights: BTreeMap<Slot, Seen>,
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

/// Where, in points, views are to be drawn.
pub type Places = Vec<(Slot, Rect)>;

/// Shows everything; gives what the user wants and where views are to be drawn.
pub fn show(
    ui: &mut Ui,
    shown: &Shown<'_>,
    workspace: &mut Workspace,
    state: &mut State,
    locals: &mut Locals,
) -> (Vec<Action>, Places) {
    let snapshot = shown.snapshot;
    let mut actions = Vec::new();
    // Keys are for a view that is there.
    if !state.panes.has(Pane::View(locals.active)) {
        locals.active = state.panes.slots().next().unwrap_or_default();
    }
    let full = locals.full.filter(|slot| state.panes.has(Pane::View(*slot)));
    locals.full = full;
    if full.is_none() {
        around(ui, shown, workspace, state, locals, &mut actions);
    }
    if actions.iter().any(Action::starts_comparison) {
        state.panes.show(Pane::Comparison);
    }
    let mut arrangement = state.panes.clone();
    let mut board = std::mem::take(&mut locals.board);
    let (places, told, has_editor) = (Vec::new(), false, false);
    let mut filling =
        Filling { shown, workspace, state, locals, actions, places, told, has_editor };
    CentralPanel::no_frame().show(ui, |ui| match full {
        Some(slot) => filling.show(ui, Pane::View(slot)),
        None => board.show(ui, &mut arrangement, &mut filling),
    });
    if !filling.has_editor {
        filling.without_editor(ui);
    }
    let Filling { mut actions, places, .. } = filling;
    locals.board = board;
    state.panes = arrangement;
    locals.views.retain(|slot, _| state.panes.has(Pane::View(*slot)));
    let folder = std::env::current_dir().unwrap_or_default();
    let start = start::Shown { gallery: shown.gallery, recent: &state.recent, folder: &folder };
    actions.extend(locals.start.show(ui.ctx(), start));
    actions.extend(locals.naming.show(ui.ctx(), &state.layouts));
    let [focused, pressed] = [|of: &view::Local| of.focused, |of: &view::Local| of.pressed]
        .map(|is| locals.views.values().any(is));
    let is_asked = locals.start.page().is_some() || locals.naming.is_open();
    locals.keyboard.look(ui, focused, pressed, is_asked);
    actions.extend(keys::pressed(ui, shown, locals));
    actions.extend(keys::parameters_change(ui, snapshot, locals));
    let scene = state.scene.as_deref().unwrap_or_default();
    locals.parameters.keys.keep(scene, &mut state.parameter_keys);
    (actions, places)
}

/// What stands around the panes.
fn around(
    ui: &mut Ui,
    shown: &Shown<'_>,
    workspace: &Workspace,
    state: &State,
    locals: &mut Locals,
    actions: &mut Vec<Action>,
) {
    let Shown { snapshot, built_ins, frames, course, runners, runner, .. } = *shown;
    let bar = |margin| Frame::new().fill(theme::bar()).inner_margin(Margin::symmetric(margin, 0));
    Panel::top("title").exact_size(46.0).frame(bar(12)).show(ui, |ui| {
        let shown = title::Shown { document: &workspace.document, built_ins, frames, course };
        actions.extend(title::show(ui, snapshot, &shown, &mut locals.title));
    });
    Panel::bottom("status").exact_size(26.0).frame(bar(12)).show(ui, |ui| {
        let State { panes, layouts, .. } = state;
        let shown = status::Shown { panes, layouts, runners, runner };
        actions.extend(status::show(ui, snapshot, &shown));
    });
    if let Some(timeline) = &snapshot.timeline {
        let panel = Panel::bottom("timeline").exact_size(timeline::HEIGHT);
        panel.frame(bar(12)).show(ui, |ui| actions.extend(timeline::show(ui, snapshot, timeline)));
    }
}

/// What panes are filled with.
struct Filling<'a> {
    shown: &'a Shown<'a>,
    workspace: &'a mut Workspace,
    state: &'a mut State,
    locals: &'a mut Locals,
    actions: Vec<Action>,
    places: Places,
    /// Whether what there is to tell has been told in this frame.
    told: bool,
    /// Whether the text is seen.
    has_editor: bool,
}

impl Contents for Filling<'_> {
    fn show(&mut self, ui: &mut Ui, pane: Pane) {
        let rect = ui.max_rect();
        let is_pressed = |ui: &Ui| ui.input(|input| input.pointer.any_pressed());
        if ui.rect_contains_pointer(rect) && is_pressed(ui) {
            self.locals.touched = Some(pane);
        }
        let snapshot = self.shown.snapshot;
        match pane {
            Pane::Editor => self.editor(ui),
            Pane::View(slot) => self.view(ui, slot),
            Pane::Parameters => {
                let (local, actions) = (&mut self.locals.parameters, &mut self.actions);
                within(ui, 9, |ui| actions.extend(parameters::show(ui, snapshot, local)));
            }
            Pane::Statistics => within(ui, 6, |ui| statistics::show(ui, snapshot)),
            Pane::Plots => within(ui, 6, |ui| plots::show(ui, snapshot)),
            Pane::Timings => {
                let Shown { frames, trace, .. } = self.shown;
                let (local, actions) = (&mut self.locals.timings, &mut self.actions);
                within(ui, 6, |ui| {
                    actions.extend(timings::show(ui, snapshot, frames, trace, local));
                });
            }
            Pane::Compiler => within(ui, 6, |ui| compiler::show(ui, snapshot)),
            Pane::Numbers => {
                let Shown { tables, trends, .. } = self.shown;
                let (local, actions) = (&mut self.locals.numbers, &mut self.actions);
                within(ui, 6, |ui| {
                    actions.extend(numbers::show(ui, snapshot, tables, trends, local));
                });
            }
            Pane::Console => {
                let (local, actions) = (&mut self.locals.console, &mut self.actions);
                within(ui, 6, |ui| actions.extend(console::show(ui, self.shown.console, local)));
            }
            Pane::Comparison => {
                let actions = &mut self.actions;
                within(ui, 6, |ui| {
                    let comparison = snapshot.comparison.iter();
                    actions.extend(comparison.flat_map(|of| comparison::show(ui, of)));
                });
            }
        }
    }

    fn title(&self, pane: Pane) -> String {
        match pane {
            Pane::Editor => self.workspace.document.file_name().to_owned(),
            Pane::View(slot) => {
                let seen = self.shown.sights.get(&slot);
                let views = &self.shown.snapshot.views;
                let view = seen.and_then(|seen| views.get(seen.view.0));
                let name = view.map_or_else(|| pane.title().to_owned(), |view| view.name.clone());
                match self.rank(slot) {
                    0 => name,
                    rank => format!("{name} {}", rank + 1),
                }
            }
            Pane::Parameters
            | Pane::Statistics
            | Pane::Numbers
            | Pane::Plots
            | Pane::Timings
            | Pane::Comparison
            | Pane::Console
            | Pane::Compiler => pane.title().to_owned(),
        }
    }

    fn mark(&self, pane: Pane) -> Option<Color32> {
        let is_modified = pane == Pane::Editor && self.workspace.document.is_modified();
        let has_trouble = pane == Pane::Statistics && trouble::badge(self.shown.snapshot).is_some();
        match (is_modified, has_trouble) {
            (true, _) => Some(theme::accent()),
            (_, true) => Some(theme::error()),
            (false, false) => None,
        }
    }

    fn beside_title(&mut self, ui: &mut Ui, pane: Pane) {
        match pane {
            Pane::Editor => {
                file_line::show(ui, &self.workspace.document, self.locals.editor.caret());
            }
            Pane::Parameters => {
                self.actions.extend(parameters::beside_title(ui, self.shown.snapshot));
            }
            Pane::View(_)
            | Pane::Statistics
            | Pane::Numbers
            | Pane::Plots
            | Pane::Timings
            | Pane::Comparison
            | Pane::Console
            | Pane::Compiler => {}
        }
    }

    fn is_there(&self, pane: Pane) -> bool {
        match pane {
            Pane::Plots => !self.shown.snapshot.plots.is_empty(),
            Pane::Comparison => self.shown.snapshot.comparison.is_some(),
            Pane::Editor
            | Pane::View(_)
            | Pane::Parameters
            | Pane::Statistics
            | Pane::Numbers
            | Pane::Timings
            | Pane::Console
            | Pane::Compiler => true,
        }
    }
}

impl Filling<'_> {
    fn editor(&mut self, ui: &mut Ui) {
        self.has_editor = true;
        let Self { shown, workspace, state, locals, actions, .. } = self;
        ui.painter().rect_filled(ui.max_rect(), 0.0, theme::ground());
        ui.spacing_mut().item_spacing.y = 0.0;
        let frame =
            Frame::new().fill(theme::panel()).inner_margin(Margin::symmetric(theme::PADDING, 3));
        let (snapshot, name) = (shown.snapshot, workspace.document.name.clone());
        let is_open = state.problems_open && diagnostics::all(snapshot).next().is_some();
        let panel = Panel::bottom("problems").resizable(is_open).frame(frame);
        let panel = match is_open {
            true => panel
                .default_size(state.diagnostics_height)
                .size_range(48.0..=ui.available_height() * 0.6),
            false => panel.exact_size(diagnostics::LINE + 6.0),
        };
        let before = locals.before_checks.as_ref();
        let checking = diagnostics::Checking::of(shown.runners, shown.runner, before);
        let problems = panel.show(ui, |ui| {
            let told = diagnostics::Shown { file: &name, is_open, checking };
            let (wanted, is_toggled) = diagnostics::show(ui, snapshot, &told);
            if wanted.iter().any(|action| matches!(action, Action::RunOn(_))) {
                locals.before_checks = Some(shown.runner.clone());
            }
            actions.extend(wanted);
            is_toggled
        });
        if is_open {
            state.diagnostics_height = problems.response.rect.height();
        }
        state.problems_open ^= problems.inner;
        let runners = (shown.runners, shown.runner);
        locals.editor.offer(offers::all(snapshot, runners, &state.layouts));
        let (document, size) = (&mut workspace.document, &mut state.font_size);
        actions.extend(editor::show(ui, snapshot, document, size, &mut locals.editor));
    }

    /// Keys for the whole window are done all the same.
    fn without_editor(&mut self, ui: &Ui) {
        let Self { shown, workspace, state, locals, actions, .. } = self;
        let (snapshot, runners) = (shown.snapshot, (shown.runners, shown.runner));
        locals.editor.offer(offers::all(snapshot, runners, &state.layouts));
        let (document, size) = (&mut workspace.document, &mut state.font_size);
        actions.extend(editor::absent(ui, snapshot, document, size, &mut locals.editor));
    }

    fn view(&mut self, ui: &mut Ui, slot: Slot) {
        let Self { shown, workspace, state, locals, actions, places, told, .. } = self;
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        let snapshot = shown.snapshot;
        let is_first = !std::mem::replace(told, true);
        if is_first {
            let name = &workspace.document.name;
            actions.extend(banner::repeated(ui, shown.course.repeated()));
            actions.extend(banner::show(ui, snapshot, name, workspace.notices()));
            actions.extend(unsaved::show(ui, workspace.unsaved(), SystemTime::now()));
        }
        let nothing = Seen::default();
        let pane = view::Shown {
            snapshot,
            seen: shown.sights.get(&slot).unwrap_or(&nothing),
            slot,
            is_full: locals.full.is_some(),
            is_active: locals.active == slot,
            may_close: state.panes.panes().iter().filter(|of| matches!(of, Pane::View(_))).count()
                > 1,
        };
        let local = locals.views.entry(slot).or_default();
        let (rect, wanted) = view::show(ui, &pane, &mut locals.sides, local);
        if local.pressed || local.focused {
            locals.active = slot;
        }
        actions.extend(wanted);
        places.push((slot, rect));
        if is_first {
            let under = rect.with_min_y(rect.top() + local.top);
            actions.extend(trouble::show(ui, under, snapshot));
        }
        if snapshot.views.is_empty() {
            // A scene that draws nothing shows its plots in the view's place.
            let place = UiBuilder::new().max_rect(rect.shrink(AROUND_PLOTS));
            ui.scope_builder(place, |ui| plots::show(ui, snapshot));
        }
    }
}

impl Filling<'_> {
    /// How many panes before this one show the same view.
    fn rank(&self, slot: Slot) -> usize {
        let view = |slot: &Slot| self.shown.sights.get(slot).map(|seen| seen.view);
        let before = self.state.panes.slots().take_while(|other| *other != slot);
        before.filter(|other| view(other) == view(&slot)).count()
    }
}

/// A pane with a ground, and space around what is in it.
fn within(ui: &mut Ui, above: i8, content: impl FnOnce(&mut Ui)) {
    ui.painter().rect_filled(ui.max_rect(), 0.0, theme::panel());
    let beside = f32::from(theme::PADDING);
    let place = ui.max_rect().shrink2(Vec2::new(beside, f32::from(above)));
    ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
        ui.set_clip_rect(place.expand2(Vec2::new(beside, 2.0)).intersect(ui.clip_rect()));
        content(ui);
    });
}

#[cfg(test)]
mod tests;

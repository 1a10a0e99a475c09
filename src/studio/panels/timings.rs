//! The device time of every pass, and of the window's own frames: as numbers, as their history, and one frame in all
//! its parts.
//!
//! Enters: a snapshot, the times of frames, what the last frames were made of. Leaves: actions. Must not know:
//! `device`, `gl`, `studio::window`.

mod frame;
mod guard;
mod history;
mod table;

use egui::{Align, Align2, Color32, FontId, Layout, Pos2, ScrollArea, Ui, UiBuilder};

use self::{
    frame::frame,
    guard::{cost, guarding},
    history::{plot, stacked},
    table::table,
};
use super::{FrameTimes, tab};
use crate::{
    session::Snapshot,
    studio::{
        action::Action,
        theme,
        trace::{Trace, Written},
    },
};

/// The width of the table, and of one of its numbers.
const TABLE: f32 = 430.0;

/// What the panel remembers from frame to frame.
#[derive(Debug, Default)]
pub struct Local {
    shown: Picture,
    /// The frame that was chosen; the last one until then.
    frame: Option<u64>,
}

/// What stands beside the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Picture {
    #[default]
    Lines,
    Stacked,
    Frame,
}

/// A row of the table and a line of the plot.
struct Series<'a> {
    name: &'a str,
    last_ms: f32,
    history_ms: &'a [f32],
    color: Color32,
    /// Whether it is of the device's step.
    is_pass: bool,
}

/// The table, and the picture right of it where there is room.
pub fn show(
    ui: &mut Ui,
    snapshot: &Snapshot,
    frames: &FrameTimes,
    trace: &Trace,
    local: &mut Local,
) -> Vec<Action> {
    let mut actions = Vec::new();
    let rows = series(snapshot, frames);
    let space = ui.available_rect_before_wrap();
    let table_width = TABLE.min(space.width());
    let (left, right) = space.split_left_right_at_x(space.left() + table_width);
    ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
        let area = ScrollArea::both().id_salt("timings").auto_shrink(false);
        area.show(ui, |ui| {
            ui.set_width(TABLE - 12.0);
            table(ui, &rows);
            if let Some(guard) = &snapshot.guard {
                guarding(ui, guard, &snapshot.guards);
                cost(ui, snapshot.comparison.as_ref(), &mut actions);
            }
        });
    });
    let right = right.with_min_x(right.left() + 12.0);
    if right.width() > 160.0 {
        ui.scope_builder(UiBuilder::new().max_rect(right), |ui| {
            choice(ui, local, &mut actions);
            ui.add_space(4.0);
            match local.shown {
                Picture::Lines => plot(ui, &rows),
                Picture::Stacked => stacked(ui, &rows),
                Picture::Frame => frame(ui, trace, local),
            }
        });
    }
    actions
}

/// What is shown beside the table, and the files.
fn choice(ui: &mut Ui, local: &mut Local, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 14.0;
        let all = [
            (Picture::Lines, "History"),
            (Picture::Stacked, "Stacked"),
            (Picture::Frame, "One frame"),
        ];
        for (picture, name) in all {
            if tab(ui, name, local.shown == picture).clicked() {
                local.shown = picture;
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            let tip = "Write all frames that are known as a trace that Chrome and Perfetto open";
            if ui.small_button("Trace").on_hover_text(tip).clicked() {
                actions.push(Action::ExportTimings(Written::Trace));
            }
            let tip = "Write a line for each part of each frame that is known";
            if ui.small_button("CSV").on_hover_text(tip).clicked() {
                actions.push(Action::ExportTimings(Written::Csv));
            }
        });
    });
}

fn series<'a>(snapshot: &'a Snapshot, frames: &'a FrameTimes) -> Vec<Series<'a>> {
    let passes = snapshot.passes.iter().enumerate().map(|(at, pass)| Series {
        name: &pass.name,
        last_ms: pass.last_ms,
        history_ms: &pass.history_ms,
        color: theme::series()[at % theme::series().len()],
        is_pass: true,
    });
    let window =
        [("draw", &frames.draw_ms, theme::strong()), ("frame", &frames.frame_ms, theme::faint())];
    let window = window.into_iter().map(|(name, history, color)| Series {
        name,
        last_ms: history.last().copied().unwrap_or(0.0),
        history_ms: history,
        color,
        is_pass: false,
    });
    passes.chain(window).collect()
}

fn label(ui: &Ui, at: Pos2, text: &str) {
    ui.painter().text(at, Align2::LEFT_TOP, text, FontId::proportional(11.0), theme::weak());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        session::{Command, Comparison, ComparisonPhase, Guarding, PassRatio, PassTiming, Variant},
        studio::{
            panels::comparison_menu::unguarded,
            test_screen::{TestScreen, snapshot},
            trace::tests::trace,
        },
    };

    fn shown(screen: &mut TestScreen, local: &mut Local) -> Vec<Action> {
        shown_with(screen, local, snapshot())
    }

    fn shown_with(
        screen: &mut TestScreen,
        local: &mut Local,
        mut snapshot: Snapshot,
    ) -> Vec<Action> {
        let trace = trace();
        let history_ms = (1..=100).map(|ms| ms as f32).collect();
        let pass = |name: &str| PassTiming {
            name: name.to_owned(),
            last_ms: 100.0,
            history_ms,
            bytes: None,
            flops: None,
        };
        snapshot.passes = vec![pass("advect")];
        let mut actions = Vec::new();
        screen.frame(|ui| {
            actions.extend(show(ui, &snapshot, &FrameTimes::default(), &trace, local));
        });
        actions
    }

    #[test]
    fn percentiles_stand_in_the_table() {
        let (mut screen, mut local) = (TestScreen::default(), Local::default());
        shown(&mut screen, &mut local);
        for told in ["advect", "95 %", "50.0 ms", "95.0 ms", "99.0 ms", "100 ms"] {
            assert!(screen.sees(told), "{told}: {:?}", screen.written());
        }
    }

    #[test]
    fn what_the_guard_costs_is_measured_against_plain_kernels() {
        let (mut screen, mut local) = (TestScreen::default(), Local::default());
        let guard = Guarding { accesses: 12, proved: 9, checked: 3, at_launch: 1, unchecked: 0 };
        let not_all = Guarding { accesses: 14, unchecked: 2, ..guard };
        shown_with(&mut screen, &mut local, Snapshot { guard: Some(not_all), ..snapshot() });
        let told = "guard: 14 accesses, 9 proved, 3 checks, 2 not guarded";
        assert!(screen.sees(told), "{:?}", screen.written());
        let mut guarded = Snapshot { guard: Some(guard), ..snapshot() };
        shown_with(&mut screen, &mut local, guarded.clone());
        screen.click("Measure its cost");
        let start = Command::StartComparison(unguarded());
        let done = shown_with(&mut screen, &mut local, guarded.clone());
        assert_eq!(done, [Action::Session(start)]);
        let pass = |name: &str, ratio: f64, median_ms| PassRatio {
            name: name.to_owned(),
            ratio: Some([ratio - 0.1, ratio, ratio + 0.1]),
            median_ms,
        };
        guarded.comparison = Some(Comparison {
            variant: unguarded(),
            has_same_text: true,
            phase: ComparisonPhase::Running,
            since: 0,
            step: Some(3),
            resources: Vec::new(),
            unlike: Vec::new(),
            passes: vec![pass("advect", 0.5, [2.0, 1.0]), pass("show", 1.0, [3.0, 3.0])],
        });
        shown_with(&mut screen, &mut local, guarded.clone());
        let told = "guarded passes take 1.250 times as long as plain ones";
        assert!(screen.sees(told), "{:?}", screen.written());
        // Another B says nothing of the guard.
        if let Some(comparison) = &mut guarded.comparison {
            comparison.variant = Variant::default();
        }
        shown_with(&mut screen, &mut local, guarded);
        assert!(screen.sees("Measure its cost"), "{:?}", screen.written());
    }

    #[test]
    fn one_frame_shows_its_parts_and_files_are_asked_for() {
        let (mut screen, mut local) = (TestScreen::default(), Local::default());
        shown(&mut screen, &mut local);
        assert!(!screen.sees("panels"));
        screen.click("One frame");
        shown(&mut screen, &mut local);
        shown(&mut screen, &mut local);
        for told in ["frame 2: 10.0 ms", "panels", "show", "smooth<1, 0>", "device", "OpenGL"] {
            assert!(screen.sees(told), "{told}: {:?}", screen.written());
        }
        screen.click("Stacked");
        shown(&mut screen, &mut local);
        shown(&mut screen, &mut local);
        assert!(screen.sees("100 ms a step at most"));
        screen.click("Trace");
        assert_eq!(shown(&mut screen, &mut local), [Action::ExportTimings(Written::Trace)]);
        screen.click("CSV");
        assert_eq!(shown(&mut screen, &mut local), [Action::ExportTimings(Written::Csv)]);
    }
}

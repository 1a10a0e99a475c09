//! What is wrong with the scene while it runs, in the view's corner: a step that takes long, NaN, a beginning that was
//! edited.

use egui::{
    Align, Color32, Frame, Label, Layout, Margin, Rect, RichText, Stroke, Ui, UiBuilder, vec2,
};

use crate::{
    session::{Command, Running, Snapshot},
    studio::{action::Action, number, panes::Pane, theme},
};

/// The width of a remark, in points.
const WIDTH: f32 = 420.0;

/// How far below the view's upper edge the first stands: the corners above have the pane's signs, and that the source
/// has errors.
const BELOW: f32 = 54.0;

/// What the answers and the margins take of it, at most.
const ANSWERS: f32 = 40.0;

/// A component with numbers that are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// `position.y`
    pub name: String,
    /// How many are NaN.
    pub nan: u64,
    /// How many are infinite.
    pub inf: u64,
}

/// All components that have NaN or infinities, those with NaN first.
pub fn bad(snapshot: &Snapshot) -> Vec<Bad> {
    let of = |resource: &crate::session::Resource| -> Vec<Bad> {
        let numbered = resource.components.iter().enumerate();
        let found = numbered.filter(|(_, of)| of.nan + of.inf > 0);
        let name = |at: usize| match resource.names.get(at).map_or("", String::as_str) {
            "" => resource.name.clone(),
            component => format!("{}.{component}", resource.name),
        };
        found.map(|(at, of)| Bad { name: name(at), nan: of.nan, inf: of.inf }).collect()
    };
    let mut bad: Vec<Bad> = snapshot.resources.iter().flat_map(of).collect();
    bad.sort_by_key(|bad| bad.nan == 0);
    bad
}

/// The badge in a few words; `None` where all is well.
pub fn badge(snapshot: &Snapshot) -> Option<String> {
    let bad = bad(snapshot);
    let first = bad.first()?;
    let (count, what) = if first.nan > 0 { (first.nan, "NaN") } else { (first.inf, "Inf") };
    let more = if bad.len() > 1 { format!(" and {} more", bad.len() - 1) } else { String::new() };
    Some(format!("{what} in {} ({}){more}", first.name, number::count(count)))
}

/// The remarks, over the view at `rect`.
pub fn show(ui: &mut Ui, rect: Rect, snapshot: &Snapshot) -> Vec<Action> {
    let mut actions = Vec::new();
    let width = WIDTH.min(rect.width() - 28.0);
    if width < 120.0 {
        return actions;
    }
    let place = Rect::from_min_max(
        rect.right_top() + vec2(-14.0 - width, BELOW),
        rect.right_bottom() - vec2(14.0, 0.0),
    );
    let layout = Layout::top_down(Align::Max);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(place).layout(layout));
    ui.spacing_mut().item_spacing = vec2(8.0, 6.0);
    if let Some(running) = &snapshot.running {
        step(&mut ui, running, &mut actions);
    }
    if let Some(first) = &snapshot.first_nan {
        remark(&mut ui, theme::error(), &first.told(), |ui| {
            if ui.button("Show").on_hover_text("The element in the table").clicked() {
                actions.push(Action::ShowElement(first.resource.clone(), first.element));
            }
        });
    } else if let Some(text) = badge(snapshot) {
        remark(&mut ui, theme::error(), &text, |ui| {
            let tip = "Begin anew, and stop behind the step that makes the first";
            if !snapshot.pauses_at_nan && ui.button("Find the first").on_hover_text(tip).clicked() {
                let commands = [Command::PauseAtNan(true), Command::Reset, Command::Play];
                actions.extend(commands.map(Action::Session));
            }
            if ui.button("Show").on_hover_text("The numbers").clicked() {
                actions.push(Action::ShowPane(Pane::Statistics));
            }
            let tip =
                "Begin anew (Ctrl+R): what became NaN stays so, also when the kernel is mended";
            if ui.button("Reset").on_hover_text(tip).clicked() {
                actions.push(Action::Session(Command::Reset));
            }
        });
    }
    if snapshot.reset_is_edited {
        remark(&mut ui, theme::note(), "What the scene begins with was edited", |ui| {
            if ui.button("Reset").on_hover_text("Begin anew with it (Ctrl+R)").clicked() {
                actions.push(Action::Session(Command::Reset));
            }
        });
    }
    actions
}

/// A step that takes long.
fn step(ui: &mut Ui, running: &Running, actions: &mut Vec<Action>) {
    let elapsed = running.elapsed.as_secs_f64();
    let text = match running.is_ending {
        true => format!("This step is being stopped after {elapsed:.1} s"),
        false => format!(
            "This step takes {elapsed:.1} s; at {} s it is stopped",
            running.limit.as_secs_f64()
        ),
    };
    remark(ui, theme::warning(), &text, |ui| {
        let tip = "End it now. The limit is that of --step-timeout";
        if !running.is_ending && ui.button("Stop").on_hover_text(tip).clicked() {
            actions.push(Action::Session(Command::Stop));
        }
    });
}

/// A text with answers.
fn remark(ui: &mut Ui, color: Color32, text: &str, answers: impl FnOnce(&mut Ui)) {
    let frame = Frame::new()
        .fill(theme::faded(theme::bar(), 0.93))
        .stroke(Stroke::new(1.0, theme::faded(color, 0.75)))
        .corner_radius(6)
        .inner_margin(Margin::symmetric(10, 6));
    frame.show(ui, |ui| {
        // From the right to the left, as all that is aligned there.
        ui.horizontal(|ui| {
            answers(ui);
            let most = (ui.available_width() - ANSWERS).max(80.0);
            ui.scope(|ui| {
                ui.set_max_width(most);
                let text = RichText::new(text).color(theme::strong());
                ui.add(Label::new(text).wrap().selectable(false));
            });
        });
    });
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        session::{FirstNan, Statistics},
        studio::test_screen::{TestScreen, snapshot},
    };

    fn shown(screen: &mut TestScreen, snapshot: &Snapshot) -> Vec<Action> {
        let mut actions = Vec::new();
        for _ in 0..2 {
            screen.frame(|ui| actions.extend(show(ui, ui.max_rect(), snapshot)));
        }
        actions
    }

    #[test]
    fn a_step_that_takes_long_is_told_with_its_limit_and_stopped() {
        let (mut screen, mut snapshot) = (TestScreen::default(), snapshot());
        assert_eq!(shown(&mut screen, &snapshot), []);
        assert!(!screen.sees("step"));
        let (elapsed, limit) = (Duration::from_millis(1300), Duration::from_secs(10));
        snapshot.running = Some(Running { elapsed, limit, is_ending: false });
        shown(&mut screen, &snapshot);
        assert!(
            screen.sees("This step takes 1.3 s; at 10 s it is stopped"),
            "{:?}",
            screen.written()
        );
        screen.click("Stop");
        assert_eq!(shown(&mut screen, &snapshot), [Action::Session(Command::Stop)]);
    }

    #[test]
    fn nan_has_a_badge_which_leads_to_the_first_one() {
        let (mut screen, mut snapshot) = (TestScreen::default(), snapshot());
        let statistics = |nan, inf| Statistics { nan, inf, ..Statistics::of_all(&[]) };
        let names = ["x", "y"].map(str::to_owned).to_vec();
        snapshot.resources[0].names = names;
        snapshot.resources[0].components = vec![statistics(0, 3), statistics(2, 0)];
        assert_eq!(badge(&snapshot).as_deref(), Some("NaN in position.y (2) and 1 more"));
        shown(&mut screen, &snapshot);
        screen.click("Find the first");
        let commands = [Command::PauseAtNan(true), Command::Reset, Command::Play];
        assert_eq!(shown(&mut screen, &snapshot), commands.map(Action::Session));
        snapshot.first_nan = Some(FirstNan {
            resource: "position".into(),
            element: 7,
            component: "y".into(),
            step: 3,
            passes: vec!["move".into()],
        });
        shown(&mut screen, &snapshot);
        assert!(screen.sees("position[7].y") && !screen.sees("Find the first"));
    }

    #[test]
    fn remarks_stand_below_the_signs_of_the_corner() {
        let (mut screen, mut snapshot) = (TestScreen::sized(vec2(640.0, 500.0)), snapshot());
        snapshot.reset_is_edited = true;
        shown(&mut screen, &snapshot);
        let place = screen.place("Reset");
        // The signs are 12 points from the edge, and 30 high.
        assert!(place.top() > 42.0 && place.right() < 640.0, "{place:?}");
    }

    #[test]
    fn an_edited_beginning_offers_a_reset() {
        let (mut screen, mut snapshot) = (TestScreen::default(), snapshot());
        snapshot.reset_is_edited = true;
        shown(&mut screen, &snapshot);
        screen.click("Reset");
        assert_eq!(shown(&mut screen, &snapshot), [Action::Session(Command::Reset)]);
    }
}

//! What the past may take of memory and of time.

use egui::{Button, Response, RichText, Ui, containers::menu::MenuButton};

use crate::{
    session::{Budget, Command, Keeping, Timeline},
    studio::{action::Action, number, theme},
};

/// Memory that is offered, as parts of what is usual.
const PARTS: [f64; 4] = [0.125, 1.0, 2.0, 4.0];
/// Parts of the steps' time that are offered beside the usual one.
const SHARES: [f64; 3] = [0.01, 0.2, 1.0];

/// The button with this text, whose menu offers both.
pub fn show(
    ui: &mut Ui,
    text: RichText,
    timeline: &Timeline,
    actions: &mut Vec<Action>,
) -> Response {
    let Timeline { keeping, usual, .. } = timeline;
    let menu = MenuButton::from_button(Button::new(text).frame(false));
    let (button, _) = menu.ui(ui, |ui| {
        ui.set_width(230.0);
        heading(ui, "Memory for copies of the state");
        for part in PARTS {
            let of = |bytes: u64| (bytes as f64 * part) as u64;
            let budget = Budget { device: of(usual.budget.device), host: of(usual.budget.host) };
            let text = number::bytes(budget.device + budget.host);
            offer(ui, &text, part == 1.0, keeping, Keeping { budget, ..*keeping }, actions);
        }
        ui.add_space(4.0);
        heading(ui, "Time to take them, of that of steps");
        let [least, more @ ..] = SHARES;
        for share in [least, usual.share].into_iter().chain(more) {
            let text = format!("{:.0} % at most", 100.0 * share);
            offer(ui, &text, share == usual.share, keeping, Keeping { share, ..*keeping }, actions);
        }
    });
    button
}

fn heading(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).small().color(theme::weak()));
}

fn offer(
    ui: &mut Ui,
    text: &str,
    is_usual: bool,
    present: &Keeping,
    offered: Keeping,
    actions: &mut Vec<Action>,
) {
    let text = if is_usual { format!("{text} (usual)") } else { text.to_owned() };
    if ui.radio(*present == offered, text).clicked() {
        actions.push(Action::Session(Command::KeepPast(offered)));
        ui.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::test_screen::TestScreen;

    #[test]
    fn memory_and_time_are_chosen_each_by_itself() {
        let usual = Keeping { budget: Budget { device: 8 << 30, host: 16 << 30 }, share: 0.05 };
        let timeline = Timeline { keeping: usual, usual, ..Timeline::default() };
        let mut screen = TestScreen::default();
        let shown = |screen: &mut TestScreen| {
            let mut actions = Vec::new();
            screen.frame(|ui| _ = show(ui, "past".into(), &timeline, &mut actions));
            actions
        };
        let budget = Budget { device: 1 << 30, host: 2 << 30 };
        for (text, expected) in [
            ("3.0 GiB", Keeping { budget, ..usual }),
            ("20 % at most", Keeping { share: 0.2, ..usual }),
        ] {
            shown(&mut screen);
            screen.click("past");
            (0..3).for_each(|_| _ = shown(&mut screen));
            screen.click(text);
            assert_eq!(shown(&mut screen), [Action::Session(Command::KeepPast(expected))]);
        }
    }
}

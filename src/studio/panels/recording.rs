//! That a view is recorded: a badge over it, which ends the recording.

use std::time::Duration;

use egui::{Align2, Area, Frame, Id, Label, Margin, Order, Rect, RichText, Sense, Ui, vec2};

use super::named;
use crate::studio::{action::Action, number, panes::Slot, reel::Progress, theme};

/// Distance from the view's upper edge.
const MARGIN: f32 = 12.0;
/// The time is told anew so often.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Shows it in the middle of the upper edge of the view at `rect`.
pub fn show(ui: &Ui, rect: Rect, slot: Slot, progress: Progress) -> Option<Action> {
    ui.ctx().request_repaint_after(LOOK_EVERY);
    let area = Area::new(Id::unique(("recording", slot)))
        .order(Order::Middle)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(rect.center_top() + vec2(0.0, MARGIN))
        .constrain_to(rect);
    let shown = area.show(ui.ctx(), |ui| {
        let frame = Frame::new()
            .fill(theme::faded(theme::bar(), theme::VEIL))
            .corner_radius(6)
            .inner_margin(Margin::symmetric(10, 5));
        frame.show(ui, |ui| ui.horizontal(|ui| content(ui, progress)).inner).inner
    });
    shown.inner.then_some(Action::Record(Some(slot), None))
}

/// Gives whether it is to end.
fn content(ui: &mut Ui, progress: Progress) -> bool {
    ui.spacing_mut().item_spacing.x = 8.0;
    let (dot, _) = ui.allocate_exact_size(vec2(9.0, 9.0), Sense::hover());
    ui.painter().circle_filled(dot.center(), 4.0, theme::error());
    let elapsed = progress.elapsed.as_secs();
    let text = format!("{}:{:02}", elapsed / 60, elapsed % 60);
    let text = RichText::new(text).monospace().color(theme::strong());
    let pictures = number::count(progress.pictures);
    ui.add(Label::new(text).selectable(false)).on_hover_text(format!("{pictures} pictures"));
    let end = ui.button("End").on_hover_text("End the recording (Shift+F12)");
    named(&end, "End the recording");
    end.clicked()
}

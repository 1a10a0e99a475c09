//! A distance that is measured: its ends, the line between them, and how long it is.

use egui::{Align2, FontId, Pos2, Rect, Stroke, Ui, pos2, vec2};

use crate::studio::{seen::Measured, theme};

/// An end's radius.
const END: f32 = 3.5;
/// From the line's middle to its number.
const ABOVE: f32 = 16.0;

/// Shows it over the picture in `picture`; `pointer` is where the next end would be.
pub fn show(ui: &Ui, picture: Rect, measured: &Measured, pointer: Option<Pos2>) {
    let place = |[x, y]: [f32; 2]| {
        pos2(picture.left() + x * picture.width(), picture.bottom() - y * picture.height())
    };
    let painter = ui.painter_at(picture);
    let ends: Vec<Option<Pos2>> = measured.ends.iter().map(|end| end.map(place)).collect();
    let line = match ends.as_slice() {
        [Some(from), Some(to)] => Some([*from, *to]),
        [Some(from)] => pointer.map(|to| [*from, to]),
        _ => None,
    };
    for (width, color) in [(4.0, theme::faded(theme::bar(), 0.8)), (1.5, theme::accent())] {
        line.iter().for_each(|line| _ = painter.line_segment(*line, Stroke::new(width, color)));
        for end in ends.iter().flatten() {
            painter.circle_filled(*end, END + (width - 1.5) / 2.0, color);
        }
    }
    if let Some([from, to]) = line.filter(|_| !measured.told.is_empty()) {
        let font = FontId::monospace(12.5);
        let galley = painter.layout_no_wrap(measured.told.clone(), font, theme::strong());
        let middle = from + (to - from) * 0.5 - vec2(0.0, ABOVE);
        let frame = Align2::CENTER_CENTER.anchor_size(middle, galley.size() + vec2(14.0, 8.0));
        // A line at the picture's edge has its number within.
        let inside = picture.shrink(4.0);
        let by = vec2(
            (inside.left() - frame.left()).max(0.0) + (inside.right() - frame.right()).min(0.0),
            (inside.top() - frame.top()).max(0.0) + (inside.bottom() - frame.bottom()).min(0.0),
        );
        let frame = frame.translate(by);
        painter.rect_filled(frame, 5.0, theme::faded(theme::bar(), theme::VEIL));
        painter.galley(frame.min + vec2(7.0, 4.0), galley, theme::strong());
    }
}

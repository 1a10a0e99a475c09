//! A number in the text that is dragged.

use egui::{CursorIcon, Rect, Stroke, Ui};

use super::{piece::Piece, rows::Rows};
use crate::studio::{scrub, text::Buffer, theme};

/// The pointer goes so many points for one step of the number.
const POINTS: f32 = 4.0;

/// The number, as it was.
#[derive(Clone, Debug)]
pub(super) struct Dragged {
    piece: Piece,
    /// Where the pointer was pressed.
    from: f32,
    /// As many steps away it is now.
    steps: i64,
}

impl Dragged {
    /// The number at a character, if there is one; the pointer is at `x`.
    pub(super) fn at(buffer: &Buffer, place: usize, x: f32) -> Option<Self> {
        let (line, column) = buffer.place(place);
        let own = buffer.line(line);
        let found = scrub::number_at(&buffer.text(own.clone()), column)?;
        let range = own.start + found.start..own.start + found.end;
        Some(Self { piece: Piece::of(buffer, range), from: x, steps: 0 })
    }

    /// Follows the pointer; gives whether its button is still pressed, and nothing else has changed the text.
    pub(super) fn follow(&mut self, ui: &Ui, buffer: &mut Buffer, now: f64) -> bool {
        let down = ui.input(|input| input.pointer.primary_down());
        if !self.piece.is_last_change(buffer) {
            return false;
        }
        if let Some(at) = ui.input(|input| input.pointer.latest_pos()).filter(|_| down) {
            self.go(((at.x - self.from) / POINTS).round() as i64, buffer, now);
            ui.set_cursor_icon(CursorIcon::ResizeHorizontal);
        }
        down
    }

    /// Puts the number so many steps away in the place of itself.
    fn go(&mut self, steps: i64, buffer: &mut Buffer, now: f64) {
        let before =
            self.piece.range().start.checked_sub(1).and_then(|at| buffer.rope().get_char(at));
        let moved = scrub::moved(self.piece.text(), steps, before);
        if let Some(text) = moved.filter(|_| steps != self.steps) {
            self.piece.put(text, buffer, now);
            self.steps = steps;
        }
    }
}

/// Shows that the number under the pointer can be dragged, where the key for it is held.
pub(super) fn hint(ui: &Ui, rows: &Rows<'_>, buffer: &Buffer, field: Rect) {
    let (held, at) = ui.input(|input| (input.modifiers.command, input.pointer.hover_pos()));
    let Some(at) = at.filter(|at| held && field.contains(*at)) else { return };
    let place = rows.place(at);
    let Some(number) = Dragged::at(buffer, place, at.x) else { return };
    let (line, _) = buffer.place(place);
    if let Some(rect) = rows.piece(line, number.piece.range()).filter(|rect| rect.contains(at)) {
        let stroke = Stroke::new(1.5, theme::accent());
        ui.painter().hline(rect.x_range(), rect.bottom() - 1.5, stroke);
        ui.set_cursor_icon(CursorIcon::ResizeHorizontal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::text::Command;

    #[test]
    fn a_number_follows_the_pointer_and_is_undone_at_once() {
        let mut buffer = Buffer::new("a\nx = 0.50f; // half\n");
        let mut number = Dragged::at(&buffer, 8, 0.0).expect("a number");
        assert_eq!(number.piece.text(), "0.50f");
        for (steps, line) in [(3, "x = 0.53f;"), (-60, "x = -0.10f;"), (7, "x = 0.57f;")] {
            number.go(steps, &mut buffer, 0.0);
            assert!(buffer.text(0..buffer.rope().len_chars()).contains(line), "{steps}");
        }
        buffer.run(&Command::Undo, 0.0);
        assert!(!number.piece.is_last_change(&buffer), "the drag ends");
        assert_eq!(buffer, "a\nx = 0.50f; // half\n");
        assert!(Dragged::at(&buffer, 2, 0.0).is_none());
    }
}

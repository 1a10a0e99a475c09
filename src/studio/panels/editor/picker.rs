//! A colour of the manifest that is chosen with the mouse.

use egui::{Area, Context, Frame, Id, Key, Order, Pos2, Rect, ecolor::Hsva};

use super::piece::Piece;
use crate::studio::{panels::color_field, swatch, text::Buffer};

/// The colour, as it was.
#[derive(Clone, Debug)]
pub(super) struct Picker {
    /// The list of its numbers.
    piece: Piece,
    color: Hsva,
    at: Pos2,
    /// Whether it has been shown already: the click that opened it is not one outside.
    is_shown: bool,
}

impl Picker {
    /// That of the colour on a line, if there is one; its square is at `square`.
    pub(super) fn on(buffer: &Buffer, line: usize, square: Rect) -> Option<Self> {
        let own = buffer.line(line);
        let list = swatch::list_on(&buffer.text(own.clone()))?;
        let range = own.start + list.start..own.start + list.end;
        let piece = Piece::of(buffer, range);
        let color = color_field::of_numbers(swatch::numbers(piece.text())?);
        let at = square.left_bottom() + egui::vec2(0.0, 6.0);
        Some(Self { piece, color, at, is_shown: false })
    }

    /// Shows it; gives whether it stays.
    pub(super) fn show(&mut self, context: &Context, buffer: &mut Buffer, now: f64) -> bool {
        if !self.piece.is_last_change(buffer) {
            return false;
        }
        let area = Area::new(Id::unique("colour")).order(Order::Foreground).fixed_pos(self.at);
        let shown = area.constrain(true).show(context, |ui| {
            let frame = Frame::popup(ui.style()).inner_margin(10);
            frame.show(ui, |ui| color_field::show(ui, &mut self.color)).inner
        });
        if shown.inner {
            self.put(color_field::numbers(self.color), buffer, now);
        }
        let was_shown = std::mem::replace(&mut self.is_shown, true);
        let left = context.input(|input| {
            let pressed = input.pointer.any_pressed().then(|| input.pointer.interact_pos());
            let is_outside = |at: Pos2| !shown.response.rect.contains(at);
            input.key_pressed(Key::Escape) || pressed.flatten().is_some_and(is_outside)
        });
        !(was_shown && left)
    }

    /// Puts another colour in the place of itself.
    fn put(&mut self, color: [f32; 3], buffer: &mut Buffer, now: f64) {
        if let Some(text) = swatch::written(self.piece.text(), color) {
            self.piece.put(text, buffer, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::text::Command;

    #[test]
    fn a_colour_is_written_and_undone_at_once() {
        let text = "[param.tint]\nvalue = [1, 0.5, 0, 0.25] # warm\nkind = \"color\"\n";
        let mut buffer = Buffer::new(text);
        let mut picker = Picker::on(&buffer, 1, Rect::ZERO).expect("a colour");
        let found = color_field::numbers(picker.color);
        // As HSV has them, to the last bits.
        let exact = [1.0, 0.5, 0.0].into_iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(exact, "{found:?}");
        for color in [[0.0, 1.0, 0.2], [0.2, 0.4, 1.0]] {
            picker.put(color, &mut buffer, 0.0);
        }
        assert_eq!(
            buffer,
            "[param.tint]\nvalue = [0.2, 0.4, 1.0, 0.25] # warm\nkind = \"color\"\n"
        );
        buffer.run(&Command::Undo, 0.0);
        assert_eq!(buffer, text);
        assert!(
            Picker::on(&buffer, 0, Rect::ZERO).is_none()
                && Picker::on(&buffer, 2, Rect::ZERO).is_none()
        );
    }
}

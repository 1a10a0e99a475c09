//! The panels around the view, one a file.
//!
//! Enters: a [`Snapshot`](crate::session::Snapshot), the studio's own text and settings. Leaves:
//! [`Action`](super::action::Action)s. Must not know: `device`, `gl`, `interop`, `draw`, `compile`.
//!
//! Panels call neither the device nor the session, so that every panel can be shown with made-up values.

pub mod axes;
pub mod banner;
pub mod color_field;
pub mod comparison;
pub mod comparison_menu;
pub mod compiler;
pub mod console;
pub mod device_menu;
pub mod diagnostics;
pub mod editor;
pub mod file_line;
pub mod layout_menu;
pub mod legend;
pub mod naming;
mod number_edit;
pub mod numbers;
pub mod offers;
pub mod palette;
pub mod parameters;
pub mod past_menu;
pub mod path_field;
pub mod plots;
mod readout;
pub mod recording;
pub mod sides;
pub mod start;
pub mod statistics;
pub mod status;
pub mod timeline;
pub mod timings;
pub mod title;
pub mod transport;
pub mod trouble;
pub mod unsaved;
pub mod view;

use std::borrow::Cow;

use egui::{Label, Response, RichText, Role, Sense, Stroke, Ui, WidgetInfo};

use super::theme;

/// Times of the window's own frames, oldest first.
#[derive(Clone, Debug, Default)]
pub struct FrameTimes {
    /// Frames shown a second, over the last second.
    pub per_second: f32,
    /// Milliseconds from frame to frame.
    pub frame_ms: Vec<f32>,
    /// Milliseconds that OpenGL took to draw the view.
    pub draw_ms: Vec<f32>,
}

/// Gives what shows a bare value a name, for those who do not see where it stands.
pub fn named(response: &Response, name: &str) {
    response.ctx.accesskit_node_builder(response.id, |node| node.set_label(name));
}

/// A word of several, of which one is chosen: a line stands under that one.
pub fn tab(ui: &mut Ui, name: &str, chosen: bool) -> Response {
    let color = if chosen { theme::strong() } else { theme::weak() };
    let response = ui.add(Label::new(RichText::new(name).color(color)).sense(Sense::click()));
    response.widget_info(|| WidgetInfo::selected(Role::Tab, ui.is_enabled(), chosen, name));
    let rect = response.rect;
    if chosen || response.hovered() {
        let color = if chosen { theme::accent() } else { theme::faint() };
        ui.painter().hline(rect.x_range(), rect.bottom() + 2.0, Stroke::new(2.0, color));
    }
    response
}

/// The first `most` letters of a text, and a sign where there are more. A scene's texts have any length, and what egui
/// lays out takes some hundred bytes a letter.
fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}\u{2026}", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_texts_are_shortened_between_letters() {
        assert_eq!(shortened("f\u{fc}nf", 4), "f\u{fc}nf");
        assert_eq!(shortened("f\u{fc}nfe", 2), "f\u{fc}\u{2026}");
        assert_eq!(shortened("", 0), "");
    }
}

//! A value that is read all the time.

use egui::{Align, Layout, RichText, Ui, vec2};

use crate::studio::theme;

/// A small word over a value that keeps its width while the value changes.
pub fn readout(ui: &mut Ui, label: &str, value: &str, width: f32) {
    let size = vec2(width, ui.available_height().min(34.0));
    let (rect, _) = ui.allocate_exact_size(size, egui::Sense::hover());
    let builder = egui::UiBuilder::new().max_rect(rect).layout(Layout::top_down(Align::Min));
    let mut own = ui.new_child(builder);
    own.spacing_mut().item_spacing.y = 0.0;
    own.add_space(1.0);
    own.label(RichText::new(label).size(10.5).color(theme::weak()));
    let value = RichText::new(value).monospace().size(13.0).color(theme::strong());
    own.add(egui::Label::new(value).truncate());
}

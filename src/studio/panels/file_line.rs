//! What stands beside the name of the open file: whether it is a file, where the caret is, and
//! what was refused.

use egui::{Label, RichText, Ui};

use crate::studio::{document::Document, theme};

/// From right to left.
pub fn show(ui: &mut Ui, document: &Document, caret: (usize, usize)) {
    ui.spacing_mut().item_spacing.x = 8.0;
    let small = |text: &str| RichText::new(text).small().color(theme::weak());
    let place = format!("{}:{}", caret.0, caret.1);
    ui.label(RichText::new(place).monospace().size(11.5).color(theme::weak()));
    let about = match (&document.path, document.is_modified()) {
        (None, _) if document.is_built_in() => "built in",
        (None, _) => "in no file yet",
        (Some(_), true) => "modified",
        (Some(_), false) => "",
    };
    if let Some(limit) = document.text.refused() {
        ui.add(Label::new(small(&limit.to_string()).color(theme::error())).truncate());
    } else if ui.available_width() > 420.0 {
        let hint = "compiles as you type, at once with Ctrl+Enter";
        ui.add(Label::new(small(hint)).truncate());
    }
    if ui.available_width() > 220.0 {
        let label = ui.label(small(about));
        if let Some(path) = &document.path {
            label.on_hover_text(path.display().to_string());
        }
    }
}

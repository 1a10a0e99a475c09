//! What the compiler made of the source: its log, and the PTX that runs.

use egui::{RichText, ScrollArea, TextStyle, Ui};

use super::shortened;
use crate::{session::Snapshot, studio::theme};

/// So much of a line is shown: a variable's initial values are one line of PTX, however many they are.
const MOST_LETTERS: usize = 1000;

/// The log, if there is one, above the PTX.
pub fn show(ui: &mut Ui, snapshot: &Snapshot) {
    let compile = &snapshot.compile;
    if compile.log.trim().is_empty() && compile.ptx.is_empty() {
        ui.label(RichText::new("Nothing is compiled yet.").color(theme::weak()));
        return;
    }
    let mut lines: Vec<(&str, egui::Color32)> = Vec::new();
    lines.extend(compile.log.trim_end().lines().map(|line| (line, theme::warning())));
    lines.extend(compile.ptx.lines().map(|line| (line, ptx_color(line))));
    let height = ui.text_style_height(&TextStyle::Monospace);
    ui.spacing_mut().item_spacing.y = 2.0;
    let area = ScrollArea::both().id_salt("ptx").auto_shrink(false);
    area.show_rows(ui, height, lines.len(), |ui, shown| {
        for (line, color) in &lines[shown] {
            let text = shortened(line, MOST_LETTERS).replace('\t', "    ");
            let text = RichText::new(text).monospace().color(*color);
            ui.add(egui::Label::new(text).selectable(true).extend());
        }
    });
}

fn ptx_color(line: &str) -> egui::Color32 {
    let code = line.trim_start();
    if code.starts_with("//") {
        theme::faint()
    } else if code.starts_with('.') {
        theme::accent()
    } else if code.starts_with('$') || code.ends_with(':') {
        theme::note()
    } else {
        theme::text()
    }
}

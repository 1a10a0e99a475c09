//! What kernels print, and what the compiler, faults and the studio have told: filtered, copied, followed.

use egui::{Align, Button, Label, Layout, RichText, ScrollArea, Sense, TextEdit, TextStyle, Ui};

use super::shortened;
use crate::{
    diagnostic::Severity,
    studio::{
        action::Action,
        console::{Console, Line, Origin},
        icons, number, theme,
    },
};

/// So much of a line is shown.
const MOST_LETTERS: usize = 1000;

/// What the panel remembers from frame to frame.
#[derive(Debug)]
pub struct Local {
    search: String,
    /// Which lines are shown, by where they come from.
    shown: [bool; Origin::ALL.len()],
    /// Whether the last line stays in sight.
    follows: bool,
}

impl Default for Local {
    fn default() -> Self {
        Self { search: String::new(), shown: [true; Origin::ALL.len()], follows: true }
    }
}

impl Local {
    fn has(&self, line: &Line) -> bool {
        let is_shown =
            Origin::ALL.iter().zip(self.shown).any(|(of, shown)| shown && *of == line.origin);
        let text = || format!("{} {}", thread(line), line.text).to_lowercase();
        is_shown
            && (self.search.is_empty()
                || self.search.to_lowercase().split_whitespace().all(|word| text().contains(word)))
    }
}

/// The panel.
pub fn show(ui: &mut Ui, console: &Console, local: &mut Local) -> Vec<Action> {
    let mut actions = Vec::new();
    let found: Vec<&Line> = {
        let lines = console.lines();
        lines.filter(|line| local.has(line)).collect()
    };
    bar(ui, console, local, &found, &mut actions);
    if found.is_empty() {
        let text = match console.lines().len() {
            0 => "What kernels print, and what the compiler has to say, comes here.",
            _ => "No line has these words.",
        };
        ui.label(RichText::new(text).color(theme::weak()));
        return actions;
    }
    let height = ui.text_style_height(&TextStyle::Monospace);
    ui.spacing_mut().item_spacing.y = 2.0;
    let area =
        ScrollArea::both().id_salt("console").auto_shrink(false).stick_to_bottom(local.follows);
    area.show_rows(ui, height, found.len(), |ui, rows| {
        for line in &found[rows] {
            actions.extend(row(ui, line));
        }
    });
    actions
}

fn bar(
    ui: &mut Ui,
    console: &Console,
    local: &mut Local,
    found: &[&Line],
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let search =
            TextEdit::singleline(&mut local.search).hint_text("Filter").desired_width(150.0);
        ui.add(search);
        for (origin, shown) in Origin::ALL.iter().zip(&mut local.shown) {
            let color = if *shown { theme::strong() } else { theme::weak() };
            let text = RichText::new(origin.name()).small().color(color);
            if ui.add(Button::selectable(*shown, text)).clicked() {
                *shown = !*shown;
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui.small_button("Clear").clicked() {
                actions.push(Action::ClearConsole);
            }
            if ui.small_button("Copy").on_hover_text("All lines that are shown").clicked() {
                let lines: Vec<String> = found.iter().map(|line| told(line)).collect();
                ui.ctx().copy_text(lines.join("\n"));
            }
            let tip = "Keep the last line in sight";
            ui.checkbox(&mut local.follows, RichText::new("follow").small()).on_hover_text(tip);
            if console.forgotten() > 0 {
                let text = format!("{} older lines are gone", number::count(console.forgotten()));
                ui.label(RichText::new(text).small().color(theme::weak()));
            }
        });
    });
    ui.add_space(2.0);
}

/// A line as it is copied.
fn told(line: &Line) -> String {
    let thread = thread(line);
    if thread.is_empty() { line.text.clone() } else { format!("{thread}  {}", line.text) }
}

/// `block 1, thread 5`, or with all coordinates that count.
fn thread(line: &Line) -> String {
    let place = |[x, y, z]: [u32; 3]| match (y, z) {
        (0, 0) => x.to_string(),
        (_, 0) => format!("({x}, {y})"),
        (_, _) => format!("({x}, {y}, {z})"),
    };
    line.thread.map_or_else(String::new, |[block, thread]| {
        format!("block {}, thread {}", place(block), place(thread))
    })
}

fn row(ui: &mut Ui, line: &Line) -> Option<Action> {
    let response = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let weak = |text: String| RichText::new(text).monospace().color(theme::weak());
        ui.label(weak(format!("{:>8.2}", line.at.as_secs_f64())));
        let thread = thread(line);
        if !thread.is_empty() {
            ui.label(weak(format!("{thread:<22}")));
        }
        let color = line.severity.map_or(theme::text(), |severity| match severity {
            Severity::Note => theme::text(),
            Severity::Warning | Severity::Error | Severity::Fault => {
                icons::severity_color(severity)
            }
        });
        let text = shortened(&line.text, MOST_LETTERS).replace('\t', "    ");
        let label = Label::new(RichText::new(text).monospace().color(color)).extend();
        match line.place {
            None => ui.add(label.selectable(true)),
            Some(_) => ui.add(label.sense(Sense::CLICK)).on_hover_text("Go there"),
        }
    });
    let (line, column) = line.place.filter(|_| response.inner.clicked())?;
    Some(Action::Reveal(line, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{diagnostic::Diagnostic, studio::test_screen::TestScreen};

    fn filled() -> Console {
        let mut console = Console::default();
        console.print("x = 7\n", Some([[1, 0, 0], [5, 2, 0]]));
        console.print("y = 8\n", None);
        let fault = Diagnostic::error("t.cu", "out of bounds").at(12, 3);
        console.tell_of(&fault, "t.cu");
        console
    }

    #[test]
    fn lines_are_told_with_their_threads_and_filtered() {
        let (mut screen, console, mut local) = (TestScreen::default(), filled(), Local::default());
        let shown = |screen: &mut TestScreen, local: &mut Local| {
            let mut actions = Vec::new();
            for _ in 0..2 {
                screen.frame(|ui| actions.extend(show(ui, &console, local)));
            }
            actions
        };
        shown(&mut screen, &mut local);
        assert!(screen.sees("block 1, thread (5, 2)") && screen.sees("y = 8"));
        screen.click("t.cu:12: out of bounds");
        assert_eq!(shown(&mut screen, &mut local), [Action::Reveal(12, Some(3))]);
        screen.click("faults");
        shown(&mut screen, &mut local);
        assert!(screen.sees("x = 7") && !screen.sees("out of bounds"));
        local.search = "thread 7".into();
        shown(&mut screen, &mut local);
        assert!(screen.sees("x = 7") && !screen.sees("y = 8"), "all words, of thread and text");
        screen.click("Clear");
        assert_eq!(shown(&mut screen, &mut local), [Action::ClearConsole]);
    }

    #[test]
    fn what_is_copied_says_who_printed_it() {
        let console = filled();
        let lines: Vec<String> = console.lines().map(told).collect();
        assert_eq!(lines[0], "block 1, thread (5, 2)  x = 7");
        assert_eq!(lines[1], "y = 8");
    }
}

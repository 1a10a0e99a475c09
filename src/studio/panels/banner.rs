//! Strips above the view: a kernel's fault, files that the scene may not include, what the studio has to tell or ask.

use egui::{Align, Frame, Layout, Margin, RichText, Sense, TextStyle, Ui, text::LayoutJob, vec2};

use crate::{
    diagnostic::{Diagnostic, Severity},
    session::{Command, Renamed, Snapshot},
    studio::{action::Action, icons, notice::Notice, number, theme},
};

/// All strips; takes no space when there is nothing to say. `file` is the open scene's name as diagnostics
/// carry it.
pub fn show(ui: &mut Ui, snapshot: &Snapshot, file: &str, notices: &[Notice]) -> Vec<Action> {
    let mut actions = Vec::new();
    ui.spacing_mut().item_spacing.y = 0.0;
    if let Some(fault) = &snapshot.fault {
        strip(ui, Severity::Fault, |ui| fault_content(ui, fault, file, &mut actions));
    }
    if !snapshot.compile.untrusted.is_empty() {
        strip(ui, Severity::Warning, |ui| {
            untrusted_content(ui, &snapshot.compile.untrusted, &mut actions);
        });
    }
    if snapshot.compile.lacks_manifest {
        strip(ui, Severity::Note, |ui| plain_content(ui, &mut actions));
    }
    if let Some(renamed) = &snapshot.renamed {
        strip(ui, Severity::Note, |ui| renamed_content(ui, renamed, &mut actions));
    }
    for notice in notices {
        ui.push_id(notice.number, |ui| {
            strip(ui, notice.severity, |ui| notice_content(ui, notice, &mut actions));
        });
    }
    actions
}

/// That a run is repeated: the step at which it stands, and how many it has.
pub fn repeated(ui: &mut Ui, repeated: Option<[u64; 2]>) -> Option<Action> {
    let [step, steps] = repeated?;
    let mut action = None;
    strip(ui, Severity::Note, |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let tip = "Stop at this step. To repeat it again, open its file again (Ctrl+O)";
            if ui.button("End it here").on_hover_text(tip).clicked() {
                action = Some(Action::Session(Command::Pause));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let [step, steps] = [step, steps].map(number::count);
                let text = format!(
                    "A run is repeated: step {step} of {steps}. The text runs that belongs to each step."
                );
                ui.add(egui::Label::new(RichText::new(text).color(theme::strong())).wrap());
            });
        });
    });
    action
}

fn strip(ui: &mut Ui, severity: Severity, content: impl FnOnce(&mut Ui)) {
    ground(ui, severity, |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.horizontal(|ui| {
            mark(ui, severity);
            content(ui);
        });
    });
}

/// What a strip stands on.
pub(super) fn ground(ui: &mut Ui, severity: Severity, content: impl FnOnce(&mut Ui)) {
    let color = icons::severity_color(severity);
    let fill = theme::panel().lerp_to_gamma(color, 0.16);
    let frame = Frame::new().fill(fill).inner_margin(Margin::symmetric(12, 6));
    let strip = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        content(ui);
    });
    let rect = strip.response.rect;
    let edge = egui::Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
    ui.painter().rect_filled(edge, 0.0, color);
}

/// What a strip begins with.
pub(super) fn mark(ui: &mut Ui, severity: Severity) {
    let (rect, _) = ui.allocate_exact_size(vec2(16.0, 22.0), Sense::hover());
    icons::severity(ui.painter(), rect.center(), severity);
}

fn fault_content(ui: &mut Ui, fault: &Diagnostic, file: &str, actions: &mut Vec<Action>) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if let Some(line) = fault.line.filter(|_| fault.file == file)
            && ui.button(format!("Show line {line}")).clicked()
        {
            actions.push(Action::Reveal(line, fault.column));
        }
        if ui.button("Reset").on_hover_text("Back to step 0, and run again").clicked() {
            actions.push(Action::Session(Command::Reset));
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let text = format!("Stopped: {}", fault.text.lines().next().unwrap_or_default());
            let font = TextStyle::Body.resolve(ui.style());
            let mut job = LayoutJob::simple(text, font, theme::strong(), f32::INFINITY);
            // The view is beneath, and the list of problems has all of it.
            job.wrap.max_rows = 3;
            ui.add(egui::Label::new(job).wrap()).on_hover_text(fault.text.trim());
        });
    });
}

fn untrusted_content(ui: &mut Ui, files: &[String], actions: &mut Vec<Action>) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let tip = "Until the studio is closed, this scene may read any file.\nA stranger's could show what is in it.";
        if ui.button("Trust this scene").on_hover_text(tip).clicked() {
            actions.push(Action::Trust);
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let text = match files {
                [file] => format!("The scene wants to read {file}, which is not in its folder."),
                files => {
                    format!("The scene wants to read {} files that are not in its folder.", files.len())
                }
            };
            let label = egui::Label::new(RichText::new(text).color(theme::strong())).wrap();
            ui.add(label).on_hover_text(files.join("\n"));
        });
    });
}

fn plain_content(ui: &mut Ui, actions: &mut Vec<Action>) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let tip = "A comment before the text: arrays and passes, as its kernels and its host code have them.\n\
                   What they do not say is marked. The file is written when you save.";
        if ui.button("Write a manifest").on_hover_text(tip).clicked() {
            actions.push(Action::WriteManifest);
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let text = "This file has no manifest, which would say what runs.";
            ui.add(egui::Label::new(RichText::new(text).color(theme::strong())).wrap());
        });
    });
}

fn renamed_content(ui: &mut Ui, renamed: &Renamed, actions: &mut Vec<Action>) {
    let Renamed { from, to, at, .. } = renamed;
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let tip = format!("{to} is another one, and begins anew");
        if ui.button("Begin anew").on_hover_text(tip).clicked() {
            actions.push(Action::Session(Command::ForgetRename));
        }
        let tip = format!(
            "Writes was = \"{from}\" into the manifest, and goes on from step {} with what {from} held",
            at.step
        );
        if ui.button(format!("Keep {from}")).on_hover_text(tip).clicked() {
            actions.push(Action::KeepRenamed(renamed.clone()));
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let text = format!("Is {to} another name for {from}, which is gone?");
            ui.add(egui::Label::new(RichText::new(text).color(theme::strong())).wrap());
        });
    });
}

fn notice_content(ui: &mut Ui, notice: &Notice, actions: &mut Vec<Action>) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        // An offer is no question.
        let may_close = notice.answers.iter().all(|(_, action)| *action == Action::SaveAs);
        if may_close && ui.button("Close").clicked() {
            actions.push(Action::Dismiss(notice.number));
        }
        for (label, action) in notice.answers.iter().rev() {
            if ui.button(*label).clicked() {
                actions.push(action.clone());
                actions.push(Action::Dismiss(notice.number));
            }
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let text = RichText::new(&notice.text).color(theme::strong());
            ui.add(egui::Label::new(text).wrap());
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        session::Moment,
        studio::test_screen::{TestScreen, snapshot},
    };

    #[test]
    fn what_may_have_been_renamed_is_asked() {
        let (mut screen, mut snapshot) = (TestScreen::default(), snapshot());
        let shown = |screen: &mut TestScreen, snapshot: &Snapshot| {
            let mut actions = Vec::new();
            for _ in 0..2 {
                screen.frame(|ui| actions.extend(show(ui, snapshot, "t.cu", &[])));
            }
            actions
        };
        assert_eq!(shown(&mut screen, &snapshot), []);
        let at = Moment { line: 2, step: 70 };
        let renamed = Renamed { from: "heat".into(), to: "warmth".into(), line: 3, at };
        snapshot.renamed = Some(renamed.clone());
        shown(&mut screen, &snapshot);
        assert!(screen.sees("Is warmth another name for heat"), "{:?}", screen.written());
        screen.click("Keep heat");
        assert_eq!(shown(&mut screen, &snapshot), [Action::KeepRenamed(renamed)]);
        screen.click("Begin anew");
        assert_eq!(shown(&mut screen, &snapshot), [Action::Session(Command::ForgetRename)]);
    }
}

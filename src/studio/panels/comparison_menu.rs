//! The control *A/B* beside the past: what is to be compared with what runs.

use std::collections::{BTreeMap, BTreeSet};

use egui::{RichText, ScrollArea, Ui, containers::menu::MenuButton};

use crate::{
    session::{Command, Line, Snapshot, Timeline, Value, Variant, VariantText},
    studio::{action::Action, number, theme},
};

/// As many versions are offered, the last ones.
const MOST_VERSIONS: usize = 24;

/// The button, whose menu offers what there is to compare with; it ends a comparison, too.
pub fn show(ui: &mut Ui, snapshot: &Snapshot, timeline: &Timeline, actions: &mut Vec<Action>) {
    let is_running = snapshot.comparison.is_some();
    let color = if is_running { theme::accent() } else { theme::text() };
    let text = RichText::new("A/B").color(color);
    let (button, _) = MenuButton::new(text).ui(ui, |ui| {
        ui.set_width(270.0);
        ui.label(RichText::new("Compare what runs, A, with B:").small().color(theme::weak()));
        let tip = "B keeps this text and these parameters: edit the text or move a slider, and see what it does";
        offer(ui, "What runs now, while I change A", tip, held(snapshot), actions);
        let before = Variant { text: VariantText::Before, ..Variant::default() };
        ui.add_enabled_ui(was_edited(&timeline.lines), |ui| {
            offer(ui, "The text before the last edit", "The version that ran before, with the files that it included", before, actions);
        });
        let file = ui.button("The text as it was saved").on_hover_text("The file, or the built-in scene");
        if file.clicked() {
            actions.push(Action::CompareWithFile);
            ui.close();
        }
        let (text, fast_math) = match snapshot.compile.fast_math {
            true => ("What runs now, with exact mathematics", false),
            false => ("What runs now, with fast mathematics", true),
        };
        let tip = "Compiled with --use_fast_math, or without: what is lost in accuracy, and what is won in time. B follows your edits";
        let variant = Variant { fast_math: Some(fast_math), ..Variant::default() };
        offer(ui, text, tip, variant, actions);
        if snapshot.guard.is_some() {
            offer(ui, "What runs now, without the guard", WITHOUT_GUARD, unguarded(), actions);
        }
        versions(ui, snapshot, timeline, actions);
        if is_running {
            ui.separator();
            if ui.button("End the comparison").clicked() {
                actions.push(Action::Session(Command::StopComparison));
                ui.close();
            }
        }
    });
    let tip =
        "Run a second version on a copy of the state, step by step, and see where they differ";
    button.on_hover_text(tip);
}

/// Whether another text ran before: a branch begins with the text of its line, or with another one.
fn was_edited(lines: &[Line]) -> bool {
    let edits = lines.iter().flat_map(|line| &line.edits);
    edits.map(|(_, generation)| generation).collect::<BTreeSet<_>>().len() > 1
}

/// What is said of a B whose kernels are not guarded.
pub(super) const WITHOUT_GUARD: &str = "See what the guard costs: both do each step, in turns. \
     What a kernel does wrong that is not guarded may end CUDA for this program";

/// What runs, with kernels that are not guarded.
pub(super) fn unguarded() -> Variant {
    Variant { guarded: Some(false), ..Variant::default() }
}

/// What runs, with the parameters that it has now.
fn held(snapshot: &Snapshot) -> Variant {
    let parameters = snapshot.parameters.iter();
    let held: BTreeMap<String, Value> =
        parameters.map(|parameter| (parameter.name.clone(), parameter.value.clone())).collect();
    Variant { parameters: held, ..Variant::default() }
}

fn offer(ui: &mut Ui, text: &str, tip: &str, variant: Variant, actions: &mut Vec<Action>) {
    if ui.button(text).on_hover_text(tip).clicked() {
        actions.push(Action::Session(Command::StartComparison(variant)));
        ui.close();
    }
}

/// The versions that have run, newest first, by the steps from which they did.
fn versions(ui: &mut Ui, snapshot: &Snapshot, timeline: &Timeline, actions: &mut Vec<Action>) {
    let all = timeline.lines.iter().flat_map(|line| line.edits.iter());
    let first: BTreeMap<u64, u64> = all.rev().map(|(step, version)| (*version, *step)).collect();
    let older = first.iter().rev().filter(|(version, _)| **version != snapshot.compile.running);
    let older: Vec<_> = older.take(MOST_VERSIONS).collect();
    if older.is_empty() {
        return;
    }
    ui.add_space(4.0);
    ui.label(RichText::new("A version in the past").small().color(theme::weak()));
    ScrollArea::vertical().max_height(160.0).show(ui, |ui| {
        for (version, step) in older {
            let text = format!("Version {version}, from step {}", number::count(*step));
            let variant = Variant { text: VariantText::Version(*version), ..Variant::default() };
            offer(
                ui,
                &text,
                "What ran then, on a copy of the state that is shown",
                variant,
                actions,
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::was_edited;
    use crate::session::Line;

    #[test]
    fn a_branch_alone_is_no_edit() {
        let line = |edits: &[(u64, u64)]| Line { edits: edits.to_vec(), ..Line::default() };
        assert!(!was_edited(&[]));
        assert!(!was_edited(&[line(&[(0, 1)])]));
        assert!(!was_edited(&[line(&[(0, 1)]), line(&[(30, 1)])]));
        assert!(was_edited(&[line(&[(0, 1)]), line(&[(30, 2)])]));
        assert!(was_edited(&[line(&[(0, 1), (12, 2)])]));
    }
}

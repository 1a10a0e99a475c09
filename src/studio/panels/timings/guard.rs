//! What the guard does in the kernels, and what it costs.

use egui::{RichText, Ui};

use crate::{
    session::{Command, Comparison, Guarding, KernelGuarding, PassRatio},
    studio::{
        action::Action,
        panels::comparison_menu::{WITHOUT_GUARD, unguarded},
        theme,
    },
};

/// What guards the kernels on a GPU.
pub(super) fn guarding(ui: &mut Ui, guard: &Guarding, kernels: &[KernelGuarding]) {
    let Guarding { accesses, proved, checked, at_launch, unchecked } = *guard;
    let mut text = format!("guard: {accesses} accesses, {proved} proved, {checked} checks");
    if unchecked > 0 {
        text += &format!(", {unchecked} not guarded");
    }
    let mut about = format!(
        "An access outside its memory is told and does not happen, and a kernel that does not end is stopped. \
         {at_launch} of the checks are not needed in launches of which the arguments prove that they hold. \
         A pass with `guard = \"off\"` does without."
    );
    for KernelGuarding { kernel, accesses: of } in kernels {
        let left = of.checked - of.at_launch.min(of.checked);
        let proved = of.accesses.saturating_sub(left + of.unchecked);
        about += &format!("\n{kernel}: {} accesses, {proved} proved, {left} checked", of.accesses);
    }
    ui.label(RichText::new(text).small().color(theme::weak())).on_hover_text(about);
}

/// What the guard costs: B, which does without, tells.
pub(super) fn cost(ui: &mut Ui, comparison: Option<&Comparison>, actions: &mut Vec<Action>) {
    let is_same = |of: &&Comparison| of.variant == unguarded() && of.has_same_text;
    let without = comparison.filter(is_same);
    ui.horizontal(|ui| {
        let (button, tip, command) = match without {
            None => ("Measure its cost", WITHOUT_GUARD, Command::StartComparison(unguarded())),
            Some(_) => ("End", "End the comparison with plain kernels", Command::StopComparison),
        };
        if ui.small_button(button).on_hover_text(tip).clicked() {
            actions.push(Action::Session(command));
        }
        let Some(comparison) = without else { return };
        let (text, about) = costs(&comparison.passes);
        ui.label(RichText::new(text).small().color(theme::weak())).on_hover_text(about);
    });
}

/// How much longer guarded passes take, in all and each.
pub(super) fn costs(passes: &[PassRatio]) -> (String, String) {
    let [guarded, plain] =
        [0, 1].map(|side| passes.iter().map(|pass| pass.median_ms[side]).sum::<f64>());
    if plain <= 0.0 {
        return ("measuring …".to_owned(), String::new());
    }
    // B is the plain side, so a ratio of its time by the guarded one's is turned round.
    let each = passes.iter().filter_map(|pass| {
        let [first, median, third] = pass.ratio?.map(f64::recip);
        Some(format!("{}: {median:.3} (quartiles {third:.3} to {first:.3})", pass.name))
    });
    let about = each.collect::<Vec<_>>().join("\n");
    (format!("guarded passes take {:.3} times as long as plain ones", guarded / plain), about)
}

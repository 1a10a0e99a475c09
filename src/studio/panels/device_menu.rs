//! The menu of what runs the kernels, and what is compared with it.

use egui::{Label, RichText, Ui, containers::menu::MenuButton};

use super::named;
use crate::{
    session::{Command, Engine, Snapshot, Variant},
    studio::{
        action::Action,
        runners::{Runner, Runners},
        theme,
    },
};

/// The width of the menu.
const WIDTH: f32 = 330.0;

/// The button, which says what runs the kernels now.
pub fn show(
    ui: &mut Ui,
    snapshot: &Snapshot,
    runners: &Runners,
    present: &Runner,
    width: f32,
) -> Option<Action> {
    let mut action = None;
    let text = RichText::new(present.to_string()).size(12.0).color(theme::text());
    let button = egui::Button::new(text).truncate().frame_when_inactive(false);
    let menu = ui.scope(|ui| {
        ui.set_max_width(width);
        MenuButton::from_button(button).ui(ui, |ui| {
            ui.set_width(WIDTH);
            action = menu(ui, snapshot, runners, present);
        })
    });
    let (button, _) = menu.inner;
    named(&button, &format!("Device: {present}"));
    button
        .on_hover_text(format!("{present}\nWhere the kernels run: choose another, or compare two"));
    action
}

fn menu(ui: &mut Ui, snapshot: &Snapshot, runners: &Runners, present: &Runner) -> Option<Action> {
    let mut action = None;
    let heading = |ui: &mut Ui, text: &str| {
        ui.label(RichText::new(text).small().color(theme::weak()));
    };
    heading(ui, "Run on (the scene goes on from its present state)");
    for runner in &runners.all {
        let is_present = runner == present;
        let response = ui.selectable_label(is_present, runner.to_string());
        if response.on_hover_text(about(runner)).clicked() && !is_present {
            action = Some(Action::RunOn(runner.clone()));
        }
    }
    if let Some(missing) = &runners.missing {
        let text = RichText::new(format!("No NVIDIA GPU: {missing}")).small().color(theme::weak());
        ui.add(Label::new(text).wrap());
    }
    let others = runners.all.iter().filter(|of| *of != present);
    let comparable: Vec<_> =
        others.filter_map(|of| variant(of, present).map(|variant| (of, variant))).collect();
    if !comparable.is_empty() {
        ui.separator();
        heading(ui, "Compare with it, step by step (A/B)");
    }
    for (runner, variant) in comparable {
        let tip = "B does the same steps from a copy of the state: numbers and times of both, and where they part";
        if ui.button(runner.to_string()).on_hover_text(tip).clicked() {
            action = Some(Action::Session(Command::StartComparison(variant)));
        }
    }
    if snapshot.comparison.is_some() && ui.button("End the comparison").clicked() {
        action = Some(Action::Session(Command::StopComparison));
    }
    if action.is_some() {
        ui.close();
    }
    action
}

/// B as it runs on another one; `None` where two cannot be compared.
pub fn variant(runner: &Runner, present: &Runner) -> Option<Variant> {
    let device = (runner.choice != present.choice).then(|| runner.selector.clone());
    let engine = match runner.engine {
        Engine::Device => Engine::Device,
        Engine::Interpreter => Engine::Interpreter,
        // What it finds is told of what runs alone.
        Engine::Checker => return None,
    };
    Some(Variant { device, engine: Some(engine), ..Variant::default() })
}

fn about(runner: &Runner) -> &'static str {
    match (runner.engine, runner.is_cpu()) {
        (Engine::Device, false) => "Kernels run on the GPU and write into what OpenGL draws",
        (Engine::Device, true) => "Kernels are translated to machine code for this processor",
        (Engine::Interpreter, _) => {
            "Kernels are done one instruction after the other: slow, and with arithmetic of its own"
        }
        (Engine::Checker, _) => {
            "The same, and races, unwritten reads and divisions by zero are told: very slow"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        device::Choice,
        studio::test_screen::{TestScreen, snapshot},
    };

    fn runner(name: &str, choice: Choice, engine: Engine) -> Runner {
        let selector = if choice == Choice::Cpu { "cpu" } else { "cuda:0" };
        Runner { selector: selector.into(), name: name.into(), choice, engine }
    }

    fn shown(screen: &mut TestScreen, runners: &Runners) -> Option<Action> {
        let mut action = None;
        let present = runners.all[1].clone();
        screen.frame(|ui| {
            action = show(ui, &snapshot(), runners, &present, 300.0).or(action.take());
        });
        action
    }

    #[test]
    fn another_device_is_chosen_and_two_are_compared() {
        let all = vec![
            runner("A GPU", Choice::Cuda(0), Engine::Device),
            runner("CPU", Choice::Cpu, Engine::Device),
            runner("CPU", Choice::Cpu, Engine::Interpreter),
        ];
        let gpu = all[0].clone();
        let runners = Runners::with(all);
        let mut screen = TestScreen::default();
        shown(&mut screen, &runners);
        screen.click("CPU (cpu)");
        (0..3).for_each(|_| _ = shown(&mut screen, &runners));
        screen.click("A GPU (cuda:0)");
        assert_eq!(shown(&mut screen, &runners), Some(Action::RunOn(gpu)));
        shown(&mut screen, &runners);
        screen.click("CPU (cpu)");
        (0..3).for_each(|_| _ = shown(&mut screen, &runners));
        screen.click_last("Interpreter (cpu)");
        let variant = Variant { engine: Some(Engine::Interpreter), ..Variant::default() };
        let expected = Action::Session(Command::StartComparison(variant));
        assert_eq!(shown(&mut screen, &runners), Some(expected));
        // Another device is compared as well.
        shown(&mut screen, &runners);
        screen.click("CPU (cpu)");
        (0..3).for_each(|_| _ = shown(&mut screen, &runners));
        screen.click_last("A GPU (cuda:0)");
        let engine = Some(Engine::Device);
        let variant = Variant { device: Some("cuda:0".into()), engine, ..Variant::default() };
        let expected = Action::Session(Command::StartComparison(variant));
        assert_eq!(shown(&mut screen, &runners), Some(expected));
    }
}

//! The scene's parameters: a slider, a list, a switch or a colour each, with a menu of what else can be done with it.
//!
//! Enters: the parameters as they are. Leaves: actions. Must not know: `device`, `gl`, `studio::window`.

mod controls;
mod menu;
mod presets;
mod typed;

use controls::{below_label, beside_label};
use egui::{Align, Label, Layout, RichText, ScrollArea, TextEdit, Ui, vec2};

use super::named;
use crate::{
    session::{Command, Control, Parameter, Snapshot, Value},
    studio::{
        action::Action,
        animation::Animations,
        icons::{self, Icon},
        parameter_keys::Keys,
        theme,
    },
};

/// Where there are more than these, they are searched.
const MANY: usize = 8;
/// What a bound key does.
const KEYS: &str = "A letter or a digit. While no text has the keyboard it moves the slider on, with Shift back; throws \
                    a switch; takes the next of a list. The scene has it the next time, too";
/// The room that a bound key's letter takes behind a label.
const CAP: f32 = 20.0;
/// The height of a row's first line.
const LINE: f32 = 20.0;

/// What the panel remembers from frame to frame.
#[derive(Debug, Default)]
pub struct Local {
    search: String,
    /// The parameter for which something was typed that is no number, and why it is none.
    problem: Option<(String, String)>,
    presets: presets::Local,
    /// What changes by itself.
    pub animations: Animations,
    /// What keys change.
    pub keys: Keys,
}

/// All parameters, in the manifest's order.
pub fn show(ui: &mut Ui, snapshot: &Snapshot, local: &mut Local) -> Vec<Action> {
    let mut actions = Vec::new();
    if !snapshot.parameters.is_empty() {
        actions.extend(presets::show(ui, snapshot, &mut local.presets));
    }
    if snapshot.parameters.len() > MANY {
        let search = TextEdit::singleline(&mut local.search).hint_text("Search the parameters");
        ui.add(search.desired_width(f32::INFINITY));
        ui.add_space(4.0);
    }
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        if snapshot.parameters.is_empty() && snapshot.compile.running > 0 {
            hint(ui);
        }
        let is_many = snapshot.parameters.len() > MANY;
        let is_wanted = |of: &&Parameter| !is_many || is_found(of, &local.search);
        let wanted: Vec<&Parameter> = snapshot.parameters.iter().filter(is_wanted).collect();
        for parameter in wanted {
            ui.push_id(&parameter.name, |ui| {
                if let Some(value) = row(ui, parameter, snapshot, local, &mut actions) {
                    local.animations.stop(&parameter.name);
                    let set = Command::SetParameter(parameter.name.clone(), value);
                    actions.push(Action::Session(set));
                }
            });
            ui.add_space(5.0);
        }
    });
    actions
}

/// Whether it has all words of what is searched.
fn is_found(parameter: &Parameter, words: &str) -> bool {
    let text = format!("{} {}", parameter.name, parameter.label).to_lowercase();
    words.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// What stands beside the title: all of them are reset, where one is changed.
pub fn beside_title(ui: &mut Ui, snapshot: &Snapshot) -> Vec<Action> {
    let changed: Vec<&Parameter> =
        snapshot.parameters.iter().filter(|parameter| is_changed(parameter)).collect();
    let tip = "All parameters back to the manifest's values";
    if !changed.is_empty() && icons::small_button(ui, Icon::Reset, tip).clicked() {
        return changed.into_iter().map(reset).collect();
    }
    Vec::new()
}

fn hint(ui: &mut Ui) {
    let text = "This scene has none. A table such as\n\n[param.speed]\nvalue = 1.0\nmin = 0.0\nmax = 4.0\n\n\
                in the manifest makes a slider here, and a kernel argument `speed`.";
    ui.label(RichText::new(text).color(theme::weak()));
}

fn reset(parameter: &Parameter) -> Action {
    Action::Session(Command::ResetParameter(parameter.name.clone()))
}

fn is_changed(parameter: &Parameter) -> bool {
    parameter.value != parameter.default
}

/// One parameter; gives its new value when the user changed it.
fn row(
    ui: &mut Ui,
    parameter: &Parameter,
    snapshot: &Snapshot,
    local: &mut Local,
    actions: &mut Vec<Action>,
) -> Option<Value> {
    let mut value = parameter.value.clone();
    let whole = ui.scope(|ui| {
        let beside = !matches!(parameter.control, Control::Choice(_));
        let line = vec2(ui.available_width(), LINE);
        // From the right to the left: what a label is too long for is the label's loss.
        let right_to_left = Layout::right_to_left(Align::Center);
        let line = ui.allocate_ui_with_layout(line, right_to_left, |ui| {
            let is_animated = local.animations.of(&parameter.name).is_some();
            let button = menu::button(ui, parameter, is_animated);
            if beside {
                beside_label(ui, parameter, &mut value, &snapshot.parameters, local);
            }
            let tip = "Back to the manifest's value";
            if is_changed(parameter) && icons::small_button(ui, Icon::Reset, tip).clicked() {
                local.animations.stop(&parameter.name);
                actions.push(reset(parameter));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| label(ui, parameter, local));
            button
        });
        (line.inner, below_label(ui, parameter, &mut value))
    });
    let (button, is_reset) = whole.inner;
    menu::show(ui, (whole.response.rect, &button), parameter, local, actions);
    if let Some((_, problem)) = local.problem.as_ref().filter(|(of, _)| *of == parameter.name) {
        ui.add(Label::new(RichText::new(problem).small().color(theme::error())).wrap());
    }
    // What was typed before is of no interest any more.
    let is_other = is_reset || value != parameter.value;
    local.problem.take_if(|(of, _)| is_other && *of == parameter.name);
    if is_reset {
        local.animations.stop(&parameter.name);
        actions.push(reset(parameter));
        return None;
    }
    (value != parameter.value).then_some(value)
}

fn label(ui: &mut Ui, parameter: &Parameter, local: &Local) {
    if local.keys.asked() == Some(&*parameter.name) {
        ui.label(RichText::new("press a letter or a digit").color(theme::accent()));
        return;
    }
    let text = RichText::new(&parameter.label).color(theme::text());
    let label = Label::new(text).truncate().selectable(false).show_tooltip_when_elided(false);
    let told = format!("{}\n`{}` in kernels", parameter.label, parameter.name);
    let Some(key) = local.keys.of(&parameter.name) else {
        ui.add(label).on_hover_text(told);
        return;
    };
    ui.scope(|ui| {
        ui.set_max_width((ui.available_width() - CAP).max(0.0));
        ui.add(label).on_hover_text(told);
    });
    let cap = RichText::new(key.name()).small().monospace().color(theme::weak());
    let cap = ui.add(Label::new(cap.background_color(theme::raised())).selectable(false));
    cap.on_hover_text(format!("Key {}: {KEYS}", key.name()));
}

#[cfg(test)]
mod tests {
    use egui::{Key, accesskit::Role};

    use super::*;
    use crate::studio::test_screen::{TestScreen, snapshot};

    fn slider(label: &str, value: f64) -> Parameter {
        Parameter {
            name: "speed".into(),
            label: label.into(),
            unit: String::new(),
            value: Value::Float(value),
            default: Value::Float(0.5),
            control: Control::Slider { min: 0.0, max: 4.0, step: 0.0, log: false },
        }
    }

    fn color(label: &str) -> Parameter {
        let tint = Value::Color([0.5, 0.25, 0.0, 1.0]);
        let (name, control) = ("tint".into(), Control::Color(false));
        Parameter { name, value: tint.clone(), default: tint, control, ..slider(label, 0.0) }
    }

    fn shown(screen: &mut TestScreen, parameters: &[Parameter]) -> Vec<Action> {
        let mut local = Local::default();
        shown_with(screen, parameters, &mut local)
    }

    fn shown_with(
        screen: &mut TestScreen,
        parameters: &[Parameter],
        local: &mut Local,
    ) -> Vec<Action> {
        let (mut snapshot, mut actions) = (snapshot(), Vec::new());
        snapshot.parameters = parameters.to_vec();
        for _ in 0..2 {
            screen.frame(|ui| actions.extend(show(ui, &snapshot, local)));
        }
        actions
    }

    fn set(value: f64) -> Action {
        Action::Session(Command::SetParameter("speed".into(), Value::Float(value)))
    }

    #[test]
    fn long_labels_are_cut_and_what_stands_beside_them_stays_in_the_panel() {
        let long =
            "lacunarity: how much finer an octave is than the one before it, and much more of that";
        let mut screen = TestScreen::sized(vec2(260.0, 300.0));
        let parameters = [slider(long, 1.25), color("tint of all that is far from the light")];
        shown(&mut screen, &parameters);
        let (label, number) = (screen.place(long), screen.place("1.25"));
        assert!(label.right() < number.left() && number.right() < 260.0, "{label:?} {number:?}");
        let swatch = screen.control("Colour of tint of all that is far from the light").unwrap();
        assert!(swatch.right() <= 260.0, "{swatch:?}");
        let reset = screen.control("Back to the manifest's value").expect("it is changed");
        assert!(reset.left() > label.right() && reset.right() < number.left(), "{reset:?}");
        // In a narrow window, too.
        let mut narrow = TestScreen::sized(vec2(150.0, 300.0));
        shown(&mut narrow, &parameters);
        let (cut, number) = (narrow.place(long), narrow.place("1.25"));
        assert!(cut.right() < number.left() && number.right() < 150.0, "{cut:?} {number:?}");
        // All of it is told where the pointer is.
        screen.hover(label.center());
        (0..12).for_each(|_| _ = shown(&mut screen, &parameters));
        let whole = screen.written().into_iter().filter(|text| text.starts_with(long)).count();
        assert_eq!(whole, 2, "{:?}", screen.written());
    }

    #[test]
    fn what_is_shown_is_not_changed() {
        let mut screen = TestScreen::sized(vec2(260.0, 300.0));
        let off_the_steps = Control::Slider { min: 0.0, max: 4.0, step: 0.2, log: false };
        let (min, max) = (i64::MIN as f64, i64::MAX as f64);
        let whole = Control::Slider { min, max, step: 1.0, log: false };
        let parameters = [
            Parameter { control: off_the_steps, ..slider("step", 0.35) },
            Parameter { control: whole, value: Value::Int((1 << 53) + 1), ..slider("big", 0.0) },
            slider("small", 2.0e-5),
        ];
        assert_eq!(shown(&mut screen, &parameters), []);
        assert!(screen.sees("2e-5") && screen.sees("9007199254740993"), "{:?}", screen.written());
        // Nor by the keyboard's going through all of it.
        for _ in 0..24 {
            screen.press(Key::Tab);
            assert_eq!(shown(&mut screen, &parameters), []);
        }
    }

    #[test]
    fn a_double_click_on_a_slider_resets_it() {
        let mut screen = TestScreen::sized(vec2(260.0, 300.0));
        let parameters = [slider("speed", 1.25)];
        shown(&mut screen, &parameters);
        let at = screen.all_of(Role::Slider)[0].center();
        let mut actions = Vec::new();
        for _ in 0..2 {
            screen.drag(at);
            screen.release(at);
            actions.extend(shown(&mut screen, &parameters));
        }
        let reset = Action::Session(Command::ResetParameter("speed".into()));
        assert_eq!(actions.last(), Some(&reset), "{actions:?}");
    }

    #[test]
    fn what_is_typed_and_is_no_number_is_told() {
        let (mut screen, mut local) = (TestScreen::sized(vec2(260.0, 300.0)), Local::default());
        let parameters = [slider("speed", 1.25)];
        let shown =
            |screen: &mut TestScreen, local: &mut Local| shown_with(screen, &parameters, local);
        for (typed, told) in [("foo", true), ("speed*2", false)] {
            shown(&mut screen, &mut local);
            screen.click("1.25");
            shown(&mut screen, &mut local);
            screen.types(typed);
            shown(&mut screen, &mut local);
            screen.press(Key::Enter);
            let actions = shown(&mut screen, &mut local);
            assert_eq!(screen.sees("foo: there is no `foo`"), told, "{:?}", screen.written());
            assert_eq!(actions.first() == Some(&set(2.5)), !told, "{actions:?}");
        }
    }

    #[test]
    fn a_menu_opens_by_the_second_button_and_by_its_own() {
        let (mut screen, mut local) = (TestScreen::sized(vec2(400.0, 500.0)), Local::default());
        let parameters = [slider("speed", 1.25)];
        let shown = |screen: &mut TestScreen, local: &mut Local| {
            let mut actions = Vec::new();
            for _ in 0..3 {
                actions.extend(shown_with(screen, &parameters, local));
            }
            actions
        };
        shown(&mut screen, &mut local);
        let slider = screen.all_of(Role::Slider)[0].center();
        let (label, number) = (screen.place("speed").center(), screen.place("1.25").center());
        for at in [label, slider, number] {
            assert!(!screen.sees("Copy as CUDA"));
            screen.click_second(at);
            shown(&mut screen, &mut local);
            assert!(screen.sees("Copy as CUDA"), "{at:?} {:?}", screen.written());
            screen.press(Key::Escape);
            shown(&mut screen, &mut local);
        }
        let button = screen.control("More about speed").expect("it has a button").center();
        screen.drag(button);
        screen.release(button);
        shown(&mut screen, &mut local);
        screen.click("Sine");
        shown(&mut screen, &mut local);
        assert!(local.animations.of("speed").is_some() && screen.sees("every"));
        screen.click("Bind to a key \u{2026}");
        shown(&mut screen, &mut local);
        assert_eq!(local.keys.asked(), Some("speed"));
        assert!(screen.sees("press a letter or a digit") && !screen.sees("Copy as CUDA"));
        local.keys.answer(Key::K);
        screen.drag(button);
        screen.release(button);
        shown(&mut screen, &mut local);
        screen.click_last("Write into the file");
        let actions = shown(&mut screen, &mut local);
        assert_eq!(actions, [Action::WriteValues(vec!["speed".into()])]);
    }

    #[test]
    fn presets_are_set_and_saved() {
        let (mut screen, mut local) = (TestScreen::sized(vec2(400.0, 500.0)), Local::default());
        let mut snapshot = snapshot();
        snapshot.parameters = vec![slider("speed", 1.25)];
        let values = vec![("speed".to_owned(), Value::Float(3.0))];
        snapshot.presets = vec![crate::scene::Preset { name: "quick".into(), values }];
        let mut shown = |screen: &mut TestScreen| {
            let mut actions = Vec::new();
            for _ in 0..4 {
                screen.frame(|ui| actions.extend(show(ui, &snapshot, &mut local)));
            }
            actions
        };
        shown(&mut screen);
        screen.click("Write into the file");
        assert_eq!(shown(&mut screen), [Action::WriteValues(vec!["speed".into()])]);
        screen.click("Presets");
        shown(&mut screen);
        screen.click("quick");
        assert_eq!(shown(&mut screen), [set(3.0)]);
        screen.click("Presets");
        shown(&mut screen);
        screen.click("Name");
        shown(&mut screen);
        screen.types("calm sea");
        shown(&mut screen);
        screen.click("Save as a preset");
        assert_eq!(shown(&mut screen), [Action::SavePreset("calm sea".into())]);
    }

    #[test]
    fn expressions_are_typed_for_numbers() {
        for (typed, value) in [("0.5*2", 1.0), ("pi/4", std::f64::consts::FRAC_PI_4), ("3", 3.0)] {
            let mut screen = TestScreen::sized(vec2(260.0, 300.0));
            let parameters = [slider("speed", 1.25)];
            shown(&mut screen, &parameters);
            screen.click("1.25");
            shown(&mut screen, &parameters);
            screen.types(typed);
            shown(&mut screen, &parameters);
            screen.press(Key::Enter);
            assert_eq!(shown(&mut screen, &parameters).first(), Some(&set(value)), "{typed}");
        }
    }
}

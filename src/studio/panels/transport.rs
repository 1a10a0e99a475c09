//! The transport: the scene's clock, and what moves it. Each control has one place, whatever is shown beside it; those
//! for which a window is too narrow are in a menu at the end.

use egui::{
    Align, Button, ComboBox, DragValue, Layout, PopupCloseBehavior, Response, RichText, Sense, Ui,
    UiBuilder,
    containers::menu::{MenuButton, MenuConfig},
    vec2,
};

use super::{named, number_edit, readout::readout};
use crate::{
    session::{Command, Moment, Snapshot},
    studio::{
        action::Action,
        course::Course,
        icons::{self, Icon},
        number, theme,
    },
};

/// The speeds that are offered, and what they are called.
const SPEEDS: [(f64, &str); 8] = [
    (0.1, "\u{d7} 0.1"),
    (0.25, "\u{d7} 0.25"),
    (0.5, "\u{d7} 0.5"),
    (1.0, "\u{d7} 1"),
    (2.0, "\u{d7} 2"),
    (4.0, "\u{d7} 4"),
    (16.0, "\u{d7} 16"),
    (FASTEST, "max"),
];
/// As fast as the device can.
pub const FASTEST: f64 = 1e6;
/// The width of the buttons and of the clock, which are always there, and that of the menu at the end.
const ALWAYS: f32 = 94.0 + 20.0 + 3.0 * 8.0 + 72.0 + 62.0 + 56.0;
const MENU: f32 = 30.0;
/// What the button says after a fault.
const STOPPED: &str =
    "Stopped by a fault. With a kernel that is mended it plays on (Space); Reset begins anew";
const GAP: f32 = 14.0;

/// What may be in the menu, the first ones last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Speed,
    Steps,
    RunTo,
    Seed,
    Loop,
}

impl Control {
    const ALL: [Self; 5] = [Self::Speed, Self::Steps, Self::RunTo, Self::Seed, Self::Loop];

    fn width(self) -> f32 {
        match self {
            Self::Speed => 72.0,
            Self::Steps => 92.0,
            Self::RunTo => 112.0,
            Self::Seed => 92.0,
            Self::Loop => 166.0,
        }
    }
}

/// What the controls hold that nobody has asked for yet.
#[derive(Debug)]
pub struct Local {
    steps: u32,
    target: u64,
    seed: u64,
    /// The seed that the scene had when `seed` was set.
    known_seed: Option<u64>,
    ends: [u64; 2],
}

impl Default for Local {
    fn default() -> Self {
        Self { steps: 10, target: 100, seed: 1, known_seed: None, ends: [0, 100] }
    }
}

impl Local {
    /// As many steps as the field has.
    pub fn steps(&self) -> u32 {
        self.steps
    }
}

/// All of it, in so much `room`.
pub fn show(
    ui: &mut Ui,
    snapshot: &Snapshot,
    course: &Course,
    room: f32,
    local: &mut Local,
) -> Vec<Action> {
    let mut actions = Vec::new();
    if local.known_seed != Some(snapshot.seed) {
        (local.seed, local.known_seed) = (snapshot.seed, Some(snapshot.seed));
    }
    buttons(ui, snapshot, course, &mut actions);
    ui.spacing_mut().item_spacing.x = 8.0;
    ui.add_space(12.0);
    let clock = &snapshot.clock;
    readout(ui, "step", &number::count(clock.step), 72.0);
    readout(ui, "steps/s", &rate(snapshot, course), 56.0);
    if room >= ALWAYS + MENU + GAP {
        readout(ui, "time", &number::seconds(clock.time), 62.0);
    }
    let (shown, hidden) = fitting(room);
    for control in shown {
        ui.add_space(GAP - 8.0);
        // A width of its own: what stands behind it stays where it is.
        let size = vec2(control.width(), ui.available_height().min(30.0));
        let mut ui = own_space(ui, size);
        ui.spacing_mut().item_spacing.x = 4.0;
        control_of(&mut ui, *control, snapshot, course, local, &mut actions);
    }
    if !hidden.is_empty() {
        let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        let is_on = course.ends().is_some() && hidden.contains(&Control::Loop);
        let color = if is_on { theme::accent() } else { theme::text() };
        let dots = RichText::new("\u{2022}\u{2022}\u{2022}").color(color).size(10.0);
        let (button, _) = MenuButton::new(dots).config(stays).ui(ui, |ui| {
            for control in hidden {
                ui.horizontal(|ui| control_of(ui, *control, snapshot, course, local, &mut actions));
            }
        });
        button.on_hover_text("Speed, several steps, seed, loop");
    }
    actions
}

/// A space of this size, whatever is put into it.
fn own_space(ui: &mut Ui, size: egui::Vec2) -> Ui {
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let layout = Layout::left_to_right(Align::Center);
    let mut own = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
    own.shrink_clip_rect(rect.expand(2.0));
    own
}

/// A field for a number, of this width however long the number is.
fn field(ui: &mut Ui, width: f32, value: DragValue<'_>, name: &str) -> Response {
    let mut own = own_space(ui, vec2(width, 22.0));
    let response = own.add_sized(vec2(width, 22.0), value);
    named(&response, name);
    response
}

/// The controls that stand in the bar, and those of the menu.
fn fitting(room: f32) -> (&'static [Control], &'static [Control]) {
    let all = &Control::ALL;
    let width = |count: usize| {
        let menu = if count < all.len() { MENU + GAP } else { 0.0 };
        all.iter().take(count).map(|of| of.width() + GAP).sum::<f32>() + ALWAYS + menu
    };
    let count = (0..=all.len()).rev().find(|count| width(*count) <= room).unwrap_or(0);
    all.split_at(count)
}

fn rate(snapshot: &Snapshot, course: &Course) -> String {
    if course.repeated().is_some() {
        return "repeats".to_owned();
    }
    if snapshot.fault.is_some() {
        return "stopped".to_owned();
    }
    match (snapshot.clock.playing, snapshot.steps_left) {
        // It is known after two steps.
        (true, _) if snapshot.clock.steps_per_second == 0.0 => "\u{2026}".to_owned(),
        (true, _) => number::rate(snapshot.clock.steps_per_second),
        (false, 0 | 1) => "paused".to_owned(),
        (false, left) => format!("{} left", number::short_count(u64::from(left))),
    }
}

fn buttons(ui: &mut Ui, snapshot: &Snapshot, course: &Course, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.x = 5.0;
    if icons::button(ui, Icon::Reset, 28.0, "Reset to step 0 (Ctrl+R)").clicked() {
        actions.push(Action::Session(Command::Reset));
    }
    let (icon, tip) = match goes(snapshot, course) {
        true if course.repeated().is_some() => (Icon::Pause, "Repeat the run no further (Space)"),
        true => (Icon::Pause, "Pause (Space)"),
        false if snapshot.fault.is_some() => (Icon::Play, STOPPED),
        false => (Icon::Play, "Play (Space)"),
    };
    if icons::button(ui, icon, 28.0, tip).clicked() {
        actions.push(Action::Session(play_or_pause(snapshot, course)));
    }
    if icons::button(ui, Icon::Step, 28.0, "One step (.)").clicked() {
        actions.push(Action::Session(Command::Step));
    }
}

/// Whether steps follow by themselves.
fn goes(snapshot: &Snapshot, course: &Course) -> bool {
    let by_itself = snapshot.clock.playing || snapshot.steps_left > 1;
    snapshot.fault.is_none() && (by_itself || course.repeated().is_some())
}

/// What the key for both does.
pub fn play_or_pause(snapshot: &Snapshot, course: &Course) -> Command {
    if goes(snapshot, course) { Command::Pause } else { Command::Play }
}

fn control_of(
    ui: &mut Ui,
    control: Control,
    snapshot: &Snapshot,
    course: &Course,
    local: &mut Local,
    actions: &mut Vec<Action>,
) {
    match control {
        Control::Speed => speed(ui, snapshot, actions),
        Control::Steps => steps(ui, local, actions),
        Control::RunTo => run_to(ui, snapshot, local, actions),
        Control::Seed => seed(ui, snapshot, local, actions),
        Control::Loop => looped(ui, course, local, actions),
    }
}

fn speed(ui: &mut Ui, snapshot: &Snapshot, actions: &mut Vec<Action>) {
    let found = SPEEDS.iter().find(|(speed, _)| (speed - snapshot.speed).abs() < 1e-9 * speed);
    let name = found.map_or_else(
        || format!("\u{d7} {}", number::value(snapshot.speed)),
        |(_, name)| (*name).to_owned(),
    );
    let combo = ComboBox::from_id_salt("speed").width(62.0).selected_text(name);
    let shown = combo.show_ui(ui, |ui| {
        for (speed, name) in SPEEDS {
            let is_chosen = found.is_some_and(|(_, chosen)| *chosen == name);
            if ui.selectable_label(is_chosen, name).clicked() {
                actions.push(Action::Session(Command::Speed(speed)));
            }
        }
    });
    let tip = "Steps in a second, as a part of those of the scene's own time; max: as many as the device can";
    named(&shown.response, "Speed");
    shown.response.on_hover_text(tip);
}

fn steps(ui: &mut Ui, local: &mut Local, actions: &mut Vec<Action>) {
    let value = DragValue::new(&mut local.steps).range(1..=1_000_000).speed(0.2);
    field(ui, 38.0, value, "Number of steps").on_hover_text("So many steps");
    let tip = "Do so many steps, as fast as they go (Shift+.)";
    if ui.add(Button::new("steps")).on_hover_text(tip).clicked() {
        actions.push(Action::Session(Command::Steps(local.steps)));
    }
}

fn run_to(ui: &mut Ui, snapshot: &Snapshot, local: &mut Local, actions: &mut Vec<Action>) {
    let tip = "Go to this step: on, as fast as steps go, or back into the past";
    if ui.add(Button::new("to step")).on_hover_text(tip).clicked() {
        actions.extend(go_to(snapshot, local.target).into_iter().map(Action::Session));
    }
    let value = DragValue::new(&mut local.target).speed(1.0);
    field(ui, 52.0, value, "Step to go to").on_hover_text("Step to go to");
}

/// What brings the scene to a step.
fn go_to(snapshot: &Snapshot, step: u64) -> Vec<Command> {
    if step >= snapshot.clock.step {
        return vec![Command::RunTo(step)];
    }
    let timeline = snapshot.timeline.as_ref();
    let past = timeline.and_then(|timeline| {
        let line = timeline.lines.iter().find(|line| line.id == timeline.shown.line)?;
        (line.first..=line.last).contains(&step).then_some(Moment { line: line.id, step })
    });
    match past {
        Some(moment) => vec![Command::Seek(moment)],
        None => vec![Command::Reset, Command::RunTo(step)],
    }
}

fn seed(ui: &mut Ui, snapshot: &Snapshot, local: &mut Local, actions: &mut Vec<Action>) {
    ui.label(RichText::new("seed").size(12.0).color(theme::weak()));
    let value = number_edit::whole(ui, &mut local.seed, 0.1, 0..=u64::MAX, |_| None);
    let response = number_edit::add_by(ui, |ui| field(ui, 52.0, value, "Seed"));
    let is_done = response.drag_stopped() || response.lost_focus();
    if is_done && local.seed != snapshot.seed {
        actions.push(Action::Session(Command::Seed(local.seed)));
    }
    response.on_hover_text("What random numbers begin with: another seed resets the scene");
}

fn looped(ui: &mut Ui, course: &Course, local: &mut Local, actions: &mut Vec<Action>) {
    let is_on = course.ends().is_some();
    let color = if is_on { theme::accent() } else { theme::text() };
    let button = Button::new(RichText::new("loop").color(color)).selected(is_on);
    let tip = "Play from the first step to the second, again and again. What you change in between counts from there";
    if ui.add(button).on_hover_text(tip).clicked() {
        actions.push(Action::Loop((!is_on).then_some(local.ends)));
    }
    let before = local.ends;
    for (at, name) in [(0, "First step of the loop"), (1, "Last step of the loop")] {
        let value = DragValue::new(&mut local.ends[at]).speed(1.0);
        field(ui, 50.0, value, name).on_hover_text(name);
    }
    local.ends[1] = local.ends[1].max(local.ends[0] + 1);
    if is_on && local.ends != before {
        actions.push(Action::Loop(Some(local.ends)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        session::{Line, Timeline},
        studio::test_screen::{TestScreen, snapshot},
    };

    fn shown(screen: &mut TestScreen, snapshot: &Snapshot, room: f32) -> Vec<Action> {
        shown_on(screen, snapshot, room, &Course::default())
    }

    fn shown_on(
        screen: &mut TestScreen,
        snapshot: &Snapshot,
        room: f32,
        course: &Course,
    ) -> Vec<Action> {
        let (mut actions, mut local) = (Vec::new(), Local::default());
        screen.frame(|ui| {
            ui.horizontal(|ui| actions = show(ui, snapshot, course, room, &mut local));
        });
        actions
    }

    #[test]
    fn what_does_not_fit_is_in_the_menu_and_nothing_moves() {
        let mut places = Vec::new();
        for room in [1200.0, 700.0, 500.0, 320.0] {
            let mut screen = TestScreen::default();
            let snapshot = snapshot();
            shown(&mut screen, &snapshot, room);
            let (bar, menu) = fitting(room);
            assert_eq!(bar.len() + menu.len(), Control::ALL.len());
            assert_eq!(screen.sees("loop"), bar.contains(&Control::Loop), "{room}");
            assert_eq!(screen.sees("\u{2022}\u{2022}\u{2022}"), !menu.is_empty());
            places.push(screen.place("steps/s"));
            let end = screen.right_end();
            assert!(end <= room + 16.0, "{room}: {end}");
        }
        places.dedup();
        assert_eq!(places.len(), 1);
        assert_eq!((fitting(1200.0).1, fitting(0.0).0), (&[][..], &[][..]));
    }

    #[test]
    fn nothing_moves_while_numbers_grow() {
        let (mut screen, mut snapshot) = (TestScreen::default(), snapshot());
        shown(&mut screen, &snapshot, 1200.0);
        let before = screen.place("loop");
        (snapshot.clock.step, snapshot.clock.time) = (123_456_789_012, 98_765_432.1);
        (snapshot.steps_left, snapshot.seed, snapshot.speed) = (4_000_000_000, u64::MAX, 0.1);
        shown(&mut screen, &snapshot, 1200.0);
        assert_eq!(screen.place("loop"), before, "{:?}", screen.written());
    }

    #[test]
    fn a_step_is_gone_to_by_the_way_that_leads_there() {
        let mut snapshot = snapshot();
        snapshot.clock.step = 50;
        assert_eq!(go_to(&snapshot, 80), [Command::RunTo(80)]);
        assert_eq!(go_to(&snapshot, 20), [Command::Reset, Command::RunTo(20)]);
        let line = Line { id: 7, first: 10, last: 50, ..Line::default() };
        let shown = Moment { line: 7, step: 50 };
        snapshot.timeline = Some(Timeline { lines: vec![line], shown, ..Timeline::default() });
        assert_eq!(go_to(&snapshot, 20), [Command::Seek(Moment { line: 7, step: 20 })]);
        assert_eq!(go_to(&snapshot, 5), [Command::Reset, Command::RunTo(5)]);
    }

    #[test]
    fn what_a_fault_has_stopped_does_not_go() {
        let (mut screen, mut snapshot) = (TestScreen::default(), snapshot());
        (snapshot.clock.playing, snapshot.clock.steps_per_second) = (true, 9.6);
        shown(&mut screen, &snapshot, 1200.0);
        assert!(screen.sees("9.6") && screen.control("Pause (Space)").is_some());
        snapshot.fault = Some(crate::diagnostic::Diagnostic::error("a.cu", "out of bounds"));
        shown(&mut screen, &snapshot, 1200.0);
        assert!(!screen.sees("9.6") && screen.sees("stopped"), "{:?}", screen.written());
        assert!(screen.control("Pause (Space)").is_none());
    }

    #[test]
    fn a_run_that_is_repeated_goes() {
        let (mut screen, snapshot) = (TestScreen::default(), snapshot());
        let mut course = Course::default();
        course.note_repeated(Some([475, 1114]));
        shown_on(&mut screen, &snapshot, 1200.0, &course);
        assert!(screen.sees("repeats") && !screen.sees("paused"), "{:?}", screen.written());
        assert!(screen.control("Repeat the run no further (Space)").is_some());
        assert_eq!(play_or_pause(&snapshot, &course), Command::Pause);
    }

    #[test]
    fn steps_are_asked_for_by_a_click() {
        let (mut screen, snapshot) = (TestScreen::default(), snapshot());
        shown(&mut screen, &snapshot, 1200.0);
        screen.click("steps");
        assert_eq!(shown(&mut screen, &snapshot, 1200.0), [Action::Session(Command::Steps(10))]);
        screen.click("loop");
        assert_eq!(shown(&mut screen, &snapshot, 1200.0), [Action::Loop(Some([0, 100]))]);
    }
}

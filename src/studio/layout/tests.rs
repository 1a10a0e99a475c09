//! The whole window without a window.
//!
//! Enters: made-up values, keys and clicks. Leaves: what is written and where, and what somebody wants. Must not know:
//! `device`, `gl`, `interop`, `draw`, `compile`.

mod coloring;
mod following;
mod measuring;
mod view_tools;

use std::collections::BTreeMap;

use egui::{Key, Modifiers, Vec2, vec2};

use super::{Locals, Places, Shown, show};
use crate::{
    session::{Clock, Command, Control, Parameter, PassTiming, Snapshot, Value, ViewState},
    studio::{
        action::Action,
        console::Console,
        course::Course,
        document::Document,
        gallery::Gallery,
        keeper::no_wake,
        keymap::Keymap,
        look::Look,
        panels::FrameTimes,
        panes::{Edge, Pane, Slot},
        runners::{Runner, Runners},
        seen::Seen,
        state::State,
        tables::Tables,
        test_screen::{TestScreen, snapshot},
        trace::Trace,
        trends::Trends,
        typing::Typing,
        workspace::Workspace,
    },
};

struct Window {
    screen: TestScreen,
    workspace: Workspace,
    state: State,
    locals: Locals,
    snapshot: Snapshot,
    course: Course,
    /// What each pane shows of a view.
    seen: Seen,
}

const FIRST: Slot = Slot(0);
const SECOND: Slot = Slot(1);

impl Window {
    fn of(size: Vec2) -> Self {
        let document = Document::new("a.cu", Some("a.cu".into()), "/*---\n---*/\nint a;\n");
        let mut snapshot = snapshot();
        let view = |name: &str| ViewState {
            name: name.into(),
            kind: "points",
            takes_mouse: false,
            legend: None,
        };
        snapshot.views = vec![view("above"), view("beside")];
        snapshot.clock = Clock { step: 7, dt: 0.1, ..Clock::default() };
        snapshot.passes = vec![PassTiming {
            name: "advect".into(),
            last_ms: 1.0,
            history_ms: vec![1.0],
            bytes: None,
            flops: None,
        }];
        let mut workspace = Workspace::new(document, None, no_wake());
        // It says that nothing is kept.
        workspace.dismiss(0);
        Self {
            screen: TestScreen::sized(size),
            workspace,
            state: State::default(),
            locals: Locals::default(),
            snapshot,
            course: Course::default(),
            seen: Seen::default(),
        }
    }

    /// A few frames; gives what came of them, and where views are.
    fn frames(&mut self) -> (Vec<Action>, Places) {
        let (mut all, mut places) = (Vec::new(), Places::new());
        for _ in 0..4 {
            let (actions, at) = self.frame();
            all.extend(actions);
            places = at;
        }
        (all, places)
    }

    /// One frame.
    fn frame(&mut self) -> (Vec<Action>, Places) {
        let (frames, console, gallery) =
            (FrameTimes::default(), Console::default(), Gallery::default());
        let (tables, trends, trace) = (Tables::default(), Trends::default(), Trace::default());
        let (runners, runner) = (Runners::default(), Runner::test());
        let (mut all, mut places) = (Vec::new(), Places::new());
        let shown = Shown {
            snapshot: &self.snapshot,
            frames: &frames,
            runners: &runners,
            runner: &runner,
            trace: &trace,
            course: &self.course,
            sights: BTreeMap::from([FIRST, SECOND].map(|slot| (slot, self.seen.clone()))),
            tables: &tables,
            trends: &trends,
            console: &console,
            gallery: &gallery,
            built_ins: &["particles"],
        };
        let Self { screen, workspace, state, locals, .. } = self;
        screen.frame(|ui| {
            let (actions, at) = show(ui, &shown, workspace, state, locals);
            all.extend(actions);
            places = at;
        });
        (all, places)
    }
}

fn window() -> Window {
    Window::of(vec2(1400.0, 900.0))
}

#[test]
fn panes_are_hidden_and_shown_by_their_menu_and_by_their_tabs() {
    let mut window = window();
    window.frames();
    assert!(window.screen.sees("Parameters") && window.screen.sees("Statistics"));
    window.screen.click("Panes");
    window.frames();
    window.screen.click_last("Parameters");
    let (actions, _) = window.frames();
    assert_eq!(actions, [Action::HidePane(Pane::Parameters)]);
    window.state.panes.hide(Pane::Parameters);
    window.frames();
    window.screen.click("Timings");
    window.frames();
    window.frames();
    assert!(window.state.panes.shows(Pane::Timings), "a click on its tab brings it forward");
    assert!(window.screen.sees("advect"));
}

#[test]
fn a_tab_is_dragged_to_another_place() {
    let mut window = window();
    window.frames();
    let (from, view) = (window.screen.place("Statistics").center(), window.frames().1[0].1);
    let to = egui::pos2(view.right() - 30.0, view.center().y);
    for at in [from, from + vec2(10.0, -10.0), from.lerp(to, 0.5), to, to] {
        window.screen.drag(at);
        window.frames();
    }
    window.screen.release(to);
    window.frames();
    window.frames();
    assert_ne!(window.state.panes, State::default().panes);
    assert!(window.state.panes.shows(Pane::Statistics) && window.state.panes.shows(Pane::Numbers));
    assert_eq!(window.state.panes.panes().len(), State::default().panes.panes().len());
    let place = window.screen.place("Statistics");
    assert!(place.center().y < from.y - 100.0, "it went up: {place:?}");
}

#[test]
fn two_views_lie_side_by_side_and_each_has_its_own_place() {
    let mut window = window();
    let (_, alone) = window.frames();
    assert_eq!(alone.len(), 1);
    window.state.panes.show(Pane::View(SECOND));
    let (_, both) = window.frames();
    let [(first, left), (second, right)] = both[..] else { panic!("{both:?}") };
    assert_eq!((first, second), (FIRST, SECOND));
    assert!(left.right() <= right.left() && (left.width() - right.width()).abs() < 2.0);
    // Seams take a few points.
    let alone = alone[0].1.expand(4.0);
    assert!(alone.contains_rect(left) && alone.contains_rect(right), "{alone:?} {both:?}");
    // What is done over one is for that one.
    window.screen.scroll(right.center(), 100.0);
    let (actions, _) = window.frames();
    let zooms = actions.iter().filter_map(|action| match action {
        Action::Look(slot, Look::Zoom { .. }) => Some(*slot),
        _ => None,
    });
    let zooms: Vec<_> = zooms.collect();
    assert!(!zooms.is_empty() && zooms.iter().all(|slot| *slot == Some(SECOND)), "{zooms:?}");
}

#[test]
fn one_view_fills_the_window_and_gives_it_back() {
    let mut window = window();
    window.frames();
    window.screen.press(Key::F11);
    assert!(window.frames().0.contains(&Action::FullWindow));
    window.locals.full = Some(FIRST);
    let (_, places) = window.frames();
    assert_eq!(places, [(FIRST, egui::Rect::from_min_size(egui::Pos2::ZERO, vec2(1400.0, 900.0)))]);
    assert!(!window.screen.sees("Parameters") && !window.screen.sees("frames/s"));
    window.screen.press(Key::Escape);
    assert!(window.frames().0.contains(&Action::FullWindow));
    // A view that is gone gives it back by itself.
    window.state.panes.show(Pane::View(SECOND));
    window.state.panes.hide(Pane::View(FIRST));
    window.frames();
    assert!(window.locals.full.is_none() && window.screen.sees("Parameters"));
}

#[test]
fn every_arrangement_is_shown() {
    let mut window = window();
    for pane in Pane::PANELS {
        for edge in [Edge::Left, Edge::Right, Edge::Top, Edge::Bottom] {
            window.state.panes.put_at(pane, edge);
            let before = window.state.panes.panes();
            window.frames();
            assert_eq!(window.state.panes.panes(), before, "what nobody drags stays");
        }
    }
    for pane in Pane::PANELS {
        window.state.panes.hide(pane);
        window.frames();
    }
    window.state.panes.put_at(Pane::Console, Edge::Top);
    window.state.panes.hide(Pane::View(FIRST));
    let (_, places) = window.frames();
    assert_eq!(places, []);
}

#[test]
fn a_narrow_window_still_has_all() {
    for size in [vec2(640.0, 400.0), vec2(900.0, 600.0), vec2(2560.0, 1440.0)] {
        let mut window = Window::of(size);
        let (_, places) = window.frames();
        assert!(places[0].1.width() > 100.0 && places[0].1.height() > 100.0, "{size:?} {places:?}");
        for told in ["step", "steps/s", "frames/s", "Panes"] {
            assert!(
                window.screen.sees(told),
                "{size:?}: no {told} in {:?}",
                window.screen.written()
            );
        }
        assert!(window.screen.right_end() <= size.x + 1.0, "{size:?}");
    }
}

#[test]
fn what_there_is_to_tell_is_told_once() {
    let mut window = window();
    window.workspace.tell(crate::diagnostic::Severity::Note, "Something was written.");
    window.state.panes.show(Pane::View(SECOND));
    window.frames();
    let written = window.screen.written();
    assert_eq!(written.iter().filter(|text| text.contains("Something was written.")).count(), 1);
}

#[test]
fn all_that_can_be_used_has_a_name() {
    let mut unnamed = Vec::new();
    for pane in Pane::PANELS {
        let mut window = window();
        window.state.panes.show(pane);
        window.state.panes.show(Pane::View(SECOND));
        window.frames();
        unnamed.extend(window.screen.unnamed().into_iter().map(|of| format!("{pane}: {of}")));
    }
    assert!(unnamed.is_empty(), "{unnamed:#?}");
    let mut window = window();
    window.screen.press_with(Key::F, Modifiers::COMMAND);
    window.frames();
    assert_eq!(window.screen.unnamed(), [""; 0]);
}

#[test]
fn keys_for_the_whole_window_are_done_without_the_editor() {
    let control = Modifiers { ctrl: true, ..Modifiers::COMMAND };
    let mut window = window();
    window.frames();
    window.state.panes = window.state.layouts.get("Looking").unwrap();
    window.frames();
    window.screen.press_with(Key::P, control | Modifiers::SHIFT);
    window.frames();
    assert!(window.screen.sees("What do you want to do?"), "{:?}", window.screen.written());
    window.screen.press(Key::Escape);
    window.frames();
    window.screen.press_with(Key::S, control);
    assert_eq!(window.frames().0, [Action::Save]);
    // What is about the text brings it in sight.
    window.screen.press_with(Key::F, control);
    assert_eq!(window.frames().0, [Action::ShowPane(Pane::Editor)]);
}

#[test]
fn layouts_are_in_the_list_of_commands() {
    let mut window = window();
    window.frames();
    let control = Modifiers { ctrl: true, ..Modifiers::COMMAND };
    window.screen.press_with(Key::P, control | Modifiers::SHIFT);
    window.frames();
    window.screen.types("layout looking");
    window.frames();
    window.screen.press(Key::Enter);
    assert_eq!(window.frames().0, [Action::ChooseLayout("Looking".into())]);
    // The next list is as long as any, although that one had a single row.
    window.screen.press_with(Key::P, control | Modifiers::SHIFT);
    window.frames();
    assert!(window.screen.sees("View in the whole window"), "{:?}", window.screen.written());
}

#[test]
fn the_signs_in_the_corner_of_a_lone_view_stay_under_the_pointer_and_work() {
    let mut window = window();
    window.snapshot.views.truncate(1);
    let (_, places) = window.frames();
    window.screen.hover(places[0].1.center());
    window.frames();
    let name = "In the whole window (F11)";
    let sign = window.screen.control(name).expect("it comes with the pointer");
    for _ in 0..3 {
        window.screen.hover(sign.center());
        window.frames();
        assert_eq!(window.screen.control(name), Some(sign), "it stays");
    }
    window.screen.drag(sign.center());
    window.frames();
    window.screen.release(sign.center());
    assert!(window.frames().0.contains(&Action::FullWindow), "a click on it");
    // It goes with the pointer.
    window.screen.hover(places[0].1.left_bottom() + vec2(-40.0, 40.0));
    window.frames();
    assert_eq!(window.screen.control(name), None);
}

#[test]
fn what_the_checker_finds_is_told_with_its_line() {
    let mut window = window();
    let found = "kernel `wave`: thread (3, 0, 0) divides an integer by zero (49152 times)";
    window.snapshot.findings = vec![crate::diagnostic::Diagnostic::error("a.cu", found).at(3, 5)];
    window.frames();
    // In the line of problems, and behind its line of the text.
    let told = window.screen.written().iter().filter(|text| text.contains(found)).count();
    assert_eq!(told, 2, "{:?}", window.screen.written());
    window.screen.click(&format!("3:5  {found}"));
    assert_eq!(window.frames().0, [Action::Reveal(3, Some(5))]);
    let mut console = Console::default();
    for _ in 0..2 {
        console.observe(&window.snapshot, "a.cu", &[]);
    }
    window.snapshot.findings[0].text = found.replace("49152", "98304");
    console.observe(&window.snapshot, "a.cu", &[]);
    let lines: Vec<_> = console.lines().map(|line| (line.text.as_str(), line.place)).collect();
    assert_eq!(lines, [(format!("a.cu:3: {found}").as_str(), Some((3, Some(5))))], "once");
}

#[test]
fn keys_are_for_a_view_that_is_there() {
    let mut window = window();
    // It was looked at before another layout was chosen.
    window.locals.active = Slot(1);
    window.frames();
    assert_eq!(window.locals.active, Slot(0));
}

#[test]
fn two_panes_of_one_view_are_told_apart() {
    let mut window = window();
    window.frames();
    assert!(!window.screen.sees("above 2"));
    window.state.panes.show(Pane::View(Slot(1)));
    window.frames();
    window.frames();
    assert!(window.screen.sees("above 2"));
}

#[test]
fn a_bound_key_is_shown_and_its_scene_has_it_the_next_time() {
    let mut window = window();
    let slider = |name: &str| {
        let control = Control::Slider { min: 0.0, max: 2.0, step: 0.0, log: false };
        let (value, default) = (Value::Float(0.5), Value::Float(0.5));
        let (name, label, unit) = (name.to_owned(), name.to_owned(), String::new());
        Parameter { name, label, unit, value, default, control }
    };
    window.snapshot.parameters = vec![slider("speed")];
    window.state.scene = Some("a.cu".into());
    window.frames();
    assert!(!window.screen.written().contains(&"K"));
    window.locals.parameters.keys.ask("speed");
    window.screen.press(Key::K);
    window.frames();
    window.frames();
    assert!(window.screen.written().contains(&"K"));
    // Another scene does not have it; the next start of this one does.
    window.state.scene = Some("b.cu".into());
    window.frames();
    window.frames();
    assert!(!window.screen.written().contains(&"K"));
    let text = serde_json::to_string(&window.state).unwrap();
    window.state = serde_json::from_str(&text).unwrap();
    window.locals = Locals::default();
    window.state.scene = Some("a.cu".into());
    window.frames();
    window.frames();
    assert!(window.screen.written().contains(&"K"));
}

#[test]
fn a_key_that_is_bound_changes_its_parameter() {
    let mut window = window();
    let (name, label, unit) = ("speed".to_owned(), "speed".to_owned(), String::new());
    let control = Control::Slider { min: 0.0, max: 2.0, step: 0.0, log: false };
    let (value, default) = (Value::Float(0.5), Value::Float(0.5));
    window.snapshot.parameters = vec![Parameter { name, label, unit, value, default, control }];
    window.frames();
    window.locals.parameters.keys.ask("speed");
    window.screen.press(Key::K);
    window.frames();
    for (modifiers, value) in [(Modifiers::NONE, 0.6), (Modifiers::SHIFT, 0.4)] {
        window.screen.press_with(Key::K, modifiers);
        let set = Command::SetParameter("speed".into(), Value::Float(value));
        assert_eq!(window.frames().0, [Action::Session(set)]);
    }
    // Where the text has the keyboard, it is a letter.
    window.screen.press(Key::F6);
    window.frames();
    window.screen.press(Key::K);
    assert_eq!(window.frames().0, []);
}

#[test]
fn a_run_that_is_repeated_is_told_and_ended() {
    let mut window = window();
    window.course.note_repeated(Some([475, 1114]));
    window.frames();
    let told = "A run is repeated: step 475 of 1\u{2009}114.";
    assert!(window.screen.sees(told), "{:?}", window.screen.written());
    window.screen.click("End it here");
    assert_eq!(window.frames().0, [Action::Session(Command::Pause)]);
    window.screen.press(Key::Space);
    assert_eq!(window.frames().0, [Action::Session(Command::Pause)]);
}

#[test]
fn a_key_of_the_users_own_takes_the_place_of_the_scenes() {
    let mut window = window();
    let bindable = window.locals.editor.bindable(&window.snapshot);
    let (keymap, _) = Keymap::read("\"Play or pause\" = \"Alt+P\"\n", &bindable);
    window.screen.frame(|ui| Typing::bind(ui.ctx(), keymap.clone()));
    window.frames();
    window.screen.press(Key::Space);
    assert_eq!(window.frames().0, [], "it is not the file's");
    window.screen.press_with(Key::P, Modifiers::ALT);
    assert_eq!(window.frames().0, [Action::Session(Command::Play)]);
    // The text may be hidden.
    window.state.panes.hide(Pane::Editor);
    window.screen.press_with(Key::P, Modifiers::ALT);
    assert_eq!(window.frames().0, [Action::Session(Command::Play)]);
}

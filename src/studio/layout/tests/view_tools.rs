//! The tools of a view: its menu, their keys, and what stands over the picture.

use std::time::Duration;

use super::*;
use crate::studio::{
    reel::{Format, Progress},
    viewpoints::{Side, Switch},
};

impl Window {
    /// Clicks on a control that is called so, for those who do not see it.
    pub(super) fn use_control(&mut self, name: &str) -> Vec<Action> {
        let told = self.screen.written().join(", ");
        let at = self.screen.control(name).unwrap_or_else(|| panic!("no {name:?} in {told}"));
        self.screen.drag(at.center());
        self.frames();
        self.screen.release(at.center());
        let (mut actions, _) = self.frames();
        // What is under the pointer once a menu has closed is no matter.
        actions.retain(|action| !matches!(action, Action::Look(_, Look::Pointer(_))));
        actions
    }

    /// Opens the menu of the first view.
    pub(super) fn open_tools(&mut self) {
        let (_, places) = self.frames();
        self.screen.hover(places[0].1.center());
        self.frames();
        self.use_control("Tools of this view");
    }
}

#[test]
fn a_picture_and_a_recording_are_asked_for_by_the_menu_of_the_view() {
    let mut window = window();
    window.open_tools();
    assert!(window.screen.sees("Picture to a file") && window.screen.sees("F12"));
    let actions = window.use_control("Picture to a file");
    assert_eq!(actions, [Action::Screenshot(Some(FIRST))]);
    window.open_tools();
    window.use_control("Record as");
    let actions = window.use_control("PNG pictures");
    assert_eq!(actions, [Action::Record(Some(FIRST), Some(Format::Pictures))]);
}

#[test]
fn pictures_and_recordings_have_keys_which_work_while_one_types() {
    let mut window = window();
    window.frames();
    window.screen.press(Key::F6);
    window.frames();
    window.screen.press(Key::F12);
    assert_eq!(window.frames().0, [Action::Screenshot(None)]);
    window.screen.press_with(Key::F12, Modifiers::SHIFT);
    assert_eq!(window.frames().0, [Action::Record(None, None)]);
}

#[test]
fn a_recording_says_how_long_it_is_and_is_ended_over_the_view() {
    let mut window = window();
    window.frames();
    assert_eq!(window.screen.control("End the recording"), None);
    window.seen.recording = Some(Progress { elapsed: Duration::from_secs(75), pictures: 2250 });
    window.frames();
    assert!(window.screen.sees("1:15"), "{:?}", window.screen.written());
    assert_eq!(window.screen.unnamed(), [""; 0]);
    let actions = window.use_control("End the recording");
    assert_eq!(actions, [Action::Record(Some(FIRST), None)]);
}

#[test]
fn what_has_depth_is_seen_from_its_sides_and_without_perspective() {
    let mut window = window();
    for (name, look) in [
        ("Orthographic", Look::Switch(Switch::Orthographic)),
        ("Axes", Look::Switch(Switch::Axes)),
        ("Grid with numbers", Look::Switch(Switch::Grid)),
    ] {
        window.open_tools();
        assert_eq!(window.use_control(name), [Action::Look(Some(FIRST), look)], "{name}");
    }
    window.open_tools();
    assert_eq!(
        window.use_control("Write the camera into the file"),
        [Action::WriteCamera(Some(FIRST))]
    );
    window.open_tools();
    window.use_control("See from");
    let top = Action::Look(Some(FIRST), Look::From(Side::Top));
    assert_eq!(window.use_control("Top"), [top]);
    // An image has no sides.
    window.snapshot.views[0].kind = "image";
    window.open_tools();
    assert_eq!(window.screen.control("See from"), None);
    let rulers = Action::Look(Some(FIRST), Look::Switch(Switch::Grid));
    assert_eq!(window.use_control("Rulers"), [rulers]);
}

#[test]
fn keys_turn_the_camera_and_show_what_stands_around_it() {
    let mut window = window();
    window.frames();
    for (key, look) in [
        (Key::Num1, Look::From(Side::Front)),
        (Key::Num3, Look::From(Side::Right)),
        (Key::Num7, Look::From(Side::Top)),
        (Key::Num9, Look::FromBehind),
        (Key::Num5, Look::Switch(Switch::Orthographic)),
        (Key::A, Look::Switch(Switch::Axes)),
        (Key::G, Look::Switch(Switch::Grid)),
        (Key::E, Look::PickHere),
        (Key::L, Look::Switch(Switch::Colors)),
        (Key::M, Look::Measure),
    ] {
        window.screen.press_with(key, Modifiers::ALT);
        assert_eq!(window.frames().0, [Action::Look(None, look)], "{key:?}");
    }
}

#[test]
fn a_click_on_an_axis_looks_from_its_end() {
    let mut window = window();
    window.frames();
    let left = "See it from this side: left";
    assert_eq!(window.screen.control(left), None, "nobody wants them");
    window.seen.viewpoint.shows.axes = true;
    window.frames();
    assert_eq!(window.screen.unnamed(), [""; 0]);
    let actions = window.use_control(left);
    assert_eq!(actions, [Action::Look(Some(FIRST), Look::From(Side::Left))]);
    // They turn with the camera: from the right x points to the eye, and z to the left.
    window.seen.viewpoint.see_from(Side::Right);
    window.frames();
    let place = |window: &Window, side: &str| {
        window.screen.control(&format!("See it from this side: {side}")).unwrap().center()
    };
    assert!(place(&window, "front").x < place(&window, "back").x - 20.0);
    assert!(place(&window, "top").y < place(&window, "bottom").y - 20.0);
    window.snapshot.views[0].kind = "image";
    window.frames();
    assert_eq!(window.screen.control(left), None, "an image has none");
}

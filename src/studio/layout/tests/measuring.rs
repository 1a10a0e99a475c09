//! Distances that are measured in a view, and its picture on the clipboard.

use super::*;
use crate::studio::seen::Measured;

#[test]
fn the_menu_begins_to_measure_and_escape_ends_it() {
    let mut window = window();
    window.open_tools();
    let measure = Action::Look(Some(FIRST), Look::Measure);
    assert_eq!(window.use_control("Measure a distance"), [measure]);
    let mut window = self::window();
    window.seen.measured = Some(Measured { ends: Vec::new(), told: String::new() });
    window.frames();
    window.screen.press(Key::Escape);
    assert!(window.frames().0.contains(&Action::Look(None, Look::StopMeasuring)));
}

#[test]
fn clicks_are_ends_even_where_kernels_take_the_pointer() {
    let mut window = window();
    window.snapshot.views[0] =
        ViewState { kind: "image", takes_mouse: true, ..window.snapshot.views[0].clone() };
    window.seen.measured = Some(Measured { ends: Vec::new(), told: String::new() });
    let (_, places) = window.frames();
    let at = places[0].1.center();
    window.screen.drag(at);
    let (mut actions, _) = window.frames();
    window.screen.release(at);
    actions.extend(window.frames().0);
    let is_pick = |of: &Action| matches!(of, Action::Look(Some(FIRST), Look::Pick(_)));
    assert!(actions.iter().any(is_pick), "{actions:?}");
    let is_pressed = |of: &Action| match of {
        Action::Look(_, Look::Pointer(pointer)) => pointer.buttons > 0,
        _ => false,
    };
    assert!(!actions.iter().any(is_pressed), "kernels are told of it: {actions:?}");
}

#[test]
fn a_distance_has_its_number_beside_the_line_and_within_the_view() {
    let mut window = window();
    let ends = vec![Some([0.4, 0.5]), Some([0.6, 0.5])];
    let told = "1.250 (1.250, 0, 0)".to_owned();
    window.seen.measured = Some(Measured { ends: ends.clone(), told: told.clone() });
    let (_, places) = window.frames();
    let (view, number) = (places[0].1, window.screen.place(&told));
    assert!((number.center() - view.center()).length() < 30.0, "{number:?} in {view:?}");
    let at_the_edge = vec![Some([1.0, 1.0]), Some([0.99, 0.99])];
    window.seen.measured = Some(Measured { ends: at_the_edge, told: told.clone() });
    window.frames();
    assert!(view.contains_rect(window.screen.place(&told)));
    // One end has no number yet.
    window.seen.measured = Some(Measured { ends: ends[..1].to_vec(), told: String::new() });
    window.frames();
    assert!(!window.screen.sees("1.250"));
}

#[test]
fn a_picture_is_copied_by_the_menu_and_by_a_key() {
    let mut window = window();
    window.open_tools();
    assert_eq!(window.use_control("Copy the picture"), [Action::CopyPicture(Some(FIRST))]);
    window.screen.press_with(Key::F12, Modifiers::COMMAND);
    assert_eq!(window.frames().0, [Action::CopyPicture(None)]);
}

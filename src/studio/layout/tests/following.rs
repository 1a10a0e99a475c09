//! Elements that are picked in a view and followed.

use egui::{Pos2, Rect};

use super::*;
use crate::{
    session::Picked,
    studio::{followed::Followed, seen::Marked, table::tests::content},
};

impl Window {
    /// A click into the first view; gives what came of it but what kernels get of the pointer.
    fn click_at(&mut self, [x, y]: [f32; 2]) -> Vec<Action> {
        let (_, places) = self.frames();
        let at = in_view(places[0].1, [x, y]);
        self.screen.drag(at);
        let (mut actions, _) = self.frames();
        self.screen.release(at);
        actions.extend(self.frames().0);
        without_pointer(actions)
    }

    /// Follows an element that is drawn there, with numbers of two steps.
    fn follow(&mut self, at: Option<[f32; 2]>) {
        let picked = Picked { resource: "a".into(), index: 29, size: [12, 4, 1] };
        let mut followed = Followed::new(picked, "above".into());
        followed.observe(6, &[content(&[[1.0, -4.0]])]);
        followed.observe(7, &[content(&[[0.25, f32::NAN]])]);
        self.seen.marked = Some(Marked { followed, at });
    }
}

fn in_view(view: Rect, [x, y]: [f32; 2]) -> Pos2 {
    egui::pos2(view.left() + x * view.width(), view.bottom() - y * view.height())
}

fn without_pointer(mut actions: Vec<Action>) -> Vec<Action> {
    actions.retain(|action| !matches!(action, Action::Look(_, Look::Pointer(_))));
    actions
}

#[track_caller]
fn expect_pick(actions: &[Action], [x, y]: [f32; 2]) {
    let [Action::Look(Some(FIRST), Look::Pick(at))] = actions else { panic!("{actions:?}") };
    // A point is not narrower than a pixel.
    assert!((at[0] - x).abs() < 0.01 && (at[1] - y).abs() < 0.01, "{at:?}");
}

#[test]
fn a_click_picks_and_a_drag_does_not() {
    let mut window = window();
    expect_pick(&window.click_at([0.25, 0.75]), [0.25, 0.75]);
    let (_, places) = window.frames();
    let [from, to] = [[0.4, 0.4], [0.5, 0.4]].map(|at| in_view(places[0].1, at));
    for at in [from, from.lerp(to, 0.5), to] {
        window.screen.drag(at);
        window.frames();
    }
    window.screen.release(to);
    let actions = without_pointer(window.frames().0);
    assert!(actions.iter().all(|of| !matches!(of, Action::Look(_, Look::Pick(_)))), "{actions:?}");
}

#[test]
fn a_double_click_shows_all_and_takes_back_what_its_first_click_picked() {
    let mut window = window();
    let at = in_view(window.frames().1[0].1, [0.25, 0.75]);
    let mut click = || {
        window.screen.drag(at);
        window.screen.release(at);
        without_pointer(window.frame().0)
    };
    expect_pick(&click(), [0.25, 0.75]);
    let looks = [Look::Reset, Look::Unfollow].map(|look| Action::Look(Some(FIRST), look));
    assert_eq!(click(), looks);
}

#[test]
fn where_kernels_take_the_pointer_a_click_is_theirs() {
    let mut window = window();
    window.snapshot.views[0] =
        ViewState { kind: "image", takes_mouse: true, ..window.snapshot.views[0].clone() };
    assert_eq!(window.click_at([0.25, 0.75]), []);
    window.screen.hold(Modifiers::SHIFT);
    expect_pick(&window.click_at([0.25, 0.75]), [0.25, 0.75]);
}

#[test]
fn a_card_beside_the_element_has_its_numbers_and_the_way_to_the_table() {
    let mut window = window();
    window.follow(Some([0.5, 0.5]));
    window.frames();
    for text in ["a.x", "0.25", "a.y", "NaN", "[5, 2]", "after step 7"] {
        assert!(window.screen.sees(text), "no {text} in {:?}", window.screen.written());
    }
    assert_eq!(window.screen.unnamed(), [""; 0]);
    let (_, places) = window.frames();
    let element = in_view(places[0].1, [0.5, 0.5]);
    let card = window.screen.place("a.x");
    assert!((card.left() - element.x).abs() < 60.0 && (card.top() - element.y).abs() < 90.0);
    let actions = window.use_control("Show in the table");
    assert_eq!(actions, [Action::ShowElement("a".into(), 29)]);
    let actions = window.use_control("Follow it no more (Esc)");
    assert_eq!(actions, [Action::Look(Some(FIRST), Look::Unfollow)]);
}

#[test]
fn the_card_goes_with_the_element_but_not_from_under_the_pointer() {
    let mut window = window();
    window.follow(Some([0.3, 0.5]));
    window.frames();
    let before = window.screen.place("a.x");
    window.follow(Some([0.4, 0.3]));
    window.frames();
    let after = window.screen.place("a.x");
    assert!(after.left() > before.left() + 20.0 && after.top() > before.top() + 20.0);
    window.screen.hover(after.center());
    window.frames();
    window.follow(Some([0.3, 0.5]));
    window.frames();
    assert_eq!(window.screen.place("a.x"), after);
    // An element that is not seen leaves its card where it is.
    window.follow(None);
    window.frames();
    assert_eq!(window.screen.place("a.x"), after);
}

#[test]
fn another_element_is_typed_and_escape_ends_it() {
    let mut window = window();
    window.follow(Some([0.5, 0.5]));
    window.frames();
    window.use_control("Element");
    window.screen.press_with(Key::A, Modifiers::COMMAND);
    window.screen.types("31");
    window.screen.press(Key::Enter);
    let (actions, _) = window.frames();
    assert!(actions.contains(&Action::Look(Some(FIRST), Look::Follow(31))), "{actions:?}");
    window.frames();
    window.locals.full = Some(FIRST);
    window.screen.press(Key::Escape);
    let unfollow = Action::Look(None, Look::Unfollow);
    assert_eq!(without_pointer(window.frames().0), [unfollow], "the whole window stays");
}

#[test]
fn the_menu_and_the_list_of_commands_follow_what_is_in_the_middle() {
    let mut window = window();
    window.open_tools();
    let pick = Action::Look(Some(FIRST), Look::Pick([0.5; 2]));
    assert_eq!(window.use_control("Follow the element in the middle"), [pick]);
    window.follow(None);
    window.open_tools();
    let unfollow = Action::Look(Some(FIRST), Look::Unfollow);
    assert_eq!(window.use_control("Follow no element any more"), [unfollow]);
}

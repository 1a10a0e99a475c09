//! Colours of a view that are chosen by hand.

use egui::pos2;

use super::*;
use crate::{
    session::{Colormap, Legend, Recoloring, Spread},
    studio::viewpoints::Switch,
};

impl Window {
    /// One whose first view colours values from 0 to 10, and shows what the colours are chosen with.
    fn coloring() -> Self {
        let mut window = window();
        window.seen.legend = Some(Legend {
            title: "speed".into(),
            unit: String::new(),
            range: [0.0, 10.0],
            colormap: Colormap::Inferno,
            reversed: false,
            logarithmic: false,
        });
        let bars = (0..64).collect();
        window.seen.spread = Some(Spread { range: [0.0, 10.0], bars, logarithmic: false });
        window.seen.viewpoint.shows.colors = true;
        window.frames();
        window
    }

    fn choice(&mut self, name: &str) -> Vec<Action> {
        let actions = self.use_control(name);
        self.frames();
        actions
    }
}

fn color(chosen: Recoloring) -> Action {
    Action::Look(Some(FIRST), Look::Color(chosen))
}

#[test]
fn the_legend_and_the_menu_open_what_colours_are_chosen_with() {
    let mut window = Window::coloring();
    window.seen.viewpoint.shows.colors = false;
    window.frames();
    assert!(window.screen.control("viridis").is_none());
    let switch = [Action::Look(Some(FIRST), Look::Switch(Switch::Colors))];
    assert_eq!(window.choice("Choose the colours (Alt+L)"), switch);
    window.open_tools();
    assert_eq!(window.choice("Colours by hand"), switch);
}

#[test]
fn a_map_is_chosen_reversed_and_made_logarithmic() {
    let mut window = Window::coloring();
    assert_eq!(window.screen.unnamed(), [""; 0]);
    let nothing = Recoloring::default();
    let viridis = Recoloring { colormap: Some(Colormap::Viridis), ..nothing };
    assert_eq!(window.choice("viridis"), [color(viridis)]);
    assert_eq!(window.choice("Reversed"), [color(Recoloring { reversed: Some(true), ..nothing })]);
    let logarithmic = Recoloring { logarithmic: Some(true), ..nothing };
    assert_eq!(window.choice("Logarithmic"), [color(logarithmic)]);
    // There are no logarithms of what is not above 0.
    window.seen.legend.iter_mut().for_each(|of| of.range = [-3.0, 0.0]);
    window.frames();
    assert_eq!(window.choice("Logarithmic"), []);
}

#[test]
fn the_ends_are_dragged_over_the_values() {
    let mut window = Window::coloring();
    let bars = window.screen.control("How the values are spread").expect("the bars are there");
    // The lower end is grabbed near its line, and goes with the pointer.
    let at = |part: f32| pos2(bars.left() + 4.0 + part * (bars.width() - 8.0), bars.center().y);
    window.screen.drag(at(0.05));
    window.frames();
    let mut actions = Vec::new();
    for part in [0.15, 0.3] {
        window.screen.drag(at(part));
        actions = window.frames().0;
    }
    window.screen.release(at(0.3));
    window.frames();
    let dragged = actions.iter().rev().find_map(|action| match action {
        Action::Look(Some(FIRST), Look::Color(Recoloring { range, .. })) => *range,
        _ => None,
    });
    let [low, high] = dragged.expect("the lower end is dragged");
    assert!((low - 3.0).abs() < 0.02 && high == 10.0, "{low} to {high}");
    // Typed numbers are the other way.
    window.use_control("Highest value");
    window.screen.press_with(Key::A, Modifiers::COMMAND);
    window.screen.types("7.5");
    window.screen.press(Key::Enter);
    let typed = color(Recoloring { range: Some([0.0, 7.5]), ..Recoloring::default() });
    assert!(window.frames().0.contains(&typed));
}

#[test]
fn what_is_chosen_is_written_into_the_file_or_left_to_it() {
    let mut window = Window::coloring();
    assert_eq!(window.choice("Write into the file"), [], "nothing is chosen");
    window.seen.viewpoint.coloring.range = Some([1.0, 2.0]);
    window.frames();
    assert_eq!(window.choice("Write into the file"), [Action::WriteColors(Some(FIRST))]);
    assert_eq!(window.choice("As in the file"), [color(Recoloring::default())]);
    // A double click on the bars leaves the range to the scene.
    let bars = window.screen.control("How the values are spread").unwrap().center();
    let mut actions = Vec::new();
    for _ in 0..2 {
        window.screen.drag(bars);
        window.screen.release(bars);
        actions.extend(window.frame().0);
    }
    actions.extend(window.frames().0);
    assert!(actions.contains(&color(Recoloring::default())), "{actions:?}");
}

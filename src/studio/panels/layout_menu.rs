//! The part of the menu of panes that has their layouts.

use egui::{Align, Layout, RichText, Ui};

use super::named;
use crate::studio::{
    action::Action,
    icons::{self, Icon},
    panes::{Arrangement, Layouts, brought},
    theme,
};

/// The layouts, each a line; those that the user has saved can be deleted.
pub fn show(ui: &mut Ui, panes: &Arrangement, layouts: &Layouts) -> Option<Action> {
    let mut action = None;
    ui.label(RichText::new("Layouts").small().color(theme::weak()));
    let own: Vec<&str> = layouts.names().collect();
    for (name, _) in brought().iter().filter(|(name, _)| !own.contains(name)) {
        choose(ui, name, panes, layouts, &mut action);
    }
    for name in own {
        ui.horizontal(|ui| {
            choose(ui, name, panes, layouts, &mut action);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let tip = format!("Delete the layout {name}");
                let button = icons::small_button(ui, Icon::Close, &tip);
                named(&button, &tip);
                if button.clicked() {
                    action = Some(Action::DeleteLayout(name.to_owned()));
                }
            });
        });
    }
    if ui.button("Save these panes \u{2026}").on_hover_text("By a name, as they lie now").clicked()
    {
        action = Some(Action::NameLayout);
        ui.close();
    }
    action
}

fn choose(
    ui: &mut Ui,
    name: &str,
    panes: &Arrangement,
    layouts: &Layouts,
    action: &mut Option<Action>,
) {
    let is_present = layouts.get(name).as_ref() == Some(panes);
    if ui.selectable_label(is_present, name).clicked() {
        *action = Some(Action::ChooseLayout(name.to_owned()));
        ui.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::{panes::Pane, test_screen::TestScreen};

    #[test]
    fn layouts_are_chosen_and_those_of_the_user_deleted() {
        let (mut screen, mut layouts) = (TestScreen::default(), Layouts::default());
        layouts.save("Mine", Arrangement::Pane(Pane::Editor)).unwrap();
        let shown = |screen: &mut TestScreen| {
            let (mut action, panes) = (None, Arrangement::default());
            for _ in 0..2 {
                screen.frame(|ui| action = show(ui, &panes, &layouts).or(action.take()));
            }
            action
        };
        shown(&mut screen);
        for name in ["Mine", "Looking"] {
            screen.click(name);
            assert_eq!(shown(&mut screen), Some(Action::ChooseLayout(name.into())));
        }
        screen.click("Save these panes \u{2026}");
        assert_eq!(shown(&mut screen), Some(Action::NameLayout));
        let mine = screen.place("Mine");
        let cross = egui::pos2(1390.0, mine.center().y);
        screen.drag(cross);
        assert_eq!(shown(&mut screen), None);
        screen.release(cross);
        assert_eq!(shown(&mut screen), Some(Action::DeleteLayout("Mine".into())));
    }
}

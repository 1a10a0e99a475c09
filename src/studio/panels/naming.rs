//! The question for the name of a layout that is to be saved.

use egui::{
    Align, Button, Color32, Context, Frame, Id, Key, Layout, Margin, Modal, RichText, TextEdit, Ui,
};

use crate::studio::{action::Action, panes::Layouts, theme};

/// The question.
#[derive(Debug, Default)]
pub struct Naming {
    name: Option<String>,
    /// Frames until its field has the keyboard: egui measures a new one unseen, and takes the keyboard from it.
    fresh: u8,
}

fn field() -> Id {
    Id::unique("layout name")
}

impl Naming {
    /// Asks.
    pub fn open(&mut self) {
        *self = Self { name: Some(String::new()), fresh: 3 };
    }

    /// Whether it is asked.
    pub fn is_open(&self) -> bool {
        self.name.is_some()
    }

    /// The question, where it is asked, and what the answer leads to.
    pub fn show(&mut self, context: &Context, layouts: &Layouts) -> Option<Action> {
        let mut name = self.name.take()?;
        let frame = Frame::popup(&context.global_style()).inner_margin(Margin::same(16));
        let modal = Modal::new(Id::unique("layout")).frame(frame);
        let modal = modal.backdrop_color(Color32::from_black_alpha(150));
        let shown = modal.show(context, |ui| ask(ui, &mut name, layouts));
        if self.fresh > 0 {
            self.fresh -= 1;
            context.request_repaint();
            context.memory_mut(|memory| memory.request_focus(field()));
        }
        let answer = shown.inner;
        if !shown.should_close() && answer == Answer::None {
            self.name = Some(name);
            return None;
        }
        (answer == Answer::Save).then(|| Action::SaveLayout(name.trim().to_owned()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    None,
    Save,
    Cancel,
}

fn ask(ui: &mut Ui, name: &mut String, layouts: &Layouts) -> Answer {
    ui.set_width(380.0);
    let title = "Save the panes as they lie now";
    ui.label(RichText::new(title).strong().size(16.0).color(theme::strong()));
    ui.add_space(4.0);
    let edit =
        TextEdit::singleline(name).id(field()).hint_text("Name").desired_width(f32::INFINITY);
    ui.add(edit);
    let enters = ui.input(|input| input.key_pressed(Key::Enter));
    ui.add_space(4.0);
    let problem = layouts.check(name).err();
    let is_there = layouts.names().any(|own| own == name.trim());
    let mut answer = Answer::None;
    ui.horizontal(|ui| {
        let told = match &problem {
            Some(problem) if !name.is_empty() => problem.clone(),
            _ if is_there => format!("{} is there already.", name.trim()),
            _ => String::new(),
        };
        ui.label(RichText::new(told).color(theme::warning()));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let text = if is_there { "Replace it" } else { "Save" };
            let saves = ui.add_enabled(problem.is_none(), Button::new(text)).clicked();
            if saves || enters && problem.is_none() && !is_there {
                answer = Answer::Save;
            }
            if ui.button("Cancel").clicked() {
                answer = Answer::Cancel;
            }
        });
    });
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::{panes::Arrangement, test_screen::TestScreen};

    fn frames(screen: &mut TestScreen, naming: &mut Naming, layouts: &Layouts) -> Option<Action> {
        let mut action = None;
        for _ in 0..4 {
            screen.frame(|ui| action = naming.show(ui.ctx(), layouts).or(action.take()));
        }
        action
    }

    #[test]
    fn a_layout_gets_a_name() {
        let (mut screen, mut naming) = (TestScreen::default(), Naming::default());
        let mut layouts = Layouts::default();
        layouts.save("Mine", Arrangement::default()).unwrap();
        naming.open();
        assert_eq!(frames(&mut screen, &mut naming, &layouts), None);
        screen.types("Mine");
        assert_eq!(frames(&mut screen, &mut naming, &layouts), None);
        assert!(screen.sees("Mine is there already."), "{:?}", screen.written());
        screen.click("Replace it");
        let saved = frames(&mut screen, &mut naming, &layouts);
        assert_eq!(saved, Some(Action::SaveLayout("Mine".into())));
        assert!(!naming.is_open());
        naming.open();
        frames(&mut screen, &mut naming, &layouts);
        screen.types("Other");
        screen.press(Key::Enter);
        let saved = frames(&mut screen, &mut naming, &layouts);
        assert_eq!(saved, Some(Action::SaveLayout("Other".into())));
    }

    #[test]
    fn nothing_is_saved_without_a_name() {
        let (mut screen, mut naming) = (TestScreen::default(), Naming::default());
        naming.open();
        frames(&mut screen, &mut naming, &Layouts::default());
        screen.press(Key::Enter);
        assert_eq!(frames(&mut screen, &mut naming, &Layouts::default()), None);
        assert!(naming.is_open());
        screen.click("Cancel");
        assert_eq!(frames(&mut screen, &mut naming, &Layouts::default()), None);
        assert!(!naming.is_open());
    }
}

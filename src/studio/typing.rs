//! Keys on their way to the editor.
//!
//! Where a frame takes long, many keys and clicks arrive in one: each has to meet the text, the carets and the focus
//! that those before it have left. egui gives all keys of a frame to the field that had the focus at its start, and
//! looks at Tab, Escape and the arrows even before. So the keys that are the editor's are taken out of egui's input
//! here, in order, and the editor does one after the other. What comes behind a key that may give the keyboard to
//! another field is held back until it has done so.

use std::{collections::VecDeque, sync::Arc};

use egui::{
    Context, Event, Id, ImeEvent, Modifiers, Order, Plugin, PointerButton, Pos2, RawInput, Rect,
};

use super::{
    keymap::{Keymap, Meaning},
    shortcuts::{Focus, Task},
    text::Command,
};

/// Catches keys; a plugin of egui's context.
#[derive(Debug, Default)]
pub struct Typing {
    editor: Option<Place>,
    strokes: VecDeque<Stroke>,
    /// Keys that wait until it is clear whose they are.
    held: Vec<Event>,
    /// The keys of the user's own.
    keymap: Arc<Keymap>,
}

/// Where the editor is.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its text.
    pub id: Id,
    /// Where a press is meant for it.
    pub rect: Rect,
    /// The fields that it opens.
    pub fields: Vec<Id>,
}

/// One key or click.
#[derive(Clone, Debug, PartialEq)]
pub enum Stroke {
    /// A button of the mouse is pressed on the text.
    Press {
        /// Where.
        place: Pos2,
        /// Which.
        button: PointerButton,
        /// With which keys held.
        modifiers: Modifiers,
    },
    /// What a key or a letter does.
    Task(Task),
    /// The command of this name in the list of commands, which a key of the user's own is bound to.
    Command(String),
    /// An input method composes letters.
    Ime(ImeEvent),
}

/// What the editor does in one frame.
#[derive(Debug, Default, PartialEq)]
pub struct Turn {
    /// In this order.
    pub strokes: Vec<Stroke>,
    /// More is waiting for the next frame.
    pub again: bool,
}

impl Plugin for Typing {
    fn debug_name(&self) -> &'static str {
        "typing"
    }

    fn input_hook(&mut self, context: &Context, input: &mut RawInput) {
        let Some(Place { id, rect, fields }) = &self.editor else { return };
        let focus = match context.memory(|memory| memory.focused()) {
            Some(focused) if focused == *id => Focus::Editor,
            Some(focused) if fields.contains(&focused) => Focus::Field,
            Some(_) | None => Focus::Other,
        };
        let rect = *rect;
        let on_editor = |place: Pos2| {
            let layer = context.layer_id_at(place);
            rect.contains(place) && layer.is_none_or(|layer| layer.order == Order::Background)
        };
        self.receive(&mut input.events, focus, on_editor);
    }
}

impl Typing {
    /// What the editor does in this frame; it is at `place`.
    pub fn turn(context: &Context, place: Place) -> Turn {
        let turn = context.with_plugin(|typing: &mut Self| {
            if typing.editor.as_ref().is_some_and(|other| other.id != place.id) {
                // They were typed into another document.
                typing.strokes.clear();
                typing.held.clear();
            }
            typing.editor = Some(place);
            typing.next()
        });
        turn.unwrap_or_default()
    }

    /// From now on these are the keys of the user's own.
    pub fn bind(context: &Context, keymap: Keymap) {
        context.with_plugin(|typing: &mut Self| typing.keymap = Arc::new(keymap));
    }

    /// They.
    pub fn keymap(context: &Context) -> Arc<Keymap> {
        context.with_plugin(|typing: &mut Self| typing.keymap.clone()).unwrap_or_default()
    }

    /// How many keys and clicks wait for the editor.
    pub fn waiting(context: &Context) -> usize {
        context
            .with_plugin(|typing: &mut Self| typing.strokes.len() + typing.held.len())
            .unwrap_or(0)
    }

    /// Takes the editor's strokes out of `events`; `focus` is who has the keyboard before them.
    fn receive(&mut self, events: &mut Vec<Event>, focus: Focus, on_editor: impl Fn(Pos2) -> bool) {
        let moves = |stroke: &Stroke| match stroke {
            Stroke::Task(task) => task.moves_keyboard(),
            Stroke::Command(_) => true,
            Stroke::Press { .. } | Stroke::Ime(_) => false,
        };
        let mut holds = self.strokes.iter().any(moves);
        let held = if holds { Vec::new() } else { std::mem::take(&mut self.held) };
        // A click that waits has given it the keyboard already.
        let pressed = self.strokes.iter().any(|stroke| matches!(stroke, Stroke::Press { .. }));
        let mut focus = if pressed { Focus::Editor } else { focus };
        let (mut others, mut with_alt) = (Vec::new(), false);
        for event in held.into_iter().chain(std::mem::take(events)) {
            if holds && is_key(&event) {
                self.held.push(event);
                continue;
            }
            if let Event::PointerButton { pos: place, pressed: true, button, modifiers } = event {
                focus = if on_editor(place) { Focus::Editor } else { Focus::Other };
                if focus == Focus::Editor {
                    self.strokes.push_back(Stroke::Press { place, button, modifiers });
                }
                others.push(event);
                continue;
            }
            // Alt with a letter is a menu's key elsewhere, and types nothing.
            let is_menus = std::mem::take(&mut with_alt) && matches!(event, Event::Text(_));
            with_alt =
                matches!(&event, Event::Key { modifiers, pressed: true, .. } if modifiers.alt);
            match stroke(&event, focus, &self.keymap) {
                _ if is_menus && focus != Focus::Other => {}
                Some(stroke) => {
                    holds |= moves(&stroke);
                    self.strokes.push_back(stroke);
                }
                None if focus == Focus::Editor && types_letter(&event) => {}
                None => others.push(event),
            }
        }
        *events = others;
    }

    /// The strokes up to the next save, which is of the text as it is then.
    fn next(&mut self) -> Turn {
        let save = self.strokes.iter().position(|stroke| *stroke == Stroke::Task(Task::Save));
        let count = save.map_or(self.strokes.len(), |place| place + 1);
        let strokes = self.strokes.drain(..count).collect();
        Turn { strokes, again: !self.strokes.is_empty() || !self.held.is_empty() }
    }
}

fn is_key(event: &Event) -> bool {
    let is_pressed = matches!(event, Event::Key { pressed: true, .. });
    is_pressed
        || matches!(
            event,
            Event::Text(_) | Event::Copy | Event::Cut | Event::Paste(_) | Event::Ime(_)
        )
}

/// Whether it is the key of a letter, which comes as text besides.
fn types_letter(event: &Event) -> bool {
    let Event::Key { key, pressed: true, modifiers, .. } = event else { return false };
    let number = key.name().strip_prefix('F').map(str::parse::<u8>);
    !modifiers.alt && !modifiers.command && !modifiers.ctrl && !matches!(number, Some(Ok(_)))
}

/// What an event does that is the editor's.
fn stroke(event: &Event, focus: Focus, keymap: &Keymap) -> Option<Stroke> {
    let text = |command| Some(Stroke::Task(Task::Text(command)));
    match event {
        Event::Key { key, pressed: true, modifiers, .. } => {
            keymap.meaning(*key, *modifiers, focus).map(|meaning| match meaning {
                Meaning::Task(task) => Stroke::Task(task),
                Meaning::Command(title) => Stroke::Command(title),
            })
        }
        _ if focus != Focus::Editor => None,
        // Enter and Tab are keys.
        Event::Text(letters) if letters.chars().all(char::is_control) => None,
        Event::Text(letters) => text(Command::Type(letters.clone())),
        Event::Paste(pasted) => text(Command::Paste(pasted.clone())),
        Event::Copy => Some(Stroke::Task(Task::Copy)),
        Event::Cut => Some(Stroke::Task(Task::Cut)),
        Event::Ime(composed) => Some(Stroke::Ime(composed.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use egui::Key;

    use super::*;
    use crate::studio::text::Motion;

    const CTRL: Modifiers = Modifiers { ctrl: true, command: true, ..Modifiers::NONE };

    fn key(key: Key, modifiers: Modifiers) -> Event {
        Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
    }

    fn plain(k: Key) -> Event {
        key(k, Modifiers::NONE)
    }

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    fn press(x: f32) -> Event {
        let (pos, button) = (Pos2::new(x, 0.0), PointerButton::Primary);
        Event::PointerButton { pos, button, pressed: true, modifiers: Modifiers::NONE }
    }

    fn typed(letters: &str) -> Stroke {
        Stroke::Task(Task::Text(Command::Type(letters.into())))
    }

    fn pressed(x: f32) -> Stroke {
        let (place, button) = (Pos2::new(x, 0.0), PointerButton::Primary);
        Stroke::Press { place, button, modifiers: Modifiers::NONE }
    }

    /// The strokes that a frame's events become for an editor at x > 0, and the events that are left for others.
    fn frame(typing: &mut Typing, events: &[Event], focus: Focus) -> (Turn, Vec<Event>) {
        let mut events = events.to_vec();
        typing.receive(&mut events, focus, |place| place.x > 0.0);
        (typing.next(), events)
    }

    fn first(events: &[Event], focus: Focus) -> (Vec<Stroke>, Vec<Event>) {
        let (turn, others) = frame(&mut Typing::default(), events, focus);
        (turn.strokes, others)
    }

    #[test]
    fn nothing_is_taken_from_others() {
        let events =
            [plain(Key::Tab), plain(Key::Escape), text(" "), key(Key::W, CTRL), press(-1.0)];
        assert_eq!(first(&events, Focus::Other), (vec![], events.to_vec()));
        let in_field = [text("a"), key(Key::C, Modifiers::ALT), text("c"), key(Key::A, CTRL)];
        let (_, others) = first(&in_field, Focus::Field);
        assert_eq!(others, [text("a"), key(Key::A, CTRL)], "but what is meant for the search");
    }

    #[test]
    fn keys_that_mean_nothing_to_the_editor_do_nothing_in_it() {
        let alt = [Key::D, Key::Backspace].map(|letter| key(letter, Modifiers::ALT));
        let events = [text("\r"), alt[0].clone(), text("d"), alt[1].clone()];
        let left = [text("\r"), alt[0].clone(), alt[1].clone()];
        assert_eq!(first(&events, Focus::Editor), (vec![], left.to_vec()));
    }

    #[test]
    fn strokes_keep_their_order() {
        let events = [
            text("a"),
            plain(Key::Tab),
            press(1.0),
            Event::Paste("b".into()),
            key(Key::Home, CTRL),
        ];
        let (strokes, others) = first(&events, Focus::Editor);
        let task = |command| Stroke::Task(Task::Text(command));
        let expected = [
            typed("a"),
            task(Command::Indent),
            pressed(1.0),
            task(Command::Paste("b".into())),
            task(Command::Move(Motion::Start)),
        ];
        assert_eq!((strokes, others), (expected.to_vec(), vec![press(1.0)]));
    }

    #[test]
    fn a_save_is_of_what_was_typed_before_it() {
        let mut typing = Typing::default();
        let events = [text("a"), key(Key::S, CTRL), text("b")];
        let (turn, _) = frame(&mut typing, &events, Focus::Editor);
        assert_eq!(turn, Turn { strokes: vec![typed("a"), Stroke::Task(Task::Save)], again: true });
        assert_eq!(typing.next(), Turn { strokes: vec![typed("b")], again: false });
    }

    #[test]
    fn keys_behind_a_click_are_whose_it_is() {
        assert_eq!(first(&[press(1.0), text("b")], Focus::Other).0, [pressed(1.0), typed("b")]);
        let (strokes, others) = first(&[text("a"), press(-1.0), text(" ")], Focus::Editor);
        assert_eq!((strokes, others), (vec![typed("a")], vec![press(-1.0), text(" ")]));
    }

    #[test]
    fn keys_behind_one_that_moves_the_keyboard_wait_for_the_next_frame() {
        let mut typing = Typing::default();
        let (find, space) = (key(Key::F, CTRL), plain(Key::Space));
        let up = let_go(Key::F);
        let typed_first = [text("a"), find, up.clone(), text("b")];
        let (turn, others) = frame(&mut typing, &typed_first, Focus::Editor);
        assert_eq!((turn.strokes, others), (vec![typed("a"), Stroke::Task(Task::Find)], vec![up]));
        assert!(turn.again);

        // The field has it now; Enter may give it back.
        let (turn, others) = frame(&mut typing, &[plain(Key::Enter), text("c")], Focus::Field);
        let accepts = vec![Stroke::Task(Task::Accept(false))];
        assert_eq!((turn.strokes, others), (accepts, vec![text("b")]));
        let (turn, others) =
            frame(&mut typing, &[plain(Key::Escape), space.clone()], Focus::Editor);
        assert_eq!((turn.strokes, others), (vec![typed("c"), Stroke::Task(Task::Leave)], vec![]));
        let (turn, others) = frame(&mut typing, &[plain(Key::F6), text("d")], Focus::Other);
        assert_eq!((turn.strokes, others), (vec![Stroke::Task(Task::Enter)], vec![space]));
        let (turn, _) = frame(&mut typing, &[], Focus::Editor);
        assert_eq!(turn, Turn { strokes: vec![typed("d")], again: false });
    }

    #[test]
    fn what_is_held_stays_held_while_what_moves_the_keyboard_waits() {
        let mut typing = Typing::default();
        let events = [key(Key::S, CTRL), plain(Key::Escape), text("a")];
        assert_eq!(
            frame(&mut typing, &events, Focus::Editor).0.strokes,
            [Stroke::Task(Task::Save)]
        );
        let (turn, others) = frame(&mut typing, &[text("b")], Focus::Editor);
        assert_eq!((turn.strokes, others), (vec![Stroke::Task(Task::Leave)], vec![]));
        let (_, others) = frame(&mut typing, &[], Focus::Other);
        assert_eq!(others, [text("a"), text("b")]);
    }

    fn let_go(key: Key) -> Event {
        let modifiers = Modifiers::NONE;
        Event::Key { key, physical_key: None, pressed: false, repeat: false, modifiers }
    }

    #[test]
    fn keys_that_are_let_go_are_everybodys() {
        let up = let_go(Key::A);
        assert_eq!(first(std::slice::from_ref(&up), Focus::Editor), (vec![], vec![up]));
    }
}

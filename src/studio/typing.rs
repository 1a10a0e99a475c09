//! Keys on their way to the editor.
//!
//! Where a frame takes long, many keys and clicks arrive in one: each has to meet the text, the caret and the focus
//! that those before it have left. egui gives all keys of a frame to the field that had the focus at its start, and
//! looks at Tab, Escape and the arrows even before. So the keys that are the editor's are taken out of egui's input
//! here, in order, and given to it in turns: what the field does in one go, or what the editor itself does with
//! lines.
//!
//! Only what changes text as a programmer expects comes to the field. Others of egui's keys (Ctrl+H, K, U and W, which
//! delete as in a terminal) mean something else in other editors, and must not destroy text by mistake.

use std::collections::VecDeque;

use egui::{Context, Event, Id, Key, Modifiers, Order, Plugin, Pos2, RawInput, Rect};

/// Catches keys; a plugin of egui's context.
#[derive(Debug, Default)]
pub struct Typing {
    editor: Option<(Id, Rect)>,
    strokes: VecDeque<Stroke>,
}

/// What the editor does with whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Makes comments of them, or code again.
    Comment,
    /// Indents them; a caret without a selection goes to the next tab stop.
    Indent,
    /// The opposite.
    Outdent,
}

/// What is done with the text as it is after the keys before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// It is saved.
    Save,
    /// It is compiled at once.
    Compile,
}

#[derive(Clone, Debug, PartialEq)]
enum Stroke {
    /// The editor takes the keyboard.
    Enter,
    /// So it may, where the pointer has been pressed on it; the caret is elsewhere afterwards.
    Press,
    Lines(Lines),
    Field(Event),
    Request(Request),
    /// The editor gives the keyboard back.
    Leave,
}

/// What the editor does in one frame, in this order.
#[derive(Debug, Default, PartialEq)]
pub struct Turn {
    /// It takes the keyboard.
    pub enters: bool,
    /// Lines are changed.
    pub lines: Vec<Lines>,
    /// The field gets these events.
    pub field: Vec<Event>,
    /// The text is asked for.
    pub request: Option<Request>,
    /// The keyboard is given back.
    pub leaves: bool,
    /// More is waiting for the next frame.
    pub again: bool,
}

impl Plugin for Typing {
    fn debug_name(&self) -> &'static str {
        "typing"
    }

    fn input_hook(&mut self, context: &Context, input: &mut RawInput) {
        let Some((id, rect)) = self.editor else { return };
        let focused = context.memory(|memory| memory.has_focus(id));
        let on_editor = |place: Pos2| {
            let layer = context.layer_id_at(place);
            rect.contains(place) && layer.is_none_or(|layer| layer.order == Order::Background)
        };
        self.receive(&mut input.events, focused, on_editor);
    }
}

impl Typing {
    /// What the editor does in this frame; `id` and `rect` are its field's.
    pub fn turn(context: &Context, id: Id, rect: Rect) -> Turn {
        let turn = context.with_plugin(|typing: &mut Self| {
            if typing.editor.is_some_and(|(other, _)| other != id) {
                // They were typed into another document.
                typing.strokes.clear();
            }
            typing.editor = Some((id, rect));
            typing.next()
        });
        turn.unwrap_or_default()
    }

    /// How many keys and clicks wait for the editor.
    pub fn waiting(context: &Context) -> usize {
        context.with_plugin(|typing: &mut Self| typing.strokes.len()).unwrap_or(0)
    }

    /// Takes the editor's strokes out of `events`; `focused` is whether it has the keyboard before them.
    fn receive(
        &mut self,
        events: &mut Vec<Event>,
        focused: bool,
        on_editor: impl Fn(Pos2) -> bool,
    ) {
        let waiting = self.strokes.iter().rev().find_map(|stroke| match stroke {
            Stroke::Enter | Stroke::Press => Some(true),
            Stroke::Leave => Some(false),
            Stroke::Lines(_) | Stroke::Field(_) | Stroke::Request(_) => None,
        });
        let mut ours = waiting.unwrap_or(focused);
        let mut with_alt = false;
        let mut others = Vec::new();
        for event in events.drain(..) {
            let alt_before = std::mem::take(&mut with_alt);
            let stroke = match &event {
                Event::PointerButton { pos, pressed: true, .. } => {
                    ours = on_editor(*pos);
                    if ours {
                        self.strokes.push_back(Stroke::Press);
                    }
                    None
                }
                Event::Key { key, pressed: true, modifiers, .. } if ours => {
                    with_alt = modifiers.alt;
                    stroke(*key, *modifiers, &event)
                }
                Event::Key { key: Key::F6, pressed: true, modifiers, .. } if !modifiers.any() => {
                    Some(Stroke::Enter)
                }
                // Alt with a letter is a menu's key elsewhere, and types nothing.
                Event::Text(_) if ours && alt_before => continue,
                Event::Text(_) | Event::Copy | Event::Cut | Event::Paste(_) | Event::Ime(_)
                    if ours =>
                {
                    Some(Stroke::Field(event.clone()))
                }
                _ => None,
            };
            match stroke {
                None => others.push(event),
                Some(stroke) => {
                    match stroke {
                        Stroke::Enter => ours = true,
                        Stroke::Leave => ours = false,
                        Stroke::Press
                        | Stroke::Lines(_)
                        | Stroke::Field(_)
                        | Stroke::Request(_) => {}
                    }
                    self.strokes.push_back(stroke);
                }
            }
        }
        *events = others;
    }

    /// The strokes that can be taken together.
    fn next(&mut self) -> Turn {
        let mut turn = Turn::default();
        while let Some(stroke) = self.strokes.pop_front() {
            match stroke {
                Stroke::Enter => turn.enters = true,
                Stroke::Lines(lines) if turn.field.is_empty() => turn.lines.push(lines),
                Stroke::Lines(_) => {
                    self.strokes.push_front(stroke);
                    break;
                }
                Stroke::Field(event) => turn.field.push(event),
                Stroke::Request(request) => {
                    turn.request = Some(request);
                    break;
                }
                // egui moves the caret behind the field's events.
                Stroke::Press => break,
                Stroke::Leave => {
                    turn.leaves = true;
                    break;
                }
            }
        }
        turn.again = !self.strokes.is_empty();
        turn
    }
}

/// What a key that was pressed in the editor does there; `None`: it is not for the editor.
fn stroke(key: Key, modifiers: Modifiers, event: &Event) -> Option<Stroke> {
    let Modifiers { alt, shift, command, .. } = modifiers;
    let plain = !alt && !command && !modifiers.ctrl;
    let field = Some(Stroke::Field(event.clone()));
    match key {
        Key::Escape if plain && !shift => Some(Stroke::Leave),
        Key::Tab if plain && shift => Some(Stroke::Lines(Lines::Outdent)),
        Key::Tab if plain => Some(Stroke::Lines(Lines::Indent)),
        Key::Slash if command && !alt => Some(Stroke::Lines(Lines::Comment)),
        Key::S if command && !alt => Some(Stroke::Request(Request::Save)),
        Key::Enter if command && !alt => Some(Stroke::Request(Request::Compile)),
        // As X11 and Windows have it; egui deletes without a copy.
        Key::Delete if plain && shift => Some(Stroke::Field(Event::Cut)),
        // Where the caret goes.
        Key::ArrowLeft | Key::ArrowRight | Key::ArrowUp | Key::ArrowDown => field,
        Key::Home | Key::End | Key::PageUp | Key::PageDown => field,
        // Words, all of it, undo and redo.
        Key::Backspace | Key::Delete | Key::A | Key::Z | Key::Y if command && !alt => field,
        _ if plain => field,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let (pos, button) = (Pos2::new(x, 0.0), egui::PointerButton::Primary);
        Event::PointerButton { pos, button, pressed: true, modifiers: Modifiers::NONE }
    }

    /// The turns that a frame's events become in an editor at x > 0, and the events that are left for others.
    fn turns(events: &[Event], focused: bool) -> (Vec<Turn>, Vec<Event>) {
        let (mut typing, mut events) = (Typing::default(), events.to_vec());
        typing.receive(&mut events, focused, |place| place.x > 0.0);
        let mut turns = vec![typing.next()];
        while turns.last().is_some_and(|turn| turn.again) {
            turns.push(typing.next());
        }
        (turns, events)
    }

    /// What of `events` comes to the field, and what is left for others.
    fn field(events: &[Event]) -> (Vec<Event>, Vec<Event>) {
        let (turns, others) = turns(events, true);
        (turns.into_iter().flat_map(|turn| turn.field).collect(), others)
    }

    #[test]
    fn keys_that_delete_as_in_a_terminal_do_not_come_to_the_field() {
        for letter in [Key::H, Key::K, Key::U, Key::W, Key::D, Key::J, Key::T, Key::Tab, Key::M] {
            for modifiers in [CTRL, CTRL | Modifiers::SHIFT] {
                let event = key(letter, modifiers);
                assert_eq!(
                    field(std::slice::from_ref(&event)),
                    (vec![], vec![event]),
                    "{letter:?}"
                );
            }
        }
        for deletes in [Key::Backspace, Key::Delete] {
            assert_eq!(field(&[key(deletes, Modifiers::ALT)]).0, []);
        }
        assert_eq!(field(&[key(Key::D, Modifiers::ALT), text("d")]).0, []);
        assert_eq!(field(&[key(Key::Delete, Modifiers::SHIFT)]).0, [Event::Cut]);
    }

    #[test]
    fn keys_that_a_programmer_expects_do() {
        let expected = [
            key(Key::Backspace, CTRL),
            key(Key::Delete, CTRL),
            key(Key::Z, CTRL),
            key(Key::Z, CTRL | Modifiers::SHIFT),
            key(Key::Y, CTRL),
            key(Key::A, CTRL),
            key(Key::ArrowLeft, CTRL | Modifiers::SHIFT),
            key(Key::ArrowUp, Modifiers::ALT),
            key(Key::Home, CTRL),
            plain(Key::Enter),
            key(Key::Enter, Modifiers::SHIFT),
            plain(Key::Backspace),
            plain(Key::X),
            text("x"),
            Event::Copy,
            Event::Cut,
            Event::Paste("a\nb".into()),
        ];
        assert_eq!(field(&expected), (expected.to_vec(), vec![]));
    }

    #[test]
    fn nothing_is_taken_from_others() {
        let typed =
            [plain(Key::Tab), plain(Key::Escape), text(" "), key(Key::W, CTRL), press(-1.0)];
        let (turns, others) = turns(&typed, false);
        assert_eq!((turns, others), (vec![Turn::default()], typed.to_vec()));
    }

    #[test]
    fn lines_are_changed_in_order_with_what_is_typed() {
        let typed = [plain(Key::Tab), text("a"), plain(Key::Tab), key(Key::Slash, CTRL), text("b")];
        let (turns, others) = turns(&typed, true);
        assert_eq!(others, []);
        let expected = [
            Turn {
                lines: vec![Lines::Indent],
                field: vec![text("a")],
                again: true,
                ..Turn::default()
            },
            Turn {
                lines: vec![Lines::Indent, Lines::Comment],
                field: vec![text("b")],
                ..Turn::default()
            },
        ];
        assert_eq!(turns, expected);
    }

    #[test]
    fn a_save_is_of_what_was_typed_before_it() {
        let typed = [text("a"), plain(Key::Tab), text("b"), key(Key::S, CTRL), text("c")];
        let (turns, _) = turns(&typed, true);
        let requests: Vec<_> = turns.iter().map(|turn| turn.request).collect();
        assert_eq!(requests, [None, Some(Request::Save), None]);
        assert_eq!(turns[1].field, [text("b")]);
    }

    #[test]
    fn keys_behind_a_click_meet_the_caret_that_it_has_moved() {
        let (turns, others) = turns(&[text("a"), press(1.0), text("b")], true);
        assert_eq!(others, [press(1.0)]);
        let a = Turn { field: vec![text("a")], again: true, ..Turn::default() };
        let b = Turn { field: vec![text("b")], ..Turn::default() };
        assert_eq!(turns, [a, b]);
    }

    #[test]
    fn keys_behind_a_click_elsewhere_are_not_the_editors() {
        let (_, others) = turns(&[text("a"), press(-1.0), text(" ")], true);
        assert_eq!(others, [press(-1.0), text(" ")]);
    }

    #[test]
    fn escape_leads_out_and_f6_in_in_order() {
        let space = plain(Key::Space);
        let typed = [text("a"), plain(Key::Escape), space.clone(), plain(Key::F6), text("b")];
        let (turns, others) = turns(&typed, true);
        assert_eq!(others, [space]);
        let out = Turn { field: vec![text("a")], leaves: true, again: true, ..Turn::default() };
        let back = Turn { enters: true, field: vec![text("b")], ..Turn::default() };
        assert_eq!(turns, [out, back]);
    }

    #[test]
    fn what_waits_decides_whose_the_next_frames_keys_are() {
        let mut typing = Typing::default();
        let mut first = vec![text("a"), plain(Key::Tab), plain(Key::Escape)];
        typing.receive(&mut first, true, |_| false);
        assert!(typing.next().again);
        let mut second = vec![text(" ")];
        typing.receive(&mut second, true, |_| false);
        assert_eq!(second, [text(" ")], "it comes behind an Escape that has not had its turn yet");
    }

    #[test]
    fn keys_that_are_let_go_are_everybodys() {
        let up = Event::Key {
            key: Key::A,
            physical_key: None,
            pressed: false,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        assert_eq!(field(std::slice::from_ref(&up)), (vec![], vec![up]));
    }
}

//! Whether keys are the scene's, and which are held, as kernels get them.

use egui::{Event, InputState, Key, Popup, Ui};

use crate::scene::Keys;

/// Seconds without a key after which nobody types into a menu any more that has closed.
const PAUSE_S: f64 = 1.0;

/// Whether keys are the scene's. They are where nothing else has the keyboard, or the view has it; but not while a
/// menu is open, nor for one who types on into a menu that has just closed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keyboard {
    free: bool,
    menu: bool,
    /// Until then, in seconds of egui's clock, keys are meant for a menu that was open.
    until: f64,
}

/// What a frame has seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    now: f64,
    /// A widget other than the view has the keyboard.
    taken: bool,
    menu: bool,
    typed: bool,
    escaped: bool,
    /// The pointer was pressed on the view.
    on_view: bool,
}

impl Keyboard {
    /// Looks at what a frame has shown: whether a view has the keyboard (`focused`), whether the pointer is pressed on
    /// one, and whether a page is over them.
    pub fn look(&mut self, ui: &Ui, focused: bool, pressed: bool, page: bool) {
        let wanted = ui.ctx().egui_wants_keyboard_input();
        let menu = page || Popup::is_any_open(ui.ctx());
        self.note(ui.input(|input| Seen {
            now: input.time,
            taken: wanted && !focused,
            menu,
            typed: input.events.iter().any(|event| matches!(event, Event::Text(_))),
            escaped: input.key_pressed(Key::Escape),
            on_view: pressed,
        }));
    }

    fn note(&mut self, seen: Seen) {
        let was_open = std::mem::replace(&mut self.menu, seen.menu);
        if seen.on_view || seen.escaped {
            self.until = f64::NEG_INFINITY;
        } else if was_open && !seen.menu || seen.typed && seen.now < self.until {
            self.until = seen.now + PAUSE_S;
        }
        self.free = !seen.taken && !seen.menu && seen.now >= self.until;
    }

    /// Whether they are.
    pub fn is_the_scenes(&self) -> bool {
        self.free
    }
}

/// The keys held down now.
pub fn held(input: &InputState) -> Keys {
    let mut keys = Keys::default();
    for code in input.keys_down.iter().filter_map(|key| code(*key)) {
        keys.set(code, true);
    }
    keys.set(Keys::SHIFT, input.modifiers.shift);
    keys.set(Keys::CONTROL, input.modifiers.ctrl);
    keys.set(Keys::ALT, input.modifiers.alt);
    keys
}

/// The code of a key: the character that it types, or one of those in [`Keys`].
fn code(key: Key) -> Option<u8> {
    match key {
        Key::ArrowLeft => Some(Keys::LEFT),
        Key::ArrowUp => Some(Keys::UP),
        Key::ArrowRight => Some(Keys::RIGHT),
        Key::ArrowDown => Some(Keys::DOWN),
        Key::Space => Some(b' '),
        Key::Enter => Some(b'\r'),
        Key::Tab => Some(b'\t'),
        Key::Backspace => Some(8),
        Key::Escape => Some(27),
        Key::Delete => Some(127),
        other => match other.symbol_or_name().as_bytes() {
            [character] => Some(character.to_ascii_uppercase()),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the keys are the scene's after each of these frames, half a second apart.
    fn free(frames: &[Seen]) -> Vec<bool> {
        let mut keyboard = Keyboard::default();
        let mut now = 0.0;
        frames
            .iter()
            .map(|seen| {
                now += 0.5;
                keyboard.note(Seen { now, ..*seen });
                keyboard.is_the_scenes()
            })
            .collect()
    }

    const NOTHING: Seen =
        Seen { now: 0.0, taken: false, menu: false, typed: false, escaped: false, on_view: false };
    const MENU: Seen = Seen { menu: true, ..NOTHING };
    const TYPED: Seen = Seen { typed: true, ..NOTHING };

    #[test]
    fn keys_are_the_scenes_where_nothing_else_wants_them() {
        let taken = Seen { taken: true, ..NOTHING };
        assert_eq!(free(&[NOTHING, taken, TYPED, MENU]), [true, false, true, false]);
    }

    #[test]
    fn who_types_on_into_a_menu_that_has_closed_does_not_drive_the_scene() {
        let frames = [MENU, TYPED, TYPED, TYPED, NOTHING, NOTHING, TYPED];
        let after = [false, false, false, false, false, true, true];
        assert_eq!(free(&frames), after);
    }

    #[test]
    fn escape_and_a_click_into_the_view_give_the_keyboard_back_at_once() {
        let escape = Seen { escaped: true, ..NOTHING };
        assert_eq!(free(&[MENU, escape, TYPED]), [false, true, true]);
        let click = Seen { on_view: true, ..NOTHING };
        assert_eq!(free(&[MENU, NOTHING, click, TYPED]), [false, false, true, true]);
    }

    #[test]
    fn codes_are_the_characters_that_keys_type() {
        assert_eq!(code(Key::W), Some(b'W'));
        assert_eq!(code(Key::Num7), Some(b'7'));
        assert_eq!(code(Key::Comma), Some(b','));
        assert_eq!(code(Key::Space), Some(b' '));
        assert_eq!(code(Key::ArrowUp), Some(Keys::UP));
        assert_eq!(code(Key::F5), None);
    }
}

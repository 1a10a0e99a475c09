//! Which keys are held, as kernels get them.

use egui::{InputState, Key};

use crate::scene::Keys;

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

//! The studio's keys: one table of what each does, for the editor, the palette and the manual.

use egui::{Key, KeyboardShortcut, Modifiers};

use super::text::{Command, Direction, Motion};

/// What a key does in the editor or with it.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Something with the text.
    Text(Command),
    /// Makes comments of the selected lines, or code again.
    Comment,
    /// Folds what is around the caret.
    Fold,
    /// Shows again what is folded away behind the caret's line.
    Unfold,
    /// Folds all that can be.
    FoldAll,
    /// Shows everything again.
    UnfoldAll,
    /// A page up or down, and whether what the caret goes over is selected.
    Page(Direction, bool),
    /// Copies what is selected.
    Copy,
    /// The same, and deletes it.
    Cut,
    /// Opens the field for what is looked for.
    Find,
    /// The same, with the one for what takes its place.
    Replace,
    /// Opens the field for a line's number.
    GoToLine,
    /// Opens the list of what the text declares.
    Symbols,
    /// Shows what the text has other than its file or what runs, or the text again.
    Changes,
    /// Goes to the next one of these changes.
    NextChange,
    /// Goes to the one before.
    PreviousChange,
    /// Lets the text have what it had before in the place of this change.
    PutBack,
    /// What Enter does in one of these fields: goes to the line or to the next match, or replaces one; with Shift to
    /// the one before.
    Accept(bool),
    /// Puts the keyboard into the other field.
    OtherField,
    /// Closes the fields.
    Close,
    /// Replaces all matches.
    ReplaceAll,
    /// Changes how it is looked for.
    Toggle(Toggle),
    /// Goes up or down in the list below a field.
    Choose(Direction),
    /// Opens the list of all that keys do.
    Palette,
    /// Suggests what the word at the caret may become.
    Suggest,
    /// Goes to the next match.
    FindNext,
    /// Goes to the one before.
    FindPrevious,
    /// Goes to the next line with an error or a warning.
    NextProblem,
    /// Goes to the one before.
    PreviousProblem,
    /// Saves the text as it is after the keys before.
    Save,
    /// Asks where it is to be saved.
    SaveAs,
    /// Asks for a file to open.
    Open,
    /// Shows scenes and templates to begin with.
    Start,
    /// Compiles that at once.
    Compile,
    /// The editor's letters become larger.
    Larger,
    /// They become smaller.
    Smaller,
    /// They are as large as at first.
    UsualSize,
    /// The editor takes the keyboard.
    Enter,
    /// One caret of several stays, or the fields are closed, or the editor gives the keyboard back.
    Leave,
}

/// A way to look for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggle {
    /// Capital letters are told from small ones.
    Case,
    /// Only whole words are found.
    Words,
    /// It is a regular expression.
    Regex,
}

/// Who has the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The editor's text.
    Editor,
    /// A field that the editor has opened.
    Field,
    /// Anything else.
    Other,
}

impl Task {
    /// Whether the keys behind it may be another field's.
    pub fn moves_keyboard(&self) -> bool {
        match self {
            Self::Find | Self::Replace | Self::GoToLine | Self::Enter | Self::Leave => true,
            Self::NextProblem | Self::PreviousProblem => true,
            Self::Accept(_) | Self::OtherField | Self::Close => true,
            Self::Palette | Self::Symbols | Self::SaveAs | Self::Open | Self::Start => true,
            Self::Changes | Self::NextChange | Self::PreviousChange => true,
            Self::PutBack | Self::ReplaceAll | Self::Toggle(_) => false,
            Self::Choose(_) | Self::Suggest => false,
            Self::Fold | Self::Unfold | Self::FoldAll | Self::UnfoldAll => false,
            Self::Text(_) | Self::Comment | Self::Page(..) | Self::Copy | Self::Cut => false,
            Self::FindNext | Self::FindPrevious | Self::Save | Self::Compile => false,
            Self::Larger | Self::Smaller | Self::UsualSize => false,
        }
    }
}

impl Task {
    /// Whether it is about the text, which is to be seen then.
    pub fn is_of_text(&self) -> bool {
        match self {
            Self::Text(_) | Self::Comment | Self::Page(..) | Self::Copy | Self::Cut => true,
            Self::Find | Self::Replace | Self::GoToLine | Self::OtherField => true,
            Self::ReplaceAll | Self::Toggle(_) | Self::Suggest | Self::Changes => true,
            Self::NextChange | Self::PreviousChange | Self::PutBack => true,
            Self::FindNext | Self::FindPrevious | Self::NextProblem | Self::PreviousProblem => true,
            Self::Fold | Self::Unfold | Self::FoldAll | Self::UnfoldAll | Self::Enter => true,
            Self::Accept(_) | Self::Close | Self::Choose(_) | Self::Leave => false,
            // The list is seen above all panes.
            Self::Palette | Self::Symbols => false,
            Self::Save | Self::SaveAs | Self::Open | Self::Start | Self::Compile => false,
            Self::Larger | Self::Smaller | Self::UsualSize => false,
        }
    }
}

impl Task {
    /// Whether it is about what the text has other than before, which is shown in the text's place.
    pub fn is_of_changes(&self) -> bool {
        matches!(self, Self::Changes | Self::NextChange | Self::PreviousChange | Self::PutBack)
    }
}

/// Where a key means what the table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Where the editor has the keyboard.
    Editor,
    /// Where a field has it that the editor has opened.
    Field,
    /// In the whole window.
    Window,
}

impl Scope {
    /// Whether it is where `focus` has the keyboard.
    pub fn is_at(self, focus: Focus) -> bool {
        match self {
            Self::Editor => focus == Focus::Editor,
            Self::Field => focus == Focus::Field,
            Self::Window => true,
        }
    }

    /// Whether there is a place that is in both.
    pub fn meets(self, other: Self) -> bool {
        self == other || [self, other].contains(&Self::Window)
    }
}

/// Keys that do the same.
pub struct Shortcut {
    /// The first one is the one that is told.
    pub keys: &'static [KeyboardShortcut],
    /// What they do, in a few words.
    pub title: &'static str,
    /// Where.
    pub scope: Scope,
    /// What they do.
    pub task: Task,
}

const NONE: Modifiers = Modifiers::NONE;
const SHIFT: Modifiers = Modifiers::SHIFT;
const ALT: Modifiers = Modifiers::ALT;
const COMMAND: Modifiers = Modifiers::COMMAND;
const COMMAND_SHIFT: Modifiers = COMMAND.plus(SHIFT);
const COMMAND_ALT: Modifiers = COMMAND.plus(ALT);
const ALT_SHIFT: Modifiers = ALT.plus(SHIFT);

const fn key(modifiers: Modifiers, key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(modifiers, key)
}

const fn window(keys: &'static [KeyboardShortcut], title: &'static str, task: Task) -> Shortcut {
    Shortcut { keys, title, scope: Scope::Window, task }
}

const fn field(keys: &'static [KeyboardShortcut], title: &'static str, task: Task) -> Shortcut {
    Shortcut { keys, title, scope: Scope::Field, task }
}

const fn editor(keys: &'static [KeyboardShortcut], title: &'static str, task: Task) -> Shortcut {
    Shortcut { keys, title, scope: Scope::Editor, task }
}

const fn text(
    keys: &'static [KeyboardShortcut],
    title: &'static str,
    command: Command,
) -> Shortcut {
    editor(keys, title, Task::Text(command))
}

/// All of them, by what they are for.
pub static SHORTCUTS: &[Shortcut] = &[
    window(&[key(COMMAND_SHIFT, Key::P)], "All commands and their keys", Task::Palette),
    window(&[key(COMMAND, Key::N)], "New, and all scenes", Task::Start),
    window(&[key(COMMAND, Key::O)], "Open a file", Task::Open),
    window(&[key(COMMAND, Key::S)], "Save", Task::Save),
    window(&[key(COMMAND_SHIFT, Key::S)], "Save as", Task::SaveAs),
    window(&[key(COMMAND, Key::Enter)], "Compile now", Task::Compile),
    window(&[key(COMMAND, Key::F)], "Find", Task::Find),
    window(&[key(COMMAND, Key::H)], "Replace", Task::Replace),
    window(&[key(NONE, Key::F3)], "Next match", Task::FindNext),
    window(&[key(SHIFT, Key::F3)], "Previous match", Task::FindPrevious),
    field(&[key(NONE, Key::Enter)], "Next match, or replace it", Task::Accept(false)),
    field(&[key(SHIFT, Key::Enter)], "Previous match", Task::Accept(true)),
    field(&[key(COMMAND_ALT, Key::Enter)], "Replace all", Task::ReplaceAll),
    field(&[key(NONE, Key::Tab), key(SHIFT, Key::Tab)], "The other field", Task::OtherField),
    field(&[key(NONE, Key::Escape)], "Close", Task::Close),
    field(&[key(NONE, Key::ArrowUp)], "Up in a list", Task::Choose(Direction::Up)),
    field(&[key(NONE, Key::ArrowDown)], "Down in a list", Task::Choose(Direction::Down)),
    field(&[key(ALT, Key::C)], "Tell capital letters from small ones", Task::Toggle(Toggle::Case)),
    field(&[key(ALT, Key::W)], "Find whole words only", Task::Toggle(Toggle::Words)),
    field(&[key(ALT, Key::R)], "Find by a regular expression", Task::Toggle(Toggle::Regex)),
    window(&[key(COMMAND, Key::G)], "Go to line", Task::GoToLine),
    window(&[key(COMMAND_SHIFT, Key::O)], "Go to symbol", Task::Symbols),
    window(&[key(NONE, Key::F8)], "Next error", Task::NextProblem),
    window(&[key(SHIFT, Key::F8)], "Previous error", Task::PreviousProblem),
    window(&[key(COMMAND_SHIFT, Key::D)], "Changes of the text", Task::Changes),
    window(&[key(NONE, Key::F7)], "Next change", Task::NextChange),
    window(&[key(SHIFT, Key::F7)], "Previous change", Task::PreviousChange),
    window(&[], "Put this change back", Task::PutBack),
    window(&[key(NONE, Key::F6)], "Into the editor", Task::Enter),
    editor(&[key(NONE, Key::Escape)], "Out of the editor", Task::Leave),
    window(&[key(COMMAND, Key::Plus), key(COMMAND, Key::Equals)], "Larger letters", Task::Larger),
    window(&[key(COMMAND, Key::Minus)], "Smaller letters", Task::Smaller),
    window(&[key(COMMAND, Key::Num0)], "Letters of the usual size", Task::UsualSize),
    editor(&[key(COMMAND, Key::Space)], "Complete the word", Task::Suggest),
    text(&[key(COMMAND, Key::Z)], "Undo", Command::Undo),
    text(&[key(COMMAND, Key::Y), key(COMMAND_SHIFT, Key::Z)], "Redo", Command::Redo),
    editor(&[key(COMMAND, Key::Slash)], "Comment or uncomment lines", Task::Comment),
    editor(
        &[key(COMMAND_SHIFT, Key::OpenBracket), key(COMMAND_SHIFT, Key::OpenCurlyBracket)],
        "Fold what is around the caret",
        Task::Fold,
    ),
    editor(
        &[key(COMMAND_SHIFT, Key::CloseBracket), key(COMMAND_SHIFT, Key::CloseCurlyBracket)],
        "Unfold the line",
        Task::Unfold,
    ),
    editor(&[], "Fold all", Task::FoldAll),
    editor(&[], "Unfold all", Task::UnfoldAll),
    text(&[key(NONE, Key::Tab)], "Indent", Command::Indent),
    text(&[key(SHIFT, Key::Tab)], "Unindent", Command::Unindent),
    text(&[key(ALT, Key::ArrowUp)], "Move lines up", Command::MoveLines(Direction::Up)),
    text(&[key(ALT, Key::ArrowDown)], "Move lines down", Command::MoveLines(Direction::Down)),
    text(
        &[key(ALT_SHIFT, Key::ArrowDown)],
        "Duplicate lines",
        Command::DuplicateLines(Direction::Down),
    ),
    text(
        &[key(ALT_SHIFT, Key::ArrowUp)],
        "Duplicate lines upwards",
        Command::DuplicateLines(Direction::Up),
    ),
    text(&[key(COMMAND_SHIFT, Key::K)], "Delete lines", Command::DeleteLines),
    text(&[key(COMMAND, Key::J)], "Join lines", Command::JoinLines),
    text(&[key(COMMAND, Key::D)], "Select the next occurrence, too", Command::AddNext),
    text(&[key(COMMAND_SHIFT, Key::L)], "Select all occurrences", Command::AddAll),
    text(&[key(COMMAND_ALT, Key::ArrowUp)], "A caret above", Command::AddCaret(Direction::Up)),
    text(&[key(COMMAND_ALT, Key::ArrowDown)], "A caret below", Command::AddCaret(Direction::Down)),
    text(&[key(COMMAND, Key::L)], "Select the line", Command::SelectLine),
    text(&[key(COMMAND_SHIFT, Key::Space)], "Select within brackets", Command::SelectBracket),
    text(&[key(COMMAND_SHIFT, Key::Backslash)], "Go to the other bracket", Command::GoToBracket),
    text(&[key(COMMAND, Key::A)], "Select all", Command::SelectAll),
    text(
        &[key(COMMAND, Key::Backspace)],
        "Delete a word to the left",
        Command::Delete(Motion::WordLeft),
    ),
    text(
        &[key(COMMAND, Key::Delete)],
        "Delete a word to the right",
        Command::Delete(Motion::WordRight),
    ),
    // As X11 and Windows have it.
    editor(&[key(SHIFT, Key::Delete)], "Cut", Task::Cut),
    text(&[key(NONE, Key::Enter), key(SHIFT, Key::Enter)], "New line", Command::Break),
    text(
        &[key(NONE, Key::Backspace), key(SHIFT, Key::Backspace)],
        "Delete back",
        Command::Backspace,
    ),
    text(&[key(NONE, Key::Delete)], "Delete ahead", Command::Delete(Motion::Right)),
];

/// What a key that is pressed does where `focus` has the keyboard; `keeps` says of a row's title whether its keys are
/// those of the table.
pub fn task(
    pressed: Key,
    modifiers: Modifiers,
    focus: Focus,
    keeps: impl Fn(&str) -> bool,
) -> Option<Task> {
    let found = SHORTCUTS.iter().find(|shortcut| {
        shortcut.scope.is_at(focus)
            && shortcut.keys.iter().any(|keys| fits(keys, pressed, modifiers))
            && keeps(shortcut.title)
    });
    let task = found.map(|shortcut| shortcut.task.clone());
    task.or_else(|| motion(pressed, modifiers).filter(|_| focus == Focus::Editor))
}

/// Whether it is these keys that are pressed.
pub fn fits(keys: &KeyboardShortcut, pressed: Key, modifiers: Modifiers) -> bool {
    // Where a sign is typed with Shift depends on the keyboard.
    let is_sign =
        matches!(pressed, Key::Slash | Key::Backslash | Key::Plus | Key::Equals | Key::Minus);
    let modifiers = Modifiers {
        shift: if is_sign { keys.modifiers.shift } else { modifiers.shift },
        ..modifiers
    };
    keys.logical_key == pressed && modifiers.matches_exact(keys.modifiers)
}

/// What a key is called: `Ctrl+Shift+P`, `Ctrl+/`.
pub fn name(keys: &KeyboardShortcut) -> String {
    let is_mac = cfg!(target_os = "macos");
    let names = if is_mac { egui::ModifierNames::SYMBOLS } else { egui::ModifierNames::NAMES };
    let (key, sign) = (keys.logical_key.name(), keys.logical_key.symbol_or_name());
    let whole = keys.format(&names, is_mac);
    // The signs of arrows are in few fonts.
    match whole.strip_suffix(key) {
        Some(modifiers) if sign.is_ascii() => format!("{modifiers}{sign}"),
        Some(_) | None => whole,
    }
}

/// Where a key brings the caret.
fn motion(pressed: Key, modifiers: Modifiers) -> Option<Task> {
    let Modifiers { alt, shift, command, .. } = modifiers;
    if alt {
        return None;
    }
    let motion = match (pressed, command) {
        (Key::PageUp, false) => return Some(Task::Page(Direction::Up, shift)),
        (Key::PageDown, false) => return Some(Task::Page(Direction::Down, shift)),
        (Key::ArrowLeft, false) => Motion::Left,
        (Key::ArrowRight, false) => Motion::Right,
        (Key::ArrowUp, false) => Motion::Up(1),
        (Key::ArrowDown, false) => Motion::Down(1),
        (Key::Home, false) => Motion::LineStart,
        (Key::End, false) => Motion::LineEnd,
        (Key::ArrowLeft, true) => Motion::WordLeft,
        (Key::ArrowRight, true) => Motion::WordRight,
        (Key::Home, true) => Motion::Start,
        (Key::End, true) => Motion::End,
        _ => return None,
    };
    let command = if shift { Command::Select(motion) } else { Command::Move(motion) };
    Some(Task::Text(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CTRL: Modifiers = Modifiers { ctrl: true, command: true, ..NONE };

    #[test]
    fn no_two_mean_the_same_key() {
        for (n, one) in SHORTCUTS.iter().enumerate() {
            let meets = |two: &&Shortcut| one.scope.meets(two.scope);
            for two in SHORTCUTS[n + 1..].iter().filter(meets) {
                let same = one.keys.iter().find(|key| two.keys.contains(key));
                assert!(same.is_none(), "{} and {}: {same:?}", one.title, two.title);
            }
        }
    }

    #[test]
    fn a_key_is_found_with_just_its_modifiers() {
        let typed = |k, m| task(k, m, Focus::Editor, |_| true);
        assert_eq!(typed(Key::K, CTRL | SHIFT), Some(Task::Text(Command::DeleteLines)));
        assert_eq!(typed(Key::Slash, CTRL | SHIFT), Some(Task::Comment), "as on a German keyboard");
        assert_eq!(typed(Key::ArrowUp, ALT), Some(Task::Text(Command::MoveLines(Direction::Up))));
        assert_eq!(
            typed(Key::Home, CTRL | SHIFT),
            Some(Task::Text(Command::Select(Motion::Start)))
        );
        for letter in [Key::K, Key::U, Key::W, Key::T, Key::M, Key::B, Key::P] {
            assert_eq!(typed(letter, CTRL), None, "{letter:?} deletes elsewhere");
        }
        assert_eq!(typed(Key::Backspace, ALT), None);
        assert_eq!(
            [(Key::Z, CTRL), (Key::F3, NONE)].map(|(k, m)| task(k, m, Focus::Other, |_| true)),
            [None, Some(Task::FindNext)]
        );
    }

    #[test]
    fn keys_are_called_as_they_are_written_on_a_keyboard() {
        let key = |modifiers, key| name(&KeyboardShortcut::new(modifiers, key));
        if cfg!(target_os = "macos") {
            return;
        }
        assert_eq!(key(Modifiers::COMMAND, Key::Slash), "Ctrl+/");
        assert_eq!(key(Modifiers::ALT | Modifiers::SHIFT, Key::ArrowUp), "Alt+Shift+Up");
        assert_eq!(key(Modifiers::NONE, Key::F8), "F8");
    }
}

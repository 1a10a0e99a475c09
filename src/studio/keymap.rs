//! Keys of the user's own, from a file that names commands as the list of commands does.
//!
//! A command that the file names has the keys that it says, and those of the program no more. Keys that type letters
//! stay the text's: each has Ctrl or Alt, or is an F key.

use std::{collections::BTreeMap, fmt::Write};

use egui::{Key, KeyboardShortcut, Modifiers};
use toml::de::{DeTable, DeValue};

use super::shortcuts::{self, Focus, SHORTCUTS, Scope, Shortcut, Task};

/// A command that may be bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Bindable {
    /// What it is called in the list of commands.
    pub title: String,
    /// Its keys.
    pub keys: Vec<KeyboardShortcut>,
    /// Where they mean it.
    pub scope: Scope,
}

/// Which commands have keys of the user's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keymap {
    own: BTreeMap<String, Vec<KeyboardShortcut>>,
    /// Keys of the program of those of them that are no [`SHORTCUTS`], and mean nothing any more.
    freed: Vec<KeyboardShortcut>,
}

/// What a key means.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// Something with the text, or where the text is.
    Task(Task),
    /// The command of this name in the list.
    Command(String),
}

/// What is wrong with a line of the file: its number, from 1, and a sentence.
pub type Remark = (usize, String);

impl Keymap {
    /// What a file's text says about these commands, and what cannot be done of it, in the order of its lines.
    pub fn read(text: &str, commands: &[Bindable]) -> (Self, Vec<Remark>) {
        let line = |at: usize| {
            1 + text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count()
        };
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut remarks: Vec<Remark> = errors
            .iter()
            .map(|error| {
                (line(error.span().map_or(0, |span| span.start)), error.message().to_owned())
            })
            .collect();
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(title, _)| title.span().start);
        let mut map = Self::default();
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        for (title, value) in entries {
            let at = line(title.span().start);
            let title = title.get_ref().as_ref();
            if !commands.iter().any(|command| command.title == title) {
                remarks.push((at, format!("no command is called \u{201c}{title}\u{201d}")));
                continue;
            }
            let written: Option<Vec<&str>> = match value.get_ref() {
                DeValue::String(keys) => Some(vec![keys.as_ref()]),
                DeValue::Array(all) => all.iter().map(|one| one.get_ref().as_str()).collect(),
                DeValue::Integer(_)
                | DeValue::Float(_)
                | DeValue::Boolean(_)
                | DeValue::Datetime(_)
                | DeValue::Table(_) => None,
            };
            let Some(written) = written else {
                remarks.push((at, "keys are a string, or a list of strings".to_owned()));
                continue;
            };
            let written = written.into_iter().filter(|written| !written.trim().is_empty());
            match written.map(parse).collect() {
                Ok(keys) => {
                    lines.insert(title.to_owned(), at);
                    map.own.insert(title.to_owned(), keys);
                }
                Err(why) => remarks.push((at, why)),
            }
        }
        let is_other = |command: &&Bindable| of_table(&command.title).is_none();
        let named = commands.iter().filter(is_other).filter(|command| !map.keeps(&command.title));
        map.freed = named.flat_map(|command| command.keys.iter().copied()).collect();
        remarks.extend(map.clashes(commands, &lines));
        remarks.sort_by_key(|(line, _)| *line);
        (map, remarks)
    }

    /// Of each key that means two commands in one place what is to be told.
    fn clashes(&self, commands: &[Bindable], lines: &BTreeMap<String, usize>) -> Vec<Remark> {
        let mut found = Vec::new();
        for (title, keys) in &self.own {
            let Some(one) = commands.iter().find(|command| command.title == *title) else {
                continue;
            };
            for key in keys {
                let others = commands.iter().filter(|two| {
                    two.title != *title
                        && one.scope.meets(two.scope)
                        && self.own.get(&two.title).unwrap_or(&two.keys).contains(key)
                        // Of two in the file the later one is told.
                        && lines.get(&two.title).is_none_or(|line| *line < lines[title])
                });
                for two in others {
                    let key = shortcuts::name(key);
                    found.push((
                        lines[title],
                        format!("{key} is \u{201c}{}\u{201d}, too", two.title),
                    ));
                }
            }
        }
        found
    }

    /// The keys that a command has by the file; `None` where that does not name it.
    pub fn keys(&self, title: &str) -> Option<&[KeyboardShortcut]> {
        self.own.get(title).map(Vec::as_slice)
    }

    /// What a key that is pressed means where `focus` has the keyboard.
    pub fn meaning(&self, pressed: Key, modifiers: Modifiers, focus: Focus) -> Option<Meaning> {
        let own = self.commands(pressed, modifiers).find_map(|title| match of_table(title) {
            Some(shortcut) => {
                let is_here = shortcut.scope.is_at(focus);
                is_here.then(|| Meaning::Task(shortcut.task.clone()))
            }
            None => Some(Meaning::Command(title.to_owned())),
        });
        let usual = || shortcuts::task(pressed, modifiers, focus, |title| self.keeps(title));
        own.or_else(|| usual().map(Meaning::Task))
    }

    /// Whether a key of the program's, beside those of [`SHORTCUTS`], means nothing any more.
    pub fn frees(&self, modifiers: Modifiers, key: Key) -> bool {
        self.freed.contains(&KeyboardShortcut::new(modifiers, key))
    }

    /// Whether a command has the program's own keys.
    fn keeps(&self, title: &str) -> bool {
        !self.own.contains_key(title)
    }

    /// The commands that have a key by the file.
    fn commands(&self, pressed: Key, modifiers: Modifiers) -> impl Iterator<Item = &str> {
        let fits = move |keys: &Vec<KeyboardShortcut>| {
            keys.iter().any(|keys| shortcuts::fits(keys, pressed, modifiers))
        };
        self.own.iter().filter(move |(_, keys)| fits(keys)).map(|(title, _)| title.as_str())
    }
}

/// The row of the table of keys that a command is, where it is one.
fn of_table(title: &str) -> Option<&'static Shortcut> {
    SHORTCUTS.iter().find(|shortcut| shortcut.title == title && shortcut.scope != Scope::Field)
}

/// A file in which all commands stand with their keys, as comments.
pub fn template(commands: &[Bindable]) -> String {
    let mut text = String::from(
        "# Keys of your own: take the # away before a command, and write its keys.\n\
         # Several: [\"Ctrl+T\", \"F9\"]. None: \"\". Each has Ctrl or Alt, or is an F key.\n\n",
    );
    for command in commands {
        let keys: Vec<String> =
            command.keys.iter().map(|keys| format!("\"{}\"", shortcuts::name(keys))).collect();
        let keys = match keys.as_slice() {
            [] => "\"\"".to_owned(),
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let _ = writeln!(text, "# {:?} = {}", command.title, keys.replace('\\', "\\\\"));
    }
    text
}

/// The key that is written so: `Ctrl+Shift+P`, `Alt+Up`, `F9`.
fn parse(written: &str) -> Result<KeyboardShortcut, String> {
    let (mut rest, mut modifiers) = (written.trim(), Modifiers::NONE);
    let known = [
        ("ctrl+", Modifiers::COMMAND),
        ("cmd+", Modifiers::COMMAND),
        ("alt+", Modifiers::ALT),
        ("shift+", Modifiers::SHIFT),
    ];
    while let Some((name, modifier)) = known.iter().find(|(name, _)| {
        rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
    }) {
        modifiers = modifiers.plus(*modifier);
        rest = rest[name.len()..].trim_start();
    }
    let upper = rest.to_uppercase();
    let key = Key::from_name(rest).or_else(|| Key::from_name(&upper));
    let Some(key) = key else { return Err(format!("no key is called \u{201c}{rest}\u{201d}")) };
    let is_function = key.name().strip_prefix('F').is_some_and(|n| n.parse::<u8>().is_ok());
    if !(modifiers.command || modifiers.alt || is_function) {
        return Err(format!("{written} types: a key of a command has Ctrl or Alt, or is an F key"));
    }
    if modifiers == Modifiers::COMMAND && matches!(key, Key::C | Key::X | Key::V) {
        return Err(format!("{written} is the clipboard's"));
    }
    Ok(KeyboardShortcut::new(modifiers, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bindable(title: &str, key: &str, scope: Scope) -> Bindable {
        Bindable { title: title.into(), keys: parse(key).into_iter().collect(), scope }
    }

    fn commands() -> Vec<Bindable> {
        vec![
            bindable("Go to symbol", "Ctrl+Shift+O", Scope::Window),
            bindable("Save", "Ctrl+S", Scope::Window),
            bindable("Join lines", "Ctrl+J", Scope::Editor),
            bindable("Ten steps", "", Scope::Window),
        ]
    }

    #[test]
    fn commands_have_the_keys_that_the_file_says() {
        let text =
            "\"Go to symbol\" = \"ctrl+t\"\n\"Ten steps\" = [\"F9\", \"Alt+Up\"]\nSave = \"\"\n";
        let (map, remarks) = Keymap::read(text, &commands());
        assert!(remarks.is_empty(), "{remarks:?}");
        let bound = |key, modifiers| map.commands(key, modifiers).next().map(str::to_owned);
        let control = Modifiers { ctrl: true, ..Modifiers::COMMAND };
        assert_eq!(bound(Key::T, control).as_deref(), Some("Go to symbol"));
        assert_eq!(bound(Key::T, control | Modifiers::SHIFT), None);
        assert_eq!(bound(Key::F9, Modifiers::NONE).as_deref(), Some("Ten steps"));
        assert_eq!(bound(Key::ArrowUp, Modifiers::ALT).as_deref(), Some("Ten steps"));
        assert_eq!((map.keys("Save"), map.keeps("Save")), (Some(&[][..]), false));
        assert!(map.keeps("Join lines"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let text = "\"Go to symbl\" = \"Ctrl+T\"\nSave = \"Ctrl+Banana\"\n\"Ten steps\" = \"Ctrl+J\"\n\n\
            \"Join lines\" = \"T\"\n\"Go to symbol\" = [\"Ctrl+T\", 3]\n";
        let (map, remarks) = Keymap::read(text, &commands());
        let told: Vec<String> =
            remarks.iter().map(|(line, why)| format!("{line}: {why}")).collect();
        assert_eq!(
            told,
            [
                "1: no command is called “Go to symbl”",
                "2: no key is called “Banana”",
                "3: Ctrl+J is “Join lines”, too",
                "5: T types: a key of a command has Ctrl or Alt, or is an F key",
                "6: keys are a string, or a list of strings"
            ],
            "a command whose key is wrong keeps the program's own"
        );
        assert!(map.keeps("Go to symbol"));
        let (_, remarks) = Keymap::read("[[", &commands());
        assert_eq!(remarks.first().map(|(line, _)| *line), Some(1));
    }

    #[test]
    fn clashes_are_told_with_commands_of_the_same_place() {
        let text =
            "\"Ten steps\" = \"Ctrl+S\"\n\"Go to symbol\" = \"F9\"\n\"Join lines\" = \"F9\"\n";
        let (_, remarks) = Keymap::read(text, &commands());
        let told: Vec<String> =
            remarks.iter().map(|(line, why)| format!("{line}: {why}")).collect();
        assert_eq!(told, ["1: Ctrl+S is “Save”, too", "3: F9 is “Go to symbol”, too"]);
    }

    #[test]
    fn a_template_changes_nothing_and_can_be_read_without_its_marks() {
        let text = template(&commands());
        assert_eq!(Keymap::read(&text, &commands()), (Keymap::default(), Vec::new()));
        let bare: String = text
            .lines()
            .skip(3)
            .map(|line| format!("{}\n", line.trim_start_matches("# ")))
            .collect();
        let (map, remarks) = Keymap::read(&bare, &commands());
        assert!(remarks.is_empty(), "{remarks:?}");
        assert_eq!(map.own.len(), 4);
    }
}

//! A field for a path, which completes what is typed with what the folders have.

use std::{
    fs,
    path::{MAIN_SEPARATOR, Path, PathBuf},
};

use egui::{EventFilter, Id, Key, Modifiers, RichText, TextEdit, Ui};

use crate::studio::theme;

/// Files that are offered.
const ENDINGS: [&str; 3] = ["cu", "json", "npz"];
/// Of a folder so many entries are looked at, and so many are offered.
const MOST_READ: usize = 4096;
const MOST_SHOWN: usize = 7;

/// The field.
#[derive(Debug, Default)]
pub struct PathField {
    /// What is typed.
    pub text: String,
    /// The folder that was read last, as it was typed, and what is in it.
    read: Option<(String, Vec<String>)>,
}

impl PathField {
    /// A field with this text.
    pub fn with(text: String) -> Self {
        Self { text, read: None }
    }

    /// The field; gives the path once it is entered. Paths that are not absolute begin in `folder`.
    pub fn show(&mut self, ui: &mut Ui, id: Id, hint: &str, folder: &Path) -> Option<PathBuf> {
        let found = self.completions(folder);
        let has_focus = ui.memory(|memory| memory.has_focus(id));
        if has_focus {
            let filter =
                EventFilter { tab: true, horizontal_arrows: true, ..EventFilter::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
        }
        let completes =
            has_focus && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Tab));
        if completes && !found.is_empty() {
            self.complete(&found);
        }
        let edit = TextEdit::singleline(&mut self.text).id(id).hint_text(hint).lock_focus(true);
        let output = edit.desired_width(f32::INFINITY).show(ui);
        if completes {
            let mut state = output.state;
            let end = egui::text::CCursor::new(self.text.chars().count());
            state.cursor.set_char_range(Some(egui::text::CCursorRange::one(end)));
            state.store(ui.ctx(), id);
        }
        let entered =
            output.response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let chosen = if self.text.is_empty() { None } else { self.offer(ui, &found) };
        if let Some(name) = chosen {
            self.take(&name);
            if !name.ends_with(MAIN_SEPARATOR) {
                return Some(self.path(folder));
            }
            ui.memory_mut(|memory| memory.request_focus(id));
        }
        (entered && !self.text.trim().is_empty()).then(|| self.path(folder))
    }

    /// The path that is typed.
    pub fn path(&self, folder: &Path) -> PathBuf {
        folder.join(expanded(self.text.trim()))
    }

    /// What is offered, each a line to click on.
    fn offer(&self, ui: &mut Ui, found: &[String]) -> Option<String> {
        let mut chosen = None;
        ui.spacing_mut().item_spacing.y = 0.0;
        for name in found.iter().take(MOST_SHOWN).filter(|name| **name != self.last()) {
            let color = if name.ends_with(MAIN_SEPARATOR) { theme::weak() } else { theme::text() };
            let text = RichText::new(name).monospace().size(12.0).color(color);
            if ui.add(egui::Button::new(text).frame(false).truncate()).clicked() {
                chosen = Some(name.clone());
            }
        }
        chosen
    }

    /// The part behind the last folder.
    fn last(&self) -> &str {
        self.text.rsplit(std::path::is_separator).next().unwrap_or("")
    }

    /// The names in the typed folder that begin as the last part does: folders first.
    fn completions(&mut self, folder: &Path) -> Vec<String> {
        let last = self.last().to_owned();
        let typed = self.text[..self.text.len() - last.len()].to_owned();
        if self.read.as_ref().is_none_or(|(of, _)| *of != typed) {
            let names = names_in(&folder.join(expanded(&typed)));
            self.read = Some((typed, names));
        }
        let names = self.read.iter().flat_map(|(_, names)| names);
        names.filter(|name| fits(name, &last)).cloned().collect()
    }

    /// Takes as much as all that is found have in common; of those that differ already the first.
    fn complete(&mut self, found: &[String]) {
        let common = found.iter().skip(1).fold(found[0].as_str(), |common, name| {
            let same = common.char_indices().zip(name.chars()).find(|((_, a), b)| a != b);
            let end = same.map_or(common.len().min(name.len()), |((at, _), _)| at);
            &common[..end]
        });
        let common = if common.len() > self.last().len() { common } else { found[0].as_str() };
        let common = common.to_owned();
        self.take(&common);
    }

    fn take(&mut self, name: &str) {
        self.text.truncate(self.text.len() - self.last().len());
        self.text.push_str(name);
    }
}

/// What is hidden is offered to those who ask for it.
fn fits(name: &str, typed: &str) -> bool {
    name.starts_with(typed) && (typed.starts_with('.') || !name.starts_with('.'))
}

/// `~` is the home folder.
fn expanded(path: &str) -> PathBuf {
    let home = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (home, directories::BaseDirs::new()) {
        (Some(rest), Some(folders)) => folders.home_dir().join(rest.trim_start_matches('/')),
        (Some(_), None) | (None, _) => PathBuf::from(path),
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(MOST_READ).flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?.to_owned();
            if entry.path().is_dir() {
                return Some(format!("{name}{MAIN_SEPARATOR}"));
            }
            let ending = Path::new(&name).extension()?.to_str()?.to_lowercase();
            ENDINGS.contains(&ending.as_str()).then_some(name)
        })
        .collect();
    names.sort_by_key(|name| (!name.ends_with(MAIN_SEPARATOR), name.clone()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_completed_as_far_as_it_is_clear() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("scenes/deep")).unwrap();
        for file in ["scenes/wave_a.cu", "scenes/wave_b.cu", "scenes/notes.txt", ".hidden.cu"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let mut field = PathField::default();
        let mut tab = |text: &str| {
            field.text = text.into();
            let found = field.completions(folder.path());
            if !found.is_empty() {
                field.complete(&found);
            }
            field.text.clone()
        };
        assert_eq!(tab("s"), "scenes/");
        assert_eq!(tab("scenes/w"), "scenes/wave_");
        assert_eq!(tab("scenes/wave_"), "scenes/wave_a.cu", "no more is common");
        assert_eq!(tab("scenes/n"), "scenes/n", "no scene");
        assert_eq!(tab("scenes/d"), "scenes/deep/");
        assert_eq!((tab("nothing"), tab(".h")), ("nothing".into(), ".hidden.cu".into()));
        assert_eq!(tab(""), "scenes/");
        assert_eq!(field.path(folder.path()), folder.path().join("scenes/"));
        field.text = "/tmp/ä.cu".into();
        assert_eq!(field.path(folder.path()), Path::new("/tmp/ä.cu"));
    }
}

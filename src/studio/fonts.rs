//! The system's fonts for letters that egui's own fonts lack: Chinese, Japanese and Korean, emoji, and others.
//!
//! Enters: texts that are shown. Leaves: fonts that egui falls back to. Nothing is read before there is a letter that
//! needs it, and then on a thread: of some hundred fonts it takes a while.

use std::{
    collections::BTreeSet,
    sync::mpsc::{self, Receiver},
    thread,
};

use egui::{
    Context, FontData, FontFamily, FontId,
    epaint::text::{FontInsert, FontPriority, InsertFontFamily},
};
use fontdb::{Database, ID};
use skrifa::{FontRef, MetadataProvider as _};

use super::wake::Wake;

/// As many letters are looked for at once, and as many fonts are taken for them.
const MOST_LETTERS: usize = 4096;
const MOST_FONTS: usize = 6;

/// Which letters have been looked for, and which are.
#[derive(Debug, Default)]
pub struct Fonts {
    asked: BTreeSet<char>,
    /// The text that was looked at last, by a number that it has alone.
    seen: Option<u64>,
    coming: Option<Receiver<Found>>,
}

/// What came of a search.
struct Found {
    fonts: Vec<(String, FontData)>,
    missing: Vec<char>,
}

impl Fonts {
    /// Looks whether egui's fonts have all letters of a text, which `number` tells from others, and for others that do.
    pub fn observe(
        &mut self,
        context: &Context,
        number: u64,
        text: impl FnOnce() -> String,
        wake: &Wake,
    ) {
        // Before its first frame egui has no fonts, and panics where it is asked for one.
        let is_early = context.cumulative_pass_nr() == 0;
        if is_early || self.coming.is_some() || self.seen == Some(number) {
            return;
        }
        self.seen = Some(number);
        let text = text();
        // Nearly all texts are done here.
        let others: BTreeSet<char> = text.chars().filter(|letter| !letter.is_ascii()).collect();
        let font = FontId::new(12.0, FontFamily::Monospace);
        let lacks = |letter: &char| {
            let is_shown = !letter.is_control() && !letter.is_whitespace() && !is_mark(*letter);
            is_shown && !context.fonts_mut(|fonts| fonts.has_glyph(&font, *letter))
        };
        let unknown = others.into_iter().filter(|of| !self.asked.contains(of));
        let wanted: BTreeSet<char> = unknown.filter(lacks).take(MOST_LETTERS).collect();
        if wanted.is_empty() {
            return;
        }
        self.asked.extend(wanted.iter().copied());
        let (sender, coming) = mpsc::channel();
        let wake = wake.clone();
        let begun = thread::Builder::new().name("fonts".into()).spawn(move || {
            let mut all = Database::new();
            all.load_system_fonts();
            // The window may be gone.
            let _ = sender.send(find(&all, wanted));
            wake();
        });
        self.coming = begun.is_ok().then_some(coming);
    }

    /// Gives egui the fonts that have been found; gives a sentence about letters that none has.
    pub fn take(&mut self, context: &Context) -> Option<String> {
        let found = self.coming.as_ref()?.try_recv().ok()?;
        (self.coming, self.seen) = (None, None);
        for (name, data) in found.fonts {
            let families = [FontFamily::Proportional, FontFamily::Monospace]
                .map(|family| InsertFontFamily { family, priority: FontPriority::Lowest });
            context.add_font(FontInsert::new(&name, data, families.to_vec()));
        }
        let first: String = found.missing.iter().take(8).collect();
        let more = if found.missing.len() > 8 { "\u{2026}" } else { "" };
        (!found.missing.is_empty()).then(|| {
            format!(
                "No font of this system has the letters {first}{more}: boxes stand for them. \
                 Noto Sans CJK and Noto Emoji have most."
            )
        })
    }
}

/// Whether a letter only changes the one before it: joiners, variants, and colours of skin.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}')
        || matches!(letter, '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0100}'..='\u{e01ef}')
}

/// The fonts that have most of the letters, and the letters that none has.
fn find(all: &Database, mut wanted: BTreeSet<char>) -> Found {
    let mut fonts = Vec::new();
    while !wanted.is_empty() && fonts.len() < MOST_FONTS {
        let faces = all.faces().map(|face| face.id);
        let has = faces.map(|id| (letters(all, id, &wanted), id));
        // Of several with as many letters an upright one of usual weight.
        let best = has.max_by_key(|(has, id)| {
            let face = all.face(*id);
            let is_usual = face.is_some_and(|face| {
                face.style == fontdb::Style::Normal && face.weight == fontdb::Weight::NORMAL
            });
            (has.len(), is_usual)
        });
        let Some((has, id)) = best.filter(|(has, _)| !has.is_empty()) else { break };
        wanted.retain(|letter| !has.contains(letter));
        let name = all.face(id).map_or_else(String::new, |face| face.post_script_name.clone());
        let data = all.with_face_data(id, |data, index| FontData {
            index,
            ..FontData::from_owned(data.to_vec())
        });
        fonts.extend(data.map(|data| (name, data)));
    }
    Found { fonts, missing: wanted.into_iter().collect() }
}

/// The letters that a font has an outline for; egui paints no others.
fn letters(all: &Database, id: ID, wanted: &BTreeSet<char>) -> BTreeSet<char> {
    let has = all.with_face_data(id, |data, index| {
        let font = FontRef::from_index(data, index).ok()?;
        let (letters, outlines) = (font.charmap(), font.outline_glyphs());
        let has =
            |letter: &&char| letters.map(**letter).is_some_and(|of| outlines.get(of).is_some());
        Some(wanted.iter().filter(has).copied().collect())
    });
    has.flatten().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::keeper::no_wake;

    /// The fonts that come with egui, as if they were the system's.
    fn database() -> Database {
        let mut all = Database::new();
        for data in egui::FontDefinitions::default().font_data.values() {
            all.load_font_data((*data.font).as_ref().to_vec());
        }
        all
    }

    #[test]
    fn fonts_are_found_that_have_the_letters_and_what_none_has_is_told() {
        let found = find(&database(), BTreeSet::from(['\u{416}', '\u{3b1}', '\u{6f22}']));
        assert_eq!((found.fonts.len(), found.missing), (1, vec!['\u{6f22}']));
        let none = find(&database(), BTreeSet::new());
        assert_eq!((none.fonts.len(), none.missing.len()), (0, 0));
    }

    #[test]
    fn letters_are_looked_for_once_and_only_where_they_are_lacking() {
        let context = Context::default();
        let mut fonts = Fonts::default();
        // A text that is there at the start is looked at behind the first frame.
        fonts.observe(&context, 1, || "\u{b2}".into(), &no_wake());
        assert!(fonts.seen.is_none());
        let mut output = context.run_ui(egui::RawInput::default(), |_| {});
        output.textures_delta.clear();
        fonts.observe(&context, 1, || "float \u{3b1}; // \u{fc}".into(), &no_wake());
        assert!(fonts.coming.is_none(), "egui has them");
        fonts.observe(&context, 1, || panic!("it was looked at"), &no_wake());
        // No font has what is for private use.
        fonts.observe(&context, 2, || "\u{f8fe}".into(), &no_wake());
        let told = loop {
            if let Some(told) = fonts.take(&context) {
                break told;
            }
            thread::sleep(std::time::Duration::from_millis(5));
        };
        assert!(told.contains('\u{f8fe}'), "{told}");
        fonts.observe(&context, 3, || "\u{f8fe} again".into(), &no_wake());
        assert!(fonts.coming.is_none());
    }
}

//! The list of words that one that is half typed may become.

use std::path::PathBuf;

use egui::{
    Area, Context, CornerRadius, Frame, Id, Label, Margin, Order, Pos2, Rect, RichText, Sense, vec2,
};

use crate::studio::{
    completion::{self, Candidate},
    glossary,
    headers::Headers,
    highlight::Syntax,
    highlighter::Highlighter,
    text::{Buffer, Direction},
    theme,
};

/// So many letters are typed before words are suggested.
const LEAST: usize = 2;
/// So many words are seen at once.
const ROWS: usize = 8;
const ROW: f32 = 20.0;
const WIDTH: f32 = 380.0;

/// The list.
#[derive(Debug, Default)]
pub struct Suggest {
    pool: Vec<Candidate>,
    /// The functions of the scene's headers.
    headers: Headers,
    /// Where the word begins.
    start: usize,
    found: Vec<Candidate>,
    chosen: usize,
    /// Whether the user has asked for the list or gone up or down in it: then Enter takes the word.
    meant: bool,
}

impl Suggest {
    /// Whether there is a list.
    pub fn is_open(&self) -> bool {
        !self.found.is_empty()
    }

    /// Whether Enter is for the list.
    pub fn is_meant(&self) -> bool {
        self.is_open() && self.meant
    }

    /// Suggests nothing any more.
    pub fn close(&mut self) {
        self.found.clear();
        self.pool.clear();
    }

    /// Looks whether the text includes other headers, or these have changed; `files` are those beside the scene.
    pub fn follow(&mut self, buffer: &Buffer, files: &[PathBuf]) {
        self.headers.follow(buffer.revision(), || buffer.to_string(), files);
    }

    /// What a name of these headers means, in lines of which the first one is code.
    pub fn meaning(&self, word: &str) -> Option<String> {
        self.headers.meaning(word)
    }

    /// The caret's word has changed; `asked` is whether the user wants the list in any case.
    pub fn update(&mut self, buffer: &Buffer, colors: &mut Highlighter, asked: bool) {
        let caret = buffer.selections().primary();
        let word = word_before(buffer, caret.head);
        let length = caret.head - word;
        let begins_number = buffer.rope().get_char(word).is_some_and(|c| c.is_ascii_digit());
        // A quote begins a value of the manifest, whose names are few.
        let is_short = length < LEAST && !asked;
        if !caret.is_empty() || begins_number || (is_short && !begins_value(buffer, word)) {
            return self.close();
        }
        if self.pool.is_empty() || self.start != word || asked {
            colors.update(buffer);
            let at = buffer.rope().char_to_byte(caret.head);
            let is_text = matches!(
                colors.syntax_before(buffer, caret.head),
                Some(Syntax::Comment | Syntax::String)
            );
            if is_text && glossary::table_at(colors.text(), at).is_none() {
                return self.close();
            }
            self.pool = match is_short {
                true => completion::values_at(colors.text(), at).unwrap_or_default(),
                false => {
                    let included = self.headers.candidates();
                    completion::pool(colors.text(), at, &colors.bound(), included)
                }
            };
            // The word itself is one of the text where it is there once.
            self.start = word;
            self.meant = asked;
        }
        self.found = completion::fitting(&self.pool, &buffer.text(word..caret.head));
        self.chosen = 0;
    }

    /// Goes up or down in the list, and around.
    pub fn choose(&mut self, direction: Direction) {
        let count = self.found.len().max(1);
        self.meant = true;
        self.chosen = match direction {
            Direction::Up => (self.chosen + count - 1) % count,
            Direction::Down => (self.chosen + 1) % count,
        };
    }

    /// The word that is chosen, and closes the list.
    pub fn take(&mut self) -> Option<(usize, String)> {
        let word = self.found.get(self.chosen).map(|candidate| (self.start, candidate.inserted()));
        self.close();
        word
    }

    /// The list below `caret`, or above it where there is no space; gives whether a word was clicked on, which is the
    /// chosen one then.
    pub fn show(&mut self, context: &Context, caret: Rect, size: f32) -> bool {
        if !self.is_open() {
            return false;
        }
        let rows = self.found.len().min(ROWS);
        let height = rows as f32 * ROW + 8.0;
        let below = caret.bottom() + height + 4.0 < context.content_rect().bottom();
        let y = if below { caret.bottom() + 2.0 } else { caret.top() - height - 2.0 };
        let style = context.global_style();
        let frame = Frame::new()
            .fill(style.visuals.window_fill)
            .stroke(style.visuals.window_stroke)
            .corner_radius(CornerRadius::same(6))
            .inner_margin(Margin::same(4));
        let area = Area::new(Id::unique("suggestions"))
            .order(Order::Foreground)
            .fixed_pos(Pos2::new(caret.left() - 8.0, y));
        let shown = area.show(context, |ui| {
            frame
                .show(ui, |ui| {
                    ui.set_width(WIDTH);
                    ui.spacing_mut().item_spacing.y = 0.0;
                    let first = self.chosen.saturating_sub(ROWS - 1);
                    let mut clicked = None;
                    for (n, candidate) in self.found.iter().enumerate().skip(first).take(ROWS) {
                        let (rect, response) =
                            ui.allocate_exact_size(vec2(WIDTH, ROW), Sense::CLICK);
                        if n == self.chosen || response.hovered() {
                            let color = theme::faded(
                                theme::hovered(),
                                if n == self.chosen { 1.0 } else { 0.5 },
                            );
                            ui.painter().rect_filled(rect, 3.0, color);
                        }
                        row(ui, rect, candidate, size);
                        if response.clicked() {
                            clicked = Some(n);
                        }
                    }
                    clicked
                })
                .inner
        });
        self.chosen = shown.inner.unwrap_or(self.chosen);
        shown.inner.is_some()
    }
}

fn row(ui: &mut egui::Ui, rect: Rect, candidate: &Candidate, size: f32) {
    let inner = rect.shrink2(vec2(6.0, 0.0));
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    ui.scope_builder(egui::UiBuilder::new().max_rect(inner).layout(layout), |ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        let word = RichText::new(&candidate.word)
            .font(theme::code_font(size.min(14.0)))
            .color(theme::syntax(candidate.syntax));
        ui.add(Label::new(word).selectable(false));
        let detail = RichText::new(&candidate.detail).monospace().size(11.0).color(theme::weak());
        ui.add(Label::new(detail).truncate().selectable(false));
    });
}

/// Whether a quote has been opened right before `at`.
fn begins_value(buffer: &Buffer, at: usize) -> bool {
    let (line, _) = buffer.place(at);
    let before = buffer.text(buffer.line(line).start..at);
    before.ends_with('"') && before.matches('"').count() % 2 == 1
}

/// Where the name begins that ends at `at`.
fn word_before(buffer: &Buffer, at: usize) -> usize {
    let is_word = |c: &char| *c == '_' || c.is_alphanumeric();
    at - buffer.rope().chars_at(at).reversed().take_while(is_word).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::text::{Command, Selection, Selections};

    fn list(text: &str, typed: &str) -> Suggest {
        let mut buffer = Buffer::new(text);
        buffer.select(Selections::one(Selection::caret(usize::MAX)));
        let (mut suggest, mut colors) = (Suggest::default(), Highlighter::default());
        for letter in typed.chars() {
            buffer.run(&Command::Type(letter.into()), 0.0);
            suggest.update(&buffer, &mut colors, false);
        }
        suggest
    }

    #[test]
    fn words_are_suggested_after_two_letters_of_code() {
        let mut suggest = list("int velocity;\n", "x = ve");
        assert_eq!(suggest.take(), Some((18, "velocity".to_owned())));
        assert!(!suggest.is_open());
        assert!(!list("int velocity;\n", "v").is_open());
        assert!(!list("int velocity;\n", "// ve").is_open());
        assert!(!list("int velocity;\n", "ve ").is_open());
        assert!(!list("int x1e;\n", "1e").is_open());
    }

    #[test]
    fn a_quote_in_the_manifest_begins_a_value() {
        let mut suggest = list("/*---\n[view]\n", "kind = \"");
        assert!(suggest.is_open() && !suggest.is_meant(), "Enter breaks the line");
        suggest.choose(Direction::Down);
        assert_eq!(suggest.take(), Some((21, "image\"".to_owned())));
        assert!(!list("/*---\n[view]\n", "kind = \"volume\"").is_open(), "behind the last quote");
        assert!(!list("/*---\n", "title = \"").is_open(), "any text is one");
        assert!(!list("int a;\n", "f(\"").is_open());
    }

    #[test]
    fn enter_is_for_the_list_once_it_was_meant() {
        let mut suggest = list("int velocity, vector;\n", "ve");
        assert!(suggest.is_open() && !suggest.is_meant());
        suggest.choose(Direction::Down);
        assert!(suggest.is_meant());
        assert_eq!(suggest.take(), Some((22, "velocity".to_owned())));
    }
}

//! Text from files that strangers wrote, made fit for a terminal: what would steer it is shown, and what would bury the
//! message is cut.

use std::borrow::Cow;

/// Characters of a word that are shown: no name or path that a person wrote is as long.
const LONGEST_WORD: usize = 1000;
/// Characters of a line that are shown.
const LONGEST_LINE: usize = 4000;
/// Bytes that are shown altogether.
const LONGEST_TEXT: usize = 256 << 10;

/// `text` with its control characters, and those that turn the direction of writing, as `\u{1b}`. Line feeds and tabs
/// stay; the carriage return of a line's end goes.
///
/// ```
/// use warpaint::diagnostic::escaped;
///
/// assert_eq!(escaped("line\r\n\tred: \x1b[31m"), "line\n\tred: \\u{1b}[31m");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.replace("\r\n", "\n").chars() {
        match steers(character) {
            true => escaped.extend(character.escape_unicode()),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

/// A name, of a file or of something in it, as it can stand in a line: as [`escaped`], and without line feeds and tabs.
///
/// ```
/// use warpaint::diagnostic::one_line;
///
/// assert_eq!(one_line("a.cu"), "a.cu");
/// assert_eq!(one_line("a.cu\nb.cu: ok"), "a.cu\\u{a}b.cu: ok");
/// ```
pub fn one_line(name: &str) -> Cow<'_, str> {
    let steers = |character| steers(character) || matches!(character, '\n' | '\t');
    if !name.contains(steers) {
        return Cow::Borrowed(name);
    }
    let shown = |character: char| -> String {
        if steers(character) { character.escape_unicode().collect() } else { character.into() }
    };
    Cow::Owned(name.chars().map(shown).collect())
}

/// `json` with what [`escaped`] would show as `\u` escapes, which JSON itself only demands of some.
///
/// ```
/// use warpaint::diagnostic::escaped_json;
///
/// assert_eq!(escaped_json("{\"name\": \"\u{9b}31m\"}\n"), "{\"name\": \"\\u009b31m\"}\n");
/// ```
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    if !json.contains(steers) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match steers(character) {
            // All of them are one unit of UTF-16, and only strings have them.
            true => escaped += &format!("\\u{:04x}", u32::from(character)),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

/// Whether a terminal, or a reader's eye, would be led astray by it.
fn steers(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of Unicode's bidirectional algorithm; ends of line and paragraph;
        // the invisible byte order mark.
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => true,
        '\u{feff}' => true,
        other => other.is_control(),
    }
}

/// [`escaped`], with `…` for the rest of words, lines and texts that are too long to be read.
///
/// ```
/// use warpaint::diagnostic::printable;
///
/// let text = format!("`{}` is undefined", "x".repeat(1_000_000));
/// let told = printable(&text);
/// assert!(told.len() < 2000 && told.starts_with("`xxx") && told.ends_with("x… is undefined"));
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    let escaped = escaped(text);
    let fits = |line: &str| line.len() <= LONGEST_WORD;
    if escaped.len() <= LONGEST_TEXT && escaped.lines().all(fits) {
        return escaped;
    }
    let mut shown = String::new();
    for (index, line) in escaped.split('\n').enumerate() {
        if shown.len() > LONGEST_TEXT {
            shown += "\n…";
            break;
        }
        if index > 0 {
            shown.push('\n');
        }
        push_line(&mut shown, line);
    }
    Cow::Owned(shown)
}

fn push_line(shown: &mut String, line: &str) {
    let mut left = LONGEST_LINE;
    for word in line.split_inclusive(char::is_whitespace) {
        if left == 0 {
            shown.push('…');
            return;
        }
        let most = LONGEST_WORD.min(left);
        match word.char_indices().nth(most) {
            None => shown.push_str(word),
            Some((cut, _)) => {
                shown.push_str(&word[..cut]);
                shown.push('…');
                shown.extend(word.chars().next_back().filter(|c| c.is_whitespace()));
            }
        }
        left -= most.min(word.chars().count());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        assert!(matches!(escaped("Grüße,\n\tこんにちは `x`"), Cow::Borrowed(_)));
        for (text, shown) in [
            ("\u{7}\u{1b}[2J", "\\u{7}\\u{1b}[2J"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
            ("a\u{202e}b\u{2066}c\u{200f}", "a\\u{202e}b\\u{2066}c\\u{200f}"),
        ] {
            assert_eq!(escaped(text), shown);
        }
    }

    #[test]
    fn what_is_long_is_cut() {
        let usual = format!("{}/scene.cu:1: error: no", "/folder".repeat(100));
        assert_eq!(printable(&usual), usual);
        let words = "word ".repeat(100_000);
        assert_eq!(printable(&words).chars().count(), LONGEST_LINE + 1);
        let lines = "line\n".repeat(1_000_000);
        let shown = printable(&lines);
        assert!(shown.len() < LONGEST_TEXT + 100 && shown.ends_with("line\n…"), "{}", shown.len());
        let wide = "ß".repeat(5000);
        assert_eq!(printable(&wide).chars().count(), LONGEST_WORD + 1);
    }
}

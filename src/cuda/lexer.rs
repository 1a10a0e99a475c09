//! The one lexer of CUDA C++: a text as tokens, blanks and comments among them.
//!
//! It never fails, whatever half-typed text it gets, and takes a time in proportion to the text's length. Who wants
//! the code alone asks for [`code`], who colours a text wants everything: [`lex`].
//!
//! Which files a text includes is told by `compile::mentions` instead, which must find more than a lexer may: also
//! what only looks like a directive, in comments and in branches that are not taken.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
};

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'s> {
    /// What it is.
    pub(crate) kind: Kind,
    /// As written.
    pub(crate) text: &'s str,
    /// Where in the text, in bytes.
    pub(crate) offset: usize,
}

impl Token<'_> {
    /// Whether it is an identifier or a keyword.
    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// What tokens say that stand behind one another; beyond their end there is nothing, which has no text.
pub(crate) trait Tokens<'s> {
    /// The text of the token at a place.
    fn text_at(&self, at: usize) -> &'s str;
    /// The text of the token before a place.
    fn text_before(&self, at: usize) -> &'s str;
    /// Whether the token at a place is an identifier or a keyword.
    fn is_word_at(&self, at: usize) -> bool;
}

impl<'s> Tokens<'s> for [Token<'s>] {
    fn text_at(&self, at: usize) -> &'s str {
        self.get(at).map_or("", |token| token.text)
    }

    fn text_before(&self, at: usize) -> &'s str {
        at.checked_sub(1).map_or("", |before| self.text_at(before))
    }

    fn is_word_at(&self, at: usize) -> bool {
        self.get(at).is_some_and(Token::is_word)
    }
}

/// What a [`Token`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Blanks and line ends, and the backslashes that join lines.
    Blank,
    /// `// ...` or `/* ... */`.
    Comment,
    /// A preprocessor line, or as much of it as stands between two comments.
    Directive,
    /// The lines that an `#if 0` leaves out.
    Disabled,
    /// An identifier or a keyword.
    Word,
    /// A number with its suffix.
    Number,
    /// A string or character literal with its prefix and quotes.
    Quoted,
    /// One other character, or `::`.
    Sign,
}

impl Kind {
    /// Whether the compiler sees it behind the preprocessor.
    pub(crate) const fn is_code(self) -> bool {
        match self {
            Self::Word | Self::Number | Self::Quoted | Self::Sign => true,
            Self::Blank | Self::Comment | Self::Directive | Self::Disabled => false,
        }
    }
}

/// The tokens of `text`, which follow one another without a gap.
pub(crate) fn lex(text: &str) -> Lexer<'_> {
    Lexer { text, at: 0, place: Place::LineStart }
}

/// The tokens of `text` that are code.
pub(crate) fn code(text: &str) -> impl Iterator<Item = Token<'_>> {
    lex(text).filter(|token| token.kind.is_code())
}

/// The identifiers of `text`, keywords too, each once.
pub(crate) fn words(text: &str) -> BTreeSet<&str> {
    code(text).filter(Token::is_word).map(|token| token.text).collect()
}

/// How often each word is in the code of `text`.
pub(crate) fn word_counts(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for token in code(text).filter(Token::is_word) {
        *counts.entry(token.text).or_default() += 1;
    }
    counts
}

/// What stands on the line before the lexer's place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Blanks and comments only.
    LineStart,
    /// Code.
    Code,
    /// The beginning of a directive.
    Directive,
    /// An `#if 0`, which leaves out what follows.
    If0,
}

/// Gives the tokens of a text one after the other.
pub(crate) struct Lexer<'s> {
    text: &'s str,
    at: usize,
    place: Place,
}

impl<'s> Iterator for Lexer<'s> {
    type Item = Token<'s>;

    fn next(&mut self) -> Option<Token<'s>> {
        let rest = &self.text[self.at..];
        let next = rest.chars().next()?;
        let (kind, length) = self.measure(rest, next);
        let end = self.text.ceil_char_boundary((self.at + length).min(self.text.len()));
        let token = Token { kind, text: &self.text[self.at..end], offset: self.at };
        self.at = end;
        self.pass(&token);
        Some(token)
    }
}

impl Lexer<'_> {
    /// What `rest` begins with, and how many bytes belong to it.
    fn measure(&self, rest: &str, next: char) -> (Kind, usize) {
        if self.place == Place::If0 {
            return (Kind::Disabled, disabled(rest));
        }
        if let Some(length) = blanks(rest) {
            return (Kind::Blank, length);
        }
        if let Some(length) = comment(rest) {
            return (Kind::Comment, length);
        }
        match self.place {
            Place::Directive => return (Kind::Directive, directive(rest)),
            Place::LineStart if directive_body(rest).is_some() => {
                return (Kind::Directive, directive(rest));
            }
            Place::LineStart | Place::Code | Place::If0 => {}
        }
        if starts_number(rest) {
            (Kind::Number, number(rest))
        } else if is_word_start(next) {
            word(rest)
        } else if next == '"' || next == '\'' {
            (Kind::Quoted, quoted(rest, next))
        } else {
            (Kind::Sign, if rest.starts_with("::") { 2 } else { next.len_utf8() })
        }
    }

    /// Goes behind `token`.
    fn pass(&mut self, token: &Token<'_>) {
        self.place = match token.kind {
            Kind::Blank if token.text == "\n" => Place::LineStart,
            Kind::Blank | Kind::Comment => self.place,
            Kind::Directive if self.place == Place::Directive => Place::Directive,
            Kind::Directive if is_if_0(&self.text[token.offset..]) => Place::If0,
            Kind::Directive => Place::Directive,
            Kind::Disabled => Place::LineStart,
            Kind::Word | Kind::Number | Kind::Quoted | Kind::Sign => Place::Code,
        };
    }
}

/// The bytes of the blanks that `text` begins with, where there are any: at most one line's end, so that what follows
/// begins a line.
fn blanks(text: &str) -> Option<usize> {
    let end = joint(text)
        .or_else(|| text.starts_with('\n').then_some(1))
        .or_else(|| text.find(|c: char| c == '\n' || !c.is_whitespace()));
    Some(end.unwrap_or(text.len())).filter(|length| *length > 0)
}

/// The bytes of a backslash at a line's end, with that end.
fn joint(text: &str) -> Option<usize> {
    let after = text.strip_prefix('\\')?;
    let end = after.len() - after.trim_start_matches('\r').len();
    after[end..].starts_with('\n').then_some(end + 2)
}

/// The bytes of the comment that `text` begins with; an unclosed one goes on to the end.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(logical_line(text));
    }
    let inside = text.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(text.len(), |end| end + 4))
}

/// The bytes of the directive that `text` begins with, at most to the comment or the line's end behind it. What stands
/// behind the comment is not looked at: it is measured when its turn comes.
fn directive(text: &str) -> usize {
    let mut at = 0;
    while let Some(found) = text[at..].find(['/', '"', '\'', '\n']).map(|length| at + length) {
        let (before, rest) = text.split_at(found);
        let is_comment = rest.starts_with("//") || rest.starts_with("/*");
        let is_end = rest.starts_with('\n') && !is_joined(before);
        if is_comment || is_end {
            return found;
        }
        at = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => found + quoted(rest, quote),
            Some(_) | None => found + 1,
        };
    }
    text.len()
}

/// What stands behind the sign of the directive that `text` begins with, where it begins with one: `#`, or its other
/// spelling `%:` (ISO C++, 5.5).
pub(crate) fn directive_body(text: &str) -> Option<&str> {
    let text = text.trim_start();
    text.strip_prefix('#').or_else(|| text.strip_prefix("%:"))
}

/// The words and signs of the directive that `text` begins with, without its comments.
fn directive_words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = directive_body(text).unwrap_or("");
    iter::from_fn(move || {
        loop {
            let next = rest.chars().next().filter(|next| *next != '\n')?;
            let skipped = comment(rest).filter(|_| !rest.starts_with("//")).or_else(|| joint(rest));
            match skipped {
                Some(length) => rest = &rest[length..],
                None if rest.starts_with("//") => return None,
                None if next.is_whitespace() => rest = &rest[next.len_utf8()..],
                None => {
                    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                    let (word, behind) = rest.split_at(length.max(next.len_utf8()));
                    rest = behind;
                    return Some(word);
                }
            }
        }
    })
}

/// Whether the directive that `text` begins with is `#if 0`, and nothing else.
fn is_if_0(text: &str) -> bool {
    let mut words = directive_words(text);
    (words.next(), words.next(), words.next()) == (Some("if"), Some("0"), None)
}

/// The bytes behind an `#if 0` up to its `#else`, `#elif` or `#endif`, which is none in a comment or a literal.
fn disabled(text: &str) -> usize {
    let (mut at, mut depth, mut begins) = (0, 0_usize, false);
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        if let Some(length) = comment(rest).or_else(|| joint(rest)) {
            at += length;
            continue;
        }
        if next.is_whitespace() {
            begins |= next == '\n';
            at += next.len_utf8();
            continue;
        }
        if begins && directive_body(rest).is_some() {
            match directive_words(rest).next().unwrap_or("") {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "else" | "elif" | "elifdef" | "elifndef" | "endif" if depth == 0 => return at,
                "endif" => depth -= 1,
                _ => {}
            }
        }
        begins = false;
        at += match next {
            // An apostrophe in a sentence is no literal.
            '"' | '\'' => {
                let length = quoted(rest, next);
                if length > 1 && rest[..length].ends_with(next) { length } else { 1 }
            }
            c if is_word_start(c) => word(rest).1,
            c => c.len_utf8(),
        };
    }
    text.len()
}

/// The bytes to the end of the line, without it; a backslash joins the next line.
fn logical_line(text: &str) -> usize {
    let mut from = 0;
    while let Some(length) = text[from..].find('\n') {
        let end = from + length;
        if !is_joined(&text[..end]) {
            return end;
        }
        from = end + 1;
    }
    text.len()
}

/// Whether the line that ends behind `text` goes on in the next one.
fn is_joined(text: &str) -> bool {
    text.trim_end_matches('\r').ends_with('\\')
}

fn starts_number(text: &str) -> bool {
    let digits = text.strip_prefix('.').unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// The bytes of the number that `text` begins with: `1'000u`, `.5f`, `1e-3`, `0x1p+4`.
fn number(text: &str) -> usize {
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let mut before = ' ';
    let ends = |c: char| {
        let exponent = matches!((before, hexadecimal), ('e' | 'E', false) | ('p' | 'P', _));
        let goes_on = is_word(c) || matches!(c, '.' | '\'') || exponent && matches!(c, '+' | '-');
        before = c;
        !goes_on
    };
    text.find(ends).unwrap_or(text.len())
}

fn is_word_start(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphabetic()
}

fn is_word(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphanumeric()
}

/// The word that `text` begins with, or the literal that it is the prefix of.
fn word(text: &str) -> (Kind, usize) {
    let length = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let (word, behind) = text.split_at(length);
    match behind.chars().next() {
        Some('"') if matches!(word, "R" | "LR" | "uR" | "UR" | "u8R") => {
            (Kind::Quoted, length + raw_string(behind))
        }
        Some(quote @ ('"' | '\'')) if matches!(word, "L" | "u" | "U" | "u8") => {
            (Kind::Quoted, length + quoted(behind, quote))
        }
        Some(_) | None => (Kind::Word, length),
    }
}

/// The bytes of the literal that `text` begins with; an unclosed one ends with its line.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return at,
            c if c == quote && !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// The bytes of `"delimiter(...)delimiter"`.
fn raw_string(text: &str) -> usize {
    let Some(open) = text[1..].find(['(', '\n', '"']).map(|at| at + 1) else { return text.len() };
    if !text[open..].starts_with('(') {
        return quoted(text, '"');
    }
    let close = format!("){}\"", &text[1..open]);
    text[open..].find(&close).map_or(text.len(), |at| open + at + close.len())
}

/// The words as one text, with a blank only between two that would be read as one: `scale<unsigned int,4>`.
#[cfg(feature = "gl")]
pub(crate) fn joined<'t>(words: impl IntoIterator<Item = &'t str>) -> String {
    let is_of_word = |c: char| c == '_' || c.is_alphanumeric();
    let mut text = String::new();
    for word in words {
        if text.ends_with(is_of_word) && word.starts_with(is_of_word) {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

#[cfg(test)]
mod tests;

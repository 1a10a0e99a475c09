//! The words and signs of a C++ text, without comments, literals' contents and preprocessor lines.

/// A word or a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'s> {
    /// What it is.
    pub kind: Kind,
    /// As written.
    pub text: &'s str,
    /// Where in the text, in bytes.
    pub offset: usize,
}

/// What a [`Token`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A number, or a string or character literal.
    Literal,
    /// One character, or `::`.
    Sign,
}

/// So many tokens are looked at, which is more than a text of 64 MiB has that a person would write.
pub(super) const MOST_TOKENS: usize = 1 << 24;

/// The first [`MOST_TOKENS`] tokens of `text`.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { text, at: 0, line_start: true, tokens: Vec::new() };
    while let Some(next) = lexer.rest().chars().next()
        && lexer.tokens.len() < MOST_TOKENS
    {
        lexer.step(next);
    }
    lexer.tokens
}

struct Lexer<'s> {
    text: &'s str,
    at: usize,
    /// Whether only blanks and comments stand before this on its line.
    line_start: bool,
    tokens: Vec<Token<'s>>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    /// Goes on `bytes` bytes, at most to the end, to the next whole character.
    fn skip(&mut self, bytes: usize) {
        self.at = self.text.ceil_char_boundary((self.at + bytes).min(self.text.len()));
    }

    fn push(&mut self, kind: Kind, bytes: usize) {
        let start = self.at;
        self.skip(bytes);
        self.tokens.push(Token { kind, text: &self.text[start..self.at], offset: start });
        self.line_start = false;
    }

    fn step(&mut self, next: char) {
        let rest = self.rest();
        if next == '\n' {
            self.line_start = true;
            self.skip(1);
        } else if next.is_whitespace() || next == '\\' {
            self.skip(next.len_utf8());
        } else if rest.starts_with("//") {
            self.skip(logical_line(rest));
        } else if let Some(comment) = rest.strip_prefix("/*") {
            self.skip(comment.find("*/").map_or(rest.len(), |end| end + 4));
        } else if next == '#' && self.line_start {
            self.directive();
        } else if is_word_start(next) {
            self.word();
        } else if next.is_ascii_digit() {
            let end = rest.find(|c: char| !(is_word(c) || c == '.' || c == '\''));
            self.push(Kind::Literal, end.unwrap_or(rest.len()));
        } else if next == '"' || next == '\'' {
            self.push(Kind::Literal, quoted(rest, next));
        } else if rest.starts_with("::") {
            self.push(Kind::Sign, 2);
        } else {
            self.push(Kind::Sign, next.len_utf8());
        }
    }

    /// A word, or the literal that it is the prefix of.
    fn word(&mut self) {
        let rest = self.rest();
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        if behind.starts_with('"') && matches!(word, "R" | "LR" | "uR" | "UR" | "u8R") {
            return self.push(Kind::Literal, length + raw_string(behind));
        }
        if behind.starts_with(['"', '\'']) && matches!(word, "L" | "u" | "U" | "u8") {
            let quote = if behind.starts_with('"') { '"' } else { '\'' };
            return self.push(Kind::Literal, length + quoted(behind, quote));
        }
        self.push(Kind::Word, length);
    }

    /// Skips a preprocessor line, and with `#if 0` all that it leaves out.
    fn directive(&mut self) {
        let line = &self.rest()[..logical_line(self.rest())];
        self.skip(line.len());
        if directive_words(line) == ("if", "0") {
            self.skip_disabled();
        }
    }

    /// Skips to the `#else`, `#elif` or `#endif` of an `#if 0`.
    fn skip_disabled(&mut self) {
        let mut depth = 0_usize;
        while !self.rest().is_empty() {
            self.skip(1);
            let line = &self.rest()[..logical_line(self.rest())];
            let trimmed = line.trim_start();
            if trimmed.starts_with('#') {
                match directive_words(trimmed).0 {
                    "if" | "ifdef" | "ifndef" => depth += 1,
                    "else" | "elif" if depth == 0 => return self.skip(line.len()),
                    "endif" if depth == 0 => return self.skip(line.len()),
                    "endif" => depth -= 1,
                    _ => {}
                }
            }
            self.skip(line.len());
        }
    }
}

/// The name of a directive and the first word behind it.
fn directive_words(line: &str) -> (&str, &str) {
    let mut words = line.trim_start().trim_start_matches('#').split_whitespace();
    (words.next().unwrap_or(""), words.next().unwrap_or(""))
}

fn is_word_start(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphabetic()
}

fn is_word(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphanumeric()
}

/// The bytes to the end of the line, without it; a backslash joins the next line.
fn logical_line(text: &str) -> usize {
    let mut from = 0;
    while let Some(length) = text[from..].find('\n') {
        let end = from + length;
        if !text[..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        from = end + 1;
    }
    text.len()
}

/// The bytes of the literal that `text` starts with; an unclosed one ends with its line.
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

//! Text to tokens.

/// What a [`Token`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or an opcode with its modifiers: `%r1`, `$L__BB0_2`, `ld.global.v4.f32`, `%tid.x`, `_`.
    Word,
    /// A dot and a name: `.reg`, `.param::entry`.
    Directive,
    /// A number: `12`, `0xffU`, `0f3F800000`, `1.5e3`.
    Number,
    /// A string with its quotes.
    Text,
    /// One other character.
    Mark(u8),
    /// The end of the text.
    End,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// First byte.
    pub(super) start: u32,
    /// Byte after the last.
    pub(super) end: u32,
    /// Line, from 1.
    pub(super) line: u32,
}

/// The tokens of `text`, an end last. Comments and lines that begin with `#` are skipped; a text of 4 GiB or more
/// is cut.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let bytes = &bytes[..bytes.len().min(u32::MAX as usize - 1)];
    let mut lexer = Lexer { bytes, at: 0, line: 1 };
    let mut tokens = Vec::with_capacity(bytes.len() / 4 + 1);
    loop {
        let token = lexer.next();
        tokens.push(token);
        if token.kind == Kind::End {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

const fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'%')
}

const fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Token {
        self.skip_blank();
        let (start, line) = (self.at, self.line);
        let kind = self.kind();
        Token { kind, start: start as u32, end: self.at as u32, line }
    }

    fn kind(&mut self) -> Kind {
        match self.peek(0) {
            _ if self.at >= self.bytes.len() => Kind::End,
            first if starts_word(first) => self.word(),
            first if first.is_ascii_digit() => self.number(),
            b'.' if starts_word(self.peek(1)) => {
                self.at += 1;
                self.segment();
                Kind::Directive
            }
            b'"' => self.string(),
            first => {
                self.at += 1;
                Kind::Mark(first)
            }
        }
    }

    fn skip_blank(&mut self) {
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'\n', _) => {
                    self.line += 1;
                    self.at += 1;
                }
                (b' ' | b'\t' | b'\r' | 0x0c, _) => self.at += 1,
                (b'/', b'/') | (b'#', _) => self.skip_line(),
                (b'/', b'*') => self.skip_comment(),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.bytes.len() && self.peek(0) != b'\n' {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) {
        self.at += 2;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'*', b'/') => {
                    self.at += 2;
                    return;
                }
                (b'\n', _) => self.line += 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// A name with `::` inside.
    fn segment(&mut self) {
        while continues_word(self.peek(0)) {
            self.at += 1;
            if self.peek(0) == b':' && self.peek(1) == b':' && continues_word(self.peek(2)) {
                self.at += 2;
            }
        }
    }

    fn word(&mut self) -> Kind {
        self.at += 1;
        self.segment();
        while self.peek(0) == b'.' && continues_word(self.peek(1)) {
            self.at += 1;
            self.segment();
        }
        Kind::Word
    }

    fn number(&mut self) -> Kind {
        while continues_word(self.peek(0))
            || (self.peek(0) == b'.' && self.peek(1).is_ascii_digit())
        {
            let exponent =
                matches!(self.peek(0), b'e' | b'E') && matches!(self.peek(1), b'+' | b'-');
            self.at += 1 + usize::from(exponent);
        }
        Kind::Number
    }

    fn string(&mut self) -> Kind {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'"' => {
                    self.at += 1;
                    return Kind::Text;
                }
                b'\n' => return Kind::Mark(b'"'),
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.bytes.len());
        Kind::Mark(b'"')
    }
}

/// A literal's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer's bits.
    Int(u64),
    /// `0f…`.
    F32(u32),
    /// `0d…` or a decimal.
    F64(u64),
}

/// The value of a number token (PTX ISA, section 4.5).
pub(super) fn number(text: &str) -> Option<Number> {
    let rest = |n: usize| text.get(n..).unwrap_or("");
    let radix = |digits: &str, radix: u32| {
        let digits = digits.trim_end_matches(['U', 'u']);
        u64::from_str_radix(digits, radix).ok().map(Number::Int)
    };
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] if text.len() == 10 => {
            u32::from_str_radix(rest(2), 16).ok().map(Number::F32)
        }
        [b'0', b'd' | b'D', ..] if text.len() == 18 => {
            u64::from_str_radix(rest(2), 16).ok().map(Number::F64)
        }
        [b'0', b'x' | b'X', ..] => radix(rest(2), 16),
        [b'0', b'b' | b'B', ..] => radix(rest(2), 2),
        [b'0', b'0'..=b'7', ..] if !text.contains(['.', 'e', 'E']) => radix(rest(1), 8),
        _ if text.contains(['.', 'e', 'E']) => {
            text.parse().ok().map(|value: f64| Number::F64(value.to_bits()))
        }
        _ => radix(text, 10),
    }
}

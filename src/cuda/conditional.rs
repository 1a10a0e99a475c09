//! Which branches of a text's conditional sections are compiled, as far as the text itself tells.
//!
//! Enters: the tokens of a text, and the macros that are defined. Leaves: which tokens are compiled. Must not know:
//! `cuda::signature`, `cuda::host`.
//!
//! What files define that are not read is not known. So a branch is compiled, is not, is probably not (its macro is
//! defined nowhere in sight), or may be. `cuda::expansion` expands the macros of conditions.

mod alternatives;
mod condition;

use std::{iter::Peekable, mem};

use self::alternatives::What;
pub(super) use self::alternatives::{Turn, alternatives};
use super::{
    lexer::{self, Kind, Lexer, Token},
    macros::{self, Likely, Macros},
};

/// So many conditional sections lie in one another; what lies deeper may be compiled.
const DEEPEST: usize = 1000;

/// The first `most` tokens of what may well be compiled of `text`, whose macros are known from now on.
pub(super) fn code<'s>(macros: &mut Macros, text: &'s str, most: usize) -> Vec<Token<'s>> {
    let mut found = Vec::new();
    let mut pieces = Pieces::new(text, Likely::Yes, most);
    while let Some((piece, here)) = pieces.next(macros) {
        match piece {
            Piece::Code(tokens) if here > Likely::Hardly => found.extend(tokens),
            Piece::Include { quoted: true, .. } => macros.include_unknown(),
            Piece::Code(_) | Piece::Include { quoted: false, .. } => {}
        }
    }
    found
}

/// What a text is made of.
pub(super) enum Piece<'s> {
    /// Code between two directives.
    Code(Vec<Token<'s>>),
    /// A file that is included, by its name.
    Include { name: String, quoted: bool },
}

/// What `"name"` or `<name>` includes.
fn included<'s>(rest: &str) -> Option<Piece<'s>> {
    let quoted = rest.starts_with('"');
    let name = if quoted {
        rest[1..].split_once('"')?.0
    } else {
        rest.strip_prefix('<')?.split_once('>')?.0
    };
    Some(Piece::Include { name: name.to_owned(), quoted })
}

/// Goes through a text, piece by piece.
pub(super) struct Pieces<'s> {
    tokens: Peekable<Lexer<'s>>,
    around: Likely,
    sections: Vec<Section>,
    code: Vec<Token<'s>>,
    /// How many tokens are still taken.
    left: usize,
    /// Where the text is read no further, if there is more of it.
    pub(super) ends_at: Option<usize>,
    /// The directives of its conditional sections, in their order.
    pub(super) turns: Vec<Turn>,
}

impl<'s> Pieces<'s> {
    /// At most the first `most` tokens of `text`, which is compiled as likely as what is `around` it.
    pub(super) fn new(text: &'s str, around: Likely, most: usize) -> Self {
        let tokens = lexer::lex(text).peekable();
        let (sections, code, turns) = (Vec::new(), Vec::new(), Vec::new());
        Self { tokens, around, sections, code, left: most, ends_at: None, turns }
    }

    /// The next piece that may be compiled, and how likely it is.
    pub(super) fn next(&mut self, macros: &mut Macros) -> Option<(Piece<'s>, Likely)> {
        loop {
            let here = compiled(&self.sections, self.around);
            let Some(token) = self.tokens.peek().copied() else { return self.run(here) };
            if token.kind == Kind::Directive {
                if let Some(code) = self.run(here) {
                    return Some(code);
                }
                let line = self.line();
                if let Some(include) = self.directive(&line, token.offset, macros) {
                    return Some((include, here));
                }
                continue;
            }
            if token.kind.is_code() {
                if self.left == 0 {
                    self.ends_at.get_or_insert(token.offset);
                    return self.run(here);
                }
                self.left -= 1;
                if here > Likely::No {
                    self.code.push(token);
                }
            }
            self.tokens.next();
        }
    }

    /// The code up to here, where there is any.
    fn run(&mut self, here: Likely) -> Option<(Piece<'s>, Likely)> {
        let code = mem::take(&mut self.code);
        (!code.is_empty()).then_some((Piece::Code(code), here))
    }

    /// Takes a preprocessor line into account; what it includes.
    fn directive(&mut self, line: &str, offset: usize, macros: &mut Macros) -> Option<Piece<'s>> {
        let line = lexer::directive_body(line).unwrap_or(line).trim_start();
        let word = line.find(|c: char| !c.is_ascii_alphabetic()).map_or(line, |end| &line[..end]);
        let rest = line[word.len()..].trim();
        let here = compiled(&self.sections, self.around);
        match word {
            "if" | "ifdef" | "ifndef" => {
                let section = Section::new(here, holds(macros, word, rest));
                self.turns.push(Turn { offset, what: What::Begin, here: section.here });
                self.sections.push(section);
            }
            "elif" | "elifdef" | "elifndef" => self.go_on(offset, holds(macros, &word[2..], rest)),
            "else" => self.go_on(offset, Likely::Yes),
            "endif" => {
                let none = self.sections.pop().map(|section| section.around.min(section.left()));
                let turn = |here| Turn { offset, what: What::End, here };
                self.turns.extend(none.map(turn));
            }
            "define" => macros.define(rest, here),
            "undef" => macros.undefine(rest, here),
            "include" if here > Likely::No => return included(rest),
            _ => {}
        }
        None
    }

    /// Begins the next branch of the innermost section.
    fn go_on(&mut self, offset: usize, holds: Likely) {
        let Some(section) = self.sections.last_mut() else { return };
        section.go_on(holds);
        self.turns.push(Turn { offset, what: What::Next, here: section.here });
    }

    /// The directive that is here, to its line's end: a comment parts it, and a backslash there joins the next line.
    fn line(&mut self) -> String {
        let mut line = String::new();
        // What an `#if 0` leaves out begins behind it.
        let is_end = |token: &Token<'_>| match token.kind {
            Kind::Blank => token.text == "\n",
            Kind::Disabled => true,
            Kind::Comment | Kind::Directive => false,
            Kind::Word | Kind::Number | Kind::Quoted | Kind::Sign => false,
        };
        while let Some(token) = self.tokens.next_if(|token| !is_end(token)) {
            line.push_str(if token.kind == Kind::Comment { " " } else { token.text });
        }
        line.replace("\\\r\n", "").replace("\\\n", "")
    }
}

/// Whether the condition of an `#if`, `#ifdef` or their kin holds.
fn holds(macros: &Macros, word: &str, rest: &str) -> Likely {
    let name = rest.split(|c: char| !macros::is_of_name(c)).next().unwrap_or_default();
    match word {
        "ifdef" | "def" => macros.is_defined(name),
        "ifndef" | "ndef" => macros.is_defined(name).negated(),
        _ => condition::holds(macros, rest),
    }
}

/// A conditional section that is open.
struct Section {
    /// Whether what is around it is compiled.
    around: Likely,
    /// Whether an earlier branch is.
    taken: Likely,
    /// Whether the present branch is.
    here: Likely,
}

impl Section {
    fn new(around: Likely, holds: Likely) -> Self {
        Self { around, taken: holds, here: around.min(holds) }
    }

    /// Begins the next branch, of which this is the condition.
    fn go_on(&mut self, holds: Likely) {
        self.here = self.around.min(self.left()).min(holds);
        self.taken = self.taken.max(holds);
    }

    /// Whether none of its branches up to here is compiled, where what is around it is.
    const fn left(&self) -> Likely {
        match self.taken {
            Likely::No | Likely::Hardly => Likely::Yes,
            Likely::Open => Likely::Open,
            Likely::Yes => Likely::No,
        }
    }
}

/// Whether what stands within these sections is compiled.
fn compiled(sections: &[Section], around: Likely) -> Likely {
    match sections.last() {
        None => around,
        Some(_) if sections.len() > DEEPEST => Likely::Open,
        Some(section) => section.here,
    }
}

#[cfg(test)]
mod tests;

//! Which branches of a text's conditional sections are compiled, as far as the text itself tells.
//!
//! Enters: the tokens of a text, and the macros that are defined. Leaves: which tokens are compiled. Must not know:
//! `cuda::signature`, `cuda::host`.
//!
//! What files define that are not read is not known. So a branch is compiled, is not, is probably not (its macro is
//! defined nowhere in sight), or may be. `cuda::expansion` expands macros.

mod condition;

use std::{collections::BTreeMap, iter::Peekable, mem};

use self::condition::Condition;
use super::lexer::{self, Kind, Lexer, Token};

/// So many macros are known of a scene.
const MOST_MACROS: usize = 1 << 16;
/// So many conditional sections lie in one another; what lies deeper may be compiled.
const DEEPEST: usize = 1000;

/// Macros that NVRTC defines in every compilation.
const PREDEFINED: [&str; 5] =
    ["__CUDACC__", "__CUDACC_RTC__", "__CUDA_ARCH__", "__cplusplus", "WARPAINT"];

/// How the names of macros begin that C's headers define, which are there without an include: limits of types,
/// constants of mathematics.
const OF_LIMITS: [&str; 25] = [
    "CHAR_", "SCHAR_", "UCHAR_", "SHRT_", "USHRT_", "INT_", "UINT_", "LONG_", "ULONG_", "LLONG_",
    "ULLONG_", "SIZE_", "PTRDIFF_", "FLT_", "DBL_", "LDBL_", "M_", "INT8_", "UINT8_", "INT16_",
    "UINT16_", "INT32_", "UINT32_", "INT64_", "UINT64_",
];
/// And others of them.
const OF_HEADERS: [&str; 11] = [
    "NULL",
    "NAN",
    "INFINITY",
    "HUGE_VAL",
    "HUGE_VALF",
    "assert",
    "offsetof",
    "RAND_MAX",
    "EXIT_SUCCESS",
    "EXIT_FAILURE",
    "CLOCKS_PER_SEC",
];

/// What is known of the macros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Macros {
    known: BTreeMap<String, Macro>,
    /// Whether files are included that may define any.
    has_own_includes: bool,
}

/// What is known of a macro.
#[derive(Clone, Debug, PartialEq)]
enum Macro {
    /// Defined as this text.
    Defined(String),
    /// Defined with parameters: `(a, b) a + b`.
    Function(String),
    Undefined,
    /// One or the other.
    Open,
}

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likely {
    No,
    /// As far as is known; an included file could have its say.
    Hardly,
    Open,
    Yes,
}

impl Macros {
    /// Those that options of the compiler define: values by name.
    pub(crate) fn of_options(defines: &BTreeMap<String, String>) -> Self {
        let defined =
            |(name, value): (&String, &String)| (name.clone(), Macro::Defined(value.clone()));
        let known = defines.iter().take(MOST_MACROS).map(defined);
        Self { known: known.collect(), has_own_includes: false }
    }

    /// The first `most` tokens of what may well be compiled of `text`, whose macros are known from now on.
    pub(crate) fn code<'s>(&mut self, text: &'s str, most: usize) -> Vec<Token<'s>> {
        let mut found = Vec::new();
        let mut pieces = Pieces::new(text, Likely::Yes, most);
        while let Some((piece, here)) = pieces.next(self) {
            match piece {
                Piece::Code(tokens) if here > Likely::Hardly => found.extend(tokens),
                Piece::Code(_) => {}
                Piece::Include { quoted, .. } => self.has_own_includes |= quoted,
            }
        }
        found
    }

    /// Notes that a file is included that cannot be read: it may define any macro.
    pub(super) const fn include_unknown(&mut self) {
        self.has_own_includes = true;
    }

    /// The macro `name`: its name, what it stands for, and whether it has parameters, which then come first, as in
    /// `(a, b) a + b`.
    pub(super) fn definition(&self, name: &str) -> Option<(&str, &str, bool)> {
        let (name, known) = self.known.get_key_value(name)?;
        match known {
            Macro::Defined(text) => Some((name, text, false)),
            Macro::Function(text) => Some((name, text, true)),
            Macro::Undefined | Macro::Open => None,
        }
    }

    /// Takes a preprocessor line into account, where what is `around` all sections is so likely; what it includes.
    fn directive<'s>(
        &mut self,
        line: &str,
        around: Likely,
        sections: &mut Vec<Section>,
    ) -> Option<Piece<'s>> {
        let line = line.trim_start().trim_start_matches('#').trim_start();
        let word = line.find(|c: char| !c.is_ascii_alphabetic()).map_or(line, |end| &line[..end]);
        let rest = line[word.len()..].trim();
        let here = compiled(sections, around);
        match word {
            "if" | "ifdef" | "ifndef" => sections.push(Section::new(here, self.holds(word, rest))),
            "elif" | "elifdef" | "elifndef" => {
                let holds = self.holds(&word[2..], rest);
                sections.iter_mut().rev().take(1).for_each(|section| section.go_on(holds));
            }
            "else" => {
                sections.iter_mut().rev().take(1).for_each(|section| section.go_on(Likely::Yes))
            }
            "endif" => {
                sections.pop();
            }
            "define" => self.define(rest, here),
            "undef" => self.set(rest, Macro::Undefined, here),
            "include" if here > Likely::No => return included(rest),
            _ => {}
        }
        None
    }

    fn define(&mut self, rest: &str, here: Likely) {
        let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
        let (name, value) = rest.split_at(end);
        let text = value.trim().to_owned();
        let is_function = value.starts_with('(');
        let defined = if is_function { Macro::Function(text) } else { Macro::Defined(text) };
        self.set(name, defined, here);
    }

    /// Notes what a directive says of a macro that is compiled so likely.
    fn set(&mut self, name: &str, what: Macro, here: Likely) {
        let room = self.known.len() < MOST_MACROS || self.known.contains_key(name);
        if name.is_empty() || !room {
            return;
        }
        match here {
            Likely::Yes => self.known.insert(name.to_owned(), what),
            Likely::Open | Likely::Hardly if self.known.get(name) != Some(&what) => {
                self.known.insert(name.to_owned(), Macro::Open)
            }
            Likely::Open | Likely::Hardly | Likely::No => None,
        };
    }

    /// Whether a condition holds.
    fn holds(&self, word: &str, rest: &str) -> Likely {
        let name = rest.split(|c: char| !is_of_name(c)).next().unwrap_or_default();
        match word {
            "ifdef" | "def" => self.is_defined(name),
            "ifndef" | "ndef" => self.is_defined(name).negated(),
            _ => Condition::new(self, rest).holds(),
        }
    }

    fn is_defined(&self, name: &str) -> Likely {
        match self.known.get(name) {
            Some(Macro::Defined(_) | Macro::Function(_)) => Likely::Yes,
            Some(Macro::Undefined) => Likely::No,
            Some(Macro::Open) => Likely::Open,
            None if PREDEFINED.contains(&name) => Likely::Yes,
            // What begins so is the compiler's or CUDA's.
            None if name.starts_with('_') || name.starts_with("CUDA") => Likely::Open,
            None if OF_LIMITS.iter().any(|first| name.starts_with(first)) => Likely::Open,
            None if OF_HEADERS.contains(&name) => Likely::Open,
            None if self.has_own_includes => Likely::Open,
            None => Likely::Hardly,
        }
    }

    /// What macros without arguments are defined as.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.known.keys().map(String::as_str);
        names.filter_map(|name| Some((name, self.value(name)?)))
    }

    /// What a macro without parameters is defined as.
    fn value(&self, name: &str) -> Option<&str> {
        self.definition(name).filter(|(.., is_function)| !is_function).map(|(_, value, _)| value)
    }
}

/// Whether a letter can be one of a macro's name.
fn is_of_name(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
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
}

impl<'s> Pieces<'s> {
    /// At most the first `most` tokens of `text`, which is compiled as likely as what is `around` it.
    pub(super) fn new(text: &'s str, around: Likely, most: usize) -> Self {
        let tokens = lexer::lex(text).peekable();
        Self { tokens, around, sections: Vec::new(), code: Vec::new(), left: most, ends_at: None }
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
                if let Some(include) = macros.directive(&line, self.around, &mut self.sections) {
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

    /// The directive that is here, to its line's end: a comment parts it.
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
        line
    }
}

impl Likely {
    const fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            // What hardly holds does not, as far as is known.
            Self::Hardly => Self::Yes,
            Self::Open => Self::Open,
            Self::Yes => Self::No,
        }
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
        let left = match self.taken {
            Likely::No | Likely::Hardly => Likely::Yes,
            Likely::Open => Likely::Open,
            Likely::Yes => Likely::No,
        };
        self.here = self.around.min(left).min(holds);
        self.taken = self.taken.max(holds);
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

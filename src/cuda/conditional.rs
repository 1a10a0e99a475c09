//! Which branches of a text's conditional sections are compiled, as far as the text itself tells.
//!
//! Enters: the tokens of a text, and the macros that are defined. Leaves: which tokens are compiled. Must not know:
//! `cuda::signature`, `cuda::host`.
//!
//! This is no preprocessor: macros are looked up in conditions alone, and what included files define is not known. So a
//! branch is compiled, is not, is probably not (its macro is defined nowhere in sight), or may be.

mod condition;

use std::collections::BTreeMap;

use self::condition::Condition;
use super::lexer::{self, Kind, Token};

/// So many macros are known of a scene.
const MOST_MACROS: usize = 1 << 16;
/// So many conditional sections lie in one another; what lies deeper may be compiled.
const DEEPEST: usize = 1000;

/// Macros that NVRTC defines in every compilation.
const PREDEFINED: [&str; 4] = ["__CUDACC__", "__CUDACC_RTC__", "__CUDA_ARCH__", "__cplusplus"];

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
    Undefined,
    /// One or the other.
    Open,
}

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likely {
    No,
    /// As far as is known; an included file could have its say.
    Hardly,
    Open,
    Yes,
}

/// A text's code.
pub(crate) struct Code<'s> {
    /// What may well be compiled.
    pub(crate) likely: Vec<Token<'s>>,
    /// That, and what probably is not; `None` where there is no such code.
    pub(crate) all: Option<Vec<Token<'s>>>,
}

impl Macros {
    /// Those that options of the compiler define: values by name.
    pub(crate) fn of_options(defines: &BTreeMap<String, String>) -> Self {
        let defined =
            |(name, value): (&String, &String)| (name.clone(), Macro::Defined(value.clone()));
        let known = defines.iter().take(MOST_MACROS).map(defined);
        Self { known: known.collect(), has_own_includes: false }
    }

    /// The first `most` tokens of the code of `text`, whose macros are known from now on.
    pub(crate) fn code<'s>(&mut self, text: &'s str, most: usize) -> Code<'s> {
        let mut sections: Vec<Section> = Vec::new();
        let (mut likely, mut all) = (Vec::new(), None);
        let mut tokens = lexer::lex(text).filter(|token| token.kind != Kind::Comment).peekable();
        let mut left = most;
        while let Some(token) = tokens.next() {
            if token.kind == Kind::Directive {
                let mut line = token.text.to_owned();
                // A comment parts a directive.
                while let Some(more) =
                    tokens.next_if(|next| next.kind != Kind::Blank || next.text != "\n")
                {
                    line.push_str(more.text);
                }
                self.directive(&line, &mut sections);
                continue;
            }
            if !token.kind.is_code() {
                continue;
            }
            if left == 0 {
                break;
            }
            left -= 1;
            match compiled(&sections) {
                Likely::No => {}
                Likely::Hardly => all.get_or_insert_with(|| likely.clone()).push(token),
                Likely::Open | Likely::Yes => {
                    likely.push(token);
                    all.iter_mut().for_each(|all: &mut Vec<Token<'s>>| all.push(token));
                }
            }
        }
        Code { likely, all }
    }

    /// Takes a preprocessor line into account.
    fn directive(&mut self, line: &str, sections: &mut Vec<Section>) {
        let line = line.trim_start().trim_start_matches('#').trim_start();
        let word = line.find(|c: char| !c.is_ascii_alphabetic()).map_or(line, |end| &line[..end]);
        let rest = line[word.len()..].trim();
        let here = compiled(sections);
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
            "include" if rest.starts_with('"') && here > Likely::No => self.has_own_includes = true,
            _ => {}
        }
    }

    fn define(&mut self, rest: &str, here: Likely) {
        let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
        let (name, value) = rest.split_at(end);
        // One with arguments has no value of its own.
        let is_function = value.starts_with('(');
        let defined = if is_function {
            Macro::Defined("(".to_owned())
        } else {
            Macro::Defined(value.trim().to_owned())
        };
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
            Some(Macro::Defined(_)) => Likely::Yes,
            Some(Macro::Undefined) => Likely::No,
            Some(Macro::Open) => Likely::Open,
            None if PREDEFINED.contains(&name) => Likely::Yes,
            // What begins so is the compiler's or CUDA's.
            None if name.starts_with('_') || name.starts_with("CUDA") => Likely::Open,
            None if self.has_own_includes => Likely::Open,
            None => Likely::Hardly,
        }
    }

    /// What macros without arguments are defined as.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.known.keys().map(String::as_str);
        names.filter_map(|name| Some((name, self.value(name)?))).filter(|(_, value)| *value != "(")
    }

    /// What a macro is defined as.
    fn value(&self, name: &str) -> Option<&str> {
        match self.known.get(name)? {
            Macro::Defined(value) => Some(value),
            Macro::Undefined | Macro::Open => None,
        }
    }
}

/// Whether a letter can be one of a macro's name.
fn is_of_name(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
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

fn compiled(sections: &[Section]) -> Likely {
    match sections.last() {
        None => Likely::Yes,
        Some(_) if sections.len() > DEEPEST => Likely::Open,
        Some(section) => section.here,
    }
}

#[cfg(test)]
mod tests;

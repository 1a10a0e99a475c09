//! What of a source is for the host alone.
//!
//! Enters: a text of CUDA C++. Leaves: the places in it that are for the host alone, and what it declares. Must not
//! know: `scene`, `compile`, `cuda::header`.
//!
//! nvcc compiles a `.cu` file twice, and gives the functions without `__device__` or `__global__` to the host's
//! compiler. NVRTC compiles for the device only, and has neither the host's library nor its headers. So these functions
//! are found here, with the variables that no kernel can name; a compilation leaves them out.
//!
//! This is no parser of C++: it knows where declarations begin and end, in namespaces and classes, and which words and
//! macros mark what is for the device. What it does not understand it leaves in. It looks at each token a few times, so
//! that it takes a time in proportion to the text's length.

mod class;
mod declarations;
mod declarator;
mod left_out;
mod names;
#[cfg(feature = "cli")]
mod outline;
mod reach;
mod shared;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

#[cfg(feature = "cli")]
pub(crate) use self::outline::{SymbolKind, symbols};
use self::{
    declarations::{Declaration, Reader},
    left_out::{members, overloads},
};
pub(crate) use self::{
    left_out::LeftOut, names::Hidden, reach::Reach, shared::needed as needed_of_shared,
};
use super::{
    brackets::Brackets,
    conditional,
    lexer::{self, Kind, Token},
    macros::Macros,
    signature::with_marks,
};

/// The words that mark what is for the device.
const MARKS: [&str; 5] = ["__global__", "__device__", "__constant__", "__managed__", "__shared__"];

/// So many tokens are looked at; nothing behind them is left out.
const MOST_TOKENS: usize = 1 << 24;

/// The words that mark what is for the device, those of CUDA and macros that stand for them, and other macros.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    words: BTreeSet<String>,
    /// `__host__`, and macros that stand for it.
    of_host: BTreeSet<String>,
    /// Macros with arguments in whose definition there is no mark.
    plain_macros: BTreeSet<String>,
}

impl Default for Marks {
    fn default() -> Self {
        let words = MARKS.map(str::to_owned).into();
        let of_host = ["__host__".to_owned()].into();
        Self { words, of_host, plain_macros: BTreeSet::new() }
    }
}

impl Marks {
    /// Adds the macros of `text` in whose definition a mark stands.
    pub(crate) fn read(&mut self, text: &str) {
        let directives = lexer::lex(text).filter(|token| token.kind == Kind::Directive);
        for directive in directives {
            let Some(definition) = definition(directive.text) else { continue };
            let code: Vec<Token<'_>> = lexer::code(definition).collect();
            let Some((name, rest)) = code.split_first() else { continue };
            if rest.iter().any(|token| self.is_of_host(token.text)) {
                self.of_host.insert(name.text.to_owned());
            }
            let behind_name = name.offset + name.text.len();
            let takes_arguments =
                rest.first().is_some_and(|next| next.text == "(" && next.offset == behind_name);
            if rest.iter().any(|token| self.has(token.text)) {
                self.plain_macros.remove(name.text);
                self.words.insert(name.text.to_owned());
            } else if takes_arguments && !self.has(name.text) {
                self.plain_macros.insert(name.text.to_owned());
            }
        }
    }

    fn is_plain_macro(&self, word: &str) -> bool {
        self.plain_macros.contains(word)
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    fn is_of_host(&self, word: &str) -> bool {
        self.of_host.contains(word)
    }
}

/// What stands behind the `define` of a directive.
fn definition(directive: &str) -> Option<&str> {
    let rest = lexer::directive_body(directive)?.trim_start();
    rest.strip_prefix("define").filter(|rest| rest.starts_with([' ', '\t']))
}

/// What of a text is for the host alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostCode {
    /// Where it stands, in bytes, in the text's order.
    pub(crate) parts: Vec<Range<usize>>,
    /// The names of its functions.
    pub(crate) functions: BTreeSet<String>,
    /// Declarations that may be for both: types, constants, templates without a mark, functions marked for both. A
    /// kernel may need them.
    pub(crate) open: Vec<Range<usize>>,
    /// Which of these are functions marked for both, and their names.
    pub(crate) shared: BTreeMap<usize, String>,
    /// Which of these are constants that could be `constexpr`, and where their `const` stands.
    pub(crate) constants: BTreeMap<usize, usize>,
    /// The classes, the outer ones before those in them.
    pub(crate) classes: Vec<Class>,
    /// Which of the open declarations are data members, and which of these classes lies around all of each.
    pub(crate) data: BTreeMap<usize, usize>,
    /// Namespaces and classes, and functions that are defined outside of theirs.
    scopes: Vec<Scope>,
    /// The names of functions and variables that the device has.
    of_device: BTreeSet<String>,
    /// What of it the device would need, or might mean, should it reach that.
    pub(crate) left_out: Vec<LeftOut>,
    /// Variables of the host without which the device might mean others.
    pub(crate) hidden: Vec<Hidden>,
}

/// A class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// Its name, and those of what is declared with it; none where it has none.
    pub(crate) names: Vec<String>,
    /// From its first byte to behind its `;`.
    pub(crate) whole: Range<usize>,
}

/// Where names are looked for in a namespace or a class.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Scope {
    /// Its own name; empty where it has none.
    name: String,
    /// All words of its head: namespaces around it, bases of a class.
    names: Vec<String>,
    part: Range<usize>,
}

impl HostCode {
    /// Of `text`, where `marks` say what is for the device.
    pub(crate) fn of(text: &str, marks: &Marks) -> Self {
        let tokens: Vec<Token<'_>> = lexer::lex(text)
            .filter(|token| !matches!(token.kind, Kind::Blank | Kind::Comment | Kind::Disabled))
            .take(MOST_TOKENS)
            .collect();
        let tokens = with_marks(tokens);
        let brackets = Brackets::new(&tokens);
        let code: Vec<Token<'_>> =
            tokens.into_iter().filter(|token| token.kind != Kind::Directive).collect();
        let mut reader = Reader::new(&code, &brackets, marks);
        reader.declarations(0..code.len(), false);
        let is_of_device = |name: &str| reader.of_device.contains(name);
        let mut left_out = members(&code, &reader.members, &reader.classes);
        left_out.extend(overloads(&code, &reader.functions));
        let bytes = |tokens: &Range<usize>| match tokens.is_empty() {
            true => 0..0,
            false => {
                let (first, last) = (code[tokens.start], code[tokens.end - 1]);
                first.offset..last.offset + last.text.len()
            }
        };
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let classes = reader.classes.iter();
        let classes = classes
            .map(|class| Class { names: owned(&class.names(&code)), whole: bytes(&class.whole) });
        let scopes = reader.scopes.iter().map(|scope| {
            let (name, names) = (scope.name.to_owned(), owned(&scope.names));
            Scope { name, names, part: bytes(&scope.tokens) }
        });
        let variables = reader.variables.iter();
        let variables = variables.flat_map(|tokens| names::of_declaration(&code[tokens.clone()]));
        let of_device = variables.chain(reader.of_device.iter().copied()).map(str::to_owned);
        let mut found = Self {
            classes: classes.collect(),
            scopes: scopes.collect(),
            of_device: of_device.collect(),
            ..Self::default()
        };
        let mut hidden = Vec::new();
        for Declaration { tokens, function, is_prototype, is_open, is_shared, constant, layout } in
            &reader.found
        {
            let part = bytes(tokens);
            if *is_open {
                let index = found.open.len();
                if *is_shared {
                    found.shared.insert(index, (*function).to_owned());
                }
                found.constants.extend(constant.map(|at| (index, code[at].offset)));
                found.data.extend(layout.map(|class| (index, class)));
                found.open.push(part);
            } else if !(*is_prototype && is_of_device(function)) {
                found.parts.push(part);
                if !function.is_empty() && !is_of_device(function) {
                    found.functions.insert((*function).to_owned());
                } else if function.is_empty() {
                    hidden.push(tokens.clone());
                }
            }
        }
        let parts = hidden.iter().map(|tokens| (bytes(tokens), &code[tokens.clone()]));
        let mut hidden = names::hidden(parts, &found.scopes);
        if !(left_out.is_empty() && hidden.is_empty()) {
            // Of helpers that a header has for other compilers alone (`#ifndef __CUDACC__`) nothing is told.
            let compiled = conditional::code(&mut Macros::default(), text, MOST_TOKENS);
            let is_compiled =
                |at: usize| compiled.binary_search_by_key(&at, |token| token.offset).is_ok();
            left_out.retain(|one| is_compiled(one.at));
            hidden.retain(|one| is_compiled(one.at));
        }
        (found.left_out, found.hidden) = (left_out, hidden);
        found
    }

    /// Of the open declarations at `indices` those in whose place the device might mean others of their names.
    pub(crate) fn hidden_by(&self, text: &str, indices: &BTreeSet<usize>) -> Vec<Hidden> {
        let parts: Vec<_> = indices.iter().filter_map(|index| self.open.get(*index)).collect();
        let codes = parts.iter().map(|part| lexer::code(&text[(*part).clone()]).collect());
        let codes: Vec<Vec<Token<'_>>> = codes.collect();
        let parts = parts.iter().zip(&codes).map(|(part, code)| ((*part).clone(), &**code));
        names::hidden(parts, &self.scopes)
    }
}

/// `text` with blanks for what is in `parts`, which are in its order: lines and columns stay. Preprocessor lines stay,
/// too, but for those that say something about the code that goes.
pub(crate) fn without(text: &str, parts: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut parts = parts.iter().peekable();
    for token in lexer::lex(text) {
        let end = token.offset + token.text.len();
        while parts.next_if(|part| part.end <= token.offset).is_some() {}
        let goes = parts.peek().is_some_and(|part| part.start < end);
        if goes && !(token.kind == Kind::Directive && is_of_preprocessor(token.text)) {
            kept.extend(token.text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            kept.push_str(token.text);
        }
    }
    kept
}

/// Whether a directive means something without the code around it.
fn is_of_preprocessor(directive: &str) -> bool {
    let name = lexer::directive_body(directive).unwrap_or(directive).trim_start();
    !["pragma", "include"].iter().any(|word| name.starts_with(word))
}

#[cfg(test)]
mod tests;

//! The code of a scene's files as the compiler reads it: each included file where it is, what conditions leave out left
//! out, macros expanded.

use std::collections::BTreeMap;

use super::{
    conditional::{Piece, Pieces, Turn},
    expansion::{self, Expanded, Expander},
    header,
    lexer::{self, Kind},
    macros::{Likely, Macros},
};

/// So many bytes are read of files that were read before.
const MOST_AGAIN: usize = 4 << 20;
/// So deep files include each other.
const DEEPEST: usize = 200;

/// A file of a scene: its own, or one that is included.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile<'s> {
    /// What diagnostics call it.
    pub(crate) name: &'s str,
    pub(crate) text: &'s str,
    /// The places in the list of all files of those that it includes, by the names in its directives.
    pub(crate) includes: BTreeMap<String, usize>,
}

/// What was read of some files.
pub(super) struct Files<'s> {
    /// In the order in which they were included, the first before those that it includes; one that was included twice
    /// is there twice.
    pub(super) read: Vec<FileCode<'s>>,
    /// The texts of the tokens that macros made.
    pub(super) texts: String,
    /// The place in the list of files, and the offset, of the first use of a macro that there was no room for.
    pub(super) not_expanded: Option<(usize, usize)>,
}

/// The code of one of them.
pub(super) struct FileCode<'s> {
    /// Its place in the list of files.
    pub(super) file: usize,
    /// What may well be compiled.
    pub(super) likely: Expanded<'s>,
    /// That, and what probably is not; `None` where there is no such code.
    pub(super) all: Option<Expanded<'s>>,
    /// Where it is read no further, if there is more of it.
    pub(super) ends_at: Option<usize>,
    /// The directives of its conditional sections.
    pub(super) turns: Vec<Turn>,
}

/// Reads the first of `files`, and those that it includes, each as often as it does not guard itself against that: the
/// first `most` tokens of each.
pub(super) fn read<'s>(files: &[SourceFile<'s>], macros: &mut Macros, most: usize) -> Files<'s> {
    let mut expander = Expander::new(expansion::MOST_TOKENS);
    let mut found = Files { read: Vec::new(), texts: String::new(), not_expanded: None };
    let mut known = Known { read: vec![None; files.len()], left: MOST_AGAIN };
    let mut open = Vec::new();
    open.extend(found.open(files, (0, Likely::Yes), &mut known, most));
    while let Some((at, pieces)) = open.last_mut() {
        let code = &mut found.read[*at];
        let file = code.file;
        let Some((piece, here)) = pieces.next(macros) else {
            code.ends_at = pieces.ends_at;
            code.turns = std::mem::take(&mut pieces.turns);
            open.pop();
            continue;
        };
        match piece {
            Piece::Code(tokens) => {
                code.add(&expander.expand(macros, &tokens), here);
                let stopped = expander.stopped_at.map(|offset| (file, offset));
                found.not_expanded = found.not_expanded.or(stopped);
            }
            Piece::Include { name, quoted } => match files[file].includes.get(&name) {
                Some(next) if open.len() < DEEPEST => {
                    open.extend(found.open(files, (*next, here), &mut known, most));
                }
                Some(_) => {}
                None if quoted && !header::is_built_in(&name) => macros.include_unknown(),
                None => {}
            },
        }
    }
    found.texts = expander.texts;
    found
}

impl<'s> Files<'s> {
    /// Begins to read the file, unless it was read already and is read once.
    fn open(
        &mut self,
        files: &[SourceFile<'s>],
        (file, around): (usize, Likely),
        known: &mut Known,
        most: usize,
    ) -> Option<(usize, Pieces<'s>)> {
        let text = files.get(file)?.text;
        if !known.is_read(file, text, around) {
            return None;
        }
        let likely = Expanded::default();
        self.read.push(FileCode { file, likely, all: None, ends_at: None, turns: Vec::new() });
        Some((self.read.len() - 1, Pieces::new(text, around, most)))
    }
}

/// What is known of the files that were read.
struct Known {
    /// How likely each is compiled where it was; `None` of one that was not read.
    read: Vec<Option<Likely>>,
    /// So many bytes may still be read of those that were.
    left: usize,
}

impl Known {
    /// Whether a file with this text is read where it is included, which is compiled so likely.
    fn is_read(&mut self, file: usize, text: &str, here: Likely) -> bool {
        let Some(before) = self.read.get_mut(file).map(|read| read.replace(here)) else {
            return false;
        };
        let Some(before) = before else { return true };
        if is_guarded(text) {
            self.read[file] = Some(before.max(here));
            return here > before;
        }
        // One that is empty costs something, too.
        let left = self.left.checked_sub(text.len().max(64));
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

/// Whether a file has something in it that lets it be read once: `#pragma once`, or an `#ifndef` before all else. What
/// that asks for may be known too little, while files are included that are not read.
fn is_guarded(text: &str) -> bool {
    let directives = || lexer::lex(text).filter(|token| token.kind == Kind::Directive);
    let words = |text: &str| {
        let words = lexer::directive_body(text).unwrap_or(text).split_whitespace();
        words.take(2).collect::<Vec<_>>().join(" ")
    };
    let is_before_all = || {
        let mut tokens = lexer::lex(text);
        let first = tokens.find(|token| token.kind.is_code() || token.kind == Kind::Directive);
        first.is_some_and(|token| {
            let words = words(token.text);
            words.starts_with("ifndef ") || words.starts_with("if !defined")
        })
    };
    is_before_all() || directives().any(|token| words(token.text) == "pragma once")
}

impl<'s> FileCode<'s> {
    /// Adds code that is so likely compiled.
    fn add(&mut self, code: &Expanded<'s>, here: Likely) {
        if here == Likely::Hardly {
            self.all.get_or_insert_with(|| self.likely.clone()).extend(code);
            return;
        }
        self.all.iter_mut().for_each(|all| all.extend(code));
        self.likely.extend(code);
    }
}

//! The code of a scene's files as the compiler reads it: each included file where it is, what conditions leave out left
//! out, macros expanded.

use std::{collections::BTreeMap, mem};

use super::{
    conditional::{Piece, Pieces},
    expansion::{self, Expanded, Expander},
    header,
    macros::{Likely, Macros},
};

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
    /// In the order in which they were included, the first before those that it includes.
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
}

/// Reads the first of `files`, and those that it includes, each once: the first `most` tokens of each.
pub(super) fn read<'s>(files: &[SourceFile<'s>], macros: &mut Macros, most: usize) -> Files<'s> {
    let mut expander = Expander::new(expansion::MOST_TOKENS);
    let mut found = Files { read: Vec::new(), texts: String::new(), not_expanded: None };
    let mut is_read = vec![false; files.len()];
    let mut open = Vec::new();
    open.extend(found.open(files, (0, Likely::Yes), &mut is_read, most));
    while let Some((at, pieces)) = open.last_mut() {
        let code = &mut found.read[*at];
        let file = code.file;
        let Some((piece, here)) = pieces.next(macros) else {
            code.ends_at = pieces.ends_at;
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
                Some(next) => open.extend(found.open(files, (*next, here), &mut is_read, most)),
                None if quoted && !header::is_built_in(&name) => macros.include_unknown(),
                None => {}
            },
        }
    }
    found.texts = expander.texts;
    found
}

impl<'s> Files<'s> {
    /// Begins to read the file, unless it was read already.
    fn open(
        &mut self,
        files: &[SourceFile<'s>],
        (file, around): (usize, Likely),
        is_read: &mut [bool],
        most: usize,
    ) -> Option<(usize, Pieces<'s>)> {
        let text = files.get(file)?.text;
        if mem::replace(is_read.get_mut(file)?, true) {
            return None;
        }
        let likely = Expanded::default();
        self.read.push(FileCode { file, likely, all: None, ends_at: None });
        Some((self.read.len() - 1, Pieces::new(text, around, most)))
    }
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

//! Linking several pieces of PTX into one module.

use super::{error::NAME, jit};
use crate::{
    device::{Error, Location, Result},
    diagnostic::Diagnostic,
    ptx::{self, link::Input},
};

/// A module without faults, and the text whose lines its instructions name.
pub(super) struct Linked {
    pub(super) ptx: ptx::ast::Module,
    pub(super) text: String,
}

impl Linked {
    /// Links pieces, each a name for messages and the text of PTX.
    ///
    /// # Errors
    /// [`Error::Load`] with all that is wrong.
    pub(super) fn new(pieces: &[(&str, &str)]) -> Result<Self> {
        let (mut inputs, mut text, mut lines_before) = (Vec::new(), String::new(), 0);
        for (name, piece) in pieces {
            let named = |found: Diagnostic| Diagnostic { file: (*name).to_owned(), ..found };
            let parsed = ptx::parse(piece);
            let module = parsed.map_err(|found| {
                let line = found.iter().find_map(|found| found.line);
                let location = line.and_then(|line| Location::of_ptx(piece, line));
                refused(found.into_iter().map(named), location)
            })?;
            inputs.push(Input { name: (*name).to_owned(), module, lines_before });
            text.push_str(piece);
            text.push('\n');
            lines_before += 1 + piece.matches('\n').count() as u32;
        }
        let starts: Vec<_> = inputs.iter().map(|i| (i.name.clone(), i.lines_before)).collect();
        let ptx = ptx::pass::load(inputs, &jit::PROVIDED).map_err(|found| {
            let location = found.iter().find_map(|found| place_of(found, &text));
            refused(found.into_iter().map(|found| in_its_piece(found, &starts)), location)
        })?;
        Ok(Self { ptx, text })
    }
}

/// The place of the source that a remark on the linked text is about.
fn place_of(found: &Diagnostic, text: &str) -> Option<Location> {
    let line = found.line?;
    match found.file.as_str() {
        ptx::FILE => Location::of_ptx(text, line),
        file => Some(Location { file: file.to_owned(), line, column: found.column.unwrap_or(0) }),
    }
}

/// The same remark with the name and the line of the piece that it is about; one on a source has its place.
fn in_its_piece(found: Diagnostic, starts: &[(String, u32)]) -> Diagnostic {
    let Some(line) = found.line.filter(|_| found.file == ptx::FILE) else { return found };
    match starts.iter().rev().find(|(_, before)| *before < line) {
        Some((name, before)) => {
            Diagnostic { file: name.clone(), line: Some(line - before), ..found }
        }
        None => found,
    }
}

/// The error for a module that is not as it must be.
fn refused(diagnostics: impl IntoIterator<Item = Diagnostic>, location: Option<Location>) -> Error {
    let lines: Vec<_> = diagnostics.into_iter().map(|found| found.to_string()).collect();
    Error::load(NAME, &lines.join("\n"), location)
}

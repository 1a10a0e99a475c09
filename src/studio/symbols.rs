//! What a scene's text declares, for those who want to go there.

use super::glossary;
use crate::cuda::{self, SymbolKind};

/// Something that a text declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is, in a word.
    pub kind: String,
    /// The line of its name, from 1.
    pub line: u32,
}

/// What `text` declares, in its order: the tables of its manifest, and its code's kernels, functions, structures,
/// variables of the device and macros.
pub fn all(text: &str) -> Vec<Symbol> {
    let tables = glossary::named_tables(text).into_iter().map(|(kind, name, line)| Symbol {
        name: if name.is_empty() { kind } else { name }.to_owned(),
        kind: if name.is_empty() { "table" } else { kind }.to_owned(),
        line: u32::try_from(line + 1).unwrap_or(u32::MAX),
    });
    let code = cuda::symbols(text).into_iter().map(|symbol| Symbol {
        name: symbol.name,
        kind: called(symbol.kind).to_owned(),
        line: symbol.at.line,
    });
    let mut all: Vec<Symbol> = tables.chain(code).collect();
    all.sort_by_key(|symbol| symbol.line);
    all
}

/// What a symbol of this kind is called.
fn called(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Kernel => "kernel",
        SymbolKind::Function => "function",
        SymbolKind::Structure => "structure",
        SymbolKind::Variable => "variable",
        SymbolKind::Macro => "macro",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_the_manifest_are_called_as_what_they_declare() {
        let text = "// [array.no]\n/*---\ntitle = \"a\"\n[constant]\nn = 1\n[array.\"position\"]\nname = 'x'\n\
            [[pass]]\nkernel = \"move\" # first\n[[pass]]\nkernel = \"move\"\nname = \"again\"\n[[view]]\n---*/\n\
            __global__ void move() {}\n";
        let all: Vec<String> = all(text)
            .into_iter()
            .map(|symbol| format!("{} {} {}", symbol.kind, symbol.name, symbol.line))
            .collect();
        assert_eq!(
            all,
            [
                "table constant 4",
                "array position 6",
                "pass move 8",
                "pass again 10",
                "table view 13",
                "kernel move 15"
            ]
        );
    }
}

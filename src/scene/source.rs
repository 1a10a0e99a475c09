//! Where the manifest is in a scene's text.

use std::ops::Range;

use crate::cuda::lexer::{Kind, Token, lex};

/// Where the manifest opens.
pub const OPEN: &str = "/*---";
/// Where the manifest ends.
pub const CLOSE: &str = "---*/";

/// The bytes of the manifest's text in `source`: the inside of the first block comment that starts with `/*---`.
pub fn manifest_block(source: &str) -> ManifestBlock {
    let Some(open) = first_block_comment(source) else { return ManifestBlock::Missing };
    let start = open + OPEN.len();
    // From there on: `/*---*/` opens one, and does not end it.
    let Some(length) = source[start..].find(CLOSE) else { return ManifestBlock::Unclosed(open) };
    ManifestBlock::Found(start..start + length)
}

/// What [`manifest_block`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestBlock {
    /// The manifest's text.
    Found(Range<usize>),
    /// It starts here and never ends.
    Unclosed(usize),
    /// There is none.
    Missing,
}

/// Where the first comment that begins with `/*---` opens.
fn first_block_comment(source: &str) -> Option<usize> {
    let opens = |token: &Token<'_>| token.kind == Kind::Comment && token.text.starts_with(OPEN);
    lex(source).find(opens).map(|token| token.offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_a_comment_of_its_own() {
        let found = |source: &str| match manifest_block(source) {
            ManifestBlock::Found(range) => source[range].to_owned(),
            other => format!("{other:?}"),
        };
        for (source, expected) in [
            ("/*---a---*/", "a"),
            ("// /*---no---*/\n/* /*---*/ 'x' \"/*---no---*/\" /*---a---*/", "a"),
            ("#include <x> /*---a---*/", "a"),
            ("R\"(/*---no---*/)\" /*---a---*/", "a"),
            ("#define S \"/*---no---*/\"\n/*---a---*/ /*---b---*/", "a"),
            ("x /*--- a", "Unclosed(2)"),
            ("/*---*/", "Unclosed(0)"),
            ("// \\\n/*---no---*/", "Missing"),
            ("/* /*---no---*/", "Missing"),
        ] {
            assert_eq!(found(source), expected, "{source}");
        }
    }
}

//! Where the manifest is in a scene's text.

use std::ops::Range;

use crate::cuda::lexer::{Kind, Token, lex};

/// Where the manifest opens.
pub const OPEN: &str = "/*---";
/// Where the manifest ends.
pub const CLOSE: &str = "---*/";

/// The bytes of the manifest's text in `source`: the inside of the first comment that [is one](opens_manifest).
pub fn manifest_block(source: &str) -> ManifestBlock {
    let Some(open) = first_block_comment(source) else { return ManifestBlock::Missing };
    let start = open + OPEN.len();
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

/// Whether a comment is a manifest: nothing follows `/*---` on its line. Banners often begin with more dashes.
pub fn opens_manifest(comment: &str) -> bool {
    let rest = comment.strip_prefix(OPEN).map(|rest| rest.lines().next().unwrap_or_default());
    rest.is_some_and(|rest| rest.trim().is_empty())
}

/// Where the first comment that is a manifest opens.
fn first_block_comment(source: &str) -> Option<usize> {
    let opens = |token: &Token<'_>| token.kind == Kind::Comment && opens_manifest(token.text);
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
            ("/*---\na---*/", "\na"),
            ("/*--- \t\r\na---*/", " \t\r\na"),
            ("// /*---\n/* /*---*/ 'x' \"/*---\\\nno---*/\" /*---\na---*/", "\na"),
            ("#include <x> /*---\na---*/", "\na"),
            ("R\"(/*---\nno---*/)\" /*---\na---*/", "\na"),
            ("/*---\na---*/ /*---\nb---*/", "\na"),
            ("/*------\n * A banner.\n *-----*/ /*---\na---*/", "\na"),
            ("/*--- A banner. ---*/ /*---\na---*/", "\na"),
            ("x /*---\n a", "Unclosed(2)"),
            ("x /*---", "Unclosed(2)"),
            ("/*---*/", "Missing"),
            ("/*------------\n * A banner.\n *-----------*/", "Missing"),
            ("// \\\n/*---\nno---*/", "Missing"),
            ("/* /*---\nno---*/", "Missing"),
        ] {
            assert_eq!(found(source), expected, "{source}");
        }
    }
}

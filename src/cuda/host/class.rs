//! A class that is declared.

use std::ops::Range;

use crate::cuda::lexer::Token;

/// A class, as it is read.
#[derive(Debug)]
pub(super) struct Class<'s> {
    /// Its name; empty where it has none.
    pub(super) name: &'s str,
    /// From its first token to behind its `}`.
    pub(super) body: Range<usize>,
    /// From its first token to behind its `;`.
    pub(super) whole: Range<usize>,
}

impl<'s> Class<'s> {
    /// Its name, and those of what is declared with it: `typedef struct { } Name;`.
    pub(super) fn names(&self, code: &[Token<'s>]) -> Vec<&'s str> {
        let behind = code[self.body.end..self.whole.end].iter();
        let behind = behind.filter(|token| token.is_word()).map(|token| token.text);
        [self.name].into_iter().filter(|name| !name.is_empty()).chain(behind).collect()
    }
}

//! Which parentheses in a class hold what is declared: `unsigned int (flags);`, `int (*f)(int);`.

use super::Brackets;
use crate::cuda::lexer::{Token, Tokens};

/// Words of types, which no function is called by.
const TYPES: [&str; 15] = [
    "bool", "char", "char16_t", "char32_t", "double", "float", "int", "long", "short", "signed",
    "unsigned", "void", "wchar_t", "const", "volatile",
];

/// What stands before the one word of a member's type.
const BEFORE_TYPE: [&str; 7] = [";", "{", "}", ":", "const", "volatile", "mutable"];

/// Whether the parentheses at `open` hold the declarator of a data member of `class`, and are not those of a function:
/// that of a pointer, or a name behind a type.
pub(super) fn is_within(code: &[Token<'_>], brackets: &Brackets, open: usize, class: &str) -> bool {
    let mut at = open + 1;
    while code.text_at(at) == "(" {
        at += 1;
    }
    let is_name = code.is_word_at(at) && code.text_at(at + 1) == ")";
    let behind = code.text_at(brackets.after(open).unwrap_or(code.len()));
    if is_name {
        return ends_type(code, open, class)
            && code.text_at(at) != class
            && matches!(behind, ";" | "[" | "=" | "," | ":" | "{");
    }
    while code.text_at(at + 1) == "::" {
        at += 2;
    }
    matches!(code.text_at(at), "*" | "&")
}

/// Whether what stands before `open` ends a type, and is no function's name. No member is declared with `::` in its
/// name, or with `<`, unless it is an operator or a specialisation.
fn ends_type(code: &[Token<'_>], open: usize, class: &str) -> bool {
    let before = |back: usize| open.checked_sub(back).map_or("", |at| code[at].text);
    let is_word = open.checked_sub(1).is_some_and(|at| code[at].is_word());
    let is_operator = (2..=4).any(|back| before(back) == "operator");
    match before(1) {
        word if TYPES.contains(&word) => !is_operator,
        ">" => !is_operator,
        name => is_word && name != class && (before(2) == "::" || BEFORE_TYPE.contains(&before(2))),
    }
}

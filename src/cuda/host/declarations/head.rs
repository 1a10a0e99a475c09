//! What is known of a declaration up to its body, its initial value or its end.

use std::ops::Range;

use super::Reader;
use crate::cuda::{
    host::declarator,
    lexer::{Kind, Tokens},
    signature::is_attribute,
};

/// Words before parentheses that hold no parameters, beside the attributes of CUDA.
const ATTRIBUTES: [&str; 12] = [
    "__align__",
    "noexcept",
    "requires",
    "explicit",
    "sizeof",
    "alignof",
    "typeof",
    "__typeof__",
    "__typeof",
    "__attribute",
    "__builtin_align__",
    "_Alignas",
];

/// What is known of a declaration up to its body, its initial value or its end.
#[derive(Default)]
pub(super) struct Head<'s> {
    /// The name before its first parentheses, and how many words stand before it.
    pub(super) function: Option<(&'s str, usize)>,
    /// The same of the last macro with arguments: an attribute, a type, a name, or a function by itself.
    macro_call: Option<(&'s str, usize)>,
    /// How many words there are, and the last one.
    pub(super) words: usize,
    pub(super) last: &'s str,
    /// It has a mark of the device.
    pub(super) is_marked: bool,
    /// It has `__host__`, or a macro that stands for it.
    pub(super) is_of_host: bool,
    /// `constexpr` and the like: host and device alike may evaluate it.
    pub(super) is_constant_expression: bool,
    /// `class`, `struct`, `union`: what follows in braces are members.
    pub(super) is_class: bool,
    pub(super) is_enumeration: bool,
    /// `const` behind the last `*`, or anywhere where there is none.
    pub(super) is_constant: bool,
    /// The first parentheses hold what is declared: `int (*name)(int)`, `unsigned int (name)`.
    pub(super) holds_declarator: bool,
}

/// How a head ends.
pub(super) enum End {
    /// With `;`.
    Semicolon,
    /// With `=`.
    Equals,
    /// With the `{` that is there.
    Brace(usize),
    /// With what no declaration has: there.
    Broken(usize),
}

impl<'s> Reader<'_, 's> {
    /// Reads from `at` to a body, an initial value or the end.
    pub(super) fn head(&mut self, mut at: usize) -> (Head<'s>, End) {
        let mut head = Head::default();
        while let Some(token) = self.code.get(at) {
            match token.text {
                ";" => return (head, End::Semicolon),
                "=" if !self.is_operator(at) => return (head, End::Equals),
                "{" => {
                    if self.is_body_of_macro(at, &head) {
                        head.function = head.macro_call;
                    }
                    return (head, End::Brace(at));
                }
                "}" => return (head, End::Broken(at)),
                ":" if head.function.is_some() => {
                    return match self.behind_initialisers(at + 1) {
                        Some(open) => (head, End::Brace(open)),
                        None => (head, End::Broken(at + 1)),
                    };
                }
                "(" => {
                    if self.is_macro(at) {
                        head.is_marked |= self.holds_mark(at);
                        head.macro_call = Some((head.last, head.words.saturating_sub(1)));
                    } else if head.function.is_none() && self.is_value(at, &head) {
                        return (head, End::Equals);
                    } else if head.function.is_none() && !self.is_attribute(at) {
                        head.function = Some((head.last, head.words.saturating_sub(1)));
                        let class = self.class_around().map_or("", |class| class.name);
                        head.holds_declarator =
                            declarator::is_within(self.code, self.brackets, at, class);
                    }
                    head.is_marked |= self.brackets.after(at).is_none();
                    at = self.brackets.after(at).unwrap_or(at + 1);
                    continue;
                }
                "[" => {
                    at = self.brackets.after(at).unwrap_or(at + 1);
                    continue;
                }
                "<" if !self.is_operator(at) => {
                    at = self.behind_angles(at).unwrap_or(at + 1);
                    continue;
                }
                "*" | "&" if head.function.is_none() => head.is_constant = false,
                _ if token.is_word() => self.word(token.text, &mut head),
                _ => {}
            }
            at += 1;
        }
        (head, End::Broken(at))
    }

    /// Takes a word of a head into account.
    pub(super) fn word(&self, word: &'s str, head: &mut Head<'s>) {
        head.is_marked |= self.marks.has(word);
        head.is_of_host |= self.marks.is_of_host(word);
        match word {
            "constexpr" | "consteval" | "constinit" => head.is_constant_expression = true,
            "class" | "struct" | "union" => head.is_class |= head.function.is_none(),
            "enum" => head.is_enumeration |= head.function.is_none(),
            "const" => head.is_constant |= head.function.is_none(),
            _ => (head.words, head.last) = (head.words + 1, word),
        }
    }

    /// Whether a texture or surface reference is declared.
    pub(super) fn is_of_texture(&self, mut tokens: Range<usize>) -> bool {
        tokens.any(|at| {
            matches!(self.code.text_at(at), "texture" | "surface")
                && self.code.text_at(at + 1) == "<"
        })
    }

    /// Whether the sign at `at` belongs to the name of an operator.
    pub(super) fn is_operator(&self, at: usize) -> bool {
        let before = (1..=3).filter_map(|back| at.checked_sub(back)).map(|at| &self.code[at]);
        let mut signs = before.skip_while(|token| {
            token.kind == Kind::Sign && !matches!(token.text, ")" | "(" | ";" | "{" | "}")
        });
        signs.next().is_some_and(|token| token.text == "operator")
    }

    /// Whether the parentheses at `open` belong to an attribute.
    pub(super) fn is_attribute(&self, open: usize) -> bool {
        let word = self.code.text_before(open);
        is_attribute(word) || ATTRIBUTES.contains(&word)
    }

    /// Whether the parentheses at `open` hold the arguments of a macro, of which it is not known what it stands for.
    pub(super) fn is_macro(&self, open: usize) -> bool {
        open.checked_sub(1).is_some_and(|at| self.marks.is_plain_macro(self.code.text_at(at)))
    }

    /// Whether a mark stands in the parentheses at `open`.
    fn holds_mark(&self, open: usize) -> bool {
        let end = self.brackets.after(open).unwrap_or(open);
        self.code[open..end].iter().any(|token| self.marks.has(token.text))
    }

    /// Whether the parentheses at `open` hold the value of a variable with this head: `const int N(16);`.
    pub(super) fn is_value(&self, open: usize, head: &Head<'_>) -> bool {
        let begins = self.code.get(open + 1).is_some_and(|token| match token.kind {
            Kind::Number | Kind::Quoted => true,
            Kind::Word => matches!(token.text, "true" | "false" | "nullptr" | "sizeof"),
            Kind::Sign => matches!(token.text, "-" | "+" | "!" | "~"),
            Kind::Blank | Kind::Comment | Kind::Directive | Kind::Disabled => false,
        });
        begins && head.words > 1 && !head.is_class && !self.is_attribute(open)
    }

    /// Whether the brace at `open` opens the body of a function that a macro alone declares: `TEST(some, thing) {`.
    fn is_body_of_macro(&self, open: usize, head: &Head<'_>) -> bool {
        let is_behind = open.checked_sub(1).is_some_and(|at| self.code.text_at(at) == ")");
        let ends = self.brackets.after(open).is_some_and(|end| self.code.text_at(end) == ";");
        head.function.is_none() && !(head.is_class || head.is_enumeration) && is_behind && !ends
    }
}

//! The value of an `#if`'s condition (ISO C++ 20, 15.2), where the macros in it have numbers.

use crate::cuda::{
    expansion,
    lexer::{self, Kind, Token, Tokens},
    macros::{Likely, Macros},
};

/// So many tokens are looked at for a condition, those of its macros counted at each use.
const MOST_TOKENS: usize = 1000;
/// So deep may parentheses lie in one another.
const DEEPEST: usize = 32;

/// Whether the condition `text` holds, where these macros are known.
pub(super) fn holds(macros: &Macros, text: &str) -> Likely {
    // What is too long has no value, and is not read.
    let Some(text) = expansion::condition(macros, text, MOST_TOKENS) else { return Likely::Open };
    let tokens = lexer::code(&text).collect();
    let mut condition = Condition { macros, tokens, at: 0, depth: 0, guesses: false };
    let value = condition.choice().filter(|_| condition.at == condition.tokens.len());
    match (value, condition.guesses) {
        (None, _) => Likely::Open,
        (Some(0), false) => Likely::No,
        (Some(0), true) => Likely::Hardly,
        (Some(_), _) => Likely::Yes,
    }
}

/// A condition that is read, its macros expanded.
struct Condition<'m> {
    macros: &'m Macros,
    tokens: Vec<Token<'m>>,
    at: usize,
    depth: usize,
    /// Whether a macro that is defined nowhere in sight had its say.
    guesses: bool,
}

/// Operators with two operands by how tightly they bind, the loosest first.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'m> Condition<'m> {
    /// Goes behind `sign`, if it is here. Its letters are a token each.
    fn take(&mut self, sign: &str) -> bool {
        let is_here = (self.at..).zip(sign.bytes()).all(|(at, letter)| {
            let follows = at == self.at || self.tokens[at - 1].offset + 1 == self.offset(at);
            follows && self.tokens.text_at(at).as_bytes() == [letter]
        });
        if is_here {
            self.at += sign.len();
        }
        is_here
    }

    fn offset(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(usize::MAX, |token| token.offset)
    }

    /// `a ? b : c`.
    fn choice(&mut self) -> Option<i64> {
        self.depth += 1;
        let condition = if self.depth > DEEPEST { None } else { self.binary(0) };
        let value = if self.take("?") {
            let yes = self.choice();
            let no = if self.take(":") { self.choice() } else { None };
            // Where one of them is unsigned, or not known, so is the result's type.
            let (yes, no) = (yes?, no?);
            Some(if condition? != 0 { yes } else { no })
        } else {
            condition
        };
        self.depth -= 1;
        value
    }

    /// Operations that bind at least as tightly as those of `level`.
    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1);
        while let Some(operator) = self.operator(level, operators) {
            let right = self.binary(level + 1);
            left = match (operator, left, right) {
                // Where one side decides, the other may be unknown.
                ("||", Some(value), _) | ("||", _, Some(value)) if value != 0 => Some(1),
                ("&&", Some(0), _) | ("&&", _, Some(0)) => Some(0),
                (operator, Some(left), Some(right)) => computed(operator, left, right),
                (_, None, _) | (_, _, None) => None,
            };
        }
        left
    }

    /// The operator of this level that is here; `&` is not the beginning of `&&`.
    fn operator(
        &mut self,
        level: usize,
        operators: &'static [&'static str],
    ) -> Option<&'static str> {
        let doubled = self.tokens.text_at(self.at) == self.tokens.text_at(self.at + 1)
            && self.offset(self.at).wrapping_add(1) == self.offset(self.at + 1);
        operators.iter().copied().find(|operator| {
            let is_half = operator.len() == 1 && doubled && level < 8;
            !is_half && self.take(operator)
        })
    }

    fn unary(&mut self) -> Option<i64> {
        if self.depth > DEEPEST {
            return None;
        }
        self.depth += 1;
        let value = if self.take("!") {
            self.unary().map(|value| i64::from(value == 0))
        } else if self.take("-") {
            self.unary().map(i64::wrapping_neg)
        } else if self.take("~") {
            self.unary().map(|value| !value)
        } else if self.take("+") {
            self.unary()
        } else {
            self.primary()
        };
        self.depth -= 1;
        value
    }

    fn primary(&mut self) -> Option<i64> {
        if self.take("(") {
            let value = self.choice();
            return if self.take(")") { value } else { None };
        }
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        match (token.kind, token.text) {
            (Kind::Number, text) => number(text),
            (Kind::Word, "defined") => self.defined(),
            (Kind::Word, "true") => Some(1),
            (Kind::Word, "false") => Some(0),
            (Kind::Word, name) => self.named(name),
            (Kind::Blank | Kind::Comment | Kind::Directive | Kind::Disabled, _)
            | (Kind::Quoted | Kind::Sign, _) => None,
        }
    }

    /// `defined NAME` and `defined(NAME)`.
    fn defined(&mut self) -> Option<i64> {
        let parenthesis = self.take("(");
        let name = self.tokens.text_at(self.at);
        self.at += 1;
        if parenthesis && !self.take(")") {
            return None;
        }
        self.answer(self.macros.is_defined(name))
    }

    fn answer(&mut self, likely: Likely) -> Option<i64> {
        match likely {
            Likely::No => Some(0),
            Likely::Hardly => {
                self.guesses = true;
                Some(0)
            }
            Likely::Open => None,
            Likely::Yes => Some(1),
        }
    }

    /// The value of a name that no macro has replaced: 0, unless it stands for something that is not known.
    fn named(&mut self, name: &str) -> Option<i64> {
        if self.macros.definition(name).is_some() {
            // It is a macro with parameters that was given none, or its own replacement.
            return Some(0);
        }
        match self.macros.is_defined(name) {
            Likely::Yes => self.macros.predefined(name),
            likely @ (Likely::No | Likely::Hardly | Likely::Open) => self.answer(likely),
        }
    }
}

/// A number as C writes it, with its suffix; none that makes what it is computed with unsigned.
fn number(text: &str) -> Option<i64> {
    if text.ends_with(['u', 'U']) || text.to_ascii_lowercase().contains("ul") {
        return None;
    }
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (&digits[..], 10),
    };
    i64::from_str_radix(digits, radix).ok()
}

fn computed(operator: &str, a: i64, b: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<<" => a.checked_shl(u32::try_from(b).ok()?)?,
        ">>" => a.checked_shr(u32::try_from(b).ok()?)?,
        "+" => a.checked_add(b)?,
        "-" => a.checked_sub(b)?,
        "*" => a.checked_mul(b)?,
        "/" => a.checked_div(b)?,
        "%" => a.checked_rem(b)?,
        _ => return None,
    })
}

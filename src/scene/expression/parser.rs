//! Reads an expression by precedence climbing.

use super::{
    Error, Floats, Meaning, Node, Number,
    operation::{Function, Kind, Unary, arithmetic_kind},
};
use crate::scene::{operator::Binary, suggestion::suggestion};

/// Nesting that no sane expression reaches; beyond it the parser would run out of stack.
const DEEPEST: usize = 64;
/// Operators and functions that wait for a term's number; a chain of more would be too deep to evaluate.
const MOST_NODES: usize = 500;

/// A part of the expression with the kind of its number.
type Typed<T> = (Node<T>, Kind);

pub(super) struct Parser<'t, 'r, T> {
    text: &'t str,
    at: usize,
    depth: usize,
    nodes: usize,
    floats: Floats,
    resolve: &'r mut dyn FnMut(&str) -> Result<Meaning<T>, String>,
}

impl<'t, 'r, T> Parser<'t, 'r, T> {
    pub(super) fn new(
        text: &'t str,
        floats: Floats,
        resolve: &'r mut dyn FnMut(&str) -> Result<Meaning<T>, String>,
    ) -> Self {
        Self { text, at: 0, depth: 0, nodes: 0, floats, resolve }
    }

    /// All of the text.
    pub(super) fn whole(&mut self) -> Result<Typed<T>, Error> {
        let value = self.conditional()?;
        match self.peek() {
            None => Ok(value),
            Some(found) => Err(self.error(format!("expected an operator, found `{found}`"))),
        }
    }

    /// The next character that is not blank, not yet taken.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> Option<usize> {
        self.peek().filter(|c| *c == wanted)?;
        let at = self.at;
        self.at += wanted.len_utf8();
        Some(at)
    }

    /// The characters from here on that `accept` likes.
    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn error(&self, text: impl Into<String>) -> Error {
        Error { offset: self.at, text: text.into() }
    }

    /// Reads with `inner`, one level deeper.
    fn nested(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Typed<T>, Error>,
    ) -> Result<Typed<T>, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(format!("nested more than {DEEPEST} deep")));
        }
        let value = inner(self);
        self.depth -= 1;
        value
    }

    /// A node that is a number where all its parts are and it has a value. What has none, as `1 / 0`, may be a part
    /// that is never reached.
    fn node(&mut self, node: Node<T>, kind: Kind) -> Result<Typed<T>, Error> {
        if !node.has_terms()
            && let Ok(number) = node.value(self.floats, &mut |_| Err(String::new()))
        {
            return Ok((Node::Number(number), kind));
        }
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.error(format!("more than {MOST_NODES} operators")));
        }
        Ok((node, kind))
    }

    /// `condition ? yes : no`.
    fn conditional(&mut self) -> Result<Typed<T>, Error> {
        let (condition, kind) = self.binary(1)?;
        let Some(question) = self.take('?') else { return Ok((condition, kind)) };
        let (yes, first) = self.nested(Self::conditional)?;
        if self.take(':').is_none() {
            return Err(Error { offset: question, text: "this `?` has no `:`".into() });
        }
        let (no, second) = self.nested(Self::conditional)?;
        let kind = if first == second { Ok(first) } else { arithmetic_kind(first, second) };
        let kind = kind.map_err(|text| Error { offset: question, text })?;
        let widens = kind == Kind::Float;
        self.node(Node::Conditional(Box::new([condition, yes, no]), widens), kind)
    }

    /// Operands with operators between them that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Result<Typed<T>, Error> {
        let (mut left, mut kind) = self.nested(Self::operand)?;
        loop {
            self.peek();
            let rest = &self.text[self.at..];
            let found = Binary::at_start(|spelling| rest.starts_with(spelling));
            let Some(operator) = found.filter(|found| found.binding() >= least) else {
                return Ok((left, kind));
            };
            let at = self.at;
            self.at += operator.spelling().len();
            let (right, other) = self.binary(operator.binding() + 1)?;
            kind = operator.kind(kind, other).map_err(|text| Error { offset: at, text })?;
            (left, kind) = self.node(Node::Binary(operator, Box::new([left, right]), at), kind)?;
        }
    }

    fn operand(&mut self) -> Result<Typed<T>, Error> {
        match self.peek() {
            Some('-') => self.signed(Unary::Minus),
            Some('+') => self.signed(Unary::Plus),
            Some('!') => self.signed(Unary::Not),
            Some('~') => self.signed(Unary::Complement),
            Some('(') => self.parenthesized(),
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let number = self.number(false)?;
                Ok((Node::Number(number), number.kind()))
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.named(),
            Some('`') => self.quoted(),
            Some(c) => Err(self.error(format!("expected a number, a name or `(`, found `{c}`"))),
            None => Err(self.error("expected a number, a name or `(`, found the end")),
        }
    }

    fn signed(&mut self, operator: Unary) -> Result<Typed<T>, Error> {
        let at = self.at;
        self.at += 1;
        // The least integer has no positive counterpart.
        if operator == Unary::Minus
            && self.text[self.at..].starts_with(|c: char| c.is_ascii_digit())
        {
            let number = self.number(true)?;
            return Ok((Node::Number(number), number.kind()));
        }
        let (operand, kind) = self.nested(Self::operand)?;
        let kind = operator.kind(kind).map_err(|text| Error { offset: at, text })?;
        self.node(Node::Unary(operator, Box::new(operand), at), kind)
    }

    fn parenthesized(&mut self) -> Result<Typed<T>, Error> {
        let open = self.at;
        self.at += 1;
        let value = self.conditional()?;
        match self.take(')') {
            Some(_) => Ok(value),
            None => Err(Error { offset: open, text: "this `(` is never closed".into() }),
        }
    }

    fn number(&mut self, negative: bool) -> Result<Number, Error> {
        let start = self.at;
        if self.text[start..].starts_with("0x") || self.text[start..].starts_with("0X") {
            self.at += 2;
            let digits = self.take_while(|c| c.is_ascii_alphanumeric());
            let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
            let value = u64::from_str_radix(digits, 16).map(i128::from);
            let value = value.map(|value| if negative { -value } else { value });
            return value
                .ok()
                .and_then(Number::int)
                .ok_or_else(|| Error { offset: start, text: "not a hexadecimal number".into() });
        }
        self.take_while(|c| c.is_ascii_digit());
        let mut float = false;
        if self.text[self.at..].starts_with('.') {
            float = true;
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        if self.text[self.at..].starts_with(['e', 'E']) {
            float = true;
            self.at += 1;
            if self.text[self.at..].starts_with(['+', '-']) {
                self.at += 1;
            }
            self.take_while(|c| c.is_ascii_digit());
        }
        self.literal(start, float, negative)
    }

    /// The number written from `start` to here.
    fn literal(&mut self, start: usize, float: bool, negative: bool) -> Result<Number, Error> {
        let digits = &self.text[start..self.at];
        let trailing = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let broken = |text: String| Error { offset: start, text };
        match trailing {
            "" => {}
            "f" | "F" if float => {}
            suffix if !float && is_integer_suffix(suffix) => {}
            _ => return Err(broken(format!("`{digits}{trailing}` is not a number"))),
        }
        // Neither is a number taken for what it is not, nor for what few know.
        if !float && digits.len() > 1 && digits.starts_with('0') {
            let text =
                format!("`{digits}` is an octal number in C: write it without the 0 before it");
            return Err(broken(text));
        }
        let signed = if negative { format!("-{digits}") } else { digits.to_owned() };
        if float {
            let value = signed.parse::<f64>().ok().filter(|value| value.is_finite());
            return value
                .map(Number::Float)
                .ok_or_else(|| broken(format!("`{digits}` is not a finite number")));
        }
        let value = signed.parse().ok().and_then(Number::int);
        value.ok_or_else(|| broken(format!("`{signed}` does not fit into 64 bits")))
    }

    /// `true`, `f(...)`, or a name with what belongs to it: `position.x.max`, `flag[0].y`.
    fn named(&mut self) -> Result<Typed<T>, Error> {
        let offset = self.at;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = self.take_while(is_word);
        if self.peek() == Some('(') {
            return self.call(name, offset);
        }
        match name {
            "true" | "false" => {
                return Ok((Node::Number(Number::Bool(name == "true")), Kind::Bool));
            }
            _ => {}
        }
        while self.text[self.at..].starts_with(['.', '[']) {
            let accept: fn(char) -> bool = match self.text[self.at..].starts_with('.') {
                true => |c| c.is_ascii_alphanumeric() || c == '_',
                false => |c| c != ']',
            };
            self.at += 1;
            self.take_while(accept);
            self.at += usize::from(self.text[self.at..].starts_with(']'));
        }
        let name = self.text[offset..self.at].trim_end();
        self.meaning(name, offset)
    }

    /// A name with blanks in it: `` `kinetic energy` ``.
    fn quoted(&mut self) -> Result<Typed<T>, Error> {
        let offset = self.at;
        self.at += 1;
        let name = self.take_while(|c| c != '`');
        if self.take('`').is_none() {
            return Err(Error { offset, text: "this name has no second ` behind it".into() });
        }
        self.meaning(name, offset)
    }

    fn meaning(&mut self, name: &str, offset: usize) -> Result<Typed<T>, Error> {
        match (self.resolve)(name).map_err(|text| Error { offset, text })? {
            Meaning::Number(number) => Ok((Node::Number(number), number.kind())),
            Meaning::Term(term, kind) => Ok((Node::Term(term), kind)),
        }
    }

    fn call(&mut self, name: &str, offset: usize) -> Result<Typed<T>, Error> {
        let Some(function) = Function::named(name) else {
            let hint = suggestion(name, Function::names());
            return Err(Error { offset, text: format!("there is no function `{name}`{hint}") });
        };
        let open = self.at;
        self.at += 1;
        let (mut arguments, mut kinds) = (Vec::new(), Vec::new());
        while self.peek() != Some(')') {
            let (argument, kind) = self.nested(Self::conditional)?;
            arguments.push(argument);
            kinds.push(kind);
            if self.take(',').is_none() && self.peek() != Some(')') {
                return Err(Error { offset: open, text: "this `(` is never closed".into() });
            }
        }
        self.at += 1;
        let kind = function.kind(&kinds).map_err(|text| Error { offset, text })?;
        self.node(Node::Call(function, arguments, offset), kind)
    }
}

/// Whether C has such letters behind an integer. What they say of its type does not matter: all have 64 bits here.
fn is_integer_suffix(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    matches!(text.as_str(), "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu")
}

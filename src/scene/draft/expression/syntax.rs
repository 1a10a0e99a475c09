//! Expressions of C++, read from their tokens by precedence climbing.

use super::cpp_number::{Number, Type, character, literal};
use crate::{
    cuda::lexer::{Kind, Token, Tokens},
    scene::operator::{Binary, Operator},
};

/// Brackets and operators within one another; beyond it the parser would run out of stack.
const DEEPEST: usize = 64;

/// The field that stands for how many elements a container has.
pub(in crate::scene::draft) const SIZE: &str = "size()";

/// What stands before an operand.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) enum Sign {
    Plus,
    Minus,
    Not,
    Complement,
}

/// An expression. What is known to be one, but not to be a number, is [`Unknown`](Self::Unknown).
#[derive(Clone, PartialEq)]
pub(in crate::scene::draft) enum Expression<'s> {
    Number(Number),
    Name(&'s str),
    /// `grid.x`, `grid->x`.
    Field(&'s str, &'s str),
    /// `Mode::Fast`, without the scopes before these two.
    Scoped(&'s str, &'s str),
    Signed(Sign, Box<Self>),
    Binary(Binary, Box<[Self; 2]>),
    Conditional(Box<[Self; 3]>),
    Cast(Type, Box<Self>),
    Call(Callee<'s>, Vec<Self>),
    Unknown,
}

/// What is called.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) struct Callee<'s> {
    pub(in crate::scene::draft) name: &'s str,
    /// It is the library's: `std::max`.
    pub(in crate::scene::draft) is_std: bool,
    /// The type that stands as a template's argument, `max<int>(a, b)`.
    pub(in crate::scene::draft) template: Option<Type>,
}

/// What the parser asks of the file.
pub(in crate::scene::draft) trait Types {
    /// The type of numbers that these words name.
    fn number_type(&self, words: &[&str]) -> Option<Type>;
    /// The bytes of the operand of `sizeof`: a type or a variable, or what lies behind one.
    fn size_of(&self, words: &[&str]) -> Option<usize>;
}

/// What `tokens` are, all of them; `None` where they are no expression that is understood.
pub(in crate::scene::draft) fn parse<'s>(
    tokens: &[Token<'s>],
    types: &dyn Types,
) -> Option<Expression<'s>> {
    let mut parser = Parser { tokens, at: 0, depth: 0, types };
    let found = parser.conditional()?;
    (parser.at == tokens.len()).then_some(found)
}

struct Parser<'t, 's> {
    tokens: &'t [Token<'s>],
    at: usize,
    depth: usize,
    types: &'t dyn Types,
}

impl<'s> Parser<'_, 's> {
    fn text(&self, ahead: usize) -> &'s str {
        self.tokens.text_at(self.at + ahead)
    }

    fn is_word(&self, ahead: usize) -> bool {
        self.tokens.is_word_at(self.at + ahead)
    }

    fn take(&mut self, wanted: &str) -> Option<()> {
        (self.text(0) == wanted).then(|| self.at += 1)
    }

    fn nested(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Option<Expression<'s>>,
    ) -> Option<Expression<'s>> {
        self.depth += 1;
        let found = if self.depth > DEEPEST { None } else { inner(self) };
        self.depth -= 1;
        found
    }

    fn conditional(&mut self) -> Option<Expression<'s>> {
        let condition = self.binary(1)?;
        if self.take("?").is_none() {
            return Some(condition);
        }
        let yes = self.nested(Self::conditional)?;
        self.take(":")?;
        let no = self.nested(Self::conditional)?;
        Some(Expression::Conditional(Box::new([condition, yes, no])))
    }

    fn binary(&mut self, least: u8) -> Option<Expression<'s>> {
        let mut left = self.nested(Self::operand)?;
        loop {
            let Some(operator) = self.operator() else { return Some(left) };
            if operator.binding() < least {
                return Some(left);
            }
            self.at += operator.spelling().len();
            let right = self.nested(|parser| parser.binary(operator.binding() + 1))?;
            left = Expression::Binary(operator, Box::new([left, right]));
        }
    }

    /// The operator here; none where it assigns.
    fn operator(&self) -> Option<Binary> {
        let found = Binary::at_start(|spelling| {
            spelling.chars().enumerate().all(|(place, sign)| self.joined(place).starts_with(sign))
        })?;
        let assigns = self.joined(found.spelling().len()) == "=";
        (!assigns || found.compares()).then_some(found)
    }

    /// The sign so many tokens ahead, where nothing lies between it and the one here.
    fn joined(&self, ahead: usize) -> &'s str {
        let (Some(here), Some(there)) =
            (self.tokens.get(self.at), self.tokens.get(self.at + ahead))
        else {
            return "";
        };
        let is_joined = there.kind == Kind::Sign && there.offset == here.offset + ahead;
        if is_joined { there.text } else { "" }
    }

    fn operand(&mut self) -> Option<Expression<'s>> {
        let sign = match self.text(0) {
            "-" if self.joined(1) == "-" => return None,
            "+" if self.joined(1) == "+" => return None,
            "-" => Sign::Minus,
            "+" => Sign::Plus,
            "!" => Sign::Not,
            "~" => Sign::Complement,
            // An address, or what lies at one.
            "&" | "*" => {
                self.at += 1;
                self.nested(Self::operand)?;
                return Some(Expression::Unknown);
            }
            _ => return self.primary(),
        };
        self.at += 1;
        let operand = self.nested(Self::operand)?;
        Some(Expression::Signed(sign, Box::new(operand)))
    }

    fn primary(&mut self) -> Option<Expression<'s>> {
        let token = *self.tokens.get(self.at)?;
        match token.kind {
            Kind::Number => {
                self.at += 1;
                Some(literal(token.text).map_or(Expression::Unknown, Expression::Number))
            }
            Kind::Quoted => {
                self.at += 1;
                Some(character(token.text).map_or(Expression::Unknown, Expression::Number))
            }
            Kind::Sign if token.text == "(" => {
                let found = match self.cast() {
                    Some(of) => self.cast_operand(of)?,
                    None => {
                        self.at += 1;
                        let inner = self.nested(Self::conditional)?;
                        self.take(")")?;
                        inner
                    }
                };
                self.behind(found)
            }
            Kind::Sign if token.text == "::" => {
                self.at += 1;
                self.word()
            }
            Kind::Word => self.word(),
            Kind::Sign | Kind::Blank | Kind::Comment | Kind::Directive | Kind::Disabled => None,
        }
    }

    /// What is cast behind `(int)` or `(float *)`, whose operand binds more tightly than any operator.
    fn cast_operand(&mut self, of: Option<Type>) -> Option<Expression<'s>> {
        let operand = self.nested(Self::operand)?;
        Some(of.map_or(Expression::Unknown, |of| Expression::Cast(of, Box::new(operand))))
    }

    /// Goes behind `(type)`, where one stands here: of numbers, or a pointer, which is none of them.
    fn cast(&mut self) -> Option<Option<Type>> {
        let length = self.tokens[self.at..].iter().position(|token| token.text == ")")?;
        let words: Vec<&str> =
            self.tokens[self.at + 1..self.at + length].iter().map(|token| token.text).collect();
        let is_pointer = words.len() > 1
            && words.last() == Some(&"*")
            && words.iter().all(|word| *word == "*" || *word == "::" || is_word(word));
        let of = self.number_type(&words);
        (of.is_some() || is_pointer).then(|| {
            self.at += length + 1;
            of
        })
    }

    fn number_type(&self, words: &[&str]) -> Option<Type> {
        let words = words.strip_prefix(&["std", "::"]).unwrap_or(words);
        self.types.number_type(words)
    }

    fn word(&mut self) -> Option<Expression<'s>> {
        let is_std = self.text(0) == "std" && self.text(1) == "::";
        if is_std {
            self.at += 2;
        }
        if !self.is_word(0) {
            return None;
        }
        let name = self.text(0);
        match name {
            "true" | "false" => {
                self.at += 1;
                return Some(Expression::Number(Number::truth(name == "true")));
            }
            "sizeof" => return self.size(),
            "new" | "delete" | "throw" | "return" => return None,
            _ if name.ends_with("_cast") && self.text(1) == "<" => return self.named_cast(),
            _ => {}
        }
        if let Some((of, length)) = self.type_here() {
            self.at += length;
            return self.construction(of);
        }
        self.at += 1;
        if self.text(0) == "::" {
            return self.of_scope(name);
        }
        let template = self.template_argument();
        match self.text(0) {
            "(" => {
                let arguments = self.arguments()?;
                self.behind(Expression::Call(Callee { name, is_std, template }, arguments))
            }
            "." if self.is_word(1) && self.text(2) != "(" => {
                let field = self.text(1);
                self.at += 2;
                self.behind(Expression::Field(name, field))
            }
            "." if self.text(1) == "size" && self.text(3) == ")" => {
                self.at += 4;
                self.behind(Expression::Field(name, SIZE))
            }
            "-" if self.joined(1) == ">" && self.is_word(2) && self.text(3) != "(" => {
                let field = self.text(2);
                self.at += 3;
                self.behind(Expression::Field(name, field))
            }
            _ => self.behind(Expression::Name(name)),
        }
    }

    /// The type that stands here before `(` or `{`, and of how many words it is.
    fn type_here(&self) -> Option<(Type, usize)> {
        let words = (0..4).take_while(|ahead| self.is_word(*ahead)).map(|ahead| self.text(ahead));
        let words: Vec<&str> = words.collect();
        let of = self.number_type(&words)?;
        matches!(self.text(words.len()), "(" | "{").then_some((of, words.len()))
    }

    /// `int(value)`, `int{value}`.
    fn construction(&mut self, of: Type) -> Option<Expression<'s>> {
        let close = if self.text(0) == "(" { ")" } else { "}" };
        self.at += 1;
        if self.take(close).is_some() {
            return Some(Expression::Cast(of, Box::new(Expression::Number(Number::int(0)))));
        }
        let inner = self.nested(Self::conditional)?;
        self.take(close)?;
        Some(Expression::Cast(of, Box::new(inner)))
    }

    /// `static_cast<int>(value)`; what the other casts give is no number.
    fn named_cast(&mut self) -> Option<Expression<'s>> {
        let is_static = self.text(0) == "static_cast";
        let length = self.tokens[self.at..].iter().position(|token| token.text == ">")?;
        let words: Vec<&str> =
            self.tokens[self.at + 2..self.at + length].iter().map(|token| token.text).collect();
        let of = self.number_type(&words).filter(|_| is_static);
        self.at += length + 1;
        self.take("(")?;
        let inner = self.nested(Self::conditional)?;
        self.take(")")?;
        Some(of.map_or(Expression::Unknown, |of| Expression::Cast(of, Box::new(inner))))
    }

    /// `<int>` between the name of a function and its arguments.
    fn template_argument(&mut self) -> Option<Type> {
        if self.text(0) != "<" {
            return None;
        }
        let length = self.tokens[self.at..].iter().take(6).position(|token| token.text == ">")?;
        let words: Vec<&str> =
            self.tokens[self.at + 1..self.at + length].iter().map(|token| token.text).collect();
        let of = self.number_type(&words).filter(|_| self.text(length + 1) == "(")?;
        self.at += length + 1;
        Some(of)
    }

    fn arguments(&mut self) -> Option<Vec<Expression<'s>>> {
        self.take("(")?;
        let mut arguments = Vec::new();
        if self.take(")").is_some() {
            return Some(arguments);
        }
        loop {
            arguments.push(self.nested(Self::conditional)?);
            if self.take(",").is_none() {
                self.take(")")?;
                return Some(arguments);
            }
        }
    }

    /// `sizeof(type)`, `sizeof(type[count])`, `sizeof name`, `sizeof *name`.
    fn size(&mut self) -> Option<Expression<'s>> {
        self.at += 1;
        let (inner, end) = if self.text(0) == "(" {
            let end = self.at + self.closed()?;
            (self.at + 1..end - 1, end)
        } else {
            let start = self.at;
            while self.text(0) == "*" {
                self.at += 1;
            }
            self.take_word()?;
            self.behind(Expression::Unknown)?;
            (start..self.at, self.at)
        };
        self.at = end;
        let tokens = self.tokens.get(inner)?;
        let words: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        let number = |bytes| Expression::Number(Number::Whole(Type::UnsignedLong, bytes as i128));
        if let Some(bytes) = self.types.size_of(&words) {
            return Some(number(bytes));
        }
        let axes = words.iter().filter(|word| **word == "[").count();
        let open = words.iter().position(|word| *word == "[").filter(|_| axes == 1);
        let of_array = open.filter(|_| words.last() == Some(&"]")).and_then(|open| {
            let bytes = self.types.size_of(&words[..open])?;
            let count = parse(&tokens[open + 1..tokens.len() - 1], self.types)?;
            let count = Expression::Cast(Type::UnsignedLong, Box::new(count));
            let operator = Binary::Operator(Operator::Multiply);
            Some(Expression::Binary(operator, Box::new([count, number(bytes)])))
        });
        Some(of_array.unwrap_or(Expression::Unknown))
    }

    fn take_word(&mut self) -> Option<()> {
        self.is_word(0).then(|| self.at += 1)
    }

    /// How many tokens the brackets have that open here.
    fn closed(&self) -> Option<usize> {
        let mut depth = 0_usize;
        for (place, token) in self.tokens[self.at..].iter().enumerate() {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(place + 1);
            }
        }
        None
    }

    /// Behind `Name` in `Name::other`, `Name::other(...)`.
    fn of_scope(&mut self, mut name: &'s str) -> Option<Expression<'s>> {
        let mut scope = name;
        while self.text(0) == "::" && self.is_word(1) {
            (scope, name) = (name, self.text(1));
            self.at += 2;
        }
        self.behind(Expression::Scoped(scope, name))
    }

    /// What stands behind an operand: an element, a member, a call; what it changes is none.
    fn behind(&mut self, found: Expression<'s>) -> Option<Expression<'s>> {
        let mut found = found;
        loop {
            match (self.text(0), self.joined(1)) {
                ("[" | "(", _) => self.at += self.closed()?,
                (".", _) if self.is_word(1) => self.at += 2,
                ("-", ">") if self.is_word(2) => self.at += 3,
                ("+", "+") | ("-", "-") => return None,
                _ => return Some(found),
            }
            found = Expression::Unknown;
        }
    }
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c == '_' || c.is_alphanumeric())
}

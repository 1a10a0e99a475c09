//! Arithmetic over constants: `+ - * /`, signs and parentheses, as C computes it.

use std::fmt;

/// A number of a manifest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl Number {
    /// What it is, in one word of the manifest's language.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Bool(_) => "bool",
        }
    }

    /// Its value as a floating-point number; truth values have none.
    pub const fn as_f64(self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            Self::Bool(_) => None,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Bool(value) => value.fmt(f),
        }
    }
}

/// What is wrong with an expression, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The byte of the expression's text that it is about.
    pub offset: usize,
    /// One sentence.
    pub text: String,
}

/// Nesting that no sane expression reaches; beyond it the parser would run out of stack.
const DEEPEST: usize = 64;

/// The value of the expression `text`, whose names `resolve` knows.
///
/// Integers are 64-bit: their division truncates towards zero, and running over is an error. An integer
/// beside a floating-point number becomes one.
///
/// # Errors
///
/// Whatever keeps it from having a finite value.
pub fn evaluate(
    text: &str,
    resolve: &mut dyn FnMut(&str) -> Result<Number, String>,
) -> Result<Number, Error> {
    let mut parser = Parser { text, at: 0, depth: 0, resolve };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(found) => Err(parser.error(format!("expected an operator, found `{found}`"))),
    }
}

struct Parser<'t, 'r> {
    text: &'t str,
    at: usize,
    depth: usize,
    resolve: &'r mut dyn FnMut(&str) -> Result<Number, String>,
}

impl<'t> Parser<'t, '_> {
    /// The next character that is not blank, not yet taken.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, one_of: &[char]) -> Option<(char, usize)> {
        let found = self.peek().filter(|c| one_of.contains(c))?;
        let at = self.at;
        self.at += found.len_utf8();
        Some((found, at))
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

    fn sum(&mut self) -> Result<Number, Error> {
        let mut value = self.product()?;
        while let Some((operator, at)) = self.take(&['+', '-']) {
            let right = self.product()?;
            value = apply(operator, value, right).map_err(|text| Error { offset: at, text })?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<Number, Error> {
        let mut value = self.factor()?;
        while let Some((operator, at)) = self.take(&['*', '/']) {
            let right = self.factor()?;
            value = apply(operator, value, right).map_err(|text| Error { offset: at, text })?;
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<Number, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(format!("nested more than {DEEPEST} deep")));
        }
        let value = match self.peek() {
            Some('-' | '+') => self.signed(),
            Some('(') => self.parenthesized(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(self.error(format!("expected a number, a name or `(`, found `{c}`"))),
            None => Err(self.error("expected a number, a name or `(`, found the end")),
        };
        self.depth -= 1;
        value
    }

    fn signed(&mut self) -> Result<Number, Error> {
        let sign = self.take(&['-', '+']);
        let value = self.factor()?;
        match sign {
            Some(('-', at)) => {
                apply('-', zero_like(value), value).map_err(|text| Error { offset: at, text })
            }
            _ => Ok(value),
        }
    }

    fn parenthesized(&mut self) -> Result<Number, Error> {
        let open = self.take(&['(']);
        let value = self.sum()?;
        if self.take(&[')']).is_some() {
            return Ok(value);
        }
        let offset = open.map_or(self.at, |(_, at)| at);
        Err(Error { offset, text: "this `(` is never closed".into() })
    }

    fn number(&mut self) -> Result<Number, Error> {
        let start = self.at;
        if self.text[start..].starts_with("0x") || self.text[start..].starts_with("0X") {
            self.at += 2;
            let digits = self.take_while(|c| c.is_ascii_alphanumeric());
            return i64::from_str_radix(digits, 16)
                .map(Number::Int)
                .map_err(|_| Error { offset: start, text: "not a hexadecimal number".into() });
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
        self.literal(start, float)
    }

    /// The number written from `start` to here.
    fn literal(&mut self, start: usize, float: bool) -> Result<Number, Error> {
        let digits = &self.text[start..self.at];
        let trailing = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let broken = |text: String| Error { offset: start, text };
        match trailing {
            "" => {}
            "f" | "F" if float => {}
            _ => return Err(broken(format!("`{digits}{trailing}` is not a number"))),
        }
        if float {
            let value = digits.parse::<f64>().ok().filter(|value| value.is_finite());
            return value
                .map(Number::Float)
                .ok_or_else(|| broken(format!("`{digits}` is not a finite number")));
        }
        let value = digits.parse().map(Number::Int);
        value.map_err(|_| broken(format!("`{digits}` does not fit into 64 bits")))
    }

    fn name(&mut self) -> Result<Number, Error> {
        let offset = self.at;
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        match name {
            "true" => Ok(Number::Bool(true)),
            "false" => Ok(Number::Bool(false)),
            name => (self.resolve)(name).map_err(|text| Error { offset, text }),
        }
    }
}

/// What `value` is subtracted from to change its sign; -0.0 keeps the sign of a zero right.
const fn zero_like(value: Number) -> Number {
    match value {
        Number::Int(_) => Number::Int(0),
        Number::Float(_) | Number::Bool(_) => Number::Float(-0.0),
    }
}

fn apply(operator: char, left: Number, right: Number) -> Result<Number, String> {
    match (left, right) {
        (Number::Int(a), Number::Int(b)) => integer(operator, a, b).map(Number::Int),
        _ => match (left.as_f64(), right.as_f64()) {
            (Some(a), Some(b)) => float(operator, a, b).map(Number::Float),
            _ => Err("`true` and `false` are no numbers".into()),
        },
    }
}

fn integer(operator: char, a: i64, b: i64) -> Result<i64, String> {
    if operator == '/' && b == 0 {
        return Err("division by zero".into());
    }
    let value = match operator {
        '+' => a.checked_add(b),
        '-' => a.checked_sub(b),
        '*' => a.checked_mul(b),
        _ => a.checked_div(b),
    };
    value.ok_or_else(|| format!("{a} {operator} {b} does not fit into 64 bits"))
}

fn float(operator: char, a: f64, b: f64) -> Result<f64, String> {
    let value = match operator {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        _ => a / b,
    };
    if value.is_finite() {
        return Ok(value);
    }
    Err(if operator == '/' && b == 0.0 {
        "division by zero".into()
    } else {
        format!("{a} {operator} {b} is not a finite number")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Number, Error> {
        evaluate(text, &mut |name| match name {
            "n" => Ok(Number::Int(1000)),
            "r" => Ok(Number::Float(0.5)),
            _ => Err(format!("no `{name}`")),
        })
    }

    #[test]
    fn integers_and_floats_compute_as_in_c() {
        let cases = [
            ("1 + 2 * 3", Number::Int(7)),
            ("(1 + 2) * 3", Number::Int(9)),
            ("7 / 2", Number::Int(3)),
            ("-7 / 2", Number::Int(-3)),
            ("7 / 2.0", Number::Float(3.5)),
            ("10 - 3 - 2", Number::Int(5)),
            ("100 / 10 / 5", Number::Int(2)),
            ("n * 4", Number::Int(4000)),
            ("n * r", Number::Float(500.0)),
            ("--3", Number::Int(3)),
            ("2 - -3", Number::Int(5)),
            ("0x10", Number::Int(16)),
            (".5e1f", Number::Float(5.0)),
            ("1e-3", Number::Float(1e-3)),
            ("-9223372036854775807 - 1", Number::Int(i64::MIN)),
            ("true", Number::Bool(true)),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn faults_have_their_place() {
        let cases = [
            ("", 0, "found the end"),
            ("1 +", 3, "found the end"),
            ("1 / 0", 2, "division by zero"),
            ("1 / 0.0", 2, "division by zero"),
            ("(1 + 2", 0, "never closed"),
            ("1 2", 2, "expected an operator"),
            ("1 + m", 4, "no `m`"),
            ("9223372036854775807 + 1", 20, "64 bits"),
            ("9999999999999999999", 0, "64 bits"),
            ("1e999", 0, "finite"),
            ("12abc", 0, "not a number"),
            ("1.2.3", 0, "not a number"),
            ("true + 1", 5, "no numbers"),
            ("0xg", 0, "hexadecimal"),
            ("n $ 2", 2, "operator"),
            ("ü", 0, "found `ü`"),
        ];
        for (text, offset, part) in cases {
            let error = value(text).expect_err(text);
            assert!(error.offset == offset && error.text.contains(part), "{text}: {error:?}");
        }
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value(&"-".repeat(100_000)).is_err());
    }

    /// A tree of random operations, printed, must evaluate to what Rust computes.
    #[test]
    fn random_expressions_agree_with_rust() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut compared = 0;
        for _ in 0..2000 {
            let (text, expected) = tree(&mut random, 4);
            match (value(&text), expected) {
                (Ok(Number::Int(found)), Some(expected)) => {
                    compared += 1;
                    assert_eq!(found, expected, "{text}");
                }
                (Err(_), None) => {}
                (found, expected) => panic!("{text}: {found:?}, Rust says {expected:?}"),
            }
        }
        assert!(compared > 1000, "only {compared} had a value");
    }

    fn tree(random: &mut u64, depth: u32) -> (String, Option<i64>) {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let choice = *random >> 33;
        if depth == 0 || choice.is_multiple_of(5) {
            let value = (choice / 5 % 100) as i64;
            return (value.to_string(), Some(value));
        }
        let (a, x) = tree(random, depth - 1);
        let (b, y) = tree(random, depth - 1);
        let both = |f: fn(i64, i64) -> Option<i64>| x.zip(y).and_then(|(x, y)| f(x, y));
        match choice % 5 {
            1 => (format!("({a} + {b})"), both(i64::checked_add)),
            2 => (format!("({a}-{b})"), both(i64::checked_sub)),
            3 => (format!("(({a}) * ({b}))"), both(i64::checked_mul)),
            _ => (format!("(({a}) / ({b}))"), both(i64::checked_div)),
        }
    }
}

//! Expressions that choose elements of a table: `x > 1 || isnan(y)`.
//!
//! Numbers, the names of columns and `i`, the element's index; the operators of C with their precedence; a few
//! functions. Truth is any number but 0 and NaN.

/// An expression that has been read.
#[derive(Clone, Debug)]
pub enum Filter {
    /// A number.
    Number(f64),
    /// The value of a column.
    Column(usize),
    /// The element's index.
    Index,
    /// What a sign or a function before it makes of one.
    One(fn(f64) -> f64, Box<Self>),
    /// What an operator or a function makes of two.
    Two(fn(f64, f64) -> f64, Box<[Self; 2]>),
}

impl Filter {
    /// Reads an expression about these columns.
    ///
    /// # Errors
    /// A sentence about what is wrong.
    pub fn parse(text: &str, columns: &[String]) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} letters"));
        }
        let mut reader = Reader { rest: text.trim_start(), columns, depth: 0 };
        let filter = reader.binary(0)?;
        match reader.rest {
            "" => Ok(filter),
            rest => Err(format!("`{rest}` is more than an expression")),
        }
    }

    /// Its value for an element.
    pub fn value(&self, index: u64, column: &impl Fn(usize) -> f64) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Column(at) => column(*at),
            Self::Index => index as f64,
            Self::One(make, of) => make(of.value(index, column)),
            Self::Two(make, of) => make(of[0].value(index, column), of[1].value(index, column)),
        }
    }

    /// Whether it chooses an element.
    pub fn chooses(&self, index: u64, column: &impl Fn(usize) -> f64) -> bool {
        is_true(self.value(index, column))
    }
}

fn is_true(value: f64) -> bool {
    value != 0.0 && !value.is_nan()
}

fn truth(is: bool) -> f64 {
    f64::from(u8::from(is))
}

type Change = fn(f64) -> f64;
type Make = fn(f64, f64) -> f64;

/// The operators between two, those that bind least first; of one line the longer ones first.
const OPERATORS: [&[(&str, Make)]; 6] = [
    &[("||", |a, b| truth(is_true(a) || is_true(b)))],
    &[("&&", |a, b| truth(is_true(a) && is_true(b)))],
    &[("==", |a, b| truth(a == b)), ("!=", |a, b| truth(a != b))],
    &[
        ("<=", |a, b| truth(a <= b)),
        (">=", |a, b| truth(a >= b)),
        ("<", |a, b| truth(a < b)),
        (">", |a, b| truth(a > b)),
    ],
    &[("+", |a, b| a + b), ("-", |a, b| a - b)],
    &[("*", |a, b| a * b), ("/", |a, b| a / b), ("%", |a, b| a % b)],
];

/// Functions of one number, and of two.
const OF_ONE: [(&str, Change); 8] = [
    ("isnan", |a| truth(a.is_nan())),
    ("isinf", |a| truth(a.is_infinite())),
    ("isfinite", |a| truth(a.is_finite())),
    ("abs", f64::abs),
    ("sqrt", f64::sqrt),
    ("floor", f64::floor),
    ("sin", f64::sin),
    ("cos", f64::cos),
];
const OF_TWO: [(&str, Make); 3] = [("min", f64::min), ("max", f64::max), ("pow", f64::powf)];

/// So many letters an expression has: each operator lies within the next one.
const LONGEST: usize = 4096;
/// Brackets within brackets.
const DEEPEST: usize = 64;

struct Reader<'a> {
    rest: &'a str,
    columns: &'a [String],
    depth: usize,
}

impl Reader<'_> {
    /// Goes past `sign`, if it is next.
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    fn binary(&mut self, level: usize) -> Result<Filter, String> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some((_, make)) = operators.iter().find(|(sign, _)| self.takes(sign)) {
            left = Filter::Two(*make, Box::new([left, self.binary(level + 1)?]));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Filter, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("there are too many brackets in one another".to_owned());
        }
        let found = if self.takes("-") {
            Filter::One(|a| -a, Box::new(self.unary()?))
        } else if self.takes("!") {
            Filter::One(|a| truth(!is_true(a)), Box::new(self.unary()?))
        } else if self.takes("(") {
            let within = self.binary(0)?;
            self.expect(")")?;
            within
        } else {
            self.word()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.takes(sign) {
            Ok(())
        } else {
            Err(format!("`{sign}` is missing before `{}`", self.rest))
        }
    }

    /// A number, a column, or a function.
    fn word(&mut self) -> Result<Filter, String> {
        let is_of_word = |c: char| c.is_alphanumeric() || "_.[]".contains(c);
        let mut end = self.rest.find(|c| !is_of_word(c)).unwrap_or(self.rest.len());
        let starts_number = self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        // `1e-3`
        if starts_number
            && self.rest[..end].ends_with(['e', 'E'])
            && self.rest[end..].starts_with(['+', '-'])
        {
            let behind = &self.rest[end + 1..];
            end += 1 + behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if word.is_empty() {
            return Err(match self.rest {
                "" => "something is missing at the end".to_owned(),
                rest => format!("`{rest}` is no number and no name"),
            });
        }
        if let Some(at) = self.columns.iter().position(|name| name == word) {
            return Ok(Filter::Column(at));
        }
        if starts_number {
            let number = word.trim_end_matches(['f', 'F']);
            return number
                .parse()
                .map(Filter::Number)
                .map_err(|_| format!("`{word}` is no number"));
        }
        if let Some((_, make)) = OF_ONE.iter().find(|(name, _)| *name == word) {
            self.expect("(")?;
            let of = self.binary(0)?;
            self.expect(")")?;
            return Ok(Filter::One(*make, Box::new(of)));
        }
        if let Some((_, make)) = OF_TWO.iter().find(|(name, _)| *name == word) {
            self.expect("(")?;
            let first = self.binary(0)?;
            self.expect(",")?;
            let second = self.binary(0)?;
            self.expect(")")?;
            return Ok(Filter::Two(*make, Box::new([first, second])));
        }
        match word {
            "i" => Ok(Filter::Index),
            "nan" => Ok(Filter::Number(f64::NAN)),
            "inf" => Ok(Filter::Number(f64::INFINITY)),
            word => Err(format!("there is no `{word}`, but {} and i", self.columns.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        let columns = ["x", "y", "at.x", "hits[2]"].map(str::to_owned);
        let values = [1.5, f64::NAN, -2.0, 7.0];
        Filter::parse(text, &columns).map(|filter| filter.value(10, &|at| values[at]))
    }

    #[test]
    fn expressions_mean_what_they_mean_in_c() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 4 - 3", 3.0),
            ("-x * 2", -3.0),
            ("x > 1 || isnan(y)", 1.0),
            ("x > 2 && 1", 0.0),
            ("!isnan(y)", 0.0),
            ("y > 0 || y <= 0", 0.0),
            ("at.x < 0 && hits[2] == 7", 1.0),
            ("i % 4 == 2", 1.0),
            ("1e-1 + 2.5f", 2.6),
            ("max(x, abs(at.x)) != 2", 0.0),
            ("1 < 2 == 1", 1.0),
            ("3 >= 3 && 2 <= 1", 0.0),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    /// To forget one needs as much of the stack as it is deep.
    #[test]
    fn no_expression_is_too_deep_to_be_forgotten() {
        assert!(Filter::parse(&"1+".repeat(1 << 20), &[]).is_err());
        let longest = "1+".repeat(LONGEST / 2 - 1) + "1";
        assert_eq!(
            Filter::parse(&longest, &[]).map(|all| all.value(0, &|_| 0.0)),
            Ok((LONGEST / 2) as f64)
        );
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, told) in [
            ("x >", "missing at the end"),
            ("z + 1", "no `z`, but x, y, at.x, hits[2] and i"),
            ("(x", "`)` is missing"),
            ("x y", "`y` is more than an expression"),
            ("1..2", "no number"),
            ("min(x)", "`,` is missing"),
            ("", "missing"),
        ] {
            let found = value(text).unwrap_err();
            assert!(found.contains(told), "{text}: {found}");
        }
        let deep = "(".repeat(LONGEST);
        assert!(value(&deep).unwrap_err().contains("too many brackets"));
    }
}

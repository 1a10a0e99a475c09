//! Expressions that choose elements of a table: `x > 1 || isnan(y)`.
//!
//! They are those of the manifest, but that infinity and NaN go on as in C. Names are those of columns, and `i` is the
//! element's index.

use crate::scene::{Expression, Floats, Kind, Meaning, Number};

/// An expression that has been read.
#[derive(Clone, Debug)]
pub struct Filter(Expression<Term>);

/// What its names stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Term {
    Column(usize),
    Index,
}

impl Filter {
    /// Reads an expression about these columns.
    ///
    /// # Errors
    /// A sentence about what is wrong.
    pub fn parse(text: &str, columns: &[(&str, Kind)]) -> Result<Self, String> {
        let mut meaning = |name: &str| {
            let found = columns.iter().enumerate().find(|(_, (column, _))| *column == name);
            if let Some((column, (_, kind))) = found {
                return Ok(Meaning::Term(Term::Column(column), *kind));
            }
            match name {
                "i" => Ok(Meaning::Term(Term::Index, Kind::Int)),
                "nan" | "NAN" => Ok(Meaning::Number(Number::Float(f64::NAN))),
                "inf" | "INFINITY" => Ok(Meaning::Number(Number::Float(f64::INFINITY))),
                name => {
                    let names: Vec<&str> = columns.iter().map(|(column, _)| *column).collect();
                    Err(format!("there is no `{name}`, but {} and i", names.join(", ")))
                }
            }
        };
        let read = Expression::parse_with(text, Floats::Any, &mut meaning);
        read.map(Self).map_err(|error| error.text)
    }

    /// Whether it chooses an element. One for which it has no value, as where it divides an integer by zero, it does
    /// not.
    pub fn chooses(&self, index: u64, column: &impl Fn(usize) -> Number) -> bool {
        let number = self.0.value(&mut |term| {
            Ok(match term {
                Term::Column(at) => column(*at),
                Term::Index => Number::Int(index.into()),
            })
        });
        number.is_ok_and(Number::is_true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chooses(text: &str) -> Result<bool, String> {
        let columns = ["x", "y", "at.x", "hits[2]", "hash"];
        let values = [1.5, f64::NAN, -2.0, 7.0].map(Number::Float);
        let value = |at: usize| values.get(at).copied().unwrap_or(Number::Int((1 << 63) + 1));
        let terms =
            columns.map(|name| (name, if name == "hash" { Kind::Int } else { Kind::Float }));
        Filter::parse(text, &terms).map(|filter| filter.chooses(10, &value))
    }

    #[test]
    fn expressions_mean_what_they_mean_in_c() {
        for (text, expected) in [
            ("x > 1 || isnan(y)", true),
            ("x > 2 && 1", false),
            ("!isnan(y)", false),
            ("y > 0 || y <= 0 || y == y", false),
            ("y != nan", true),
            ("at.x < 0 && hits[2] == 7", true),
            ("i % 4 == 2 && i / 4 == 2", true),
            ("isinf(x / 0.0) && x / 0.0 > 1e308 && !isfinite(1e308 * x * 10)", true),
            ("isnan(y * 0.0 + sqrt(at.x))", true),
            ("1 / (i - 10) > 0", false),
            ("max(y, x) == x", true),
            ("hash == 9223372036854775809 && hash != 9223372036854775808 && (hash & 1)", true),
        ] {
            assert_eq!(chooses(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, told) in [
            ("x >", "found the end"),
            ("z + 1", "no `z`, but x, y, at.x, hits[2], hash and i"),
            ("(x", "never closed"),
            ("x y", "expected an operator, found `y`"),
            ("1..2", "not a number"),
            ("min(x)", "takes 2 numbers"),
            ("", "found the end"),
        ] {
            let found = chooses(text).unwrap_err();
            assert!(found.contains(told), "{text}: {found}");
        }
        // What is as deep takes as much of the stack.
        assert!(chooses(&"(".repeat(1 << 20)).unwrap_err().contains("deep"));
        assert!(chooses(&"x+".repeat(1 << 20)).unwrap_err().contains("operators"));
    }
}

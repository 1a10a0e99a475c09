//! Numbers in a text that are changed by dragging: where they are, and what becomes of them.

use std::ops::Range;

/// The number around a column of a line, in columns; with its sign where that is no operator.
pub fn number_at(line: &str, column: usize) -> Option<Range<usize>> {
    let letters: Vec<char> = line.chars().collect();
    let is_part = |at: usize| {
        letters.get(at).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '.')
            || is_sign_of_exponent(&letters, at)
    };
    let at = [Some(column), column.checked_sub(1)].into_iter().flatten().find(|at| is_part(*at))?;
    let start = (0..=at).rev().take_while(|at| is_part(*at)).last()?;
    let end = (at..letters.len()).take_while(|at| is_part(*at)).last()? + 1;
    let text: String = letters[start..end].iter().collect();
    Number::parse(&text)?;
    let is_signed = start > 0 && letters[start - 1] == '-' && {
        let before = letters[..start - 1].iter().rev().find(|c| !c.is_whitespace());
        before.is_none_or(|c| "=([{,*/%<>?:&|!;".contains(*c))
    };
    Some(start - usize::from(is_signed)..end)
}

/// Whether it is the minus of `1e-3`.
fn is_sign_of_exponent(letters: &[char], at: usize) -> bool {
    let near = |at: Option<usize>| at.and_then(|at| letters.get(at).copied()).unwrap_or(' ');
    matches!(letters.get(at), Some('-' | '+'))
        && matches!(near(at.checked_sub(1)), 'e' | 'E')
        && near(at.checked_sub(2)).is_ascii_digit()
        && near(Some(at + 1)).is_ascii_digit()
}

/// The number so many steps further, written in the same way; a step is one of its last digit. `None` where it is no
/// decimal number. `before` is the letter before it.
pub fn moved(text: &str, steps: i64, before: Option<char>) -> Option<String> {
    let mut number = Number::parse(text)?;
    number.digits = number.digits.checked_add(i128::from(steps))?;
    if number.is_unsigned {
        number.digits = number.digits.max(0);
    }
    let written = number.write();
    // Two signs in a row are an operator of their own.
    let clashes = written.starts_with('-') && matches!(before, Some('-' | '+'));
    Some(if clashes { format!(" {written}") } else { written })
}

/// A decimal number as it is written.
struct Number<'a> {
    /// Without its point.
    digits: i128,
    /// As many of them stand behind the point.
    decimals: usize,
    has_point: bool,
    /// The digits before the point, at least: `007`.
    width: usize,
    is_unsigned: bool,
    /// The exponent, and letters that say its type.
    rest: &'a str,
}

impl<'a> Number<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (sign, body) = match text.strip_prefix('-') {
            Some(body) => (-1, body),
            None => (1, text),
        };
        let end = body.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(body.len());
        let (number, rest) = body.split_at(end);
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let is_decimal = !number.is_empty() && number != "." && !part.contains('.');
        if !is_decimal || !is_ending(rest) || number.len() > 30 {
            return None;
        }
        Some(Self {
            digits: sign * format!("{whole}{part}").parse::<i128>().ok()?,
            decimals: part.len(),
            has_point: number.contains('.'),
            width: whole.len(),
            is_unsigned: rest.contains(['u', 'U']),
            rest,
        })
    }

    fn write(&self) -> String {
        let sign = if self.digits < 0 { "-" } else { "" };
        let width = self.width + self.decimals;
        let digits = format!("{:0width$}", self.digits.unsigned_abs());
        let (whole, part) = digits.split_at(digits.len() - self.decimals);
        let point = if self.has_point { "." } else { "" };
        format!("{sign}{whole}{point}{part}{}", self.rest)
    }
}

/// Whether it may stand behind a number: an exponent, and letters that say its type.
fn is_ending(text: &str) -> bool {
    let behind = match text.strip_prefix(['e', 'E']) {
        None => text,
        Some(exponent) => {
            let digits = exponent.trim_start_matches(['-', '+']);
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            if end == 0 {
                return false;
            }
            &digits[end..]
        }
    };
    let endings = ["", "f", "u", "l", "ll", "ul", "ull", "lu", "llu"];
    endings.contains(&behind.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(line: &str, at: &str) -> Option<String> {
        let column = line.find(at).unwrap();
        let range = number_at(line, column)?;
        Some(line.chars().skip(range.start).take(range.len()).collect())
    }

    #[test]
    fn numbers_are_found_whole_and_other_words_are_not() {
        assert_eq!(found("float a = 0.25f;", ".25").as_deref(), Some("0.25f"));
        assert_eq!(found("x = 1e-3;", "-3").as_deref(), Some("1e-3"));
        assert_eq!(found("x = -12;", "12").as_deref(), Some("-12"));
        assert_eq!(found("x = a-12;", "12").as_deref(), Some("12"), "an operator");
        assert_eq!(found("[1, -.5, 0]", ".5").as_deref(), Some("-.5"));
        assert_eq!(found("n = 10ull", "ull").as_deref(), Some("10ull"));
        for (line, at) in [("x1 = a;", "1"), ("0xff", "f"), ("a.b", "."), ("1.2.3", "2"), ("", "")]
        {
            assert_eq!(found(line, at), None, "{line}");
        }
    }

    #[test]
    fn a_number_is_written_as_it_was() {
        for (text, steps, expected) in [
            ("0.25f", 1, "0.26f"),
            ("0.25f", -30, "-0.05f"),
            ("-0.05", 10, "0.05"),
            ("9", 1, "10"),
            ("007", 1, "008"),
            ("1.", 4, "5."),
            (".5", 7, "1.2"),
            ("1.5e-3", 1, "1.6e-3"),
            ("3u", -9, "0u"),
        ] {
            assert_eq!(moved(text, steps, None).as_deref(), Some(expected), "{text} {steps}");
        }
        assert_eq!(moved("1", -3, Some('-')).as_deref(), Some(" -2"), "`a--2` is another operator");
        assert_eq!(moved("0x10", 1, None), None);
        assert_eq!(moved("1", i64::MIN, None).as_deref(), Some("-9223372036854775807"));
    }
}

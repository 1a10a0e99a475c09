//! Numbers that are typed as expressions: `0.5*2`, `pi/4`, `2*drag`.

use crate::{
    scene::{Expression, Floats, Meaning, Number},
    session::{Parameter, Value},
};

/// The number that a text stands for, where a whole one is wanted or any. Names are those of other parameters.
///
/// # Errors
/// A sentence about what is wrong.
pub(super) fn number(text: &str, is_whole: bool, parameters: &[Parameter]) -> Result<f64, String> {
    // Blanks may stand between thousands, and a minus may be the long one.
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = plain.replace(['\u{2212}', '\u{2013}'], "-");
    if let Some(number) = plain.parse().ok().filter(|number: &f64| number.is_finite()) {
        return Ok(number);
    }
    let text = if is_whole { text.to_owned() } else { with_floats(text) };
    let mut meaning = |name: &str| known(name, parameters);
    let read = Expression::<()>::parse_with(&text, Floats::Finite, &mut meaning);
    // Nothing in it is known only later.
    let number = read.map_err(|error| error.text)?.constant().and_then(Number::as_f64);
    number.filter(|number| number.is_finite()).ok_or_else(|| "it is no number".to_owned())
}

fn known(name: &str, parameters: &[Parameter]) -> Result<Meaning<()>, String> {
    let float = |number| Ok(Meaning::Number(Number::Float(number)));
    match name {
        "pi" | "PI" | "M_PI" => return float(std::f64::consts::PI),
        "tau" => return float(std::f64::consts::TAU),
        "e" => return float(std::f64::consts::E),
        _ => {}
    }
    let found = parameters.iter().find(|parameter| parameter.name == name);
    match found.map(|parameter| &parameter.value) {
        Some(Value::Float(value)) => float(*value),
        Some(Value::Int(value)) => Ok(Meaning::Number(Number::Int((*value).into()))),
        Some(Value::Toggle(_) | Value::Color(_)) => Err(format!("`{name}` is no number")),
        None => Err(format!("there is no `{name}`, but pi, e and the names of parameters")),
    }
}

/// Whole numbers as floats: to divide 1 by 3 is to get a third.
fn with_floats(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let (mut written, mut rest, mut in_exponent) = (String::new(), text, false);
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(end);
        written.push_str(word);
        let is_digits = word.bytes().all(|digit| digit.is_ascii_digit());
        if is_digits && !in_exponent {
            written.push_str(".0");
        }
        // `1e-3` are three words.
        in_exponent = match word {
            "-" | "+" => in_exponent,
            word => first.is_ascii_digit() && word.ends_with(['e', 'E']),
        };
        rest = behind;
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Control;

    fn parameter(name: &str, value: Value) -> Parameter {
        let (label, unit, default) = (name.to_owned(), String::new(), value.clone());
        let control = Control::Slider { min: 0.0, max: 9.0, step: 0.0, log: false };
        Parameter { name: name.to_owned(), label, unit, value, default, control }
    }

    #[test]
    fn expressions_are_those_of_c_but_that_a_part_of_one_is_no_zero() {
        let all = [parameter("drag", Value::Float(0.25)), parameter("count", Value::Int(6))];
        for (text, expected) in [
            ("0.5*2", 1.0),
            ("1/3", 1.0 / 3.0),
            ("pi/4", std::f64::consts::FRAC_PI_4),
            ("sqrt(2)/2", std::f64::consts::FRAC_1_SQRT_2),
            ("2*drag + count", 6.5),
            ("1e-3", 1e-3),
            ("1e-3 * 2", 2e-3),
            ("\u{2212}1 000", -1000.0),
        ] {
            assert_eq!(number(text, false, &all), Ok(expected), "{text}");
        }
        assert_eq!(number("7/2", true, &all), Ok(3.0), "whole numbers as C has them");
        for text in ["foo", "1 +", "nan", "1/0", "inf", ""] {
            assert!(number(text, false, &all).is_err(), "{text}");
        }
        assert!(number("foo", false, &all).unwrap_err().contains("there is no `foo`"));
    }
}

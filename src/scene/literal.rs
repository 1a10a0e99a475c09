//! Names and values of parameters, as a manifest has them.

use super::{Control, Value};

/// What TOML reads as the same value of a parameter with this control.
pub(crate) fn literal(value: &Value, control: &Control) -> String {
    match value {
        Value::Float(value) => float(*value),
        Value::Int(value) => value.to_string(),
        Value::Toggle(value) => value.to_string(),
        Value::Color(parts) => {
            let count = if *control == Control::Color(true) { 4 } else { 3 };
            let parts: Vec<_> = parts.iter().take(count).map(|part| channel(*part)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

/// The shortest text that is read as the same number, with a point or an exponent: without one it is a whole number.
pub(super) fn float(value: f64) -> String {
    format!("{value:?}")
}

/// The same of a color's channel, which is read in double precision and then rounded: rounding twice is not always
/// the same as once.
pub(super) fn channel(value: f32) -> String {
    let short = format!("{value:?}");
    match short.parse::<f64>() {
        Ok(read) if read as f32 == value => short,
        Ok(_) | Err(_) => float(f64::from(value)),
    }
}

/// A name as a key. None has `*/` in it, which would end the comment that the manifest is.
pub(super) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    let mut quoted = "\"".to_owned();
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '/' if quoted.ends_with('*') => quoted += "\\u002F",
            c if c.is_control() => quoted += &format!("\\u{:04X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_the_shortest_that_are_read_as_the_same() {
        let floats = [
            (0.1, "0.1"),
            (3.0, "3.0"),
            (7.283_185_3, "7.2831853"),
            (1e21, "1e21"),
            (-0.0, "-0.0"),
        ];
        for (value, expected) in floats {
            assert_eq!(float(value), expected);
        }
        assert_eq!(channel(0.1), "0.1");
        assert_eq!(float(f64::from(0.1_f32)), "0.10000000149011612");
        let mut rng = fastrand::Rng::with_seed(24);
        for _ in 0..100_000 {
            let part = f32::from_bits(rng.u32(..=1.0_f32.to_bits()));
            assert_eq!(channel(part).parse::<f64>().unwrap() as f32, part, "{part:?}");
        }
    }

    #[test]
    fn keys_are_quoted_where_toml_wants_it() {
        for (name, expected) in [
            ("calm-sea_2", "calm-sea_2"),
            ("", "\"\""),
            ("calm sea", "\"calm sea\""),
            ("a*/b/", "\"a*\\u002Fb/\""),
            ("\"\\\n\u{7f}", "\"\\\"\\\\\\u000A\\u007F\""),
            ("ü", "\"ü\""),
        ] {
            assert_eq!(key(name), expected);
        }
    }
}

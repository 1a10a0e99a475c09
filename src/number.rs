//! Numbers as people read them.
//!
//! Enters: numbers. Leaves: their texts. Must not know: `draw`, `studio`.

/// `value` with about four digits: `0`, `12.35`, `-0.0312`, `1.23e7`.
pub fn value(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if !value.is_finite() {
        format!("{value}")
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.2e}")
    } else {
        let whole_digits = size.log10().floor().max(0.0);
        let decimals = (3.0 - whole_digits).clamp(0.0, 4.0) as usize;
        let decimals = if size < 1.0 { 4 } else { decimals };
        format!("{value:.decimals$}")
    }
}

/// `bytes` in binary units: `4.0 MiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{size:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_about_four_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1.000"),
            (-0.03125, "-0.0312"),
            (12.3456, "12.35"),
            (1234.5, "1234"),
            (123_456.0, "123456"),
            (1.234e7, "1.23e7"),
            (-4.2e-9, "-4.20e-9"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (number, expected) in cases {
            assert_eq!(value(number), expected);
        }
    }
}

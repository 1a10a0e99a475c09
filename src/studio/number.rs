//! Numbers as people read them: short, and of equal width in a column.

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

/// `count` with its thousands apart: `262 144`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{2009}');
        }
        grouped.push(digit);
    }
    grouped
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

/// Milliseconds, in microseconds where they are few: `1.24 ms`, `38 µs`.
pub fn milliseconds(ms: f32) -> String {
    if ms >= 100.0 {
        format!("{ms:.0} ms")
    } else if ms >= 10.0 {
        format!("{ms:.1} ms")
    } else if ms >= 1.0 {
        format!("{ms:.2} ms")
    } else if ms > 0.0 {
        format!("{:.0} µs", ms * 1e3)
    } else {
        "0 µs".to_owned()
    }
}

/// A frequency: `59.8`, `1234`.
pub fn rate(per_second: f32) -> String {
    if per_second >= 100.0 { format!("{per_second:.0}") } else { format!("{per_second:.1}") }
}

/// Seconds of a clock: `12.34 s`, `3:05.2`.
pub fn seconds(seconds: f64) -> String {
    if seconds < 60.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{}:{:04.1}", (seconds / 60.0) as u64, seconds % 60.0)
    }
}

/// The middle one of `values`; 0 of none.
pub fn median(values: &[f32]) -> f32 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
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

    #[test]
    fn counts_and_bytes() {
        assert_eq!(count(7), "7");
        assert_eq!(count(262_144), "262\u{2009}144");
        assert_eq!(count(1_000_000), "1\u{2009}000\u{2009}000");
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(4 << 20), "4.0 MiB");
    }

    #[test]
    fn times() {
        assert_eq!(milliseconds(0.0384), "38 µs");
        assert_eq!(milliseconds(1.239), "1.24 ms");
        assert_eq!(seconds(12.345), "12.35 s");
        assert_eq!(seconds(185.25), "3:05.2");
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[]), 0.0);
    }
}

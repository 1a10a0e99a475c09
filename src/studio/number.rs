//! Numbers as people read them: short, and of equal width in a column.

use std::time::Duration;

pub use crate::number::{bytes, value};

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

/// A whole number, with all its digits where they are few: `255`, `-3`, `4.29e9`.
pub fn whole(of: f64) -> String {
    if of.abs() < 1e6 && of.fract() == 0.0 { format!("{of:.0}") } else { value(of) }
}

/// `count` in few letters: `950`, `12.3k`, `4.0M`.
pub fn short_count(count: u64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let of = count as f64;
    match UNITS.iter().find(|(unit, _)| of >= *unit) {
        Some((unit, name)) => format!("{:.1}{name}", of / unit),
        None => count.to_string(),
    }
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

/// How long ago: `just now`, `3 minutes ago`, `2 days ago`.
pub fn ago(past: Duration) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "day"), (3600, "hour"), (60, "minute")];
    let seconds = past.as_secs();
    match UNITS.iter().find(|(unit, _)| seconds >= *unit) {
        None => "just now".to_owned(),
        Some((unit, name)) => {
            let count = seconds / unit;
            format!("{count} {name}{} ago", if count == 1 { "" } else { "s" })
        }
    }
}

/// For each of `parts`, from 0 to 1, the least of `values` that so many of them do not exceed; 0 of none.
pub fn quantiles(values: &[f32], parts: &[f32]) -> Vec<f32> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    let at = |part: &f32| ((part * sorted.len() as f32).ceil() as usize).saturating_sub(1);
    parts.iter().map(|part| sorted.get(at(part)).copied().unwrap_or(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_bytes() {
        assert_eq!(count(7), "7");
        assert_eq!(count(262_144), "262\u{2009}144");
        assert_eq!(count(1_000_000), "1\u{2009}000\u{2009}000");
        assert_eq!([950, 12_345, 4_000_000].map(short_count), ["950", "12.3k", "4.0M"]);
        assert_eq!(
            [255.0, -3.0, 4_294_967_295.0, 0.5].map(whole),
            ["255", "-3", "4.29e9", "0.5000"]
        );
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(4 << 20), "4.0 MiB");
    }

    #[test]
    fn times() {
        assert_eq!(milliseconds(0.0384), "38 µs");
        assert_eq!(milliseconds(1.239), "1.24 ms");
        assert_eq!(seconds(12.345), "12.35 s");
        assert_eq!(seconds(185.25), "3:05.2");
        let past = [59, 60, 3599, 3600, 90_000, 259_200].map(|s| ago(Duration::from_secs(s)));
        let words = ["just now", "1 minute", "59 minutes", "1 hour", "1 day", "3 days"];
        assert_eq!(past[0], words[0]);
        for (past, word) in past.iter().zip(words).skip(1) {
            assert_eq!(*past, format!("{word} ago"));
        }
        // By the nearest rank, as in the usual tables of five values.
        let five = [35.0, 15.0, 50.0, 20.0, 40.0];
        assert_eq!(quantiles(&five, &[0.05, 0.3, 0.4, 0.5, 1.0]), [15.0, 20.0, 20.0, 35.0, 50.0]);
        assert_eq!(quantiles(&[], &[0.5]), [0.0]);
    }
}

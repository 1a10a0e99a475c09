//! Test results as JUnit's XML, which every CI system reads.

use std::fmt::Write as _;

use super::case::{Case, Outcome};
use crate::diagnostic::printable;

/// The file's text: a suite a scene.
pub(super) fn to_xml(cases: &[Case]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let (failures, errors) = counts(cases);
    let _ = writeln!(
        text,
        "<testsuites name=\"warpaint\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{:.3}\">",
        cases.len(),
        seconds(cases),
    );
    for suite in cases.chunk_by(|a, b| a.scene == b.scene) {
        suite_of(&mut text, suite);
    }
    text + "</testsuites>\n"
}

fn suite_of(text: &mut String, cases: &[Case]) {
    let scene = cases.first().map_or("", |case| &case.scene);
    let (failures, errors) = counts(cases);
    let _ = writeln!(
        text,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{:.3}\">",
        escaped(scene),
        cases.len(),
        seconds(cases),
    );
    for case in cases {
        let line = case.line.map_or_else(String::new, |line| format!(" line=\"{line}\""));
        let _ = write!(
            text,
            "    <testcase classname=\"{scene}\" name=\"{}\" file=\"{scene}\"{line} time=\"{:.3}\"",
            escaped(&case.name),
            case.elapsed.as_secs_f64(),
            scene = escaped(scene),
        );
        let told = escaped(&case.told);
        let _ = match case.outcome {
            Outcome::Passed => writeln!(text, "/>"),
            Outcome::Failed => {
                writeln!(text, ">\n      <failure message=\"{told}\"/>\n    </testcase>")
            }
            Outcome::Error(_) => {
                writeln!(text, ">\n      <error message=\"{told}\"/>\n    </testcase>")
            }
        };
    }
    text.push_str("  </testsuite>\n");
}

/// How many failed, and how many could not be decided.
fn counts(cases: &[Case]) -> (usize, usize) {
    let count = |of: fn(&Case) -> bool| cases.iter().filter(|case| of(case)).count();
    let failed = count(|case| matches!(case.outcome, Outcome::Failed));
    (failed, count(|case| matches!(case.outcome, Outcome::Error(_))))
}

fn seconds(cases: &[Case]) -> f64 {
    cases.iter().map(|case| case.elapsed.as_secs_f64()).sum()
}

/// `text` inside an attribute's quotes. XML 1.0 has no way to write most control characters, so they are shown as on a
/// terminal.
fn escaped(text: &str) -> String {
    let text = printable(text);
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_keeps_to_itself_is_escaped() {
        assert_eq!(
            escaped("a<b> & \"c\"\n\u{1b}[0m\u{ffff}"),
            "a&lt;b&gt; &amp; &quot;c&quot;&#10;\\u{1b}[0m\u{fffd}"
        );
    }
}

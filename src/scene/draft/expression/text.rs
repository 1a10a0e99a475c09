//! Words and numbers of a manifest, as TOML has them in a comment of C++.

use crate::{
    diagnostic::{escaped, escaped_json},
    scene::{Builtin, decode::KEYWORDS},
};

/// The name of a parameter as a key.
pub(in crate::scene::draft) fn key(name: &str) -> String {
    let is_plain = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if is_plain { name.to_owned() } else { quoted_text(name) }
}

/// A number as it is, an expression in quotes.
pub(in crate::scene::draft) fn quoted(text: &str) -> String {
    if text.parse::<f64>().is_ok() || matches!(text, "true" | "false") {
        text.to_owned()
    } else {
        quoted_text(text)
    }
}

/// A string of TOML, in which nothing ends the comment that the manifest stands in.
pub(in crate::scene::draft) fn quoted_text(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace("*/", "*\\u002F");
    // What would steer the terminal, or a reader's eye, is spelt as JSON spells it.
    format!("\"{}\"", escaped_json(&text.replace("---", "--\\u002D")))
}

/// Text in a remark, which ends with its line and must not end the comment.
pub(in crate::scene::draft) fn one_line(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).take(200).collect();
    escaped(&text.replace("*/", "* /").replace("---", "-")).into_owned()
}

/// A name such as things may have in a manifest, which knows the letters of ASCII alone.
pub(in crate::scene::draft) fn possible(name: &str) -> String {
    let is_taken = Builtin::ALL.iter().any(|(known, _)| *known == name) || KEYWORDS.contains(&name);
    if is_taken {
        return format!("{name}_");
    }
    name.replace(|c: char| c != '_' && !c.is_ascii_alphanumeric(), "_")
}

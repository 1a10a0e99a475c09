//! What the options of a request say of files.

use std::path::PathBuf;

/// What the user's options say about files.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) dirs: Vec<PathBuf>,
    pub(super) files: Vec<String>,
}

impl Options {
    /// `None` where an option brings in what is not looked at here: precompiled headers, option files, or a
    /// macro that may stand in an `#include`.
    pub(super) fn of(options: &[String]) -> Option<Self> {
        let mut found = Self::default();
        let mut words = options.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let word = word.trim();
            if word.contains("pch") || word.contains("options-file") || word.starts_with("-optf") {
                return None;
            }
            let mut value_of = |names: &[&str]| {
                let rest = names.iter().find_map(|name| word.strip_prefix(name))?;
                let value = rest.strip_prefix('=').unwrap_or(rest).trim();
                Some(
                    if value.is_empty() { words.next().unwrap_or_default() } else { value }
                        .to_owned(),
                )
            };
            if let Some(file) = value_of(&["--pre-include", "-include"]) {
                found.files.push(file);
            } else if let Some(dir) = value_of(&["--include-path", "-I"]) {
                found.dirs.push(dir.into());
            }
        }
        Some(found)
    }
}

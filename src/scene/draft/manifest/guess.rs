//! Values of a manifest that may be guesses.

use super::FILL_IN;
use crate::scene::draft::expression::text::one_line;

/// A value of the manifest, and whether it is a guess.
#[derive(Clone)]
pub(in crate::scene::draft) struct Guess {
    pub(in crate::scene::draft) text: String,
    pub(in crate::scene::draft) open: Option<String>,
}

impl Guess {
    pub(in crate::scene::draft) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), open: None }
    }

    /// What was found, and whether it is surely that.
    pub(in crate::scene::draft) fn of((text, is_sure): (String, bool), what: &str) -> Self {
        if is_sure { Self::known(text) } else { Self::open(text, what) }
    }

    pub(in crate::scene::draft) fn open(text: impl Into<String>, what: impl Into<String>) -> Self {
        Self { text: text.into(), open: Some(what.into()) }
    }

    /// The array that it is a pointer into, without a cast and what is added, where it is one.
    pub(in crate::scene::draft) fn array(&self) -> &str {
        let text = self.text.trim_matches('"');
        let inner = text.split_once("*)").map_or(text, |(_, inner)| inner).trim_start_matches('(');
        inner.split(' ').next().unwrap_or(inner)
    }

    /// What stands behind it.
    pub(in crate::scene::draft) fn remark(&self) -> String {
        let what = self.open.as_ref();
        what.map_or_else(String::new, |what| format!(" # {FILL_IN}: {}", one_line(what)))
    }
}

//! Values of a manifest that may be guesses.

use super::{FILL_IN, text::one_line};

/// A value of the manifest, and whether it is a guess.
#[derive(Clone)]
pub(super) struct Guess {
    pub(super) text: String,
    pub(super) open: Option<String>,
}

impl Guess {
    pub(super) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), open: None }
    }

    /// What was found, and whether it is surely that.
    pub(super) fn of((text, is_sure): (String, bool), what: &str) -> Self {
        if is_sure { Self::known(text) } else { Self::open(text, what) }
    }

    pub(super) fn open(text: impl Into<String>, what: impl Into<String>) -> Self {
        Self { text: text.into(), open: Some(what.into()) }
    }

    /// What stands behind it.
    pub(super) fn remark(&self) -> String {
        let what = self.open.as_ref();
        what.map_or_else(String::new, |what| format!(" # {FILL_IN}: {}", one_line(what)))
    }
}

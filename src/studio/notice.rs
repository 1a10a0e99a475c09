//! Something to tell the user, or to ask.

use std::time::{Duration, Instant};

use super::action::Action;
use crate::diagnostic::Severity;

/// Something to tell or ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Tells notices apart; what [`Action::Dismiss`] names.
    pub number: u64,
    /// How bad it is.
    pub severity: Severity,
    /// One or two sentences.
    pub text: String,
    /// The answers; none where there is nothing to ask.
    pub answers: Vec<(&'static str, Action)>,
    /// Whether it is about more than the open document, and stays when another one is opened.
    pub lasting: bool,
    /// Since when it is there.
    pub since: Instant,
}

/// What only says that something went well has been read after so long; the console keeps it.
const READ_AFTER: Duration = Duration::from_secs(12);

impl Notice {
    /// When it goes by itself; `None` where it stays until somebody closes it.
    pub fn goes_at(&self) -> Option<Instant> {
        let stays = self.severity > Severity::Note || !self.answers.is_empty() || self.lasting;
        (!stays).then(|| self.since + READ_AFTER)
    }
}

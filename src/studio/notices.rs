//! All that there is to tell the user and to ask.

use std::{collections::BTreeSet, time::Instant};

use super::{action::Action, notice::Notice};
use crate::diagnostic::Severity;

/// They, oldest first.
#[derive(Default)]
pub struct Notices {
    all: Vec<Notice>,
    /// The number of the next one.
    next: u64,
    /// What was told once and is not told again.
    told: BTreeSet<String>,
}

impl Notices {
    /// All of them.
    pub fn all(&self) -> &[Notice] {
        &self.all
    }

    /// Tells `text` until the user closes it or chooses an answer; the same text once.
    pub fn ask(
        &mut self,
        severity: Severity,
        text: impl Into<String>,
        answers: Vec<(&'static str, Action)>,
    ) {
        self.notify(severity, text.into(), answers, false);
    }

    fn notify(
        &mut self,
        severity: Severity,
        text: String,
        answers: Vec<(&'static str, Action)>,
        lasting: bool,
    ) {
        self.all.retain(|notice| notice.text != text);
        let number = self.next;
        let since = Instant::now();
        self.all.push(Notice { number, severity, text, answers, lasting, since });
        self.next += 1;
    }

    /// Tells `text`, which is about more than the open document, once.
    pub fn tell_lasting(&mut self, text: &str, answers: Vec<(&'static str, Action)>) {
        if self.told.insert(text.to_owned()) {
            tracing::warn!("{text}");
            self.notify(Severity::Error, text.to_owned(), answers, true);
        }
    }

    /// Takes away the notice `number`.
    pub fn dismiss(&mut self, number: u64) {
        self.all.retain(|notice| notice.number != number);
    }

    /// Takes away the notices with this answer.
    pub fn dismiss_question(&mut self, answer: &Action) {
        self.all.retain(|notice| notice.answers.iter().all(|(_, action)| action != answer));
    }

    /// Takes `text` back.
    pub fn take_back(&mut self, text: &str) {
        self.all.retain(|notice| notice.text != text);
    }

    /// Takes away those about the document, as another one is opened.
    pub fn forget_document(&mut self) {
        self.all.retain(|notice| notice.lasting);
    }

    /// Takes away the errors.
    pub fn forget_errors(&mut self) {
        self.all.retain(|notice| notice.severity < Severity::Error);
    }

    /// Takes away the notices that have been read. Gives when to call this again.
    pub fn forget_read(&mut self, now: Instant) -> Option<Instant> {
        self.all.retain(|notice| notice.goes_at().is_none_or(|at| now < at));
        self.all.iter().filter_map(Notice::goes_at).min()
    }
}

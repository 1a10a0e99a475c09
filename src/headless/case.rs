//! What came of a check.

use std::time::Duration;

use super::ExitStatus;
use crate::diagnostic::one_line;

/// What came of one check.
#[derive(Clone, Debug)]
pub struct Case {
    /// The scene's name.
    pub scene: String,
    /// The check's line in it.
    pub line: Option<u32>,
    /// What is checked.
    pub name: String,
    /// What came out, in words; for an error all that is to be said about it.
    pub told: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Time from the check before.
    pub elapsed: Duration,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As demanded.
    Passed,
    /// Otherwise.
    Failed,
    /// It could not be found out, because of what this exit code tells.
    Error(ExitStatus),
}

impl Case {
    /// The case as a line: `ok      scene.cu:12: position.nan = 0 after 100 steps (equals 0)`.
    pub fn line(&self) -> String {
        let word = match self.outcome {
            Outcome::Passed => "ok",
            Outcome::Failed => "FAILED",
            Outcome::Error(_) => "ERROR",
        };
        let place = self.line.map_or_else(String::new, |line| format!(":{line}"));
        let told = match self.outcome {
            Outcome::Passed | Outcome::Failed => &self.told,
            Outcome::Error(_) if self.line.is_some() => &self.told,
            // What was wrong with the whole scene is told in its own lines.
            Outcome::Error(_) => "the scene does not run to its end",
        };
        format!("{word:<7} {}{place}: {told}", one_line(&self.scene))
    }

    /// The exit code that it asks for.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        match self.outcome {
            Outcome::Passed => None,
            Outcome::Failed => Some(ExitStatus::Failed),
            Outcome::Error(status) => Some(status),
        }
    }
}

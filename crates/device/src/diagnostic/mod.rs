//! What is wrong with something that the user wrote: a position and a sentence.
//!
//! Enters: what is wrong, and where. Leaves: a remark, fit to be printed. Must not know: `ptx`, `device`.
//!
//! A kernel's or a manifest's mistakes are data, never an `Err` of the session: they are shown beside the
//! line they belong to, and whatever ran before goes on running. The compiler, the manifest parser, the
//! binding of kernel parameters and the PTX verifier all report through this one type.

mod printable;

use std::fmt;

pub use printable::{escaped, escaped_json, one_line, printable};

/// How bad a [`Diagnostic`] is.
///
/// ```
/// use warpaint::diagnostic::Severity;
///
/// assert!(Severity::Note < Severity::Warning && Severity::Error < Severity::Fault);
/// assert_eq!(Severity::Warning.to_string(), "warning");
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Explains another diagnostic.
    Note,
    /// Compiles, but is probably not what was meant.
    Warning,
    /// Does not compile, or cannot run.
    Error,
    /// A kernel was stopped while it ran.
    Fault,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fault => "fault",
        })
    }
}

/// One remark about a source file.
///
/// Displays as `file:line:column: severity: text`; line and column are left out where they are unknown.
///
/// ```
/// use warpaint::diagnostic::{Diagnostic, Severity};
///
/// let unused = Diagnostic::error("a.cu", "`x` is never used").at(12, 7).with_severity(Severity::Warning);
/// assert_eq!(unused.to_string(), "a.cu:12:7: warning: `x` is never used");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Diagnostic {
    /// The file, as the user named it.
    pub file: String,
    /// The line, counted from 1; `None` when the remark is about the whole file.
    pub line: Option<u32>,
    /// The column in characters, counted from 1.
    pub column: Option<u32>,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence, perhaps followed by lines of context.
    pub text: String,
    /// Whether the source is used wrongly, and is right itself: an option of the command line, or a launch with more
    /// threads than its kernel is compiled for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_usage: bool,
}

impl Diagnostic {
    /// An error about a whole file; add a position with [`Diagnostic::at`].
    ///
    /// ```
    /// # use warpaint::diagnostic::Diagnostic;
    /// let missing = Diagnostic::error("scene.cu", "no kernel writes the buffer `position`");
    /// assert_eq!((missing.line, missing.column), (None, None));
    /// ```
    pub fn error(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
            severity: Severity::Error,
            text: text.into(),
            is_usage: false,
        }
    }

    /// An error in how a file is used: an option that was given for it, such as a constant that it does not have, or a
    /// block that is larger than its kernel allows.
    ///
    /// ```
    /// # use warpaint::diagnostic::Diagnostic;
    /// let wrong = Diagnostic::usage("scene.cu", "--const q: the scene has no such constant");
    /// assert!(wrong.is_usage && !Diagnostic::error("scene.cu", "no kernel").is_usage);
    /// ```
    pub fn usage(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self { is_usage: true, ..Self::error(file, text) }
    }

    /// The same remark, placed at `line` and, where `column` is known, at that column (both from 1).
    ///
    /// ```
    /// # use warpaint::diagnostic::Diagnostic;
    /// let error = Diagnostic::error("a.cu", "expected a \";\"");
    /// let placed = error.clone().at(3, 14);
    /// assert_eq!((placed.line, placed.column), (Some(3), Some(14)));
    /// assert_eq!(error.at(3, None).column, None);
    /// ```
    #[must_use]
    pub fn at(mut self, line: u32, column: impl Into<Option<u32>>) -> Self {
        self.line = Some(line);
        self.column = column.into();
        self
    }

    /// Where it belongs: `file:line:column`, as far as it is known.
    ///
    /// ```
    /// # use warpaint::diagnostic::Diagnostic;
    /// assert_eq!(Diagnostic::error("a.cu", "expected a \";\"").at(3, None).place(), "a.cu:3");
    /// ```
    pub fn place(&self) -> String {
        let positions = [self.line, self.line.and(self.column)].into_iter().flatten();
        let file = one_line(&self.file).into_owned();
        positions.fold(file, |place, position| format!("{place}:{position}"))
    }

    /// The same remark with another severity.
    ///
    /// ```
    /// # use warpaint::diagnostic::{Diagnostic, Severity};
    /// let here = Diagnostic::error("a.cu", "it was declared here").at(4, 1).with_severity(Severity::Note);
    /// assert_eq!((here.severity, here.line), (Severity::Note, Some(4)));
    /// ```
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place(), self.severity, self.text)
    }
}

/// Whether any of `diagnostics` is at least an error.
///
/// ```
/// # use warpaint::diagnostic::{Diagnostic, Severity, has_errors};
/// let error = Diagnostic::error("a.cu", "`y` is undefined");
/// let warning = Diagnostic::error("a.cu", "`x` is never used").with_severity(Severity::Warning);
/// assert!(!has_errors(std::slice::from_ref(&warning)));
/// assert!(has_errors(&[warning, error]));
/// ```
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity >= Severity::Error)
}

/// Names that a mistyped one is compared with; a person's scene has fewer.
#[doc(hidden)]
pub const MOST_COMPARED: usize = 1000;
/// The longest name in bytes that is compared: a comparison takes a time that grows with the square.
#[doc(hidden)]
pub const LONGEST_COMPARED: usize = 128;

/// The candidates nearest to a mistyped `name`, best first, at most three; for "did you mean". Names behind
/// the first thousand, and very long ones, are not compared.
///
/// ```
/// # use warpaint::diagnostic::nearest;
/// assert_eq!(nearest("colur", ["colour", "position", "velocity"]), ["colour"]);
/// assert!(nearest("mass", ["colour", "position"]).is_empty());
/// let long = "mass".repeat(50);
/// assert!(nearest(&long, [long.as_str()]).is_empty());
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let is_short = |name: &str| name.len() <= LONGEST_COMPARED;
    let most = if is_short(name) { MOST_COMPARED } else { 0 };
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .take(most)
        .filter(|candidate| is_short(candidate))
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(score, _)| *score > 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

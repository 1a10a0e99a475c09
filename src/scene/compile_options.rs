//! How a scene's source is compiled.

use std::{collections::BTreeMap, path::PathBuf};

use crate::cuda::Macros;

/// The standards of C++ that a scene can ask for.
pub(crate) const STANDARDS: &[&str] = &["c++11", "c++14", "c++17", "c++20", "c++23"];

/// The one without which a scene is compiled.
const DEFAULT_STANDARD: u32 = 17;

/// `[compile]` of a manifest, with what the command line says over it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    /// Macros and their values.
    pub defines: BTreeMap<String, String>,
    /// The standard, as in `c++20`; by default C++17.
    pub standard: Option<String>,
    /// Folders in which included files are looked for, relative to the scene's.
    pub include: Vec<PathBuf>,
    /// Whether floating-point arithmetic is fast rather than exact.
    pub fast_math: bool,
    /// The most registers of a thread on a GPU.
    pub max_registers: Option<u32>,
}

impl CompileOptions {
    /// The compiler's arguments, but for folders.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments: Vec<String> =
            self.defines.iter().map(|(name, value)| format!("-D{name}={value}")).collect();
        arguments.extend(self.standard.iter().map(|standard| format!("--std={standard}")));
        if self.fast_math {
            arguments.push("--use_fast_math".to_owned());
        }
        arguments.extend(self.max_registers.map(|count| format!("--maxrregcount={count}")));
        arguments
    }

    /// The macros that are known where the source begins.
    pub(crate) fn macros(&self) -> Macros {
        Macros::of_options(&self.defines, self.standard_number())
    }

    /// The standard of C++ by its number.
    fn standard_number(&self) -> u32 {
        let number = |standard: &String| standard.trim_start_matches("c++").parse().ok();
        self.standard.as_ref().and_then(number).unwrap_or(DEFAULT_STANDARD)
    }

    /// The first line of `source` that its standard reads otherwise than it is read here, and how: one that ends in a
    /// backslash with blanks behind it, which joins the next one since C++23 (5.2), and one with a trigraph, which
    /// there were before C++17 (C++14, 2.4).
    pub(super) fn odd_line(&self, source: &str) -> Option<(u32, &'static str)> {
        let is_joined = |line: &str| {
            let text = line.trim_end();
            text.ends_with('\\') && text.len() < line.trim_end_matches('\r').len()
        };
        let of_trigraph =
            |next: &str| next.starts_with(['=', '/', '\'', '(', ')', '!', '<', '>', '-']);
        let has_trigraph =
            |line: &str| line.match_indices("??").any(|(at, _)| of_trigraph(&line[at + 2..]));
        let find = |is_odd: &dyn Fn(&str) -> bool, how| {
            let at = source.split('\n').position(is_odd)?;
            Some((at as u32 + 1, how))
        };
        match self.standard_number() {
            23.. => find(
                &is_joined,
                "since C++23 this line goes on in the next one, for all the blanks behind its backslash, and before it \
                 did not: remove the blanks",
            ),
            ..17 => find(
                &has_trigraph,
                "before C++17 two question marks and a sign stand for another sign here (trigraphs): write that, or \
                 `?` `?` in two literals",
            ),
            _ => None,
        }
    }
}

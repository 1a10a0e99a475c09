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
        let number = |standard: &String| standard.trim_start_matches("c++").parse().ok();
        let standard = self.standard.as_ref().and_then(number).unwrap_or(DEFAULT_STANDARD);
        Macros::of_options(&self.defines, standard)
    }
}

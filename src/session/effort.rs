//! How much the compiler optimises.

use serde::{Deserialize, Serialize};

/// How much the compiler optimises. Roundings may depend on it: what is a multiplication and an addition in a draft may
/// become one `fma`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Little: for the first look at an edit.
    Draft,
    /// As usual.
    #[default]
    Full,
}

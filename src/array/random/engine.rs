//! Where random words come from.

use super::distribution::Value;

/// A generator's algorithm with its seed.
#[derive(Clone, Debug)]
pub(super) enum Engine {
    Philox { seed: u64, stream: u64 },
}

impl Engine {
    /// Its class in `fill.cuh`.
    pub(super) fn class(&self) -> &'static str {
        match self {
            Self::Philox { .. } => "Philox",
        }
    }

    /// The members of that class.
    pub(super) fn members(&self) -> Vec<Value> {
        match *self {
            Self::Philox { seed, stream } => vec![Value::new(seed), Value::new(stream)],
        }
    }
}

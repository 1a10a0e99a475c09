//! Two programs on copies of one state, step by step: how their results differ, and how long they take.

mod compared;
mod difference;
mod pass_times;

pub use compared::{Compared, Last, Parting, Unlike};
pub use difference::Gap;
pub use pass_times::PassRatio;
#[cfg(feature = "cli")]
pub(crate) use {compared::in_common, pass_times::PassTimes};

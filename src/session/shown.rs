//! Which moment the state belongs to.

/// What the state is one of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shown {
    /// The end of the line that goes on.
    #[default]
    Present,
    /// A past moment.
    Past {
        /// Of this line.
        line: u64,
        /// The steps that were finished at the copy from which it was had again.
        from: u64,
    },
    /// None: the way to a past moment was broken off.
    Nothing,
}

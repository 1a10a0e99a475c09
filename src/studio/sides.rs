//! How A and B are shown together.

/// How A and B are shown together, and where the line between them is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sides {
    /// How.
    pub arrangement: Arrangement,
    /// What part of the view's width is A's, where a line splits it.
    pub split: f32,
}

/// How A and B are shown together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// One picture, left of a line A's, right of it B's.
    Split,
    /// Both pictures, side by side.
    Beside,
    /// What they differ in.
    Difference,
}

impl Default for Sides {
    fn default() -> Self {
        Self { arrangement: Arrangement::Split, split: 0.5 }
    }
}

impl Arrangement {
    /// Width and height of a picture in a view of this size: where two stand side by side, of either.
    pub fn picture_size(self, [width, height]: [u32; 2]) -> [u32; 2] {
        match self {
            Self::Beside => [(width / 2).max(1), height],
            Self::Split | Self::Difference => [width, height],
        }
    }
}

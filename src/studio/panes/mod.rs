//! The panes of the window, and how they lie side by side.
//!
//! Enters: what is to be shown, moved or hidden. Leaves: an [`Arrangement`] as a plain value, which is remembered, and
//! a [`Board`] of tiles that the mouse moves. Must not know: `device`, `gl`, `studio::window`.

mod arrangement;
mod board;
mod layouts;
mod tiles;
mod tree;

pub use arrangement::{Arrangement, Edge};
pub use board::Board;
pub use layouts::{Layouts, brought};
pub use tiles::Contents;

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a tile shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Pane {
    /// The text.
    Editor,
    /// The picture of a view; there may be several.
    View(Slot),
    /// The parameters.
    Parameters,
    /// Statistics of every resource.
    Statistics,
    /// The elements of a resource.
    Numbers,
    /// The scene's plots.
    Plots,
    /// Time of every pass.
    Timings,
    /// How A and B compare.
    Comparison,
    /// What kernels print, and what was told.
    Console,
    /// The compiler's log and the PTX.
    Compiler,
}

/// The number of a pane that shows a view, from 0. Each has cameras of its own.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Slot(pub u8);

/// As many panes show views.
pub const MOST_VIEWS: u8 = 8;

impl Pane {
    /// All but views, in the order in which they are listed.
    pub const PANELS: [Self; 9] = [
        Self::Editor,
        Self::Parameters,
        Self::Statistics,
        Self::Numbers,
        Self::Plots,
        Self::Timings,
        Self::Comparison,
        Self::Console,
        Self::Compiler,
    ];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Editor => "Editor",
            Self::View(_) => "View",
            Self::Parameters => "Parameters",
            Self::Statistics => "Statistics",
            Self::Numbers => "Numbers",
            Self::Plots => "Plots",
            Self::Timings => "Timings",
            Self::Comparison => "A/B",
            Self::Console => "Console",
            Self::Compiler => "PTX and log",
        }
    }
}

/// As files have it.
impl fmt::Display for Pane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::View(Slot(number)) => write!(f, "view {}", number + 1),
            Self::Editor
            | Self::Parameters
            | Self::Statistics
            | Self::Numbers
            | Self::Plots
            | Self::Timings
            | Self::Comparison
            | Self::Console
            | Self::Compiler => write!(f, "{}", self.title().to_lowercase()),
        }
    }
}

impl From<Pane> for String {
    fn from(pane: Pane) -> Self {
        pane.to_string()
    }
}

impl TryFrom<String> for Pane {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let views = (0..MOST_VIEWS).map(|number| Self::View(Slot(number)));
        let mut all = Self::PANELS.into_iter().chain(views);
        all.find(|pane| pane.to_string() == text).ok_or_else(|| format!("there is no pane {text}"))
    }
}

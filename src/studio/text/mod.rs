//! The editor's text: a rope, several carets with what they select, commands, undo, search.
//!
//! Enters: commands, and texts to insert. Leaves: the text, its carets, and what has changed. Must not know: `session`,
//! `studio::panels`, `studio::window`.
//!
//! Nothing here knows of windows. Places are counted in characters from the start of the text, lines and columns from
//! 0. Lines end with `\n` alone; any other line end is a character like others.

mod brackets;
mod buffer;
mod change;
mod command;
mod history;
mod indentation;
mod limit;
mod line;
mod lines;
mod motion;
mod occurrence;
mod search;
mod selection;
#[cfg(test)]
mod tests;

pub use brackets::Brackets;
pub use buffer::Buffer;
pub use command::{Command, Direction};
pub use history::History;
pub use motion::Motion;
pub use search::{Finder, Query};
pub use selection::{Selection, Selections};

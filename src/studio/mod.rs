//! The studio: a window with the view, the editor and the numbers.
//!
//! Enters: events of the window, and a [`Snapshot`](crate::session::Snapshot) of the session. Leaves: pictures on the
//! screen, and `Action`s of the panels, which know neither device nor OpenGL. Must not know: `array`,
//! `headless`, `cli`.
//!
//! Each frame the window polls the session, lets `layout` show the panels, carries out what they return, draws the
//! view and swaps.

mod action;
mod animation;
mod background;
mod colors;
mod completion;
mod console;
mod course;
mod declaration;
mod detail;
mod dialog;
mod difference;
mod document;
mod error;
mod export;
mod filter;
mod folds;
mod followed;
mod fonts;
mod gallery;
mod glossary;
mod handover;
mod headers;
mod highlight;
mod highlighter;
mod icons;
mod keeper;
mod keyboard;
mod keymap;
mod layout;
mod look;
mod notice;
mod notices;
mod number;
mod origin;
mod own_keys;
mod panels;
mod panes;
mod parameter_keys;
mod plainly;
mod recovery;
mod redraw;
mod reel;
mod runners;
mod scrub;
mod seen;
mod shortcuts;
mod sides;
mod signals;
mod standard_output;
mod state;
mod swatch;
mod symbols;
mod table;
mod tables;
#[cfg(test)]
mod test_screen;
mod text;
mod theme;
mod thumbnails;
mod trace;
mod trends;
mod typing;
mod values;
mod viewpoints;
mod wake;
mod watch;
mod window;
mod workspace;
mod written;

use std::{path::PathBuf, time::Duration};

pub use document::Document;
pub use error::{Error, Result};
pub use window::{Ended, run};

use self::origin::Origin;
use crate::{compile::Compiler, device::Choice, scene::Overrides};

/// What the studio is opened with.
pub struct Options {
    /// The scene; `None`: that of last time, else a built-in one.
    pub scene: Option<Document>,
    /// A run's file, which is opened instead.
    pub run: Option<PathBuf>,
    /// The folder in which a process has left what it was at: [`Ended::Anew`]. It says the device, the scene, whom to
    /// trust and the limit of a step.
    pub resume: Option<PathBuf>,
    /// Where kernels run.
    pub device: Choice,
    /// Whether scenes may include files that lie elsewhere than below their own folder.
    pub trust: bool,
    /// Constants that the command line replaces, macros and folders that it names.
    pub overrides: Overrides,
    /// The scene that these are meant for; `None`: the first one.
    pub meant_for: Option<Origin>,
    /// Parameters that the command line replaces, as text.
    pub parameters: Vec<(String, String)>,
    /// The run's seed, where one is asked for.
    pub seed: Option<u64>,
    /// A step that takes longer is stopped.
    pub step_timeout: Duration,
    /// What compiles.
    pub compiler: Compiler,
}

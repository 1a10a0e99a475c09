//! Scenes without a window: rendering, dumping, testing, comparing, checking, listing devices.
//!
//! Enters: what the command line asks for. Leaves: files, lines on standard output, an exit code. Must not know:
//! `studio`, `cli`.
//! It drives [`session`](crate::session) exactly as the studio does.

mod bench;
mod case;
mod ceilings;
mod check;
mod compare;
mod devices;
mod draft;
mod error;
mod figure;
mod golden;
mod history_cost;
mod junit;
mod library;
mod measured;
mod npy;
mod outputs;
mod plots;
mod render;
mod render_request;
pub mod replay;
mod report;
mod run;
mod sanitize;
mod source;
mod stage;
mod stopwatch;
mod template;
mod test;
mod watchdog;

pub use crate::file::clear_drafts;
pub use bench::{Bench, bench};
pub use case::{Case, Outcome};
pub use check::{Check, check};
pub use compare::{Compare, Side, compare};
pub use devices::devices;
pub use draft::{draft, write_draft};
pub use error::{Error, ExitStatus, Result, lines};
pub use plots::PlotFile;
pub use render::{render, render_with};
pub use render_request::{Dump, Out, Render, Save};
pub use run::Run;
pub use sanitize::{Sanitize, sanitize};
pub use source::SceneSource;
pub use template::{template, write_template};
pub use test::{Test, test};
pub use watchdog::OnStuck;

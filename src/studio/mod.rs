//! The studio: a window with the view, the editor and the numbers.
//!
//! A [`Snapshot`](crate::session::Snapshot) enters, [`Action`](panels::Action)s leave. Each frame the
//! window polls the session, lets [`layout`] show the panels, carries out what they return, draws the
//! view and swaps. The panels know neither device nor OpenGL; the window knows both.

pub mod code_buffer;
pub mod desk;
pub mod document;
pub mod highlight;
pub mod icons;
pub mod layout;
pub mod number;
pub mod panels;
pub mod recovery;
pub mod save;
pub mod state;
pub mod theme;
pub mod watch;

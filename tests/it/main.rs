//! The integration tests: one binary, one module a topic.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod compile;
#[cfg(feature = "gl")]
mod draw;

#[cfg(feature = "gl")]
mod gl;
#[cfg(feature = "gl")]
mod interop;
mod nvidia;
#[cfg(feature = "gl")]
mod session;
#[cfg(feature = "studio")]
mod support;
mod tidy;

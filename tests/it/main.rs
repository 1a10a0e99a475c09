//! The integration tests: one binary, one module a topic.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends")]

#[cfg(feature = "gl")]
mod draw;

#[cfg(feature = "gl")]
mod gl;

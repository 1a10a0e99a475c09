//! The integration tests: one binary, one module a topic.

#[cfg(feature = "gl")]
mod draw;

#[cfg(feature = "gl")]
mod gl;

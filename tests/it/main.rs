//! The integration tests: one binary, one module a topic.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]
#![expect(clippy::print_stderr, reason = "what is skipped is said aloud")]

mod array;
#[cfg(feature = "studio")]
mod bench;
mod checker;
#[cfg(feature = "studio")]
mod checks;
#[cfg(feature = "studio")]
mod cli;
mod compile;
mod conformance;
#[cfg(feature = "gl")]
mod draw;
mod escape;
mod examples;
mod faults;
mod fuzz;
#[cfg(feature = "gl")]
mod gl;
#[cfg(feature = "studio")]
mod golden;
mod headers;
mod host_functions;
#[cfg(feature = "gl")]
mod interop;
#[cfg(feature = "studio")]
mod kept;
mod kernel;
#[cfg(feature = "studio")]
mod keyboard;
#[cfg(feature = "studio")]
mod limits;
mod link;
#[cfg(feature = "gl")]
mod manual;
mod nvidia;
mod parity;
mod progress;
mod ptx;
#[cfg(feature = "studio")]
mod record;
#[cfg(feature = "gl")]
mod scenes;
#[cfg(feature = "studio")]
mod screen;
#[cfg(all(feature = "studio", unix))]
mod security;
#[cfg(feature = "studio")]
mod seed;
#[cfg(feature = "gl")]
mod session;
mod skip;
mod support;
mod texture;
mod tidy;
#[cfg(feature = "studio")]
mod window;

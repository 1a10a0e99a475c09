//! The integration tests: one binary, one module a topic.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]
#![expect(clippy::print_stderr, reason = "what is skipped is said aloud")]

#[cfg(feature = "cli")]
mod anew;
mod array;
#[cfg(feature = "cli")]
mod bench;
#[cfg(feature = "cli")]
mod checked;
mod checker;
#[cfg(feature = "cli")]
mod checks;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod compare;
#[cfg(feature = "cli")]
mod comparison;
mod compile;
mod conformance;
#[cfg(feature = "gl")]
mod data;
mod declared;
#[cfg(feature = "gl")]
mod drafts;
mod draw;
#[cfg(feature = "cli")]
mod editing;
mod elsewhere;
mod escape;
mod examples;
mod faults;
#[cfg(feature = "gl")]
mod foreign;
mod fuzz;
#[cfg(feature = "gl")]
mod gl;
#[cfg(feature = "cli")]
mod golden;
mod guard;
mod headers;
mod history;
mod host_functions;
#[cfg(feature = "gl")]
mod interop;
#[cfg(feature = "cli")]
mod kept;
mod kernel;
#[cfg(feature = "cli")]
mod keyboard;
#[cfg(feature = "cli")]
mod layouts;
mod limits;
mod link;
#[cfg(feature = "gl")]
mod manual;
mod matrix;
#[cfg(feature = "cli")]
mod migrating;
#[cfg(feature = "cli")]
mod monkey;
mod nvidia;
#[cfg(feature = "cli")]
mod options;
mod parity;
#[cfg(feature = "cli")]
mod plain;
#[cfg(feature = "cli")]
mod plots;
#[cfg(feature = "gl")]
mod programs;
mod progress;
mod ptx;
#[cfg(feature = "cli")]
mod record;
#[cfg(feature = "gl")]
mod scenes;
mod scratch;
#[cfg(feature = "cli")]
mod screen;
#[cfg(feature = "cli")]
mod scrubbing;
#[cfg(all(feature = "cli", unix))]
mod security;
#[cfg(feature = "cli")]
mod seed;
#[cfg(feature = "gl")]
mod session;
#[cfg(feature = "cli")]
mod sides;
mod skip;
mod stack;
mod start;
mod states;
mod support;
mod texture;
mod tidy;
#[cfg(feature = "cli")]
mod views;
#[cfg(feature = "cli")]
mod window;
mod wording;

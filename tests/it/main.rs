//! The integration tests: one binary, one module a topic.

mod conformance;
mod faults;
mod ptx;

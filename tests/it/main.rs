//! The integration tests: one binary, one module a topic.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod compile;

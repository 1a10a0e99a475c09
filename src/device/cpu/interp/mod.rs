//! The interpreter: executes the typed PTX one instruction after the other, in one fixed order, without
//! `unsafe`. It is what the compiler is compared with, and what watches a kernel for mistakes.

mod report;

pub use report::{Action, Finding, FindingKind, Report, Site};

//! Guarded code: the same results, and a record where something is wrong. It is ordinary PTX with further parameters,
//! so the CPU device runs it, which checks each access itself.

mod bench;
#[cfg(feature = "gl")]
mod counts;
mod faults;
mod gpu;
mod mutants;
mod noted;
mod prints;
mod proofs;
#[cfg(feature = "gl")]
mod scenes;
mod stack;
mod streams;
mod surfaces;
mod versions;
mod waiting;

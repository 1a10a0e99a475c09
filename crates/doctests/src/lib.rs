//! Runs the examples in the documentation of `warpaint-device`, which are those of `warpaint::device`: they name the
//! crate that hands it on, which that crate itself cannot.
//!
//! Only rustdoc reads the sources from here, to find the examples; nothing of it is compiled a second time.

#[cfg(doctest)]
#[path = "../../device/src/device/mod.rs"]
pub mod device;
#[cfg(doctest)]
#[path = "../../device/src/diagnostic/mod.rs"]
pub mod diagnostic;
#[cfg(doctest)]
#[path = "../../device/src/machine.rs"]
pub mod machine;
#[cfg(doctest)]
#[path = "../../device/src/ptx/mod.rs"]
pub mod ptx;

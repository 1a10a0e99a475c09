//! A live CUDA studio, and the library below it.
//!
//! ```text
//! scene -> compile -> ptx -> device { nvidia | cpu } -> kernel -> array -> gl -> interop -> draw -> session -> { studio | headless }
//! ```

pub mod diagnostic;
pub mod element;

pub mod scene;

pub mod compile;

pub mod ptx;

pub mod device;

pub mod array;

#[cfg(feature = "gl")]
pub mod gl;

#[cfg(feature = "gl")]
pub mod interop;

#[cfg(feature = "gl")]
pub mod draw;

#[cfg(feature = "gl")]
pub mod session;

#[cfg(feature = "gl")]
pub mod headless;

#[cfg(feature = "studio")]
pub mod studio;

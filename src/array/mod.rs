//! Arrays on a device and the algorithms over them.
//!
//! Takes slices of device memory and what their elements are; gives values and more device memory. Knows no
//! scene, no OpenGL and no window.

mod summary;

pub use summary::{Error, Pending, Statistics, Summary};

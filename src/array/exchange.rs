//! How the values of arrays come to others: files of numpy, arrays of `ndarray`, other libraries on the same device,
//! the host, and text.
//!
//! Enters: arrays, files, memory of other libraries. Leaves: the same values in another form. Must not know:
//! `array::algorithm`, `array::expression`, `array::generate`.

pub(in crate::array) mod display;
mod host;
pub(in crate::array) mod interface;
#[cfg(feature = "ndarray")]
pub(in crate::array) mod ndarray;
pub(crate) mod npy;
pub(in crate::array) mod readback;

//! How the values of arrays come to others: files of numpy, arrays of `ndarray`, other libraries on the same device,
//! the host, and text. Nothing here computes.

pub(in crate::array) mod display;
pub(in crate::array) mod interface;
#[cfg(feature = "ndarray")]
pub(in crate::array) mod ndarray;
pub(crate) mod npy;
pub(in crate::array) mod readback;

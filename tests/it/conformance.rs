//! The contract of the device seam, written once, run on both devices.

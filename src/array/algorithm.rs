//! What needs more than each element by itself: reductions, scans, sorts, choosing and gathering elements, statistics.
//!
//! Enters: arrays and expressions. Leaves: arrays, and single values. Must not know: `cuda`, `array::random`.

#[cfg(feature = "gl")]
pub(in crate::array) mod bins;
#[cfg(feature = "gl")]
pub(in crate::array) mod checksum;
pub(in crate::array) mod columns;
pub(in crate::array) mod compact;
pub(in crate::array) mod gather;
pub(in crate::array) mod histogram;
pub(in crate::array) mod join;
pub(in crate::array) mod minmax;
pub(in crate::array) mod rank;
pub(in crate::array) mod reduce;
pub(in crate::array) mod reduction;
pub(in crate::array) mod scan;
pub(in crate::array) mod sort;
pub(in crate::array) mod summary;
pub(in crate::array) mod sweep;

//! Resources as `.npy` files.

use std::path::Path;

use super::{Error, Result};
use crate::{array::npy, scene::Resource};

/// Writes `bytes`, the content of `resource`, to `path`: native type, C order; bfloat16, which numpy lacks, as float32;
/// structures with their fields.
///
/// # Errors
/// [`Error::File`].
pub(super) fn write(path: &Path, resource: &Resource, bytes: &[u8]) -> Result<()> {
    Error::write(path, encode(resource, bytes))
}

pub(super) use crate::state::archive::encode;
pub(super) use npy::{Numbers, numbers};

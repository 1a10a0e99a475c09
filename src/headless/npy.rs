//! Resources as `.npy` files.

use std::path::Path;

use super::{Error, Result};
use crate::{array::npy, file, scene::Resource};

/// Writes `bytes`, the content of `resource`, to `path`: native type, C order; bfloat16, which numpy lacks, as float32;
/// structures with their fields.
///
/// # Errors
/// [`Error::File`].
pub(super) fn write(path: &Path, resource: &Resource, bytes: &[u8]) -> Result<()> {
    let content = content_of(resource, bytes);
    file::replace_with(path, |to| content.write(to)).map_err(Error::writing(path))
}

pub(super) use crate::state::archive::content_of;
pub(super) use npy::{Column, columns};

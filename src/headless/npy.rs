//! Resources as `.npy` files.

use std::path::Path;

use super::{Error, Result};
use crate::{
    array::npy,
    scene::{Element, Resource, ResourceKind, Type},
};

/// Writes `bytes`, the content of `resource`, to `path`: native type, C order; bfloat16, which numpy lacks, as float32;
/// structures with their fields.
///
/// # Errors
/// [`Error::File`].
pub(super) fn write(path: &Path, resource: &Resource, bytes: &[u8]) -> Result<()> {
    Error::write(path, encode(resource, bytes))
}

/// The file's content.
pub(super) fn encode(resource: &Resource, bytes: &[u8]) -> Vec<u8> {
    match resource.of() {
        Type::Element(element) => npy::encode(element.scalar, &shape(resource, element), bytes),
        Type::Structure(structure) => npy::encode_structures(&structure, bytes),
    }
}

pub(super) use npy::{Numbers, numbers};

/// The shape of a resource's array: `(count,)`, `(height, width)` or `(depth, height, width)`, and a last axis
/// for the components where there are several.
fn shape(resource: &Resource, element: Element) -> Vec<usize> {
    let [width, height, depth] = resource.extent().map(|n| n as usize);
    let mut shape = match &resource.kind {
        ResourceKind::Buffer(_) | ResourceKind::Array(_) => vec![width],
        ResourceKind::Texture(texture) if texture.dimensions == 3 => vec![depth, height, width],
        ResourceKind::Texture(_) => vec![height, width],
    };
    match element.lanes {
        1 => {}
        lanes => shape.push(lanes.into()),
    }
    shape
}

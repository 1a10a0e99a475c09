//! Resources as `.npy` files.
//!
//! The format is numpy's (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>), version
//! 1.0. A resource's bytes are already what follows the header, so they are written as they are: no crate
//! writes half precision so.

use std::path::Path;

use super::{Error, Result};
use crate::{
    element::Scalar,
    scene::{Resource, ResourceKind},
};

/// Magic string, version 1.0.
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
/// The data starts at a multiple of this.
const ALIGNMENT: usize = 64;

/// Writes `bytes`, the content of `resource`, to `path`: native type, C order, little-endian.
///
/// bfloat16, which numpy lacks, becomes float32.
///
/// # Errors
/// [`Error::File`].
pub(super) fn write(path: &Path, resource: &Resource, bytes: &[u8]) -> Result<()> {
    let scalar = resource.element().scalar;
    let mut content = header(descriptor(scalar), &shape(resource));
    if scalar == Scalar::BF16 {
        let (values, _) = bytes.as_chunks::<2>();
        content.extend(
            values.iter().flat_map(|&v| half::bf16::from_le_bytes(v).to_f32().to_le_bytes()),
        );
    } else {
        content.extend_from_slice(bytes);
    }
    Error::write(path, content)
}

/// The shape of a resource's array: `(count,)`, `(height, width)` or `(depth, height, width)`, and a last axis
/// for the components where there are several.
fn shape(resource: &Resource) -> Vec<u64> {
    let [width, height, depth] = resource.extent();
    let mut shape = match &resource.kind {
        ResourceKind::Buffer(_) | ResourceKind::Array(_) => vec![width],
        ResourceKind::Texture(texture) if texture.dimensions == 3 => vec![depth, height, width],
        ResourceKind::Texture(_) => vec![height, width],
    };
    match resource.element().lanes {
        1 => {}
        lanes => shape.push(lanes.into()),
    }
    shape
}

/// numpy's name of a type.
fn descriptor(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "|b1",
        Scalar::I8 => "|i1",
        Scalar::U8 => "|u1",
        Scalar::I16 => "<i2",
        Scalar::U16 => "<u2",
        Scalar::I32 => "<i4",
        Scalar::U32 => "<u4",
        Scalar::I64 => "<i8",
        Scalar::U64 => "<u8",
        Scalar::F16 => "<f2",
        Scalar::BF16 | Scalar::F32 => "<f4",
        Scalar::F64 => "<f8",
    }
}

fn header(descriptor: &str, shape: &[u64]) -> Vec<u8> {
    // A tuple of one needs its comma; more commas at the end are fine too.
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut text =
        format!("{{'descr': '{descriptor}', 'fortran_order': False, 'shape': ({shape}), }}");
    let prefix = MAGIC.len() + 2;
    let padded = (prefix + text.len() + 1).next_multiple_of(ALIGNMENT) - prefix;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let length = (text.len() as u16).to_le_bytes();
    [MAGIC, &length, text.as_bytes()].concat()
}

//! What the elements of an array may be, by their type.

use crate::{
    cuda::Structures,
    element::{Element, Scalar},
    scene::draft::{code::members::MOST_FIELDS, fills::slots},
};

/// Whether vectors of this type are places.
pub(in crate::scene::draft) fn is_place(element: &str) -> bool {
    matches!(element, "float2" | "float3" | "float4")
}

/// Whether OpenGL draws such elements.
pub(in crate::scene::draft) fn is_texel(element: &str) -> bool {
    use Scalar::{F16, F32, I32, U8, U32};
    Element::parse(element)
        .is_some_and(|element| matches!(element.scalar, F16 | F32 | I32 | U8 | U32))
}

/// Between which numbers those may lie that the host fills an array with: places around the middle, others from 0 on.
pub(in crate::scene::draft) fn some_numbers(
    element: &str,
    structures: &Structures,
) -> Option<[i32; 2]> {
    match Element::parse(element) {
        Some(_) if is_place(element) => Some([-1, 1]),
        Some(element) => {
            let spread = slots::some(element.scalar)?;
            Some([spread.low, spread.high].map(|end| end as i32))
        }
        None => {
            let fields = structures.fields(element, MOST_FIELDS)?;
            fields.iter().all(|field| field.element.scalar.is_float()).then_some([-1, 1])
        }
    }
}

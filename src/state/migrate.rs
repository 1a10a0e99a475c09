//! What a resource held, in the layout that an edit gives it.

use super::resample::resampled;
use crate::{
    element::{Part, Scalar, Type},
    scene::{Format, Resource, Wrap},
};

/// Whether anything of `old` has a place in `new`: both are elements, or textures of as many dimensions, and some field
/// of structures is called the same.
pub(crate) fn is_possible(old: &Resource, new: &Resource) -> bool {
    let dimensions = |of: &Resource| of.texture().map(|texture| texture.dimensions);
    let has_common = old.of() == new.of() || !common(old, new).is_empty();
    dimensions(old) == dimensions(new) && has_common
}

/// Whether members of the old structure may be lost, since they are no fields whose names the new one could have.
pub(crate) fn loses_members(old: &Resource, new: &Resource) -> bool {
    match old.of() {
        Type::Structure(structure) => old.of() != new.of() && structure.has_other_members(),
        Type::Element(_) => false,
    }
}

/// Puts what `old` held, `from`, over what `new` holds, `to`: of each element that both have the fields, or components,
/// that both have, converted. Integers are cut, and what is beyond a type's range becomes the end of it.
pub(crate) fn overlay((old, from): (&Resource, &[u8]), (new, to): (&Resource, &mut [u8])) {
    let is_other_size = old.extent() != new.extent();
    if let Some(texture) = new.texture().filter(|texture| texture.resample && is_other_size) {
        return stretch((old, from), (new, to), texture.wrap);
    }
    // What lies between the fields of structures may be members that are no fields.
    let is_same = old.of() == new.of();
    let parts = common(old, new);
    let (old_size, new_size) = (old.of().bytes(), new.of().bytes());
    let [width, height, depth] =
        [0, 1, 2].map(|axis| old.extent()[axis].min(new.extent()[axis]) as usize);
    let start = |of: &Resource, size: usize, [y, z]: [usize; 2]| {
        let [width, height, _] = of.extent().map(|side| side as usize);
        (z * height + y) * width * size
    };
    let scale = Scale::between(old, new);
    for row in (0..depth).flat_map(|z| (0..height).map(move |y| [y, z])) {
        let from = from.get(start(old, old_size, row)..).unwrap_or_default();
        let to = to.get_mut(start(new, new_size, row)..).unwrap_or_default();
        let elements = from.chunks_exact(old_size.max(1)).zip(to.chunks_exact_mut(new_size.max(1)));
        for (from, to) in elements.take(width) {
            if is_same {
                to.copy_from_slice(from);
                continue;
            }
            for (old, new) in &parts {
                convert((old, from), (new, to), scale);
            }
        }
    }
}

/// Puts what the texels of `old` held, `from`, stretched over those of `new`, `to`: the channels that both have.
fn stretch((old, from): (&Resource, &[u8]), (new, to): (&Resource, &mut [u8]), wrap: Wrap) {
    let scale = Scale::between(old, new);
    let sizes = [old, new].map(|of| of.extent().map(|side| side as usize));
    for (one, other) in common(old, new) {
        let [place, other_place] = [&one, &other].map(|part| {
            let size = part.element.scalar.bytes();
            move |lane: usize| lane * size..(lane + 1) * size
        });
        for lane in 0..usize::from(one.element.lanes.min(other.element.lanes)) {
            let numbers = from.chunks_exact(old.of().bytes().max(1)).map(|texel| {
                let bytes = texel.get(place(lane)).unwrap_or_default();
                Number::read(one.element.scalar, bytes).float()
            });
            let numbers = resampled(numbers.collect(), sizes[0], sizes[1], wrap);
            for (texel, number) in to.chunks_exact_mut(new.of().bytes().max(1)).zip(numbers) {
                let number = match (scale, other.element.scalar) {
                    (Scale::None, Scalar::U8) => number.round(),
                    (Scale::None | Scale::FromBytes | Scale::ToBytes, _) => number,
                };
                let bits = scale.of(Number::Float(number)).bits(other.element.scalar);
                if let Some(place) = texel.get_mut(other_place(lane)) {
                    let length = place.len();
                    place.copy_from_slice(&bits.to_le_bytes()[..length]);
                }
            }
        }
    }
}

/// The parts of both that are called the same.
fn common(old: &Resource, new: &Resource) -> Vec<(Part, Part)> {
    let known = old.of().parts();
    let find = |new: Part| Some((known.iter().find(|old| old.path == new.path)?.clone(), new));
    new.of().parts().into_iter().filter_map(find).collect()
}

/// What numbers are multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// Nothing: they are the numbers that they are.
    None,
    /// Bytes of texels are parts of 255 to kernels.
    FromBytes,
    ToBytes,
}

impl Scale {
    fn between(old: &Resource, new: &Resource) -> Self {
        let is_bytes =
            |of: &Resource| of.texture().is_some_and(|texture| texture.format == Format::Rgba8);
        match (is_bytes(old), is_bytes(new)) {
            (true, false) => Self::FromBytes,
            (false, true) => Self::ToBytes,
            (true, true) | (false, false) => Self::None,
        }
    }

    fn of(self, number: Number) -> Number {
        match self {
            Self::None => number,
            Self::FromBytes => Number::Float(number.float() / 255.0),
            Self::ToBytes => Number::Float((number.float() * 255.0).round()),
        }
    }
}

/// Converts the numbers of one part of an element.
fn convert((old, from): (&Part, &[u8]), (new, to): (&Part, &mut [u8]), scale: Scale) {
    let (one, other) = (old.element, new.element);
    let lanes = usize::from(one.lanes.min(other.lanes));
    for index in 0..old.count.min(new.count) {
        for lane in 0..lanes {
            let place = |part: &Part| {
                let size = part.element.scalar.bytes();
                let start = part.offset + index * part.element.bytes() + lane * size;
                start..start + size
            };
            let (Some(from), Some(to)) = (from.get(place(old)), to.get_mut(place(new))) else {
                return;
            };
            if one.scalar == other.scalar && scale == Scale::None {
                to.copy_from_slice(from);
            } else {
                let bits = scale.of(Number::read(one.scalar, from)).bits(other.scalar);
                to.copy_from_slice(&bits.to_le_bytes()[..to.len()]);
            }
        }
    }
}

/// A number of any type.
#[derive(Clone, Copy, Debug)]
enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    fn read(scalar: Scalar, bytes: &[u8]) -> Self {
        let bits = Scalar::bits_in(bytes);
        match (scalar.integer_of(bits), scalar.value_of(bits)) {
            (Some(integer), _) => Self::Integer(integer),
            (None, Some(value)) => Self::Float(value),
            // A truth value.
            (None, None) => Self::Integer(i128::from(bits != 0)),
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(value) => value,
        }
    }

    fn bits(self, scalar: Scalar) -> u64 {
        if let Some(bits) = scalar.bits_of(self.float()) {
            return bits;
        }
        let Some((least, most)) = scalar.integer_range() else {
            return u64::from(self.float() != 0.0);
        };
        let integer = match self {
            Self::Integer(integer) => integer,
            // Rust's conversion cuts, goes to the ends of the range, and makes 0 of NaN.
            Self::Float(value) => value as i128,
        };
        integer.clamp(least, most) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Overrides, Scene};

    /// The only resource of a manifest.
    fn resource(manifest: &str) -> Resource {
        let source = format!(
            "/*---\n{manifest}\n---*/\nstruct P {{ float3 at; int hits; }};\n\
            struct Q {{ double w; double hits; float4 at; }};\n"
        );
        let scene = Scene::parse("t.cu", &source, &Overrides::default()).unwrap();
        scene.manifest.resources()[0].clone()
    }

    fn overlaid<F: bytemuck::Pod, T: bytemuck::Pod>(
        [old, new]: [&str; 2],
        from: &[F],
        to: &[T],
    ) -> Vec<T> {
        let (old, new) = (resource(old), resource(new));
        assert!(is_possible(&old, &new));
        let mut found = to.to_vec();
        overlay((&old, bytemuck::cast_slice(from)), (&new, bytemuck::cast_slice_mut(&mut found)));
        found
    }

    #[test]
    fn elements_are_converted_as_far_as_both_have_some() {
        let array = |of: &str, count: usize| format!("[array.a]\ntype = \"{of}\"\ncount = {count}");
        let [floats, ints] = [array("float", 4), array("int", 3)];
        assert_eq!(
            overlaid([&floats, &ints], &[1.9_f32, -2.9, 1e20, 7.0], &[5_i32; 3]),
            [1, -2, i32::MAX]
        );
        assert_eq!(
            overlaid([&ints, &floats], &[1_i32, -2, 3], &[9.0_f32; 4]),
            [1.0, -2.0, 3.0, 9.0]
        );
        let [vectors, wide] = [array("float2", 2), array("double3", 2)];
        assert_eq!(
            overlaid([&vectors, &wide], &[1.0_f32, 2.0, 3.0, 4.0], &[-1.0_f64; 6]),
            [1.0, 2.0, -1.0, 3.0, 4.0, -1.0]
        );
        let [large, small] = [array("unsigned long long", 2), array("short", 2)];
        assert_eq!(overlaid([&large, &small], &[u64::MAX, 5], &[0_i16; 2]), [i16::MAX, 5]);
    }

    #[test]
    fn fields_are_found_by_their_names() {
        let [p, q] = ["P", "Q"].map(|of| format!("[array.a]\ntype = \"{of}\"\ncount = 1"));
        let (old, new) = (resource(&p), resource(&q));
        let place = |of: &Resource, path: &str| {
            let found = of.of().parts().into_iter().find(|part| part.path == path).unwrap();
            found.offset..found.offset + found.bytes()
        };
        let mut from = vec![0_u8; old.bytes() as usize];
        from[place(&old, "at")].copy_from_slice(bytemuck::cast_slice(&[1.0_f32, 2.0, 3.0]));
        from[place(&old, "hits")].copy_from_slice(&8_i32.to_le_bytes());
        let mut to = vec![0x40_u8; new.bytes() as usize];
        overlay((&old, &from), (&new, &mut to));
        let at: Vec<f32> = bytemuck::pod_collect_to_vec(&to[place(&new, "at")]);
        let kept = f32::from_le_bytes([0x40; 4]);
        assert_eq!(at, [1.0, 2.0, 3.0, kept]);
        assert_eq!(to[place(&new, "hits")], 8.0_f64.to_le_bytes());
        assert_eq!(to[place(&new, "w")], [0x40; 8], "what the old one lacks stays");
    }

    #[test]
    fn of_textures_the_common_corner_stays() {
        let texture =
            |format: &str, size: &str| format!("[texture.a]\nformat = \"{format}\"\nsize = {size}");
        let [small, large] = [texture("r32f", "[2, 2]"), texture("r32f", "[3, 1]")];
        assert_eq!(
            overlaid([&small, &large], &[1.0_f32, 2.0, 3.0, 4.0], &[9.0_f32; 3]),
            [1.0, 2.0, 9.0]
        );
        let [bytes, floats] = [texture("rgba8", "[1, 1]"), texture("rgba32f", "[1, 1]")];
        assert_eq!(
            overlaid([&bytes, &floats], &[0_u8, 255, 51, 102], &[9.0_f32; 4]),
            [0.0, 1.0, 51.0 / 255.0, 102.0 / 255.0].map(|part: f64| part as f32)
        );
        assert_eq!(
            overlaid([&floats, &bytes], &[0.0_f32, 1.0, 0.5, 7.0], &[9_u8; 4]),
            [0, 255, 128, 255]
        );
        // Stretched as Pillow's `Image.resize(.., BILINEAR)` does it.
        let stretched = |size: &str| texture("r32f", size) + "\nresample = true";
        let [wide, tall] = [texture("r32f", "[4, 2]"), stretched("[3, 2]")];
        let numbers = [1.0_f32, 5.0, 2.0, 8.0, 0.0, 3.0, 9.0, 4.0];
        assert_eq!(
            overlaid([&wide, &tall], &numbers, &[7.0_f32; 6]),
            [2.2, 3.5, 6.2, 0.9, 6.0, 5.5]
        );
        assert_eq!(
            overlaid(
                [
                    &bytes.replace("[1, 1]", "[2, 1]"),
                    &(texture("rgba8", "[3, 1]") + "\nresample = true")
                ],
                &[0_u8, 255, 51, 102, 255, 0, 52, 102],
                &[9_u8; 12]
            ),
            [0, 255, 51, 102, 128, 128, 52, 102, 255, 0, 52, 102]
        );
        let array = resource("[array.a]\ntype = \"float\"\ncount = 3");
        assert!(!is_possible(&resource(&small), &array));
    }
}

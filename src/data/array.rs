//! Arrays: numpy's `.npy` files, and numbers without a header.

use std::io::Read;

use super::{
    Error, Found, Numpy, Origin, Result, Shape, Wanted,
    bytes::exactly,
    convert::convert,
    order::{swap_bytes, to_c_order},
    structures,
};
use crate::{
    array::npy::{self, Descriptor},
    element::{Element, Scalar, Type},
};

/// Whether a file that begins so is one of numpy's.
pub(super) fn is_npy(head: &[u8]) -> bool {
    head.starts_with(npy::MAGIC)
}

/// The elements of numpy's file of `length` bytes that begins with `head` and goes on with `rest`. Nothing is read of
/// it that does not fit.
pub(super) fn npy(
    rest: impl Read,
    length: u64,
    head: &[u8],
    wanted: &Wanted,
    origin: Origin,
) -> Result<Numpy> {
    let (header, first) = npy::decode(head).map_err(Error::Format)?;
    let start = (head.len() - first.len()) as u64;
    let content = first.chain(rest);
    let element = match &wanted.of {
        Type::Element(element) => *element,
        Type::Structure(structure) => {
            let bytes = length.saturating_sub(start);
            return structures::npy((content, bytes), &header, structure, wanted, origin);
        }
    };
    let Descriptor { kind, big_endian, fields } = &header.descriptor;
    let Some(scalar) = npy::scalar(kind) else {
        let text = match fields.is_empty() {
            true => format!("its numbers are of numpy's type `{kind}`, which no element has"),
            false => format!("it has structures, and {element} is none"),
        };
        return Err(Error::Format(text));
    };
    if let Some(raw) = wanted.raw.filter(|raw| *raw != scalar) {
        let name = |scalar: Scalar| scalar.numpy_name().unwrap_or(scalar.name());
        return Err(Error::Format(format!(
            "its numbers are {}, as its header says, and not {}; such a file needs no `dtype`",
            name(scalar),
            name(raw)
        )));
    }
    let shape = &header.shape;
    let numbers = shape.iter().try_fold(1_u64, |count, &side| count.checked_mul(side as u64));
    let is_one = fits(shape, numbers, element, wanted)?;
    let numbers = numbers.unwrap_or(0);
    let bytes = numbers.saturating_mul(scalar.bytes() as u64);
    if length.saturating_sub(start) != bytes {
        let found = length.saturating_sub(start);
        let shape = tuple(shape);
        return Err(Error::Format(format!(
            "it is damaged: {found} bytes cannot have the shape {shape}"
        )));
    }
    let mut content = exactly(content, bytes)?;
    if *big_endian {
        swap_bytes(&mut content, scalar.bytes());
    }
    if header.fortran_order {
        content = to_c_order(&content, shape, scalar.bytes())?;
    }
    let found = found(convert(content, (scalar, element.scalar), origin)?, is_one);
    Ok(Numpy { found, is_whole: true })
}

/// The elements of a `file` of `length` bytes that are little-endian numbers of `scalar` and nothing else.
pub(super) fn raw(file: impl Read, length: u64, scalar: Scalar, wanted: &Wanted) -> Result<Found> {
    let Type::Element(element) = wanted.of else {
        let text = "a file of structures is a `.npy` file, whose header has their fields; it needs no `dtype`";
        return Err(Error::Format(text.to_owned()));
    };
    let each = scalar.bytes() as u64;
    let is_one = matches!(wanted.shape, Shape::RowOrOne(_))
        && length == u64::from(element.lanes).saturating_mul(each);
    let numbers = wanted.count().saturating_mul(element.lanes.into());
    let needed = numbers.saturating_mul(each);
    if length != needed && !is_one {
        let name = scalar.numpy_name().unwrap_or(scalar.name());
        let wanted = format!("{needed} ({numbers} numbers of {name})");
        return Err(Error::Size { found: format!("{length} bytes"), wanted });
    }
    Ok(found(convert(exactly(file, length)?, (scalar, element.scalar), Origin::Data)?, is_one))
}

fn found(bytes: Vec<u8>, is_one: bool) -> Found {
    if is_one { Found::One(bytes) } else { Found::All(bytes) }
}

/// That an array of this shape, with so many numbers in all, is what is wanted; whether it is one element for all.
fn fits(shape: &[usize], numbers: Option<u64>, element: Element, wanted: &Wanted) -> Result<bool> {
    let lanes = usize::from(element.lanes);
    let all = wanted.count().saturating_mul(element.lanes.into());
    let right = match wanted.shape {
        Shape::Row(_) | Shape::RowOrOne(_) => {
            numbers == Some(all) && (shape.len() < 2 || is_last(shape, lanes))
        }
        Shape::Flat([width, height]) => is_of(shape, &[height, width], lanes),
        Shape::Solid([width, height, depth]) => is_of(shape, &[depth, height, width], lanes),
    };
    let is_one = matches!(wanted.shape, Shape::RowOrOne(_)) && numbers == Some(lanes as u64);
    match right || is_one {
        true => Ok(is_one),
        false => {
            let found = format!("the shape {}", tuple(shape));
            Err(Error::Size { found, wanted: shapes(shape, element, wanted) })
        }
    }
}

/// Whether the last axis has the components of an element.
fn is_last(shape: &[usize], lanes: usize) -> bool {
    lanes == 1 || shape.last() == Some(&lanes)
}

/// Whether a shape is one of sides and, where there are several, components.
fn is_of(shape: &[usize], sides: &[u64], lanes: usize) -> bool {
    let sides = sides.iter().map(|side| usize::try_from(*side).unwrap_or(usize::MAX));
    let with_lanes: Vec<usize> = sides.chain([lanes]).collect();
    shape == with_lanes || (lanes == 1 && shape == &with_lanes[..with_lanes.len() - 1])
}

/// The shapes that would do, in words.
fn shapes(found: &[usize], element: Element, wanted: &Wanted) -> String {
    let lanes = u64::from(element.lanes);
    let sides = match wanted.shape {
        Shape::Row(count) | Shape::RowOrOne(count) => vec![count],
        Shape::Flat([width, height]) => vec![height, width],
        Shape::Solid([width, height, depth]) => vec![depth, height, width],
    };
    let with_lanes: Vec<u64> = sides.iter().copied().chain((lanes > 1).then_some(lanes)).collect();
    let mut text = tuple(&with_lanes);
    match wanted.shape {
        Shape::Row(count) | Shape::RowOrOne(count) if lanes > 1 => {
            text += &format!(" or {}", tuple(&[count.saturating_mul(lanes)]));
        }
        Shape::Row(_) | Shape::RowOrOne(_) | Shape::Flat(_) | Shape::Solid(_) => {}
    }
    if matches!(wanted.shape, Shape::RowOrOne(_)) {
        text += ", nor one for all";
    }
    let turned = with_lanes.iter().rev().copied().eq(found.iter().map(|side| *side as u64));
    if turned && with_lanes.len() > 1 {
        text += "; `.T` of numpy turns it round";
    }
    text
}

/// A shape as numpy writes it.
fn tuple<N: ToString>(shape: &[N]) -> String {
    let numbers: Vec<String> = shape.iter().map(ToString::to_string).collect();
    match numbers.as_slice() {
        [one] => format!("({one},)"),
        several => format!("({})", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    fn wanted(lanes: u8, shape: Shape) -> Wanted {
        Wanted { of: Element::vector(Scalar::F32, lanes).into(), shape, raw: None }
    }

    fn element_of(wanted: &Wanted) -> Element {
        wanted.of.element().unwrap()
    }

    fn is_right(shape: &[usize], wanted: &Wanted) -> bool {
        fits(shape, Some(shape.iter().product::<usize>() as u64), element_of(wanted), wanted)
            .is_ok()
    }

    #[test]
    fn shapes_that_hold_as_many_numbers() {
        for (shape, lanes, count) in [
            (&[6][..], 1, 6),
            (&[2, 3], 1, 6),
            (&[1, 6, 1], 1, 6),
            (&[6, 4], 4, 6),
            (&[24], 4, 6),
            (&[2, 3, 4], 4, 6),
        ] {
            assert!(is_right(shape, &wanted(lanes, Shape::Row(count))), "{shape:?}");
        }
        for (shape, lanes, count) in [
            (&[7][..], 1, 6),
            (&[], 1, 6),
            (&[4, 6], 4, 6),
            (&[6, 3], 4, 6),
            (&[2, 12], 4, 6),
            (&[6], 4, 6),
        ] {
            assert!(!is_right(shape, &wanted(lanes, Shape::Row(count))), "{shape:?}");
        }
    }

    #[test]
    fn texels_are_rows_of_rows() {
        let flat = wanted(4, Shape::Flat([3, 2]));
        assert!(is_right(&[2, 3, 4], &flat));
        assert!(
            !is_right(&[3, 2, 4], &flat) && !is_right(&[6, 4], &flat) && !is_right(&[24], &flat)
        );
        let single = wanted(1, Shape::Flat([3, 2]));
        assert!(
            is_right(&[2, 3], &single) && is_right(&[2, 3, 1], &single) && !is_right(&[6], &single)
        );
        assert!(is_right(&[4, 2, 3, 2], &wanted(2, Shape::Solid([3, 2, 4]))));
    }

    #[test]
    fn what_would_do_is_told() {
        let told = |found: &[usize], wanted: &Wanted| {
            fits(found, Some(found.iter().product::<usize>() as u64), element_of(wanted), wanted)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(told(&[7], &wanted(1, Shape::Row(6))), "it has the shape (7,), not (6,)");
        assert_eq!(
            told(&[4, 6], &wanted(4, Shape::Row(6))),
            "it has the shape (4, 6), not (6, 4) or (24,); `.T` of numpy turns it round"
        );
    }
}

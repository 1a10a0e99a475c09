//! The order of bytes in numbers, and of numbers in arrays.

use super::{Result, bytes::with_room};

/// Turns big-endian numbers of `width` bytes into little-endian ones, or the other way round.
pub(super) fn swap_bytes(bytes: &mut [u8], width: usize) {
    if width > 1 {
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
}

/// The elements of `width` bytes of an array in Fortran order, whose first index runs fastest, in C order, whose last
/// one does.
///
/// # Errors
/// [`Error::Memory`](super::Error::Memory).
pub(super) fn to_c_order(bytes: &[u8], shape: &[usize], width: usize) -> Result<Vec<u8>> {
    // Axes of one element move nothing; a file may have any number of them, each of which would be looked at for each
    // element.
    let shape: Vec<usize> = shape.iter().copied().filter(|length| *length != 1).collect();
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = width;
    for length in &shape {
        strides.push(stride);
        stride = stride.saturating_mul(*length);
    }
    let mut index = vec![0; shape.len()];
    let mut found = with_room(bytes.len())?;
    let mut at = 0;
    while found.len() < bytes.len() {
        let Some(element) = bytes.get(at..at + width) else { break };
        found.extend(element);
        // The last index goes on; one that has come to its end starts anew, and the one before it goes on.
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * index[axis];
            index[axis] = 0;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_becomes_c_order() {
        // Element (i, j, k) is 100 i + 10 j + k.
        let shape = [2, 3, 4];
        let (mut fortran, mut expected) = (Vec::new(), Vec::new());
        for k in 0..4_u8 {
            for j in 0..3 {
                fortran.extend((0..2).map(|i| 100 * i + 10 * j + k));
            }
        }
        for i in 0..2_u8 {
            for j in 0..3 {
                expected.extend((0..4).map(|k| 100 * i + 10 * j + k));
            }
        }
        assert_eq!(to_c_order(&fortran, &shape, 1).unwrap(), expected);
        let wide = |bytes: &[u8]| bytes.iter().flat_map(|byte| [*byte, 0]).collect::<Vec<_>>();
        assert_eq!(to_c_order(&wide(&fortran), &shape, 2).unwrap(), wide(&expected));
        assert_eq!(to_c_order(&[7], &[], 1).unwrap(), [7]);
        let ones = std::iter::repeat_n(1, 500_000);
        let many_axes: Vec<usize> = shape.iter().flat_map(|side| [1, *side]).chain(ones).collect();
        assert_eq!(to_c_order(&fortran, &many_axes, 1).unwrap(), expected);
    }

    #[test]
    fn bytes_change_places_within_numbers() {
        let mut bytes = [1, 2, 3, 4];
        swap_bytes(&mut bytes, 2);
        assert_eq!(bytes, [2, 1, 4, 3]);
        swap_bytes(&mut bytes, 1);
        assert_eq!(bytes, [2, 1, 4, 3]);
    }
}

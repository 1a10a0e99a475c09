//! The numbers of a file where they lie in it.

use super::{Header, decode, scalar};
use crate::element::Scalar;

/// The numbers of a file, or those of a field of its structures, one structure after the other. Nothing is copied: a
/// file may have as many as memory holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    scalar: Scalar,
    /// What the structures lie in, from the field in the first one on.
    bytes: &'a [u8],
    /// From one structure to the next.
    stride: usize,
    /// Numbers in each.
    each: usize,
    count: usize,
}

impl<'a> Column<'a> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    fn bits(&self, at: usize) -> u64 {
        let (structure, number) = (at / self.each, at % self.each);
        let size = self.scalar.bytes();
        let start = structure * self.stride + number * size;
        Scalar::bits_in(self.bytes.get(start..start + size).unwrap_or_default())
    }

    /// One of them, exactly, if it is an integer.
    pub(crate) fn integer(&self, at: usize) -> Option<i128> {
        self.scalar.integer_of(self.bits(at))
    }

    /// One of them, rounded to the nearest `f64`.
    pub(crate) fn float(&self, at: usize) -> f64 {
        let bits = self.bits(at);
        let integer = || self.scalar.integer_of(bits).map(|integer| integer as f64);
        // What is neither is a truth value.
        self.scalar.value_of(bits).or_else(integer).unwrap_or(bits as f64)
    }

    /// How far one is from one of others: exact where both are integers, but for the last rounding.
    pub(crate) fn distance(&self, at: usize, others: &Self) -> f64 {
        match (self.integer(at), others.integer(at)) {
            (Some(one), Some(other)) => one.abs_diff(other) as f64,
            (Some(_) | None, _) => {
                let (a, b) = (self.float(at), others.float(at));
                if a == b || a.is_nan() && b.is_nan() { 0.0 } else { (a - b).abs() }
            }
        }
    }
}

/// Columns by the names of their fields.
pub(crate) type Named<'a> = Vec<(String, Column<'a>)>;

/// The shape and the numbers of a file in C order: of structures those of each field, by its name; else all, by none.
///
/// # Errors
/// What is wrong with the file, in words.
pub(crate) fn columns(content: &[u8]) -> Result<(Vec<usize>, Named<'_>), String> {
    let (Header { descriptor, fortran_order, shape }, data) = decode(content)?;
    if fortran_order {
        return Err("it is in Fortran order".to_owned());
    }
    let scalar_of = |kind: &str, big_endian: bool| match scalar(kind) {
        _ if big_endian => Err("it is big-endian".to_owned()),
        Some(scalar) => Ok(scalar),
        None => Err(format!("it holds `{kind}`")),
    };
    let count = shape.iter().try_fold(1_usize, |count, &n| count.checked_mul(n));
    let stride = descriptor.bytes().unwrap_or(0);
    let count = count.filter(|count| count.checked_mul(stride) == Some(data.len()));
    let Some(count) = count else {
        return Err(format!("{} bytes cannot have the shape {shape:?}", data.len()));
    };
    let all = |scalar, bytes, each| Column { scalar, bytes, stride, each, count: count * each };
    if descriptor.fields.is_empty() {
        let scalar = scalar_of(&descriptor.kind, descriptor.big_endian)?;
        return Ok((shape, vec![(String::new(), all(scalar, data, 1))]));
    }
    // What has no bytes has no numbers.
    let fields = descriptor.fields.iter().filter(|field| field.bytes * field.count > 0);
    let columns = fields.map(|field| {
        let scalar = scalar_of(&field.kind, field.big_endian)?;
        let bytes = data.get(field.offset..).unwrap_or_default();
        Ok((field.path.clone(), all(scalar, bytes, field.count)))
    });
    let columns = columns.collect::<Result<Vec<_>, String>>()?;
    Ok((shape, columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::npy::header;

    fn told(descriptor: &str, count: usize, data: &[u8]) -> Result<Vec<f64>, String> {
        let content = [&header(descriptor, &[count]), data].concat();
        let (_, columns) = columns(&content)?;
        let numbers = |column: &Column<'_>| {
            (0..column.len()).map(|at| column.float(at)).collect::<Vec<f64>>()
        };
        Ok(columns.iter().flat_map(|(_, column)| numbers(column)).collect())
    }

    #[test]
    fn numbers_of_fields_are_where_numpy_has_them() {
        let text = "[('a', '|u1'), ('', '|V1'), ('b', '<i2', (2,)), ('f', '<f4'), ('t', '|b1')]";
        let one = |a: u8, b: [i16; 2], f: f32, t: u8| {
            [&[a, 9][..], &b[0].to_le_bytes(), &b[1].to_le_bytes(), &f.to_le_bytes(), &[t]].concat()
        };
        let data = [one(1, [-2, 3], 0.5, 1), one(200, [4, -5], -1.5, 0)].concat();
        assert_eq!(
            told(text, 2, &data),
            Ok(vec![1.0, 200.0, -2.0, 3.0, 4.0, -5.0, 0.5, -1.5, 1.0, 0.0])
        );
        let numbers = u64::MAX.to_le_bytes();
        let content = [&header("'<u8'", &[1]), &numbers[..]].concat();
        assert_eq!(columns(&content).unwrap().1[0].1.integer(0), Some(u64::MAX.into()));
        assert_eq!(told(text, 3, &data), Err("22 bytes cannot have the shape [3]".to_owned()));
        assert_eq!(told("[('q', '<U2')]", 1, &[0; 8]), Err("it holds `U2`".to_owned()));
    }

    #[test]
    fn fields_without_numbers_are_none() {
        assert_eq!(told("[('x', '<f4', (0,)), ('a', '|u1')]", 2, &[7, 8]), Ok(vec![7.0, 8.0]));
        assert_eq!(told("[('q', '<\u{e9}'), ('a', '|u1')]", 2, &[7, 8]), Ok(vec![7.0, 8.0]));
    }
}

//! Files of structures.

use super::{Npy, descriptor::BFLOAT16};
#[cfg(feature = "cli")]
use super::{
    Numbers, column,
    descriptor::{Field, bytes},
};
use crate::element::{Part, Scalar, Structure};

impl<'a> Npy<'a> {
    /// `content` are structures, whose fields lie where `structure` says; what lies between them is padding in the
    /// file, too. A `bf16`, which numpy lacks, becomes a `uint16` with its bits, whose title
    /// says what it is.
    pub(crate) fn of_structures(structure: &Structure, content: &'a [u8]) -> Self {
        let count = content.len() / structure.bytes.max(1);
        Self::native(&fields(structure), &[count], content)
    }
}

/// The descriptor of a structure, as Python writes it.
fn fields(structure: &Structure) -> String {
    let mut parts: Vec<&Part> = structure.parts.iter().collect();
    parts.sort_by_key(|part| (part.offset, std::cmp::Reverse(part.bytes())));
    let (mut text, mut end) = (String::from("["), 0);
    let padding = |bytes: usize| match bytes {
        0 => String::new(),
        _ => format!("('', '|V{bytes}'), "),
    };
    for Part { path, element, offset, count } in parts {
        // What overlaps another field is in the file as that one.
        let Some(gap) = offset.checked_sub(end) else { continue };
        let (name, kind) = match element.scalar {
            Scalar::BF16 => {
                (format!("('{BFLOAT16} {path}', '{path}')"), super::descriptor(Scalar::U16))
            }
            scalar => (format!("'{path}'"), super::descriptor(scalar)),
        };
        let lanes = usize::from(element.lanes);
        let shape = match (*count, lanes) {
            (1, 1) => String::new(),
            (1, sides) | (sides, 1) => format!(", ({sides},)"),
            (count, lanes) => format!(", ({count}, {lanes})"),
        };
        text += &format!("{}({name}, '{kind}'{shape}), ", padding(gap));
        end = offset + element.bytes() * count;
    }
    text += &padding(structure.bytes.saturating_sub(end));
    format!("{}]", text.trim_end_matches(", "))
}

/// The numbers of each field of structures, by its name, one structure after the other.
#[cfg(feature = "cli")]
pub(super) fn columns(
    kind: &str,
    fields: &[Field],
    data: &[u8],
) -> Result<Vec<(String, Numbers)>, String> {
    let stride = bytes(kind).unwrap_or(0).max(1);
    let of = |field: &Field| {
        let Field { path, kind, big_endian, bytes, count, offset } = field;
        let length = bytes.checked_mul(*count).ok_or("a field is too large")?;
        let place = *offset..offset.saturating_add(length);
        let structures = data.chunks_exact(stride);
        // What has no bytes has no numbers, and would be looked for in each structure.
        let structures = structures.take(if length == 0 { 0 } else { usize::MAX });
        let mut of_all = Vec::new();
        structures.for_each(|one| of_all.extend(one.get(place.clone()).unwrap_or_default()));
        Ok((path.clone(), column(kind, *big_endian, &of_all)?))
    };
    fields.iter().filter(|field| field.bytes * field.count > 0).map(of).collect()
}

#[cfg(test)]
#[cfg(feature = "cli")]
mod tests {
    use super::*;
    use crate::array::npy::descriptor::Descriptor;

    /// The numbers of all fields, one after the other.
    fn told(text: &str, data: &[u8]) -> Result<Vec<f64>, String> {
        let Descriptor { kind, fields, .. } = Descriptor::parse(text).unwrap();
        let found = columns(&kind, &fields, data)?;
        Ok(found.iter().flat_map(|(_, of)| (0..of.len()).map(|at| of.float(at))).collect())
    }

    #[test]
    fn types_that_have_no_size_are_no_panic() {
        assert_eq!(told("[('a', '<u1'), ('q', '<')]", &[7, 8]), Ok(vec![7.0, 8.0]));
        assert_eq!(told("[('a', '<u1'), ('q', '<\u{e9}')]", &[7, 8]), Ok(vec![7.0, 8.0]));
    }

    #[test]
    fn fields_without_numbers_take_no_time() {
        let empty = "('', '<f4', (0,)), ('x', '<f4', (0,)), ".repeat(4000);
        let text = format!("[{empty}('a', '<u1')]");
        // 4,000 of them in each of four million structures would take minutes.
        assert_eq!(told(&text, &vec![1; 4 << 20]).unwrap().len(), 4 << 20);
    }
}

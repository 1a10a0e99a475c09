//! Files of structures.

use super::{Npy, descriptor};
#[cfg(feature = "cli")]
use super::{
    column,
    descriptor::{Field, bytes},
};
use crate::element::{Part, Scalar, Structure};

impl<'a> Npy<'a> {
    /// `content` are structures, whose fields lie where `structure` says; what lies between them is padding in the
    /// file, too. A `bf16`, which numpy lacks, becomes a `uint16` with its bits.
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
        let kind = match element.scalar {
            Scalar::BF16 => descriptor(Scalar::U16),
            scalar => descriptor(scalar),
        };
        let lanes = usize::from(element.lanes);
        let shape = match (*count, lanes) {
            (1, 1) => String::new(),
            (1, sides) | (sides, 1) => format!(", ({sides},)"),
            (count, lanes) => format!(", ({count}, {lanes})"),
        };
        text += &format!("{}('{path}', '{kind}'{shape}), ", padding(gap));
        end = offset + element.bytes() * count;
    }
    text += &padding(structure.bytes.saturating_sub(end));
    format!("{}]", text.trim_end_matches(", "))
}

/// All numbers of structures, one structure after the other; those of 64-bit integers rounded.
#[cfg(feature = "cli")]
pub(super) fn numbers(kind: &str, fields: &[Field], data: &[u8]) -> Result<Vec<f64>, String> {
    let length = |field: &Field| bytes(&field.kind).unwrap_or(0) * field.count;
    // What has no bytes has no numbers, and would be passed over in each structure.
    let fields: Vec<(&Field, usize)> = fields.iter().map(|field| (field, length(field))).collect();
    let fields = fields.iter().filter(|(_, length)| *length > 0);
    let mut found = Vec::new();
    for structure in data.chunks_exact(bytes(kind).unwrap_or(0).max(1)) {
        for (Field { kind, big_endian, offset, .. }, length) in fields.clone() {
            let field = structure.get(*offset..offset + length).unwrap_or_default();
            let numbers = column(kind, *big_endian, field)?;
            found.extend((0..numbers.len()).map(|at| numbers.float(at)));
        }
    }
    Ok(found)
}

#[cfg(test)]
#[cfg(feature = "cli")]
mod tests {
    use super::*;
    use crate::array::npy::descriptor::Descriptor;

    fn told(text: &str, data: &[u8]) -> Result<Vec<f64>, String> {
        let Descriptor { kind, fields, .. } = Descriptor::parse(text).unwrap();
        numbers(&kind, &fields, data)
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

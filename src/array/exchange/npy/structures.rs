//! Files of structures.

use super::{column, descriptor, descriptor::Field, file_of};
use crate::element::{Part, Scalar, Structure};

/// A whole file: `bytes` are structures, whose fields lie where `structure` says; what lies between them is padding in
/// the file, too. A `bf16`, which numpy lacks, becomes a `uint16` with its bits.
pub(crate) fn encode_structures(structure: &Structure, bytes: &[u8]) -> Vec<u8> {
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
    let count = bytes.len() / structure.bytes.max(1);
    file_of(&format!("{}]", text.trim_end_matches(", ")), &[count], bytes)
}

/// All numbers of structures, one structure after the other; those of 64-bit integers rounded.
pub(super) fn numbers(kind: &str, fields: &[Field], data: &[u8]) -> Result<Vec<f64>, String> {
    let bytes: usize = kind[1..].parse().unwrap_or(0);
    let mut found = Vec::new();
    for structure in data.chunks_exact(bytes.max(1)) {
        for Field { kind, big_endian, count, offset, .. } in fields {
            let each: usize = kind[1..].parse().unwrap_or(0);
            let field = structure.get(*offset..offset + each * count).unwrap_or_default();
            let numbers = column(kind, *big_endian, field)?;
            found.extend((0..numbers.len()).map(|at| numbers.float(at)));
        }
    }
    Ok(found)
}

//! Files of structures.

use super::{Npy, descriptor::BFLOAT16};
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

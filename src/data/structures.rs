//! Structures: numpy's, field by field.

use std::io::Read;

use super::{
    Error, Found, Numpy, Origin, Result, Wanted,
    bytes::{exactly, with_room},
    convert::convert,
    order::{swap_bytes, to_c_order},
};
use crate::{
    array::npy::{self, Header},
    element::{Part, Scalar, Structure},
};

/// So many of a file's fields are named where none is the one that is wanted.
const MOST_LISTED: usize = 12;

/// The elements of numpy's `file`, which stands where its data begin and has so many `bytes` of them. Fields that are
/// wanted are found by their names; those of the file that nobody wants are passed over.
pub(super) fn npy(
    (file, bytes): (impl Read, u64),
    header: &Header,
    structure: &Structure,
    wanted: &Wanted,
    origin: Origin,
) -> Result<Numpy> {
    let columns = columns(header, structure, origin)?;
    let stride: u64 = header.descriptor.kind.get(1..).and_then(|n| n.parse().ok()).unwrap_or(0);
    let count = header.shape.iter().try_fold(1_u64, |count, &side| count.checked_mul(side as u64));
    if count != Some(wanted.count()) {
        let found = format!("{} structures", count.unwrap_or(u64::MAX));
        return Err(Error::Size { found, wanted: wanted.count().to_string() });
    }
    if stride.checked_mul(wanted.count()) != Some(bytes) {
        let text =
            format!("it is damaged: {bytes} bytes are not {} times {stride}", wanted.count());
        return Err(Error::Format(text));
    }
    let mut content = exactly(file, bytes)?;
    let (stride, size) = (stride as usize, structure.bytes);
    if header.fortran_order {
        content = to_c_order(&content, &header.shape, stride)?;
    }
    // What lies between the fields may be members that are no fields.
    if stride == size
        && structure
            .parts
            .iter()
            .zip(&columns)
            .all(|(part, of)| of.as_ref().is_some_and(|of| of.is_as(part)))
    {
        match origin {
            Origin::Data => make_truths(&mut content, structure),
            Origin::State => {}
        }
        return Ok(Numpy { found: Found::All(content), is_whole: true });
    }
    let mut elements = with_room(usize::try_from(wanted.bytes()).unwrap_or(usize::MAX))?;
    elements.resize(elements.capacity().min(wanted.bytes() as usize), 0);
    for (part, column) in structure.parts.iter().zip(columns) {
        let Some(Column { offset, scalar, big_endian }) = column else { continue };
        let length = scalar.bytes() * usize::from(part.element.lanes) * part.count;
        let mut numbers = with_room(length * wanted.count() as usize)?;
        for one in content.chunks_exact(stride) {
            numbers.extend_from_slice(one.get(offset..offset + length).unwrap_or_default());
        }
        if big_endian {
            swap_bytes(&mut numbers, scalar.bytes());
        }
        let numbers = convert(numbers, (scalar, part.element.scalar), origin)
            .map_err(|error| Error::Format(format!("the field `{}`: {error}", part.path)))?;
        let each = numbers.chunks_exact(part.bytes().max(1));
        for (to, from) in elements.chunks_exact_mut(size).zip(each) {
            if let Some(to) = to.get_mut(part.offset..part.offset + from.len()) {
                to.copy_from_slice(from);
            }
        }
    }
    Ok(Numpy { found: Found::All(elements), is_whole: false })
}

/// Where the numbers of a field lie in each of the file's structures.
struct Column {
    offset: usize,
    scalar: Scalar,
    big_endian: bool,
}

/// Makes truth values of all that are not 0: numpy stores others where it was told to.
fn make_truths(content: &mut [u8], structure: &Structure) {
    let truths = structure.parts.iter().filter(|part| part.element.scalar == Scalar::Bool);
    for part in truths {
        for one in content.chunks_exact_mut(structure.bytes.max(1)) {
            let field = one.get_mut(part.offset..part.offset + part.bytes()).unwrap_or_default();
            field.iter_mut().for_each(|truth| *truth = u8::from(*truth != 0));
        }
    }
}

impl Column {
    /// Whether the numbers lie in the file as in memory, in the same bits.
    fn is_as(&self, part: &Part) -> bool {
        !self.big_endian && (self.offset, self.scalar) == (part.offset, part.element.scalar)
    }
}

/// Where the numbers of each part lie; `None` for one that a state lacks, of which there are zeros.
fn columns(header: &Header, structure: &Structure, origin: Origin) -> Result<Vec<Option<Column>>> {
    let fields = &header.descriptor.fields;
    let is_known = |part: &Part| fields.iter().any(|field| field.path == part.path);
    let may_lack = origin == Origin::State && structure.parts.iter().any(is_known);
    let column = |part: &Part| match may_lack && !is_known(part) {
        true => Ok(None),
        false => column(header, structure, part).map(Some),
    };
    structure.parts.iter().map(column).collect()
}

fn column(header: &Header, structure: &Structure, part: &Part) -> Result<Column> {
    let fields = &header.descriptor.fields;
    let Some(found) = fields.iter().find(|field| field.path == part.path) else {
        let names: Vec<String> =
            fields.iter().take(MOST_LISTED).map(|field| format!("`{}`", field.path)).collect();
        let has = match fields.len().saturating_sub(names.len()) {
            _ if names.is_empty() => format!("numbers of type `{}`", header.descriptor.kind),
            0 => format!("the fields {}", names.join(", ")),
            more => format!("the fields {} and {more} more", names.join(", ")),
        };
        let (path, name) = (&part.path, &structure.name);
        return Err(Error::Format(format!("it has {has}, and no field `{path}` as `{name}` has")));
    };
    let wanted = usize::from(part.element.lanes) * part.count;
    if found.count != wanted {
        return Err(Error::Size {
            found: format!("{} numbers in each field `{}`", found.count, part.path),
            wanted: wanted.to_string(),
        });
    }
    let Some(scalar) = npy::scalar(&found.kind) else {
        let text = format!("its field `{}` is of numpy's type `{}`", part.path, found.kind);
        return Err(Error::Format(format!("{text}, which no element has")));
    };
    // What nothing says the type of may be made by a program that has the bits alone.
    let scalar = match (scalar, part.element.scalar) {
        (Scalar::U16, Scalar::BF16) => Scalar::BF16,
        (scalar, _) => scalar,
    };
    Ok(Column { offset: found.offset, scalar, big_endian: found.big_endian })
}

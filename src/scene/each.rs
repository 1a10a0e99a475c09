//! What each element of a resource holds at the start, computed from its place in the row.

use super::{
    Expression, Number, Type,
    bytes::bytes_of,
    expression::{Kind, Meaning},
};
#[cfg(feature = "gl")]
use super::{Part, suggestion::suggestion};
use crate::cuda::Position;

/// The numbers of each element.
#[derive(Clone, Debug, PartialEq)]
pub struct Each {
    /// Those of an element that is no structure, or of some fields of one; all others are 0.
    pub fields: Vec<EachField>,
}

/// The numbers of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct EachField {
    /// Its name, and before it those of the structures that it lies in; empty for an element that is none.
    pub path: String,
    /// As many as it has, or one for all of them.
    pub numbers: Vec<Expression<EachTerm>>,
    /// Where the manifest says so.
    pub at: Position,
}

/// What such expressions name beside constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EachTerm {
    /// `i`: the element's place, from 0 on.
    Index,
    /// `random`: from 0 up to 1, another one wherever it stands.
    Random,
}

impl EachTerm {
    /// What `name` means, where it is one of them.
    pub(super) fn meaning(name: &str) -> Option<Meaning<Self>> {
        match name {
            "i" => Some(Meaning::Term(Self::Index, Kind::Int)),
            "random" => Some(Meaning::Term(Self::Random, Kind::Float)),
            _ => None,
        }
    }
}

/// The numbers of a field, and where in an element it lies.
#[cfg(feature = "gl")]
pub(crate) struct Placed<'a> {
    field: &'a EachField,
    part: Part,
}

impl Each {
    /// Whether it declares the same as `other`.
    pub(super) fn declares_as(&self, other: &Self) -> bool {
        let said = |field: &EachField| (field.path.clone(), field.numbers.clone());
        let all = |of: &Self| of.fields.iter().map(said).collect::<Vec<_>>();
        all(self) == all(other)
    }

    /// Where its fields lie in an element.
    ///
    /// # Errors
    /// A sentence about one that the element lacks, or that has another number of numbers, and where it is said.
    #[cfg(feature = "gl")]
    pub(crate) fn placed(&self, of: &Type) -> Result<Vec<Placed<'_>>, (String, Position)> {
        let parts = of.parts();
        let place = |field| placed(field, of, &parts);
        self.fields.iter().map(place).collect()
    }
}

#[cfg(feature = "gl")]
fn placed<'a>(
    field: &'a EachField,
    of: &Type,
    parts: &[Part],
) -> Result<Placed<'a>, (String, Position)> {
    let path = &field.path;
    let Some(part) = parts.iter().find(|part| part.path == *path) else {
        let known = parts.iter().map(|part| part.path.as_str());
        let text = match (path.is_empty(), of.structure()) {
            (false, None) => format!("{of} is no structure, and has no field `{path}`"),
            (true, _) => format!("`each` of `{of}` names its fields: {{ field = \"0.5 * i\" }}"),
            (false, Some(_)) => format!("`{of}` has no field `{path}`{}", suggestion(path, known)),
        };
        return Err((text, field.at));
    };
    let (wanted, given) = (usize::from(part.element.lanes) * part.count, field.numbers.len());
    if given != wanted && given != 1 {
        let what = if path.is_empty() { of.to_string() } else { format!("`{path}`") };
        let text = format!("{what} has {wanted} numbers, and `each` gives it {given}");
        return Err((text, field.at));
    }
    Ok(Placed { field, part: part.clone() })
}

#[cfg(feature = "gl")]
impl Placed<'_> {
    /// Writes the numbers of the element at place `index` into its bytes; `random` draws numbers from 0 up to 1.
    ///
    /// # Errors
    /// A sentence about a number that cannot be computed, or that the type lacks, and where it is said.
    pub(crate) fn write(
        &self,
        index: u64,
        random: &mut dyn FnMut() -> f64,
        element: &mut [u8],
    ) -> Result<(), (String, Position)> {
        let (scalar, part) = (self.part.element.scalar, &self.part);
        let places = element.get_mut(part.offset..part.offset + part.bytes()).unwrap_or_default();
        let mut number_of = |term: &EachTerm| {
            Ok(match term {
                EachTerm::Index => Number::Int(index.into()),
                EachTerm::Random => Number::Float(random()),
            })
        };
        let all = self.field.numbers.iter().cycle();
        for (place, number) in places.chunks_mut(scalar.bytes()).zip(all) {
            let number = number.value(&mut number_of).map_err(|error| error.text);
            let found = number.and_then(|number| match (number, scalar.is_integer()) {
                (Number::Float(value), true) => {
                    Err(format!("{value:?} is no {scalar}: `int(...)` leaves its fraction away"))
                }
                _ => bytes_of(number, scalar),
            });
            let found = found.map_err(|text| (format!("element {index}: {text}"), self.field.at));
            place.copy_from_slice(&found?);
        }
        Ok(())
    }
}

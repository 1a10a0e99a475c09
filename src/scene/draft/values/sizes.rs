//! How much there is: bytes of allocations, elements in them, and elements of the host's containers.

use super::evaluator::{Look, Place};
use crate::scene::draft::{
    code::variables::{Id, Value},
    expression::{
        number::{Number, Type},
        told::Told,
    },
    host::{Allocation, Host},
};

impl<'s> Host<'s> {
    /// The bytes of an allocation, those of all its rows. Between rows there is nothing here.
    pub(in crate::scene::draft) fn bytes_allocated(
        &self,
        Allocation { bytes, rows, call, .. }: &Allocation,
    ) -> Option<i64> {
        let bytes = self.integer(bytes, call.as_ref())?;
        match rows {
            Some(rows) => bytes.checked_mul(self.integer(rows, call.as_ref())?),
            None => Some(bytes),
        }
    }

    /// How many of a structure lie in an allocation of so many bytes.
    pub(in crate::scene::draft) fn count_of(
        &self,
        allocation: &Allocation,
        structure: &str,
    ) -> Option<i64> {
        *self.unit.borrow_mut() = Some(structure.to_owned());
        let count = self.bytes_allocated(allocation);
        *self.unit.borrow_mut() = None;
        count
    }

    /// How many elements a vector of the host begins with.
    pub(in crate::scene::draft) fn told_size(
        &self,
        id: Id,
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let variable = self.variables.get(id);
        let first = variable.definitions.first().filter(|set| set.at == variable.at)?;
        let Value::List(parts) = &first.value else { return None };
        if !variable.declared.words.contains(&"vector") {
            return None;
        }
        if self.text_at(variable.at + 1) != "(" {
            let count = parts.iter().filter(|part| !part.is_empty()).count() as i128;
            return Some(Told::Number(Number::Whole(Type::UnsignedLong, count)));
        }
        let place = Place { at: first.at, ..look.place.clone() };
        let look = &Look { place: &place, given: None, depth: look.depth + 1, nested: look.nested };
        let told = self.told_of(self.code.get(parts.first()?.clone())?, look)?;
        self.converted(told, Type::UnsignedLong)
    }
}

/// Whether a variable is called as sizes are.
pub(in crate::scene::draft) fn is_size(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "n" | "m" | "k" | "w" | "h")
        || ["size", "count", "len", "num", "width", "height", "elements"]
            .iter()
            .any(|part| name.contains(part))
}

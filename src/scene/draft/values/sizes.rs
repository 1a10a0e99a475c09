//! How much there is: bytes of allocations, elements in them, and elements of the host's containers.

use crate::scene::draft::{
    code::variables::{Id, Value},
    expression::{
        cpp_number::{Number, QUALIFIERS, Type},
        syntax::Types,
        told::Told,
    },
    host::{
        Host,
        allocation::Allocation,
        place::{Look, Place},
    },
};

/// Tokens of the length of an axis in a declaration.
const MOST_INDEX: usize = 40;

/// What leads from a variable to its elements.
struct Levels {
    pointers: usize,
    axes: usize,
}

/// What the parser asks of the file for an expression at a place.
pub(in crate::scene::draft) struct Here<'h, 's> {
    pub(in crate::scene::draft) host: &'h Host<'s>,
    pub(in crate::scene::draft) at: usize,
}

impl Types for Here<'_, '_> {
    fn number_type(&self, words: &[&str]) -> Option<Type> {
        self.host.named_type(words)
    }

    fn size_of(&self, words: &[&str]) -> Option<usize> {
        self.host.bytes_of(words).or_else(|| self.host.bytes_of_operand(words, self.at))
    }
}

impl<'s> Host<'s> {
    /// The bytes of an allocation, those of all its rows. Between rows there is nothing here.
    pub(in crate::scene::draft) fn bytes_allocated(
        &self,
        Allocation { bytes, rows, call, is_one_of_several, .. }: &Allocation,
    ) -> Option<i64> {
        if *is_one_of_several {
            self.doubt();
        }
        let bytes = self.integer(bytes, call.as_ref())?;
        match rows {
            Some(rows) => bytes.checked_mul(self.integer(rows, call.as_ref())?),
            None => Some(bytes),
        }
    }

    /// The bytes of what `sizeof` has as its operand at a place: a variable, `*name`, `name[..]`.
    pub(in crate::scene::draft) fn bytes_of_operand(
        &self,
        words: &[&str],
        at: usize,
    ) -> Option<usize> {
        let stars = words.iter().take_while(|word| **word == "*").count();
        let (name, behind) = words[stars..].split_first()?;
        let mut indices = 0;
        let (mut depth, mut is_index) = (0_usize, true);
        for word in behind {
            match *word {
                "[" | "(" => {
                    is_index &= depth > 0 || *word == "[";
                    indices += usize::from(depth == 0);
                    depth += 1;
                }
                "]" | ")" => depth = depth.checked_sub(1)?,
                _ => is_index &= depth > 0,
            }
        }
        let id = self.visible(name, at).filter(|_| is_index && depth == 0)?;
        let Levels { pointers, axes } = self.levels(id)?;
        let left = (pointers + axes).checked_sub(stars + indices)?;
        // All of an array is told elsewhere.
        if left > pointers {
            return None;
        }
        if left > 0 {
            return Some(size_of::<u64>());
        }
        let words = self.variables.get(id).declared.words.iter().copied();
        let words: Vec<&str> = words.filter(|word| !QUALIFIERS.contains(word)).collect();
        self.bytes_of(&words)
    }

    /// How many pointers and how many axes a variable has in its declaration, where that is read as a whole.
    fn levels(&self, id: Id) -> Option<Levels> {
        let variable = self.variables.get(id);
        let name = match &variable.parameter {
            Some((list, _)) => list.clone().find(|at| self.text_at(*at) == variable.name)?,
            None => variable.at,
        };
        let (mut start, mut found) = (name, Levels { pointers: 0, axes: 0 });
        loop {
            let before = start.checked_sub(1)?;
            match self.text_at(before) {
                "*" => found.pointers += 1,
                "&" | "const" | "__restrict__" => {}
                // Of a template there is more than its name.
                ">" => return None,
                _ => break,
            }
            start = before;
        }
        let mut end = name + 1;
        while self.text_at(end) == "[" {
            let mut near = end..end + MOST_INDEX;
            end = near.find(|at| self.text_at(*at) == "]")? + 1;
            found.axes += 1;
        }
        Some(found)
    }

    /// How many of a structure lie in an allocation of so many bytes.
    pub(in crate::scene::draft) fn count_of(
        &self,
        allocation: &Allocation,
        structure: &str,
    ) -> Option<i64> {
        self.counting(structure, |host| host.bytes_allocated(allocation))
    }

    /// What `look` finds where a structure counts as one byte.
    pub(in crate::scene::draft) fn counting<T>(
        &self,
        structure: &str,
        look: impl FnOnce(&Self) -> T,
    ) -> T {
        *self.unit.borrow_mut() = Some(structure.to_owned());
        let found = look(self);
        *self.unit.borrow_mut() = None;
        found
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

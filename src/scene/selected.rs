//! What is selected of a manifest's resources.

use super::{Components, Coordinates, Element, Manifest, Selection};

impl Selection {
    /// What the manifest calls it.
    pub fn name(self, manifest: &Manifest) -> String {
        let resource = manifest.resource(self.of);
        let path = |Components { first, count }| resource.of().path_of(first, count);
        match self.components.and_then(path) {
            Some(path) => format!("{}.{path}", resource.name),
            None => resource.name.clone(),
        }
    }

    /// The scalar or vector that it is in each element, and the byte of the element where that begins. A field that is
    /// an array of up to four scalars is a vector, too. `None` for what is no vector: a structure, a longer array.
    pub fn vector(self, manifest: &Manifest) -> Option<(Element, usize)> {
        let of = manifest.resource(self.of).of();
        let (first, count) = match self.components {
            Some(Components { first, count }) => (usize::from(first), usize::from(count)),
            None => (0, usize::from(of.element()?.lanes)),
        };
        let (part, lane) = of.part_of(first)?;
        let lanes = match (part.element.lanes, part.count) {
            (_, 1) => count,
            (1, count) => count,
            _ => return None,
        };
        let scalar = part.element.scalar;
        let lanes = u8::try_from(lanes).ok().filter(|lanes| (1..=4).contains(lanes))?;
        Some((Element::vector(scalar, lanes), part.offset + lane * scalar.bytes()))
    }
}

impl Coordinates {
    /// What the manifest calls each of what they consist of.
    pub fn names(self, manifest: &Manifest) -> Vec<String> {
        self.selections().map(|selection| selection.name(manifest)).collect()
    }

    /// How many points there are.
    pub fn count(self, manifest: &Manifest) -> u64 {
        let counts = self.selections().map(|selection| manifest.resource(selection.of).count());
        counts.min().unwrap_or(0)
    }
}

//! Which numbers of a resource's elements are meant.

use super::{Components, Element, Manifest, ResourceId};

/// Numbers of each element of a resource: `position`, `particle.mass`, `velocity.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The resource.
    pub of: ResourceId,
    /// Components of it, all of one field where its elements are structures; `None`: each.
    pub components: Option<Components>,
}

impl Selection {
    /// All numbers of a resource whose elements are no structures.
    pub fn all(of: ResourceId) -> Self {
        Self { of, components: None }
    }

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

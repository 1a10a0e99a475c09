//! Which numbers of a resource's elements are meant.

use super::ResourceId;

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
}

/// Components of a resource's elements that follow one another, by their places in
/// [`Type::components`](super::Type::components).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Components {
    /// The first.
    pub first: u16,
    /// How many.
    pub count: u16,
}

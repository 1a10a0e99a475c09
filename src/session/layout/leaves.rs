//! The fields of structures that a manifest gives, down to those that are none themselves.

use crate::{
    cuda::Position,
    scene::{Field, Source},
};

/// A field that is no structure, or one that is a list.
pub(super) struct Leaf<'a> {
    /// Its name, and before it those of the structures and lists that it lies in: `grid.cells[2].size`.
    pub(super) path: String,
    pub(super) given: Given<'a>,
    /// The type that the manifest casts it to.
    pub(super) cast: Option<&'a str>,
    pub(super) at: Position,
}

/// What a field is given.
#[derive(Clone, Copy)]
pub(super) enum Given<'a> {
    Value(&'a Source),
    /// So many elements, which are leaves, too, or have some.
    List(usize),
}

/// The fields that the manifest gives, where it is a structure.
pub(super) fn fields_of(source: &Source) -> Option<&[Field]> {
    match source {
        Source::Structure(fields) => Some(fields),
        Source::Resource(_)
        | Source::Next(_)
        | Source::Element { .. }
        | Source::Count(..)
        | Source::Extent(..)
        | Source::Number(_)
        | Source::Vector(_)
        | Source::Parameter(_)
        | Source::Builtin(_) => None,
    }
}

/// All of them.
pub(super) fn leaves(fields: &[Field]) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    for field in fields {
        let leaf = |given| Leaf {
            path: field.name.clone(),
            given,
            cast: field.cast.as_deref(),
            at: field.at,
        };
        let Some(inner) = fields_of(&field.source) else {
            found.push(leaf(Given::Value(&field.source)));
            continue;
        };
        if field.source.is_list() {
            found.push(leaf(Given::List(inner.len())));
        }
        let within = |path: &str| {
            let parted = if path.starts_with('[') { "" } else { "." };
            format!("{}{parted}{path}", field.name)
        };
        let inner = leaves(inner).into_iter();
        found.extend(inner.map(|leaf| Leaf { path: within(&leaf.path), ..leaf }));
    }
    found
}

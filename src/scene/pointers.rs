//! Lists of buffers and arrays that a pointer to pointers is given: `float **rows`, `args = { rows = ["a", "b + 4"] }`.

use super::{Argument, Source};
use crate::cuda::{CType, Pointee};

/// The type of what a pointer to pointers points to; `None` where it is none.
pub(super) fn pointed(ctype: &CType) -> Option<CType> {
    let CType::Pointer { to: Pointee::Named(of), .. } = ctype else { return None };
    of.ends_with('*').then(|| CType::parse(of))
}

impl Argument {
    /// The pointers that lie behind it one after the other, where it is a pointer to such and the manifest lists them.
    pub(crate) fn pointers(&self) -> Option<Vec<Self>> {
        let ctype = pointed(&self.ctype)?;
        let Source::Structure(fields) = &self.source else { return None };
        let pointer = |field: &super::Field| Self {
            name: format!("{}{}", self.name, field.name),
            ctype: ctype.clone(),
            source: field.source.clone(),
            layout: None,
        };
        Some(fields.iter().map(pointer).collect())
    }

    /// Whether the kernel may write into the list of [`Argument::pointers`]: `float **`, and not `float *const *`.
    pub(crate) fn may_change_pointers(&self) -> bool {
        matches!(self.ctype, CType::Pointer { constant: false, .. })
    }
}

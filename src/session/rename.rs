//! A resource that an edit took away beside one of the same type that it brought: perhaps another name for it.
//!
//! The edit alone does not tell, so the new one begins anew, and what the old one held is kept until somebody says
//! which it is: by `was` in the manifest, or that it is another one.

use super::{Renamed, Session, carried::Carried, moment::Moment, program::Program};
use crate::scene::{Change, Manifest, Resource};

/// What may have been renamed, and what it held.
pub(super) struct Rename {
    /// The old resource, by its new name.
    pub(super) carried: Carried,
    /// The last moment at which there was the old one.
    pub(super) at: Moment,
}

/// The resource of `before` that may be called otherwise in `after`, and its name there: one that is gone, and the only
/// one of its type that came, where no other is gone.
pub(super) fn likely_rename<'m>(
    before: &'m Manifest,
    after: &'m Manifest,
) -> Option<(&'m Resource, &'m str)> {
    let changes = after.changes(before);
    let goes_on = |name: &str| {
        after.find_resource(name).is_some()
            || after.resources().iter().any(|new| new.was.as_deref() == Some(name))
    };
    let mut gone = before.resources().iter().filter(|old| !goes_on(&old.name));
    let (old, None) = (gone.next()?, gone.next()) else { return None };
    let is_like = |new: &Resource| {
        let are_texels = old.texture().is_some() == new.texture().is_some();
        new.keep && new.was.is_none() && old.of() == new.of() && are_texels
    };
    let came = after.resources().iter().zip(&changes);
    let came = came.filter(|(new, change)| {
        matches!(change, Change::New) && before.find_resource(&new.name).is_none()
    });
    let mut alike = came.filter(|(new, _)| is_like(new));
    match (alike.next(), alike.next()) {
        (Some((new, _)), None) => Some((old, &new.name)),
        _ => None,
    }
}

impl Session {
    /// Says that what the edit brought is another resource: what the old one held is forgotten.
    pub(super) fn forget_rename(&mut self) {
        self.edit.rename = None;
    }

    /// What may have been renamed.
    pub(super) fn renamed(&self) -> Option<Renamed> {
        let Rename { carried, at } = self.edit.rename.as_ref()?;
        let manifest = &self.program.as_ref()?.scene.manifest;
        let new = manifest.resource(manifest.find_resource(&carried.name)?);
        let (from, to) = (carried.old.name.clone(), new.name.clone());
        Some(Renamed { from, to, line: new.at.line, at: *at })
    }

    /// What a rename left, where `program` says that it is one; what it left is forgotten where it is none any more.
    pub(super) fn take_rename(&mut self, program: &Program) -> Option<Carried> {
        let Rename { carried, .. } = self.edit.rename.as_ref()?;
        let manifest = &program.scene.manifest;
        let new = manifest.find_resource(&carried.name).map(|id| manifest.resource(id));
        let is_there_again = manifest.find_resource(&carried.old.name).is_some();
        match new {
            Some(new) if new.was.as_deref() == Some(&carried.old.name) => {
                self.edit.rename.take().map(|rename| rename.carried)
            }
            Some(_) if !is_there_again => None,
            Some(_) | None => {
                self.edit.rename = None;
                None
            }
        }
    }
}

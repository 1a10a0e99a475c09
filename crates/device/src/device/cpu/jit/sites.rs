//! The places in a module's kernels at which threads can be stopped, with their source lines.

use std::{collections::HashMap, sync::Arc};

use super::kernel::{Site, SiteKind};
use crate::{
    device::{
        Error, InlinedCall,
        cpu::location::{self, Unsupported},
    },
    ptx::{
        ast::{LocationId, Module},
        inst::Instruction,
    },
};

/// Numbers places while a module is compiled.
pub(super) struct Sites<'a> {
    module: &'a Module,
    text: &'a str,
    sites: Vec<Site>,
    /// The inlined calls of places met before.
    frames: HashMap<LocationId, Arc<[InlinedCall]>>,
}

impl<'a> Sites<'a> {
    pub(super) fn new(module: &'a Module, text: &'a str) -> Self {
        Self { module, text, sites: Vec::new(), frames: HashMap::new() }
    }

    /// A number for stopping at a source place for this reason.
    pub(super) fn add(
        &mut self,
        kind: SiteKind,
        location: Option<LocationId>,
        line: Option<u32>,
    ) -> u32 {
        let inlined = location.map(|id| self.frames(id)).unwrap_or_default();
        let location = location::of(self.module, location);
        self.sites.push(Site { kind, location, line, inlined });
        self.sites.len() as u32 - 1
    }

    /// The calls that were inlined there; the same list for all sites of a place.
    fn frames(&mut self, id: LocationId) -> Arc<[InlinedCall]> {
        let module = self.module;
        let list = self.frames.entry(id);
        list.or_insert_with(|| location::inlined(module, Some(id)).into()).clone()
    }

    /// The error for an instruction that is not supported.
    pub(super) fn unsupported(&self, instruction: &Instruction, what: Unsupported<'_>) -> Error {
        location::unsupported(self.module, self.text, instruction, what)
    }

    pub(super) fn finish(self) -> Arc<[Site]> {
        self.sites.into()
    }
}

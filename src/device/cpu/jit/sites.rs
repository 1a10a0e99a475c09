//! The places in a module's kernels at which threads can be stopped, with their source lines.

use std::{collections::HashMap, sync::Arc};

use super::kernel::{Site, SiteKind};
use crate::{
    device::{Error, Frame, Location},
    ptx::{
        ast::{self, LocationId, Module},
        inst::Instruction,
    },
};

/// Numbers places while a module is compiled.
pub(super) struct Sites<'a> {
    module: &'a Module,
    text: &'a str,
    sites: Vec<Site>,
    /// The inlined calls of places met before.
    frames: HashMap<LocationId, Arc<[Frame]>>,
}

impl<'a> Sites<'a> {
    pub(super) fn new(module: &'a Module, text: &'a str) -> Self {
        Self { module, text, sites: Vec::new(), frames: HashMap::new() }
    }

    /// A number for stopping at a source place for this reason.
    pub(super) fn add(&mut self, kind: SiteKind, location: Option<LocationId>) -> u32 {
        let inlined = location.map(|id| self.frames(id)).unwrap_or_default();
        self.sites.push(Site { kind, location: self.location(location), inlined });
        self.sites.len() as u32 - 1
    }

    /// The calls that were inlined there; the same list for all sites of a place.
    fn frames(&mut self, id: LocationId) -> Arc<[Frame]> {
        let module = self.module;
        let list = self.frames.entry(id).or_insert_with(|| {
            let chain = module.inline_chain(id).into_iter();
            let frame = |(function, site): (&str, &ast::Location)| Frame {
                function: function.to_owned(),
                call_site: place(module, site),
            };
            chain.map(frame).collect()
        });
        list.clone()
    }

    fn location(&self, id: Option<LocationId>) -> Option<Location> {
        Some(place(self.module, self.module.location(id?)?))
    }

    /// The error for an instruction that is not supported.
    pub(super) fn unsupported(&self, instruction: &Instruction, why: &str) -> Error {
        let line = self.text.lines().nth((instruction.line as usize).saturating_sub(1));
        let text = line.map_or("", |line| line.trim().trim_end_matches(';').trim_end());
        let text = if why.is_empty() { text.to_owned() } else { format!("{text} ({why})") };
        Error::UnsupportedPtx { instruction: text, location: self.own(instruction.location) }
    }

    /// The innermost place that lies in the kernel's own file: instructions that are not supported come mostly
    /// out of headers, and the user wants the line that uses them.
    fn own(&self, id: Option<LocationId>) -> Option<Location> {
        let innermost = self.module.location(id?)?;
        let chain = self.module.inline_chain(id?);
        let outermost = chain.last().map_or(innermost, |(_, site)| site);
        let mut places = std::iter::once(innermost).chain(chain.iter().map(|(_, site)| *site));
        let own = places.find(|place| place.file == outermost.file).unwrap_or(innermost);
        Some(place(self.module, own))
    }

    pub(super) fn finish(self) -> Arc<[Site]> {
        self.sites.into()
    }
}

fn place(module: &Module, location: &ast::Location) -> Location {
    Location {
        file: module.file_name(location.file).to_owned(),
        line: location.line,
        column: location.column,
    }
}

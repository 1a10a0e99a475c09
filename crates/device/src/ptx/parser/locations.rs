//! `.loc`: source locations and the calls that were inlined.

use std::collections::HashMap;

use super::{Parsed, Parser};
use crate::ptx::ast::{Inlined, Location, LocationId};

/// One `.loc`.
struct Raw {
    place: (u32, u32, u32),
    /// Label, offset, and the `.loc` of the call.
    inlined: Option<(String, u32, usize)>,
    id: Option<LocationId>,
}

/// The `.loc`s of a function so far.
#[derive(Default)]
pub(super) struct Locations {
    raw: Vec<Raw>,
    latest: HashMap<(u32, u32, u32), usize>,
    current: Option<usize>,
}

impl Locations {
    fn push(&mut self, place: (u32, u32, u32), inlined: Option<(String, u32, usize)>) -> usize {
        self.raw.push(Raw { place, inlined, id: None });
        self.latest.insert(place, self.raw.len() - 1);
        self.raw.len() - 1
    }
}

impl Parser<'_> {
    /// `.loc` outside of functions.
    pub(super) fn skip_location(&mut self) -> Parsed<()> {
        self.location(&mut Locations::default())
    }

    /// `.loc file line column [, function_name label [+ n], inlined_at file line column]`; the directive is next.
    pub(super) fn location(&mut self, locations: &mut Locations) -> Parsed<()> {
        self.next();
        let place = self.place()?;
        let mut inlined = None;
        if self.take(b',') {
            if self.name("`function_name`")? != "function_name" {
                return self.unexpected("`function_name`");
            }
            let label = self.name("a label of `.debug_str`")?.to_owned();
            let offset = if self.take(b'+') { self.small("an offset")? } else { 0 };
            self.expect(b',')?;
            if self.name("`inlined_at`")? != "inlined_at" {
                return self.unexpected("`inlined_at`");
            }
            let site = self.place()?;
            let known = locations.latest.get(&site).copied();
            let site = known.unwrap_or_else(|| locations.push(site, None));
            inlined = Some((label, offset, site));
        }
        locations.current = Some(locations.push(place, inlined));
        Ok(())
    }

    fn place(&mut self) -> Parsed<(u32, u32, u32)> {
        let file = self.small("a file's number")?;
        let line = self.small("a line")?;
        let column =
            if self.peek().kind == super::Kind::Number { self.small("a column")? } else { 0 };
        Ok((file, line, column))
    }

    /// The location that an instruction has now. Only locations that some instruction (or the call of one that was
    /// inlined) has are kept, outer calls first.
    pub(super) fn current_location(&mut self, locations: &mut Locations) -> Option<LocationId> {
        let current = locations.current?;
        let mut chain = Vec::new();
        let mut at = Some(current);
        while let Some(index) = at {
            if locations.raw[index].id.is_some() {
                break;
            }
            chain.push(index);
            at = locations.raw[index].inlined.as_ref().map(|(_, _, site)| *site);
        }
        for index in chain.into_iter().rev() {
            let raw = &locations.raw[index];
            let (file, line, column) = raw.place;
            let inlined = raw.inlined.as_ref().and_then(|(label, offset, site)| {
                let call_site = locations.raw[*site].id?;
                Some(Inlined { label: label.clone(), offset: *offset, call_site })
            });
            let id = self.intern(Location { file, line, column, inlined });
            locations.raw[index].id = Some(id);
        }
        locations.raw[current].id
    }

    fn intern(&mut self, location: Location) -> LocationId {
        let list = &mut self.module.locations;
        *self.location_ids.entry(location).or_insert_with_key(|location| {
            list.push(location.clone());
            LocationId(list.len() as u32 - 1)
        })
    }
}

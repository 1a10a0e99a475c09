//! Elements that somebody picks in a view and follows: what they hold comes behind each step, and nobody waits for it.

use std::time::{Duration, Instant};

use super::{Studio, looking::centred};
use crate::{
    diagnostic::Severity,
    draw::Spot,
    session::{Arrival, ElementRead, Error, Found, Picked, Session},
    studio::{followed::Followed, panes::Slot, seen::Marked, table::Content},
};

/// What has not come is looked for again after this pause.
const LOOK_AGAIN: Duration = Duration::from_millis(8);

/// An element that is looked for, or followed.
#[derive(Default)]
pub(super) struct Picking {
    /// The pane in which it is, and the element.
    followed: Option<(Slot, Followed)>,
    search: Option<Search>,
    /// What it holds, on its way.
    reading: Option<ElementRead>,
    /// What it held, and what [`Session::picture`] was then.
    read: Option<(u64, Read)>,
}

/// The bytes of elements, by their resources.
type Read = Vec<(String, Vec<u8>)>;

/// What is to be found at a place of a pane's picture.
pub(super) struct Search {
    slot: Slot,
    pub(super) spot: Spot,
    coming: Option<Arrival<Option<Found>>>,
}

impl Search {
    pub(super) fn new(slot: Slot, spot: Spot) -> Self {
        Self { slot, spot, coming: None }
    }
}

impl Studio {
    /// Follows what a view draws at a place of its picture, from 0 at its lower left corner to 1 at its upper right
    /// one; nothing more where that is nothing.
    pub(super) fn pick(&mut self, slot: Slot, at: [f32; 2]) {
        let (view, size) = (self.shown(slot), self.picture_size(slot));
        let at = centred(at).into();
        let viewpoint = self.viewpoint(slot);
        match self.image(slot) {
            Some(image) => {
                let texel = viewpoint.part.texel(at, image, size);
                let session = self.session.as_ref();
                let picked = texel.and_then(|texel| session?.texel_element(view, texel));
                self.follow(slot, picked);
            }
            None => {
                self.unfollow();
                let spot = Spot { camera: viewpoint.camera, size, at };
                self.picking.search = Some(Search::new(slot, spot));
            }
        }
    }

    /// The same where the pointer is, or in the middle of a view that it is not over.
    pub(super) fn pick_here(&mut self, slot: Slot) {
        let pointer = self.sights.get(&slot).and_then(|sight| sight.pointer_inside());
        self.pick(slot, pointer.unwrap_or([0.5; 2]));
    }

    /// Follows another element of the resource.
    pub(super) fn follow_index(&mut self, index: u64) {
        let Some((slot, followed)) = &self.picking.followed else { return };
        let last = followed.picked.count().saturating_sub(1);
        let picked = Picked { index: index.min(last), ..followed.picked.clone() };
        self.follow(*slot, Some(picked));
    }

    /// Follows nothing more.
    pub(super) fn unfollow(&mut self) {
        self.picking = Picking::default();
    }

    fn follow(&mut self, slot: Slot, picked: Option<Picked>) {
        self.unfollow();
        let view = self.snapshot.views.get(self.shown(slot).0).map(|view| view.name.clone());
        let followed = picked.zip(view).map(|(picked, view)| Followed::new(picked, view));
        self.picking.followed = followed.map(|followed| (slot, followed));
    }

    /// Keeps what is followed up to date. Nothing is waited for: while a step runs there is nothing new.
    pub(super) fn follow_element(&mut self, now: Instant) {
        let result = self.go_on_picking(now).and_then(|()| self.go_on_reading(now));
        if let Err(error) = result {
            self.unfollow();
            let text = format!("The element cannot be followed: {error}.");
            self.workspace.tell(Severity::Warning, text);
        }
    }

    fn go_on_picking(&mut self, now: Instant) -> Result<(), Error> {
        let Some(search) = self.picking.search.take() else { return Ok(()) };
        let slot = search.slot;
        match self.searched(search, now)? {
            Ok(found) => self.follow(slot, found.map(|(picked, _)| picked)),
            Err(search) => self.picking.search = Some(search),
        }
        Ok(())
    }

    /// What a search has found, once it has come to its end; the search until then.
    pub(super) fn searched(
        &mut self,
        mut search: Search,
        now: Instant,
    ) -> Result<Result<Option<Found>, Search>, Error> {
        let view = self.shown(search.slot);
        let Some(session) = self.session.as_mut().filter(|of| of.can_be_picked(view)) else {
            return Ok(Ok(None));
        };
        search.coming = match search.coming.take() {
            Some(coming) if coming.is_here() => {
                self.redraws.want(now);
                return Ok(Ok(coming.wait()?));
            }
            Some(coming) => Some(coming),
            None => session.start_picking(view, search.spot)?,
        };
        self.redraws.want(now + LOOK_AGAIN);
        Ok(Err(search))
    }

    fn go_on_reading(&mut self, now: Instant) -> Result<(), Error> {
        let Some((_, followed)) = &mut self.picking.followed else { return Ok(()) };
        let Some(session) = &mut self.session else { return Ok(()) };
        if let Some(reading) = self.picking.reading.take() {
            if !reading.is_here()? {
                self.picking.reading = Some(reading);
                self.redraws.want(now + LOOK_AGAIN);
                return Ok(());
            }
            let moment = (reading.step, reading.picture);
            let read = reading.wait()?;
            followed.observe(moment.0, &contents(session, moment, &read));
            self.picking.read = Some((moment.1, read));
            self.redraws.want(now);
        }
        let known = self.picking.read.as_ref().map(|(picture, _)| *picture);
        if known != Some(session.picture()) && session.has_program() && !session.is_working() {
            self.picking.reading = session.start_reading_element(&followed.picked)?;
            match self.picking.reading {
                Some(_) => self.redraws.want(now + LOOK_AGAIN),
                // An edit has taken it away.
                None if session
                    .resource(&followed.picked.resource)
                    .is_none_or(|resource| resource.count() <= followed.picked.index) =>
                {
                    self.unfollow();
                }
                None => {}
            }
        }
        Ok(())
    }

    /// What is followed in a pane, while it shows the view in which that was picked, and where in the picture it is:
    /// from 0 at its lower left corner to 1 at its upper right one.
    pub(super) fn followed(&self, slot: Slot) -> Option<Marked> {
        let (_, followed) = self.picking.followed.as_ref().filter(|(of, _)| *of == slot)?;
        let view = self.shown(slot);
        let name = self.snapshot.views.get(view.0).map(|view| &view.name);
        (name == Some(&followed.view)).then_some(())?;
        let (size, viewpoint) = (self.picture_size(slot), self.viewpoint(slot));
        let read = self.picking.read.as_ref().map_or(&[][..], |(_, read)| read);
        let place = self.session.as_ref()?.place_of(view, &followed.picked, read);
        let [w, h] = size.map(|n| n as f32);
        let at = place.and_then(|place| match self.image(slot) {
            Some(image) => {
                let part = viewpoint.part;
                Some(((place.truncate() - part.centre()) / part.span(image, size) + 0.5).into())
            }
            None => {
                let at = viewpoint.camera.project(place, size)?;
                Some([at.x / w, 1.0 - at.y / h])
            }
        });
        Some(Marked { followed: followed.clone(), at })
    }
}

/// What was read, as a table of one element for each resource.
fn contents(session: &Session, moment: (u64, u64), read: &Read) -> Vec<Content> {
    let content = |(name, bytes): &(String, Vec<u8>)| {
        let (resource, of) = (session.resource(name)?.clone(), session.type_of(name)?);
        Some(Content::new(resource, of, moment, bytes.clone()))
    };
    read.iter().filter_map(content).collect()
}

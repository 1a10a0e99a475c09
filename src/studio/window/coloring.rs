//! Colours that are chosen by hand: how the values that they stand for are spread, read when there is time; and the
//! file that is to have them.

use std::time::{Duration, Instant};

use super::{READ_AGAIN, Studio};
use crate::{
    diagnostic::Severity,
    draw,
    session::{Arrival, Error, Legend, Session, Spread},
    studio::{
        panes::Slot,
        viewpoints::{Switch, Viewpoint},
        written,
    },
};

/// What has not come is looked for again after this pause.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

/// How the values are spread that a pane colours.
pub(super) struct Spreading {
    /// The last one that has come, with the view's name.
    known: Option<(String, Spread)>,
    coming: Option<(String, Arrival<Spread>)>,
    /// What [`Session::picture`](crate::session::Session::picture) was when it was asked for last, and when.
    asked: Option<(u64, Instant)>,
}

impl Studio {
    /// A frame's content in the colours that were chosen by hand.
    pub(super) fn recolored<'a>(frame: draw::Frame<'a>, of: &Viewpoint) -> draw::Frame<'a> {
        let mut frame = frame;
        if let Some(coloring) = frame.content.coloring_mut() {
            *coloring = of.coloring.of_coloring(*coloring);
        }
        frame
    }

    /// What the colours of a pane's view stand for, as they are.
    pub(super) fn legend(&self, slot: Slot) -> Option<Legend> {
        let legend = self.session.as_ref()?.legend(self.shown(slot))?;
        Some(self.viewpoint(slot).coloring.of_legend(legend))
    }

    /// Opens or closes what a pane's colours are chosen with. A view whose elements have colours of their own has none.
    pub(super) fn switch_colors(&mut self, slot: Slot) {
        let is_open = self.viewpoint(slot).has(Switch::Colors);
        if !is_open && self.legend(slot).is_none() {
            let text = "This view has no colours to choose: no number of its elements stands for a colour.";
            return self.workspace.tell(Severity::Note, text);
        }
        self.viewpoints(slot).switch(Switch::Colors);
    }

    /// Keeps what is known of the values up to date where their colours are chosen. Nothing is waited for.
    pub(super) fn follow_colors(&mut self, now: Instant) {
        let is_open = |slot: &Slot| self.viewpoint(*slot).has(Switch::Colors);
        let open: Vec<Slot> = self.state.panes.slots().filter(is_open).collect();
        self.spreads.retain(|slot, _| open.contains(slot));
        // What the file has, too, is left to it: an edit of it counts again.
        for slot in self.state.panes.slots().collect::<Vec<_>>() {
            let (view, chosen) = (self.shown(slot), self.viewpoint(slot).coloring);
            let declares = |of: &Session| !chosen.is_nothing() && of.declares(view, &chosen);
            if self.session.as_ref().is_some_and(declares) {
                self.recolor(slot, draw::Recoloring::default());
                self.redraws.want(now);
            }
        }
        for slot in open {
            if let Err(error) = self.follow_spread(slot, now) {
                tracing::debug!("how values are spread is not known: {error}");
                self.spreads.remove(&slot);
            }
        }
    }

    fn follow_spread(&mut self, slot: Slot, now: Instant) -> Result<(), Error> {
        let Some(legend) = self.legend(slot) else { return Ok(()) };
        let view = self.shown(slot);
        let Some(name) = self.snapshot.views.get(view.0).map(|view| view.name.clone()) else {
            return Ok(());
        };
        let Some(session) = &mut self.session else { return Ok(()) };
        let empty = Spreading { known: None, coming: None, asked: None };
        let of = self.spreads.entry(slot).or_insert(empty);
        if let Some((name, coming)) = of.coming.take() {
            if !coming.is_here() {
                of.coming = Some((name, coming));
                self.redraws.want(now + LOOK_AGAIN);
                return Ok(());
            }
            of.known = Some((name, coming.wait()?));
            self.redraws.want(now);
        }
        let picture = session.picture();
        let is_of_it = |(own, spread): &(String, Spread)| {
            *own == name && spread.logarithmic == legend.logarithmic
        };
        let is_due = match (&of.asked, of.known.as_ref().is_some_and(is_of_it)) {
            (Some((asked, at)), true) => {
                let rests = !session.clock().playing || now.duration_since(*at) >= READ_AGAIN;
                *asked != picture && rests
            }
            (None, _) | (_, false) => true,
        };
        if !is_due || !session.has_program() || session.is_working() {
            return Ok(());
        }
        if let Some(coming) = session.start_spread(view, legend.logarithmic)? {
            of.coming = Some((name, coming));
            of.asked = Some((picture, now));
            self.redraws.want(now + LOOK_AGAIN);
        }
        Ok(())
    }

    /// How the values are spread that a pane colours, where that is known.
    pub(super) fn spread(&self, slot: Slot) -> Option<Spread> {
        let (of, spread) = self.spreads.get(&slot)?.known.as_ref()?;
        let view = self.snapshot.views.get(self.shown(slot).0)?;
        (view.name == *of).then(|| spread.clone())
    }

    /// Puts the colours of a view into the manifest.
    pub(super) fn write_colors(&mut self, slot: Option<Slot>) {
        let slot = slot.unwrap_or(self.locals.active);
        let Some(view) = self.snapshot.views.get(self.shown(slot).0) else { return };
        let text = self.workspace.document.text.to_string();
        let chosen = self.viewpoint(slot).coloring;
        let changes = written::coloring(&text, &self.overrides(), &view.name, &chosen);
        self.write(changes);
    }

    /// Chooses the colours of a view.
    pub(super) fn recolor(&mut self, slot: Slot, coloring: draw::Recoloring) {
        self.viewpoints(slot).recolor(coloring);
    }
}

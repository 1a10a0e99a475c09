//! Distances in views: two clicks, and a line between them.

use std::time::Instant;

use glam::Vec3;

use super::{Studio, looking::centred, picking::Search};
use crate::{
    diagnostic::Severity,
    draw::Spot,
    studio::{number, panes::Slot, seen::Measured},
};

/// A distance that is being measured.
pub(super) struct Measuring {
    slot: Slot,
    /// The view's name.
    view: String,
    /// Its ends so far: in space, and of an image in texels from its lower left corner.
    ends: Vec<Vec3>,
    search: Option<Search>,
}

impl Studio {
    /// Begins to measure in what a pane shows, or ends it.
    pub(super) fn switch_measuring(&mut self, slot: Slot) {
        let is_there = self.measures_in(slot);
        self.measuring = None;
        let view = self.snapshot.views.get(self.shown(slot).0);
        let Some(view) = view.filter(|_| !is_there) else { return };
        let (view, ends) = (view.name.clone(), Vec::new());
        self.measuring = Some(Measuring { slot, view, ends, search: None });
    }

    /// Measures no more.
    pub(super) fn stop_measuring(&mut self) {
        self.measuring = None;
    }

    /// Whether clicks into a pane are ends of a distance.
    pub(super) fn measures_in(&self, slot: Slot) -> bool {
        let name = self.snapshot.views.get(self.shown(slot).0).map(|view| &view.name);
        let is_it = |of: &Measuring| of.slot == slot && name == Some(&of.view);
        self.measuring.as_ref().is_some_and(is_it)
    }

    /// Takes a place of a pane's picture as the next end, from 0 at its lower left corner to 1 at its upper right one.
    /// A third one begins anew.
    pub(super) fn measure(&mut self, slot: Slot, at: [f32; 2]) {
        let (size, viewpoint, image) =
            (self.picture_size(slot), self.viewpoint(slot), self.image(slot));
        let at = centred(at).into();
        let Some(of) = &mut self.measuring else { return };
        match image {
            Some([width, height]) => {
                let part = viewpoint.part.at(at, [width, height], size);
                of.add(Vec3::new(part.x * width as f32, part.y * height as f32, 0.0));
            }
            None => {
                let spot = Spot { camera: viewpoint.camera, size, at };
                of.search = Some(Search::new(slot, spot));
            }
        }
    }

    /// Looks for what is under the last click: an end is the element there, or beside all of them the place on the
    /// plane through the camera's target.
    pub(super) fn follow_measuring(&mut self, now: Instant) {
        let Some(mut of) = self.measuring.take() else { return };
        if let Some(search) = of.search.take() {
            let spot = search.spot;
            match self.searched(search, now) {
                Ok(Err(search)) => of.search = Some(search),
                Ok(Ok(found)) => {
                    let [w, h] = spot.size.map(|n| n as f32);
                    let beside = || spot.camera.at_target_depth(spot.at, w / h);
                    of.add(found.map_or_else(beside, |(_, place)| place));
                }
                Err(error) => {
                    let text = format!("What is under the pointer is not known: {error}.");
                    self.workspace.tell(Severity::Warning, text);
                }
            }
        }
        self.measuring = Some(of);
    }

    /// What is measured in a pane, while it shows that view.
    pub(super) fn measured(&self, slot: Slot) -> Option<Measured> {
        let of = self.measuring.as_ref().filter(|_| self.measures_in(slot))?;
        let (size, viewpoint, image) =
            (self.picture_size(slot), self.viewpoint(slot), self.image(slot));
        let [w, h] = size.map(|n| n as f32);
        let seen = |end: &Vec3| match image {
            Some([width, height]) => {
                let place = end.truncate() / glam::Vec2::new(width as f32, height as f32);
                let part = viewpoint.part;
                let at = (place - part.centre()) / part.span([width, height], size) + 0.5;
                Some(at.to_array())
            }
            None => {
                let at = viewpoint.camera.project(*end, size)?;
                Some([at.x / w, 1.0 - at.y / h])
            }
        };
        let ends = of.ends.iter().map(seen).collect();
        let told = match of.ends.as_slice() {
            [from, to] => told(*to - *from, image),
            _ => String::new(),
        };
        Some(Measured { ends, told })
    }
}

impl Measuring {
    fn add(&mut self, end: Vec3) {
        if self.ends.len() == 2 {
            self.ends.clear();
        }
        self.ends.push(end);
    }
}

/// A distance in words; of an image of so many texels in these, and in units of which its longer side has two, as if it
/// were a surface.
fn told(apart: Vec3, image: Option<[u32; 2]>) -> String {
    let length = f64::from(apart.length());
    let [x, y, z] = apart.to_array().map(|part| number::value(f64::from(part)));
    match image {
        Some([width, height]) => {
            let unit = 2.0 / f64::from(width.max(height));
            let (texels, units) = (number::value(length), number::value(length * unit));
            format!("{texels} texels ({x}, {y}), {units} units")
        }
        None => format!("{} ({x}, {y}, {z})", number::value(length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_has_its_parts() {
        let apart = Vec3::new(3.0, -4.0, 12.0);
        assert_eq!(told(apart, None), "13.00 (3.000, -4.000, 12.00)");
        let texels = Vec3::new(30.0, 40.0, 0.0);
        assert_eq!(told(texels, Some([200, 100])), "50.00 texels (30.00, 40.00), 0.5000 units");
    }

    #[test]
    fn a_third_end_begins_anew() {
        let (view, ends) = ("a".to_owned(), Vec::new());
        let mut of = Measuring { slot: Slot(0), view, ends, search: None };
        [1.0, 2.0, 3.0].into_iter().for_each(|x| of.add(Vec3::X * x));
        assert_eq!(of.ends, [Vec3::X * 3.0]);
    }
}

//! The views: their pictures, from where each is seen, and what is under the pointer.

use std::time::{Duration, Instant};

use super::{Drawn, Studio, beside::Beside};
use crate::{
    draw, gl,
    scene::ViewId,
    session::Session,
    studio::{
        Result,
        detail::Detail,
        look::{Look, Pointer},
        panes::Slot,
        seen::Probe,
        sides,
        viewpoints::{Start, Switch, Viewpoint, Viewpoints},
    },
};

/// What is behind a pane that shows a view.
pub(super) struct Sight {
    picture: draw::View,
    /// B's pictures, once there was a B.
    beside: Option<Beside>,
    timer: gl::TimerQuery,
    detail: Detail,
    /// What the picture was drawn from, and with how much detail.
    drawn: Option<(Drawn, f32)>,
    pointer: Pointer,
    pub(super) probe: Option<Probe>,
    /// Its size on the screen.
    shown_px: [u32; 2],
}

impl Sight {
    fn new(gl: &gl::Gl) -> gl::Result<Self> {
        Ok(Self {
            picture: draw::View::new(gl, [1, 1])?,
            beside: None,
            timer: gl::TimerQuery::new(gl)?,
            detail: Detail::new(Instant::now()),
            drawn: None,
            pointer: Pointer::default(),
            probe: None,
            shown_px: [0, 0],
        })
    }

    /// The picture as it was drawn last.
    pub(super) fn picture(&self) -> &gl::Framebuffer {
        self.picture.picture()
    }

    /// B's pictures, once there was a B.
    pub(super) fn beside(&self) -> Option<&Beside> {
        self.beside.as_ref()
    }

    /// What the picture was drawn from, and with how much detail.
    pub(super) fn drawn(&self) -> Option<(Drawn, f32)> {
        self.drawn
    }

    /// Where the pointer is while it is over the picture, from 0 at its lower left corner to 1 at its upper right one.
    pub(super) fn pointer_inside(&self) -> Option<[f32; 2]> {
        self.pointer.inside.then_some(self.pointer.position)
    }

    /// Its picture is drawn anew.
    pub(super) fn forget(&mut self) {
        self.drawn = None;
    }

    /// How long the last picture took that is known; `frame` is what the last frame took, without it too.
    pub(super) fn note_time(&mut self, frame: Duration) -> Option<Duration> {
        let took = self.timer.latest()?;
        if let Some((_, detail)) = self.drawn {
            self.detail.note(took, detail, frame.saturating_sub(took));
        }
        Some(took)
    }
}

impl Studio {
    /// Puts a view's picture into a rectangle of the screen; that of B, too, where there is one.
    pub(super) fn paint_view(&mut self, slot: Slot, rect: [u32; 4]) -> Result<()> {
        let arrangement = self.arrangement(slot);
        let size = [rect[2], rect[3]];
        self.draw_view(slot, arrangement.map_or(size, |of| of.picture_size(size)), arrangement)?;
        if let Some(sight) = self.sights.get_mut(&slot) {
            sight.shown_px = size;
        }
        self.put_view(slot, gl::Target::Screen, rect)
    }

    /// The size in pixels at which a view is shown, once it is.
    pub(super) fn shown_size(&self, slot: Slot) -> Option<[u32; 2]> {
        // A picture has no side that is longer than a texture's may be.
        let largest = self.context.gl().max_picture_side();
        let size = self.sights.get(&slot)?.shown_px.map(|side| side.min(largest));
        (size[0] > 0 && size[1] > 0).then_some(size)
    }

    /// How A and B are shown together, where B has a picture.
    pub(super) fn arrangement(&self, slot: Slot) -> Option<sides::Arrangement> {
        let camera = draw::Camera::default();
        self.session.as_ref()?.other_frame(self.shown(slot), &camera)?;
        Some(self.locals.sides.arrangement)
    }

    /// The sight of a pane, made if there is none yet.
    pub(super) fn open_sight(&mut self, slot: Slot) -> Result<()> {
        if !self.sights.contains_key(&slot) {
            let sight = Sight::new(self.context.gl())?;
            self.sights.insert(slot, sight);
            // A new one looks from where the first one does.
            let first = self.state.views.get(&Slot::default()).cloned().unwrap_or_default();
            self.state.views.entry(slot).or_insert(first);
        }
        Ok(())
    }

    /// Draws a view's picture, and B's, unless they would be those that are there.
    fn draw_view(
        &mut self,
        slot: Slot,
        size: [u32; 2],
        arrangement: Option<sides::Arrangement>,
    ) -> Result<()> {
        // A window may be larger than any texture: then the picture is enlarged.
        let largest = self.context.gl().max_picture_side();
        let size = size.map(|side| side.min(largest));
        self.open_sight(slot)?;
        let Some(sight) = self.sights.get_mut(&slot) else { return Ok(()) };
        if sight.picture.size() != size {
            sight.picture.resize(size)?;
            sight.drawn = None;
            self.place_camera(slot);
        }
        let picture = self.session.as_ref().map_or(0, Session::picture);
        let (view, viewpoint) = (self.shown(slot), self.viewpoint(slot));
        let Viewpoint { camera, part, shows, coloring, .. } = viewpoint;
        let guides = self.session.as_ref().filter(|_| shows.grid);
        let guides = guides.and_then(|session| session.guides(view));
        let legend = self.session.as_ref().and_then(|session| session.difference_legend(view));
        let legend = legend.filter(|_| arrangement == Some(sides::Arrangement::Difference));
        let difference = legend.as_ref().map(|legend| legend.range);
        let from = Drawn { view, camera, part, coloring, guides, picture, arrangement, difference };
        let now = Instant::now();
        let Some(sight) = self.sights.get_mut(&slot) else { return Ok(()) };
        let detail = match sight.drawn {
            Some((drawn, detail)) if drawn == from => match sight.detail.still(now, detail) {
                Some(finer) => finer,
                None => return Ok(()),
            },
            _ => sight.detail.moving(now),
        };
        let frame = match &self.session {
            Some(session) => session.frame(view, &camera),
            None => draw::Frame::new(&camera, draw::Content::Nothing),
        };
        let frame = Self::recolored(frame, &viewpoint);
        let frame = draw::Frame { part, guides, detail, ..frame };
        let other = self.session.as_ref().filter(|_| arrangement.is_some());
        let other = other.and_then(|session| session.other_frame(view, &camera));
        let other = other.map(|other| Self::recolored(other, &viewpoint));
        let other = other.map(|other| draw::Frame { part, guides, detail, ..other });
        let (own, beside, gl) = (&mut sight.picture, &mut sight.beside, self.context.gl());
        sight.timer.measure(|| {
            own.draw(&frame)?;
            match (other, arrangement) {
                (Some(other), Some(arrangement)) => {
                    let beside = Beside::made(beside, gl)?;
                    beside.draw(own, [&frame, &other], arrangement, legend.as_ref())
                }
                (Some(_), None) | (None, _) => Ok(()),
            }
        })?;
        sight.drawn = Some((from, detail));
        if let Some(moment) = sight.detail.look_again(detail) {
            self.redraws.want(moment);
        }
        Ok(())
    }

    pub(super) fn viewpoints(&mut self, slot: Slot) -> &mut Viewpoints {
        self.state.views.entry(slot).or_default()
    }

    pub(super) fn viewpoint(&self, slot: Slot) -> Viewpoint {
        self.state.views.get(&slot).map_or_else(Viewpoint::default, Viewpoints::current)
    }

    /// The view that a pane shows.
    pub(super) fn shown(&self, slot: Slot) -> ViewId {
        let viewpoints = self.state.views.get(&slot);
        let session = self.session.as_ref();
        session.zip(viewpoints).map_or_else(ViewId::default, |(s, of)| of.view(s.views()))
    }

    /// The size in texels of what is shown flat.
    pub(super) fn image(&self, slot: Slot) -> Option<[u32; 2]> {
        let texture = self.session.as_ref()?.image(self.shown(slot))?;
        let [width, height, _] = texture.size().extents();
        Some([width, height])
    }

    /// The size of a pane's picture.
    pub(super) fn picture_size(&self, slot: Slot) -> [u32; 2] {
        self.sights.get(&slot).map_or([1, 1], |sight| sight.picture.size())
    }

    /// Looks at what images have under the pointer.
    pub(super) fn probe(&mut self) {
        let slots: Vec<Slot> = self.sights.keys().copied().collect();
        for slot in slots {
            let probe = self.probed(slot);
            if let Some(sight) = self.sights.get_mut(&slot) {
                sight.probe = probe;
            }
        }
    }

    fn probed(&self, slot: Slot) -> Option<Probe> {
        let pointer = self.sights.get(&slot)?.pointer;
        let size = self.image(slot).filter(|_| pointer.inside)?;
        let at = centred(pointer.position).into();
        let texel = self.viewpoint(slot).part.texel(at, size, self.picture_size(slot))?;
        let (session, view) = (self.session.as_ref()?, self.shown(slot));
        let both =
            session.texel(view, texel).and_then(|own| Ok((own, session.other_texel(view, texel)?)));
        match both {
            Ok((values, other)) => Some(Probe { texel, values: values?, other }),
            Err(error) => {
                tracing::debug!("the texel under the pointer is not known: {error}");
                None
            }
        }
    }

    /// Looks at a view as somebody wants to.
    pub(super) fn look(&mut self, slot: Option<Slot>, look: Look) {
        let slot = slot.unwrap_or(self.locals.active);
        match look {
            Look::Orbit(drag) => {
                self.turn(slot, |viewpoint| viewpoint.camera.orbit(drag.into()));
            }
            Look::Pan(drag) => self.pan(slot, drag),
            Look::Zoom { factor, at } => self.zoom(slot, factor, at),
            Look::Reset => {
                self.viewpoints(slot).start_anew();
                self.place_camera(slot);
            }
            Look::Fit => self.fit(slot),
            Look::From(side) => self.turn(slot, |viewpoint| viewpoint.see_from(side)),
            Look::FromBehind => self.turn(slot, Viewpoint::see_from_behind),
            Look::Switch(Switch::Colors) => self.switch_colors(slot),
            Look::Switch(switch @ (Switch::Axes | Switch::Grid | Switch::Orthographic)) => {
                self.viewpoints(slot).switch(switch);
            }
            Look::Show(name) => {
                self.viewpoints(slot).choose(name);
                self.place_camera(slot);
            }
            Look::Pointer(pointer) => self.point(slot, pointer),
            Look::Pick(at) if self.measures_in(slot) => self.measure(slot, at),
            Look::Pick(at) => self.pick(slot, at),
            Look::PickHere => self.pick_here(slot),
            Look::Follow(index) => self.follow_index(index),
            Look::Unfollow => self.unfollow(),
            Look::Color(coloring) => self.recolor(slot, coloring),
            Look::Measure => self.switch_measuring(slot),
            Look::StopMeasuring => self.stop_measuring(),
        }
    }

    fn turn(&mut self, slot: Slot, turn: impl FnOnce(&mut Viewpoint)) {
        if let Some(viewpoint) = self.viewpoints(slot).moved_by_user() {
            turn(viewpoint);
        }
    }

    fn pan(&mut self, slot: Slot, [x, y]: [f32; 2]) {
        let (aspect, picture) = (self.aspect(slot), self.picture_size(slot));
        let image = self.image(slot);
        match (self.viewpoints(slot).moved_by_user(), image) {
            (Some(viewpoint), Some(image)) => {
                viewpoint.part.pan([x / aspect, y].into(), image, picture)
            }
            (Some(viewpoint), None) => viewpoint.camera.pan([x, y].into(), aspect),
            (None, _) => {}
        }
    }

    fn zoom(&mut self, slot: Slot, factor: f32, at: [f32; 2]) {
        let picture = self.picture_size(slot);
        let image = self.image(slot);
        match (self.viewpoints(slot).moved_by_user(), image) {
            (Some(viewpoint), Some(image)) => {
                viewpoint.part.zoom_at(factor, at.into(), image, picture)
            }
            (Some(viewpoint), None) => viewpoint.camera.zoom(factor),
            (None, _) => {}
        }
    }

    /// Puts the cameras of all views where the manifest starts them, when that is new.
    pub(super) fn place_cameras(&mut self) {
        let slots: Vec<Slot> = self.state.views.keys().copied().collect();
        slots.into_iter().for_each(|slot| self.place_camera(slot));
    }

    fn place_camera(&mut self, slot: Slot) {
        let view = self.shown(slot);
        let aspect = self.aspect(slot);
        let Some(session) = &self.session else { return };
        let camera = session.start_camera(view, aspect);
        let start = Start { camera, aspect, is_known: session.is_start_known(view) };
        self.state.views.entry(slot).or_default().show(session.views(), view, start);
    }

    /// Moves the camera so that all that is drawn now is in the picture, or shows all of an image.
    fn fit(&mut self, slot: Slot) {
        let (view, aspect) = (self.shown(slot), self.aspect(slot));
        let Viewpoint { camera, .. } = self.viewpoint(slot);
        let Some(session) = &self.session else { return };
        let fitted = session.fitted_camera(view, camera, aspect);
        let Some(viewpoint) = self.viewpoints(slot).moved_by_user() else { return };
        viewpoint.part = draw::PanZoom::default();
        viewpoint.camera = fitted.unwrap_or(viewpoint.camera);
    }

    fn point(&mut self, slot: Slot, pointer: Pointer) {
        let picture = self.picture_size(slot);
        // Over an image kernels get the place in the image, however it is shown.
        let [x, y] = match self.image(slot) {
            Some(size) => self
                .viewpoint(slot)
                .part
                .at(centred(pointer.position).into(), size, picture)
                .to_array(),
            None => pointer.position,
        };
        if let Some(sight) = self.sights.get_mut(&slot) {
            sight.pointer = pointer;
        }
        self.mouse = [x, y, pointer.buttons as f32, self.mouse[3] + pointer.wheel];
    }

    fn aspect(&self, slot: Slot) -> f32 {
        let [width, height] = self.picture_size(slot);
        width as f32 / height.max(1) as f32
    }
}

/// A place from 0 to 1 as one from -1 to 1.
pub(super) fn centred(place: [f32; 2]) -> [f32; 2] {
    place.map(|part| part * 2.0 - 1.0)
}

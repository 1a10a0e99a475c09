//! The view: its picture, from where it is seen, and what is under the pointer.

use std::time::Instant;

use super::{Drawn, Studio, beside::Beside};
use crate::{
    draw, gl,
    scene::ViewId,
    session::Session,
    studio::{
        Result,
        panels::{Pointer, Probe},
        sides::Arrangement,
        viewpoints::{Start, Viewpoint},
    },
};

impl Studio {
    /// Puts the view's picture into a rectangle of the screen; that of B, too, where there is one.
    pub(super) fn paint_view(&mut self, rect: [u32; 4]) -> Result<()> {
        let arrangement = self.arrangement();
        let size = [rect[2], rect[3]];
        self.draw_view(arrangement.map_or(size, |of| of.picture_size(size)), arrangement)?;
        let a = self.view.picture();
        match (arrangement, &self.beside) {
            (Some(arrangement), Some(beside)) => {
                beside.paint(a, rect, arrangement, self.locals.sides.split)
            }
            (Some(_), None) | (None, _) => Ok(a.blit_to(gl::Target::Screen, rect)?),
        }
    }

    /// How A and B are shown together, where B has a picture.
    fn arrangement(&self) -> Option<Arrangement> {
        let camera = draw::Camera::default();
        self.session.as_ref()?.other_frame(self.shown(), &camera)?;
        Some(self.locals.sides.arrangement)
    }

    /// Draws the view's picture, and B's, unless they would be those that are there.
    fn draw_view(&mut self, size: [u32; 2], arrangement: Option<Arrangement>) -> Result<()> {
        // A window may be larger than any texture: then the picture is enlarged.
        let largest = self.context.gl().max_picture_side();
        let size = size.map(|side| side.min(largest));
        if self.view.size() != size {
            self.view.resize(size)?;
            self.drawn = None;
            self.place_camera();
        }
        let picture = self.session.as_ref().map_or(0, Session::picture);
        let (view, Viewpoint { camera, part, .. }) =
            (self.shown(), self.state.viewpoints.current());
        let legend = self.session.as_ref().and_then(|session| session.difference_legend(view));
        let legend = legend.filter(|_| arrangement == Some(Arrangement::Difference));
        let difference = legend.as_ref().map(|legend| legend.range);
        let from = Drawn { view, camera, part, picture, arrangement, difference };
        let now = Instant::now();
        let detail = match self.drawn {
            Some((drawn, detail)) if drawn == from => match self.detail.still(now, detail) {
                Some(finer) => finer,
                None => return Ok(()),
            },
            _ => self.detail.moving(now),
        };
        let frame = match &self.session {
            Some(session) => session.frame(view, &camera),
            None => draw::Frame::new(&camera, draw::Content::Nothing),
        };
        let frame = draw::Frame { part, detail, ..frame };
        let other = self.session.as_ref().filter(|_| arrangement.is_some());
        let other = other.and_then(|session| session.other_frame(view, &camera));
        let other = other.map(|other| draw::Frame { part, detail, ..other });
        let (own, beside, gl) = (&mut self.view, &mut self.beside, self.context.gl());
        self.timer.measure(|| {
            own.draw(&frame)?;
            match (other, arrangement) {
                (Some(other), Some(arrangement)) => {
                    let beside = Beside::made(beside, gl)?;
                    beside.draw(own, [&frame, &other], arrangement, legend.as_ref())
                }
                (Some(_), None) | (None, _) => Ok(()),
            }
        })?;
        self.drawn = Some((from, detail));
        if let Some(moment) = self.detail.look_again(detail) {
            self.redraws.want(moment);
        }
        Ok(())
    }

    /// The view that is shown.
    pub(super) fn shown(&self) -> ViewId {
        self.session
            .as_ref()
            .map_or_else(ViewId::default, |s| self.state.viewpoints.view(s.views()))
    }

    /// The size in texels of what is shown flat.
    pub(super) fn image(&self) -> Option<[u32; 2]> {
        let texture = self.session.as_ref()?.image(self.shown())?;
        let [width, height, _] = texture.size().extents();
        Some([width, height])
    }

    /// What the image has under the pointer.
    pub(super) fn probed(&self) -> Option<Probe> {
        let size = self.image().filter(|_| self.pointer.inside)?;
        let at = centred(self.pointer.position).into();
        let texel = self.state.viewpoints.current().part.texel(at, size, self.view.size())?;
        let (session, view) = (self.session.as_ref()?, self.shown());
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

    pub(super) fn pan(&mut self, [x, y]: [f32; 2]) {
        let (aspect, picture) = (self.aspect(), self.view.size());
        let image = self.image();
        match (self.state.viewpoints.moved_by_user(), image) {
            (Some(viewpoint), Some(image)) => {
                viewpoint.part.pan([x / aspect, y].into(), image, picture)
            }
            (Some(viewpoint), None) => viewpoint.camera.pan([x, y].into(), aspect),
            (None, _) => {}
        }
    }

    pub(super) fn zoom(&mut self, factor: f32, at: [f32; 2]) {
        let picture = self.view.size();
        let image = self.image();
        match (self.state.viewpoints.moved_by_user(), image) {
            (Some(viewpoint), Some(image)) => {
                viewpoint.part.zoom_at(factor, at.into(), image, picture)
            }
            (Some(viewpoint), None) => viewpoint.camera.zoom(factor),
            (None, _) => {}
        }
    }

    pub(super) fn orbit(&mut self, drag: [f32; 2]) {
        if let Some(viewpoint) = self.state.viewpoints.moved_by_user() {
            viewpoint.camera.orbit(drag.into());
        }
    }

    /// Puts the camera of the view that is shown where the manifest starts it, when that is new.
    pub(super) fn place_camera(&mut self) {
        let view = self.shown();
        let Some(session) = &self.session else { return };
        let aspect = self.aspect();
        let camera = session.start_camera(view, aspect);
        let start = Start { camera, aspect, is_known: session.is_start_known(view) };
        self.state.viewpoints.show(session.views(), view, start);
    }

    /// Moves the camera so that all that is drawn now is in the picture, or shows all of an image.
    pub(super) fn fit(&mut self) {
        let (view, aspect) = (self.shown(), self.aspect());
        let Some(session) = &self.session else { return };
        let Viewpoint { camera, .. } = self.state.viewpoints.current();
        let fitted = session.fitted_camera(view, camera, aspect);
        let Some(viewpoint) = self.state.viewpoints.moved_by_user() else { return };
        viewpoint.part = draw::PanZoom::default();
        viewpoint.camera = fitted.unwrap_or(viewpoint.camera);
    }

    pub(super) fn point(&mut self, pointer: Pointer) {
        let picture = self.view.size();
        // Over an image kernels get the place in the image, however it is shown.
        let [x, y] = match self.image() {
            Some(size) => self
                .state
                .viewpoints
                .current()
                .part
                .at(centred(pointer.position).into(), size, picture)
                .to_array(),
            None => pointer.position,
        };
        self.pointer = pointer;
        self.mouse = [x, y, pointer.buttons as f32, self.mouse[3] + pointer.wheel];
    }

    pub(super) fn aspect(&self) -> f32 {
        let [width, height] = self.view.size();
        width as f32 / height.max(1) as f32
    }
}

/// A place from 0 to 1 as one from -1 to 1.
fn centred(place: [f32; 2]) -> [f32; 2] {
    place.map(|part| part * 2.0 - 1.0)
}

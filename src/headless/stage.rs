//! Where pictures are drawn without a window.

use super::{Result, Run, run::measure};
use crate::{
    device::{self, Device},
    draw::{self, Chart},
    gl,
    interop::Interop,
    scene::ViewId,
    session::Session,
};

/// An OpenGL context without a window and the picture drawn there.
pub(super) struct Stage {
    context: gl::CurrentContext,
    view: draw::View,
}

/// What a picture shows, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shot {
    pub(super) view: ViewId,
    pub(super) size_px: [u32; 2],
    /// Whether the legend is in it, where there is one to draw.
    pub(super) legend: bool,
}

impl Stage {
    /// A stage for pictures of this size, of what runs on `device`.
    pub(super) fn new(device: &Device, size_px: [u32; 2]) -> Result<Self> {
        let cuda_ordinal = device.as_nvidia().map(device::nvidia::Device::ordinal);
        let context = gl::CurrentContext::headless(gl::Headless { cuda_ordinal })?;
        let view = draw::View::new(context.gl(), size_px)?;
        Ok(Self { context, view })
    }

    /// How results of `device` get to the stage, if there is one.
    pub(super) fn interop(stage: Option<&Self>, device: &Device) -> Interop {
        stage.map_or_else(|| Interop::none(device), |s| Interop::new(s.context.gl(), device))
    }

    /// The picture of a chart as rows of RGBA, top row first.
    pub(super) fn chart(&mut self, chart: &Chart, run: &Run, size_px: [u32; 2]) -> Result<Vec<u8>> {
        self.view.resize(size_px)?;
        run.draw(|| Ok(self.view.draw_chart(chart)?.read_rgba8()?))
    }

    /// The picture of the last finished step as rows of RGBA, top row first. What it depends on was measured, see
    /// [`measure_for`].
    pub(super) fn picture(&mut self, session: &Session, run: &Run, shot: Shot) -> Result<Vec<u8>> {
        self.view.resize(shot.size_px)?;
        run.draw(|| {
            let [width, height] = shot.size_px.map(|side| side.max(1) as f32);
            let camera = session.start_camera(shot.view, width / height);
            self.view.draw(&session.frame(shot.view, &camera))?;
            if let Some(legend) = session.legend(shot.view).filter(|_| shot.legend) {
                self.view.draw_legend(&legend)?;
            }
            Ok(self.view.picture().read_rgba8()?)
        })
    }
}

/// Takes the statistics on which pictures of these views depend, where they do: once for all of them.
pub(super) fn measure_for(
    session: &mut Session,
    views: impl IntoIterator<Item = ViewId>,
) -> Result<()> {
    let depends = views.into_iter().any(|view| session.needs_statistics_to_draw(view));
    if depends { measure(session) } else { Ok(()) }
}
